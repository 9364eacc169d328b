"""A session's bound tools: the settings, how each was used, and what a search did to them."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.errors import InputError

Clock = Callable[[], float]
"""Current time in seconds."""
Why = Literal["ttl", "lru", "loop", "unloaded", "removed", "not_allowed", "expired"]


@dataclass(frozen=True, slots=True)
class BindingSettings:
    """How many tools stay bound, and for how long."""

    capacity: int = 8
    """Maximum of discovered tools; always-included and pinned ones do not count."""
    ttl: float = 1800.0
    """Seconds without use after which a tool is evicted first."""
    pins: int = 5
    """Maximum of pinned tools."""
    hot_after: int | None = None
    """Uses after which a tool is pinned automatically, while pins are left; None for never."""
    cache_stable: bool = False
    """Make the list that the model is given append-only, so that a prompt cache stays valid:
    calls of an evicted tool are refused, but its definition stays until `rebuild_list`."""

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InputError(f"capacity: must be at least 1, not {self.capacity}")
        if not self.ttl > 0:
            raise InputError(f"ttl: must be above 0 seconds, not {self.ttl}")
        if self.pins < 0:
            raise InputError(f"pins: must not be negative, not {self.pins}")
        if self.hot_after is not None and self.hot_after < 1:
            raise InputError(f"hot_after: must be at least 1 use or None, not {self.hot_after}")


@dataclass(slots=True)
class BoundTool:
    """A tool of a session, and how it has been used."""

    tool: CatalogueTool
    first_seen: float
    last_used: float
    """Time of the last use or discovery."""
    order: int
    """Breaks ties between uses at the same time; higher is later."""
    uses: int = 0
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Eviction:
    """A tool that is no longer bound."""

    tool_id: str
    why: Why


@dataclass(frozen=True, slots=True)
class Binding:
    """What happened to found tools; ids, best first."""

    added: tuple[str, ...]
    refreshed: tuple[str, ...]
    """Already bound; only their time of use is updated."""
    evicted: tuple[Eviction, ...]
    left_out: tuple[str, ...]
    """Not bound: no room beside better ones."""


def core_tools(
    platform: Iterable[CatalogueTool],
    agent: Iterable[CatalogueTool] = (),
    without: Collection[str] = (),
) -> tuple[CatalogueTool, ...]:
    """The always-included tools: the platform's, then an agent's own.

    Args:
        platform: Defaults of every agent.
        agent: What this agent adds; on equal ids it replaces the platform's tool, in its place.
        without: Ids of platform tools that this agent omits.
    """
    merged = {tool.id: tool for tool in platform if tool.id not in without}
    merged |= {tool.id: tool for tool in agent}
    return tuple(merged.values())
