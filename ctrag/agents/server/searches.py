"""Searches for sessions, from the need to the answer that a model reads."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from anyio.to_thread import run_sync

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.answers import SearchAnswer
from ctrag.agents.server.channel import Channel
from ctrag.agents.server.gateway_settings import GatewaySettings
from ctrag.agents.server.guidance import Guidance
from ctrag.agents.server.opening import Opening
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.plugin_offers import PluginOffers
from ctrag.agents.server.principals import caller_key
from ctrag.agents.server.remote import RemoteHit, gather
from ctrag.agents.server.search import Fitting, Search
from ctrag.agents.server.servers import Servers
from ctrag.agents.session.registry import SessionRegistry
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError


class Searches:
    """Answers the searches of one gateway.

    Args:
        index: The catalogue.
        servers: List what they have for a client; name those that are down.
        permissions: Which tools a caller may use.
        sessions: Receive what was found.
        opening: How a session begins.
        steps: Retrieve tools, and bind them to a session.
        plugins: Offered beside what was found.
        guidance: Skills, rules and policies that come with the tools that they are about.
        settings: How many tools a search shows.
        preload: Tools of the categories that a session's first search speaks of.
    """

    def __init__(
        self,
        index: ToolIndex,
        servers: Servers,
        permissions: Permissions,
        sessions: SessionRegistry,
        opening: Opening,
        steps: Search,
        plugins: PluginOffers,
        guidance: Guidance | None,
        settings: GatewaySettings,
        preload: int,
    ) -> None:
        self._index, self._servers, self._permissions = index, servers, permissions
        self._sessions, self._opening, self._steps = sessions, opening, steps
        self._plugins, self._guidance = plugins, guidance
        self._settings, self._preload = settings, preload

    async def search(
        self,
        who: Principal | None,
        query: str,
        handle: str | None,
        limit: int | None,
        channel: Channel,
    ) -> SearchAnswer:
        """See `Gateway.search`."""
        k = self._settings.limit if limit is None else limit
        if not 1 <= k <= self._settings.most:
            raise InputError(f"limit: must be from 1 to {self._settings.most}, not {k}")
        await self._servers.settled(self._settings.timeout)
        began = time.perf_counter()
        key, session = await run_sync(self._session, who, handle)
        user = "" if who is None else who.user
        await self._servers.introduce(channel, session.id, user, self._settings.timeout)
        await run_sync(self._opening.changed, session, who)
        if self._preload and not session.searched:
            likely = await run_sync(self._index.preload, query, who, self._preload)
            session.preload(likely)
        local = await run_sync(self._steps.in_catalogue, who, query, session, k)
        self._leave_out(local, channel)
        spoken_of = await run_sync(self._spoken_of, who, query, local)
        registries = [*self._servers.registries.values()]
        gathered = await gather(registries, session.id, query, k)
        surface = partial(self._steps.surface, who, query, session, began=began, trace=local.trace)
        bound = await run_sync(surface, [[*local.found, *spoken_of], *gathered.lists], k)
        plugins = await self._plugins.beside(who, query, local.found)
        down = {**self._servers.down(), **gathered.unavailable}
        down = {name: why for name, why in down.items() if self._permissions.sees(name, who)}
        at_hand = bound.at_hand if handle is None else []
        foreign = any(gathered.lists)  # a registry has judged what it found itself
        doubt = "" if foreign else local.doubt
        near = local.closest if doubt or not bound.shown else []
        guides = await run_sync(self._guides, who, query, key, bound.found.tools, not doubt)
        return SearchAnswer(
            key, bound.found, bound.shown, at_hand, near, doubt, plugins, down, guides
        )

    def _session(self, who: Principal | None, handle: str | None) -> tuple[str, ToolSession]:
        if handle is None:
            return self._sessions.open(caller_key(who))
        return handle, self._sessions.get(handle, caller_key(who))

    def _leave_out(self, local: Fitting, channel: Channel) -> None:
        """Take out what a server has only for clients that offer more than this one."""
        local.found[:] = [
            one for one in local.found if self._servers.serves(one.tool, channel.offers)
        ]
        kept = []
        for one in local.closest:
            server, _, name = one["name"].rpartition("/")
            if self._servers.serves(CatalogueTool(name, "", server), channel.offers):
                kept.append(one)
        local.closest[:] = kept

    def _spoken_of(self, who: Principal | None, query: str, local: Fitting) -> list[RemoteHit]:
        """Tools that a fitting skill speaks of and the search did not find."""
        if self._guidance is None:
            return []
        ids = [one.tool.id for one in local.found]
        seen = (one for one in self._index.tools if self._permissions.allowed(one.id, who))
        worst = min((one.score for one in local.found), default=0.0)
        return [RemoteHit(one, worst) for one in self._guidance.spoken_of(query, seen, ids)]

    def _guides(
        self,
        who: Principal | None,
        query: str,
        handle: str,
        bound: Sequence[CatalogueTool],
        sure: bool,
    ) -> list[dict[str, Any]]:
        """The instructions that go beside a search's tools."""
        if self._guidance is None:
            return []
        hidden = self._permissions.hides(who)
        found = self._guidance.beside(query, bound, handle, hidden, sure=sure)
        return [one.shown() for one in found]
