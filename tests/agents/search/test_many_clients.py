"""Many clients search while tools come and go; `ctrag tools bench` is the same at full size."""

import gc
import random
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex

WORDS = (
    "find send book cancel list update read share".split(),
    "flight invoice patient parcel song ticket lamp recipe".split(),
    "airport office clinic depot studio station kitchen garden".split(),
    "monday tuesday wednesday thursday friday saturday sunday today".split(),
)
CLIENTS, SEARCHES = 4, 60
CHANGES, BROUGHT = 60, 10
"""Changes in a round, and the tools that each brings and takes."""


def numbered(number: int, server: str) -> CatalogueTool:
    """One of 4,096 tools, each with words that the others have in another company."""
    words = [column[number // 8**power % 8] for power, column in enumerate(WORDS)]
    return CatalogueTool("_".join(words), " ".join(words), server)


STAY = [numbered(number, "stay") for number in range(100)]


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.slow
def test_no_tool_is_lost_and_memory_stays_flat_while_clients_search_and_tools_come_and_go(
    word_bins: Any, traced: None
) -> None:
    index = ToolIndex(STAY, word_bins)
    passed = len(STAY)

    def search(client: int) -> None:
        chance = random.Random(client)
        for _ in range(SEARCHES):
            wanted = chance.choice(STAY)
            assert wanted.id in {hit.tool.id for hit in index.search(wanted.description, 5)}

    def change() -> None:
        nonlocal passed
        for _ in range(CHANGES):
            passing = [numbered(passed + one, "passing") for one in range(BROUGHT)]
            index.add(passing)
            index.remove([one.id for one in passing])
            passed += BROUGHT

    def held_after_a_round() -> int:
        """Bytes."""
        with ThreadPoolExecutor(CLIENTS + 1) as threads:
            running = [threads.submit(search, client) for client in range(CLIENTS)]
            running.append(threads.submit(change))
            for one in running:
                one.result()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    first = held_after_a_round()
    held_after_a_round()
    grown = held_after_a_round() - first
    assert index.tools == STAY
    assert grown < 500_000, "1,200 tools that were kept would take more than 2,000,000 bytes"


def test_who_only_searches_forgets_what_others_took_out(word_bins: Any) -> None:
    writer = ToolIndex(STAY, word_bins)
    reader = ToolIndex([], word_bins, store=writer.store)
    for round_ in range(40):
        some = [numbered(100 + 10 * round_ + one, "pass") for one in range(10)]
        writer.add(some)
        assert reader.search(some[3].description, 1)[0].tool.id == some[3].id
        writer.remove([one.id for one in some])
    held = {one.id for one in reader._tools.values()}
    assert {one.id for one in STAY} <= held
    assert len(held) < len(STAY) + 250  # 400 have passed
    assert len(reader._terms) < len(STAY) + 250
