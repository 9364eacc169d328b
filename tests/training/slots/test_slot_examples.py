"""Claims about what the slot filler learns from: answers that it is able to give."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.toolbox import Argument, Toolbox
from stores.people.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request
from tests.training.conftest import copy_people
from training.core.origin import people_of
from training.slots.examples import (
    learned_examples,
    mention_of,
    phrase_of,
    run_of,
    slot_examples,
    strangers_examples,
    written,
)

AT = datetime(2025, 4, 17, 12, 0)  # a Thursday
ADA = Person(
    "ada",
    AT,
    Profile(name="Ada"),
    (Contact("Lindsey Park", "mother"), Contact("Tom Reed", "brother")),
)
MAIL = Item(
    "m1",
    "mail",
    {"sender": "Lindsey Park", "subject": "Sunday", "body": "Are you in?", "received_at": AT},
)
BOX = Toolbox.packaged()


def argument(api: str, name: str) -> Argument:
    tool = BOX.get(api)
    assert tool is not None
    return tool.arguments_by_name[name]


def sources(text: str) -> ValueSources:
    return ValueSources(Request(text, AT), ADA, [MAIL])


def answers(text: str, plan: LabelledPlan, *also: LabelledPlan) -> list[tuple[str, str]]:
    labels = Labels(plan=plan, also=also)
    found = slot_examples(Request(text, AT), labels, [MAIL], ADA, BOX)
    return [(one.tool.api, one.answer) for one in found]


def test_a_message_is_learned_with_whom_it_is_for_in_the_requests_words() -> None:
    plan = LabelledPlan("send_mail", {"to": "Lindsey Park", "subject": "Sunday", "body": "I'm in."})
    reply = LabelledPlan("reply_to_mail", {"subject": "Sunday", "body": "I'm in."})
    assert answers("tell lindsey i'm in", plan, reply) == [
        ("send_mail", "to\nlindsey\nsubject\nSunday\nbody\nI'm in.\n"),
        ("reply_to_mail", "body\nI'm in.\n"),
    ]


def test_what_the_request_does_not_say_is_a_question_mark() -> None:
    plan = LabelledPlan("play_song", {"song_name": "Hurt", "artist": "Johnny Cash"})
    assert answers("play Hurt", plan) == [("play_song", "song_name\nHurt\nartist\n?\n")]


def test_a_text_in_words_that_cannot_be_written_is_no_example() -> None:
    plan = LabelledPlan("reply_to_mail", {"subject": "Sunday", "body": "Count me among the guests"})
    assert answers("tell lindsey i'm in", plan) == []


def test_a_text_is_learned_whole_or_not_at_all() -> None:
    plan = LabelledPlan("reply_to_mail", {"subject": "Sunday", "body": "I'm in, gladly."})
    assert answers("tell lindsey i'm in", plan) == []


def test_of_a_request_that_hints_a_text_has_no_words_of_items() -> None:
    request = Request("tell her yes", AT)
    labels = Labels(
        plan=LabelledPlan("reply_to_mail", {"subject": "Sunday", "body": "Yes, Sunday."})
    )
    assert slot_examples(request, labels, [MAIL], ADA, BOX)
    assert slot_examples(request, labels, [MAIL], ADA, BOX, oblique=True) == []


def test_a_value_that_is_said_in_pieces_is_neither_said_nor_unsaid() -> None:
    plan = LabelledPlan("play_song", {"song_name": "Hurt, Johnny Cash"})
    assert answers("the one by johnny cash, hurt", plan) == []


def test_calls_with_nothing_to_say_are_no_examples() -> None:
    assert answers("pause", LabelledPlan("pause_music", {})) == []
    assert answers("hello", LabelledPlan("none", {})) == []


@pytest.mark.parametrize(
    ("text", "value", "run"),
    [
        ("play some joni mitchell", "Joni Mitchell", "joni mitchell"),
        ("weather in SÃO Paulo?", "Sao Paulo", "SÃO Paulo"),
        ("play joni", "Joni Mitchell", None),
        ("hi", "", None),
    ],
)
def test_a_value_is_learned_as_it_was_said(text: str, value: str, run: str | None) -> None:
    assert run_of(text, value) == run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I have 1,200 now, thanks!", "I have 1,200 now, thanks!"),
        ("One\nTwo", "One\nTwo"),
        ("unsayable words here only", None),
    ],
)
def test_texts_keep_marks_numbers_and_lines_and_lose_what_was_not_said(
    text: str, said: str | None
) -> None:
    assert written(text, ["I", "have", "1,200", "now", "thanks", "One", "Two"]) == said


@pytest.mark.parametrize(
    ("text", "names", "mention"),
    [
        ("tell Lindsey I'm in", ["Lindsey Park"], "Lindsey"),
        ("ask my mum's opinion", ["Lindsey Park"], "mum"),
        ("lunch with tom and my mother", ["Tom Reed", "Lindsey Park"], "tom and my mother"),
        ("call her back", ["Lindsey Park"], None),
    ],
)
def test_a_contact_is_learned_by_the_words_that_mention_them(
    text: str, names: list[str], mention: str | None
) -> None:
    assert mention_of(names, sources(text)) == mention


@pytest.mark.parametrize(
    ("text", "value", "phrase"),
    [
        ("remind me tomorrow at five pm to eat", "2025-04-18T17:00", "tomorrow at five pm"),
        ("remind me at five to eat", "2025-04-17T17:00", "at five"),
        ("remind me to eat", "2025-04-17T17:00", None),
    ],
)
def test_a_moment_is_learned_by_the_shortest_phrase_that_means_it(
    text: str, value: str, phrase: str | None
) -> None:
    assert phrase_of(value, argument("create_reminder", "due"), sources(text)) == phrase


def test_strangers_entities_are_slots_where_their_intent_is_one_api(tmp_path: Path) -> None:
    rows = [
        {
            "text": "play hurt by johnny cash",
            "intent": "play_music",
            "entities": [
                {"type": "song_name", "text": "hurt"},
                {"type": "artist_name", "text": "johnny cash"},
            ],
        },
        {
            "text": "lunch with mary on friday at one please",
            "intent": "calendar_set",
            "entities": [
                {"type": "event_name", "text": "lunch"},
                {"type": "person", "text": "mary"},
                {"type": "date", "text": "friday"},
                {"type": "time", "text": "one"},
            ],
        },
        {"text": "hi", "intent": "general_quirky", "entities": []},
    ]
    file = tmp_path / "train.jsonl"
    lines = [{"query_id": str(at), "apis": None, **row} for at, row in enumerate(rows)]
    file.write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    assert [(one.tool.api, one.answer) for one in strangers_examples(file)] == [
        ("play_song", "song_name\nhurt\nartist\njohnny cash\n"),
        (
            "create_event",
            "title\nlunch\nstart\nfriday at one\nlocation\n?\nattendees\nmary\n",
        ),
    ]


def test_people_who_are_held_out_by_their_fingerprints_are_not_learned_from(
    tmp_path: Path,
) -> None:
    folder = copy_people("dev", 2, tmp_path / "two")
    everybody = people_of([folder])
    assert learned_examples([folder], frozenset())
    assert learned_examples([folder], everybody) == []
