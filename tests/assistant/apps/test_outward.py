"""What leaves the phone: the question before it, the record of it, and nothing on a no."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ctrag.assistant.apps.call import Effect
from ctrag.assistant.apps.execute import Result, execute
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


def _mail(address: str | None, to: str, subject: str, body: str) -> dict[str, Any]:
    return {"to": to, "address": address, "subject": subject, "body": body}


OUTWARD = [
    Case(
        'play_song(song_name="equinoxe")',
        "play_song: play “Equinoxe” by Jean-Michel Jarre (from music item s2). Go ahead?",
        _plays("song", "Equinoxe", ["Equinoxe"], "s2"),
    ),
    Case(
        'play_album(album_title="Cupaima", artist="Chavela Vargas")',
        "play_album: play the album “Cupaima” by Chavela Vargas (from music item s3). Go ahead?",
        _plays("album", "Cupaima", ["La Llorona"], "s3"),
    ),
    Case(
        'play_artist(artist="Kraftwerk")',
        "play_artist: play songs by Kraftwerk (from music item s1). Go ahead?",
        _plays("artist", "Kraftwerk", ["Autobahn"], "s1"),
    ),
    Case(
        'play_playlist(playlist_name="road")',
        "play_playlist: play the playlist “Road” (from music item s1). Go ahead?",
        _plays("playlist", "Road", ["Autobahn", "Equinoxe"], "s1"),
    ),
    Case(
        'play_genre(genre="ranchera")',
        "play_genre: play a mix of ranchera (from music item s3). Go ahead?",
        _plays("genre", "ranchera", ["La Llorona"], "s3"),
    ),
    Case(
        "pause_music()",
        "pause_music: pause “Autobahn” by Kraftwerk (from music item s1). Go ahead?",
        [OutboxEntry("pause", None, {"song": "Autobahn"}, "s1")],
    ),
    Case(
        'skip_song(direction="next")',
        "skip_song: skip from “Autobahn” by Kraftwerk to the next song, “Equinoxe” by "
        "Jean-Michel Jarre (from music item s1). Go ahead?",
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
        f"share_note to {OMAR}: share the note “Shopping list” (from notes item n2). Go ahead?",
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
        f"send_mail to {OMAR}: mail “Friday”: “At nine?”. Go ahead?",
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
        'reply_to_mail(subject="Your book is due", body="Coming.")',
        "reply_to_mail to City Library: reply to “Your book is due”: “Coming.” "
        "(from mail item m2). Go ahead?",
        [
            OutboxEntry(
                "mail",
                "City Library",
                _mail(None, "City Library", "Re: Your book is due", "Coming."),
                "m2",
            )
        ],
        ("City Library",),
    ),
    Case(
        'forward_mail(subject="Pallets for Monterrey", to="Lupita Robles")',
        "forward_mail to Lupita Robles <lupita@example.mx>: forward “Pallets for Monterrey”: "
        "“From: Omar Salcedo, 2025-04-16 18:44 22 pallets, dock 4.” (from mail item m1). Go ahead?",
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
        f"call_contact to {OMARS_PHONE}: call {OMARS_PHONE}. Go ahead?",
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
        "call_number to (0049) 30-555 01: call (0049) 30-555 01. Go ahead?",
        [
            OutboxEntry(
                "call", "(0049) 30-555 01", {"url": "tel:00493055501", "number": "(0049) 30-555 01"}
            )
        ],
        ("(0049) 30-555 01",),
    ),
    Case(
        "redial_last_call()",
        f"redial_last_call to {OMARS_PHONE}: call {OMARS_PHONE} (from phonecall item p2). "
        "Go ahead?",
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
        f"return_missed_call to {LUPITAS_PHONE}: call {LUPITAS_PHONE} "
        "(from phonecall item p1). Go ahead?",
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
        "play_voicemail: play the voicemail from “Lupita Robles” (from phonecall item p1). "
        "Go ahead?",
        [
            OutboxEntry(
                "voicemail", None, {"from": "Lupita Robles", "text": "Bring bread, please."}, "p1"
            )
        ],
    ),
    Case(
        'notify_attendees(title="Loading at the dock", message="Late.")',
        "notify_attendees to Omar Salcedo, Rosa: message about “Loading at the dock”: “Late.” "
        "(from calendar item c1). Go ahead?",
        [
            OutboxEntry(
                "message",
                "Omar Salcedo",
                {"event": "Loading at the dock", "message": "Late.", "to": "+52 33 5550 1103"},
                "c1",
            ),
            OutboxEntry(
                "message",
                "Rosa",
                {"event": "Loading at the dock", "message": "Late.", "to": None},
                "c1",
            ),
        ],
        ("Omar Salcedo", "Rosa"),
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
def test_a_no_does_nothing_and_the_question_names_recipient_and_item(
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


def test_a_well_known_genre_plays_without_songs_of_it(ask: Callable[..., Effect]) -> None:
    effect = ask('play_genre(genre="Bossa Nova")')
    assert effect.answer == "Playing a mix of Bossa Nova."
    assert effect.items == ()


def test_a_reply_gets_one_re(ask: Callable[..., Effect], make_item: Callable[..., Item]) -> None:
    mail = make_item(
        "mail", "m9", sender="Rosa", subject="RE: Dock", body="?", received_at="2025-04-17T09:00"
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
        attendees=("Ada Quist", "Rosa"),
    )
    effect = ask('notify_attendees(title="Choir", message="Late.")', items=[event])
    assert effect.recipients == ("Rosa",)
