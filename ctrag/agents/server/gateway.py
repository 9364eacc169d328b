"""Search and calls for many sessions, independent of the transport.

A search surfaces tools to a session; only those may be called in it, and only while the caller
may see them. State is kept under a handle that a search returns.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio.to_thread import run_sync

from ctrag.agents.catalogue.access import Expert, Principal
from ctrag.agents.catalogue.formats import wire_names
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import LIMIT
from ctrag.agents.server.answers import CallAnswer, SearchAnswer, refusal, with_next, with_note
from ctrag.agents.server.config import Upstreams
from ctrag.agents.server.marketplace import Marketplace, Plugin, scope_of
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.principals import caller_key, caller_of
from ctrag.agents.server.remote import Registry, RemoteHit, gather
from ctrag.agents.server.search import Search
from ctrag.agents.server.servers import SELF, Servers
from ctrag.agents.server.upstream import Upstream, UpstreamError
from ctrag.agents.session.events import EventSink, ignore
from ctrag.agents.session.next_tools import offered_next
from ctrag.agents.session.registry import MakeSession, SessionRegistry
from ctrag.agents.session.settings import SessionSettings
from ctrag.agents.session.tokens import tool_tokens
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError
from stores.database import StoreUnavailable

_log = logging.getLogger(__name__)
_LEAST_TOKENS = 8
"""No definition costs less: catalogues with too many tools to be listed need not be read."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """How many tools a search shows."""

    limit: int = LIMIT
    """Tools that a search shows at most, unless it asks for another number."""
    most: int = 20
    """Maximum that a search may ask for."""
    near: int = 3
    """The closest tools that a search names beside what it shows, when none surely fits."""
    few: int = 2
    """Below this number of results, fitting plugins of the marketplace are shown too; above it,
    only those that fit better than all tools."""
    timeout: float = 15.0
    """Seconds that a search waits for servers that are starting for the first time."""
    registry_timeout: float = 5.0
    """Seconds that a search waits for another registry."""
    remember: float = 60.0
    """Seconds between writes of what was learned about callers to the store."""
    may_install: bool = False
    """Whether a session may install plugins."""


def _bounded_sessions(make: MakeSession) -> SessionRegistry:
    return SessionRegistry(make, maximum=10_000, per_principal=1_000)


class Gateway:
    """The catalogue, the servers behind it and the sessions in front of it.

    Args:
        index: The catalogue, with its access rules.
        upstreams: The servers and registries to connect to.
        marketplace: Plugins that can be installed.
        registries: Further registries, searched after those of `upstreams`.
        always: Ids of tools that every session has without searching, beside those that the
            catalogue marks.
        expert: The configured agent whose sessions these are, or its name.
        settings: How many tools a search shows.
        session: Settings of every new session.
        record: Receives every decision as an event.
        sessions: Creates the registry that keeps the sessions.

    Example::

        async with Gateway(ToolIndex.from_file("tools.json")).running() as gateway:
            answer = await gateway.search(None, "book a flight")
    """

    def __init__(
        self,
        index: ToolIndex,
        upstreams: Upstreams | None = None,
        *,
        marketplace: Marketplace | None = None,
        registries: Sequence[Registry] = (),
        always: Sequence[str] = (),
        expert: Expert | str | None = None,
        settings: GatewaySettings | None = None,
        session: SessionSettings | None = None,
        record: EventSink = ignore,
        sessions: Callable[[MakeSession], SessionRegistry] = _bounded_sessions,
    ) -> None:
        self.index = index
        self.settings = settings or GatewaySettings()
        self.session = session or SessionSettings()
        self.marketplace = marketplace
        self._servers = Servers(
            index, upstreams or Upstreams(), registries, self.settings.registry_timeout
        )
        self._permissions = Permissions(index, self._servers.registries, expert, always)
        self._search = Search(index, self._permissions, self._servers, self.settings.near)
        self._record = record
        self.sessions = sessions(self._new_session)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Gateway"]:
        """Connected to all servers, without waiting for any of them."""
        if self.marketplace is not None:
            for installed in self.marketplace.installed():
                self._servers.adopt(installed)
        async with self._servers.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._remember)
            yield self
            tasks.cancel_scope.cancel()

    async def _remember(self) -> None:
        """Periodically write what was learned, so that a crash loses little of it."""
        while True:
            await anyio.sleep(self.settings.remember)
            try:
                await run_sync(self.index.flush)
            except StoreUnavailable as error:
                _log.warning("what was learned of callers is not written yet: %s", error)

    async def search(
        self, who: Principal | None, query: str, handle: str | None = None, limit: int | None = None
    ) -> SearchAnswer:
        """Find tools and surface them to a session.

        Args:
            who: The caller; None sees only catalogues without access rules.
            query: What the tool should do.
            handle: Of the session; None opens one.
            limit: Tools at most.

        Raises:
            ValueError: The query is empty, the limit out of range, or the session unknown.
        """
        k = self.settings.limit if limit is None else limit
        if not 1 <= k <= self.settings.most:
            raise InputError(f"limit: must be from 1 to {self.settings.most}, not {k}")
        await self._servers.tried(self.settings.timeout)
        began = time.perf_counter()
        key, session = await run_sync(self._session, who, handle)
        if self.session.preload and not session.searched:
            likely = await run_sync(self.index.preload, query, who, self.session.preload)
            session.preload(likely)
        local = await run_sync(self._search.in_catalogue, who, query, session, k)
        gathered = await gather([*self._servers.registries.values()], session.id, query, k)
        surface = partial(self._search.surface, who, query, session, began=began, trace=local.trace)
        bound = await run_sync(surface, [local.found, *gathered.lists], k)
        plugins: list[Plugin] = []
        if self.marketplace is not None:
            best = max((one.score for one in local.found), default=0.0)
            least = 0.0 if len(local.found) < self.settings.few else best
            plugins = await run_sync(partial(self.marketplace.search, query, who, above=least))
        down = {**self._servers.down(), **gathered.unavailable}
        at_hand = bound.at_hand if handle is None else []
        foreign = any(gathered.lists)  # a registry has judged what it found itself
        doubt = "" if foreign else local.doubt
        near = local.closest if doubt or not bound.shown else []
        return SearchAnswer(key, bound.found, bound.shown, at_hand, near, doubt, plugins, down)

    async def call(
        self, who: Principal | None, handle: str, name: str, arguments: dict[str, Any]
    ) -> CallAnswer:
        """Call a tool of a session; errors are reported to the model in the result.

        Args:
            who: The caller.
            handle: Of the session.
            name: The tool's id as returned by the search, or its name alone if unambiguous.
            arguments: By name.
        """
        try:
            session, tool = await run_sync(self._callable, who, handle, name)
        except ValueError as error:
            return CallAnswer(refusal(str(error)))
        began = time.perf_counter()
        error_type: str | None = None
        try:
            result = await self._servers.call(session.id, tool, arguments)
            error_type = "tool_error" if result.is_error else None
        except UpstreamError as error:
            result, error_type = refusal(str(error)), "upstream"
        except anyio.get_cancelled_exc_class():
            session.finished(tool.id, arguments, error="cancelled")
            raise
        spent = time.perf_counter() - began
        finished = session.finished(tool.id, arguments, error=error_type, seconds=spent)
        self.index.learn(who, tool.id, "used")
        self.index.learn(who, tool.id, "failed" if error_type else "succeeded")
        if finished.note:
            result = with_note(result, finished.note, finished.loop_detected)
        following = [] if error_type else await run_sync(self._next, who, session)
        if following:
            result = with_next(result, following)
        return CallAnswer(result, changed=finished.evicted is not None or bool(following))

    def _next(self, who: Principal | None, session: ToolSession) -> list[dict[str, Any]]:
        """The tools that usually come next, bound now, as shown to the model."""
        offered = offered_next(self.index, session, who, self.session.next)
        return [self._search.shown(RemoteHit(tool, 1.0)) for tool in offered]

    def release(self, who: Principal | None, handle: str, names: Sequence[str]) -> list[str]:
        """Unload tools that a session no longer needs; the ids of those that were loaded.

        Raises:
            ValueError: The session is unknown.
        """
        session = self.sessions.get(handle, caller_key(who))
        return [one for name in names if session.unload(one := named(session, name))]

    async def install(self, who: Principal | None, plugin: str) -> list[str]:
        """Install a plugin of the marketplace; the ids of its tools, found from now on.

        Raises:
            ValueError: Nothing may be installed here, or there is no such plugin.
        """
        if self.marketplace is None or not self.settings.may_install:
            raise InputError("plugins cannot be installed from here; ask whoever runs this server")
        servers = self._servers
        taken = {*servers.upstreams, *servers.registries, *(one.server for one in self.index.tools)}
        if plugin in taken and not servers.is_plugin(plugin):
            raise InputError(f"plugin: a server named {plugin!r} is here already")
        installed = await run_sync(self.marketplace.install, plugin, scope_of(who))
        if servers.adopt(installed):
            await servers.started(plugin)
        ids = [one.id for one in self.index.tools if one.server == plugin]
        return [one for one in ids if self._permissions.allowed(one, who)]

    @property
    def servers(self) -> Mapping[str, Upstream]:
        """The servers behind the tools, by name."""
        return self._servers.upstreams

    def always_available(self, who: Principal | None) -> list[CatalogueTool]:
        """The tools available without a search that the caller may see."""
        return self.index.resolve(self._permissions.always, who)

    def listed_directly(self, who: Principal | None) -> list[CatalogueTool]:
        """All tools that the caller may see, where together they cost no more than the setting."""
        budget = self.session.list_under
        held = [one for one in self.index.store.hashes() if one != SELF.id] if budget else []
        if not held or len(held) * _LEAST_TOKENS > budget:
            return []
        visible = self.index.resolve(
            [one for one in held if self._permissions.allowed(one, who)], who
        )
        return visible if sum(map(tool_tokens, visible)) <= budget else []

    async def open(self, who: Principal | None) -> str:
        """A new session's handle."""
        if (
            self._permissions.always or self.session.list_under
        ):  # their servers may still be starting
            await self.ready()
        return (await run_sync(self.sessions.open, caller_key(who)))[0]

    async def ready(self) -> None:
        """Wait, for the settings' time at most, for servers that are starting for the first
        time."""
        await self._servers.tried(self.settings.timeout)

    def tools(self, who: Principal | None, handle: str) -> tuple[CatalogueTool, ...]:
        """The tools that a session may call now.

        Raises:
            ValueError: The session is unknown.
        """
        return self.sessions.get(handle, caller_key(who)).tools

    def _session(self, who: Principal | None, handle: str | None) -> tuple[str, ToolSession]:
        if handle is None:
            return self.sessions.open(caller_key(who))
        return handle, self.sessions.get(handle, caller_key(who))

    def _new_session(self, session_id: str, key: str) -> ToolSession:
        who = caller_of(key)
        direct = self.listed_directly(who)
        binding = self.session.binding
        session = ToolSession(
            session_id,
            key,
            always=self.always_available(who),
            binding=replace(binding, capacity=binding.capacity + len(direct)),
            guard=self.session.whole_guard,
            overlap=self.session.overlap,
            allowed=lambda tool_id, owner: self._permissions.allowed(tool_id, caller_of(owner)),
            record=self._record,
        )
        session.preload([*direct, *self.index.warm_start(who, self.session.warm)])
        return session

    def _callable(
        self, who: Principal | None, handle: str, name: str
    ) -> tuple[ToolSession, CatalogueTool]:
        """The session and its tool; ValueError with a message for the model if it may not run."""
        session = self.sessions.get(handle, caller_key(who))
        tool = session.check(named(session, name))
        self._unchanged(session, tool)
        return session, tool

    def _unchanged(self, session: ToolSession, tool: CatalogueTool) -> None:
        """Refuse a tool whose definition has changed since it was shown to the model."""
        if tool.server in self._servers.registries:
            return
        try:
            now = self.index.get(tool.id)
        except KeyError:
            now = None
        if now is None or now.content_hash != tool.content_hash:
            session.unload(tool.id, "removed")
            what = "is gone" if now is None else "has changed since it was found"
            raise InputError(f"{tool.id} {what}; search for it again with search_tools.")


def named(session: ToolSession, name: str) -> str:
    """The id of the session's tool with that name; the name itself when none matches."""
    tools = session.tools
    listed = wire_names(tools)  # the names that a client of the 2025 revision sees
    if name in listed and all(tool.id != name for tool in tools):
        return listed[name].id
    same = [tool.id for tool in tools if tool.name == name]
    return same[0] if len(same) == 1 else name
