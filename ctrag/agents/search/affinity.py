"""What a caller found, used and succeeded with: a small push in the order, kept across sessions."""

import json
import math
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Literal

from ctrag.errors import InputError

Event = Literal["found", "used", "succeeded", "failed"]

STRENGTH = 0.5
"""A tool's belief grows by a factor of e^0.5 at most: ties break, clear orders stay."""
_ENOUGH = 5.0
"""Weighted events after which the push is near its most."""
_UNUSED = 0.1
"""What being found and not used counts against a tool."""


@dataclass(slots=True)
class AffinityCounts:
    """How often each happened to one caller and tool."""

    found: int = 0
    used: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def liking(self) -> float:
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

    What was counted since the last `write` is kept apart, so that several servers with one store
    add to it, each its own share.
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
            ValueError: The event is none of `Event`.
        """
        if event not in AffinityCounts.__slots__:
            raise InputError(f"event: {event!r} must be found, used, succeeded or failed")
        with self._lock:
            for counts in (self._counts, self._new):
                one = counts.setdefault(user, {}).setdefault(tool_id, AffinityCounts())
                setattr(one, event, getattr(one, event) + 1)

    def factor(self, user: str, tool_id: str) -> float:
        """What a tool's belief is multiplied with; 1 for strangers."""
        with self._lock:
            one = self._counts.get(user, {}).get(tool_id)
            return 1.0 if one is None else math.exp(STRENGTH * one.liking)

    def liked(self, user: str) -> list[str]:
        """Tools that helped this caller, the best liked first: what a new session starts with."""
        with self._lock:
            known = [(one.liking, tool_id) for tool_id, one in self._counts.get(user, {}).items()]
        return [
            tool_id for liking, tool_id in sorted(known, key=lambda p: (-p[0], p[1])) if liking > 0
        ]

    def forget(self, user: str) -> None:
        """Take out all that is known of a caller, with the next `write` from the store too."""
        with self._lock:
            self._counts.pop(user, None)
            self._new.pop(user, None)
            self._forgotten.add(user)

    def write(self, put: Callable[[Callable[[str | None], str]], None]) -> None:
        """Add what was counted since the last time to what is kept, and take that over.

        Nothing is read or written where nothing was counted. What cannot be written counts as new
        still.

        Args:
            put: Puts in the place of what is kept (None for nothing) what the function given to
                it makes of that; `ToolStore.change_fact` fits.
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
        """What `to_json` wrote; none of it is new."""
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
