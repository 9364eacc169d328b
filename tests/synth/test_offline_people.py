"""Claims about people made without a model: new, consistent, with requests about their items."""

import json
import random
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import stores.people.app_spec
from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, load_apps, packaged_apps, register_apps
from stores.people.dataset import Dataset, dump_persona, load_dataset, load_labels
from stores.people.dialogues import load_dialogues, load_several
from stores.people.items import Contact, Item, Labels
from synth.checks import normal_text, request_faults
from synth.consistency import person_faults
from synth.dataset import make_dataset, make_personas, make_queries
from synth.offline import OfflineProvider
from synth.offline.addressing import called, gender_of
from synth.offline.asking import _shortened
from synth.offline.countries import Gender, countries
from synth.offline.life import born
from synth.offline.matters import eligible, happen
from synth.offline.plots import plotted
from synth.offline.written import dealt
from synth.provider import LabelledRequest
from synth.reference import split_folder
from synth.shape import PAPER_ITEMS, item_counts, person_seed
from synth.toolbox import offline_toolbox

PEOPLE = 50


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
        levels = json.loads((dataset.folder / "levels.json").read_text())
        for one in dataset.requests:
            persona = dataset.persona(one.person_id)
            level = levels.get(one.query_id, "")
            labelled = LabelledRequest(one.request, labels[one.query_id], level)
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


def test_every_person_hangs_together(parts: list[tuple[Dataset, dict[str, Labels]]]) -> None:
    for dataset, _ in parts:
        for persona in dataset.personas:
            assert person_faults(persona) == []


def test_most_contacts_have_numbers_of_the_country_that_the_city_names(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    codes = {one.name: one.phone.split(" ")[0] for one in countries()}
    codes |= {"UK": codes["United Kingdom"], "USA": codes["United States"]}
    for dataset, _ in parts:
        for persona in dataset.personas:
            _, named, country = (persona.person.profile.city or "").partition(", ")
            if not named:
                continue
            own = [(one.phone or "").startswith(codes[country]) for one in persona.person.contacts]
            assert sum(own) > len(own) / 2, persona.person.person_id


def test_people_of_one_data_set_have_plots_of_their_own(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    mails = [
        item.text("body")
        for dataset, _ in parts
        for persona in dataset.personas
        for item in persona.items
        if item.app == "mail"
    ]
    assert len(set(mails)) == len(mails)


def test_the_train_and_the_test_part_share_no_plot() -> None:
    decks = [{dealt("1/0", place, test=test).id for place in range(500)} for test in (True, False)]
    assert min(map(len, decks)) > 50
    assert not decks[0] & decks[1]


def test_a_visit_leaves_traces_in_several_applications(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    linked = 0
    for dataset, _ in parts:
        for persona in dataset.personas:
            mails = {item.text("sender") for item in persona.items if item.app == "mail"}
            events = [item.text("attendees") for item in persona.items if item.app == "calendar"]
            linked += any(one and one in event for one in mails for event in events)
    assert linked > 0.6 * PEOPLE


_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?(?:\s*([ap]m))?\b")


def clock_times(text: str) -> set[tuple[int, int]]:
    """The times of day that a text names in figures, by hour and minute."""
    found = set()
    for hour, minute, half in _CLOCK.findall(text):
        if minute or half:
            noon = 12 if half == "pm" else 0
            found.add((int(hour) % 12 + noon if half else int(hour), int(minute or 0)))
    return found


def test_days_and_times_in_mails_are_those_of_their_events() -> None:
    days = times = 0
    for seed in range(12):
        life = born(random.Random(seed))
        for name, spec, hobby in eligible(life):
            try:
                found = happen(life, name, spec, hobby, {"mail", "calendar"})
            except KeyError:  # about somebody whom this life lacks
                continue
            items = {thing.item.app: thing.item for thing in found.things.values()}
            if not {"mail", "calendar"} <= set(items):
                continue
            start, body = items["calendar"].time("start"), items["mail"].text("body")
            assert start is not None
            if re.search(r"day,? (?:[A-Z]\w+ )?\d{1,2}(?![:.\d]| ?[ap]m)", body):
                days += 1
                assert re.search(rf"{start:%A},? (?:{start:%B} )?{start.day}\b", body), body
            if named := clock_times(body):
                times += 1
                assert (start.hour, start.minute) in named, body
    assert min(days, times) > 20


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
    asked = {one.plan.api for one in every if one.plan}
    assert len(asked) > 50
    assert {"play_artist", "search_notes"} <= asked


def test_a_call_that_was_taken_left_no_message(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    calls = [
        item
        for dataset, _ in parts
        for persona in dataset.personas
        for item in persona.items
        if item.app == "phonecall"
    ]
    taken = [one for one in calls if one.text("direction") != "missed"]
    assert 0.3 < len(taken) / len(calls) < 0.8
    assert not any(one.text("voicemail") for one in taken)


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


def test_another_seed_shares_few_requests(
    parts: list[tuple[Dataset, dict[str, Labels]]], tmp_path: Path
) -> None:
    make_dataset(OfflineProvider(), tmp_path / "other", PEOPLE // 2, seed=5, workers=1)
    others = load_dataset(tmp_path / "other" / "train").requests
    texts = {normal_text(one.request.text) for dataset, _ in parts for one in dataset.requests}
    shared = sum(normal_text(one.request.text) in texts for one in others)
    assert shared <= 0.1 * len(others)


def test_requests_for_several_calls_and_dialogues_run_call_by_call(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    talks = 0
    for dataset, _ in parts:
        people = {one.person.person_id: one for one in dataset.personas}
        for one in load_several(dataset.folder, people):
            assert len({plan.api for plan in one.plans}) == len(one.plans) == 2
            talks += 1
        for dialogue in load_dialogues(dataset.folder, people):
            assert 2 <= len(dialogue.turns) <= 3
            talks += 1
    assert talks > PEOPLE / 2


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


def test_timezone_and_numbers_are_those_of_the_plot_s_town() -> None:
    seen = 0
    for place in range(60):
        scene = dealt("zones", place, test=False)
        life = plotted(scene, random.Random(place)).life
        town = str(scene.profile["city"]).split(",")[0]
        expected = {"Sylvester": "America/New_York", "Perth": "Australia/Perth",
                    "Manaus": "America/Manaus", "Vancouver": "America/Vancouver"}  # fmt: skip
        assert life.profile.timezone == expected.get(town, life.profile.timezone)
        plumber = life.meet("plumber", "plumber").contact.phone or ""
        if life.country.phone.startswith("+1 "):
            codes = [one.phone.split()[1] for one in scene.contacts
                     if (one.phone or "").startswith("+1 ")]  # fmt: skip
            assert plumber.split()[1] in codes
            seen += 1
    assert seen


def test_a_titled_contact_is_called_by_the_whole_name_and_a_title_tells_the_gender() -> None:
    def of(name: str) -> Contact:
        return Contact(name, "customer", "+44 7700 900001", None)

    assert called(of("Miss Kimball")) == "Miss Kimball"
    assert called(of("Father-in-law Henryk Sowa")) == "Henryk"
    assert called(of("Leon's mum Sylwia")) == "Leon's mum Sylwia"
    assert called(of("Dewey Pruitt")) == "Dewey"
    home: dict[Gender, tuple[str, ...]] = {"female": ("Ann",), "male": ("Femi",)}
    genders = [gender_of(of(one), home) for one in ("Oga Bankole", "Mrs Femi", "Chief Femi")]
    assert genders == ["male", "female", "male"]


def test_no_two_acquaintances_have_one_number_or_one_surname() -> None:
    life = born(random.Random(8), "United States")
    met = [life.meet(f"somebody{number}", "customer") for number in range(40)]
    assert len({one.contact.phone for one in met}) == len(met)
    assert len({one.last for one in met}) == len(met)


def test_who_is_late_says_so_when_it_begins_and_what_is_of_its_day_stays(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    for dataset, labels in parts:
        for one in dataset.requests:
            plan = labels[one.query_id].plan
            events = {item.text("title"): item.time("start")
                      for item in dataset.persona(one.person_id).items if item.app == "calendar"}  # fmt: skip
            if plan and plan.api == "notify_attendees" and labels[one.query_id].kind == "write":
                start = events[str(plan.arguments["title"])]
                if re.search(r"^I'm .* late", str(plan.arguments["message"])) and start:
                    assert start - one.request.asked_at < timedelta(hours=1)


def test_no_plain_request_has_a_phrase_that_nobody_says(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    odd = re.compile(r"who ring\b|did anybody called|\bin my ears|mail that thank|the sign the\b")
    for dataset, labels in parts:
        for one in dataset.requests:
            assert not odd.search(one.request.text.lower())
            plan = labels[one.query_id].plan
            subject = str(plan.arguments.get("subject", "")) if plan else ""
            assert not re.search(r" (?:an|the|your|my)$", subject)


def test_what_is_put_off_goes_off_later_than_before_and_nobody_asks_the_way_to_a_call(
    parts: list[tuple[Dataset, dict[str, Labels]]],
) -> None:
    for dataset, labels in parts:
        levels = json.loads((dataset.folder / "levels.json").read_text())
        for one in dataset.requests:
            plan = labels[one.query_id].plan
            if plan is None or levels.get(one.query_id) != "tell":
                continue
            if plan.api == "google_directions":
                assert not re.search(r"(?i)zoom|video|phone", str(plan.arguments["destination"]))
            if plan.api == "snooze_reminder":
                due = {item.text("title"): item.time("due")
                       for item in dataset.persona(one.person_id).items
                       if item.app == "reminders"}[str(plan.arguments["title"])]  # fmt: skip
                assert due is None or datetime.fromisoformat(str(plan.arguments["until"])) > due


def test_a_title_is_said_up_to_its_comma_only_where_no_other_can_be_meant() -> None:
    def event(number: int, title: str) -> Item:
        return Item(f"p-calendar-{number}", "calendar", {"title": title})

    long, other, alike = (
        event(1, "Flat meeting, Sadhbh cooks"),
        event(2, "Choir"),
        event(3, "Flat meeting with Ana"),
    )
    said = {_shortened(long, [other], random.Random(n)).text("title") for n in range(20)}
    assert said == {"Flat meeting", "Flat meeting, Sadhbh cooks"}
    assert _shortened(long, [other, alike], random.Random(1)) == long
