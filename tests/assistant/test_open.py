"""Opening: a data set is imported once per content, and is itself left alone."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant import open
from ctrag.assistant.open import open_stores
from stores.people.changes import Change
from stores.people.dataset import Persona, write_personas
from stores.people.items import Item, Person, Profile
from stores.people.stores import Stores


class Letters:
    """A toy encoder that counts how often it is asked."""

    def __init__(self, name: str = "letters") -> None:
        self.name = name
        self.calls = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return np.array([[text.count(sign) for sign in "aeiou"] for text in texts], np.float32)


def persona(person_id: str) -> Persona:
    at = datetime(2025, 4, 17, 12, 0)
    fields = {"title": f"note of {person_id}", "body": "x", "folder": "y", "modified_at": at}
    return Persona(
        Person(person_id, at, Profile(person_id.title())),
        (Item(f"{person_id}-n1", "notes", fields),),
    )


@pytest.fixture
def people(tmp_path: Path) -> Path:
    folder = tmp_path / "people"
    folder.mkdir()
    write_personas(folder, [persona("ada"), persona("ben")])
    return folder


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def titles(stores: Stores, person: str) -> list[str]:
    return [stored.item.text("title") for stored in stores.items(person).items]


def test_a_person_of_a_data_set_is_imported_once(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Letters()
    first = open_stores(people, "ada", encoder)
    assert first.frozen_clock
    assert titles(first.stores, "ada") == ["note of ada"]
    assert first.stores.people() == ["ada"], "nobody else is imported"
    calls, seen = encoder.calls, first.stores.signature()

    def fail(*arguments: Any) -> None:
        raise AssertionError("the data set was read again")

    monkeypatch.setattr(open, "load_dataset", fail)
    again = open_stores(people, "ada", encoder)
    assert (again.stores.root, again.stores.signature()) == (first.stores.root, seen)
    assert encoder.calls == calls


def test_two_people_of_one_data_set_share_stores(people: Path) -> None:
    ada, ben = (open_stores(people, one, Letters()).stores for one in ("ada", "ben"))
    assert ada.root == ben.root
    assert set(ben.people()) == {"ada", "ben"}
    assert titles(ben, "ada") == ["note of ada"]


def test_the_data_set_folder_is_left_as_it_is_even_when_something_changes(people: Path) -> None:
    before = digest(people)
    stores = open_stores(people, "ada", Letters()).stores
    stores.apply("ada", "notes", Change("drop", remove=["ada-n1"]), datetime(2025, 4, 17))
    assert digest(people) == before
    assert titles(open_stores(people, "ada", Letters()).stores, "ada") == [], "changes are kept"


def test_other_content_has_other_stores(people: Path) -> None:
    before = open_stores(people, "ada", Letters()).stores
    path = people / "personas.jsonl"
    path.write_text(path.read_text().replace("note of ada", "changed"))
    after = open_stores(people, "ada", Letters()).stores
    assert after.root != before.root
    assert titles(after, "ada") == ["changed"]
    assert titles(before, "ada") == ["note of ada"]


def test_another_encoder_has_other_stores(people: Path) -> None:
    one, other = (open_stores(people, "ada", Letters(name)).stores for name in "ab")
    assert one.root != other.root
    assert (one.encoder, other.encoder) == ("a", "b")


def test_the_stores_of_a_data_set_are_in_the_cache(people: Path, tmp_path: Path) -> None:
    assert open_stores(people, "ada", Letters()).stores.root.is_relative_to(tmp_path / "cache")


def test_a_stores_folder_is_opened_in_place_and_its_clock_runs(tmp_path: Path) -> None:
    root = tmp_path / "stores"
    Stores(root).import_personas(
        [persona("ada")], lambda owned: np.zeros((len(owned), 3), np.float32), "letters"
    )
    opened = open_stores(root, "ada", Letters())
    assert (opened.stores.root, opened.frozen_clock) == (root, False)


def test_somebody_unknown_is_named_with_those_who_are_known(people: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="persona: 'eve' is unknown; known: ada, ben"):
        open_stores(people, "eve", Letters())
    assert not list((tmp_path / "cache").rglob("*.duckdb"))


@pytest.mark.parametrize("name", ["missing", "empty", "people/personas.jsonl"])
def test_what_is_no_folder_of_people_is_named(people: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="neither a data set folder nor a stores folder"):
        open_stores(tmp_path / name, "ada", Letters())


def test_a_broken_line_loads_nothing(people: Path, tmp_path: Path) -> None:
    path = people / "personas.jsonl"
    broken = json.loads(path.read_text().splitlines()[1])
    del broken["profile"]["name"]
    path.write_text(path.read_text().splitlines()[0] + "\n" + json.dumps(broken) + "\n")
    with pytest.raises(ValueError, match=r"personas\.jsonl:2: profile\.name: "):
        open_stores(people, "ada", Letters())
    assert not list((tmp_path / "cache").rglob("*.duckdb"))
