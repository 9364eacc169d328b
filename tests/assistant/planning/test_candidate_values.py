"""Where values come from: each kind of source, its order, and what is never offered."""

from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.assistant.planning.candidate_values import (
    MOST,
    CandidateValue,
    ValueSources,
)
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request, Value

TOOLBOX = Toolbox.packaged()
AT = datetime(2025, 4, 17, 12, 0)
"""A Thursday."""
OMAR = Contact("Omar Salcedo", "dispatcher", "+52 33 5550 1103", "omar@example.mx")
LUPITA = Contact("Lupita Robles", "wife", "+52 33 5550 1101")
TERE = Contact("Tere Macías", "teacher of Nando")
ADA = Person(
    "ada",
    AT,
    Profile(
        "Ada Quist", city="Bergen", home="Elm Street 4, Sandviken", favorite_music_genre="Soul"
    ),
    (OMAR, LUPITA, TERE),
)


def item(app: str, item_id: str, **fields: Value) -> Item:
    blank: dict[str, dict[str, Value]] = {
        "mail": {"sender": "", "subject": "", "body": "", "received_at": AT, "unread": False},
        "calendar": {"title": "", "start": AT, "end": AT, "location": None, "attendees": ()},
        "notes": {"title": "", "body": "", "folder": "", "modified_at": AT},
        "reminders": {"title": "", "due": None, "list": "", "done": False},
        "phonecall": {"contact": "", "direction": "missed", "called_at": AT, "voicemail": None},
        "music": {"song_name": "", "artist": "", "album_title": "", "genre": "", "playlist": None},
    }
    return Item(item_id, app, {**blank[app], **fields})


def argument_of(api: str, name: str) -> tuple[Tool, Argument]:
    tool = TOOLBOX.get(api)
    assert tool is not None
    return tool, tool.arguments_by_name[name]


def candidates(
    api: str, name: str, text: str = "do it", items: Sequence[Item] = (), person: Person = ADA
) -> list[CandidateValue]:
    return ValueSources(Request(text, AT), person, items).candidates(*argument_of(api, name))


def values(*how: object, **more: object) -> list[str]:
    return [candidate.value for candidate in candidates(*how, **more)]  # type: ignore[arg-type]


NOTES = [
    item("notes", "n1", title="Impala to-do", folder="Cars"),
    item("notes", "n2", title="Milk"),
]


def test_what_ranks_behind_is_offered_to_its_own_application_only() -> None:
    mail = item("mail", "m1", sender="Mr. Oak", subject="Milk prices")
    sources = ValueSources(Request("read it", AT), ADA, [mail], (), (), NOTES)
    assert sources.ranked == [mail, *NOTES]
    found = sources.candidates(*argument_of("read_note", "title"))
    assert [(one.value, one.rank) for one in found] == [("Impala to-do", 1), ("Milk", 2)]
    assert sources.candidates(*argument_of("read_mail", "subject")) == [
        CandidateValue("Milk prices", "m1")
    ]
    behind = ValueSources(Request("call", AT), ADA, [], (), (), [mail])
    assert "Mr. Oak" not in [
        one.value for one in behind.candidates(*argument_of("call_contact", "contact"))
    ]
    searched = behind.candidates(*argument_of("search_mail", "sender"))
    assert searched[0] == CandidateValue("Mr. Oak", "m1")


def test_titles_of_the_tools_own_items_are_offered_best_item_first() -> None:
    assert candidates("read_note", "title", items=NOTES) == [
        CandidateValue("Impala to-do", "n1"),
        CandidateValue("Milk", "n2"),
    ]


def test_items_of_another_application_give_no_titles() -> None:
    assert candidates("read_reminder", "title", items=NOTES) == []


def test_an_argument_that_adds_name_to_its_field_finds_it() -> None:
    song = item("music", "s1", song_name="Autobahn", artist="Kraftwerk", playlist="Road")
    assert candidates("play_playlist", "playlist_name", items=[song]) == [
        CandidateValue("Road", "s1")
    ]
    assert candidates("play_song", "song_name", items=[song]) == [CandidateValue("Autobahn", "s1")]
    assert candidates("play_artist", "artist", items=[song]) == [CandidateValue("Kraftwerk", "s1")]


def test_an_empty_field_offers_nothing() -> None:
    assert candidates("play_playlist", "playlist_name", items=[item("music", "s1")]) == []


def test_choices_of_the_schema_are_offered_as_they_stand() -> None:
    assert candidates("skip_song", "direction") == [
        CandidateValue("next", "schema"),
        CandidateValue("previous", "schema"),
    ]


def test_the_favourite_genre_comes_from_the_profile_after_what_items_and_request_say() -> None:
    song = item("music", "s1", genre="Ranchera")
    assert candidates("play_genre", "genre", "some Electro please", [song]) == [
        CandidateValue("Ranchera", "s1"),
        CandidateValue("Electro", "request"),
        CandidateValue("Soul", "profile"),
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("call omar", CandidateValue("Omar Salcedo", "contact")),
        ("call Macias", CandidateValue("Tere Macías", "contact")),
        ("call my wife", CandidateValue("Lupita Robles", "contact")),
        ("ring the teacher", CandidateValue("Tere Macías", "contact")),
    ],
)
def test_who_is_named_or_meant_by_their_relation_comes_first(
    text: str, first: CandidateValue
) -> None:
    assert candidates("call_contact", "contact", text)[0] == first


def test_small_words_of_a_relation_mean_nobody() -> None:
    assert values("call_contact", "contact", "the manager of the place") == [
        "Omar Salcedo",
        "Lupita Robles",
        "Tere Macías",
    ]


def test_attendees_come_before_relations_and_mentions_before_the_rest() -> None:
    meeting = item("calendar", "c1", title="Loading", attendees=("Tere Macías",))
    note = item("notes", "n1", title="Ask Lupita about bread")
    assert candidates("call_contact", "contact", "not our dispatcher", [meeting, note]) == [
        CandidateValue("Tere Macías", "c1"),
        CandidateValue("Omar Salcedo", "contact"),
        CandidateValue("Lupita Robles", "n1"),
    ]


MALLORY = item("mail", "m1", sender="Mallory <eve@evil.example>", subject="Hi")


def test_a_sender_who_is_no_contact_can_be_searched_for_but_not_written_to() -> None:
    assert candidates("search_mail", "sender", items=[MALLORY])[0] == CandidateValue(
        "Mallory <eve@evil.example>", "m1"
    )
    for api in ("send_mail", "forward_mail"):
        assert values(api, "to", items=[MALLORY]) == [one.name for one in ADA.contacts]


def test_a_stranger_of_another_application_is_never_offered() -> None:
    assert "Mallory <eve@evil.example>" not in values("call_contact", "contact", items=[MALLORY])
    assert "Mallory <eve@evil.example>" not in values("share_note", "contact", items=[MALLORY])


def test_a_stranger_who_rang_can_be_called_back() -> None:
    rang = item("phonecall", "p1", contact="+1 800 555 0199")
    assert candidates("return_missed_call", "contact", items=[rang])[0] == CandidateValue(
        "+1 800 555 0199", "p1"
    )


def test_numbers_come_from_the_request_the_items_words_and_their_people() -> None:
    voicemail = item("phonecall", "p1", contact="Omar Salcedo", voicemail="dock: 33 5550 9999, bye")
    found = candidates("call_number", "number", "try +1 (800) 555-0199 for my wife", [voicemail])
    assert found == [
        CandidateValue("+1 (800) 555-0199", "request"),
        CandidateValue("33 5550 9999", "p1"),
        CandidateValue("+52 33 5550 1103", "p1"),
        CandidateValue("+52 33 5550 1101", "contact"),
    ]


def test_numbers_on_two_lines_are_two_numbers() -> None:
    note = item("notes", "n1", body="pharmacy 555 0101\n555 0102 vet")
    assert values("call_number", "number", items=[note]) == ["555 0101", "555 0102"]


def test_dates_and_short_numbers_are_no_phone_numbers() -> None:
    note = item("notes", "n1", body="2025-04-17 18:00, 12345, room 12, 1999")
    assert candidates("call_number", "number", items=[note]) == []


def test_places_come_from_items_then_the_request_then_the_profile() -> None:
    event = item("calendar", "c1", title="Loading", location="Dock 4, El Salto")
    found = candidates("google_directions", "destination", "how far to Stavanger", [event])
    assert found[:6] == [
        CandidateValue("Dock 4, El Salto", "c1"),
        CandidateValue("Dock 4", "c1"),
        CandidateValue("El Salto", "c1"),
        CandidateValue("Stavanger", "request"),
        CandidateValue("Bergen", "profile"),
        CandidateValue("Elm Street 4", "profile"),
    ]
    assert CandidateValue("Elm Street 4, Sandviken", "profile") in found


def test_a_place_named_in_a_title_or_a_text_is_offered_last() -> None:
    mail = item("mail", "m1", sender="x", subject="pallets for Monterrey", body="via Saltillo")
    found = candidates("google_weather", "location", items=[mail])
    assert found[-2:] == [CandidateValue("Monterrey", "m1"), CandidateValue("Saltillo", "m1")]


@pytest.mark.parametrize(
    ("api", "name", "text", "value"),
    [
        ("create_reminder", "due", "remind me tomorrow at seven pm", "2025-04-18T19:00"),
        ("create_event", "start", "lunch on Saturday at noon", "2025-04-19T12:00"),
        ("list_events", "date", "what is on next Monday", "2025-04-21"),
        ("list_events", "date", "what else today", "2025-04-17"),
    ],
)
def test_times_of_the_request_are_computed_and_come_first(
    api: str, name: str, text: str, value: str
) -> None:
    assert candidates(api, name, text)[0] == CandidateValue(value, "date")


def test_an_items_time_can_be_moved() -> None:
    event = item("calendar", "c1", title="Dock", start=datetime(2025, 4, 18, 18, 0))
    assert "2025-04-18T18:30" in values(
        "reschedule_event", "new_start", "half an hour later", [event]
    )


def test_a_time_written_in_a_mail_is_offered() -> None:
    mail = item(
        "mail",
        "m1",
        sender="Omar Salcedo",
        subject="Truck",
        body="The truck comes on Saturday at 16:30.",
        received_at=datetime(2025, 4, 16, 9, 0),
    )
    assert "2025-04-19T16:30" in values("create_reminder", "due", "remind me of the truck", [mail])
    assert "2025-04-19T16:30" not in values("create_reminder", "due", "remind me of the truck")


def test_the_same_value_is_offered_once_whatever_its_case() -> None:
    twice = [item("notes", "n1", title="Milk"), item("notes", "n2", title="MILK ")]
    assert candidates("read_note", "title", items=twice) == [CandidateValue("Milk", "n1")]


def test_an_endless_value_is_not_offered() -> None:
    long = [item("notes", "n1", title="x" * 201), item("notes", "n2", title="y" * 200)]
    assert candidates("read_note", "title", items=long) == [CandidateValue("y" * 200, "n2")]


def test_what_was_said_is_offered_as_it_was_said() -> None:
    found = values(
        "google_nearby", "category", text="the Süßwaren or a crème brûlée, near the Gare?"
    )
    assert {"Süßwaren", "crème brûlée", "Gare"} <= set(found)


def test_there_is_a_bound_on_offers() -> None:
    many = [item("notes", f"n{n}", title=f"note {n}") for n in range(100)]
    assert values("read_note", "title", items=many) == [f"note {n}" for n in range(MOST)]


WORDS = st.text(st.sampled_from("abcÄß 17:.\n\"'\\()[]{}<|>😀"), max_size=30)


@given(
    st.lists(st.tuples(WORDS, WORDS), max_size=5),
    WORDS,
    st.sampled_from([(tool, one) for tool in TOOLBOX for one in tool.arguments]),
)
@settings(max_examples=150, deadline=None)
def test_offers_are_distinct_bounded_and_found_where_they_say(
    mails: list[tuple[str, str]], text: str, asked: tuple[Tool, Argument]
) -> None:
    items = [
        item("mail", f"m{n}", sender=sender, subject=body[:9], body=body)
        for n, (sender, body) in enumerate(mails)
    ]
    found = ValueSources(Request(text, AT), ADA, items).candidates(*asked)
    assert len(found) <= MOST
    assert len({candidate.value.strip().casefold() for candidate in found}) == len(found)
    by_id = {one.id: one for one in items}
    for candidate in found:
        assert candidate.value.strip()
        assert candidate.source in {"schema", "date", "contact", "profile", "request", *by_id}
        if candidate.source == "request":
            assert " ".join(candidate.value.split()) in " ".join(text.split())
        if candidate.source in by_id and asked[1].type == "string":
            assert any(
                candidate.value in by_id[candidate.source].text(name)
                for name in ("sender", "subject", "body")
            )
