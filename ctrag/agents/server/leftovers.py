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


def _known(store: ToolStore) -> set[str]:
    return _parsed(store.fact(_FACT))


def _parsed(text: str | None) -> set[str]:
    return set(json.loads(text or "[]"))


def _text(servers: set[str]) -> str:
    return json.dumps(sorted(servers))
