"""Redundant searches, which find what a session has just found (section 8 of the paper)."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ctrag.agents.session.binding import Clock
from ctrag.errors import InputError


@dataclass(frozen=True, slots=True)
class OverlapSettings:
    """When a search counts as redundant."""

    ratio: float = 0.8
    """Minimum share of its results that one recent search found too."""
    seconds: float = 300.0
    """How long a search is recent."""
    kept: int = 20
    """Number of searches that are remembered."""

    def __post_init__(self) -> None:
        if not 0 < self.ratio <= 1:
            raise InputError(f"ratio: must be above 0 and at most 1, not {self.ratio}")
        if not self.seconds > 0:
            raise InputError(f"seconds: must be above 0, not {self.seconds}")
        if self.kept < 1:
            raise InputError(f"kept: must be at least 1, not {self.kept}")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Overlap of a search's results with a recent one's."""

    tool_ids: tuple[str, ...]
    """The results that both have, best first."""
    ratio: float
    note: str
    """To be appended to the search's answer."""


class RecentSearches:
    """Results of a session's last searches. Not thread-safe."""

    def __init__(
        self, settings: OverlapSettings | None = None, *, clock: Clock = time.time
    ) -> None:
        self.settings = settings or OverlapSettings()
        self._clock = clock
        self._recent: deque[tuple[float, frozenset[str]]] = deque(maxlen=self.settings.kept)

    def add(self, tool_ids: Sequence[str]) -> Overlap | None:
        """Remember a search's results; returns the overlap with the recent search that shares most.

        None if that is below the ratio, or if the search found nothing.
        """
        now = self._clock()
        recent = [ids for at, ids in self._recent if now - at < self.settings.seconds]
        if not tool_ids:
            return None
        self._recent.append((now, frozenset(tool_ids)))
        shared = max(
            (tuple(one for one in tool_ids if one in ids) for ids in recent), key=len, default=()
        )
        ratio = len(shared) / len(tool_ids)
        if ratio < self.settings.ratio:
            return None
        return Overlap(shared, ratio, _note(shared))


def _note(tool_ids: Sequence[str]) -> str:
    return (
        f"A recent search already found {', '.join(tool_ids)}: call one of them, "
        "or search in more specific words if you need something else."
    )
