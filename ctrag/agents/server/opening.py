"""New sessions of a gateway: what each has before its first search."""

from dataclasses import replace

from pydantic import JsonValue

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.principals import caller_of
from ctrag.agents.server.servers import SELF, Servers
from ctrag.agents.session import events
from ctrag.agents.session.events import EventSink, ignore
from ctrag.agents.session.settings import SessionSettings
from ctrag.agents.session.tokens import tool_tokens
from ctrag.agents.session.tool_session import ToolSession

_LEAST_TOKENS = 8
"""No definition costs less: catalogues with too many tools to be listed need not be read."""


class Opening:
    """Opens the sessions of one gateway.

    Args:
        index: The catalogue.
        permissions: Who sees what.
        servers: Behind the tools.
        settings: Of every new session.
        record: Receives every decision as an event.
    """

    def __init__(
        self,
        index: ToolIndex,
        permissions: Permissions,
        servers: Servers,
        settings: SessionSettings,
        record: EventSink,
    ) -> None:
        self._index, self._permissions, self._servers = index, permissions, servers
        self._settings, self._record = settings, record
        self._recorded: dict[str, str] = {}
        self._tokens: dict[str, int] = {}

    def always_available(self, who: Principal | None) -> list[CatalogueTool]:
        """The tools available without a search that the caller may see."""
        return self._index.resolve(self._permissions.always, who)

    def listed_directly(self, who: Principal | None) -> list[CatalogueTool]:
        """All tools that the caller may see, where together they cost no more than the setting."""
        budget = self._settings.list_under
        held = [one for one in self._index.store.hashes() if one != SELF.id] if budget else []
        if not held or len(held) * _LEAST_TOKENS > budget:
            return []
        visible = self._index.resolve(
            [one for one in held if self._permissions.allowed(one, who)], who
        )
        visible = [one for one in visible if self._servers.serves(one, frozenset())]
        return visible if sum(map(tool_tokens, visible)) <= budget else []

    def session(self, session_id: str, key: str) -> ToolSession:
        """A new session of a caller; `key` as `caller_key` made it."""
        who = caller_of(key)
        direct = self.listed_directly(who)
        binding = self._settings.binding
        session = ToolSession(
            session_id,
            key,
            always=self.always_available(who),
            binding=replace(binding, capacity=binding.capacity + len(direct)),
            guard=self._settings.whole_guard,
            overlap=self._settings.overlap,
            allowed=lambda tool_id, owner: self._permissions.allowed(tool_id, caller_of(owner)),
            record=self._record,
            opened={} if self._record is ignore else self._size(who),
        )
        session.preload([*direct, *self._index.warm_start(who, self._settings.warm)])
        return session

    def _size(self, who: Principal | None) -> dict[str, JsonValue]:
        """For the record: what listing all tools would cost this caller, and new tools' tokens."""
        known = self._index.store.hashes()
        opened: dict[str, JsonValue] = {}
        if known != self._recorded:
            self._recorded = known
            self._tokens = {one.id: tool_tokens(one) for one in self._index.tools}
            opened[events.CATALOGUE] = {
                name: tokens for name, tokens in self._tokens.items() if name != SELF.id
            }
        seen = self._permissions.allowed
        tokens = sum(
            size for name, size in self._tokens.items() if name != SELF.id and seen(name, who)
        )
        return {**opened, events.LISTED_TOKENS: tokens}
