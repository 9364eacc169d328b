"""Orphaned tools in a store, whose server is no longer configured: removed before they are found.

A store outlives the configuration. It keeps the names of the servers listed so far, to
distinguish their tools from those of a catalogue.
"""

import json
from collections.abc import Collection

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.collection import EVERYTHING
from stores.tools.protocol import ToolStore

_FACT = "upstreams"
_READ_AS = "upstreams_read_as"


def take_out_leftovers(store: ToolStore, servers: Collection[str]) -> list[str]:
    """Remove the tools of servers that are no longer configured; returns their ids.

    Call this before adding a catalogue, which restores the tools it describes. All processes that
    share a store must have the same servers.

    Args:
        store: Where the tools are.
        servers: Names of the current servers, those of installed plugins included.
    """
    known = _known(store)
    gone = known - set(servers)
    if not gone:
        return []
    definitions = store.definitions(list(store.hashes()), EVERYTHING)
    left = [
        one for one, text in definitions.items() if CatalogueTool.from_json(text).server in gone
    ]
    store.apply([], left)
    store.change_fact(_FACT, lambda text: _text(_parsed(text) - gone))
    return left


def note_servers(store: ToolStore, servers: Collection[str]) -> None:
    """Store the names of servers whose tools are listed."""
    if not _known(store).issuperset(servers):
        store.change_fact(_FACT, lambda text: _text(_parsed(text).union(servers)))


def note_spec(store: ToolStore, server: str, digest: str | None) -> None:
    """Store how a server was configured when its tools were listed; None forgets it."""
    if _digests(store.fact(_READ_AS)).get(server) == digest:
        return

    def changed(text: str | None) -> str:
        kept = {one: value for one, value in _digests(text).items() if one != server}
        return json.dumps(kept if digest is None else {**kept, server: digest}, sort_keys=True)

    store.change_fact(_READ_AS, changed)


def noted_specs(store: ToolStore) -> dict[str, str]:
    """How the servers whose tools the store has were configured, by name."""
    known, digests = _known(store), _digests(store.fact(_READ_AS))
    return {server: digest for server, digest in digests.items() if server in known}


def _digests(text: str | None) -> dict[str, str]:
    found: dict[str, str] = json.loads(text or "{}")
    return found


def _known(store: ToolStore) -> set[str]:
    return _parsed(store.fact(_FACT))


def _parsed(text: str | None) -> set[str]:
    return set(json.loads(text or "[]"))


def _text(servers: set[str]) -> str:
    return json.dumps(sorted(servers))
