"""The tools that one agent's session holds: bound under access checks, each change told."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session import events
from ctrag.agents.session.binding import (
    Binding,
    BindingSettings,
    Clock,
    Eviction,
    ToolContextManager,
    Why,
)
from ctrag.agents.session.guard import GuardSettings, IterationGuard
from ctrag.agents.session.outcomes import Reason, ToolRefused
from ctrag.agents.session.recorder import SessionRecorder
from ctrag.agents.session.sent_names import meant, plain_names
from ctrag.agents.session.state import BoundState, SessionState
from ctrag.agents.session.tokens import characters
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

Allowed = Callable[[str, str], bool]
"""(tool id, principal) → whether that principal may see and call the tool now."""
Resolve = Callable[[str], CatalogueTool | None]
"""Tool id → its current definition, or None when it is gone."""


class SessionTools:
    """Joins binding, guard, access and events; safe for several threads.

    Args: as `ToolSession`.
    """

    def __init__(
        self,
        session_id: str = "",
        principal: str = "",
        *,
        always: Sequence[CatalogueTool] = (),
        binding: BindingSettings | None = None,
        guard: GuardSettings | None = None,
        allowed: Allowed | None = None,
        record: events.EventSink = events.ignore,
        clock: Clock = time.time,
        count: CountTokens = characters,
    ) -> None:
        self.id = session_id
        self.principal = principal
        self.manager = ToolContextManager(always, binding, clock=clock, count=count)
        self.guard = IterationGuard(guard, clock=clock)
        self._allowed = allowed or (lambda tool_id, principal: True)
        self._lock = threading.RLock()
        self._events = SessionRecorder(session_id, record, clock)

    @property
    def tools(self) -> tuple[CatalogueTool, ...]:
        """The model's tools now, without those that this principal may no longer see."""
        with self._lock:
            return tuple(tool for tool in self.manager.tools if self._may(tool.id))

    @property
    def known(self) -> tuple[str, ...]:
        """Ids of all tools that the session ever had."""
        with self._lock:
            return self.manager.known

    def preload(self, tools: Iterable[CatalogueTool]) -> tuple[str, ...]:
        """Bind tools without a search; returns the ids of those that are new.

        For tools by a person's affinity from earlier sessions and those of a predicted category.
        Hot tools (`CatalogueTool.pinned`) are pinned while there are pins left.

        Args:
            tools: Best first; those not allowed are skipped.
        """
        with self._lock:
            visible = [tool for tool in tools if self._may(tool.id)]
            hot = [tool for tool in visible if tool.pinned][: self.manager.pins_left]
            added = self._bind(hot).added
            for tool in hot:
                if self.manager.active(tool.id):
                    self.pin(tool.id)
            return added + self._bind(visible).added

    def offer(self, tools: Iterable[CatalogueTool]) -> tuple[CatalogueTool, ...]:
        """Bind tools without a search while there is room; returns those that are new.

        For tools that usually come next: none of those at hand has to go for them.

        Args:
            tools: Best first; those not allowed are skipped.
        """
        with self._lock:
            new = [
                tool
                for tool in tools
                if self.manager.active(tool.id) is None
                and tool.id not in self.guard.evicted
                and self._may(tool.id)
            ]
            self._bind(new[: max(self.manager.room, 0)])
            return tuple(tool for tool in new if self.manager.active(tool.id))

    def check(self, tool_id: str) -> CatalogueTool:
        """The tool, if it may be called.

        Where a model makes several calls at once, check all of them before the first one runs:
        the guard may evict a tool in between.

        Args:
            tool_id: Its id, or a name that a model has for it: `find`, `shop__find` and
                `mcp__shop__find` are `shop/find` where the session has no other such tool.

        Raises:
            ToolRefused: The session never had it, lost it, or may not use it any more.
        """
        with self._lock:
            tool_id = self.id_of(tool_id)
            tool = self.manager.active(tool_id)
            if tool is None:
                looped = tool_id in self.guard.evicted
                raise self._refused(tool_id, "evicted" if looped else "not_surfaced")
            if not self._may(tool_id):
                self.unload(tool_id, "not_allowed")
                raise self._refused(tool_id, "not_allowed")
            return tool

    def id_of(self, called: str) -> str:
        """The id of the session's tool that a model calls so; what may be none or several of
        them stays as it is."""
        with self._lock:
            if called in self.manager.known:
                return called
            active = [tool for tool in self.manager.tools if self.manager.active(tool.id)]
            ids = meant(called, [tool.id for tool in active])
            ids = ids or [tool.id for tool in active if tool.name in plain_names(called)]
            return ids[0] if len(ids) == 1 else called

    def unload(self, tool_id: str, why: Why = "unloaded") -> bool:
        """Unbind a discovered tool; False if it was not bound."""
        with self._lock:
            gone = self.manager.unload(tool_id)
            if gone:
                self._events.evicted([Eviction(tool_id, why)])
            return gone

    def expire(self) -> tuple[str, ...]:
        """Evict every tool that was not used within the settings' time; returns their ids."""
        with self._lock:
            return self._record_evictions(self.manager.expire())

    def pin(self, tool_id: str) -> None:
        """Keep a bound tool regardless of its age.

        Raises:
            ValueError: The tool is not bound, or all pins are taken.
        """
        with self._lock:
            self.manager.pin(tool_id)
            self._events.emit("ctrag.tool.pin", {events.TOOL: tool_id, events.REASON: "asked"})

    def unpin(self, tool_id: str) -> tuple[str, ...]:
        """Unpin a tool; returns what is evicted if there are now too many.

        Raises:
            ValueError: The tool is not bound.
        """
        with self._lock:
            evictions = self.manager.unpin(tool_id)
            self._events.emit("ctrag.tool.unpin", {events.TOOL: tool_id})
            return self._record_evictions(evictions)

    def rebuild_list(self) -> tuple[str, ...]:
        """Drop withdrawn tools from a cache-stable list, which invalidates a prompt cache once."""
        with self._lock:
            dropped = self.manager.rebuild_list()
            self._events.emit("ctrag.context.rebuild", {"ctrag.tools": list(dropped)})
            return dropped

    def state(self) -> SessionState:
        """The state to store for `resume`."""
        with self._lock:
            return SessionState(
                id=self.id,
                principal=self.principal,
                bound=[BoundState.of(one) for one in self.manager.entries],
                listed=[tool.id for tool in self.manager.listed],
                evicted=list(self.guard.evicted),
                known=list(self.manager.known),
            )

    def resume(self, state: SessionState, resolve: Resolve) -> tuple[str, ...]:
        """Replace the state by a saved one; returns the tools that no longer resolve.

        Args:
            state: As `state` returned it, perhaps in another process.
            resolve: Returns each tool's current definition; access is checked again as well.

        Raises:
            ValueError: The state is another principal's.
        """
        if state.principal != self.principal:
            raise InputError(f"state: is not of {self.principal!r}, whose session this is")
        with self._lock:
            wanted = dict.fromkeys([*(one.tool for one in state.bound), *state.listed])
            tools = {name: resolve(name) for name in wanted if self._may(name)}
            known = {name: tool for name, tool in tools.items() if tool is not None}
            listed = [known[name] for name in state.listed if name in known]
            evictions = self.manager.restore(state.entries(known), listed, state.known)
            for tool_id in state.evicted:
                self.guard.evict(tool_id)
            lost = tuple(name for name in wanted if name not in known)
            self._events.emit("ctrag.session.resume", {"ctrag.tools.lost": list(lost)})
            self._record_evictions(evictions)
            return lost

    def _bind(self, tools: Sequence[CatalogueTool]) -> Binding:
        binding = self.manager.bind(tools)
        self._events.bound(binding)
        return binding

    def _may(self, tool_id: str) -> bool:
        return self._allowed(tool_id, self.principal)

    def _refused(self, tool_id: str, reason: Reason) -> ToolRefused:
        self._events.refused(tool_id, reason)
        return ToolRefused(tool_id, reason)

    def _record_evictions(self, evictions: Sequence[Eviction]) -> tuple[str, ...]:
        self._events.evicted(evictions)
        return tuple(one.tool_id for one in evictions)
