"""Claims about strands: their items belong together, and every line can be told."""

import random
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from stores.people.items import Item
from synth.offline.homes import household, is_district, street, town_and_country
from synth.offline.life import Life, born
from synth.offline.open_days import is_open
from synth.offline.plots import plotted
from synth.offline.searching import bank, suits, titled
from synth.offline.strand_lines import Strand, ordered, strands
from synth.offline.strands import Telling
from synth.offline.trades import read_data
from synth.offline.wording import agreeing
from synth.offline.written import dealt

ROOM = {"mail": 9, "calendar": 9, "google": 9, "notes": 9, "reminders": 9, "phonecall": 9}


@pytest.fixture
def life() -> Life:
    return born(random.Random(3), "Ireland")


def telling(life: Life, **room: int) -> Telling:
    return Telling(life, {**ROOM, **room}, ["Home"])


def test_every_hobby_has_strands_and_words_by_which_a_plot_is_known() -> None:
    hobbies = set(bank()["hobby"])
    assert set(strands()) == {*hobbies, "with", "new"}
    assert set(read_data("likes.yaml")) == hobbies
    assert min(len(strands()[one]) for one in hobbies) > 3


def test_every_line_about_somebody_new_fills_its_gaps(life: Life) -> None:
    life.profile = replace(life.profile, work="the quarry", age=40, household="Two kids")
    for some in strands().values():
        for strand in some:
            if strand.of("with"):
                continue
            heads = tuple(one for one in strand.lines if one[0] in ("who", "pick"))
            for verb, text in strand.lines:
                if verb in ("event", "search", "rem", "note"):
                    life.circle.clear()
                    life.meet("friend", "friend")
                    line = verb, re.sub(r"^\d+: ", "", text)
                    found = telling(life).tell(Strand(strand.name, (*heads, line, line)))
                    assert found, (strand.name, line)
                    texts = " ".join(str(one) for item in found for one in item.fields.values())
                    assert not re.search(r"[{}\[\]|]|=>", texts), (strand.name, texts)


def test_the_items_of_a_strand_are_about_the_same_person(life: Life) -> None:
    strand = Strand("chess/here/0", (
        ("who", "chess teacher"),
        ("event", "Endings with {who} @ {who}'s; 60; 17-18"),
        ("rem", "Pay {who}"),
        ("mail", "| Studies | Bring number four on {t.wd}."),
    ))  # fmt: skip
    told = telling(life)
    event, reminder, *mail = told.tell(strand)
    teacher = life.circle["strand/chess/here/0"]
    assert event.fields["attendees"] == (teacher.contact.name,)
    assert reminder.text("title") == f"Pay {teacher.first}"
    start = event.time("start")
    assert start is not None
    assert [one.text("body") for one in mail] == [f"Bring number four on {start:%A}."] * len(mail)


def test_a_line_for_another_person_is_not_told() -> None:
    strand = Strand("chess/here/1", (
        ("who", "nun / uncle"), ("rem", "1: Psalter"), ("rem", "2: Ladder"), ("rem", "12: Tea")
    ))  # fmt: skip
    for seed in range(20):
        lines = dict(strand.drawn(random.Random(seed)).lines)
        assert lines["rem"] in {"nun": ("Psalter", "Tea"), "uncle": ("Ladder", "Tea")}[lines["who"]]


def test_no_more_is_told_than_there_is_room_for(life: Life) -> None:
    told = telling(life, mail=0, notes=1, calendar=2)
    for strand in ordered(("chess", "judo"), random.Random(1)):
        told.tell(strand)
    counts = {app: sum(one.app == app for one in told.items) for app in ROOM}
    assert (counts["mail"], counts["notes"], counts["calendar"]) == (0, 1, 2)


def test_choices_with_equally_many_options_go_together() -> None:
    texts = {agreeing("[a|b] [x|y|z] [A|B]", random.Random(seed)) for seed in range(40)}
    assert texts == {f"{one} {two} {one.upper()}" for one in "ab" for two in "xyz"}


def test_a_page_begins_with_what_was_searched_for() -> None:
    assert titled("radiator cold at the bottom", "Sludge") == "Radiator cold: sludge"
    assert titled("why is it cold", "Sludge") == "Sludge"
    assert titled("radiator cold at night", "Cold radiators") == "Cold radiators"
    assert titled("boots wide feet artificial ground", "Moulded") == "Moulded"
    assert titled("get smell out of a coat", "Air") == "Air"


def test_nobody_looks_up_what_is_of_another_age() -> None:
    assert not suits("part time before pension how much less", 21)
    assert suits("part time before pension how much less", 58)
    assert not suits("negotiate hours after parental leave", 81)
    assert suits("scotch gambit trap move 7", 81)


def test_a_street_is_no_part_of_a_town() -> None:
    streets = ("Knappagh Road", "Kleverparkweg", "Rue Fontange", "Parsonage", "Via Sismondi")
    assert not any(map(is_district, streets))
    assert all(
        map(is_district, ("Bilston", "Bad Cannstatt", "Kalamaja", "C-Scheme", "St. Boniface"))
    )


def test_a_household_never_says_that_somebody_lives_with_what_is_nobody() -> None:
    words = {"away": "Galway", "month": "May", "early": "2016"}
    for told in ("husband Elio, retired tram driver", "wife Irena in a care home",
                 "grandson Leon, 6, lives with her", "wife Adwoa, pregnant"):  # fmt: skip
        for seed in range(12):
            text = household(told, "female", (), words, random.Random(seed))
            assert text.casefold().startswith(told.casefold()[:12])


def test_homes_are_told_without_numbers_and_households_without_unknown_pronouns() -> None:
    streets = {street("12 Claypath Court", random.Random(seed)) for seed in range(20)}
    assert streets == {"12 Claypath Court", "Claypath Court"}
    towns = {town_and_country("Cork", "Ireland", random.Random(seed)) for seed in range(20)}
    assert towns == {"Cork", "Cork, Ireland"}
    words = {"away": "Galway", "month": "May", "early": "2016"}
    for seed in range(60):
        text = household("alone", None, (), words, random.Random(seed))
        assert "{" not in text
        assert not re.search(r"\b(?:he|she|his|her)\b", text)
        assert household("", None, (), words, random.Random(seed)).endswith(".")


def test_a_reminder_goes_off_before_what_it_is_for_and_at_the_hour_that_it_names() -> None:
    strand = Strand("chess/here/2", (
        ("who", "chess teacher"),
        ("event", "Endings with {who} @ club; 60; 8-9"),
        ("rem", "Pay {who}"),
    ))  # fmt: skip
    for seed in range(40):
        life = born(random.Random(seed), "Ireland")
        event, reminder = telling(life).tell(strand)
        due, start = reminder.time("due"), event.time("start")
        assert start is not None
        assert due is None or due < start
        late = Strand("with/here/3", (("rem", "Salt the fillets overnight"),))
        (told,) = telling(life).tell(late)
        assert (at := told.time("due")) is None or told.flag("done") or at.hour >= 19


def test_a_school_is_visited_on_working_days_and_nothing_takes_place_at_christmas() -> None:
    christmas, sunday, monday = (datetime(2024, 12, one, 10) for one in (25, 29, 30))
    assert not is_open(christmas, "home", "")
    assert not is_open(sunday, "primary school, {district}", "primary school teacher")
    assert not is_open(sunday, "{who}'s, {district}", "hairdresser")
    assert is_open(sunday, "{who}'s, {district}", "friend")
    assert is_open(monday, "primary school, {district}", "primary school teacher")


def test_nothing_is_added_on_the_day_of_a_journey(life: Life) -> None:
    for day in range(1, 12):
        start = life.now.replace(hour=9) + timedelta(days=day)
        fields = {"title": "Ferry to Mull", "start": start, "end": start + timedelta(hours=1)}
        told = telling(life)
        told.items.append(Item("own", "calendar", fields))
        strand = Strand("chess/here/4", (("event", "Problems @ club; 60; 9-18"),))
        for event in told.tell(strand):
            begins = event.time("start")
            assert begins is not None
            assert begins.date() != start.date()


def test_a_reminder_of_a_hobby_never_stands_on_a_list_of_another_trade() -> None:
    scene = next(dealt("lists", place, test=False) for place in range(400)
                 if len(dealt("lists", place, test=False).of("reminders")) > 2)  # fmt: skip
    plot = plotted(scene, random.Random(4))
    theirs = {one.text("list") for one in scene.of("reminders")}
    assert set(plot.lists) & theirs <= {"Home", "Family", "House", "Me", "Errands", "Personal"}


def test_who_has_no_child_has_no_babysitter_and_who_is_old_no_driving_lesson(life: Life) -> None:
    sitter = Strand("new/here/5", (("who", "babysitter"), ("rem", "Pay {who}")))
    lesson = Strand("new/here/6", (("who", "driving instructor"), ("rem", "Pay {who}")))
    for told, age, strand, known in (
        ("Lives alone.", 30, sitter, False),
        ("Lives with son Oiva, 6", 30, sitter, True),
        ("Lives alone.", 70, lesson, False),
        ("Lives alone.", 20, lesson, True),
    ):
        life.circle.clear()
        life.profile = replace(life.profile, household=told, age=age)
        assert bool(telling(life).tell(strand)) == known
