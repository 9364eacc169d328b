"""What the reading APIs say, and that they change nothing."""

from collections.abc import Callable, Sequence

import pytest

from ctrag.assistant.apps.call import Effect
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Item

Ask = Callable[..., Effect]

# plan, answer, ids of the items read (song s1 plays)
READS = [
    ("get_current_song()", "“Autobahn” by Kraftwerk, album “Autobahn”, playlist “Road”", "s1"),
    (
        "get_recently_played()",
        "Played:\n- “Equinoxe” by Jean-Michel Jarre, yesterday 06:40\n"
        "- “Autobahn” by Kraftwerk, yesterday 06:30\n"
        "- “La Llorona” by Chavela Vargas, Tue 15 Apr 2025 20:00",
        "s2 s1 s3",
    ),
    (
        'get_recently_played(since="2025-04-16T06:40")',
        "Played since yesterday 06:40:\n- “Equinoxe” by Jean-Michel Jarre, yesterday 06:40",
        "s2",
    ),
    (
        'search_music(query="llorona")',
        "Music for “llorona”:\n- “La Llorona” by Chavela Vargas, album “Cupaima”",
        "s3",
    ),
    (
        "get_search_history()",
        "Searched:\n- “corrosive placard”, yesterday 21:15\n"
        "- “impala float level”, Sat 12 Apr 2025 16:40, opened “Rochester rebuild”",
        "g2 g1",
    ),
    (
        'get_search_history(query="rochester")',
        "Searched for “rochester”:\n"
        "- “impala float level”, Sat 12 Apr 2025 16:40, opened “Rochester rebuild”",
        "g1",
    ),
    (
        'read_note(title="impala to-do")',
        "Impala to-do (Cars, changed Thu 10 Apr 2025 10:00)\nfloat\nchoke",
        "n1",
    ),
    (
        'search_notes(query="milk and honey")',
        "Notes for “milk and honey”:\n- Shopping list (Home): “milk”",
        "n2",
    ),
    ('list_notes(folder="cars")', "Notes in Cars:\n- Impala to-do", "n1"),
    ("list_notes()", "Notes:\n- Shopping list (Home)\n- Impala to-do (Cars)", "n2 n1"),
    (
        'search_mail(query="pallets book")',
        "Mail for “pallets book”:\n- City Library, today 08:05: “Your book is due”\n"
        "- Omar Salcedo, yesterday 18:44: “Pallets for Monterrey”",
        "m2 m1",
    ),
    (
        'search_mail(sender="City Library")',
        "Mail for “City Library”:\n- City Library, today 08:05: “Your book is due”",
        "m2",
    ),
    (
        'search_mail(sender="dispatcher", query="dock")',
        "Mail for “dock” from “dispatcher”:\n"
        "- Omar Salcedo, yesterday 18:44: “Pallets for Monterrey”",
        "m1",
    ),
    (
        'search_mail(sender="Lupita Robles")',
        "No mail fits “Lupita Robles”.",
        "",
    ),
    (
        'read_mail(subject="pallets for monterrey")',
        "From Omar Salcedo, yesterday 18:44\nPallets for Monterrey\n22 pallets, dock 4.",
        "m1",
    ),
    (
        "read_unread_mail()",
        "From City Library, today 08:05\nYour book is due\nIn the Woods, back by Friday.",
        "m2",
    ),
    (
        "get_missed_calls()",
        "Missed:\n- Lupita Robles, today 10:00, left a voicemail\n"
        "- +1 800 555 0199, yesterday 09:00\n- Harbour Clinic, Tue 15 Apr 2025 09:00",
        "p1 p3 p4",
    ),
    (
        'get_missed_calls(since="2025-04-17T00:00")',
        "Missed since today 00:00:\n- Lupita Robles, today 10:00, left a voicemail",
        "p1",
    ),
    (
        'get_call_history(contact="+52 33 5550 1103")',
        "Calls with +52 33 5550 1103:\n- outgoing, Omar Salcedo, today 09:00, 1:15 min",
        "p2",
    ),
    ('get_call_history(contact="Nando Vidal")', "No calls with Nando Vidal.", ""),
    (
        'get_event(title="loading at the dock")',
        "Loading at the dock\nTime: today 13:15 to 14:45\nPlace: Dock 4, El Salto\n"
        "Attendees: Omar Salcedo, Rosa\nNotes: bring the papers",
        "c1",
    ),
    (
        'get_event(title="Breakfast")',
        "Breakfast\nTime: today 07:00 to 07:30\nPlace: none given\nAttendees: none",
        "c2",
    ),
    (
        'list_events(date="2025-04-17")',
        "Thu 17 Apr 2025:\n- today 07:00 to 07:30: “Breakfast”\n"
        "- today 13:15 to 14:45: “Loading at the dock”, Dock 4, El Salto",
        "c2 c1",
    ),
    ('list_events(date="2025-04-18")', "Nothing is planned for Fri 18 Apr 2025.", ""),
    (
        'search_events(query="sict")',
        "Events for “sict”:\n- Thu 24 Apr 2025 09:00 to 11:00: “Theory test”, Centro SICT",
        "c3",
    ),
    (
        'list_reminders(list="home")',
        "Open reminders in Home:\n- “Pay rent”, due today 18:00",
        "r1",
    ),
    (
        "list_reminders()",
        "Open reminders:\n- “Pay rent”, due today 18:00\n- “Buy ink”, no due time",
        "r1 r3",
    ),
    ('read_reminder(title="pay rent")', "“Pay rent”, due today 18:00, open, list Home", "r1"),
]


@pytest.mark.parametrize(("plan", "answer", "read"), READS, ids=[case[0] for case in READS])
def test_reading_tells_the_facts_and_changes_nothing(
    plan: str, answer: str, read: str, ask: Ask
) -> None:
    effect = ask(plan, playing="s1")
    assert effect.answer == answer
    assert [item.id for item in effect.items] == read.split()
    assert effect.change is None
    assert effect.recipients == ()


def test_every_reading_api_is_here_or_opens_a_page() -> None:
    reading = {tool.api for tool in Toolbox.packaged() if tool.effect == "read"}
    told = {Plan.parse(plan).api for plan, _, _ in READS}
    assert {api for api in reading - told if not api.startswith("google_")} == set()


def test_the_voicemail_is_quoted(ask: Ask) -> None:
    answer = "Voicemail from Lupita Robles, today 10:00: “Bring bread, please.”"
    assert ask('play_voicemail(contact="wife")').answer == answer


def test_an_event_over_midnight_is_listed_on_both_days(
    ask: Ask, make_item: Callable[..., Item]
) -> None:
    night = make_item(
        "calendar", "c9", title="Night", start="2025-04-17T22:00", end="2025-04-18T06:00"
    )
    line = "- today 22:00 to tomorrow 06:00: “Night”"
    for day in ("2025-04-17", "2025-04-18"):
        assert line in ask(f'list_events(date="{day}")', items=[night]).answer
    assert "Nothing" in ask('list_events(date="2025-04-19")', items=[night]).answer


def test_a_song_in_two_playlists_is_told_once(ask: Ask, make_item: Callable[..., Item]) -> None:
    songs = [
        make_item(
            "music",
            f"s{number}",
            song_name="Blue",
            artist="Joni",
            album_title="Blue",
            genre="Folk",
            playlist=playlist,
            played_at="2025-04-10T08:00",
        )
        for number, playlist in enumerate(["A", "B"])
    ]
    assert ask("get_recently_played()", items=songs).answer.count("Blue") == 1


@pytest.mark.parametrize(
    ("plan", "answer"),
    [
        (
            'search_mail(sender="Rosa Mireles")',
            "Mail for “Rosa Mireles”:\n"
            "- Ada to Omar Salcedo, Rosa Mireles, Mon 14 Apr 2025 09:30: “Keys”",
        ),
        (
            'search_mail(sender="dispatcher")',
            "Mail for “dispatcher”:\n- Omar Salcedo, yesterday 18:44: “Pallets for Monterrey”\n"
            "- Ada to Omar Salcedo, Rosa Mireles, Mon 14 Apr 2025 09:30: “Keys”",
        ),
        (
            'search_mail(sender="Tere Macías", query="exam")',
            "Mail for “exam” from “Tere Macías”:\n"
            "- Ada to tere@example.mx, Fri 11 Apr 2025 09:30: “Exam”",
        ),
        (
            'read_mail(subject="keys")',
            "From Ada to Omar Salcedo, Rosa Mireles, Mon 14 Apr 2025 09:30\nKeys\nBehind the door.",
        ),
        ('search_mail(sender="Lupita Robles")', "No mail fits “Lupita Robles”."),
    ],
)
def test_what_one_wrote_to_somebody_is_found_after_what_they_wrote(
    plan: str, answer: str, ask: Ask, items: Sequence[Item], make_item: Callable[..., Item]
) -> None:
    sent = [
        make_item(
            *("mail", "m3"),
            sender="Ada",
            subject="Keys",
            body="Behind the door.",
            received_at="2025-04-14T09:30",
            recipients=("Omar Salcedo", "Rosa Mireles"),
        ),
        make_item(
            *("mail", "m4"),
            sender="Ada",
            subject="Exam",
            body="When is the exam?",
            received_at="2025-04-11T09:30",
            recipients=("tere@example.mx",),
        ),
    ]
    assert ask(plan, items=[*items, *sent]).answer == answer
