import shutil
from pathlib import Path

import pytest

from stores.database import StoreUnavailable
from stores.people.changes import Change, OutboxEntry
from stores.people.dataset import Persona
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person, Profile
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, comparable, contents, encode, item, persona


def found_in(root: Path, *words: str) -> list[str]:
    """Files under `root` that hold one of the words in any byte."""
    return [
        f"{path.relative_to(root)}: {word}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
        for word in words
        if word.encode() in path.read_bytes()
    ]


EVE = "eve-of-rivendell"
"""Long enough not to come about by chance in bytes that say nothing."""
SECRETS = ("xylophone", "quokka", "wombat", "Zaphod", "fjord", "Trillian")


@pytest.fixture
def eve(stores: Stores) -> Stores:
    """Stores with Eve, whose words are spread over items, versions, outbox, state, generations."""
    items = [item(app.name, f"eve-{app.name}", "xylophone" * 3) for app in stores.apps]
    items += [item("mail", f"eve-{number}", "xylophone " * 50) for number in range(300)]
    person = Person(EVE, WHEN, Profile("Zaphod"), (Contact("Trillian", "wife"),))
    stores.import_personas([Persona(person, tuple(items))], encode, ENCODER)
    stores.import_personas([persona("flo")], encode, ENCODER)
    change = Change(
        "wrote about the fjord",
        put=[StoredItem(item("mail", "eve-mail", "quokka" * 3))],
        outbox=[OutboxEntry("mail", "Ben", {"text": "wombat"}, "eve-mail")],
        state={"draft": "wombat"},
    )
    stores.apply(EVE, "mail", change, WHEN)
    stores.apply("ada", "mail", Change("hers", remove=["ada-mail"]), WHEN)
    return stores


def test_nothing_of_a_forgotten_person_is_left_in_any_byte(eve: Stores, root: Path) -> None:
    # A crashed import and an interrupted rewrite have left copies.
    shutil.copytree(root / "g000003", root / "g000004")
    shutil.copy(root / "g000003" / "mail.duckdb", root / "g000003" / "mail.duckdb.fresh")
    for secret in (*SECRETS, EVE, "eve-mail"):
        assert found_in(root, secret)
    before = contents(eve)
    assert eve.forget(EVE) == 307
    assert found_in(root, *SECRETS, EVE, "eve-mail") == []
    del before[EVE]
    assert contents(eve) == before
    with pytest.raises(UnknownPerson, match=f"'{EVE}' is unknown"):
        eve.forget(EVE)


def test_undo_does_not_bring_a_forgotten_person_back(eve: Stores) -> None:
    eve.forget(EVE)
    assert eve.undo("ada").summary == "hers"
    with pytest.raises(ValueError, match="undo: nothing to take back"):
        eve.undo("ada")
    assert EVE not in eve.people()


def test_forgetting_an_item_drops_its_earlier_versions_too(eve: Stores, root: Path) -> None:
    others = {name: one for name, one in contents(eve).items() if name != EVE}
    assert eve.forget(EVE, "eve-mail") == 1
    assert "eve-mail" not in comparable(eve.items(EVE))
    assert len(eve.items(EVE).items) == 306
    assert found_in(root, "quokka") == []
    assert eve.outbox(EVE) == []
    assert {name: one for name, one in contents(eve).items() if name != EVE} == others


def test_a_deleted_item_can_still_be_forgotten(stores: Stores, root: Path) -> None:
    stores.apply(
        "ada", "notes", Change("new", put=[StoredItem(item("notes", "n", "quokka"))]), WHEN
    )
    stores.apply("ada", "notes", Change("deleted", remove=["n"]), WHEN)
    assert stores.forget("ada", "n") == 1
    assert found_in(root, "quokka") == []


def test_what_an_item_left_in_its_former_application_is_forgotten_with_it(
    stores: Stores, root: Path
) -> None:
    sent = OutboxEntry("mail", "Ben", {"text": "wombat"}, "moved")
    stores.import_personas(
        [Persona(stores.person("ada"), (item("mail", "moved", "quokka"),))], encode, ENCODER
    )
    stores.apply("ada", "mail", Change("sent the wombat", outbox=[sent]), WHEN)
    stores.import_personas(
        [Persona(stores.person("ada"), (item("notes", "moved", "quokka"),))], encode, ENCODER
    )
    assert stores.forget("ada", "moved") == 1
    assert found_in(root, "quokka", "wombat") == []
    assert stores.outbox("ada") == []


def test_forgetting_what_is_not_there_changes_nothing(stores: Stores, root: Path) -> None:
    before = stores.signature()
    with pytest.raises(ValueError, match="item: 'ada' has no item 'bob-mail'"):
        stores.forget("ada", "bob-mail")
    with pytest.raises(UnknownPerson, match="'nobody' is unknown"):
        stores.forget("nobody")
    assert stores.signature() == before
    assert found_in(root, "plumber")


def test_a_damaged_store_is_not_taken_for_forgotten(stores: Stores, root: Path) -> None:
    (root / "g000001" / "mail.duckdb").write_bytes(b"dentist" * 5000)
    with pytest.raises(StoreUnavailable, match="the mail store is damaged"):
        stores.forget("ada")
    assert "ada" in stores.people()


def test_a_missing_store_does_not_keep_a_person_from_being_forgotten(
    stores: Stores, root: Path
) -> None:
    (root / "g000001" / "mail.duckdb").unlink()
    assert stores.forget("bob") == 6
    assert found_in(root, "plumber") == []
    assert stores.items("ada").unavailable == {"mail": "missing"}


def test_forgetting_keeps_items_that_share_an_id(stores: Stores) -> None:
    twin = Persona(persona("eve").person, (Item("ada-mail", "mail", item("mail", "x").fields),))
    stores.import_personas([twin], encode, ENCODER)
    stores.forget("eve", "ada-mail")
    assert "ada-mail" in comparable(stores.items("ada"))
