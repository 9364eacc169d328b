import dataclasses
import json
import typing
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.people.app_spec import packaged_apps
from stores.people.dataset import (
    Dataset,
    DatasetRequest,
    Persona,
    dump_persona,
    fingerprints,
    load_dataset,
    load_labels,
    write_personas,
)
from stores.people.items import Contact, Item, Labels, Person, Profile, Request, Usage
from tests.stores.conftest import persona

Edit = Callable[[dict[str, Any]], object]
LABELS = {"kind", "chain_of_thought", "relevant", "tools", "plan", "also"}


def query(**more: Any) -> dict[str, Any]:
    return {
        "query_id": "q1",
        "persona_id": "ada",
        "text": "play that again",
        "asked_at": "2025-04-18T09:00",
        "place": None,
        "playing": None,
        **more,
    }


def write(folder: Path, people: list[Any], queries: list[Any]) -> Path:
    for name, rows in (("personas.jsonl", people), ("queries.jsonl", queries)):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def people() -> list[Any]:
    return [dump_persona(persona("ada")), dump_persona(persona("bob", "plumber"))]


def mail(row: dict[str, Any]) -> dict[str, Any]:
    return typing.cast(dict[str, Any], row["apps"]["mail"][0])


BAD_PERSONAS: dict[str, tuple[Edit, str]] = {
    "missing field": (lambda row: row.pop("now"), r"now: Field required"),
    "wrong type": (lambda row: row.update(apps=[]), r"apps: .* dictionary, not \[\]"),
    "empty id": (lambda row: row.update(persona_id=""), r"persona_id: .* at least 1 character"),
    "bad time": (lambda row: row.update(now="17.4.2025"), r"now: must be a local ISO 8601 time"),
    "time zone": (lambda row: row.update(now="2025-04-17T12:59Z"), r"now: .* without a time zone"),
    "hour 24": (lambda row: row.update(now="2025-04-17T24:00"), r"now: must be a local ISO"),
    "hour 25": (lambda row: row.update(now="2025-04-17T25:00"), r"now: must be a local ISO"),
    "no date at all": (lambda row: row.update(now=17), r"now: must be a local ISO"),
    "contact without a name": (
        lambda row: row["contacts"].append({"relation": "wife"}),
        r"contacts\.1\.name: Field required",
    ),
    "unknown application": (
        lambda row: row["apps"].update(pets=[]),
        r"apps\.pets: unknown application; known: mail, calendar",
    ),
    "item lacks a field": (
        lambda row: mail(row).pop("subject"),
        r"apps\.mail\.0: subject: Field required",
    ),
    "item has an unknown field": (
        lambda row: mail(row).update(colour="red"),
        r"apps\.mail\.0: colour: unknown field",
    ),
    "text for a boolean": (
        lambda row: mail(row).update(unread="yes"),
        r"apps\.mail\.0: unread: .* boolean, not 'yes'",
    ),
    "time of an item": (
        lambda row: mail(row).update(received_at="2025-13-01T00:00"),
        r"apps\.mail\.0: received_at: must be a local ISO",
    ),
    "text for a list": (
        lambda row: row["apps"]["calendar"][0].update(attendees="Ben"),
        r"apps\.calendar\.0: attendees: .* list",
    ),
    "value outside the set": (
        lambda row: row["apps"]["phonecall"][0].update(direction="sideways"),
        r"apps\.phonecall\.0: direction: .*'incoming'.*not 'sideways'",
    ),
    "number that no column holds": (
        lambda row: row["apps"]["phonecall"][0].update(duration_s=2**63),
        r"apps\.phonecall\.0: duration_s: .*less than or equal",
    ),
    "usual hour 24": (
        lambda row: mail(row)["usage"].update(usual_hours=[24]),
        r"apps\.mail\.0: usage\.usual_hours\.0: .*less than or equal to 23, not 24",
    ),
    "negative opens": (
        lambda row: mail(row)["usage"].update(opens_30d=-1),
        r"apps\.mail\.0: usage\.opens_30d: .*greater than or equal to 0",
    ),
    "unknown usage": (
        lambda row: mail(row)["usage"].update(shouted=1),
        r"apps\.mail\.0: usage\.shouted: unknown field",
    ),
    "item twice in one person": (
        lambda row: row["apps"]["mail"].append(dict(mail(row))),
        r"id: item 'bob-mail' appears twice",
    ),
    "item id of somebody else": (
        lambda row: mail(row).update(id="ada-mail"),
        r"id: item 'ada-mail' appears twice",
    ),
    "person twice": (
        lambda row: row.update(persona_id="ada"),
        r"persona_id: 'ada' appears twice",
    ),
    "half a surrogate pair": (
        lambda row: mail(row).update(subject="\ud800"),
        r"apps\.mail\.0\.subject: holds half of a surrogate pair",
    ),
}


@pytest.mark.parametrize("case", BAD_PERSONAS)
def test_a_bad_persona_is_named_by_line_field_and_rule(tmp_path: Path, case: str) -> None:
    edit, message = BAD_PERSONAS[case]
    rows = people()
    edit(rows[1])
    with pytest.raises(ValueError, match=rf"^personas\.jsonl:2: {message}") as caught:
        load_dataset(write(tmp_path, rows, []))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", r"not JSON: .* at column 2"),
        ('["ada"]', r"must be a JSON object, not list"),
        ("null", r"must be a JSON object, not NoneType"),
        ('{"persona_id": "x", "persona_id": "y"}', r"persona_id: appears twice in one object"),
        ("1" * 5000, r"not JSON"),
        ("[" * 100_000, r"not JSON"),
    ],
    ids=["broken", "list", "null", "field twice", "giant number", "too deep"],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^personas\.jsonl:2: {message}"):
        load_dataset(write(tmp_path, [people()[0], line], []))


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "personas.jsonl").write_bytes(b'\n{"persona_id": "\xff"}\n')
    with pytest.raises(ValueError, match=r"^personas\.jsonl:2: not UTF-8 at byte 17"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": ""}, r"text: .*at least 1 character"),
        ({"text": 7}, r"text: .*valid string, not 7"),
        ({"asked_at": "2025-04-18T24:00"}, r"asked_at: must be a local ISO"),
        ({"persona_id": "eve"}, r"persona_id: 'eve' is not in personas\.jsonl"),
        ({"playing": "bob-music"}, r"playing: 'bob-music' is no item of that person"),
        ({"playing": "nothing"}, r"playing: 'nothing' is no item of that person"),
        ({"query_id": "q0"}, r"query_id: 'q0' appears twice"),
    ],
)
def test_a_bad_request_is_named_by_line_field_and_rule(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    folder = write(tmp_path, people(), [query(query_id="q0"), query(**row)])
    with pytest.raises(ValueError, match=rf"^queries\.jsonl:2: {message}"):
        load_dataset(folder)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"relevant": ["bob-mail"]}, r"relevant: 'bob-mail' is no item of that person"),
        ({"kind": "odd"}, r"kind: .*'now'.*not 'odd'"),
        ({"tools": "play"}, r"tools: .*list, not 'play'"),
        ({"plan": {"arguments": {}}}, r"plan\.api: Field required"),
        ({"plan": {"api": "play", "arguments": {"a": 1.5}}}, r"plan\.arguments\.a"),
        ({"also": [{"api": ""}]}, r"also\.0\.api: .*at least 1 character"),
    ],
)
def test_a_bad_label_is_named_and_does_not_stop_those_who_see_no_labels(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    folder = write(tmp_path, people(), [query(query_id="q0"), query(**row)])
    with pytest.raises(ValueError, match=rf"^queries\.jsonl:2: {message}"):
        load_labels(folder)
    assert len(load_dataset(folder).requests) == 2


def test_labels_may_be_absent_or_null(tmp_path: Path) -> None:
    rows = [query(query_id="absent"), query(query_id="null", **dict.fromkeys(LABELS))]
    assert load_labels(write(tmp_path, people(), rows)) == {"absent": Labels(), "null": Labels()}


def test_labels_are_read_as_written(tmp_path: Path) -> None:
    plan = {"api": "play", "arguments": {"song": "x", "times": 2, "to": ["a"]}}
    row = query(kind="habit", relevant=["ada-music"], tools=[], plan=plan, also=[plan])
    labels = load_labels(write(tmp_path, people(), [row]))["q1"]
    assert (labels.kind, labels.relevant, labels.tools) == ("habit", ("ada-music",), ())
    assert labels.plan == labels.also[0]
    assert labels.plan is not None
    assert labels.plan.arguments == plan["arguments"]


def reachable(kind: Any, seen: set[Any]) -> set[Any]:
    """All dataclasses that a value of `kind` may hold."""
    for part in typing.get_args(kind):
        reachable(part, seen)
    if dataclasses.is_dataclass(kind) and kind not in seen:
        seen.add(kind)
        for hint in typing.get_type_hints(kind).values():
            reachable(hint, seen)
    return seen


def test_no_label_can_be_reached_from_what_load_dataset_returns() -> None:
    kinds = reachable(typing.get_type_hints(load_dataset)["return"], set())
    assert {Dataset, DatasetRequest, Request, Persona, Item} <= kinds
    assert Labels not in kinds
    assert not {field.name for kind in kinds for field in dataclasses.fields(kind)} & LABELS
    # The labels' names, from the type that holds them.
    assert {field.name for field in dataclasses.fields(Labels)} == LABELS


def test_written_labels_do_not_show_in_a_loaded_data_set(tmp_path: Path) -> None:
    row = query(chain_of_thought="SECRET", kind="habit", relevant=["ada-mail"])
    assert "SECRET" not in repr(load_dataset(write(tmp_path, people(), [row])))


def test_a_data_set_without_requests_is_fine(tmp_path: Path) -> None:
    write(tmp_path, people(), [])
    (tmp_path / "queries.jsonl").unlink()
    assert load_dataset(tmp_path).requests == ()


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
times = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


@st.composite
def personas(draw: st.DrawFn) -> Persona:
    items = []
    for spec in packaged_apps():
        for number in range(draw(st.integers(0, 2))):
            values = {}
            for one in spec.fields:
                kinds: dict[str, st.SearchStrategy[Any]] = {
                    "string": st.sampled_from(one.values) if one.values else words,
                    "text": words,
                    "datetime": times,
                    "boolean": st.booleans(),
                    "integer": st.integers(-(2**63), 2**63 - 1),
                    "strings": st.lists(words, max_size=2).map(tuple),
                }
                kind = kinds[one.type]
                values[one.name] = draw(kind if one.required else st.none() | kind)
            usage = Usage(
                draw(st.integers(0, 2**63 - 1)),
                draw(st.none() | times),
                tuple(draw(st.lists(st.integers(0, 23), max_size=3))),
                draw(st.none() | words),
            )
            items.append(Item(f"{spec.name}{number}", spec.name, values, usage))
    contact = Contact(draw(names), draw(words), draw(st.none() | words))
    profile = Profile(draw(names), draw(st.none() | st.integers(0, 99)), hobbies=(draw(words),))
    return Persona(Person(draw(names), draw(times), profile, (contact,)), tuple(items))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(one=personas())
def test_what_is_written_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, one: Persona
) -> None:
    folder = tmp_path_factory.mktemp("data")
    write_personas(folder, [one])
    assert load_dataset(folder) == Dataset(folder, (one,), ())


def test_people_of_a_copied_folder_are_the_same_people(tmp_path: Path) -> None:
    for name in ("train", "copy"):
        (tmp_path / name).mkdir()
    known = fingerprints(write(tmp_path / "train", people(), [query()]))
    turned = [dict(reversed(one.items())) | {"note": None} for one in people()]
    assert fingerprints(write(tmp_path / "copy", turned, [query()])) == known
    assert list(known) == [query()["persona_id"]]  # nobody else asks anything


def test_two_people_of_one_id_and_other_content_are_two(tmp_path: Path) -> None:
    for name in ("train", "other"):
        (tmp_path / name).mkdir()
    known = fingerprints(write(tmp_path / "train", people(), [query()]))
    changed = people()
    changed[0]["profile"]["age"] = 99
    other = fingerprints(write(tmp_path / "other", changed, [query()]))
    assert known.keys() == other.keys()
    assert not set(known.values()) & set(other.values())


def test_a_folder_of_tools_has_no_people(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text("[]", encoding="utf-8")
    assert fingerprints(tmp_path) == {}


def test_a_mail_without_recipients_is_written_as_before_and_one_with_them_is_read_back(
    tmp_path: Path,
) -> None:
    alone = persona("ada", apps=["mail"])
    [mail] = alone.items
    none = dataclasses.replace(mail, id="none", fields={**mail.fields, "recipients": None})
    nobody = dataclasses.replace(mail, id="nobody", fields={**mail.fields, "recipients": ()})
    written = dataclasses.replace(alone, items=(mail, none, nobody))
    write_personas(tmp_path, [written])
    lines = json.loads((tmp_path / "personas.jsonl").read_text())["apps"]["mail"]
    assert [one.get("recipients", "left out") for one in lines] == [
        ["Ben", "dentist"],
        "left out",
        [],
    ]
    assert load_dataset(tmp_path).personas == (written,)
