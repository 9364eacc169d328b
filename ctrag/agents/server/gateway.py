"""Search and calls for many sessions, independent of the transport.

A search surfaces tools to a session; only those may be called in it, and only while the caller
may see them. State is kept under a handle that a search returns.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp.types import LoggingLevel

from ctrag.agents.catalogue.access import AccessRules, Expert, Principal
from ctrag.agents.catalogue.shown import EVERYTHING, ShownLimits
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.answers import (
    CallAnswer,
    SearchAnswer,
)
from ctrag.agents.server.calls import Calls
from ctrag.agents.server.channel import SILENT, Channel
from ctrag.agents.server.config import Upstreams
from ctrag.agents.server.exposure import Exposed
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.guidance import Guidance
from ctrag.agents.server.held_tools import HeldTools
from ctrag.agents.server.marketplace import Marketplace
from ctrag.agents.server.openapi_calls import OpenApiServer
from ctrag.agents.server.opening import Opening
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.plugin_offers import PluginOffers
from ctrag.agents.server.principals import caller_key
from ctrag.agents.server.remote import Registry
from ctrag.agents.server.resources import Resources
from ctrag.agents.server.results import Results
from ctrag.agents.server.search import Search
from ctrag.agents.server.searches import Searches
from ctrag.agents.server.servers import Servers
from ctrag.agents.server.upstream import Sole, Upstream
from ctrag.agents.session.events import EventSink, ignore
from ctrag.agents.session.registry import MakeSession, SessionRegistry
from ctrag.agents.session.settings import SessionSettings
from stores.database import StoreUnavailable

_log = logging.getLogger(__name__)


def _bounded_sessions(make: MakeSession) -> SessionRegistry:
    return SessionRegistry(make, maximum=10_000, per_principal=1_000)


class Gateway:
    """The catalogue, the servers behind it and the sessions in front of it.

    Args:
        index: The catalogue, with its access rules.
        upstreams: The servers and registries to connect to.
        marketplace: Plugins that can be installed.
        registries: Further registries, searched after those of `upstreams`.
        apis: OpenAPI documents of the catalogue, whose tools are called over HTTP.
        always: Ids of tools that every session has without searching, beside those that the
            catalogue marks.
        expert: The configured agent whose sessions these are, or its name.
        settings: How many tools a search shows.
        session: Settings of every new session.
        record: Receives every decision as an event.
        sessions: Creates the registry that keeps the sessions.
        guidance: Skills, rules and policies that come with the tools that they are about.

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
        apis: Sequence[OpenApiServer] = (),
        always: Sequence[str] = (),
        expert: Expert | str | None = None,
        settings: GatewaySettings | None = None,
        session: SessionSettings | None = None,
        record: EventSink = ignore,
        sessions: Callable[[MakeSession], SessionRegistry] = _bounded_sessions,
        guidance: Guidance | None = None,
    ) -> None:
        self.index = index
        self.settings = settings or GatewaySettings()
        self.session = session or SessionSettings()
        self.marketplace = marketplace
        self._servers = Servers(
            index, upstreams or Upstreams(), registries, self.settings.registry_timeout, apis
        )
        self._permissions = Permissions(index, self._servers.registries, expert, always)
        self.results = Results()
        """Results that were too long to be sent at once."""
        self.guidance = guidance
        self.resources = Resources(
            self._servers, self._permissions, self.results, guidance, self._permissions.hides
        )
        """What the servers have beside tools."""
        self._servers.on_change = self._changed
        self._listeners: list[Callable[[str], Awaitable[None]]] = []
        self.tasks: TaskGroup | None = None
        """Runs what outlasts a request, while the gateway runs."""
        self._plugins = PluginOffers(
            marketplace, index, self._servers, self._permissions, self.settings
        )
        steps = Search(
            index,
            self._permissions,
            self._servers,
            self.settings.near,
            self.session.shown,
            self.settings.reads_apart,
        )
        self._opening = Opening(index, self._permissions, self._servers, self.session, record)
        self.sessions = sessions(self._opening.session)
        self._searches = Searches(
            index,
            self._servers,
            self._permissions,
            self.sessions,
            self._opening,
            steps,
            self._plugins,
            guidance,
            self.settings,
            self.session.preload,
        )
        self._held = HeldTools(index, self._servers, self.sessions)
        self._calls = Calls(
            index,
            self._servers,
            self._held,
            self.sessions,
            self.resources,
            self.results,
            result_limit=self.settings.result_limit,
            following=self.session.next,
            shown=steps.shown,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Gateway"]:
        """Connected to all servers, without waiting for any of them."""
        self._plugins.adopt_installed()
        async with self._servers.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._remember)
            self.tasks = tasks
            yield self
            self.tasks = None
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
        self,
        who: Principal | None,
        query: str,
        handle: str | None = None,
        limit: int | None = None,
        channel: Channel = SILENT,
    ) -> SearchAnswer:
        """Find tools and surface them to a session.

        Args:
            who: The caller; None sees only catalogues without access rules.
            query: What the tool should do.
            handle: Of the session; None opens one.
            limit: Tools at most.
            channel: To the client that asks.

        Raises:
            ValueError: The query is empty, the limit out of range, or the session unknown.
        """
        return await self._searches.search(who, query, handle, limit, channel)

    async def call(
        self,
        who: Principal | None,
        handle: str,
        name: str,
        arguments: dict[str, Any],
        channel: Channel = SILENT,
        *,
        structured: bool = False,
        listed: bool = False,
        only_reads: bool = False,
    ) -> CallAnswer:
        """Call a tool of a session; errors are reported to the model in the result.

        Args:
            who: The caller.
            handle: Of the session.
            name: The tool's id as returned by the search, or its name alone if unambiguous.
            arguments: By name.
            channel: To the client that calls.
            structured: Whether the client expects structured content as the tool's output schema
                says, so that it is sent whole.
            listed: Whether the name comes from the list of a client of the 2025 revision.
            only_reads: Refuse a tool that does not say that it only reads.

        Raises:
            MCPError: A URL has to be opened first, which the client can do.
        """
        return await self._calls.call(
            who,
            handle,
            name,
            arguments,
            channel,
            structured=structured,
            listed=listed,
            only_reads=only_reads,
        )

    def for_one_client(self) -> Sole:
        """Serve one client alone, with the servers' own connections; before `running`."""
        return self._servers.for_one_client()

    async def want_level(self, level: LoggingLevel) -> None:
        """Have the servers send log messages from this level on."""
        await self._servers.want_level(level)

    def listen(self, listener: Callable[[str], Awaitable[None]]) -> None:
        """Await the listener with `resources` or `prompts` when such a list has changed."""
        self._listeners.append(listener)

    async def _changed(self, server: str, kind: str) -> None:
        self.resources.forget(server, kind)
        for listener in self._listeners:
            await listener(kind)

    def release(self, who: Principal | None, handle: str, names: Sequence[str]) -> list[str]:
        """Unload tools that a session no longer needs; the ids of those that were loaded.

        Raises:
            ValueError: The session is unknown.
        """
        session = self.sessions.get(handle, caller_key(who))
        return [one for name in names if session.unload(one := self._held.id_of(session, name))]

    async def install(self, who: Principal | None, plugin: str) -> list[str]:
        """Install a plugin of the marketplace; the ids of its tools, found from now on.

        Raises:
            ValueError: Nothing may be installed here, or there is no such plugin.
        """
        return await self._plugins.install(who, plugin)

    async def reconfigure(self, upstreams: Upstreams) -> list[str]:
        """Take over a changed file of servers; sessions go on. Returns what has changed.

        Raises:
            ValueError: Two of its names would be mistaken for one another; nothing is changed.
        """
        return await self._servers.update(upstreams)

    def change_access(self, rules: AccessRules) -> None:
        """Govern by other rules from now on; grants of installed plugins stay."""
        self._servers.govern(rules)

    @property
    def ready(self) -> bool:
        """Whether every server has answered or failed once, so that searches wait for none."""
        return not self._servers.starting

    def unavailable(self) -> dict[str, str]:
        """Why a server cannot be called now, by its name, entries left out of the file included."""
        return self._servers.down()

    async def start_all(self) -> None:
        """Start the servers that wait for their first call too, and wait for each one's list."""
        await self._servers.start_all()

    def registries_down(self) -> dict[str, str | None]:
        """Why a registry of the file cannot be searched now, by its name; None if it can."""
        return self._servers.hubs_down()

    def exposed(self, server: str) -> Exposed:
        """What of a server's list is shown."""
        return self._servers.exposed.get(server, Exposed())

    def limits(self, tool: CatalogueTool) -> ShownLimits:
        """How much of a tool's definition is shown."""
        return EVERYTHING if self._servers.trusted(tool) else self.session.shown

    def problems_of_apis(self) -> list[str]:
        """What of the OpenAPI documents was left out or named otherwise, and why."""
        return self._servers.problems_of_apis()

    @property
    def servers(self) -> Mapping[str, Upstream]:
        """The servers behind the tools, by name."""
        return self._servers.upstreams

    @property
    def installs(self) -> bool:
        """Whether a model may have plugins installed."""
        return self.marketplace is not None and self.settings.may_install

    def always_available(self, who: Principal | None) -> list[CatalogueTool]:
        """The tools available without a search that the caller may see."""
        return self._opening.always_available(who)

    def listed_directly(self, who: Principal | None) -> list[CatalogueTool]:
        """All tools that the caller may see, where together they cost no more than the setting."""
        return self._opening.listed_directly(who)

    async def open(self, who: Principal | None) -> str:
        """A new session's handle."""
        if self._permissions.always or self.session.list_under:
            await self.settled()  # their servers may still be starting
        return (await run_sync(self.sessions.open, caller_key(who)))[0]

    async def settled(self) -> None:
        """Wait for the servers' first attempt to start; see `Running.settled`."""
        await self._servers.settled(self.settings.timeout)

    def tools(self, who: Principal | None, handle: str) -> tuple[CatalogueTool, ...]:
        """The tools that a session may call now.

        Raises:
            ValueError: The session is unknown.
        """
        return self.sessions.get(handle, caller_key(who)).tools
