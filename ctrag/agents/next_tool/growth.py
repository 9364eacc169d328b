"""What a model has observed since it was fitted, and the linear model as moved by it."""

from collections import Counter
from pathlib import Path

import numpy as np

from ctrag.agents.next_tool import observed
from ctrag.agents.next_tool.artefact import Fitted
from ctrag.agents.next_tool.demonstrations import OBSERVED, Demonstration
from ctrag.agents.next_tool.evidence import EvidenceWeights
from ctrag.agents.next_tool.linear import moved
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.session.lessons import Lesson
from ctrag.models.encoder import Matrix

_ALWAYS, _MORE = 50, 1.1
"""Each of the first `_ALWAYS` observations is followed by a refit; later, every tenth more is."""


class Growth:
    """Observations, counted in the memory at once and fitted now and then. Not locked."""

    def __init__(self, memory: Memory, fitted: Fitted) -> None:
        self.weights = EvidenceWeights(fitted.step, fitted.whole)
        self._memory, self._fitted = memory, fitted
        self._watched: list[tuple[Demonstration, Matrix]] = []
        self._refitted = 0
        self._lessons: tuple[set[tuple[str, str, tuple[str, ...]]], int] = set(), -1

    def __len__(self) -> int:
        return len(self._watched)

    def remember(self, one: observed.Observation, vector: Matrix) -> None:
        """Count an observation.

        Args:
            one: The observation.
            vector: Of its request.
        """
        memory = self._memory
        calls, before = memory.named(one.calls), memory.named(one.before)
        name = f"observed-{len(self)}"
        shown = Demonstration(name, one.request, calls, before, one.session)
        memory.add(shown, vector)
        self._watched.append((shown, vector))

    def refit_when_due(self) -> None:
        """Refit if a tool is new, or enough was observed since the last time."""
        known = self.weights.step.shape[1] == len(self._memory.names)
        if not known or len(self) <= _ALWAYS or len(self) >= _MORE * self._refitted:
            self.refit()

    def refit(self) -> None:
        """Move the linear model of steps as if all observations had been among its rows."""
        if not self._watched:
            return
        memory, inputs = self._memory, self._memory.inputs
        before, after = self._fitted.step.shape[1], len(memory.names)
        rows, following = [], []
        for one, vector in self._watched:
            block = inputs.of_text(one.text, vector)
            for decision in one.steps():
                rows.append(inputs.of_step(block, memory.known(decision.history)))
                following.append(memory.numbers[decision.next])
        step = np.pad(self._fitted.step, ((0, 0), (0, after - before)))
        targets = np.eye(after, dtype=np.float32)[following]
        step = moved(step, np.stack(rows), targets, self._fitted.precision)
        self.weights = EvidenceWeights(step, self._fitted.whole)
        self._refitted = len(self)

    def unread(self, log: Path, fitted_on: int) -> list[observed.Observation]:
        """Lines of a log that are neither observed here nor among what was fitted.

        Args:
            log: The log.
            fitted_on: How many of the demonstrations that were fitted are from a log.

        Raises:
            ValueError: The log was written by something else.
        """
        memory = self._memory
        fitted = len(memory) - len(self) - fitted_on
        learned = Counter(
            _key(one) for at, one in enumerate(memory.demonstrations) if at >= fitted or one.group
        )
        new = []
        for one in observed.read(log):
            calls, before = memory.named(one.calls), memory.named(one.before)
            key = one.request, calls, before, one.session
            if learned[key]:
                learned[key] -= 1
            else:
                new.append(one)
        return new

    def knows(self, one: Lesson) -> bool:
        """Whether this search of this recorded session has been learned."""
        known, counted = self._lessons
        memory = self._memory
        if counted != len(memory):
            shown = memory.demonstrations[max(counted, 0) :]
            known |= {(own.group, own.text, own.before) for own in shown if own.group}
            self._lessons = known, len(memory)
        return (one.session, one.text, memory.named(one.before)) in known


def _key(one: Demonstration) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    """What makes a line of the log the same as a demonstration; see `training.next_tool`."""
    session = "" if one.group.startswith(OBSERVED) else one.group
    return one.text, one.tools, one.before, session
