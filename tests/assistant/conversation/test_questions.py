"""Questions and their answers, small talk, and what corrections teach."""

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from ctrag.assistant.answer import Question
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.preferences import Preferences, mention_of, taught
from ctrag.assistant.conversation.questions import (
    NEITHER,
    Pending,
    between,
    chosen,
    reaching_the_named,
)
from ctrag.assistant.conversation.small_talk import agrees, drops_all, leaves_it, small_talk
from ctrag.assistant.planning.plan import Plan
from stores.people.items import Contact, Request
from stores.people.learned import forget_learned

BRANDT, MOREAU = (Focus(plan=Plan("call_contact", {"contact": n})) for n in ("Brandt", "Moreau"))
ASKED = Request("call Lena", datetime(2025, 4, 17, 12))
WHICH = Pending(
    Question("Which one do you mean?", ("Lena Brandt", "Lena Moreau", NEITHER)),
    ASKED,
    (BRANDT, MOREAU),
)
CONTACTS = (
    Contact("Margarethe Holt", "mother-in-law"),
    Contact("Ruth Quist", "mother"),
    Contact("Lena Brandt", "sister"),
)


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("1", BRANDT),
        ("the second one", MOREAU),
        ("two", MOREAU),
        ("the other one", MOREAU),
        ("Moreau please", MOREAU),
        ("yes", BRANDT),
        ("3", "nothing"),
        ("neither", "nothing"),
        ("no", "nothing"),
        ("never mind", "nothing"),
        ("stop", "nothing"),
        ("Lena", None),
        ("what's the weather in Oslo", None),
        ("when did Moreau call", None),
        ("is it Moreau", None),
        ("7", None),
    ],
)
def test_a_choice_is_taken_by_number_word_or_neither(answer: str, meant: object) -> None:
    assert chosen(WHICH, answer) == meant


SONGS = tuple(Focus(plan=Plan("play_song", {"song": n})) for n in ("Blue Train", "Naima", "Blue"))
WHICH_SONG = Pending(
    Question("Which one do you mean?", ("Blue Train", "Naima", "Blue in Green", NEITHER)),
    Request("play Coltrane", datetime(2025, 4, 17, 12)),
    SONGS,
)


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("the third", 2),
        ("3rd please", 2),
        ("the last one", 2),
        ("the middle one", 1),
        ("no, the second", 1),
        ("option 1", 0),
        ("I meant the first of those", 0),
        ("in Green", 2),
        ("Naima, thanks", 1),
    ],
)
def test_one_of_three_is_taken_by_place_or_word(answer: str, place: int) -> None:
    assert chosen(WHICH_SONG, answer) == SONGS[place]


@pytest.mark.parametrize("answer", ["n", "4", "none of them", "neither of those", "wait, no"])
def test_none_of_three_is_nothing(answer: str) -> None:
    assert chosen(WHICH_SONG, answer) == "nothing"


@pytest.mark.parametrize("answer", ["Blue", "the other one", "both"])
def test_what_fits_two_of_three_is_no_answer(answer: str) -> None:
    assert chosen(WHICH_SONG, answer) is None


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "Thank you so much!", "hello there", "great", "what can you do?", "bye"),
        *("ok great thanks", "thank you ever so much", "that's great", "many thanks"),
        *("can you hear me", "that's perfect, thank you", "I need help"),
    ],
)
def test_small_talk_is_answered_in_words(text: str) -> None:
    assert small_talk(text)


@pytest.mark.parametrize(
    "text",
    ["thank Omar for the rope", "good morning playlist", "help me find a bus", "hi-hat songs"],
)
def test_a_request_is_no_small_talk(text: str) -> None:
    assert small_talk(text) is None


def test_only_a_bare_no_leaves_it() -> None:
    assert leaves_it("no, never mind")
    assert not leaves_it("no, the other one")
    assert not leaves_it("stop the music at nine")


@pytest.mark.parametrize(
    ("text", "all_of_it"),
    [
        ("don't send it", False),
        ("not yet", False),
        ("no need, thanks", False),
        ("I'd rather not", False),
        ("please don't", True),
        ("no leave that", True),
        ("I’ve changed my mind", True),
    ],
)
def test_no_is_said_in_words(text: str, all_of_it: bool) -> None:
    assert leaves_it(text)
    assert drops_all(text) is all_of_it


@pytest.mark.parametrize("text", ["cancel that", "don't send it to Lena", "not the first"])
def test_what_may_ask_for_something_is_no_mere_no(text: str) -> None:
    assert not leaves_it(text)


def test_who_is_meant_by_a_word_is_kept_for_the_next_conversation(tmp_path: Path) -> None:
    lesson = taught("mum is Margarethe", CONTACTS)
    assert lesson == ("mum", "Margarethe Holt")
    Preferences.load(tmp_path, "ada").prefer(*lesson)
    again = Preferences.load(tmp_path, "ada")
    assert again.spelled_out("call my mum") == "call Margarethe Holt"
    assert again.spelled_out("tell Lena mum is ill") == "tell Lena mum is ill"
    assert Preferences.load(tmp_path, "bob").meant == {}


@pytest.mark.parametrize("text", ["the gate is open", "dinner is at eight", "Lena is late"])
def test_what_is_no_name_teaches_nothing(text: str) -> None:
    assert taught(text, CONTACTS) is None


def test_a_correction_is_kept_as_a_row_and_can_be_forgotten(tmp_path: Path) -> None:
    kept = Preferences.load(tmp_path, "ada")
    right = Plan("call_contact", {"contact": "Margarethe Holt"})
    kept.correct(ASKED, right, Plan("call_contact", {"contact": "Ruth Quist"}))
    row = json.loads(kept.path.read_text(encoding="utf-8"))
    assert (row["text"], row["api"], row["arguments"]) == (
        "call Lena",
        "call_contact",
        {"contact": "Margarethe Holt"},
    )
    forget_learned(tmp_path, "ada")
    assert not kept.path.exists()


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    kept = Preferences.load(tmp_path, "ada")
    kept.prefer("boss", "Lena Brandt")
    with kept.path.open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    kept.prefer("mum", "Ruth Quist")
    assert Preferences.load(tmp_path, "ada").meant == {"boss": "Lena Brandt", "mum": "Ruth Quist"}


def test_the_word_that_was_misunderstood_is_found() -> None:
    found = mention_of("call mum please", "Margarethe Holt", "Ruth Quist", CONTACTS)
    assert found == "mum"


def test_a_question_names_the_one_value_in_which_the_calls_differ() -> None:
    naima, alabama = Plan("play_song", {"song": "Naima"}), Plan("play_song", {"song": "Alabama"})
    blue = Plan("play_song", {"song": "Blue Train"})
    asked = between((blue, naima, alabama), ("a", "b", "c"))
    assert asked.text == "Which one do you mean?"
    assert asked.choices == ("Blue Train", "Naima", "Alabama", NEITHER)
    other = Plan("pause_music", {})
    assert between((blue, naima, other), ("a", "b", "c")) == Question(
        "What do you mean?", ("a", "b", "c", NEITHER)
    )


def test_times_are_asked_about_in_words() -> None:
    six, seven = (
        Plan("create_reminder", {"title": "x", "due": f"2025-04-17T{h}"}) for h in (18, 19)
    )
    asked = between((six, seven), ("Remind you at six", "Remind you at seven"))
    assert asked.choices == ("Remind you at six", "Remind you at seven", NEITHER)


def test_nobody_is_offered_who_was_not_named() -> None:
    plan = Plan("pause_music", {})
    offered = {"Mail Lena Brandt": plan, "Message Lena Brandt": plan, "Mail Ruth Quist": plan}
    kept = reaching_the_named("tell Lena I'm late", CONTACTS, offered)
    assert list(kept) == ["Mail Lena Brandt", "Message Lena Brandt"]
    assert reaching_the_named("tell them I'm late", CONTACTS, offered) == offered


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "yes please", "Go ahead!", "y", "of course, send it", "yes go on then"),
        *("go for it", "that's fine", "yeah ok", "sounds good", "yes of course", "oh yes"),
        *("absolutely", "aye", "yes ta"),
    ],
)
def test_yes_is_said_in_words(text: str) -> None:
    assert agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        *("yes but at nine", "no", "send it to Lena", "", "oh", "please don't", "it's fine"),
        *("yes and call Lena", "I'm not sure", "that's fine but later"),
    ],
)
def test_what_says_more_than_yes_is_no_yes(text: str) -> None:
    assert not agrees(text)


def test_what_is_taught_is_the_owners_alone_and_keeps_every_character(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Preferences.load(tmp_path, "ada").prefer("mum", "Eva\u2028Ray\x85")
    finally:
        os.umask(before)
    assert Preferences.load(tmp_path, "ada").meant == {"mum": "Eva\u2028Ray\x85"}
    [file] = (tmp_path / "learned").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
