"""BFCL's conversations of several turns: calls whose order is free, and end states."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.replay.simulators import SIMULATORS, ReplayOutcome, SimulatedCall, Simulation

FILE = "BFCL_v4_multi_turn_base.json"


@dataclass(frozen=True, slots=True)
class SimulatedConversation:
    """What a user says turn by turn, and the calls of each turn."""

    id: str
    texts: tuple[str, ...]
    """Of each turn."""
    turns: tuple[tuple[SimulatedCall, ...], ...]
    """The calls of each turn."""
    simulation: Simulation

    @property
    def calls(self) -> list[SimulatedCall]:
        """Of all turns."""
        return [one for turn in self.turns for one in turn]

    def acceptable(self) -> list[list[list[str]]]:
        """Per turn and call, the other tools that could be called first in its place.

        A call of the same turn may come first where then every call of the conversation gives what
        it gave and the same state is left: what the simulators say, and no judgement of ours.
        """
        true = self.simulation.replay(self.calls)
        found = []
        begin = 0
        for turn in self.turns:
            end = begin + len(turn)
            found.append([self._first_instead(at, end, true) for at in range(begin, end)])
            begin = end
        return found

    def _first_instead(self, at: int, end: int, true: ReplayOutcome) -> list[str]:
        """Names of tools among the calls behind `at` and before `end` that could come at `at`."""
        calls = self.calls
        names: list[str] = []
        for moved in range(at + 1, end):
            name = calls[moved].name
            if name == calls[at].name or name in names:
                continue
            order = [*range(at), moved, *range(at, moved), *range(moved + 1, len(calls))]
            other = self.simulation.replay([calls[place] for place in order])
            results = [true.results[place] for place in order]
            if other.results == results and other.state == true.state:
                names.append(name)
        return names

    def ends_right(self, made: Sequence[bool]) -> bool:
        """Whether the true end state is left where only some of the calls are made.

        Args:
            made: Of each call of all turns, whether it is.
        """
        calls = self.calls
        some = [call for call, flag in zip(calls, made, strict=True) if flag]
        return self.simulation.replay(some).state == self.simulation.replay(calls).state


def load_conversations(folder: Path) -> dict[str, SimulatedConversation]:
    """Conversations by id, those whose classes have a simulator.

    Args:
        folder: BFCL's data, with the questions and `possible_answer/`.

    Raises:
        ValueError: A call cannot be read.
    """
    answers = {row["id"]: row["ground_truth"] for row in rows_of(folder / "possible_answer" / FILE)}
    found = {}
    for row in rows_of(folder / FILE):
        classes = tuple(row["involved_classes"])
        if set(classes) <= SIMULATORS.keys():
            found[row["id"]] = SimulatedConversation(
                row["id"],
                tuple(" ".join(one["content"] for one in turn) for turn in row["question"]),
                tuple(tuple(map(SimulatedCall.of, turn)) for turn in answers[row["id"]]),
                Simulation(classes, row.get("initial_config", {})),
            )
    return found


def rows_of(path: Path) -> list[Any]:
    """The values of a file with one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
