"""PostgreSQL is killed and started again while an index over it serves."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.catalogue.tool import Catalogue, CatalogueTool
from ctrag.agents.search.index import ToolIndex
from stores.database import StoreUnavailable
from tests.agents.search.test_index import Topics
from tests.stores.postgres import Database, running_postgres

pytestmark = pytest.mark.slow

AWAY = r"the tool store is not (reachable|readable) \(.+\)"
TOOLS = [
    CatalogueTool("book", "Book a flight", "air"),
    CatalogueTool("forecast", "Tell the weather", "sky"),
    CatalogueTool("play", "Play music", "radio"),
]
BATCH = 8


@pytest.fixture
def database() -> Iterator[Database]:
    with running_postgres() as made:
        yield made


def found(index: ToolIndex, text: str, user: str | None = None) -> list[str]:
    return [hit.tool.id for hit in index.search(text, 2, user)]


def test_an_index_fails_clearly_while_its_database_is_away_and_then_goes_on(
    database: Database,
) -> None:
    index = ToolIndex.open(database.url, Catalogue(TOOLS), Topics())
    quiet = ToolIndex.open(database.url, None, Topics())  # is asked nothing meanwhile
    before = index.search("tell the weather")
    index.learn("ada", "sky/forecast", "used")
    database.kill()
    for asked in (
        lambda: index.search("tell the weather"),
        lambda: index.search("weather", mode="lexical"),
        lambda: index.resolve(["sky/forecast"]),
        lambda: index.add([CatalogueTool("sell", "Sell a flight", "air")]),
        lambda: index.remove(["air/book"]),
        index.flush,
        lambda: ToolIndex.open(database.url, None, Topics()),
    ):
        with pytest.raises(StoreUnavailable, match=AWAY):
            asked()
    database.start()
    assert index.search("tell the weather") == before
    assert quiet.search("tell the weather") == before
    quiet.close()
    assert [tool.id for tool in index.tools] == [tool.id for tool in TOOLS]
    index.add([CatalogueTool("sell", "Sell a flight", "air")])
    index.remove(["air/book"])
    index.access = AccessRules((Grant("user:ada", "air/*"),), {"ada": Principal("ada")})
    index.close()
    again = ToolIndex.open(database.url, None, Topics())
    assert found(again, "flight", "ada") == ["air/sell"]
    assert found(again, "flight", "bob") == []
    assert again.affinity.liked("ada") == ["sky/forecast"], "counted before, written after"
    again.close()


def test_a_change_that_a_kill_interrupts_half_way_is_not_there(database: Database) -> None:
    import psycopg

    index = ToolIndex.open(database.url, Catalogue(TOOLS), Topics())
    before = index.search("flight, music")
    changed = [
        CatalogueTool("sell", "Sell a flight", "air"),
        CatalogueTool("book", "Reserve a flight", "air"),
    ]
    other = psycopg.connect(database.url)
    other.execute("LOCK TABLE ctrag_tool_words IN SHARE MODE")  # tools are written before words
    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(index.replace_server, "air", changed)
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while not other.execute(waiting).fetchone():
            assert not writing.done()
            other.execute("SELECT pg_stat_clear_snapshot()")
        database.kill()
        with pytest.raises(StoreUnavailable, match=AWAY):
            writing.result()
    other.close()
    database.start()
    assert index.search("flight, music") == before
    assert index.tools == TOOLS
    index.replace_server("air", changed)
    assert {tool.description for tool in index.tools if tool.server == "air"} == {
        "Sell a flight",
        "Reserve a flight",
    }
    index.close()


def test_clients_that_go_on_through_two_kills_lose_nothing_that_was_written(
    database: Database,
) -> None:
    index = ToolIndex.open(database.url, Catalogue(TOOLS), Topics())
    acknowledged: list[str] = []
    answered: set[str] = set()
    failed: set[str] = set()
    done = threading.Event()

    def search(number: int) -> None:
        assert found(index, "tell the weather")[0] == "sky/forecast"

    def change(number: int) -> None:
        server = f"s{number}"
        tools = [CatalogueTool(f"t{one}", f"about batch{number}", server) for one in range(BATCH)]
        index.add(tools)
        acknowledged.append(server)

    def go_on(act: Callable[[int], None]) -> None:
        for number in count():
            if done.is_set():
                return
            try:
                act(number)
                answered.add(act.__name__)
            except StoreUnavailable as error:
                if not re.fullmatch(AWAY, str(error)):
                    raise
                failed.add(act.__name__)
                time.sleep(0.01)

    def until_both(happened: set[str]) -> None:
        happened.clear()
        deadline = time.monotonic() + 60
        while happened != {"search", "change"}:
            assert not any(one.done() for one in running), "an error of another kind"
            assert time.monotonic() < deadline
            time.sleep(0.005)

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(go_on, act) for act in (change, search, search)]
        try:
            until_both(answered)
            for _ in range(2):
                database.kill()
                until_both(failed)
                database.start()
                until_both(answered)
        finally:
            done.set()
        for one in running:
            one.result()
    again = ToolIndex.open(database.url, None, Topics())
    held = Counter(tool.server for tool in again.tools[len(TOOLS) :])
    assert set(held.values()) == {BATCH}
    assert set(acknowledged) <= set(held)
    for server in held:
        hits = again.search(f"batch{server[1:]}", BATCH + 1, mode="lexical")
        assert [hit.tool.server for hit in hits if hit.lexical > 0] == [server] * BATCH
    again.close()
    index.close()
