"""What leaves the phone: the question before it, the record of it, and nothing on a no."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ctrag.assistant.apps.call import UNKNOWN_SONG, Effect, Refusal
from ctrag.assistant.apps.execute import Preview, Result, execute, preview
from ctrag.assistant.apps.music import playing_after
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.changes import OutboxEntry
from stores.people.items import Item, Person
from stores.people.stores import Stores

Run = Callable[..., Result]
OMAR = "Omar Salcedo <omar@example.mx>"
OMARS_PHONE = "Omar Salcedo (+52 33 5550 1103)"
LUPITAS_PHONE = "Lupita Robles (+52 33 5550 1101)"


@dataclass(frozen=True)
class Case:
    """A plan, what is asked before it, and the records that it leaves (song s1 plays)."""

    plan: str
    question: str
    outbox: list[OutboxEntry]
    recipients: tuple[str, ...] = field(default=())


def _plays(kind: str, name: str, songs: list[str], item_id: str) -> list[OutboxEntry]:
    return [OutboxEntry("play", None, {"what": kind, "name": name, "songs": songs}, item_id)]


def _mail(address: str, to: str, subject: str, body: str) -> dict[str, Any]:
    return {"to": to, "address": address, "subject": subject, "body": body}


OUTWARD = [
    Case(
        'play_song(song_name="equinoxe")',
        "Play “Equinoxe” by Jean-Michel Jarre?",
        _plays("song", "Equinoxe", ["Equinoxe"], "s2"),
    ),
    Case(
        'play_album(album_title="Cupaima", artist="Chavela Vargas")',
        "Play the album “Cupaima” by Chavela Vargas?",
        _plays("album", "Cupaima", ["La Llorona"], "s3"),
    ),
    Case(
        'play_artist(artist="Kraftwerk")',
        "Play songs by Kraftwerk?",
        _plays("artist", "Kraftwerk", ["Autobahn"], "s1"),
    ),
    Case(
        'play_playlist(playlist_name="road")',
        "Play the playlist “Road”?",
        _plays("playlist", "Road", ["Autobahn", "Equinoxe"], "s1"),
    ),
    Case(
        'play_genre(genre="ranchera")',
        "Play a mix of ranchera?",
        _plays("genre", "ranchera", ["La Llorona"], "s3"),
    ),
    Case(
        "pause_music()",
        "Pause “Autobahn” by Kraftwerk?",
        [OutboxEntry("pause", None, {"song": "Autobahn"}, "s1")],
    ),
    Case(
        'skip_song(direction="next")',
        "Skip from “Autobahn” by Kraftwerk to the next song, “Equinoxe” by Jean-Michel Jarre?",
        [
            OutboxEntry(
                "skip",
                None,
                {
                    "direction": "next",
                    "song": "Equinoxe",
                    "artist": "Jean-Michel Jarre",
                    "song_id": "s2",
                },
                "s1",
            )
        ],
    ),
    Case(
        'share_note(title="Shopping list", contact="Omar Salcedo")',
        f"Share the note “Shopping list” with {OMAR}?",
        [
            OutboxEntry(
                "share",
                "Omar Salcedo",
                {
                    "to": "Omar Salcedo",
                    "address": "omar@example.mx",
                    "title": "Shopping list",
                    "body": "milk",
                },
                "n2",
            )
        ],
        (OMAR,),
    ),
    Case(
        'send_mail(to="Omar Salcedo", subject="Friday", body="At nine?")',
        f"Send to {OMAR}, subject “Friday”: “At nine?”?",
        [
            OutboxEntry(
                "mail",
                "Omar Salcedo",
                _mail("omar@example.mx", "Omar Salcedo", "Friday", "At nine?"),
            )
        ],
        (OMAR,),
    ),
    Case(
        'reply_to_mail(subject="Pallets for Monterrey", body="Coming.")',
        f"Reply to {OMAR}, subject “Re: Pallets for Monterrey”: “Coming.”?",
        [
            OutboxEntry(
                "mail",
                "Omar Salcedo",
                _mail("omar@example.mx", "Omar Salcedo", "Re: Pallets for Monterrey", "Coming."),
                "m1",
            )
        ],
        (OMAR,),
    ),
    Case(
        'forward_mail(subject="Pallets for Monterrey", to="Lupita Robles")',
        "Forward the mail “Pallets for Monterrey” from “Omar Salcedo” to "
        "Lupita Robles <lupita@example.mx>?",
        [
            OutboxEntry(
                "mail",
                "Lupita Robles",
                _mail(
                    "lupita@example.mx",
                    "Lupita Robles",
                    "Fwd: Pallets for Monterrey",
                    "From: Omar Salcedo, 2025-04-16 18:44\n\n22 pallets, dock 4.",
                ),
                "m1",
            )
        ],
        ("Lupita Robles <lupita@example.mx>",),
    ),
    Case(
        'call_contact(contact="Omar Salcedo")',
        f"Call {OMARS_PHONE}?",
        [
            OutboxEntry(
                "call",
                "Omar Salcedo",
                {"url": "tel:+523355501103", "number": "+52 33 5550 1103"},
            )
        ],
        (OMARS_PHONE,),
    ),
    Case(
        'call_number(number="(0049) 30-555 01")',
        "Call (0049) 30-555 01?",
        [
            OutboxEntry(
                "call", "(0049) 30-555 01", {"url": "tel:00493055501", "number": "(0049) 30-555 01"}
            )
        ],
        ("(0049) 30-555 01",),
    ),
    Case(
        "redial_last_call()",
        f"Call {OMARS_PHONE}?",
        [
            OutboxEntry(
                "call",
                "Omar Salcedo",
                {"url": "tel:+523355501103", "number": "+52 33 5550 1103"},
                "p2",
            )
        ],
        (OMARS_PHONE,),
    ),
    Case(
        'return_missed_call(contact="Lupita Robles")',
        f"Call {LUPITAS_PHONE}?",
        [
            OutboxEntry(
                "call",
                "Lupita Robles",
                {"url": "tel:+523355501101", "number": "+52 33 5550 1101"},
                "p1",
            )
        ],
        (LUPITAS_PHONE,),
    ),
    Case(
        'play_voicemail(contact="Lupita Robles")',
        "Play the voicemail from “Lupita Robles”, today 10:00?",
        [
            OutboxEntry(
                "voicemail", None, {"from": "Lupita Robles", "text": "Bring bread, please."}, "p1"
            )
        ],
    ),
    Case(
        'notify_attendees(title="Crates for Rosa", message="Late.")',
        f"Send to {OMARS_PHONE}, rosa@example.mx, about “Crates for Rosa”: “Late.”?",
        [
            OutboxEntry(
                "message",
                "Omar Salcedo",
                {"event": "Crates for Rosa", "message": "Late.", "to": "+52 33 5550 1103"},
                "c4",
            ),
            OutboxEntry(
                "message",
                "rosa@example.mx",
                {"event": "Crates for Rosa", "message": "Late.", "to": "rosa@example.mx"},
                "c4",
            ),
        ],
        (OMARS_PHONE, "rosa@example.mx"),
    ),
]
CASES = pytest.mark.parametrize("case", OUTWARD, ids=[case.plan for case in OUTWARD])


def test_every_outward_api_is_in_the_list() -> None:
    outward = [tool.api for tool in Toolbox.packaged() if tool.effect == "outward"]
    assert sorted(Plan.parse(case.plan).api for case in OUTWARD) == sorted(outward)


@CASES
def test_a_yes_leaves_these_records_and_changes_no_item(
    case: Case, stores: Stores, run: Run
) -> None:
    before = stores.items("ada").items
    assert run(case.plan).status == "done"
    assert [row.entry for _, row in stores.outbox("ada")] == case.outbox
    assert [stored.item for stored in stores.items("ada").items] == [one.item for one in before]
    stores.undo("ada")
    assert stores.outbox("ada") == []


@CASES
def test_a_no_does_nothing_and_the_question_has_text_and_addresses_in_the_future(
    case: Case, stores: Stores, run: Run
) -> None:
    questions: list[str] = []

    def refuse(question: str) -> bool:
        questions.append(question)
        return False

    result = run(case.plan, confirm=refuse)
    assert questions == [case.question]
    assert (result.status, result.answer, result.change) == ("declined", "Nothing was done.", None)
    assert stores.outbox("ada") == []
    assert stores.changes("ada") == []


@CASES
def test_recipients_are_named_with_the_address_or_number_that_is_used(
    case: Case, ask: Callable[..., Effect]
) -> None:
    effect = ask(case.plan, playing="s1")
    assert effect.recipients == case.recipients
    source = effect.items[0].id if effect.items else None
    assert {entry.item_id for entry in case.outbox} == {source}


def test_a_toolbox_that_calls_a_mail_a_read_does_not_get_round_the_question(
    stores: Stores,
    person: Person,
    items: tuple[Item, ...],
    toolbox: Toolbox,
    encode: Any,
) -> None:
    softened = Toolbox(tool.model_copy(update={"effect": "read"}) for tool in toolbox)
    result = execute(
        Plan.parse(OUTWARD[8].plan),
        stores=stores,
        person=person,
        items=items,
        at=person.now,
        toolbox=softened,
        encode=encode,
        confirm=lambda question: False,
    )
    assert result.status == "declined"
    assert stores.outbox("ada") == []


def test_previous_wraps_round_to_the_end_of_the_playlist(ask: Callable[..., Effect]) -> None:
    effect = ask('skip_song(direction="previous")', playing="s1")
    assert effect.answer == "Now plays “Equinoxe” by Jean-Michel Jarre."


def test_a_song_of_no_playlist_is_skipped_within_the_library(ask: Callable[..., Effect]) -> None:
    effect = ask('skip_song(direction="next")', playing="s3")
    assert effect.answer == "Now plays “Autobahn” by Kraftwerk."


def _sent(effect: Effect) -> list[OutboxEntry]:
    assert effect.change is not None
    return list(effect.change.outbox)


def test_after_a_skip_the_song_skipped_to_is_what_plays(ask: Callable[..., Effect]) -> None:
    sent = _sent(ask('play_song(song_name="Autobahn")'))
    assert playing_after(sent) == "s1"
    sent += _sent(ask('skip_song(direction="next")', playing="s1"))
    assert playing_after(sent) == "s2"
    assert ask("get_current_song()", playing=playing_after(sent)).answer.startswith("“Equinoxe”")
    sent += _sent(ask("pause_music()", playing="s2"))
    assert playing_after(sent) is None


def test_where_the_library_has_no_other_song_what_plays_after_a_skip_is_not_known(
    ask: Callable[..., Effect], items: tuple[Item, ...]
) -> None:
    only = [item for item in items if item.id == "s3"]
    skipped = ask('skip_song(direction="next")', playing="s3", items=only)
    assert skipped.answer == (
        "Skipped from “La Llorona” by Chavela Vargas to the next song. "
        "Which one plays now is not known."
    )
    playing = playing_after(_sent(skipped))
    assert playing == UNKNOWN_SONG
    said = ask("get_current_song()", playing=playing, items=only).answer
    assert said == "Music plays, but which song is not known."


def test_music_of_which_no_song_is_known_can_be_paused_and_skipped(
    ask: Callable[..., Effect],
) -> None:
    playing = playing_after(_sent(ask('play_genre(genre="Bossa Nova")')))
    assert playing == UNKNOWN_SONG
    assert ask("pause_music()", playing=playing).question == "Pause the music?"
    skipped = ask('skip_song(direction="next")', playing=playing)
    assert skipped.question == "Skip to the next song?"
    assert playing_after(_sent(skipped)) == UNKNOWN_SONG


def test_a_mix_that_the_library_does_not_have_is_asked_of_the_music_service(
    ask: Callable[..., Effect],
) -> None:
    assert ask('play_genre(genre="drum and bass")').change is not None
    effect = ask('play_genre(genre="Bossa Nova")')
    assert effect.items == ()
    assert effect.answer == (
        "Asked the music service for a mix of Bossa Nova; the library has no song of it."
    )


def test_a_reply_gets_one_re(ask: Callable[..., Effect], make_item: Callable[..., Item]) -> None:
    mail = make_item(
        "mail",
        "m9",
        sender="rosa@x.mx",
        subject="RE: Dock",
        body="?",
        received_at="2025-04-17T09:00",
    )
    effect = ask('reply_to_mail(subject="RE: Dock", body="Yes")', items=[mail])
    assert effect.change is not None
    assert effect.change.outbox[0].content["subject"] == "RE: Dock"


def test_stars_and_hashes_of_a_number_are_dialled(ask: Callable[..., Effect]) -> None:
    effect = ask('call_number(number="*100#")')
    assert effect.change is not None
    assert effect.change.outbox[0].content["url"] == "tel:*100%23"


def test_the_person_is_not_told_of_their_own_event(
    ask: Callable[..., Effect], make_item: Callable[..., Item]
) -> None:
    event = make_item(
        "calendar",
        "c9",
        title="Choir",
        start="2025-04-18T18:00",
        end="2025-04-18T20:00",
        attendees=("Ada Quist", "Rosa <rosa@example.mx>"),
    )
    effect = ask('notify_attendees(title="Choir", message="Late.")', items=[event])
    assert effect.recipients == ("Rosa <rosa@example.mx>",)


def test_the_question_shows_a_text_to_its_last_word(ask: Callable[..., Effect]) -> None:
    body = "word " * 200 + "end"
    asked = ask(f'send_mail(to="Omar Salcedo", subject="Long", body="{body}")').question
    assert asked == f"Send to {OMAR}, subject “Long”: “{body}”?"


def test_a_doubt_stands_before_the_question(run: Run) -> None:
    questions: list[str] = []
    doubt = "Not sure; it could also be: pause what is playing now."
    run(
        'call_contact(contact="Omar Salcedo")',
        doubt=doubt,
        confirm=lambda question: bool(questions.append(question)),
    )
    assert questions == [f"{doubt} Call {OMARS_PHONE}?"]


@pytest.mark.parametrize(
    ("plan", "question"),
    [
        ('create_note(title="Eggs", body="six")', "Write the note “Eggs”?"),
        ('delete_mail(subject="Your book is due")', "Delete the mail “Your book is due” from City Library?"),
        ('complete_reminder(title="Pay rent")', "Tick off “Pay rent”?"),
        (
            'snooze_reminder(title="Pay rent", until="2025-04-18T09:00")',
            "Put off “Pay rent” until tomorrow 09:00?",
        ),
        ('cancel_event(title="Theory test")', "Cancel “Theory test”, Thu 24 Apr 2025 09:00?"),
        ('block_caller(contact="Nando Vidal")', "Block Nando Vidal?"),
        ('google_weather(location="Oslo")', "Open weather in “Oslo” today?"),
    ],
)  # fmt: skip
def test_a_doubtful_change_is_asked_about_in_the_future_too(
    plan: str, question: str, run: Run, stores: Stores
) -> None:
    questions: list[str] = []
    doubt = "Not sure."
    result = run(plan, doubt=doubt, confirm=lambda one: bool(questions.append(one)))
    assert questions == [f"{doubt} {question}"]
    assert result.status == "declined"
    assert stores.changes("ada") == []


NOWHERE = [
    ('send_mail(to="Nando Vidal", subject="Hi", body="x")', "Nando Vidal"),
    ('forward_mail(subject="Your book is due", to="Ghost Writer")', "Ghost Writer"),
    ('reply_to_mail(subject="Your book is due", body="Coming.")', "City Library"),
    ('share_note(title="Shopping list", contact="Ghost Writer")', "Ghost Writer"),
    ('notify_attendees(title="Loading at the dock", message="Late.")', "Rosa"),
    ('call_contact(contact="Tere Macías")', "Tere Macías"),
    ('return_missed_call(contact="Harbour Clinic")', "Harbour Clinic"),
]


@pytest.mark.parametrize(("plan", "who"), NOWHERE, ids=[case[0] for case in NOWHERE])
def test_whoever_has_no_address_is_named_and_nothing_is_asked_or_stored(
    plan: str, who: str, stores: Stores, run: Run
) -> None:
    result = run(plan, confirm=lambda question: pytest.fail(question))
    assert result.status == "refused"
    assert who in result.answer
    assert result.answer.endswith((", so nothing was sent.", ", so nothing was shared.", ", so nobody was told.", ", so nobody was called."))  # fmt: skip
    assert "Sent" not in result.answer
    assert stores.outbox("ada") == []
    assert stores.changes("ada") == []


def test_a_message_reaches_all_attendees_or_nobody(
    ask: Callable[..., Effect], make_item: Callable[..., Item]
) -> None:
    event = make_item(
        "calendar",
        "c9",
        title="Choir",
        start="2025-04-18T18:00",
        end="2025-04-18T20:00",
        attendees=("Omar Salcedo", "Rosa", "Ghost Writer"),
    )
    with pytest.raises(Refusal, match="Rosa, Ghost Writer have neither a number nor a mail addr"):
        ask('notify_attendees(title="Choir", message="Late.")', items=[event])


@pytest.mark.parametrize(
    ("sender", "shown"),
    [
        ("clerk@library.no", "clerk@library.no"),
        ("City Library <clerk@library.no>", "City Library <clerk@library.no>"),
        ("<clerk@library.no>", "clerk@library.no"),
    ],
)
def test_a_reply_to_a_stranger_goes_to_the_address_that_the_mail_has(
    sender: str, shown: str, ask: Callable[..., Effect], make_item: Callable[..., Item]
) -> None:
    mail = make_item(
        "mail", "m9", sender=sender, subject="Due", body="?", received_at="2025-04-17T09:00"
    )
    effect = ask('reply_to_mail(subject="Due", body="Yes")', items=[mail])
    assert effect.recipients == (shown,)
    assert effect.change is not None
    assert effect.change.outbox[0].content["address"] == "clerk@library.no"


def test_a_request_that_no_api_can_do_is_told_what_can_be_asked(run: Run) -> None:
    answer = run("none()").answer
    assert answer.startswith("No application here can do that. Ask in English for something about ")
    assert "music, the web, your notes, your mail, phone calls, your calendar and your reminders" in answer  # fmt: skip


def test_a_preview_is_the_question_of_a_change_and_the_answer_of_a_look_up(
    stores: Stores, person: Person, items: tuple[Item, ...]
) -> None:
    def would(plan: str) -> Preview:
        return preview(Plan.parse(plan), stores=stores, person=person, items=items, at=person.now)

    assert would('call_contact(contact="Omar Salcedo")') == Preview(f"Call {OMARS_PHONE}?", True)
    assert would('read_note(title="Shopping list")').text.endswith("milk")
    assert would('read_note(title="Will")') == Preview("There is no note “Will”.")
    assert would("none()").text.startswith("No application here can do that.")
    assert stores.outbox("ada") == []
