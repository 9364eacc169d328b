"""Tools in a store whose server is no longer one of ours: taken out before anybody finds them.

A store outlives the configuration. It keeps the names of the servers that were listed into it, so
that their tools can be told from those that a catalogue describes.
"""

import json
import threading
from collections.abc import Collection

from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.shelf import EVERYTHING
from stores.tool_rows import ToolStore

_FACT = "upstreams"
_noting = threading.Lock()
"""Servers list their tools at the same time; none of their names is to get lost."""


def take_out_leftovers(store: ToolStore, servers: Collection[str]) -> list[str]:
    """Take out the tools of servers that were behind the store and are no longer; their ids.

    To be called before a catalogue is brought in: what that describes comes back with it. All
    processes that share a store are to have the same servers.

    Args:
        store: Where the tools are.
        servers: Names of the servers behind it now, those of installed plugins among them.
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
    store.set_fact(_FACT, json.dumps(sorted(known - gone)))
    return left


def note_servers(store: ToolStore, servers: Collection[str]) -> None:
    """Keep the names of servers whose tools are listed into a store."""
    with _noting:
        known = _known(store)
        if not known.issuperset(servers):
            store.set_fact(_FACT, json.dumps(sorted(known.union(servers))))


def _known(store: ToolStore) -> set[str]:
    return set(json.loads(store.fact(_FACT) or "[]"))
