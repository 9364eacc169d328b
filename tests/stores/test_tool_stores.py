"""One suite over all stores of tools: the databases' values are held against arithmetic."""

import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from stores.database import StoreUnavailable
from stores.tools.duckdb_file import DuckToolStore
from stores.tools.memory import MemoryToolStore
from stores.tools.mirror import MirroredToolStore
from stores.tools.protocol import Filter, Query, ToolRow, ToolStore
from tests.stores.postgres import running_postgres
from tests.stores.tools import ANYBODY, TOOLS, ids, row


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of this module's own."""
    with running_postgres() as database:
        yield database.url


@pytest.fixture(params=["memory", "duckdb", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ToolStore]:
    made: ToolStore
    if request.param == "memory":
        made = MemoryToolStore()
    elif request.param == "duckdb":
        made = MirroredToolStore(DuckToolStore(tmp_path / "tools.duckdb"))
    else:
        from stores.tools.postgres import PostgresToolStore

        made = PostgresToolStore(request.getfixturevalue("postgres"))
        made.apply([], list(made.hashes()))
        made.set_grants(None)
    made.apply(TOOLS)
    yield made
    made.close()


def test_cosines_are_those_of_the_vectors(store: ToolStore) -> None:
    found = store.candidates([Query((), np.array([0.6, 0.8, 0], np.float32))], ANYBODY, 9).found
    assert {one.tool_id: pytest.approx(one.cosine, abs=1e-6) for one in found} == {
        "air/book": 0.6,
        "air/cancel": 0.8,
        "mail/send": 0.0,
        "clock/alarm": 1.4 / math.sqrt(2),
    }


def test_queries_of_one_request_bring_one_list_with_the_cosine_of_each(store: ToolStore) -> None:
    first, second = np.array([1, 0, 0], np.float32), np.array([0, 0.6, 0.8], np.float32)
    queries = [
        Query(("flight",), first),
        Query(("alarm", "flight"), second),
        Query(("book",), None),
    ]
    asked = store.candidates(queries, ANYBODY, 1)
    assert [one.tool_id for one in asked.found] == ["air/book", "mail/send", "clock/alarm"]
    half = 1 / math.sqrt(2)
    wanted = [[1, 0, half], [0, 0.8, 0.6 * half], [0, 0, 0]]
    assert asked.cosines == pytest.approx(np.array(wanted), abs=1e-6)
    assert (asked.total, asked.counts) == (4, {"flight": 2, "alarm": 1, "book": 1})
    single = [store.candidates([query], ANYBODY, 1) for query in queries]
    brought = {one.tool_id: one for each in reversed(single) for one in each.found}
    assert {one.tool_id: one.lexical for one in asked.found} == pytest.approx(
        {tool_id: one.lexical for tool_id, one in brought.items()}
    )


def test_words_are_scored_by_bm25_over_what_is_visible(store: ToolStore) -> None:
    query = Query(("flight", "book", "zebra"), None)
    every = store.candidates([query], ANYBODY, 9)
    flight, book = math.log(1 + 2.5 / 2.5), math.log(1 + 3.5 / 1.5)
    assert {one.tool_id: one.lexical for one in every.found} == pytest.approx(
        {"air/book": flight * 2 / 3.2 + book * 1 / 2.2, "air/cancel": flight * 1 / 2.2}
    )
    assert (every.total, every.counts) == (4, {"flight": 2, "book": 1})
    fewer = store.candidates([query], Filter(exclude=frozenset(["air/book"])), 9)
    assert [one.lexical for one in fewer.found] == pytest.approx([math.log(1 + 2.5 / 1.5) / 2.2])
    assert (fewer.total, fewer.counts) == (3, {"flight": 1})


def test_the_first_of_each_measure_come_and_ties_go_to_who_was_first(store: ToolStore) -> None:
    query = Query(("send",), np.array([1, 0, 0], np.float32))
    found = store.candidates([query], ANYBODY, 1).found
    assert [one.tool_id for one in found] == ["air/book", "mail/send"]
    tied = store.candidates([Query((), np.array([0, 0, -1], np.float32))], ANYBODY, 2).found
    assert [one.tool_id for one in tied] == ["air/book", "air/cancel"]


def test_named_tools_and_tools_of_named_servers_come_whatever_the_measures_say(
    store: ToolStore,
) -> None:
    query = Query((), np.array([1, 0, 0], np.float32), names=("send",))
    assert [one.tool_id for one in store.candidates([query], ANYBODY, 1).found] == [
        "air/book",
        "mail/send",
    ]
    query = Query((), np.array([0, 0, 1], np.float32), names=("clock",))
    assert [one.tool_id for one in store.candidates([query], ANYBODY, 1).found] == [
        "mail/send",
        "clock/alarm",
    ]


def test_a_changed_tool_keeps_its_place_and_loses_its_old_words(store: ToolStore) -> None:
    store.apply([row("air/book", [0, 0, 1], reserve=1.0)])
    assert list(store.hashes()) == [tool.tool_id for tool in TOOLS]
    assert store.candidates([Query(("book",), None)], ANYBODY, 9).found == []
    [found] = store.candidates([Query(("reserve",), None)], ANYBODY, 9).found
    assert (found.tool_id, found.content_hash) == ("air/book", "air/book-[('reserve', 1.0)]")


def test_an_id_that_is_another_servers_tool_now_is_seen_by_whom_that_one_is_open_to(
    store: ToolStore,
) -> None:
    nested = row("air/cargo/book", [1, 0, 0])  # `book` of `air/cargo`
    store.set_grants([("role:clerk", "air/cargo/*"), ("role:pilot", "air/*")])
    pilot, clerk = Filter(frozenset(["role:pilot"])), Filter(frozenset(["role:clerk"]))
    store.apply([nested])
    assert "air/cargo/book" in ids(store, clerk)
    assert "air/cargo/book" not in ids(store, pilot)
    store.apply([replace(nested, server="air", server_key="air", name_key="cargobook")])
    assert "air/cargo/book" in ids(store, pilot)
    assert "air/cargo/book" not in ids(store, clerk)
    assert store.named("cargobook", pilot) == ["air/cargo/book"]
    store.set_grants(None)


def test_a_removed_tool_is_gone_and_comes_back_at_the_end(store: ToolStore) -> None:
    store.apply([], ["air/book", "nobody/knows"])
    assert ids(store) == ["air/cancel", "mail/send", "clock/alarm"]
    assert store.candidates([Query(("book",), None)], ANYBODY, 9).counts == {}
    store.apply([TOOLS[0]])
    assert ids(store) == ["air/cancel", "mail/send", "clock/alarm", "air/book"]


def test_tools_that_came_and_went_leave_nothing_behind(store: ToolStore) -> None:
    crowd = [row(f"crowd/t{number}", [1, 2, 3], crowd=1.0) for number in range(200)]
    store.apply(crowd)
    store.apply([], [tool.tool_id for tool in crowd])
    assert ids(store) == [tool.tool_id for tool in TOOLS]
    assert store.candidates([Query(("crowd", "flight"), None)], ANYBODY, 9).counts == {"flight": 2}


def test_always_available_tools_are_not_searched(store: ToolStore) -> None:
    bound = row("core/plan", [1, 0, 0], plan=1.0)
    store.apply([ToolRow(**{**{k: getattr(bound, k) for k in bound.__slots__}, "always": True})])
    assert "core/plan" not in ids(store)
    assert "core/plan" in ids(store, Filter(always=True))


@pytest.mark.parametrize(
    ("seen", "visible"),
    [
        (Filter(), []),
        (Filter(unchecked=True), ["air/book", "air/cancel", "mail/send", "clock/alarm"]),
        (Filter(scopes=frozenset()), []),
        (Filter(scopes=frozenset(["user:ada"])), ["air/book", "air/cancel"]),
        (Filter(scopes=frozenset(["user:ada", "role:clerk"])), ["air/book", "air/cancel", "mail/send"]),
        (Filter(scopes=frozenset(["organisation:acme"])), [tool.tool_id for tool in TOOLS]),
        (Filter(scopes=frozenset(["user:AIR"])), []),
        (Filter(frozenset(["user:ada"]), allow=frozenset(["air/book", "mail/send"])), ["air/book"]),
        (Filter(allow=frozenset(), unchecked=True), []),
        (Filter(exclude=frozenset(["air/book"]), unchecked=True), ["air/cancel", "mail/send", "clock/alarm"]),
    ],
)  # fmt: skip
def test_every_question_sees_what_grants_and_lists_let_through(
    store: ToolStore, seen: Filter, visible: list[str]
) -> None:
    grants = [("user:ada", "air/*"), ("role:clerk", "mail/send"), ("organisation:acme", "*")]
    store.set_grants(grants)
    assert store.grants() == sorted(grants)
    assert ids(store, seen) == visible
    nearest = [one for one in ("air/book", "clock/alarm", "air/cancel") if one in visible]
    assert ids(store, seen, limit=1) == nearest[:1]
    known = [tool.tool_id for tool in TOOLS]
    assert sorted(store.definitions(known, seen)) == sorted(visible)
    assert store.named("book", seen) == [one for one in visible if one == "air/book"]


def test_no_grants_left_is_not_the_same_as_no_rules(store: ToolStore) -> None:
    assert store.grants() is None
    store.set_grants([])
    assert store.grants() == []
    assert ids(store, Filter(scopes=frozenset(["user:ada"]))) == []


def test_two_writers_at_the_same_moment_lose_nothing_of_a_fact(store: ToolStore) -> None:
    """The fact is not there at first, and both begin with writing it."""
    name, together = f"count-{uuid4().hex}", threading.Barrier(2)

    def one_more(text: str | None) -> str:
        time.sleep(0.001)  # time enough for the other one to read the same
        return str(int(text or 0) + 1)

    def count() -> None:
        together.wait()
        for _ in range(50):
            store.change_fact(name, one_more)

    with ThreadPoolExecutor(2) as threads:
        for one in [threads.submit(count) for _ in range(2)]:
            one.result()
    assert store.fact(name) == "100"


def test_a_change_of_a_fact_that_fails_leaves_it_as_it_was(store: ToolStore) -> None:
    name = f"count-{uuid4().hex}"
    store.set_fact(name, "1")

    def fail(text: str | None) -> str:
        raise ValueError(f"no number after {text}")

    with pytest.raises(ValueError, match="no number after 1"):
        store.change_fact(name, fail)
    assert store.fact(name) == "1"
    store.change_fact(name, lambda text: f"{text}2")
    assert store.fact(name) == "12", "nothing is locked still"


def test_vectors_are_given_back_by_content(store: ToolStore) -> None:
    found = store.vectors([TOOLS[3].content_hash, "unknown"])
    assert list(found) == [TOOLS[3].content_hash]
    np.testing.assert_allclose(found[TOOLS[3].content_hash], TOOLS[3].vector, atol=1e-7)


def test_names_with_signs_of_sql_are_names(store: ToolStore) -> None:
    odd = row("o'hara/%'; DROP TABLE tools; --", [1, 0, 0], odd=1.0)
    store.apply([odd])
    store.set_grants([("user:x", odd.tool_id)])
    assert ids(store, Filter(frozenset(["user:x"]))) == [odd.tool_id]


def test_searches_go_on_after_the_database_cut_every_connection(postgres: str) -> None:
    import psycopg

    from stores.tools.postgres import PostgresToolStore

    store = PostgresToolStore(postgres)
    store.apply([], list(store.hashes()))
    store.set_grants(None)
    store.apply(TOOLS)
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    assert ids(store) == [tool.tool_id for tool in TOOLS]
    store.close()


def test_a_database_that_is_away_is_named() -> None:
    if find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'ctrag[postgres]'")
    from stores.tools.postgres import PostgresToolStore

    with pytest.raises(StoreUnavailable, match="the tool store is not reachable"):
        PostgresToolStore("postgresql://nobody@127.0.0.1:1/none?connect_timeout=1")


def test_a_failed_change_leaves_the_store_as_it_was(store: ToolStore) -> None:
    broken = row("air/book", [1, 0, 0], book=1.0)
    object.__setattr__(broken, "definition", None)
    if isinstance(store, MemoryToolStore):
        pytest.skip("memory has no column that could refuse a value")
    with pytest.raises(StoreUnavailable):
        store.apply([row("new/one", [1, 0, 0], new=1.0), broken], ["mail/send"])
    assert ids(store) == [tool.tool_id for tool in TOOLS]
