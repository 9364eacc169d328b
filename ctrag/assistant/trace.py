"""The trace of one request: each step's input, output and time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def watched(told: Callable[[str], None]) -> Iterator[None]:
    """Whatever is traced in the block, in this thread, tells the name of each step as it begins."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


@dataclass(slots=True)
class TraceStep:
    """One pipeline step; inputs and outputs are JSON values."""

    name: str
    inputs: dict[str, Any]
    outputs: dict[str, Any] = field(default_factory=dict)
    milliseconds: float = 0.0


@dataclass(slots=True)
class Trace:
    """The steps of one request, in the order in which they ended."""

    steps: list[TraceStep] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, **inputs: Any) -> Iterator[TraceStep]:
        """Time a step; the block fills in `outputs`. A step that raises is kept too.

        A nested step comes before the one that contains it, whose time includes its own.
        """
        step = TraceStep(name, inputs)
        told = _told.get()
        if told is not None:
            told(name)
        began = time.perf_counter()
        try:
            yield step
        finally:
            step.milliseconds = round(1000 * (time.perf_counter() - began), 3)
            self.steps.append(step)
