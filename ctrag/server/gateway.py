"""Search and calls for many sessions, whatever they are reached through.

A search surfaces tools to a session; only those may be called in it, and only while the caller
may see them. State travels as a handle that a search gives out.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp.types import CallToolResult

from ctrag.integrations.formats import SEARCH_DESCRIPTION, SEARCH_NAME, wire_name
from ctrag.integrations.surfacing import surfaced
from ctrag.server.answers import CallAnswer, SearchAnswer, refusal, shown, with_note
from ctrag.server.config import ServerSpec, Upstreams
from ctrag.server.federation import FoundTool, Registry, RemoteRegistry, gather, merged
from ctrag.server.marketplace import Installed, Marketplace, Plugin, scope_of
from ctrag.server.principals import caller_key, caller_of
from ctrag.server.upstream import Upstream, UpstreamError
from ctrag.session.events import EventSink, ignore
from ctrag.session.outcomes import Found
from ctrag.session.registry import MakeSession, SessionRegistry
from ctrag.session.tool_session import ToolSession
from ctrag.tools.access import Expert, Grant, Principal
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.index import ToolIndex

SELF = CatalogueTool(SEARCH_NAME, SEARCH_DESCRIPTION, "ctrag", always=True)
"""Keeps an index from being empty before a server is listed; never found, as it is at hand."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """How many tools a search shows."""

    limit: int = 5
    """Tools that a search shows at most, unless it asks for another number."""
    most: int = 20
    """Tools that a search may ask for."""
    near: int = 3
    """The closest tools that a search names when none fits."""
    few: int = 2
    """With fewer tools than this, plugins of the marketplace that fit are shown as well; with
    more, only those that fit better than all tools."""
    patience: float = 15.0
    """Seconds that a search waits for servers that are starting for the first time."""
    registry_patience: float = 5.0
    """Seconds that a search waits for another registry."""
    warm: int = 3
    """Tools that a new session has at once: pinned ones, then those that its caller uses most."""
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
        expert: The configured agent that the sessions are of, or its name.
        settings: How many tools a search shows.
        record: Gets every decision as an event.
        sessions: Makes the registry that keeps the sessions.

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
        record: EventSink = ignore,
        sessions: Callable[[MakeSession], SessionRegistry] = _bounded_sessions,
    ) -> None:
        self.index = index
        self.settings = settings or GatewaySettings()
        self.marketplace = marketplace
        flagged = [tool.id for tool in index.tools if tool.always and tool.id != SELF.id]
        if isinstance(expert, str) and expert not in index.experts:
            raise ValueError(f"expert: the catalogue has none named {expert!r}")
        self._expert = index.experts[expert] if isinstance(expert, str) else expert
        special = sorted(self._expert.always) if self._expert else []
        self._always = tuple(dict.fromkeys([*always, *flagged, *special]))
        self._record = record
        specs = upstreams or Upstreams()
        self.servers: dict[str, Upstream] = {}
        self._plugins: set[str] = set()
        for name, spec in specs.servers.items():
            self._add_server(name, spec)
        self._hubs = {
            name: Upstream(name, spec, _nothing) for name, spec in specs.registries.items()
        }
        remote = [
            RemoteRegistry(hub, self.settings.registry_patience) for hub in self._hubs.values()
        ]
        self.registries: tuple[Registry, ...] = (*remote, *registries)
        self._registries = {one.name: one for one in self.registries}
        if taken := set(self._registries) & set(self.servers):
            raise ValueError(f"registries: {min(taken)!r} is a server's name as well")
        self.sessions = sessions(self._new_session)
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Gateway"]:
        """Connected to all servers, without waiting for any of them."""
        if self.marketplace is not None:
            for installed in self.marketplace.installed():
                self._adopt(installed)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for upstream in [*self.servers.values(), *self._hubs.values()]:
                tasks.start_soon(upstream.run)
            yield self
            tasks.cancel_scope.cancel()
        self._tasks = None

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
            raise ValueError(f"limit: must be from 1 to {self.settings.most}, not {k}")
        await self._started()
        began = time.perf_counter()
        key, session = await run_sync(self._session, who, handle)
        local, closest = await run_sync(self._local, who, query, session, k)
        gathered = await gather(self.registries, session.id, query, k)
        surface = partial(self._surface, who, session, query, began)
        found, shown_tools, at_hand = await run_sync(surface, [local, *gathered.lists], k)
        plugins: list[Plugin] = []
        if self.marketplace is not None:
            best = max((one.score for one in local), default=0.0)
            least = 0.0 if len(local) < self.settings.few else best
            plugins = await run_sync(partial(self.marketplace.search, query, who, above=least))
        down = {**self._down(), **gathered.unavailable}
        told = at_hand if handle is None else []
        near = [] if shown_tools else closest
        return SearchAnswer(key, found, shown_tools, told, near, plugins, down)

    async def call(
        self, who: Principal | None, handle: str, name: str, arguments: dict[str, Any]
    ) -> CallAnswer:
        """Call a tool of a session; whatever goes wrong is told to the model in the result.

        Args:
            who: The caller.
            handle: Of the session.
            name: The tool's id as the search gave it; its name alone where that is clear.
            arguments: By name.
        """
        try:
            session, tool = await run_sync(self._callable, who, handle, name)
        except ValueError as error:
            return CallAnswer(refusal(str(error)))
        began = time.perf_counter()
        error_type: str | None = None
        try:
            result = await self._run(session, tool, arguments)
            error_type = "tool_error" if result.is_error else None
        except UpstreamError as error:
            result, error_type = refusal(str(error)), "upstream"
        except anyio.get_cancelled_exc_class():
            session.finished(tool.id, arguments, error="cancelled")
            raise
        spent = time.perf_counter() - began
        finished = session.finished(tool.id, arguments, error=error_type, seconds=spent)
        self.index.learn(who, tool.id, "failed" if error_type else "succeeded")
        if finished.note:
            result = with_note(result, finished.note, finished.loop_detected)
        return CallAnswer(result, changed=finished.evicted is not None)

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
            raise ValueError("plugins cannot be installed from here; ask whoever runs this server")
        taken = {*self.servers, *self._registries, *(tool.server for tool in self.index.tools)}
        if plugin in taken and plugin not in self._plugins:
            raise ValueError(f"plugin: a server named {plugin!r} is here already")
        installed = await run_sync(self.marketplace.install, plugin, scope_of(who))
        if self._adopt(installed) and self._tasks is not None:
            server = self.servers[plugin]
            self._tasks.start_soon(server.run)
            with anyio.move_on_after(server.spec.start_timeout):
                await server.tried()
        ids = [one.id for one in self.index.tools if one.server == plugin]
        return [one for one in ids if self._allowed(one, who)]

    def always_available(self, who: Principal | None) -> list[CatalogueTool]:
        """The tools at hand without a search that the caller may see."""
        return self.index.resolve(self._always, who)

    async def open(self, who: Principal | None) -> str:
        """A new session's handle."""
        if self._always:  # they may be of servers that are still starting
            await self._started()
        return (await run_sync(self.sessions.open, caller_key(who)))[0]

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
        session = ToolSession(
            session_id,
            key,
            always=self.always_available(who),
            allowed=lambda tool_id, owner: self._allowed(tool_id, caller_of(owner)),
            record=self._record,
        )
        session.preload(self.index.warm_start(who, self.settings.warm))
        return session

    def _local(
        self, who: Principal | None, query: str, session: ToolSession, k: int
    ) -> tuple[list[FoundTool], list[dict[str, str]]]:
        """What fits in the catalogue, and what is closest."""
        used = sorted((e.last_used, e.order, e.tool.id) for e in session.manager.entries if e.uses)
        hits = self.index.search(
            query,
            k,
            who,
            [tool_id for _, _, tool_id in used],
            exclude=self._always,
            expert=self._expert,
        )
        kept = surfaced(hits, query)
        found = [
            FoundTool(tool, kept[tool.id].probability, differs=kept[tool.id].differs)
            for tool in self.index.resolve(kept, who)
            if tool.id in kept
        ]
        close = [shown(FoundTool(hit.tool, hit.probability)) for hit in hits[: self.settings.near]]
        return found, [{key: one[key] for key in ("name", "description")} for one in close]

    def _surface(
        self,
        who: Principal | None,
        session: ToolSession,
        query: str,
        began: float,
        lists: Sequence[Sequence[FoundTool]],
        k: int,
    ) -> tuple[Found, list[dict[str, Any]], list[dict[str, Any]]]:
        """Bind what was found; the found tools and the others at hand, as they are shown."""
        visible = [[one for one in found if self._allowed(one.tool.id, who)] for found in lists]
        results = merged(visible, k)
        found = session.found(
            query,
            [one.tool for one in results],
            scores=[one.score for one in results],
            seconds=time.perf_counter() - began,
        )
        bound = {tool.id for tool in found.tools}
        for tool_id in bound:
            self.index.learn(who, tool_id, "found")
        at_hand = [FoundTool(tool, 1.0) for tool in session.tools if tool.id not in bound]
        told = [shown(one, self._marks(one.tool)) for one in results if one.tool.id in bound]
        return found, told, [shown(one, self._marks(one.tool)) for one in at_hand]

    def _callable(
        self, who: Principal | None, handle: str, name: str
    ) -> tuple[ToolSession, CatalogueTool]:
        """The session and its tool; ValueError, in words for the model, when it may not run."""
        session = self.sessions.get(handle, caller_key(who))
        tool = session.check(named(session, name))
        self._unchanged(session, tool)
        return session, tool

    def _allowed(self, tool_id: str, who: Principal | None) -> bool:
        """Whether caller and expert may use a tool, of the index or of a registry."""
        expert = self._expert
        confined = None if expert is None or expert.allow is None else expert.allow | expert.always
        if confined is not None and tool_id not in confined:
            return False
        server, _, name = tool_id.partition("/")
        if not name or server not in self._registries:
            return self.index.allowed(tool_id, who)
        rules = self.index.access
        if rules is None:
            return True
        scopes, whole = rules.scopes(who), {"*", f"{server}/*"}
        granted = any(one.scope in scopes and one.tool in whole for one in rules.grants)
        return granted or bool(rules.visible([tool_id], who))

    def _unchanged(self, session: ToolSession, tool: CatalogueTool) -> None:
        """Refuse a tool that is not what the model was shown any more."""
        if tool.server in self._registries:
            return
        try:
            now = self.index.get(tool.id)
        except KeyError:
            now = None
        if now is None or now.content_hash != tool.content_hash:
            session.unload(tool.id, "removed")
            what = "is gone" if now is None else "has changed since it was found"
            raise ValueError(f"{tool.id} {what}; search for it again with search_tools.")

    async def _run(
        self, session: ToolSession, tool: CatalogueTool, arguments: dict[str, Any]
    ) -> CallToolResult:
        if tool.server in self._registries:
            return await self._registries[tool.server].call(session.id, tool.name, arguments)
        if tool.server not in self.servers:
            raise UpstreamError(
                f"{tool.id} is described in the catalogue, but no server stands behind it here. "
                "Search for another tool."
            )
        return await self.servers[tool.server].call(tool.name, arguments)

    def _marks(self, tool: CatalogueTool) -> Sequence[str]:
        server = self.servers.get(tool.server)
        listed = server.tools.get(tool.name) if server else None
        return listed.marks if listed else ()

    def _add_server(self, name: str, spec: ServerSpec) -> Upstream:
        self.servers[name] = Upstream(name, spec, self._listed)
        return self.servers[name]

    def _adopt(self, installed: Installed) -> bool:
        """Let a plugin's server be one of ours, seen by whom it is installed for; if it is new."""
        plugin, index = installed.plugin, self.index
        known = plugin.name in self.servers
        if known and plugin.name not in self._plugins:  # a grant for it would open that server
            raise ValueError(f"plugin: a server named {plugin.name!r} is here already")
        self._plugins.add(plugin.name)
        if index.access is not None:
            given = [Grant(scope, f"{plugin.name}/*") for scope in installed.scopes if scope]
            grants = tuple(dict.fromkeys([*index.access.grants, *given]))
            index.access = replace(index.access, grants=grants)
        if not known:
            self._add_server(plugin.name, plugin.server)
        return not known

    async def _listed(self, upstream: Upstream) -> None:
        """Take over a server's list; vectors are made for what is new in it."""
        tools = [
            CatalogueTool(tool.name, tool.description, upstream.name, tool.parameters)
            for tool in upstream.tools.values()
        ]
        now = {tool.id: tool.content_hash for tool in tools}
        held = [tool for tool in self.index.tools if tool.server == upstream.name]
        if now != {tool.id: tool.content_hash for tool in held} and upstream.listed:
            await run_sync(self.index.replace_server, upstream.name, tools)

    async def _started(self) -> None:
        with anyio.move_on_after(self.settings.patience):
            for upstream in [*self.servers.values(), *self._hubs.values()]:
                await upstream.tried()

    def _down(self) -> dict[str, str]:
        return {one.name: one.down for one in self.servers.values() if one.down is not None}


def named(session: ToolSession, name: str) -> str:
    """The id of the session's tool that a model means; the name itself when none fits."""
    tools = session.tools
    for tool in tools:
        if name in {tool.id, wire_name(tool.id)}:
            return tool.id
    same = [tool.id for tool in tools if tool.name == name]
    return same[0] if len(same) == 1 else name


async def _nothing(upstream: Upstream) -> None:
    pass
