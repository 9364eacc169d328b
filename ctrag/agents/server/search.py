"""The two steps of a search at the gateway: retrieving tools, and binding them to a session."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.shown import ShownLimits
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import surface
from ctrag.agents.server.answers import call_with, shown
from ctrag.agents.server.permissions import Permissions
from ctrag.agents.server.remote import RemoteHit, merged
from ctrag.agents.server.servers import Servers
from ctrag.agents.session.definitions import defined, steps_of
from ctrag.agents.session.outcomes import SearchOutcome
from ctrag.agents.session.tool_session import ToolSession


@dataclass(frozen=True, slots=True)
class Fitting:
    """What a search found in the catalogue."""

    found: list[RemoteHit]
    """What the agent is given, best first."""
    closest: list[dict[str, str]]
    """Name and description of the best hits beside these."""
    doubt: str
    """The note beside `found`; empty where they surely fit."""
    trace: Mapping[str, object]
    """Every step of the search, for the event."""


@dataclass(frozen=True, slots=True)
class Surfaced:
    """What a search bound to a session."""

    found: SearchOutcome
    shown: list[dict[str, Any]]
    """The found tools that the session may call now, best first, as shown to the model."""
    at_hand: list[dict[str, Any]]
    """The session's other tools, as shown to the model."""


@dataclass(frozen=True, slots=True)
class Search:
    """Searches in one gateway's catalogue, for any session."""

    index: ToolIndex
    permissions: Permissions
    servers: Servers
    near: int
    """How many of the closest tools are named when none fits."""
    limits: ShownLimits
    """How much of a definition is shown."""
    reads_apart: bool = False
    """Whether a found tool is shown with the meta-tool that calls it."""

    def in_catalogue(
        self, who: Principal | None, query: str, session: ToolSession, k: int
    ) -> Fitting:
        """What to give of the catalogue, `k` at most; the session's calls are the history."""
        search = self.index.find(
            query,
            k,
            who,
            session.history,
            exclude=self.permissions.always,
            expert=self.permissions.expert,
        )
        given = surface(search, query, k)
        found = [
            RemoteHit(
                tool,
                hit.probability,
                differs=hit.differs,
                also=given.copies.get(hit.tool.id, ()),
            )
            for hit, tool in defined(given.hits.values(), lambda ids: self.index.resolve(ids, who))
        ]
        near = given.closest[: self.near]
        close = [self.shown(RemoteHit(one.tool, one.probability)) for one in near]
        closest = [{key: one[key] for key in ("name", "description")} for one in close]
        return Fitting(found, closest, given.note, steps_of(search, given.hits))

    def surface(
        self,
        who: Principal | None,
        query: str,
        session: ToolSession,
        lists: Sequence[Sequence[RemoteHit]],
        k: int,
        *,
        began: float,
        trace: Mapping[str, object] | None = None,
    ) -> Surfaced:
        """Bind the best `k` of several lists that the caller may use.

        Args:
            who: The caller.
            query: What was searched for.
            session: Receives the tools.
            lists: What each registry found, best first.
            k: Tools at most.
            began: When the search began, by `time.perf_counter`.
            trace: Its steps in the catalogue, for the event.
        """
        allowed = self.permissions.allowed
        visible = [[one for one in found if allowed(one.tool.id, who)] for found in lists]
        results = merged(visible, k)
        found = session.found(
            query,
            [one.tool for one in results],
            scores=[one.score for one in results],
            seconds=time.perf_counter() - began,
            trace=trace,
        )
        bound = {tool.id for tool in found.tools}
        for tool_id in bound:
            self.index.learn(who, tool_id, "found")
        at_hand = [RemoteHit(tool, 1.0) for tool in session.tools if tool.id not in bound]
        return Surfaced(
            found,
            [self.shown(one) for one in results if one.tool.id in bound],
            [self.shown(one) for one in at_hand],
        )

    def shown(self, found: RemoteHit) -> dict[str, Any]:
        """A tool as shown to the model, with the marks of its server's definitions."""
        servers, tool = self.servers, found.tool
        marks, trust = servers.marks(tool), servers.trusted(tool)
        entry = shown(found, marks, limits=self.limits, trust=trust)
        return {**entry, "call_with": call_with(tool)} if self.reads_apart else entry
