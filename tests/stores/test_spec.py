from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from stores.people.app_spec import AppSpec, load_apps, packaged_apps
from stores.people.changes import Change
from stores.people.dataset import Persona, dump_persona, load_dataset, load_labels, write_personas
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Person
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, contents, encode, persona

PETS = """
pets:
  phrase: ["pet {name}", ", a {copy}"]
  fields:
    name: {type: string, role: title}
    copy: {type: text, role: text}
    born: {type: datetime, role: time, required: false}
    kind: {type: string, values: [cat, dog]}
    chipped: {type: boolean, required: false, default: false}
    weight_g: {type: integer}
    toys: {type: strings}
"""
REX = Item(
    "rex",
    "pets",
    {
        "name": "Rex",
        "copy": "barks at the postman",
        "born": datetime(2020, 2, 29),
        "kind": "dog",
        "chipped": False,
        "weight_g": 9000,
        "toys": ("ball", "bone"),
    },
)


def zeros(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
    return np.zeros((len(pairs), 2), np.float32)


@pytest.fixture
def eight(tmp_path: Path) -> tuple[AppSpec, ...]:
    path = tmp_path / "pets.yaml"
    path.write_text(PETS, encoding="utf-8")
    return (*packaged_apps(), *load_apps(path))


@pytest.fixture
def owner(eight: tuple[AppSpec, ...], tmp_path: Path) -> Persona:
    """Ada with a dog, through a data set folder."""
    write_personas(tmp_path, [persona("ada")])
    row = dump_persona(Persona(persona("ada").person, (*persona("ada").items, REX)), eight)
    assert "chipped" not in row["apps"]["pets"][0]  # its default
    import json

    (tmp_path / "personas.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert load_labels(tmp_path, eight) == {}
    return load_dataset(tmp_path, eight).personas[0]


def test_an_eighth_application_is_data_and_not_code(
    eight: tuple[AppSpec, ...], owner: Persona, tmp_path: Path
) -> None:
    stores = Stores(tmp_path / "stores", eight)
    stores.import_personas([owner], zeros, "zeros")
    assert [one.item for one in stores.items("ada").items if one.item.app == "pets"] == [REX]

    older = Item("rex", "pets", {**REX.fields, "weight_g": 9500, "toys": ()})
    stores.apply("ada", "pets", Change("weighed", put=[StoredItem(older)]), WHEN)
    assert stores.items("ada").items[-1].item == older
    assert stores.undo("ada").summary == "weighed"
    assert stores.items("ada").items[-1].item == REX


def test_an_eighth_application_joins_stores_that_had_seven(
    eight: tuple[AppSpec, ...], owner: Persona, root: Path
) -> None:
    stores = Stores.open(root, eight)
    assert stores.items("ada").unavailable == {}
    report = stores.import_personas([owner], encode, ENCODER)
    assert (report.people, report.added, report.changed, report.unchanged) == (0, 1, 0, 7)
    assert stores.items("ada").items[-1].item == REX


def test_an_import_brings_its_eighth_application_along(
    eight: tuple[AppSpec, ...], owner: Persona, root: Path
) -> None:
    stores = Stores(root, eight)
    assert stores.import_personas([owner], encode, ENCODER).added == 1
    assert stores.items("ada").items[-1].item == REX
    assert stores.undo("ada").summary.startswith("import of")
    assert stores.items("ada").unavailable == {}
    assert len(stores.items("ada").items) == 7


@pytest.mark.parametrize("point", ["write_apps", "generations.prune"])
def test_an_eighth_application_is_known_after_an_import_however_it_ended(
    eight: tuple[AppSpec, ...],
    owner: Persona,
    root: Path,
    point: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    before = contents(Stores.open(root))
    with monkeypatch.context() as patch:
        patch.setattr(f"stores.people.bulk.{point}", full)
        with pytest.raises(OSError, match="no space left"):
            Stores(root, eight).import_personas([owner], encode, ENCODER)
    if point == "write_apps":
        assert contents(Stores.open(root)) == before
    else:  # the swap was made
        assert Stores.open(root).items("ada").items[-1].item == REX


def test_a_process_that_knows_seven_applications_forgets_in_the_eighth_too(
    eight: tuple[AppSpec, ...], owner: Persona, root: Path
) -> None:
    Stores(root, eight).import_personas([owner], encode, ENCODER)
    assert Stores(root).forget("ada").items == 8
    assert b"postman" not in b"".join(path.read_bytes() for path in root.rglob("*.duckdb"))


GOOD = "{type: string, role: title}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pets: [", r"not YAML: .*line 2"),
        ("- pets", r"must be a mapping of applications"),
        ("", r"must be a mapping of applications"),
        ("Pets: {fields: {}}", r"'Pets' is not usable as an application name"),
        ("people: {fields: {}}", r"'people' is not usable as an application name"),
        ("on: {fields: {}}", r"True is not usable as an application name"),
        ("pets: 7", r"pets: .*valid dictionary"),
        ("pets: {}", r"pets: fields: Field required"),
        ("pets: {fields: {}}", r"pets: fields: an application needs at least one"),
        ("pets: {colour: red, fields: {name: %s}}", r"pets: colour: Extra inputs"),
        ("pets: {fields: {name: {type: colour}}}", r"pets: fields: name: type: .*'string'"),
        ("pets: {fields: {name: {role: title}}}", r"pets: fields: name: type: Field required"),
        ("pets: {fields: {name: {type: text, role: x}}}", r"pets: fields: name: role: "),
        (
            "pets: {fields: {name: {type: text, values: [a]}}}",
            r"pets: fields: name: values are for fields of type string, this one is text",
        ),
        (
            "pets: {fields: {name: {type: boolean, default: false}}}",
            r"pets: fields: name: a default is for fields with `required: false`",
        ),
        (
            "pets: {fields: {name: {type: integer, required: false, default: true}}}",
            r"pets: fields: name: default True is no integer",
        ),
        (
            "pets: {fields: {k: {type: string, values: [a], required: false, default: b}}}",
            r"pets: fields: k: default 'b' is not among the values",
        ),
        ("pets: {fields: {usage: %s}}", r"pets: fields: 'usage' is not usable as a field name"),
        ("pets: {fields: {vector: %s}}", r"pets: fields: 'vector' is not usable"),
        ("pets: {fields: {_name: %s}}", r"pets: fields: '_name' is not usable"),
        ("pets: {fields: {'a\"b': %s}}", r"pets: fields: 'a\"b' is not usable"),
        (
            "pets: {fields: {a: {type: datetime, role: time}, b: {type: datetime, role: time}}}",
            r"pets: fields: at most one may have the role time, not a, b",
        ),
        ("pets: {phrase: ['{colour}'], fields: {name: %s}}", r"pets: phrase: '\{colour\}' must"),
        ("pets: {phrase: ['pet'], fields: {name: %s}}", r"pets: phrase: 'pet' must name exactly"),
        ("pets: {phrase: ['{name'], fields: {name: %s}}", r"pets: .*"),
    ],
)
def test_a_bad_spec_is_named_by_application_field_and_rule(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text.replace("%s", GOOD), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"bad\.yaml: {message}") as caught:
        load_apps(path)
    assert "\n" not in str(caught.value)
