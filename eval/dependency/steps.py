"""The steps of demonstrations: where each one's next tool ranks, and how a roll-out ends."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.agents.next_tool import END, Demonstration, NextTool
from eval.dependency.endpoint import ENDPOINT_METHODS, EndpointRetrievers

_LONGEST = 12
"""Calls of a roll-out at most."""
_NEVER = np.inf


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where each step's next tool stood, by one method; one entry per step."""

    with_end: NDArray[np.float64]
    """Rank, from 1; infinite for a tool that the method does not know."""
    without_end: NDArray[np.float64]
    """With `end` taken out of the ranking; meaningless for steps that end."""
    milliseconds: NDArray[np.float64]
    """What ranking took, the vectors being there: by the clock and of the processor, (steps, 2)."""
    right: NDArray[np.float64] | None = None
    """Share of the acceptable tools among as many first ones, which is their F1; None where each
    step has one."""

    def only(self, kept: NDArray[np.bool_]) -> "Ranks":
        """Those of some steps, (steps,)."""
        right = None if self.right is None else self.right[kept]
        return Ranks(self.with_end[kept], self.without_end[kept], self.milliseconds[kept], right)


@dataclass(frozen=True, slots=True)
class Steps:
    """All steps of some demonstrations."""

    owners: list[Demonstration]
    histories: list[tuple[str, ...]]
    wanted: list[str]
    others: list[tuple[str, ...]] = field(default_factory=list)
    """Per step, what would be right as well; empty where no step has several."""

    @classmethod
    def of(cls, demonstrations: Sequence[Demonstration]) -> "Steps":
        """In order."""
        rows = [(one, step) for one in demonstrations for step in one.steps()]
        others = [step.others for _, step in rows]
        return cls(
            [one for one, _ in rows],
            [step.history for _, step in rows],
            [step.next for _, step in rows],
            others if any(others) else [],
        )

    def only(self, kept: NDArray[np.bool_]) -> "Steps":
        """Some of the steps, (steps,)."""
        rows = np.flatnonzero(kept)
        return Steps(
            [self.owners[row] for row in rows],
            [self.histories[row] for row in rows],
            [self.wanted[row] for row in rows],
            [self.others[row] for row in rows] if self.others else [],
        )

    def acceptable(self, row: int) -> list[str]:
        """What is right at a step, the call of the data first."""
        return [self.wanted[row], *(self.others[row] if self.others else ())]

    @property
    def chains(self) -> list[str]:
        """What intervals resample."""
        return [one.chain for one in self.owners]

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Steps at which nothing is left to call."""
        return np.array([name == END for name in self.wanted])

    @property
    def first(self) -> NDArray[np.bool_]:
        """Steps without a history."""
        return np.array([not history for history in self.histories])


def rank_steps(
    model: NextTool,
    steps: Steps,
    method: str,
    asker: EndpointRetrievers | None = None,
    among: NDArray[np.int64] | None = None,
) -> Ranks:
    """Rank of each step's next tool, the best of the acceptable ones, given the true history.

    Args:
        model: What ranks.
        steps: What is asked.
        method: By which of its methods, or one of `ENDPOINT_METHODS`.
        asker: For these.
        among: Numbers of `end`, first, and of the tools that are ranked; None for all.
    """
    ranks_by = _by(model, method, asker)
    among = model.among(None) if among is None else among
    numbers = model.memory.numbers
    with_end, without, took, right = [], [], [], []
    for row, (one, history) in enumerate(zip(steps.owners, steps.histories, strict=True)):
        ranks_by.prepare(one.text, history, method)
        began = time.perf_counter(), time.thread_time()
        chances = ranks_by.chances(one.text, history, method, among)
        ended = time.perf_counter(), time.thread_time()
        took.append([1000 * (ended[0] - began[0]), 1000 * (ended[1] - began[1])])
        named = [numbers.get(name) for name in steps.acceptable(row)]
        places = [_places(chances, among, number) for number in named]
        with_end.append(min(place for place, _ in places))
        without.append(min(place for _, place in places))
        right.append(sum(place <= len(named) for place, _ in places) / len(named))
    shares = np.array(right, dtype=np.float64) if steps.others else None
    return Ranks(np.array(with_end), np.array(without), np.array(took), shares)


def _places(
    chances: NDArray[np.float64], among: NDArray[np.int64], number: int | None
) -> tuple[float, float]:
    """A tool's rank, and with `end` taken out."""
    if number is None or number not in among:
        return _NEVER, _NEVER
    # Ties go to the smaller number, as in `NextTool.rank`.
    chance, chances = chances[number], chances[among]
    ahead = (chances > chance) | ((chances == chance) & (among < number))
    return 1.0 + float(ahead.sum()), 1.0 + float(ahead[1:].sum())


def roll_out(
    model: NextTool,
    demonstrations: Sequence[Demonstration],
    method: str,
    asker: EndpointRetrievers | None,
    among: NDArray[np.int64],
) -> dict[str, JsonValue]:
    """How many requests get exactly their calls when every prediction becomes history."""
    ranks_by = _by(model, method, asker)
    exact = ended = same_tools = 0
    for one in demonstrations:
        calls: list[str] = []
        while len(calls) < _LONGEST:
            chances = ranks_by.chances(one.text, (*one.before, *calls), method, among)
            best = model.memory.names[int(chances.argmax())]
            if best == END:
                ended += 1
                break
            calls.append(best)
        exact += one.fulfilled_by(calls)
        same_tools += sorted(calls) == sorted(one.tools)
    share = 100 / max(len(demonstrations), 1)
    return {
        "exact": round(share * exact, 2),
        "same_tools": round(share * same_tools, 2),
        "ended": round(share * ended, 2),
    }


def _by(
    model: NextTool, method: str, asker: EndpointRetrievers | None
) -> NextTool | EndpointRetrievers:
    return asker if asker is not None and method in ENDPOINT_METHODS else model
