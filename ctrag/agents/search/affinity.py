"""Tools a caller found, used and succeeded with: a small boost, kept across sessions."""

import json
import math
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Literal

from ctrag.errors import InputError

Event = Literal["found", "used", "succeeded", "failed"]

STRENGTH = 0.5
"""A belief grows by a factor of at most e^0.5: it breaks ties, but keeps a clear order."""
_ENOUGH = 5.0
"""Weighted events after which the boost is near its maximum."""
_UNUSED = 0.1
"""Penalty for each time a tool was found but not used."""


@dataclass(slots=True)
class AffinityCounts:
    """Events of one caller and tool."""

    found: int = 0
    used: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def score(self) -> float:
        """-1 to 1."""
        unused = max(self.found - self.used, 0)
        good = 0.5 * self.used + self.succeeded - self.failed - _UNUSED * unused
        return math.tanh(good / _ENOUGH)

    def __add__(self, other: "AffinityCounts") -> "AffinityCounts":
        """Both counted together."""
        return AffinityCounts(
            *(getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        )


_ByTool = dict[str, AffinityCounts]
_ByUser = dict[str, _ByTool]


class Affinity:
    """Counts by caller and tool; safe to use from many threads.

    Counts since the last `write` are kept apart, so that several servers can add theirs to one
    store.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._counts: _ByUser = {}
        self._new: _ByUser = {}
        self._forgotten: set[str] = set()

    def learn(self, user: str, tool_id: str, event: Event) -> None:
        """Count one event.

        Raises:
            ValueError: The event is not one of `Event`.
        """
        if event not in AffinityCounts.__slots__:
            raise InputError(f"event: {event!r} must be found, used, succeeded or failed")
        with self._lock:
            for counts in (self._counts, self._new):
                one = counts.setdefault(user, {}).setdefault(tool_id, AffinityCounts())
                setattr(one, event, getattr(one, event) + 1)

    def factor(self, user: str, tool_id: str) -> float:
        """Factor for a tool's belief; 1 for unknown callers."""
        with self._lock:
            one = self._counts.get(user, {}).get(tool_id)
            return 1.0 if one is None else math.exp(STRENGTH * one.score)

    def liked(self, user: str) -> list[str]:
        """Tools that helped this caller, best liked first; a new session starts with them."""
        with self._lock:
            known = [(one.score, tool_id) for tool_id, one in self._counts.get(user, {}).items()]
        return [
            tool_id for score, tool_id in sorted(known, key=lambda p: (-p[0], p[1])) if score > 0
        ]

    def forget(self, user: str) -> None:
        """Remove a caller's counts; the next `write` removes them from the store too."""
        with self._lock:
            self._counts.pop(user, None)
            self._new.pop(user, None)
            self._forgotten.add(user)

    def write(self, put: Callable[[Callable[[str | None], str]], None]) -> None:
        """Add the counts since the last write to the stored ones, and adopt the sum.

        Does nothing without new counts. If writing fails, they are kept for the next time.

        Args:
            put: Replaces the stored text (None if absent) by the result of the function it is
                given; `ToolStore.change_fact` fits.
        """
        with self._writing:
            with self._lock:
                new, gone = self._new, self._forgotten
                self._new, self._forgotten = {}, set()
            if not new and not gone:
                return
            total: _ByUser = {}

            def added(text: str | None) -> str:
                nonlocal total
                held = {} if text is None else _parsed(text)
                kept = {user: tools for user, tools in held.items() if user not in gone}
                total = _sum(kept, new)
                return _text(total)

            try:
                put(added)
            except BaseException:
                with self._lock:
                    again = {user: one for user, one in new.items() if user not in self._forgotten}
                    self._new, self._forgotten = _sum(again, self._new), gone | self._forgotten
                raise
            with self._lock:
                known = {user: one for user, one in total.items() if user not in self._forgotten}
                self._counts = _sum(known, self._new)

    def to_json(self) -> str:
        """All counts."""
        with self._lock:
            return _text(self._counts)

    @classmethod
    def from_json(cls, text: str) -> "Affinity":
        """Read `to_json`'s output; none of it counts as new."""
        made = cls()
        made._counts = _parsed(text)
        return made


def _sum(first: _ByUser, second: _ByUser) -> _ByUser:
    """New counts, by caller and tool."""
    return {
        user: {
            tool_id: first.get(user, {}).get(tool_id, AffinityCounts())
            + second.get(user, {}).get(tool_id, AffinityCounts())
            for tool_id in {**first.get(user, {}), **second.get(user, {})}
        }
        for user in {**first, **second}
    }


def _text(counts: _ByUser) -> str:
    value = {
        user: {tool_id: asdict(one) for tool_id, one in tools.items()}
        for user, tools in counts.items()
    }
    return json.dumps(value, sort_keys=True)


def _parsed(text: str) -> _ByUser:
    return {
        user: {tool_id: AffinityCounts(**one) for tool_id, one in tools.items()}
        for user, tools in json.loads(text).items()
    }
