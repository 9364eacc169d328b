"""Claims about people made without a model: new, consistent, with requests about their items."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

import stores.people.app_spec
from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, load_apps, packaged_apps, register_apps
from stores.people.dataset import Dataset, dump_persona, load_dataset, load_labels
from stores.people.items import Labels
from synth.checks import normal_text, request_faults
from synth.dataset import make_dataset, make_personas, make_queries
from synth.offline import OfflineProvider
from synth.offline.composer import Composer
from synth.offline.life import indirect
from synth.offline.situations import composed
from synth.provider import LabelledRequest
from synth.reference import split_folder
from synth.shape import PAPER_ITEMS, item_counts, person_seed
from synth.toolbox import offline_toolbox

PEOPLE = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    make_dataset(OfflineProvider(), folder, PEOPLE, seed=4, workers=1)
    return folder


@pytest.fixture(scope="module")
def parts(made: Path) -> list[tuple[Dataset, dict[str, Labels]]]:
    return [(load_dataset(made / one), load_labels(made / one)) for one in ("train", "test")]


def test_every_request_passes_every_check(parts: list[tuple[Dataset, dict[str, Labels]]]) -> None:
    for dataset, labels in parts:
        for one in dataset.requests:
            persona = dataset.persona(one.person_id)
            labelled = LabelledRequest(one.request, labels[one.query_id])
            assert request_faults(persona, labelled, Toolbox.packaged()) == []


def test_item_counts_are_close_to_table_4(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    counted = Counter(
        item.app for dataset, _ in parts for one in dataset.personas for item in one.items
    )
    for app, mean in PAPER_ITEMS.items():
        assert counted[app] / PEOPLE == pytest.approx(mean, rel=0.12), app


def test_past_events_precede_now_and_requests_follow_within_three_days(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    past = {"mail": "received_at", "google": "searched_at", "phonecall": "called_at"}
    late = total = 0
    for dataset, _ in parts:
        for persona in dataset.personas:
            now = persona.person.now
            for item in persona.items:
                opened = item.usage.last_opened
                late += opened is not None and opened > now
                if item.app in past:
                    moment = item.time(past[item.app])
                    late += moment is not None and moment > now
                total += 1
        for one in dataset.requests:
            now = dataset.persona(one.person_id).person.now
            assert 0 <= (one.request.asked_at - now).days < 4
    assert late <= 0.01 * total  # a source may contain a mistake


def test_people_in_composed_items_are_contacts(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    for dataset, _ in parts:
        for persona in dataset.personas:
            for item in persona.items:
                if item.app == "calendar" and indirect("events", item.text("title")):
                    attendees = item.fields["attendees"]
                    assert isinstance(attendees, tuple)
                    assert all(persona.person.contact(name) for name in attendees)


def test_a_habit_shows_in_usage(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    used = []
    for dataset, labels in parts:
        items = {item.id: item for one in dataset.personas for item in one.items}
        for one in dataset.requests:
            if labels[one.query_id].kind == "habit":
                used += [items[item].usage for item in labels[one.query_id].relevant or ()]
    assert used
    assert sum(one.opens_30d >= 3 and bool(one.usual_hours) for one in used) > 0.9 * len(used)


def test_texts_are_distinct_and_none_is_from_dev(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    texts = [normal_text(one.request.text) for dataset, _ in parts for one in dataset.requests]
    assert len(set(texts)) >= 0.95 * len(texts)
    dev = {normal_text(one.request.text) for one in load_dataset(split_folder("dev")).requests}
    assert all(len(text.split()) <= 5 for text in dev & set(texts))


def test_requests_have_thoughts_and_three_tools(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    every = [one for _, labels in parts for one in labels.values()]
    assert all(one.chain_of_thought for one in every)
    assert all(len(one.tools or ()) == 3 for one in every if one.plan)
    assert len({one.kind for one in every}) == 9
    assert len({one.plan.api for one in every if one.plan}) > 40


def test_requests_can_be_made_for_people_without_any(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    first = make_personas(OfflineProvider(), folder, 6, seed=4)
    assert (first.personas, first.requests) == (6, 0)
    assert load_dataset(folder).requests == ()
    again = make_queries(OfflineProvider(), folder, seed=4)
    assert again.requests >= 0.9 * 6 * 6.67
    assert load_labels(folder)


def test_requests_can_be_composed_for_any_person() -> None:
    provider = OfflineProvider()
    dataset = load_dataset(split_folder("dev"))
    for persona in dataset.personas[:3]:
        made = provider.requests(persona, ["explicit", "no_tool", "refind"], 1)
        assert made
        for one in made:
            assert request_faults(persona, one, Toolbox.packaged()) == []


def test_a_person_depends_only_on_the_seed() -> None:
    counts = item_counts(packaged_apps(), 5)
    one, other = OfflineProvider(), OfflineProvider()
    other.person("y", counts, person_seed(1, 9))
    first = json.dumps(dump_persona(one.person("x", counts, person_seed(1, 5))))
    assert first == json.dumps(dump_persona(other.person("x", counts, person_seed(1, 5))))
    assert first != json.dumps(dump_persona(one.person("x", counts, person_seed(2, 5))))


def test_composed_requests_only_ask_for_existing_items() -> None:
    provider = OfflineProvider()
    seed = person_seed(1, 3)
    persona = provider.person("x", item_counts(packaged_apps(), seed), seed)
    composer = Composer(persona, random.Random(1))
    known = {item.id for item in persona.items}
    for kind in ("now", "habit", "write", "refind", "mismatch"):
        for one in composed(composer, kind):  # type: ignore[arg-type]
            assert known.issuperset(one.labels.relevant or ())
            assert one.request.asked_at >= persona.person.now


def test_a_declared_application_is_filled_from_its_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.people.app_spec, "_further", {})
    declared = tmp_path / "chats.yaml"
    declared.write_text(
        "chats:\n  fields:\n"
        "    contact: {type: string, role: person}\n"
        "    text: {type: text, role: text}\n"
        "    sent_at: {type: datetime, role: time}\n",
        encoding="utf-8",
    )
    own: tuple[AppSpec, ...] = load_apps(declared)
    register_apps(own)
    apps = (*packaged_apps(), *own)
    tools = Toolbox([*Toolbox.packaged(), *offline_toolbox(["chats"], {"chats": own[0]})])
    provider = OfflineProvider(apps, tools)
    make_dataset(provider, tmp_path / "out", 8, apps=apps, toolbox=tools)
    dataset, labels = (read(tmp_path / "out" / "train") for read in (load_dataset, load_labels))
    chats = [item for one in dataset.personas for item in one.items if item.app == "chats"]
    assert chats
    assert all(item.text("contact") and item.text("text") for item in chats)
    asked = [one.plan.api for one in labels.values() if one.plan]
    assert {tool.api for tool in tools if tool.app == "chats"} & set(asked)
