import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from stores.people.changes import Change, OutboxEntry
from stores.people.dataset import Persona
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person, Profile
from stores.people.learned import history_file, learned_file, turns_file
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
    assert str(eve.forget(EVE)) == "307 items, the profile and 1 contact erased"
    assert found_in(root, *SECRETS, EVE, "eve-mail") == []
    del before[EVE]
    assert contents(eve) == before
    with pytest.raises(UnknownPerson, match=f"'{EVE}' is unknown"):
        eve.forget(EVE)


def test_undo_does_not_bring_a_forgotten_person_back(eve: Stores) -> None:
    eve.forget(EVE)
    assert eve.undo("ada").summary == "hers"
    assert eve.undo("ada").summary == "import of 2 people and 14 items"
    assert eve.people() == ["bob", "flo"]


def test_forgetting_an_item_drops_its_earlier_versions_too(eve: Stores, root: Path) -> None:
    others = {name: one for name, one in contents(eve).items() if name != EVE}
    assert str(eve.forget(EVE, "eve-mail")) == "1 item erased"
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
    assert stores.forget("ada", "n").items == 1
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
    assert stores.forget("ada", "moved").items == 1
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


@pytest.mark.parametrize("damaged", ["mail", "people"])
def test_a_damaged_store_is_named_and_the_others_are_forgotten(
    stores: Stores, root: Path, damaged: str
) -> None:
    (root / "g000001" / f"{damaged}.duckdb").write_bytes(b"garbage" * 5000)
    found = stores.forget("ada")
    assert list(found.damaged) == [damaged]
    assert found.damaged[damaged].startswith("damaged")
    assert (found.items, found.profile) == (7 - (damaged == "mail"), damaged != "people")
    assert stores.items("ada").items == []
    assert len(stores.items("bob").items) == found.items


def test_a_missing_store_does_not_keep_a_person_from_being_forgotten(
    stores: Stores, root: Path
) -> None:
    (root / "g000001" / "mail.duckdb").unlink()
    assert stores.forget("bob").items == 6
    assert found_in(root, "plumber") == []
    assert stores.items("ada").unavailable == {"mail": "missing"}


def test_forgetting_keeps_items_that_share_an_id(stores: Stores) -> None:
    twin = Persona(persona("eve").person, (Item("ada-mail", "mail", item("mail", "x").fields),))
    stores.import_personas([twin], encode, ENCODER)
    stores.forget("eve", "ada-mail")
    assert "ada-mail" in comparable(stores.items("ada"))


def test_forgetting_an_imported_item_keeps_the_import_undoable_without_it(
    stores: Stores, root: Path
) -> None:
    items = tuple(item("mail", f"m{k}", f"quokka{k}") for k in range(3))
    stores.import_personas([Persona(stores.person("ada"), items)], encode, ENCODER)
    newer = tuple(item("mail", f"m{k}", f"wombat{k}") for k in range(3))
    stores.import_personas([Persona(stores.person("ada"), newer)], encode, ENCODER)
    stores.forget("ada", "m1")
    assert found_in(root, "quokka1", "wombat1") == []
    stores.undo("ada")
    found = comparable(stores.items("ada"))
    assert {one for one in found if one.startswith("m")} == {"m0", "m2"}
    assert found["m2"][0] == items[2]


def test_one_contact_is_forgotten_in_every_byte(eve: Stores, root: Path) -> None:
    person = Person(EVE, WHEN, Profile("Zaphod"), (Contact("Arthur", phone="+44"),))
    eve.import_personas([Persona(person, ())], encode, ENCODER)  # Trillian is in the journal
    assert found_in(root, "Trillian")
    person = Person(EVE, WHEN, Profile("Zaphod"), (Contact("Trillian", "wife"), *person.contacts))
    eve.import_personas([Persona(person, ())], encode, ENCODER)
    assert str(eve.forget_contact(EVE, "trillian")) == "1 contact erased"
    assert found_in(root, "Trillian") == []
    assert eve.person(EVE).contacts == (Contact("Arthur", phone="+44"),)
    eve.undo(EVE)
    assert eve.person(EVE).contacts == (Contact("Arthur", phone="+44"),)
    assert len(eve.items(EVE).items) == 307


@pytest.mark.parametrize("forget", ["item", "contact", "person"])
def test_whatever_is_forgotten_takes_what_was_said_and_taught_along(
    eve: Stores, root: Path, forget: str
) -> None:
    person = Person(EVE, WHEN, Profile("Zaphod"), (Contact("Arthur", phone="+44"),))
    eve.import_personas([Persona(person, ())], encode, ENCODER)
    item = eve.items(EVE).items[0].item.id
    files = [one(root, EVE) for one in (learned_file, history_file, turns_file)]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("call Arthur\n")
    if forget == "contact":
        eve.forget_contact(EVE, "Arthur")
    else:
        eve.forget(EVE, item if forget == "item" else None)
    assert not [file for file in files if file.exists()]


def test_two_contacts_of_one_name_are_told_by_their_numbers(stores: Stores) -> None:
    both = (Contact("Ole Lie", phone="1"), Contact("Ole Lie", email="ole@b.example"))
    stores.import_personas(
        [Persona(Person("ada", WHEN, Profile("Ada"), both), ())], encode, ENCODER
    )
    with pytest.raises(ValueError, match=r"'Ole Lie' is the name of 2 contacts; give .*: 1; ole@b"):
        stores.forget_contact("ada", "Ole Lie")
    with pytest.raises(ValueError, match="'ada' has no contact 'Ole'"):
        stores.forget_contact("ada", "Ole")
    assert stores.forget_contact("ada", "OLE@b.example").contacts == 1
    assert stores.person("ada").contacts == both[:1]


KILLS = {
    "before the copy": "generations.building = die",
    "in a store": "app_store.AppStore.forget = die",
    "between stores": "bulk.compact = die",
    "before the swap": "generations.write_manifest = die",
    "after the swap": "generations.prune = die",
    "half removed": "generations.shutil.rmtree = die",
}


@pytest.mark.parametrize("kind", KILLS)
def test_a_killed_forgetting_is_finished_by_a_second_one(
    eve: Stores, root: Path, process: Callable[..., "subprocess.Popen[str]"], kind: str
) -> None:
    others = {name: one for name, one in contents(eve).items() if name != EVE}
    prelude = "from stores.people import bulk\n"
    killed = process(root, f"{prelude}{KILLS[kind]}\nstores.forget({EVE!r})")
    assert killed.wait() < 0
    assert found_in(root, "xylophone")
    found = Stores.open(root).forget(EVE)
    assert found.items == 307 or found.leftovers
    assert found_in(root, *SECRETS, EVE) == []
    assert contents(eve) == others


@pytest.mark.parametrize("kind", ["between stores", "half removed"])
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("forget({0!r}, 'eve-notes')", ("eve-notes",)),
        ("forget_contact({0!r}, 'Trillian')", ("Trillian",)),
    ],
    ids=["item", "contact"],
)
def test_forgetting_one_thing_is_finished_by_a_second_time_too(
    eve: Stores,
    root: Path,
    process: Callable[..., "subprocess.Popen[str]"],
    kind: str,
    call: str,
    words: tuple[str, ...],
) -> None:
    said = f"stores.{call.format(EVE)}"
    prelude = "from stores.people import bulk\n"
    killed = process(root, f"{prelude}{KILLS[kind]}\n{said}")
    assert killed.wait() < 0
    assert found_in(root, *words)
    stores = Stores.open(root)
    with suppress(ValueError):  # it is gone from what is current; what is older goes with this
        eval(said)
    assert found_in(root, *words) == []
    assert len(stores.items(EVE).items) in (306, 307)
