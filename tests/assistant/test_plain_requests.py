"""Claims about plain requests: what arrives is what was said. With the packaged models."""

import json
from datetime import datetime
from typing import Any

import pytest

from ctrag.assistant.answer import Answer
from ctrag.assistant.assistant import Assistant
from ctrag.settings import settings
from ctrag.text.words import words

pytestmark = pytest.mark.model

NOW = datetime(2025, 4, 17, 12, 36)  # a Thursday
USED = {"opens_30d": 2, "last_opened": None, "usual_hours": [], "usual_place": None}
MIA: dict[str, Any] = {
    "persona_id": "mia",
    "now": "2025-04-17T12:36",
    "profile": {
        "name": "Mia Torres",
        "profession": "nurse",
        "city": "Bristol, England",
        "home": "12 Elm Row, Bristol",
        "favorite_music_genre": "Soul",
    },
    "contacts": [
        {"name": "Anna Berg", "relation": "colleague", "phone": "1001", "email": "a@x.example"},
        {"name": "Anna Holt", "relation": "landlady", "phone": "1002", "email": "h@x.example"},
        {"name": "Lindsey Park", "relation": "friend", "phone": "1003", "email": "l@x.example"},
        {"name": "Dolores Torres", "relation": "mother", "phone": "1004", "email": None},
    ],
    "apps": {
        "mail": [
            {
                "id": "m1",
                "sender": "Lindsey Park",
                "subject": "Quiz on Friday",
                "body": "We are one short for the quiz, are you coming?",
                "received_at": "2025-04-17T10:02",
                "unread": True,
            },
            {
                "id": "m2",
                "sender": "Best Prizes",
                "subject": "You have won",
                "body": "Click here for your prize",
                "received_at": "2025-04-17T11:02",
                "unread": True,
            },
        ],
        "calendar": [
            {
                "id": "c1",
                "title": "Camera club walk",
                "start": "2025-04-18T10:00",
                "end": "2025-04-18T12:00",
                "location": "Clifton",
                "attendees": ["Anna Berg"],
                "notes": None,
            },
            {
                "id": "c2",
                "title": "Night shift",
                "start": "2025-04-17T21:00",
                "end": "2025-04-18T06:00",
                "location": "Ward 7",
                "attendees": [],
                "notes": None,
            },
        ],
        "music": [
            {
                "id": "s1",
                "song_name": "Jupiter",
                "artist": "London Symphony Orchestra",
                "album_title": "Holst: The Planets",
                "genre": "Classical",
                "playlist": None,
                "played_at": "2025-04-16T19:00",
            },
            {
                "id": "s2",
                "song_name": "Cranes in the Sky",
                "artist": "Solange",
                "album_title": "A Seat at the Table",
                "genre": "Soul",
                "playlist": "Evenings",
                "played_at": "2025-04-16T20:00",
            },
        ],
        "notes": [
            {
                "id": "n1",
                "title": "Double entry",
                "body": "1 debit what comes in\n2 credit what goes out",
                "folder": "Study",
                "modified_at": "2025-04-12T20:00",
            }
        ],
        "google": [
            {
                "id": "g1",
                "query": "crib under 1000",
                "clicked": "Cribs",
                "searched_at": "2025-04-15T20:00",
            }
        ],
        "reminders": [],
        "phonecall": [],
    },
}


@pytest.fixture(scope="module")
def mia(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    folder = tmp_path_factory.mktemp("mia")
    person = json.loads(json.dumps(MIA))
    for items in person["apps"].values():
        for item in items:
            item["usage"] = USED
    (folder / "personas.jsonl").write_text(json.dumps(person) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctrag.assistant.open.cache_folder", lambda: folder / "cache")
        return Assistant.open(folder, "mia")


def asked(mia: Assistant, text: str) -> Answer:
    return mia.ask(text, NOW, "home")


def plain(value: object) -> str:
    return " ".join(words(str(value)))


@pytest.mark.parametrize(
    ("text", "to", "body"),
    [
        ("tell Lindsey I'm in", "Lindsey Park", "I'm in"),
        ("let anna holt know the boiler is fine again", "Anna Holt", "the boiler is fine again"),
        ("ask Anna Berg if she has the keys to the ward", "Anna Berg", "you keys to the ward"),
    ],
)
def test_a_message_is_what_is_to_be_told_without_the_frame(
    mia: Assistant, text: str, to: str, body: str
) -> None:
    arguments = asked(mia, text).plan.arguments
    sent = plain(arguments.get("body", arguments.get("message", "")))
    assert set(words(body)) <= set(words(sent))
    assert not {"tell", "ask", "let", "know"} & set(words(sent))
    if "to" in arguments:
        assert arguments["to"] == to


@pytest.mark.parametrize(
    ("text", "api", "argument", "value"),
    [
        (
            "put on the Goldberg Variations, the whole thing",
            "play_album",
            "album_title",
            "goldberg",
        ),
        ("play some jazz", "play_genre", "genre", "jazz"),
        ("play something by Nina Simone", "play_artist", "artist", "nina simone"),
        ("what's the weather in Lisbon on Sunday", "google_weather", "location", "lisbon"),
    ],
)
def test_a_new_name_stays_the_name_that_was_said(
    mia: Assistant, text: str, api: str, argument: str, value: str
) -> None:
    plan = asked(mia, text).plan
    assert plan.api == api
    assert value in plain(plan.arguments[argument])
    assert not {"planets", "soul", "solange"} & set(words(str(plan)))


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("show me pics of wooden cots with drawers underneath", "google_image_search"),
        ("look up how to get turmeric out of a white shirt", "google_search"),
    ],
)
def test_a_query_is_made_of_the_words_that_were_said(mia: Assistant, text: str, api: str) -> None:
    plan = asked(mia, text).plan
    assert plan.api == api
    query = words(str(plan.arguments["query"]))
    assert set(query) <= set(words(text))
    assert {"turmeric", "cots"} & set(query)


def test_a_dictated_note_has_all_that_was_dictated_and_nothing_else(mia: Assistant) -> None:
    text = "make a note. Client lunch at Mimì, 62 euros, receipt is in the blue folder"
    plan = asked(mia, text).plan
    assert plan.api == "create_note"
    body = set(words(str(plan.arguments["body"])))
    assert body <= set(words(text))
    assert {"mimi", "62", "euros", "receipt", "blue", "folder"} <= body


def test_a_reminder_names_the_thing_and_is_due_at_the_next_such_moment(mia: Assistant) -> None:
    plan = asked(mia, "remind me to call mum at 5pm").plan
    assert plan.api == "create_reminder"
    assert plain(plan.arguments["title"]) == "call mum"
    assert plan.arguments["due"] == "2025-04-17T17:00"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("call Anna Holt", "Anna Holt"),
        ("call anna berg please", "Anna Berg"),
        ("ring my mum", "Dolores Torres"),
        ("give my landlady a call", "Anna Holt"),
    ],
)
def test_who_is_named_is_called(mia: Assistant, text: str, name: str) -> None:
    plan = asked(mia, text).plan
    assert plan.api == "call_contact"
    assert plan.arguments == {"contact": name}


def test_the_event_whose_name_was_said_is_moved(mia: Assistant) -> None:
    plan = asked(mia, "move the walk to eleven").plan
    assert plan.api == "reschedule_event"
    assert plan.arguments == {"title": "Camera club walk", "new_start": "2025-04-18T11:00"}


@pytest.mark.parametrize("text", ["hello", "hi there", "thanks a lot", "asdf jkl qwerty"])
def test_what_asks_for_nothing_that_can_be_done_is_none(mia: Assistant, text: str) -> None:
    assert asked(mia, text).plan.is_none


@pytest.mark.parametrize("text", ["¿a qué hora viene mi madre?", "wie geht es dir heute"])
def test_nothing_is_done_unasked_in_another_language(mia: Assistant, text: str) -> None:
    answer = asked(mia, text)
    assert answer.plan.is_none or answer.confidence < settings().sure


@pytest.mark.parametrize("text", ["don't call Anna Holt", "remind me every monday to call mum"])
def test_what_forbids_or_repeats_is_not_done_unasked(mia: Assistant, text: str) -> None:
    answer = asked(mia, text)
    assert answer.plan.is_none or answer.confidence < settings().sure
