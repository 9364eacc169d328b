"""What a session has called, as the history for the next tool."""

from collections import deque

from ctrag.agents.session.binding import Clock
from ctrag.agents.session.lessons import PAUSE

_KEPT = 100
"""Number of calls that a session remembers."""


class RecentCalls:
    """The last calls of a session."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._called: deque[tuple[float, str]] = deque(maxlen=_KEPT)

    def add(self, tool_id: str) -> None:
        """Remember a call that has run."""
        self._called.append((self._clock(), tool_id))

    def since_pause(self) -> tuple[str, ...]:
        """Ids of the tools called since the last pause (`PAUSE`), oldest first: recordings are cut
        into tasks there too."""
        found: list[str] = []
        later = self._clock()
        for at, tool_id in reversed(self._called):
            if later - at > PAUSE:
                break
            found.append(tool_id)
            later = at
        return tuple(reversed(found))
