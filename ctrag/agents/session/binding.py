"""Which tools a session's model has: bound when found, evicted when stale or least used.

Sections 5.2 and 6 of the tool-discovery paper, with a budget in tokens beside the number of tools.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.bound import (
    Binding,
    BindingSettings,
    BoundTool,
    Clock,
    Eviction,
    Why,
    core_tools,
)
from ctrag.agents.session.tokens import characters, tool_tokens
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

__all__ = [
    "Binding",
    "BindingSettings",
    "BoundTool",
    "Clock",
    "Eviction",
    "ToolContextManager",
    "Why",
    "core_tools",
]


@dataclass(frozen=True, slots=True)
class _Listed:
    tool: CatalogueTool
    tokens: int


class ToolContextManager:
    """The tools of one session. Not thread-safe; `ToolSession` locks.

    Args:
        always: Never evicted and never counted, see `core_tools`.
        settings: Capacity and times.
        clock: Seconds; where it goes back, the manager keeps the latest time.
        count: Counts the tokens of a text.
    """

    def __init__(
        self,
        always: Sequence[CatalogueTool] = (),
        settings: BindingSettings | None = None,
        *,
        clock: Clock = time.time,
        count: CountTokens = characters,
    ) -> None:
        self.settings = settings or BindingSettings()
        self.budget: int | None = None
        """Tokens that the list may cost; None for no limit. See `set_budget`."""
        self._clock, self._count = clock, count
        self._now = float("-inf")
        self._order = 0
        self._always = {tool.id: self._priced(tool) for tool in always}
        self._entries: dict[str, BoundTool] = {}
        self._listed: dict[str, _Listed] = {}
        self._known = dict.fromkeys(self._always)

    @property
    def known(self) -> tuple[str, ...]:
        """Ids of all tools that were ever bound, so that a name keeps its meaning."""
        return tuple(self._known)

    @property
    def tools(self) -> tuple[CatalogueTool, ...]:
        """What the model is given: always-included tools, then the others in order of binding."""
        return tuple(one.tool for one in self._always.values()) + self.listed

    @property
    def entries(self) -> tuple[BoundTool, ...]:
        """The discovered tools that may be called, pinned ones included, in order of binding."""
        return tuple(self._entries.values())

    @property
    def listed(self) -> tuple[CatalogueTool, ...]:
        """`tools` without the always-included ones."""
        return tuple(one.tool for one in self._listed.values())

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """Evicted tools that a cache-stable list still shows."""
        return tuple(tool_id for tool_id in self._listed if tool_id not in self._entries)

    @property
    def pins_left(self) -> int:
        """Number of further tools that can be pinned."""
        return self.settings.pins - sum(one.pinned for one in self._entries.values())

    @property
    def room(self) -> int:
        """Number of further tools that can be bound without evicting one."""
        return self.settings.capacity - sum(not one.pinned for one in self._entries.values())

    @property
    def tokens(self) -> int:
        """Cost of `tools`."""
        return _sum(self._always.values()) + _sum(self._listed.values())

    @property
    def over_budget(self) -> bool:
        """Whether the list exceeds its budget: too many pinned tools or withdrawn definitions."""
        return self.budget is not None and self.tokens > self.budget

    def active(self, tool_id: str) -> CatalogueTool | None:
        """The definition of a tool that may be called now, or None."""
        if tool_id in self._always:
            return self._always[tool_id].tool
        entry = self._entries.get(tool_id)
        return entry.tool if entry else None

    def bind(self, tools: Iterable[CatalogueTool]) -> Binding:
        """Bind found tools; those already bound are only marked as used.

        If not all fit, the first ones are taken; then other tools are evicted until all fit:
        expired ones first, then the least recently used.

        Args:
            tools: Best first.
        """
        now = self._tick()
        found: dict[str, CatalogueTool] = {}
        for tool in tools:
            if tool.id not in self._always:
                found.setdefault(tool.id, tool)  # a tool given twice keeps its better rank
        batch = list(found.values())
        known = [tool.id for tool in batch if tool.id in self._entries]
        taken = self._fitting(batch)
        for tool in taken:
            self._put(tool, now)
        for tool in reversed(taken):  # the best is evicted last
            self._touch(self._entries[tool.id], now)
        evicted = self._make_room(now)
        return Binding(
            added=tuple(tool.id for tool in taken if tool.id not in known),
            refreshed=tuple(tool_id for tool_id in known if tool_id in self._entries),
            evicted=evicted,
            left_out=tuple(tool.id for tool in batch if tool.id not in self._entries),
        )

    def use(self, tool_id: str) -> bool:
        """Record a call; True if that pinned the tool.

        Raises:
            ValueError: The tool is not bound.
        """
        if tool_id in self._always:
            return False
        entry = self._bound(tool_id)
        self._touch(entry, self._tick())
        entry.uses += 1
        hot = self.settings.hot_after
        if entry.pinned or hot is None or entry.uses < hot or not self.pins_left:
            return False
        entry.pinned = True
        return True

    def unload(self, tool_id: str) -> bool:
        """Unbind a discovered tool, pinned or not; False if it is not bound."""
        if self._entries.pop(tool_id, None) is None:
            return False
        if not self.settings.cache_stable:
            del self._listed[tool_id]
        return True

    def pin(self, tool_id: str) -> None:
        """Keep a bound tool regardless of its age, outside the capacity.

        Raises:
            ValueError: The tool is not bound, or all pins are taken.
        """
        entry = self._bound(tool_id)
        if not entry.pinned and not self.pins_left:
            raise InputError(
                f"tool_id: {tool_id!r} cannot be pinned, all {self.settings.pins} pins are taken: "
                "unpin another"
            )
        entry.pinned = True

    def unpin(self, tool_id: str) -> tuple[Eviction, ...]:
        """Unpin a tool; returns what is evicted if there are now too many.

        Raises:
            ValueError: The tool is not bound.
        """
        self._bound(tool_id).pinned = False
        return self._make_room(self._tick())

    def expire(self) -> tuple[Eviction, ...]:
        """Evict every expired tool, even where there is room."""
        return self._evict(self._stale(self._tick()), "expired")

    def set_budget(self, tokens: int | None) -> tuple[Eviction, ...]:
        """Limit what the list may cost; returns what is evicted for it, oldest first.

        A cache-stable list keeps what it has: only new tools are rejected.

        Raises:
            ValueError: `tokens` is negative.
        """
        if tokens is not None and tokens < 0:
            raise InputError(f"tokens: must not be negative, not {tokens}")
        self.budget = tokens
        return self._make_room(self._tick())

    def rebuild_list(self) -> tuple[str, ...]:
        """Drop withdrawn definitions and update the others; returns the dropped ids.

        The only change that invalidates a prompt cache: for when it is lost anyway.
        """
        dropped = self.withdrawn
        self._listed = {
            tool_id: self._priced(entry.tool) for tool_id, entry in self._entries.items()
        }
        return dropped

    def restore(
        self,
        entries: Iterable[BoundTool],
        listed: Iterable[CatalogueTool] = (),
        known: Iterable[str] = (),
    ) -> tuple[Eviction, ...]:
        """Replace all tools by saved ones; returns those evicted for lack of room.

        If more tools are pinned than there are pins, those used last stay pinned.

        Args:
            entries: As `entries` returned them.
            listed: As `listed` returned them; only used by a cache-stable list.
            known: As `known` returned them.
        """
        kept = {one.tool.id: one for one in entries if one.tool.id not in self._always}
        shown = {tool.id: tool for tool in listed if tool.id not in self._always}
        if not self.settings.cache_stable:
            shown = {}
        shown |= {tool_id: one.tool for tool_id, one in kept.items()}
        self._entries = kept
        self._known |= dict.fromkeys([*known, *shown])
        self._listed = {tool_id: self._priced(tool) for tool_id, tool in shown.items()}
        pinned = sorted((one for one in kept.values() if one.pinned), key=_recency, reverse=True)
        for one in pinned[self.settings.pins :]:
            one.pinned = False
        self._order = max((one.order for one in kept.values()), default=0)
        self._now = max((one.last_used for one in kept.values()), default=float("-inf"))
        return self._make_room(self._tick())

    def _priced(self, tool: CatalogueTool) -> _Listed:
        return _Listed(tool, tool_tokens(tool, self._count))

    def _tick(self) -> float:
        self._now = max(self._now, self._clock())
        return self._now

    def _bound(self, tool_id: str) -> BoundTool:
        if tool_id not in self._entries:
            raise InputError(f"tool_id: {tool_id!r} is not bound; search for it first")
        return self._entries[tool_id]

    def _put(self, tool: CatalogueTool, now: float) -> None:
        self._known[tool.id] = None
        if tool.id in self._entries:
            self._entries[tool.id].tool = tool
        else:
            self._entries[tool.id] = BoundTool(tool, now, now, 0)
        if not (self.settings.cache_stable and tool.id in self._listed):
            self._listed[tool.id] = self._priced(tool)

    def _touch(self, entry: BoundTool, now: float) -> None:
        self._order += 1
        entry.last_used, entry.order = now, self._order

    def _fitting(self, batch: Sequence[CatalogueTool]) -> list[CatalogueTool]:
        """The tools of a batch that fit together if no others are bound, better ones first."""
        places, room = self.settings.capacity, self._room()
        taken = []
        for tool in batch:
            pinned = tool.id in self._entries and self._entries[tool.id].pinned
            shown = self.settings.cache_stable and tool.id in self._listed
            cost = 0 if shown or pinned or room is None else self._priced(tool).tokens
            if (places or pinned) and (room is None or cost <= room):
                taken.append(tool)
                places -= not pinned
                room = None if room is None else room - cost
        return taken

    def _room(self) -> int | None:
        """Tokens left for a batch: beside the whole list if cache-stable, else beside pins."""
        if self.budget is None:
            return None
        if self.settings.cache_stable:
            return max(0, self.budget - self.tokens)
        pinned = [self._listed[name] for name, one in self._entries.items() if one.pinned]
        return max(0, self.budget - _sum(self._always.values()) - _sum(pinned))

    def _make_room(self, now: float) -> tuple[Eviction, ...]:
        """Evict, by section 6.3: expired tools first, then the least recently used."""
        if not self._too_many():
            return ()
        evicted = self._evict(self._stale(now), "ttl")
        unpinned = [name for name, one in self._entries.items() if not one.pinned]
        unpinned.sort(key=lambda name: _recency(self._entries[name]))
        for tool_id in unpinned:
            if not self._too_many():
                break
            evicted += self._evict([tool_id], "lru")
        return evicted

    def _too_many(self) -> bool:
        if sum(not one.pinned for one in self._entries.values()) > self.settings.capacity:
            return True
        return self.over_budget and not self.settings.cache_stable

    def _stale(self, now: float) -> list[str]:
        return [
            name
            for name, one in self._entries.items()
            if not one.pinned and now - one.last_used > self.settings.ttl
        ]

    def _evict(self, tool_ids: Iterable[str], why: Why) -> tuple[Eviction, ...]:
        gone = tuple(Eviction(tool_id, why) for tool_id in tool_ids)
        for one in gone:
            self.unload(one.tool_id)
        return gone


def _recency(entry: BoundTool) -> tuple[float, int]:
    return entry.last_used, entry.order


def _sum(listed: Iterable[_Listed]) -> int:
    return sum(one.tokens for one in listed)
