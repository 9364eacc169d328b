"""The servers and registries behind the tools: keeps them connected, lists and calls them.

Servers of installed plugins are among them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.types import CallToolResult, LoggingLevel

from ctrag.agents.catalogue.access import AccessRules, Grant
from ctrag.agents.catalogue.formats import SEARCH_DESCRIPTION, SEARCH_NAME
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.channel import SILENT, Channel
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.exposure import Exposed, own_name
from ctrag.agents.server.isolation import Isolated
from ctrag.agents.server.listed import ServerLists
from ctrag.agents.server.marketplace import Installed
from ctrag.agents.server.openapi_calls import OpenApiServer
from ctrag.agents.server.remote import Registry, RemoteRegistry
from ctrag.agents.server.running import Running
from ctrag.agents.server.upstream import Sole, Upstream, UpstreamError
from ctrag.errors import InputError

SELF = CatalogueTool(SEARCH_NAME, SEARCH_DESCRIPTION, "ctrag", always=True)
"""Keeps an index from being empty before a server is listed; never found by a search."""


class Servers:
    """The servers and registries behind the tools of one gateway.

    A server is started with the gateway, or at its first call where the store has its tools
    already, as listed by an earlier process under the same configuration.

    Args:
        index: Receives the tools that the servers list.
        specs: The servers and registries to connect to.
        registries: Further registries, searched after those of `specs`.
        registry_timeout: Seconds that a search waits for a registry of `specs`.
        apis: OpenAPI documents whose tools are called over HTTP.

    Raises:
        ValueError: Two registries, or a registry, an API and a server, have the same name.
    """

    def __init__(
        self,
        index: ToolIndex,
        specs: Upstreams,
        registries: Sequence[Registry] = (),
        registry_timeout: float = 5.0,
        apis: Sequence[OpenApiServer] = (),
    ) -> None:
        self._index = index
        self._timeout = registry_timeout
        self._further = list(registries)
        self._apis = {one.name: one for one in apis}
        self.upstreams: dict[str, Upstream] = {}
        """The servers by name, those of plugins included."""
        self.registries: dict[str, Registry] = {}
        """By name, in the order in which they are searched."""
        self.problems: dict[str, str] = dict(specs.problems)
        """Why an entry of the file was left out, by its name."""
        self._lists = ServerLists(index, self.upstreams)
        self.on_change: Callable[[str, str], Awaitable[None]] = _unheard
        """Awaited with a server's name and `resources` or `prompts` when that list has changed."""
        self._sole: Sole | None = None
        self._hubs: dict[str, Upstream] = {}
        self._plugins: set[str] = set()
        self._gone: set[str] = set()
        self._plugin_grants: tuple[Grant, ...] = ()
        self._running = Running()
        self._hubs_running = Running()
        self._isolated = Isolated(lambda name, spec: Upstream(name, spec, _nothing))
        _check_names(specs, self._further, self._apis)
        for name, spec in specs.servers.items():
            self._add(name, spec)
        self._set_registries(specs)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connected to all whose tools are not known, without waiting for any."""
        held, asleep = await run_sync(self._lists.known)
        self._running.something = len(held - {SELF.server}) > 0
        async with anyio.create_task_group() as tasks:
            self._running.begin(tasks)
            self._hubs_running.begin(tasks)
            tasks.start_soon(self._isolated.run)
            for upstream in self.upstreams.values():
                if upstream.name not in asleep:
                    self._running.start(upstream, known=upstream.name in held)
            for hub in self._hubs.values():
                self._hubs_running.start(hub)
            yield
            self._running.stop()
            self._hubs_running.stop()
            tasks.cancel_scope.cancel()

    async def settled(self, timeout: float) -> None:
        """Wait for each one's first attempt to start; see `Running.settled`."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._hubs_running.settled, timeout)
            await self._running.settled(timeout)

    @property
    def starting(self) -> bool:
        """Whether a server or registry has neither answered nor failed yet."""
        return self._running.starting or self._hubs_running.starting

    async def started(self, name: str) -> None:
        """Connect to a server added later and wait until it has listed its tools."""
        server = self.upstreams[name]
        if self._running.start(server):
            with anyio.move_on_after(server.spec.start_timeout):
                await server.tried()

    async def awake(self, name: str) -> bool:
        """Start a server that waits for its first call; returns whether it was not running."""
        server = self.upstreams.get(name)
        if server is None or self._running.started(server):
            return False
        await self.started(name)
        return True

    async def start_all(self) -> None:
        """Start all of them, and wait until each has listed its tools or failed once."""
        async with anyio.create_task_group() as tasks:
            for name, server in self.upstreams.items():
                if self._running.started(server):
                    tasks.start_soon(_tried, server)
                else:
                    tasks.start_soon(self.started, name)
            for hub in self._hubs.values():
                tasks.start_soon(_tried, hub)

    def hubs_down(self) -> dict[str, str | None]:
        """Why a registry of the file cannot be searched now, by its name; None if it can."""
        return {name: hub.down for name, hub in self._hubs.items()}

    async def update(self, specs: Upstreams) -> list[str]:
        """Take over a changed configuration; servers that stay as they are go on undisturbed.

        A server whose new entry cannot be used stays as it was. Returns what has changed.

        Raises:
            ValueError: As for the class, or a plugin has a server's name; nothing is changed.
        """
        _check_names(specs, self._further, self._apis)
        if taken := set(specs.servers) & self._plugins:
            raise InputError(f"servers: {min(taken)!r} is a plugin's name as well")
        self.problems = dict(specs.problems)
        said: list[str] = []
        ended: set[str] = set()
        for name, upstream in list(self.upstreams.items()):
            if name in self._plugins or name in specs.problems:
                continue
            new = specs.servers.get(name)
            if new == upstream.spec:
                continue
            self._running.end(upstream)
            self._isolated.end(name)
            ended.add(name)
            del self.upstreams[name]
            self.exposed.pop(name, None)
            if new is None:
                self._gone.add(name)
                await run_sync(self._lists.forget, name)
                said.append(f"{name} is gone")
        for name, spec in specs.servers.items():
            if name not in self.upstreams:
                said.append(f"{name} is started{' again' if name in ended else ''}")
                self._add(name, spec)
                await run_sync(self._lists.hide, [name])
                self._running.start(self.upstreams[name])
        for name, hub in list(self._hubs.items()):
            if specs.registries.get(name) != hub.spec and name not in specs.problems:
                self._hubs_running.end(hub)
                said.append(f"registry {name} has changed")
        self._set_registries(specs)
        for hub in self._hubs.values():
            self._hubs_running.start(hub)
        return said

    def down(self) -> dict[str, str]:
        """Why a server cannot be called now, by its name; those that can are left out."""
        down = {
            one.name: one.down
            for one in self.upstreams.values()
            if one.down is not None and self._running.started(one)
        }
        left_out = {name: why for name, why in self.problems.items() if name not in self.upstreams}
        return {**left_out, **down}

    @property
    def exposed(self) -> dict[str, Exposed]:
        """What of each server's list is shown, by its name."""
        return self._lists.exposed

    def marks(self, tool: CatalogueTool) -> Sequence[str]:
        """Marks of a tool's definition from when its server listed it."""
        return self._lists.marks(tool)

    def trusted(self, tool: CatalogueTool) -> bool:
        """Whether the tool's definition is shown as its server gives it."""
        server = self.upstreams.get(tool.server)
        return server is not None and server.spec.trust

    def problems_of_apis(self) -> list[str]:
        """What of the OpenAPI documents was left out or named otherwise, and why."""
        return [
            f"{api.name}: {operation} {why}"
            for api in self._apis.values()
            for operation, why in api.problems.items()
        ]

    def for_one_client(self) -> Sole:
        """Give the shared connections to the only client that there will be."""
        self._sole = Sole()
        for server in self.upstreams.values():
            server.sole = self._sole
        return self._sole

    async def introduce(self, channel: Channel, owner: str, user: str, timeout: float) -> None:
        """Let each server list what it has for clients like this one; waits `timeout` seconds."""
        if not channel.offers:
            return
        with anyio.move_on_after(timeout):
            async with anyio.create_task_group() as tasks:
                for server in self.upstreams.values():
                    if not server.spec.isolate:
                        tasks.start_soon(server.introduce, channel, owner, user)

    def serves(self, tool: CatalogueTool, offers: frozenset[str]) -> bool:
        """Whether a tool is listed to clients that offer this."""
        server = self.upstreams.get(tool.server)
        return server is None or server.needs(own_name(server.spec, tool.name)) <= offers

    def reach(self, name: str) -> Upstream | None:
        """The server or registry of that name."""
        return self.upstreams.get(name) or self._hubs.get(name)

    async def want_level(self, level: LoggingLevel) -> None:
        """Have all servers send log messages from this level on."""
        async with anyio.create_task_group() as tasks:
            for server in [*self.upstreams.values(), *self._hubs.values()]:
                tasks.start_soon(server.want_level, level)

    async def call(
        self,
        session: str,
        tool: CatalogueTool,
        arguments: dict[str, Any],
        channel: Channel = SILENT,
        user: str = "",
    ) -> CallToolResult:
        """Call a tool of a server or registry; `session` is our session's id.

        Raises:
            UpstreamError: There is no answer; the message says why.
        """
        if tool.server in self.registries:
            registry = self.registries[tool.server]
            if channel is SILENT:
                return await registry.call(session, tool.name, arguments)
            return await registry.call(session, tool.name, arguments, channel)
        if tool.server in self._apis:
            return await self._apis[tool.server].call(tool.name, arguments)
        if tool.server in self._gone:
            raise UpstreamError(
                f"Server {tool.server} is gone; the call was not made. Search for another tool."
            )
        if tool.server not in self.upstreams:
            raise UpstreamError(
                f"{tool.id} is described in the catalogue, but no server stands behind it here. "
                "Search for another tool."
            )
        upstream = self.upstreams[tool.server]
        spec = upstream.spec
        name = own_name(spec, tool.name)
        if not spec.isolate:
            with self._running.calling(upstream):
                return await upstream.call(name, arguments, channel, session, user)
        async with self._isolated.of(tool.server, spec, session, user) as own:
            return await own.call(name, arguments, channel, session, user)

    def is_plugin(self, name: str) -> bool:
        """Whether the server of that name came with a plugin."""
        return name in self._plugins

    def adopt(self, installed: Installed) -> bool:
        """Add a plugin's server, visible to those it is installed for; returns whether it is new.

        Raises:
            ValueError: A server or registry that came with no plugin has its name.
        """
        plugin, index = installed.plugin, self._index
        known = plugin.name in self.upstreams
        taken = plugin.name in self.registries or (known and plugin.name not in self._plugins)
        if taken:  # a grant for the plugin would also cover that one
            raise InputError(
                f"plugin: a server named {plugin.name!r} is here already; rename it, or take the "
                "plugin out with `ctrag serve plugins --uninstall`"
            )
        self._plugins.add(plugin.name)
        given = [Grant(scope, f"{plugin.name}/*") for scope in installed.scopes if scope]
        self._plugin_grants = tuple(dict.fromkeys([*self._plugin_grants, *given]))
        if index.access is not None:
            self.govern(index.access)
        if not known:
            self._add(plugin.name, plugin.server)
        return not known

    def govern(self, rules: AccessRules) -> None:
        """Set the rules of the catalogue, with the grants that come with installed plugins."""
        grants = tuple(dict.fromkeys([*rules.grants, *self._plugin_grants]))
        self._index.access = replace(rules, grants=grants)

    def _add(self, name: str, spec: ServerSpec) -> None:
        self._gone.discard(name)
        self.upstreams[name] = Upstream(name, spec, self._lists.listed, self._happened)
        self.upstreams[name].sole = self._sole

    def _set_registries(self, specs: Upstreams) -> None:
        """Make those of `specs`, and the further ones, all there are; known ones are kept."""
        kept = dict(specs.registries)
        for name in specs.problems:
            if name in self._hubs:
                kept[name] = self._hubs[name].spec
        found: dict[str, Registry] = {}
        for name, spec in kept.items():
            hub = self._hubs.get(name)
            if hub is not None and hub.spec == spec:
                found[name] = self.registries[name]
                continue
            self._hubs[name] = Upstream(name, spec, _nothing)
            found[name] = RemoteRegistry(self._hubs[name], self._timeout)
        for name in [one for one in self._hubs if one not in kept]:
            del self._hubs[name]
        self.registries.clear()
        self.registries.update(found)
        self.registries.update({one.name: one for one in self._further})

    async def _happened(self, upstream: Upstream, kind: str) -> None:
        await self.on_change(upstream.name, kind)


def _check_names(specs: Upstreams, further: Sequence[Registry], apis: Collection[str] = ()) -> None:
    """Refuse names by which a tool's id would not say whose it is."""
    names = [*specs.registries, *(one.name for one in further)]
    if len(set(names)) < len(names):
        raise InputError(f"registries: two have the same name: {names}")
    for registry in names:
        if registry in specs.servers:
            raise InputError(f"registries: {registry!r} is a server's name as well")
        if inside := [one for one in specs.servers if one.startswith(f"{registry}/")]:
            raise InputError(f"servers: {inside[0]!r} would be taken for registry {registry!r}'s")
    if taken := set(apis) & {*names, *specs.servers}:
        raise InputError(
            f"catalogue: {min(taken)!r} is a server's name as well; give --server-name"
        )


async def _tried(upstream: Upstream) -> None:
    """Its first attempt has ended; it ends by itself after `start_timeout`, or a little later."""
    with anyio.move_on_after(upstream.spec.start_timeout + 5):
        await upstream.tried()


async def _unheard(server: str, kind: str) -> None:
    pass


async def _nothing(upstream: Upstream) -> None:
    pass
