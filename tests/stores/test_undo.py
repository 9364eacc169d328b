from datetime import datetime
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.people.app_spec import packaged_apps
from stores.people.changes import Change, OutboxEntry
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Usage
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, comparable, contents, encode, fields, persona

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
    with pytest.raises(ValueError, match="undo: nothing to take back for 'ada'"):
        stores.undo("ada")
    rmtree(root)


def test_undo_takes_back_the_persons_own_last_change_only(stores: Stores) -> None:
    stores.apply("ada", "mail", Change("first", remove=["ada-mail"]), WHEN)
    stores.apply("ada", "notes", Change("second", remove=["ada-notes"]), WHEN)
    stores.apply("bob", "mail", Change("bob's", remove=["bob-mail"]), WHEN)
    assert stores.undo("ada").summary == "second"
    assert stores.undo("ada").summary == "first"
    assert len(stores.items("ada").items) == 7
    assert len(stores.items("bob").items) == 6


def test_undo_of_an_import_swaps_back(stores: Stores) -> None:
    stores.apply("ada", "mail", Change("mine", remove=["ada-mail"]), WHEN)
    before = contents(stores)
    stores.import_personas([persona("ada", "zebra"), persona("eve")], encode, ENCODER)
    assert stores.undo("ada").summary == "import of 1 people and 14 items"
    assert contents(stores) == before
    assert stores.undo("ada").summary == "mine"
    with pytest.raises(ValueError, match="undo: nothing to take back for 'ada'"):
        stores.undo("ada")


def test_undo_of_an_import_waits_for_changes_that_came_after_it(stores: Stores) -> None:
    stores.import_personas([persona("eve")], encode, ENCODER)
    stores.apply("bob", "notes", Change("bob's", remove=["bob-notes"]), WHEN)
    after = contents(stores)
    with pytest.raises(ValueError, match="undo: 'bob' changed something after the import"):
        stores.undo("ada")
    assert contents(stores) == after
    assert stores.undo("bob").summary == "bob's"
    assert stores.undo("ada").summary == "import of 1 people and 7 items"
    assert stores.people() == ["ada", "bob"]


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


def test_an_import_whose_older_files_are_gone_cannot_be_taken_back(
    stores: Stores, root: Path
) -> None:
    stores.import_personas([persona("eve")], encode, ENCODER)
    rmtree(root / "g000001")
    after = contents(stores)
    with pytest.raises(ValueError, match=r"undo: the files from before the import .* are gone"):
        stores.undo("ada")
    assert contents(stores) == after
