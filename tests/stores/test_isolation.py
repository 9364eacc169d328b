import inspect
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.people.app_spec import packaged_apps
from stores.people.app_store import AppStore
from stores.people.changes import Change
from stores.people.dataset import Persona
from stores.people.item_rows import ItemTable, StoredItem
from stores.people.items import Item, Person, Profile
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, comparable, encode, item

# What these read or write is not one person's items: files, schema, who there is, an import.
WITHOUT_A_PERSON = {
    AppStore: {
        "create",
        "pending",
        "signature",
        "content_hashes",
        "load",
        "newest_change",
        "check",
    },
    ItemTable: {"app", "columns", "insert"},
    Stores: {
        "files",
        "open",
        "exists",
        "encoder",
        "people",
        "signature",
        "import_personas",
        "compare",
    },
}

owned = st.dictionaries(
    st.sampled_from(["ada", "bob", "a'; DROP TABLE items; --", "ÄDA", "%", "_"]),
    st.dictionaries(
        st.sampled_from(["1", "2", "3", "%", ""]),
        st.tuples(st.sampled_from(["mail", "notes", "music"]), st.text(max_size=5)),
        max_size=4,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=6, deadline=None)
@given(people=owned)
def test_items_are_exactly_those_of_the_person_even_when_ids_collide(
    tmp_path_factory: pytest.TempPathFactory, people: dict[str, dict[str, tuple[str, str]]]
) -> None:
    apps = [app for app in packaged_apps() if app.name in {"mail", "notes", "music"}]
    stores = Stores(tmp_path_factory.mktemp("root") / "stores", apps)
    things: dict[str, list[Item]] = {
        person: [item(app, name, words) for name, (app, words) in own.items()]
        for person, own in people.items()
    }
    stores.import_personas(
        [Persona(Person(person, WHEN, Profile("x")), tuple(own)) for person, own in things.items()],
        encode,
        ENCODER,
    )
    for person, own in things.items():
        found = comparable(stores.items(person))
        assert {name: one for name, (one, _) in found.items()} == {one.id: one for one in own}
    assert stores.items("nobody").items == []


def test_changes_and_undo_touch_nobody_elses_item_of_the_same_id(tmp_path: Path) -> None:
    apps = [app for app in packaged_apps() if app.name == "mail"]
    stores = Stores(tmp_path / "stores", apps)
    people = [
        Persona(Person(name, WHEN, Profile(name)), (item("mail", "1", name), item("mail", "2")))
        for name in ("ada", "bob")
    ]
    stores.import_personas(people, encode, ENCODER)
    bobs = comparable(stores.items("bob"))
    adas = comparable(stores.items("ada"))
    for change in (
        Change("removed", remove=["1"]),
        Change("replaced", put=[StoredItem(item("mail", "1", "zebra"))]),
        Change("both", put=[StoredItem(item("mail", "2", "zebra"))], remove=["1"]),
    ):
        stores.apply("ada", "mail", change, WHEN)
        assert comparable(stores.items("ada")) != adas
        assert comparable(stores.items("bob")) == bobs
        assert stores.undo("ada").summary == change.summary
        assert comparable(stores.items("ada")) == adas
        assert comparable(stores.items("bob")) == bobs


def test_undo_brings_back_the_persons_own_state_after_anothers_change_of_the_same_item(
    tmp_path: Path,
) -> None:
    apps = [app for app in packaged_apps() if app.name == "mail"]
    stores = Stores(tmp_path / "stores", apps)
    people = [
        Persona(Person(name, WHEN, Profile(name)), (item("mail", "1", name),))
        for name in ("ada", "bob")
    ]
    stores.import_personas(people, encode, ENCODER)
    adas = comparable(stores.items("ada"))
    stores.apply("ada", "mail", Change("ada's", remove=["1"]), WHEN)
    stores.apply("bob", "mail", Change("bob's", put=[StoredItem(item("mail", "1", "new"))]), WHEN)
    changed = comparable(stores.items("bob"))
    assert stores.undo("ada").summary == "ada's"
    assert comparable(stores.items("ada")) == adas
    assert comparable(stores.items("bob")) == changed


@pytest.mark.parametrize("kind", [AppStore, ItemTable, Stores])
def test_every_method_that_reads_or_writes_items_names_the_person(kind: type) -> None:
    public = {name: one for name, one in vars(kind).items() if not name.startswith("_")}
    without = {
        name
        for name, one in public.items()
        if not inspect.isfunction(one) or "person_id" not in inspect.signature(one).parameters
    }
    assert without == WITHOUT_A_PERSON[kind]
    for name in public.keys() - without:
        parameter = inspect.signature(public[name]).parameters["person_id"]
        assert parameter.default is inspect.Parameter.empty, name
