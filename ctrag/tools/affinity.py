"""What a caller found, used and succeeded with: a small push in the order, kept across sessions."""

import json
import math
import threading
from dataclasses import asdict, dataclass
from typing import Literal

Event = Literal["found", "used", "succeeded", "failed"]

STRENGTH = 0.5
"""A tool's belief grows by a factor of e^0.5 at most: ties break, clear orders stay."""
_ENOUGH = 5.0
"""Weighted events after which the push is near its most."""
_UNUSED = 0.1
"""What being found and not used counts against a tool."""


@dataclass(slots=True)
class Counts:
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


class Affinity:
    """Counts by caller and tool; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, dict[str, Counts]] = {}

    def learn(self, user: str, tool_id: str, event: Event) -> None:
        """Count one event.

        Raises:
            ValueError: The event is none of `Event`.
        """
        if event not in Counts.__slots__:
            raise ValueError(f"event: {event!r} must be found, used, succeeded or failed")
        with self._lock:
            one = self._counts.setdefault(user, {}).setdefault(tool_id, Counts())
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
        """Take out all that is known of a caller."""
        with self._lock:
            self._counts.pop(user, None)

    def to_json(self) -> str:
        """All counts."""
        with self._lock:
            value = {
                user: {tool_id: asdict(one) for tool_id, one in tools.items()}
                for user, tools in self._counts.items()
            }
        return json.dumps(value, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Affinity":
        """What `to_json` wrote."""
        made = cls()
        made._counts = {
            user: {tool_id: Counts(**one) for tool_id, one in tools.items()}
            for user, tools in json.loads(text).items()
        }
        return made
