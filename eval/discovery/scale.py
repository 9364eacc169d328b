"""How long a search takes, tier by tier, as a catalogue grows (table 2 of the paper)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.collection import tool_row
from ctrag.agents.search.fields import tool_terms
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.parts import parts_of
from ctrag.agents.search.tiers import SystemKeywords, expert_score
from ctrag.models.encoder import Encoder, Matrix
from ctrag.models.vector_cache import CachedEncoder
from stores.tools.memory import MemoryToolStore

_SEED = 0
_SPECIALTY = 20
"""Tools of the expert tier and of the system tier that are timed."""
_AT_ONCE = 10_000


def latency_by_size(
    tools: Sequence[CatalogueTool], texts: Sequence[str], encoder: Encoder, sizes: Sequence[int]
) -> dict[str, Any]:
    """Milliseconds, median and 95th percentile: `own` for the catalogue as it is, and by size.

    What ends in `cpu` is the work of one thread, else it is the clock's time.

    Args:
        tools: The catalogue.
        texts: What is asked; each text once per measure.
        encoder: Encodes the requests while the clock runs.
        sizes: Catalogues to time; those above the own size are filled with synthetic tools: words
            of real tools, random vectors. A search reads whole arrays whatever stands in them, and
            is exact at every size; nothing is said about recall.
    """
    given = _Given(encoder, texts)
    plain = encoder.encoder if isinstance(encoder, CachedEncoder) else encoder
    index, ready = ToolIndex(tools, encoder), ToolIndex(tools, given)
    measures: dict[str, Callable[[str], object]] = {
        "lexical": lambda text: index.search(text, mode="lexical"),
        "encode": lambda text: plain.encode([text]),
        "hybrid": lambda text: index.search(text),
        "hybrid_beyond_encoding": lambda text: ready.search(text),
    }
    for text in texts:  # as in a process that serves: lists of words are made when first asked for
        index.search(text)
        ready.search(text)
    wall, busy = {}, {}
    for name, run in measures.items():
        wall[name], busy[name] = _timed(run, texts)
    rows: dict[str, Any] = {
        "own": _contract(wall),
        "own_cpu": {**_contract(busy), "beyond_encoding": _both(busy["hybrid_beyond_encoding"])},
        "beyond_encoding": _both(wall["hybrid_beyond_encoding"]),
        "tiers_cpu": _tiers(tools, texts),
    }
    for size in sizes:
        scaled = ToolIndex((), given, store=_of_size(ready, tools, size))
        for text in texts:
            scaled.search(text)
        rows[str(size)] = {
            "lexical_cpu": _both(_timed(partial(scaled.search, mode="lexical"), texts)[1]),
            "hybrid_beyond_encoding_cpu": _both(_timed(scaled.search, texts)[1]),
            "synthetic_tools": max(0, size - len(tools)),
        }
    return rows


class _Given:
    """Vectors made beforehand: what a search takes beside them can be timed."""

    def __init__(self, encoder: Encoder, texts: Sequence[str]) -> None:
        self.name, self._encoder = encoder.name, encoder
        every = list(dict.fromkeys(one for text in texts for one in (text, *parts_of(text))))
        self._held = dict(zip(every, encoder.encode(every), strict=True))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        if all(text in self._held for text in texts):
            return np.stack([self._held[text] for text in texts])
        return self._encoder.encode(texts)


def _contract(values: Mapping[str, Sequence[float]]) -> dict[str, JsonValue]:
    return {
        "lexical_p50": _percentile(values["lexical"], 50),
        "encode_p50": _percentile(values["encode"], 50),
        "hybrid_p50": _percentile(values["hybrid"], 50),
        "hybrid_p95": _percentile(values["hybrid"], 95),
    }


def _tiers(tools: Sequence[CatalogueTool], texts: Sequence[str]) -> dict[str, JsonValue]:
    """The two keyword tiers alone, each over so many tools."""
    some = list(tools[:_SPECIALTY])
    keywords = [SystemKeywords.of(tool) for tool in some]
    return {
        "tools": len(some),
        "expert": _both(_timed(lambda text: [expert_score(text, one) for one in some], texts)[1]),
        "system": _both(_timed(lambda text: [one.score(text) for one in keywords], texts)[1]),
    }


def _of_size(index: ToolIndex, tools: Sequence[CatalogueTool], size: int) -> MemoryToolStore:
    """A store with the first `size` tools, and synthetic ones where there are not so many."""
    held = index.store.vectors(index.store.hashes().values())
    words = [tool_terms(tool) for tool in tools[:size]]
    rows = [
        tool_row(tool, one, held[tool.content_hash])
        for tool, one in zip(tools[:size], words, strict=True)
    ]
    store = MemoryToolStore()
    store.apply(rows)
    store.set_fact("encoder", index.store.fact("encoder") or "")
    chance = np.random.default_rng(_SEED)
    missing = size - len(rows)
    for start in range(0, missing, _AT_ONCE):
        count = min(_AT_ONCE, missing - start)
        vectors = chance.standard_normal((count, len(rows[0].vector)), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        alike = chance.integers(len(rows), size=count)
        copies = [
            replace(tools[one], name=f"{tools[one].name}~{start + number}")
            for number, one in enumerate(alike)
        ]
        store.apply(
            [
                replace(tool_row(copy, words[one], vector), name_key=f"synthetic{start + number}")
                for number, (copy, one, vector) in enumerate(
                    zip(copies, alike, vectors, strict=True)
                )
            ]
        )
    return store


def _timed(run: Callable[[str], object], texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """Milliseconds on the clock, and of this thread's work, which others do not lengthen."""
    run(texts[0])
    wall, busy = [], []
    for text in texts:
        began, worked = time.perf_counter(), time.thread_time()
        run(text)
        wall.append(1e3 * (time.perf_counter() - began))
        busy.append(1e3 * (time.thread_time() - worked))
    return wall, busy


def _percentile(values: Sequence[float], percent: int) -> float:
    return round(float(np.percentile(values, percent)), 2)


def _both(values: Sequence[float]) -> dict[str, JsonValue]:
    return {"p50": _percentile(values, 50), "p95": _percentile(values, 95)}
