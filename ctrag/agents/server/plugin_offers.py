"""Plugins of the marketplace that a gateway offers, and how one of them is installed."""

from collections.abc import Sequence
from functools import partial

from anyio.to_thread import run_sync

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.marketplace import Marketplace, Plugin, scope_of
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.remote import RemoteHit
from ctrag.agents.server.servers import Servers
from ctrag.errors import InputError
from ctrag.text.terminal import note


class PluginOffers:
    """What one gateway offers of a marketplace.

    Args:
        marketplace: Plugins that can be installed; None for none.
        index: The catalogue, which holds the tools of installed plugins.
        servers: Start an installed plugin's server.
        permissions: Which tools a caller may use.
        settings: When plugins are shown, and whether they may be installed.
    """

    def __init__(
        self,
        marketplace: Marketplace | None,
        index: ToolIndex,
        servers: Servers,
        permissions: Permissions,
        settings: GatewaySettings,
    ) -> None:
        self._marketplace = marketplace
        self._index, self._servers, self._permissions = index, servers, permissions
        self._settings = settings

    def adopt_installed(self) -> None:
        """Add the servers of what is installed; say which plugins are not offered."""
        if self._marketplace is None:
            return
        for installed in self._marketplace.installed():
            self._servers.adopt(installed)
        for plugin in filter(self._taken, self._marketplace.plugins):
            note(f"plugin {plugin} is not offered: a server of that name is here already")

    async def beside(
        self, who: Principal | None, query: str, found: Sequence[RemoteHit]
    ) -> list[Plugin]:
        """The plugins to show beside what a search found."""
        if self._marketplace is None:
            return []
        best = max((one.score for one in found), default=0.0)
        least = 0.0 if len(found) < self._settings.few else best
        offered = await run_sync(partial(self._marketplace.search, query, who, above=least))
        return [one for one in offered if not self._taken(one.name)]

    async def install(self, who: Principal | None, plugin: str) -> list[str]:
        """See `Gateway.install`."""
        if self._marketplace is None or not self._settings.may_install:
            raise InputError("plugins cannot be installed from here; ask whoever runs this server")
        # One answer for both: another would tell of servers that the caller must not know.
        if plugin not in self._marketplace.plugins or self._taken(plugin):
            raise InputError(f"plugin: there is none named {plugin!r}")
        installed = await run_sync(self._marketplace.install, plugin, scope_of(who))
        if self._servers.adopt(installed):
            await self._servers.started(plugin)
        ids = [one.id for one in self._index.tools if one.server == plugin]
        return [one for one in ids if self._permissions.allowed(one, who)]

    def _taken(self, plugin: str) -> bool:
        """Whether something that came with no plugin has the plugin's name: it is not offered."""
        servers = self._servers
        if servers.is_plugin(plugin):
            return False
        named = plugin in servers.upstreams or plugin in servers.registries
        return named or any(one.server == plugin for one in self._index.tools)
