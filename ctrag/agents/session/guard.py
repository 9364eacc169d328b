"""Detects a model that repeats a call, and evicts the tool after it.

Section 7 of the tool-discovery paper: no call is ever blocked. The tool of a loop is evicted once
its call has run, the model gets guidance, and finding the tool again restores it.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ctrag.agents.session.arguments import Normaliser, argument_hash
from ctrag.agents.session.binding import Clock
from ctrag.errors import InputError

GUIDANCE = (
    "You have called {tool} {count} times with the same arguments. Its result will not change: "
    "use what it returned, or call search_tools for another way."
)
_KEYS = 10_000
"""Maximum of distinct calls that are remembered."""
_TIMES = 1_000
"""Maximum of repeats of one call that are counted, beyond those allowed."""


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """When a repeated call is a loop."""

    repeats: int = 3
    """Repeats of one call that are allowed within `seconds`; the next one is a loop."""
    seconds: float = 60.0
    window: int = 10
    """Number of last calls that are examined, regardless of time."""
    window_repeats: int = 3
    """Repeats of one call that are allowed among them, consecutive or not."""
    exempt: frozenset[str] = frozenset()
    """Ids of tools that may be repeated, such as memory and planning."""
    guidance: Mapping[str, str] = field(default_factory=dict)
    """Tool id → what to try instead; `{tool}` and `{count}` are filled in."""
    general: str = GUIDANCE
    """Guidance for the other tools."""
    normalisers: Mapping[str, Normaliser] = field(default_factory=dict)
    """Tool id → normaliser of its arguments."""

    def __post_init__(self) -> None:
        for name in ("repeats", "window", "window_repeats"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: must be at least 1, not {getattr(self, name)}")
        if not self.seconds > 0:
            raise InputError(f"seconds: must be above 0, not {self.seconds}")


@dataclass(frozen=True, slots=True)
class Loop:
    """A call that was repeated too often."""

    tool_id: str
    arguments: str
    """Hash of the normalised arguments."""
    count: int
    """Repeats within the time or the window whose limit was exceeded."""
    mechanism: Literal["time", "window"]
    guidance: str
    """To be appended to the tool's result."""


_Key = tuple[str, str]


class IterationGuard:
    """Counts repeats of calls within a time, and among the last calls. Not thread-safe."""

    def __init__(self, settings: GuardSettings | None = None, *, clock: Clock = time.time) -> None:
        self.settings = settings or GuardSettings()
        self._clock = clock
        self._times: OrderedDict[_Key, deque[float]] = OrderedDict()  # last called last
        self._window: deque[_Key] = deque(maxlen=self.settings.window)
        self._evicted: dict[str, None] = {}

    @property
    def evicted(self) -> tuple[str, ...]:
        """Tools evicted and not found again since, oldest first."""
        return tuple(self._evicted)

    def called(self, tool_id: str, arguments: Mapping[str, Any]) -> Loop | None:
        """Record a call that has run; returns the loop that it completes, if any."""
        if tool_id in self.settings.exempt:
            return None
        key = (tool_id, argument_hash(arguments, self.settings.normalisers.get(tool_id)))
        within_time = self._count_in_time(key)
        self._window.append(key)
        within_window = self._window.count(key)
        if within_time > self.settings.repeats:
            return self._loop(key, within_time, "time")
        if within_window > self.settings.window_repeats:
            return self._loop(key, within_window, "window")
        return None

    def evict(self, tool_id: str) -> None:
        """Record that a tool was evicted."""
        self._evicted[tool_id] = None

    def rediscovered(self, tool_ids: Iterable[str]) -> tuple[str, ...]:
        """Forget the calls of evicted tools that a search has found again; returns their ids."""
        back = tuple(tool_id for tool_id in tool_ids if tool_id in self._evicted)
        for tool_id in back:
            del self._evicted[tool_id]
        if back:
            self._times = OrderedDict(
                (key, times) for key, times in self._times.items() if key[0] not in back
            )
            kept = [key for key in self._window if key[0] not in back]
            self._window = deque(kept, maxlen=self.settings.window)
        return back

    def _count_in_time(self, key: _Key) -> int:
        now = self._clock()
        times = self._times.setdefault(key, deque(maxlen=self.settings.repeats + _TIMES))
        times.append(now)
        self._times.move_to_end(key)
        while self._is_old(next(iter(self._times)), now) or len(self._times) > _KEYS:
            self._times.popitem(last=False)
        return sum(now - time < self.settings.seconds for time in times)

    def _is_old(self, key: _Key, now: float) -> bool:
        return now - self._times[key][-1] >= self.settings.seconds

    def _loop(self, key: _Key, count: int, mechanism: Literal["time", "window"]) -> Loop:
        tool_id, arguments = key
        guidance = self.settings.guidance.get(tool_id, self.settings.general)
        guidance = guidance.replace("{tool}", tool_id).replace("{count}", str(count))
        return Loop(tool_id, arguments, count, mechanism, guidance)
