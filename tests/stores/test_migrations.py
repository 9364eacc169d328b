from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from stores.database import StoreUnavailable, writing
from stores.people import migrations
from stores.people.app_spec import AppSpec, packaged_apps
from stores.people.app_store import AppStore
from stores.people.changes import Change
from stores.people.item_rows import StoredItem, content_hash
from stores.people.migrations import STEPS, Connection, MigrationStep
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, encode, item, persona

MAIL = packaged_apps()[0]


@pytest.fixture
def old(root: Path) -> Path:
    """Ada's stores as they were when a mail store had its first table only."""
    path = root / "g000001" / "mail.duckdb"
    with duckdb.connect(str(path)) as connection:
        for table in ("outbox", "state", "changes"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute(f"DELETE FROM schema_steps WHERE name <> '{STEPS[0].name}'")
    return path


def tables(path: Path) -> set[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    return {row[0] for row in rows}


def test_names_of_steps_are_unique_and_in_order() -> None:
    names = [step.name for step in STEPS]
    assert names == sorted(set(names))


def test_pending_lists_what_is_missing_and_writes_nothing(old: Path) -> None:
    before = old.read_bytes(), old.stat().st_mtime_ns
    assert AppStore(old, MAIL).pending() == [step.name for step in STEPS[1:]]
    assert (old.read_bytes(), old.stat().st_mtime_ns) == before


def test_a_fresh_store_has_nothing_pending_and_migrating_again_runs_nothing(root: Path) -> None:
    path = root / "g000001" / "mail.duckdb"
    assert AppStore(path, MAIL).pending() == []
    with writing(path, "mail") as connection:
        assert migrations.migrate(connection, MAIL) == []


def test_opening_upgrades_an_old_file_and_keeps_its_data(old: Path, root: Path) -> None:
    before = AppStore(old, MAIL).items("ada")
    stores = Stores.open(root)
    assert AppStore(old, MAIL).pending() == []
    [after] = [one for one in stores.items("ada").items if one.item.app == "mail"]
    assert after.item == before[0].item
    assert before[0].vector is not None
    assert after.vector is not None
    assert after.vector.dtype == np.float32
    np.testing.assert_array_equal(after.vector, before[0].vector)
    stores.apply("ada", "mail", Change("x", put=[StoredItem(item("mail", "new"))]), WHEN)
    assert stores.undo("ada").summary == "x"


def test_mails_from_before_recipients_are_kept_and_an_import_finds_them_unchanged(
    root: Path,
) -> None:
    path = root / "g000001" / "mail.duckdb"
    plain = item("mail", "ada-mail")
    before = replace(plain, fields={**plain.fields, "recipients": None})
    known = persona("ada", apps=[app.name for app in packaged_apps() if app.name != "mail"])
    ada = replace(known, items=(before, *known.items))
    Stores.open(root).import_personas([ada], encode, ENCODER)
    path = next(root.glob("g*2/mail.duckdb"))
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE items DROP COLUMN recipients")
        connection.execute("DELETE FROM schema_steps WHERE name = '0005_fields'")
    report = Stores(root).import_personas([ada], encode, ENCODER)
    assert (report.added, report.changed, report.unchanged) == (0, 0, 7)
    stored = [one.item for one in Stores.open(root).items("ada").items]
    assert before in stored
    sent = replace(before, fields={**before.fields, "recipients": ("Uwe", "Ben")})
    assert content_hash(sent) != content_hash(before)
    Stores.open(root).apply("ada", "mail", Change("x", put=[StoredItem(sent)]), WHEN)
    assert sent in [one.item for one in Stores.open(root).items("ada").items]


def test_a_step_that_fails_leaves_neither_its_change_nor_its_record(root: Path) -> None:
    path = root / "g000001" / "mail.duckdb"
    before = tables(path)

    def half(connection: Connection, app: AppSpec) -> None:
        connection.execute("CREATE TABLE half (a INTEGER)")
        connection.execute("UPDATE items SET item_id = 'lost'")
        connection.execute("SELECT nonsense")

    def fine(connection: Connection, app: AppSpec) -> None:
        connection.execute("CREATE TABLE fine (a INTEGER)")

    steps = (*STEPS, MigrationStep("0098_fine", fine), MigrationStep("0099_half", half))
    with (
        pytest.raises(StoreUnavailable, match=r"mail store is not writable .*nonsense"),
        writing(path, "mail") as connection,
    ):
        migrations.migrate(connection, MAIL, steps)
    assert tables(path) == before
    with writing(path, "mail") as connection:
        assert migrations.pending(connection, steps) == list(steps[-2:])
    assert AppStore(path, MAIL).items("ada")[0].item.id == "ada-mail"


def test_a_store_that_cannot_be_upgraded_does_not_stop_the_others(old: Path, root: Path) -> None:
    with duckdb.connect(str(old)) as connection:
        connection.execute("DROP TABLE items")
        connection.execute("CREATE TABLE outbox (something_else INTEGER)")
    found = Stores.open(root).items("ada")
    assert list(found.unavailable) == ["mail"]
    assert len(found.items) == 6


def test_an_import_into_old_files_upgrades_them_and_can_be_undone(old: Path, root: Path) -> None:
    stores = Stores(root)  # not opened: nothing was upgraded yet
    stores.import_personas([persona("eve")], encode, ENCODER)
    assert len(stores.items("eve").items) == 7
    assert stores.changes("eve") == []
    copy = root / "g000001" / "mail.duckdb"
    assert AppStore(copy, MAIL).pending() == [step.name for step in STEPS[1:]]
    assert stores.undo("eve").summary.startswith("import of")
    assert stores.people() == ["ada", "bob"]
    assert len(stores.items("ada").items) == 7
