"""How long a search takes, tier by tier, as a catalogue grows (table 2 of the paper)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.encoder import Encoder
from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.fields import tool_terms
from ctrag.tools.index import ToolIndex
from ctrag.tools.shelf import tool_row
from ctrag.tools.tiers import SystemKeywords, expert_score
from stores.tool_memory import MemoryToolStore

_SEED = 0
_SPECIALTY = 20
"""Tools of the expert tier and of the system tier that are timed."""
_AT_ONCE = 10_000


def latency_by_size(
    tools: Sequence[CatalogueTool], texts: Sequence[str], encoder: Encoder, sizes: Sequence[int]
) -> dict[str, Any]:
    """Milliseconds, median and 95th percentile: `own` for the catalogue as it is, and by size.

    Args:
        tools: The catalogue.
        texts: What is asked; each text once per measure.
        encoder: Encodes the requests while the clock runs.
        sizes: Catalogues to time; those above the own size are filled with synthetic tools: words
            of real tools, random vectors. A search reads whole arrays whatever stands in them, and
            is exact at every size; nothing is said about recall.
    """
    index = ToolIndex(tools, encoder)
    encode, search, whole = _hybrid(index, texts)
    lexical = _timed(lambda text: index.search(text, mode="lexical"), texts)
    rows: dict[str, Any] = {
        "own": {
            "lexical_p50": _percentile(lexical, 50),
            "encode_p50": _percentile(encode, 50),
            "hybrid_p50": _percentile(whole, 50),
            "hybrid_p95": _percentile(whole, 95),
        },
        "hybrid_beyond_encoding": _both(search),
        "tiers": _tiers(tools, texts),
    }
    for size in sizes:
        scaled = ToolIndex((), encoder, store=_of_size(index, tools, size))
        words = _timed(lambda text: scaled.search(text, mode="lexical"), texts)  # noqa: B023
        rows[str(size)] = {
            "lexical": _both(words),
            "hybrid_beyond_encoding": _both(_hybrid(scaled, texts)[1]),
            "synthetic_tools": max(0, size - len(tools)),
        }
    return rows


def _hybrid(index: ToolIndex, texts: Sequence[str]) -> tuple[list[float], list[float], list[float]]:
    """Encoding, what is beyond it, and both, per text."""
    index.search(texts[0])
    traces: list[dict[str, Any]] = [index.find(text).trace for text in texts]
    encode = [float(one["encode_ms"]) for one in traces]
    search = [float(one["search_ms"]) for one in traces]
    return encode, search, [first + second for first, second in zip(encode, search, strict=True)]


def _tiers(tools: Sequence[CatalogueTool], texts: Sequence[str]) -> dict[str, JsonValue]:
    """The two keyword tiers alone, each over so many tools."""
    some = list(tools[:_SPECIALTY])
    keywords = [SystemKeywords.of(tool) for tool in some]
    return {
        "tools": len(some),
        "expert": _both(_timed(lambda text: [expert_score(text, one) for one in some], texts)),
        "system": _both(_timed(lambda text: [one.score(text) for one in keywords], texts)),
    }


def _of_size(index: ToolIndex, tools: Sequence[CatalogueTool], size: int) -> MemoryToolStore:
    """A store with the first `size` tools, and synthetic ones where there are not so many."""
    held = index.store.vectors(index.store.hashes().values())
    rows = [tool_row(tool, tool_terms(tool), held[tool.content_hash]) for tool in tools[:size]]
    store = MemoryToolStore()
    store.apply(rows)
    chance = np.random.default_rng(_SEED)
    missing = size - len(rows)
    for start in range(0, missing, _AT_ONCE):
        count = min(_AT_ONCE, missing - start)
        vectors = chance.standard_normal((count, len(rows[0].vector)), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        alike = chance.integers(len(rows), size=count)
        store.apply(
            [
                replace(
                    rows[one],
                    tool_id=f"{rows[one].tool_id}~{start + number}",
                    name_key=f"synthetic{start + number}",
                    vector=vectors[number],
                )
                for number, one in enumerate(alike)
            ]
        )
    return store


def _timed(run: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    run(texts[0])
    found = []
    for text in texts:
        began = time.perf_counter()
        run(text)
        found.append(1e3 * (time.perf_counter() - began))
    return found


def _percentile(values: Sequence[float], percent: int) -> float:
    return round(float(np.percentile(values, percent)), 2)


def _both(values: Sequence[float]) -> dict[str, JsonValue]:
    return {"p50": _percentile(values, 50), "p95": _percentile(values, 95)}
