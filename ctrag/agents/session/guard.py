"""Detects a model that repeats a call in vain, and evicts the tool after it.

Section 7 of the tool-discovery paper: no call is ever blocked. The tool of a loop is evicted once
its call has run, the model gets guidance, and finding the tool again restores it.

Clocks, polling and queues are called again with equal arguments for good reason. A loop is
therefore a call that fails again and again, or one that changes something each time, as the tool's
hints say, and still gets the same answer; where the answers differ (a key that is pressed, a job
that is taken) it is noted once, and the tool stays. Of a tool without hints nothing is known but
its answers: only many equal ones are noted, and the tool stays; so it is with one whose equal calls
have no further effect. One that only reads may be called at any time.
"""

import hashlib
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ctrag.agents.catalogue.effects import Effect
from ctrag.agents.session.arguments import Normaliser, argument_hash
from ctrag.agents.session.binding import Clock
from ctrag.errors import InputError

FAILED = (
    "{tool} has failed {count} times with the same arguments. Change them, or call search_tools "
    "for another way."
)
CHANGED = (
    "You have called {tool} {count} times with the same arguments, and each call may have changed "
    "something again. Check what is there before you repeat it, or call search_tools for another "
    "way."
)
SETTLED = (
    "{tool} has given the same answer to {count} equal calls, and says of itself that an equal "
    "call has no further effect. Go on, or call search_tools for another way."
)
SAME = (
    "{tool} has given the same answer to {count} equal calls. If you wait for it to change, let "
    "more time pass before the next one; if not, use the answer, or call search_tools for another "
    "way."
)
_GUIDANCE = {"settles": SETTLED, "changes": CHANGED, "unknown": SAME}
_ANY = "any"
"""Outcome of all calls that succeeded, whatever they answered."""
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
    same_answers: int = 10
    """Equal answers to equal calls within `seconds` that are allowed of a tool that does not say
    whether it changes anything; the next one is noted, and the tool stays."""
    exempt: frozenset[str] = frozenset()
    """Ids of tools that may be repeated, such as memory and planning."""
    guidance: Mapping[str, str] = field(default_factory=dict)
    """Tool id → what to try instead; `{tool}` and `{count}` are filled in."""
    general: str = ""
    """Guidance for the other tools; empty for the built-in texts, which say what has happened."""
    normalisers: Mapping[str, Normaliser] = field(default_factory=dict)
    """Tool id → normaliser of its arguments."""

    def __post_init__(self) -> None:
        for name in ("repeats", "window", "window_repeats", "same_answers"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: must be at least 1, not {getattr(self, name)}")
        if not self.seconds > 0:
            raise InputError(f"seconds: must be above 0, not {self.seconds}")


@dataclass(frozen=True, slots=True)
class CallLoop:
    """A call that was repeated too often."""

    tool_id: str
    arguments: str
    """Hash of the normalised arguments."""
    count: int
    """Repeats within the time or the window whose limit was exceeded."""
    mechanism: Literal["time", "window"]
    guidance: str
    """To be appended to the tool's result."""
    evicts: bool = True
    """Whether the tool is to be evicted; False where equal calls may have a reason."""


_Key = tuple[str, str, str]
"""Tool, arguments, outcome."""


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

    def called(
        self,
        tool_id: str,
        arguments: Mapping[str, Any],
        *,
        effect: Effect = "changes",
        failed: str | None = None,
        answer: str | None = None,
    ) -> CallLoop | None:
        """Record a call that has run; returns the loop that it completes, if any.

        Args:
            tool_id: What was called.
            arguments: Of the call, by name.
            effect: What a call of the tool does.
            failed: Type of the failure; None if it succeeded.
            answer: What it returned, to be compared with other answers; None if that is not known.
        """
        if tool_id in self.settings.exempt:
            return None
        told = effect in ("unknown", "settles") and failed is None
        # An argument that is not compared may stand in the answer, which then says nothing.
        compared = answer is not None and tool_id not in self.settings.normalisers
        answered = told or (effect == "changes" and compared)
        outcome = f"failed {failed}" if failed is not None else _digest(answer) if answered else ""
        hashed = argument_hash(arguments, self.settings.normalisers.get(tool_id))
        key = (tool_id, hashed, outcome)
        within_time = self._count_in_time(key)
        self._window.append(key)
        within_window = self._window.count(key)
        if failed is None and (effect == "reads" or (told and answer is None)):
            return None
        text = FAILED if failed is not None else _GUIDANCE[effect]
        if told:
            often = within_time > self.settings.same_answers
            return self._loop(key, within_time, "time", text, evicts=False) if often else None
        if within_time > self.settings.repeats:
            return self._loop(key, within_time, "time", text)
        if within_window > self.settings.window_repeats:
            return self._loop(key, within_window, "window", text)
        return self._repeated(key, text) if failed is None and answered else None

    def _repeated(self, key: _Key, text: str) -> CallLoop | None:
        """The loop of a call that changes something and whose answers differ, as it begins."""
        within_time = self._count_in_time((*key[:2], _ANY))
        within_window = sum(
            one[:2] == key[:2] and not one[2].startswith("failed ") for one in self._window
        )
        if within_time == self.settings.repeats + 1:
            return self._loop(key, within_time, "time", text, evicts=False)
        if within_window == self.settings.window_repeats + 1:
            return self._loop(key, within_window, "window", text, evicts=False)
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

    def _loop(
        self,
        key: _Key,
        count: int,
        mechanism: Literal["time", "window"],
        text: str,
        *,
        evicts: bool = True,
    ) -> CallLoop:
        tool_id, arguments, _ = key
        guidance = self.settings.guidance.get(tool_id, self.settings.general or text)
        guidance = guidance.replace("{tool}", tool_id).replace("{count}", str(count))
        return CallLoop(tool_id, arguments, count, mechanism, guidance, evicts)


def _digest(answer: str | None) -> str:
    text = (answer or "").encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=12).hexdigest()
