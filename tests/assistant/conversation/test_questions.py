"""Questions and their answers, small talk, and what corrections teach."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from ctrag.assistant.answer import Question
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.preferences import Preferences, mention_of, taught
from ctrag.assistant.conversation.questions import NEITHER, Pending, between, chosen
from ctrag.assistant.conversation.small_talk import leaves_it, small_talk
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
        ("7", None),
    ],
)
def test_a_choice_is_taken_by_number_word_or_neither(answer: str, meant: object) -> None:
    assert chosen(WHICH, answer) == meant


@pytest.mark.parametrize(
    "text", ["thanks", "Thank you so much!", "hello there", "great", "what can you do?", "bye"]
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
