"""What a request says outright decides what is listed, reached and opened."""

from collections.abc import Callable
from datetime import datetime

import pytest

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.execute import nothing_fits, strangers
from ctrag.assistant.apps.registry import APIS
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item, Person, Profile

AT = datetime(2025, 6, 11, 12, 41)
SAM = Person(
    "sam",
    AT,
    Profile("Sam Field"),
    (
        Contact("Margaret Okafor", nicknames=("Mum",), addresses=("14 Burley Lane, Leeds",)),
        Contact("Gareth Rees", title="Plumber", phone="+44 7700 900114"),
        Contact("Grace Hale"),
    ),
)
Say = Callable[..., Effect]


@pytest.fixture
def say(make_item: Callable[..., Item]) -> Say:
    items = [
        make_item("calendar", "c1", title="Physio with Hanneke Bos", start="2025-06-12T10:00",
                  end="2025-06-12T11:00", location="Bos Physiotherapy, 0113 496 0777"),
        make_item("calendar", "c2", title="Weekend in Whitby", start="2025-06-20T00:00",
                  end="2025-06-23T00:00", location="Bagdale Hotel"),
        make_item("calendar", "b27", title="Grace's birthday", start="2027-06-30T00:00",
                  end="2027-07-01T00:00"),
        make_item("calendar", "b25", title="Grace's birthday", start="2025-06-30T00:00",
                  end="2025-07-01T00:00"),
        make_item("mail", "m1", sender="Kirkgate Garage <service@kirkgate.example>",
                  subject="Ready", body="You can cancel until nine.", received_at="2025-06-09T08:00"),
        make_item("mail", "m2", sender="Sam Field", subject="Lunch", body="half twelve?",
                  recipients=("Priya Shah",), received_at="2025-06-11T07:00"),
        make_item("reminders", "r1", title="Pay the cleaner", due="2025-06-09T18:00", list="Home"),
        make_item("reminders", "r2", title="Renew permit", due="2025-06-12T00:00", list="Home"),
        make_item("reminders", "r3", title="Boiler", list="Home"),
        make_item("notes", "n1", title="Packing", body="map", folder="Home", modified_at=AT),
        make_item("notes", "n2", title="Goals", body="ship", folder="Work", modified_at=AT),
        make_item("music", "s1", song_name="Autobahn", artist="Kraftwerk", album_title=None,
                  played_at="2025-06-11T07:00"),
    ]  # fmt: skip

    def effect(api: str, said: str, **arguments: str) -> Effect:
        return APIS[api](Call(api, arguments, SAM, items, AT, "s1", preferred=["b27"], said=said))

    return effect


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("what's overdue", "Overdue:\n- “Pay the cleaner”, due Mon 9 Jun 2025 18:00"),
        ("reminders for tomorrow", "Due tomorrow:\n- “Renew permit”, due tomorrow"),
        ("what's due on Sunday", "No reminder is due Sunday. Otherwise open: 3."),
    ],
)
def test_reminders_are_those_of_the_time_that_is_asked_about(
    say: Say, said: str, answer: str
) -> None:
    assert say("list_reminders", said).answer == answer


def test_all_notes_are_of_all_folders(say: Say) -> None:
    assert len(say("list_notes", "list my notes", folder="Home").items) == 2
    assert len(say("list_notes", "list my home notes", folder="Home").items) == 1


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("what did I send today", ["m2"]),
        ("what mail came on Monday", ["m1"]),
        ("how late can I cancel", ["m1"]),
        ("any mail", ["m2", "m1"]),
    ],
)
def test_mail_without_words_or_sender_is_what_the_request_says(
    say: Say, said: str, found: list[str]
) -> None:
    assert [one.id for one in say("search_mail", said).items] == found


def test_who_is_no_contact_is_reached_by_what_events_and_mails_say(say: Say) -> None:
    mail = say("send_mail", "email the garage", to="the garage", subject="s", body="b")
    assert mail.recipients == ("Kirkgate Garage <service@kirkgate.example>",)
    physio = say("call_contact", "call the physio", contact="the physio")
    assert physio.recipients == ("the physio (0113 496 0777)",)
    assert strangers(physio, SAM), "a stranger is always asked about"
    assert say("call_contact", "call the plumber", contact="the plumber").recipients == (
        "Gareth Rees (+44 7700 900114)",
    )


def test_nobody_is_reached_whom_the_request_does_not_name(say: Say) -> None:
    with pytest.raises(Refusal, match=r"no contact “the garage”"):
        say("send_mail", "tell them I'm late", to="the garage", subject="s", body="b")
    with pytest.raises(Refusal, match=r"no contact “the vet”"):
        say("call_contact", "call the vet", contact="the vet")


def test_the_coming_birthday_is_told(say: Say) -> None:
    told = say("get_event", "when is Grace's birthday", title="Grace's birthday")
    assert "Mon 30 Jun 2025" in told.answer


@pytest.mark.parametrize(
    ("api", "said", "arguments", "opened"),
    [
        ("google_directions", "directions to Roundhay by bike",
         {"destination": "Roundhay", "mode": "driving"}, "directions to “Roundhay” (cycling)"),
        ("google_directions", "trains from Leeds to Bristol", {"destination": "Leeds"},
         "directions from “Leeds” to “Bristol” (transit)"),
        ("google_directions", "directions to Mum's", {"destination": "Mum's"},
         "directions to “14 Burley Lane, Leeds”"),
        ("google_nearby", "find a curry near the hotel", {"category": "curry", "near": "hotel"},
         "places: “curry near Bagdale Hotel”"),
        ("google_flights", "flights to Lisbon in February",
         {"origin": "Lisbon", "destination": "February"}, "flights to “Lisbon”, February"),
        ("google_weather", "what's the weather in Leeds", {"location": "Bagdale Hotel"},
         "weather in “Leeds” today"),
        ("google_weather", "will it rain tomorrow", {"location": "Bagdale Hotel"},
         "weather where you are today"),
        ("google_weather", "weather for the Whitby trip", {"location": "Bagdale Hotel"},
         "weather in “Bagdale Hotel” today"),
    ],
)  # fmt: skip
def test_pages_are_of_the_places_that_are_said(
    say: Say, api: str, said: str, arguments: dict[str, str], opened: str
) -> None:
    assert say(api, said, **arguments).answer.splitlines()[0] == f"Opened {opened}."


def test_there_is_no_way_to_a_contact_without_an_address(say: Say) -> None:
    with pytest.raises(Refusal, match="No postal address of Grace Hale"):
        say("google_directions", "directions to Grace's", destination="Grace's")


def test_what_was_to_repeat_says_that_it_is_made_once(say: Say) -> None:
    said = "remind me every Friday to put the bins out"
    made = say("create_reminder", said, title="Put the bins out", due="2025-06-13T09:00")
    assert made.answer.endswith("Only once: what repeats cannot be made here.")
    once = say("create_reminder", "remind me", title="Read Every Day", due="2025-06-13T09:00")
    assert "Only once" not in once.answer


def test_a_song_without_an_album_names_none(say: Say) -> None:
    assert say("get_current_song", "what's playing").answer == "“Autobahn” by Kraftwerk"


def test_english_is_asked_for_only_where_it_was_not_spoken() -> None:
    toolbox = Toolbox.packaged()
    assert "Ask for something" in nothing_fits(toolbox, "order me a taxi to the station")
    assert "Ask in English" in nothing_fits(toolbox, "¿a qué hora viene mi madre mañana?")
