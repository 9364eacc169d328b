"""The servers and registries behind the tools: keeps them connected, lists and calls them.

Servers of installed plugins are among them.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp.types import CallToolResult

from ctrag.agents.catalogue.access import Grant
from ctrag.agents.catalogue.formats import SEARCH_DESCRIPTION, SEARCH_NAME
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import ServerSpec, Upstreams
from ctrag.agents.server.leftovers import note_servers
from ctrag.agents.server.marketplace import Installed
from ctrag.agents.server.openapi_calls import OpenApiServer
from ctrag.agents.server.remote import Registry, RemoteRegistry
from ctrag.agents.server.upstream import Upstream, UpstreamError
from ctrag.errors import InputError

SELF = CatalogueTool(SEARCH_NAME, SEARCH_DESCRIPTION, "ctrag", always=True)
"""Keeps an index from being empty before a server is listed; never found by a search."""


class Servers:
    """The servers and registries behind the tools of one gateway.

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
        self._apis = {one.name: one for one in apis}
        self.upstreams: dict[str, Upstream] = {}
        """The servers by name, those of plugins included."""
        self._plugins: set[str] = set()
        for name, spec in specs.servers.items():
            self._add(name, spec)
        self._hubs = [Upstream(name, spec, _nothing) for name, spec in specs.registries.items()]
        every = [*(RemoteRegistry(hub, registry_timeout) for hub in self._hubs), *registries]
        self.registries: dict[str, Registry] = {one.name: one for one in every}
        """By name, in the order in which they are searched."""
        if len(self.registries) < len(every):
            raise InputError(f"registries: two have the same name: {[one.name for one in every]}")
        if taken := set(self.registries) & set(self.upstreams):
            raise InputError(f"registries: {min(taken)!r} is a server's name as well")
        if taken := set(self._apis) & {*self.registries, *self.upstreams}:
            raise InputError(
                f"catalogue: {min(taken)!r} is a server's name as well; give --server-name"
            )
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connected to all of them, without waiting for any."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for upstream in self._all():
                tasks.start_soon(upstream.run)
            yield
            tasks.cancel_scope.cancel()
        self._tasks = None

    async def tried(self, timeout: float) -> None:
        """Wait for each one's first attempt to start, `timeout` seconds at most."""
        with anyio.move_on_after(timeout):
            for upstream in self._all():
                await upstream.tried()

    async def started(self, name: str) -> None:
        """Connect to a server added later and wait until it has listed its tools."""
        server = self.upstreams[name]
        if self._tasks is not None:
            self._tasks.start_soon(server.run)
            with anyio.move_on_after(server.spec.start_timeout):
                await server.tried()

    def down(self) -> dict[str, str]:
        """Why a server cannot be called now, by its name; those that can are left out."""
        return {one.name: one.down for one in self.upstreams.values() if one.down is not None}

    def marks(self, tool: CatalogueTool) -> Sequence[str]:
        """Marks of a tool's definition from when its server listed it."""
        server = self.upstreams.get(tool.server)
        listed = server.tools.get(tool.name) if server else None
        return listed.marks if listed else ()

    async def call(
        self, session: str, tool: CatalogueTool, arguments: dict[str, Any]
    ) -> CallToolResult:
        """Call a tool of a server or registry; `session` is our session's id.

        Raises:
            UpstreamError: There is no answer; the message says why.
        """
        if tool.server in self.registries:
            return await self.registries[tool.server].call(session, tool.name, arguments)
        if tool.server in self._apis:
            return await self._apis[tool.server].call(tool.name, arguments)
        if tool.server not in self.upstreams:
            raise UpstreamError(
                f"{tool.id} is described in the catalogue, but no server stands behind it here. "
                "Search for another tool."
            )
        return await self.upstreams[tool.server].call(tool.name, arguments)

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
        if index.access is not None:
            given = [Grant(scope, f"{plugin.name}/*") for scope in installed.scopes if scope]
            grants = tuple(dict.fromkeys([*index.access.grants, *given]))
            index.access = replace(index.access, grants=grants)
        if not known:
            self._add(plugin.name, plugin.server)
        return not known

    def _add(self, name: str, spec: ServerSpec) -> None:
        self.upstreams[name] = Upstream(name, spec, self._listed)

    async def _listed(self, upstream: Upstream) -> None:
        """Index a server's list; only new tools are encoded."""
        tools = [
            CatalogueTool(tool.name, tool.description, upstream.name, tool.parameters)
            for tool in upstream.tools.values()
        ]
        await run_sync(note_servers, self._index.store, [upstream.name])
        now = {tool.id: tool.content_hash for tool in tools}
        held = [tool for tool in self._index.tools if tool.server == upstream.name]
        if now != {tool.id: tool.content_hash for tool in held} and upstream.listed:
            await run_sync(self._index.replace_server, upstream.name, tools)

    def _all(self) -> list[Upstream]:
        return [*self.upstreams.values(), *self._hubs]


async def _nothing(upstream: Upstream) -> None:
    pass
