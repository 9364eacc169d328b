"""Every `fails_when` of the toolbox is a refusal that names what was looked for."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ctrag.assistant.apps.call import Effect, Refusal
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Person, Profile

OFFLINE = {"online": False}
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ('play_song(song_name="Hurt")', "No song “Hurt” is in the library", {}),
    (
        'play_song(song_name="Autobahn", artist="Chavela Vargas")',
        "No song “Autobahn” by “Chavela Vargas” is in the library",
        {},
    ),
    ('play_album(album_title="Blue")', "No album “Blue” is in the library", {}),
    (
        'play_artist(artist="Prince")',
        "No song by “Prince” is in the library, so nothing was played",
        {},
    ),
    ('play_playlist(playlist_name="Sleep")', "There is no playlist “Sleep”", {}),
    (
        'play_voicemail(contact="Lupita Robles\'s mum")',
        "There is no voicemail from “Lupita Robles's mum”",
        {},
    ),
    ('play_genre(genre="Zzxq")', "The genre “Zzxq” is unknown", {}),
    ("pause_music()", "Nothing is playing", {}),
    ('skip_song(direction="next")', "Nothing is playing", {}),
    ("get_current_song()", "Nothing is playing", {}),
    (
        'add_song_to_playlist(song_name="Hurt", playlist_name="Road")',
        "No song “Hurt” is in the library",
        {},
    ),
    (
        'add_song_to_playlist(song_name="Autobahn", playlist_name="Sleep")',
        "There is no playlist “Sleep”",
        {},
    ),
    ('google_search(query="x")', "There is no network to open web search", OFFLINE),
    ('google_image_search(query="x")', "There is no network to open pictures", OFFLINE),
    ('google_news(topic="x")', "There is no network to open news", OFFLINE),
    ('google_nearby(category="cafe")', "There is no network to open places", OFFLINE),
    ('google_shopping(product="x")', "There is no network to open shopping", OFFLINE),
    ('google_directions(destination=" ")', "The destination “” cannot be found", {}),
    ('google_weather(location="")', "The place “” cannot be found", {}),
    (
        'google_translate(text="hi", target_language="Elvish")',
        "The language “Elvish” is not supported",
        {},
    ),
    (
        'google_flights(origin="São Paulo", destination="sao paulo")',
        "No flight is found from “São Paulo” to “sao paulo”",
        {},
    ),
    (
        'google_flights(origin="Oslo", destination="Rome", date="2025-04-16")',
        "No flight is found from “Oslo” to “Rome”: 2025-04-16 is past",
        {},
    ),
    ('read_note(title="Will")', "There is no note “Will”", {}),
    ('append_to_note(title="Will", text="x")', "There is no note “Will”", {}),
    ('update_note(title="Will", body="x")', "There is no note “Will”", {}),
    ('delete_note(title="Will")', "There is no note “Will”", {}),
    ('list_notes(folder="Attic")', "There is no folder “Attic”", {}),
    ('move_note(title="Will", folder="Home")', "There is no note “Will”", {}),
    ('share_note(title="Will", contact="Omar Salcedo")', "There is no note “Will”", {}),
    (
        'share_note(title="Shopping list", contact="Mallory")',
        "There is no contact “Mallory”",
        {},
    ),
    (
        'share_note(title="Shopping list", contact="Ghost Writer")',
        "Ghost Writer has neither a mail address nor a number",
        {},
    ),
    (
        'send_mail(to="Nando Vidal", subject="Hi", body="x")',
        "Nando Vidal has no mail address",
        {},
    ),
    ('send_mail(to="Mallory", subject="Hi", body="x")', "There is no contact “Mallory”", {}),
    (
        'reply_to_mail(subject="Lottery", body="x")',
        "There is no mail with the subject “Lottery”",
        {},
    ),
    (
        'forward_mail(subject="Lottery", to="Omar Salcedo")',
        "There is no mail with the subject “Lottery”",
        {},
    ),
    (
        'forward_mail(subject="Your book is due", to="Nando Vidal")',
        "Nando Vidal has no mail address",
        {},
    ),
    (
        'forward_mail(subject="Your book is due", to="City Library")',
        "There is no contact “City Library”",
        {},
    ),
    (
        'notify_attendees(title="Loading at the dock", message="x")',
        "Rosa has neither a number nor a mail address, so nobody was told",
        {},
    ),
    (
        'reply_to_mail(subject="Your book is due", body="x")',
        "City Library has no mail address, so nothing was sent",
        {},
    ),
    ("search_mail()", "Searching mail needs words or a sender", {}),
    ('read_mail(subject="Lottery")', "There is no mail with the subject “Lottery”", {}),
    ('delete_mail(subject="Lottery")', "There is no mail with the subject “Lottery”", {}),
    ('flag_mail(subject="Lottery")', "There is no mail with the subject “Lottery”", {}),
    ('call_contact(contact="Mallory")', "There is no contact “Mallory”", {}),
    ('call_contact(contact="Tere Macías")', "Tere Macías has no phone number", {}),
    ('call_number(number="12")', "“12” is not a valid phone number", {}),
    ('call_number(number="555 CALL")', "“555 CALL” is not a valid phone number", {}),
    ("redial_last_call()", "No call was made yet", {"items": []}),
    (
        'return_missed_call(contact="Omar Salcedo")',
        "There is no missed call from “Omar Salcedo”",
        {},
    ),
    ('return_missed_call(contact="Harbour Clinic")', "No number of “Harbour Clinic” is known", {}),
    ('get_call_history(contact="Mallory")', "The contact “Mallory” is unknown", {}),
    ('play_voicemail(contact="Omar Salcedo")', "There is no voicemail from “Omar Salcedo”", {}),
    ('block_caller(contact="Mallory")', "The caller “Mallory” is unknown", {}),
    ('block_caller(contact="+1 900 555 0000")', "The caller “.1 900 555 0000” is unknown", {}),
    (
        'create_event(title="Lunch", start="2025-04-17T11:59")',
        "The start of “Lunch”, today 11:59, lies in the past",
        {},
    ),
    ('get_event(title="Gala")', "There is no event “Gala”", {}),
    (
        'reschedule_event(title="Gala", new_start="2025-04-18T12:00")',
        "There is no event “Gala”",
        {},
    ),
    ('cancel_event(title="Gala")', "There is no event “Gala”", {}),
    (
        'notify_attendees(title="Theory test", message="x")',
        "The event “Theory test” has no attendees",
        {},
    ),
    ('notify_attendees(title="Gala", message="x")', "There is no event “Gala”", {}),
    (
        'create_reminder(title="Eggs", due="2025-04-16T12:00")',
        "The due time of “Eggs”, yesterday 12:00, lies in the past",
        {},
    ),
    ('list_reminders(list="Attic")', "There is no list “Attic”", {}),
    ('read_reminder(title="Jog")', "There is no reminder “Jog”", {}),
    ('complete_reminder(title="Jog")', "There is no reminder “Jog”", {}),
    (
        'snooze_reminder(title="Jog", until="2025-04-18T12:00")',
        "There is no reminder “Jog”",
        {},
    ),
    ('delete_reminder(title="Jog")', "There is no reminder “Jog”", {}),
]


@pytest.mark.parametrize(("plan", "message", "how"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refuses_and_says_why(
    plan: str, message: str, how: dict[str, Any], ask: Callable[..., Effect]
) -> None:
    with pytest.raises(Refusal, match=message):
        ask(plan, **how)


def test_every_failure_of_the_toolbox_is_in_the_table() -> None:
    refused = {Plan.parse(plan).api for plan, _, _ in REFUSED}
    assert refused == {tool.api for tool in Toolbox.packaged() if tool.fails_when != "never"}


NEVER_REFUSED = [
    "get_recently_played()",
    'get_recently_played(since="2025-04-17T11:00")',
    'search_music(query="polka")',
    "get_search_history()",
    'get_search_history(query="zeppelin")',
    'create_note(title="", body="")',
    'search_notes(query="zeppelin")',
    "read_unread_mail()",
    "get_missed_calls()",
    'get_missed_calls(since="2025-04-17T11:00")',
    'list_events(date="1999-01-01")',
    'search_events(query="")',
]


@pytest.mark.parametrize("plan", NEVER_REFUSED)
def test_what_never_fails_answers_a_person_who_has_nothing(
    plan: str, ask: Callable[..., Effect]
) -> None:
    assert ask(plan).answer
    assert ask(plan, items=[]).answer


def test_every_api_that_never_fails_is_in_the_list() -> None:
    never = {Plan.parse(plan).api for plan in NEVER_REFUSED}
    assert never == {tool.api for tool in Toolbox.packaged() if tool.fails_when == "never"}


def test_a_word_that_fits_several_contacts_is_refused_with_their_names(
    ask: Callable[..., Effect], person: Person
) -> None:
    twice = Person(
        "ada", person.now, person.profile, (*person.contacts, Contact("Omar Diaz", "uncle"))
    )
    with pytest.raises(Refusal, match="“Omar” fits several contacts: Omar Salcedo, Omar Diaz"):
        ask('call_contact(contact="Omar")', person=twice)


def test_home_is_refused_where_the_profile_has_no_address(
    ask: Callable[..., Effect], person: Person, at: datetime
) -> None:
    homeless = Person("ada", at, Profile("Ada"), person.contacts)
    with pytest.raises(Refusal, match="“home” cannot be found: the profile has no address"):
        ask('google_directions(destination="home")', person=homeless)
