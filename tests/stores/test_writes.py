import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores import database
from stores.database import StoreUnavailable
from stores.people.changes import Change, OutboxEntry
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Usage
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores
from tests.stores.conftest import WHEN, comparable, contents, item

Process = Callable[[Path, str], "subprocess.Popen[str]"]


def mail(item_id: str, words: str = "zebra") -> StoredItem:
    return StoredItem(item("mail", item_id, words))


def sent(item_id: str) -> OutboxEntry:
    return OutboxEntry("mail", "ben@example.org", {"text": "on my way"}, item_id)


def test_a_change_is_items_outbox_state_and_journal_at_once(stores: Stores) -> None:
    record = stores.apply(
        "ada",
        "phonecall",
        Change(
            "called Ben",
            put=[StoredItem(item("phonecall", "new"))],
            remove=["ada-phonecall"],
            outbox=[OutboxEntry("call", "Ben", {"number": "555"}, "new")],
            state={"blocked": ["555"]},
        ),
        WHEN,
    )
    found = comparable(stores.items("ada"))
    assert "new" in found
    assert "ada-phonecall" not in found
    assert stores.state("ada", "phonecall", "blocked") == ["555"]
    [(app, row)] = stores.outbox("ada")
    assert (app, row.change_id, row.happened_at) == ("phonecall", record.change_id, WHEN)
    assert row.entry == OutboxEntry("call", "Ben", {"number": "555"}, "new")
    assert stores.changes("ada") == [record]
    assert stores.outbox("bob") == []
    assert stores.changes("bob") == []
    assert stores.state("bob", "phonecall", "blocked") is None


def test_the_outbox_of_one_application_opens_no_other_store(stores: Stores, root: Path) -> None:
    called = OutboxEntry("call", "Ben", {"number": "555"}, "ada-phonecall")
    stores.apply("ada", "mail", Change("wrote", outbox=[sent("ada-mail")]), WHEN)
    stores.apply("ada", "phonecall", Change("called", outbox=[called]), WHEN)
    assert [app for app, _ in stores.outbox("ada")] == ["mail", "phonecall"]
    assert [app for app, _ in stores.outbox("ada", "mail")] == ["mail"]
    [broken] = root.glob("*/mail.duckdb")
    broken.write_bytes(b"no database")
    [(app, row)] = Stores.open(root).outbox("ada", "phonecall")
    assert (app, row.entry) == ("phonecall", called)
    with pytest.raises(StoreUnavailable, match="mail"):
        Stores.open(root).outbox("ada")


BAD: dict[str, tuple[Change, type[Exception], str]] = {
    "a text for a time": (
        Change("x", put=[mail("a"), StoredItem(Item("b", "mail", {"received_at": "soon"}))]),
        ValueError,
        "mail: Conversion Error",
    ),
    "a number too large": (
        Change("x", put=[StoredItem(replace(item("mail", "b"), usage=Usage(2**70)))]),
        ValueError,
        "mail: ",
    ),
    "half a surrogate pair": (
        Change("x", outbox=[OutboxEntry("mail", "\ud800", {})]),
        ValueError,
        "mail: Invalid Input",
    ),
    "no JSON in the outbox": (
        Change("x", put=[mail("a")], outbox=[OutboxEntry("mail", None, {"a": object()})]),
        TypeError,
        "not JSON serializable",
    ),
    "no JSON in the state": (
        Change("x", put=[mail("a")], state={"a": {1, 2}}),
        TypeError,
        "not JSON serializable",
    ),
    "an id twice": (
        Change("x", put=[mail("a"), mail("a")]),
        ValueError,
        "put: an item id appears twice",
    ),
    "an item of another application": (
        Change("x", put=[StoredItem(item("notes", "a"))]),
        ValueError,
        "put: item 'a' is of notes, not of mail",
    ),
    "an unknown field": (
        Change("x", put=[StoredItem(Item("a", "mail", {"colour": "red"}))]),
        ValueError,
        "a: mail has no field 'colour'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_change_that_breaks_a_rule_changes_nothing(stores: Stores, case: str) -> None:
    change, kind, message = BAD[case]
    before = contents(stores)
    with pytest.raises(kind, match=message) as caught:
        stores.apply("ada", "mail", change, WHEN)
    assert "\n" not in str(caught.value)
    assert contents(stores) == before


def test_changes_of_nobody_or_nothing_are_refused(stores: Stores) -> None:
    before = contents(stores)
    with pytest.raises(UnknownPerson, match="persona: 'eve' is unknown; known: ada, bob"):
        stores.apply("eve", "mail", Change("x", put=[mail("a")]), WHEN)
    with pytest.raises(ValueError, match="app: 'pets' is unknown; known: mail, calendar"):
        stores.apply("ada", "pets", Change("x"), WHEN)
    assert contents(stores) == before
    assert stores.items("eve").items == []


def test_writing_where_no_stores_are_makes_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no stores in"):
        Stores(tmp_path / "none").apply("ada", "mail", Change("x"), WHEN)
    assert not (tmp_path / "none").exists()


POINTS = {
    "after the items": "app_store.AppStore._set_state = die",
    "after the deletions": "item_rows.content_hash = die",
    "before the commit": (
        "from contextlib import contextmanager\nopen_file = app_store.writing\n"
        "@contextmanager\ndef dying(*a, **k):\n"
        "    with open_file(*a, **k) as connection:\n        yield connection\n        die()\n"
        "app_store.writing = dying"
    ),
}
APPLY = (
    "stores.apply('ada', 'mail', Change('x', put=[StoredItem(item('mail', 'n', 'zebra'))], "
    "outbox=[OutboxEntry('mail', 'Ben', {})], state={'blocked': [1]}), WHEN)"
)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_write_leaves_nothing(
    stores: Stores, root: Path, process: Process, point: str
) -> None:
    before = contents(stores)
    killed = process(root, f"{POINTS[point]}\n{APPLY}")
    killed.communicate()
    assert killed.returncode == -9
    assert contents(stores) == before
    stores.apply("ada", "mail", Change("next", put=[mail("n")]), WHEN)
    assert "n" in comparable(stores.items("ada"))


def test_a_forked_process_reads_and_writes_and_ends(
    stores: Stores, root: Path, process: Process
) -> None:
    """Threads of the parent's DuckDB instances are not there in the child."""
    once_more = APPLY.replace("'n'", "'m'")
    code = (
        f"{APPLY}\nstores.items('ada')\nchild = os.fork()\n"
        f"if not child:\n    stores.items('ada')\n    {once_more}\n    sys.exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7"
    )
    parent = process(root, code)
    _, errors = parent.communicate(timeout=60)
    assert parent.returncode == 0, errors
    assert {"n", "m"} <= set(comparable(stores.items("ada")))


def test_an_interrupt_while_a_store_is_let_go_of_leaves_it_to_others(stores: Stores) -> None:
    kept = database._writer.connection()

    class Interrupted:
        def execute(self, query: str, *more: Any) -> Any:
            if query.startswith("DETACH"):
                raise KeyboardInterrupt
            return kept.execute(query, *more)

        def __getattr__(self, name: str) -> Any:
            return getattr(kept, name)

    database._writer._connection = Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        stores.apply("ada", "mail", Change("x", put=[mail("n")]), WHEN)
    stores.apply("ada", "calendar", Change("y"), WHEN)
    stores.apply("ada", "mail", Change("z", put=[mail("m")]), WHEN)
    assert {"n", "m"} <= set(comparable(stores.items("ada")))


def test_a_thread_that_writes_one_store_may_not_write_another_meanwhile(root: Path) -> None:
    [folder] = root.glob("g*")
    with database.writing(folder / "mail.duckdb", "mail") as connection:
        nested = database.writing(folder / "calendar.duckdb", "calendar")
        with pytest.raises(RuntimeError, match="calendar: this thread is writing another store"):
            nested.__enter__()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def crash_after_commit(root: Path, process: Process) -> None:
    """Leaves a write-ahead log that nobody carried into the file."""
    code = (
        "import duckdb\nclass Dying:\n"
        "    def __init__(self, inner): self.inner = inner\n"
        "    def __getattr__(self, name): return getattr(self.inner, name)\n"
        "    def commit(self):\n        self.inner.commit()\n        die()\n"
        "connect = duckdb.connect\n"
        "def dying(*a, **k): return Dying(connect(*a, **k))\n"
        f"database.duckdb.connect = dying\n{APPLY}"
    )
    killed = process(root, code)
    _, errors = killed.communicate()
    assert killed.returncode == -9, errors
    assert list(root.glob("g*/mail.duckdb.wal"))


def test_a_write_killed_after_its_commit_is_whole(
    stores: Stores, root: Path, process: Process
) -> None:
    crash_after_commit(root, process)
    assert "n" in comparable(stores.items("ada"))
    assert len(stores.outbox("ada")) == 1
    assert len(stores.changes("ada")) == 1


def test_an_import_carries_the_log_of_a_killed_writer_along(
    stores: Stores, root: Path, process: Process
) -> None:
    from tests.stores.conftest import ENCODER, encode, persona

    crash_after_commit(root, process)
    stores.import_personas([persona("eve")], encode, ENCODER)
    assert "n" in comparable(stores.items("ada"))
    assert stores.forget("ada").items == 8
    assert b"zebra" not in b"".join(one.read_bytes() for one in root.rglob("*") if one.is_file())


def test_writers_at_once_lose_and_double_nothing(
    stores: Stores, root: Path, process: Process
) -> None:
    code = (
        "stores = Stores(root, timeout=30)\n"
        "for number in range(3):\n"
        "    change = Change('x', put=[StoredItem(item('mail', f'{me}-{number}'))],\n"
        "        outbox=[OutboxEntry('mail', f'{me}-{number}', {})])\n"
        "    stores.apply('ada', 'mail', change, WHEN)\n"
    )
    elsewhere = [process(root, f"me = 'process{number}'\n{code}") for number in range(4)]
    patient = Stores.open(root, timeout=30, read_timeout=30)
    failures: list[BaseException] = []

    def write(me: str) -> None:
        try:
            for number in range(3):
                name = f"{me}-{number}"
                change = Change("x", put=[mail(name)], outbox=[sent(name)])
                patient.apply("ada", "mail", change, WHEN)
                assert name in comparable(patient.items("ada"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"thread{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in elsewhere:
        _, errors = one.communicate()
        assert errors == ""
    assert failures == []
    expected = [
        *(f"process{one}-{number}" for one in range(4) for number in range(3)),
        *(f"thread{one}-{number}" for one in range(8) for number in range(3)),
    ]
    found = comparable(stores.items("ada"))
    assert found.keys() >= set(expected)
    assert len(found) == 7 + len(expected)
    assert len(stores.outbox("ada")) == len(expected)
    assert len({row.change_id for _, row in stores.outbox("ada")}) == len(expected)


def test_a_writer_gets_through_while_others_read_without_pause(
    stores: Stores, root: Path, process: Process
) -> None:
    read = "print('ready', flush=True)\nwhile True: stores.items('ada')"
    for reader in [process(root, read) for _ in range(2)]:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    patient = Stores.open(root)
    for number in range(5):
        patient.apply("ada", "mail", Change("x", put=[mail(str(number))]), WHEN)


def hold(process: Process, root: Path, code: str) -> Any:
    held = process(root, f"with {code}:\n    print('held', flush=True)\n    sys.stdin.readline()")
    assert held.stdout is not None
    assert held.stdout.readline() == "held\n"
    return held


def test_a_lease_held_elsewhere_makes_a_write_wait_and_then_say_so(
    stores: Stores, root: Path, process: Process
) -> None:
    held = hold(process, root, "generations.lease(root)")
    before = contents(stores)  # reading needs no lease
    start = time.monotonic()
    with pytest.raises(
        StoreUnavailable, match=r"being changed by another process for more than 0\.5 s; try again"
    ):
        stores.apply("ada", "mail", Change("x", put=[mail("a")]), WHEN)
    assert 0.5 <= time.monotonic() - start < 3
    assert contents(stores) == before

    held.stdin.write("go\n")
    held.stdin.flush()
    Stores(root).apply("ada", "mail", Change("x", put=[mail("a")]), WHEN)
    assert "a" in comparable(stores.items("ada"))


def test_the_lease_of_a_killed_writer_is_free(stores: Stores, root: Path, process: Process) -> None:
    held = hold(process, root, "generations.lease(root)")
    held.kill()
    held.wait()
    stores.apply("ada", "mail", Change("x", put=[mail("a")]), WHEN)
    assert "a" in comparable(stores.items("ada"))


def test_a_clock_set_back_does_not_put_a_change_before_its_import(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.people.changes_journal.time.time_ns", lambda: 1)
    stores.apply("ada", "mail", Change("mine", put=[mail("a")]), WHEN)
    assert stores.undo("ada").summary == "mine"
