import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.database import writing
from stores.people import bulk, changes_journal
from stores.people.app_spec import packaged_apps
from stores.people.changes import Change, OutboxEntry
from stores.people.dataset import Persona
from stores.people.import_journal import KEPT_IMPORTS
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person, Profile, Usage
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores
from tests.stores.conftest import (
    ENCODER,
    WHEN,
    comparable,
    contents,
    encode,
    fields,
    item,
    persona,
)
from tests.stores.test_forget import found_in

ids = st.sampled_from(["a", "b", "ada-mail", "ada-notes"])


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, Change]:
    app = draw(st.sampled_from(["mail", "notes"]))
    put = []
    for name in draw(st.lists(ids, max_size=2, unique=True)):
        values = fields(app, draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
        moment = draw(st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)))
        values["received_at" if app == "mail" else "modified_at"] = moment
        usage = Usage(draw(st.integers(0, 9)), draw(st.none() | st.just(moment)), (), None)
        vector = draw(st.none() | st.just(np.array([0.1, -2.5], np.float32)))
        put.append(StoredItem(Item(name, app, values, usage), vector))
    state = draw(st.dictionaries(st.just("blocked"), st.none() | st.integers() | st.text()))
    outbox = [OutboxEntry("mail", "Ben", {"x": 1}, "a")] * draw(st.integers(0, 2))
    return app, Change("x", put, draw(st.lists(ids, max_size=2)), outbox, state)


@settings(max_examples=8, deadline=None)
@given(steps=st.lists(changes(), min_size=1, max_size=4))
def test_changes_undone_one_by_one_bring_back_every_state_exactly(
    template: Path, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Change]]
) -> None:
    root = copytree(template, tmp_path_factory.mktemp("undo") / "stores")
    stores = Stores.open(root, [app for app in packaged_apps() if app.name in {"mail", "notes"}])

    def everything() -> object:
        states = [stores.state("ada", app, "blocked") for app in ("mail", "notes")]
        found = stores.items("ada").items
        items = sorted(
            (one.item.app, one.item.id, repr(one.item), repr(one.vector)) for one in found
        )
        return items, states, stores.outbox("ada"), stores.changes("ada")

    seen = [everything()]
    for app, change in steps:
        stores.apply("ada", app, change, WHEN)
        seen.append(everything())
    for past in reversed(seen[:-1]):
        stores.undo("ada")
        assert everything() == past
    assert stores.undo("ada").summary == "import of 2 people and 14 items"
    assert stores.people() == ["bob"]
    rmtree(root)


def test_undo_takes_back_the_persons_own_last_change_only(stores: Stores) -> None:
    stores.apply("ada", "mail", Change("first", remove=["ada-mail"]), WHEN)
    stores.apply("ada", "notes", Change("second", remove=["ada-notes"]), WHEN)
    stores.apply("bob", "mail", Change("bob's", remove=["bob-mail"]), WHEN)
    assert stores.undo("ada").summary == "second"
    assert stores.undo("ada").summary == "first"
    assert len(stores.items("ada").items) == 7
    assert len(stores.items("bob").items) == 6


def test_undo_of_an_import_touches_its_own_person_only(stores: Stores) -> None:
    stores.apply("ada", "mail", Change("mine", remove=["ada-mail"]), WHEN)
    before = contents(stores)
    stores.import_personas([persona("ada", "zebra"), persona("eve")], encode, ENCODER)
    after = contents(stores)
    assert stores.undo("ada").summary == "import of 1 people and 14 items"
    assert contents(stores) == {**after, "ada": before["ada"]}
    assert stores.undo("eve").summary == "import of 1 people and 14 items"
    assert contents(stores) == before
    assert stores.undo("ada").summary == "mine"


def test_undo_never_takes_back_an_import_of_somebody_else(stores: Stores) -> None:
    stores.import_personas([persona("eve")], encode, ENCODER)
    stores.import_personas([persona("eve", "zebra")], encode, ENCODER)
    eve, bob = contents(stores)["eve"], contents(stores)["bob"]
    stores.apply("bob", "notes", Change("bob's", remove=["bob-notes"]), WHEN)
    assert stores.undo("ada").summary == "import of 2 people and 14 items"
    assert contents(stores)["eve"] == eve
    with pytest.raises(UnknownPerson, match="persona: 'ada' is unknown"):
        stores.undo("ada")
    assert stores.undo("bob").summary == "bob's"
    assert contents(stores) == {"bob": bob, "eve": eve}


def test_nothing_of_ones_own_means_nothing_is_taken_back(stores: Stores) -> None:
    old = Stores(stores.root)  # a person of stores that were written before imports had a journal
    for path in (stores.root / "g000001").glob("*.duckdb"):
        with writing(path, path.stem) as connection:
            connection.execute("DELETE FROM changes")
    old.import_personas([persona("eve")], encode, ENCODER)
    before = contents(old)
    with pytest.raises(ValueError, match="undo: nothing to take back for 'ada'"):
        old.undo("ada")
    assert contents(old) == before


def test_changes_and_imports_of_two_people_are_undone_in_any_order_and_with_a_clock_set_back(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {"ada": [contents(stores)["ada"]], "bob": [contents(stores)["bob"]]}

    def note(person: str) -> None:
        seen[person].append(contents(stores)[person])

    clock = iter(range(1_000_000, 0, -7))  # every reading is earlier than the one before
    monkeypatch.setattr("stores.people.changes_journal.time.time_ns", lambda: next(clock))
    for number, person in enumerate(("ada", "bob", "bob", "ada", "ada", "bob")):
        if number % 2:
            known = Persona(stores.person(person), (item("notes", f"n{number}", person),))
            stores.import_personas([known], encode, ENCODER)
        else:
            app = ("mail", "calendar")[number % 4 // 2]
            put = [StoredItem(item(app, f"c{number}"), np.zeros(7, np.float32))]
            stores.apply(person, app, Change("c", put=put, remove=[f"{person}-{app}"]), WHEN)
        note(person)
    for person in ("ada", "bob", "ada", "bob", "bob", "ada"):
        other = "bob" if person == "ada" else "ada"
        others = contents(stores)[other]
        seen[person].pop()
        stores.undo(person)
        assert contents(stores)[person] == seen[person][-1]
        assert contents(stores)[other] == others


def test_an_import_in_several_batches_is_undone_as_one(stores: Stores) -> None:
    before = comparable(stores.items("ada"))
    files = stores.files
    ada = stores.person("ada")
    for number in range(3):
        with files.lease():
            mark = changes_journal.new_mark(files, f"import {number}", continues=number > 0)
            rows = [("ada", StoredItem(item("notes", f"{number}-{k}"), None)) for k in range(2)]
            rows.append(("ada", StoredItem(item("mail", "ada-mail", f"zebra {number}"), None)))
            bulk._load(files, files.current(), [ada], rows, mark)
        stores.apply("bob", "mail", Change("meanwhile", remove=["bob-mail"]), WHEN)
    assert len(stores.items("ada").items) == 13
    assert stores.undo("ada").summary == "import 2"
    found = comparable(stores.items("ada"))
    assert {one: item for one, (item, _) in found.items()} == {
        one: item for one, (item, _) in before.items()
    }


def test_what_an_undone_import_brought_is_in_no_byte(stores: Stores, root: Path) -> None:
    person = Person("ada", WHEN, Profile("Ada"), (Contact("Zaphod", "boss"),))
    stores.import_personas([Persona(person, (item("mail", "m", "quokka"),))], encode, ENCODER)
    assert found_in(root, "quokka", "Zaphod")
    stores.undo("ada")
    assert found_in(root, "quokka", "Zaphod") == []
    assert stores.person("ada").contacts == (Contact("Ben", "dispatcher"),)


def test_only_the_last_imports_are_kept_for_undo(stores: Stores) -> None:
    for number in range(KEPT_IMPORTS + 2):
        known = Persona(stores.person("ada"), (item("notes", "n", str(number)),))
        stores.import_personas([known], encode, ENCODER)
    for number in range(KEPT_IMPORTS):
        assert said(stores) == str(KEPT_IMPORTS + 1 - number)
        stores.undo("ada")
    with pytest.raises(ValueError, match="undo: nothing to take back for 'ada'"):
        stores.undo("ada")


def said(stores: Stores) -> str:
    return comparable(stores.items("ada"))["n"][0].text("title").split()[-1]


def test_undo_for_nobody_takes_back_nothing(stores: Stores) -> None:
    stores.import_personas([persona("eve")], encode, ENCODER)
    with pytest.raises(UnknownPerson, match="persona: 'nobody' is unknown"):
        stores.undo("nobody")
    assert stores.people() == ["ada", "bob", "eve"]


def test_a_change_can_be_undone_after_somebody_else_was_forgotten(stores: Stores) -> None:
    stores.apply("ada", "mail", Change("mine", remove=["ada-mail"]), WHEN)
    stores.forget("bob")
    assert stores.undo("ada").summary == "mine"
    assert "ada-mail" in comparable(stores.items("ada"))


def test_an_import_is_undone_without_the_older_files(stores: Stores, root: Path) -> None:
    before = contents(stores)
    stores.import_personas([persona("ada", "zebra")], encode, ENCODER)
    rmtree(root / "g000001")
    stores.undo("ada")
    assert contents(stores) == before


def test_an_import_killed_while_it_is_taken_back_is_there_or_gone(
    stores: Stores, root: Path, process: Callable[[Path, str], "subprocess.Popen[str]"]
) -> None:
    before = contents(stores)
    for kill in ("files.sync", "generations.write_manifest", "generations.prune"):
        stores.import_personas([persona("ada", "zebra")], encode, ENCODER)
        after = contents(stores)
        killed = process(
            root,
            f"{kill} = die\n"
            "generations.sync = die if 'sync' in "
            f"{kill!r} else generations.sync\nstores.undo('ada')",
        )
        assert killed.wait() < 0
        now = contents(Stores.open(root))
        assert now in (before, after)
        if now == after:
            stores.undo("ada")
        assert contents(stores) == before
