"""Settings of a gateway."""

from dataclasses import dataclass

from ctrag.agents.search.surfacing import LIMIT
from ctrag.agents.server.results import TEXT_LIMIT


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
    """Seconds after its start that a search waits for a server; see `Running.settled`."""
    registry_timeout: float = 5.0
    """Seconds that a search waits for another registry."""
    remember: float = 60.0
    """Seconds between writes of what was learned about callers to the store."""
    result_limit: int = TEXT_LIMIT
    """Characters of text that a call's result may have; the rest can be read on."""
    reads_apart: bool = False
    """Whether `call_tool` calls only tools that say that they only read, and `call_changing_tool`
    the rest, so that a host may ask its user before the one and not before the other."""
    may_install: bool = False
    """Whether a session may install plugins."""
