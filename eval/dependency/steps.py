"""The steps of demonstrations: where each one's next tool ranks, and how a roll-out ends."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

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

    def only(self, kept: NDArray[np.bool_]) -> "Ranks":
        """Those of some steps, (steps,)."""
        return Ranks(self.with_end[kept], self.without_end[kept], self.milliseconds[kept])


@dataclass(frozen=True, slots=True)
class Steps:
    """All steps of some demonstrations."""

    owners: list[Demonstration]
    histories: list[tuple[str, ...]]
    wanted: list[str]

    @classmethod
    def of(cls, demonstrations: Sequence[Demonstration]) -> "Steps":
        """In order."""
        rows = [(one, step.history, step.next) for one in demonstrations for step in one.steps()]
        owners, histories, wanted = (list(column) for column in zip(*rows, strict=True))
        return cls(owners, histories, wanted)

    def only(self, kept: NDArray[np.bool_]) -> "Steps":
        """Some of the steps, (steps,)."""
        rows = np.flatnonzero(kept)
        return Steps(
            [self.owners[row] for row in rows],
            [self.histories[row] for row in rows],
            [self.wanted[row] for row in rows],
        )

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
    """Rank of each step's next tool, given the true history.

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
    with_end, without, took = [], [], []
    for one, history, wanted in zip(steps.owners, steps.histories, steps.wanted, strict=True):
        ranks_by.prepare(one.text, history, method)
        began = time.perf_counter(), time.thread_time()
        chances = ranks_by.chances(one.text, history, method, among)
        ended = time.perf_counter(), time.thread_time()
        took.append([1000 * (ended[0] - began[0]), 1000 * (ended[1] - began[1])])
        number = numbers.get(wanted)
        if number is None or number not in among:
            with_end.append(_NEVER)
            without.append(_NEVER)
            continue
        # Ties go to the smaller number, as in `NextTool.rank`.
        chance, chances = chances[number], chances[among]
        ahead = (chances > chance) | ((chances == chance) & (among < number))
        with_end.append(1.0 + float(ahead.sum()))
        without.append(1.0 + float(ahead[1:].sum()))
    return Ranks(np.array(with_end), np.array(without), np.array(took))


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
        exact += tuple(calls) == one.tools
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
