import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.app_store import AppStore
from stores.dataset import Persona
from stores.federation import Stores
from stores.item_rows import ItemTable
from stores.items import Item, Person, Profile
from stores.spec import packaged_apps
from tests.stores.conftest import ENCODER, WHEN, comparable, encode, item

# What these read or write is not one person's items: files, schema, who there is, an import.
WITHOUT_A_PERSON = {
    AppStore: {"create", "pending", "signature", "content_hashes", "load", "changed_since"},
    ItemTable: {"app", "columns", "insert"},
    Stores: {"open", "exists", "encoder", "people", "signature", "import_personas"},
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
