"""Many clients that search while tools come and go."""

import random
import resource
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.models.encoder import Matrix

_VERBS = "find send book cancel list update read share check measure".split()
_THINGS = "flight invoice patient parcel song ticket report lamp recipe lesson".split()
_PLACES = "airport office clinic depot studio station archive kitchen school garden".split()
_CHANGED = 5
"""Tools that a change adds and removes."""


class WordVectors:
    """Stands in for an encoder: a text's vector is the sum of its words' random ones."""

    name = "word-vectors"

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `ctrag.models.encoder.Encoder.encode`."""
        rows = []
        for text in texts:
            words = text.lower().replace(":", " ").split() or [""]
            seeds = [np.random.default_rng(list(word.encode())) for word in words]
            rows.append(np.sum([seed.standard_normal(64) for seed in seeds], axis=0))
        vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), 64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)


def run_load(*, clients: int, searches: int, tools: int, seed: int = 0) -> dict[str, Any]:
    """Search, and change the catalogue as fast as it goes meanwhile.

    A client asks for a tool that stays and looks whether it is among the first five.

    Args:
        clients: Threads that search.
        searches: Searches of all of them.
        tools: Tools that stay.
        seed: Of what is asked.

    Returns:
        Searches, changes, errors, tools not found, tools lost, searches a second, and how the
        process grew over the second half in megabytes.
    """
    stay = [_tool(number) for number in range(tools)]
    index = ToolIndex(stay, WordVectors())
    done = threading.Event()
    errors: list[str] = []
    missed, changes, halfway = [0], [0], [0.0]

    def client(number: int) -> None:
        chance = random.Random(seed + number)
        for _ in range(searches // clients):
            wanted = chance.choice(stay)
            try:
                hits = index.search(wanted.description, 5)
            except Exception as error:  # whatever it is, it is what is counted
                errors.append(f"{type(error).__name__}: {error}")
                continue
            if wanted.id not in {hit.tool.id for hit in hits}:
                missed[0] += 1

    def change() -> None:
        while not done.is_set():
            passing = [_tool(number, "passing") for number in range(_CHANGED)]
            index.add(passing)
            index.remove([one.id for one in passing])
            changes[0] += 2
            if not halfway[0] and changes[0] > 50:
                halfway[0] = _megabytes()

    began = time.perf_counter()
    with ThreadPoolExecutor(clients + 1) as pool:
        changing = pool.submit(change)
        for one in [pool.submit(client, number) for number in range(clients)]:
            one.result()
        seconds = time.perf_counter() - began
        done.set()
        changing.result()
    lost = {tool.id for tool in stay} ^ {tool.id for tool in index.tools}
    return {
        "clients": clients,
        "searches": searches // clients * clients,
        "changes": changes[0],
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
        "not_found": missed[0],
        "tools_lost_or_left": len(lost),
        "searches_a_second": round(searches / seconds, 1),
        "grown_mb_after_50_changes": round(_megabytes() - halfway[0], 1) if halfway[0] else None,
    }


def _megabytes() -> float:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _tool(number: int, server: str = "stay") -> CatalogueTool:
    verb, thing = _VERBS[number % 10], _THINGS[number // 10 % 10]
    place = f"{_PLACES[number // 100 % 10]} {number // 1000}"
    name = f"{verb}_{thing}_{place.replace(' ', '_')}"
    return CatalogueTool(name, f"{verb} the {thing} of the {place}", server)
