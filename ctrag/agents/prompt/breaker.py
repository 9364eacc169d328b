"""A circuit breaker: after repeated failures, calls are refused for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

from ctrag.errors import InputError

T = TypeVar("T")


class Open(RuntimeError):
    """The circuit is open: the call was not made."""


class CircuitBreaker:
    """Counts failures in a row; after `failures` of them it refuses calls for `seconds`.

    Then one call is let through: the circuit closes if it succeeds and stays open if not.
    """

    def __init__(
        self,
        failures: int = 3,
        seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if failures < 1:
            raise InputError(f"failures: must be at least 1, not {failures}")
        self._most = failures
        self._seconds = seconds
        self._clock = clock
        self._failed = 0
        self._since: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next call is refused."""
        return self._since is not None and self._clock() - self._since < self._seconds

    def call(self, run: Callable[[], T]) -> T:
        """Call `run` and return its result.

        Raises:
            Open: The circuit is open.
            Exception: What `run` raised, which is counted.
        """
        if self.is_open:
            raise Open(f"after {self._failed} failures in a row")
        try:
            result = run()
        except Exception:
            self._failed += 1
            if self._failed >= self._most:
                self._since = self._clock()
            raise
        self._failed, self._since = 0, None
        return result
