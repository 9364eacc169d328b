"""What the writing APIs change in the stores, and that `undo` brings back what was there."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from ctrag.assistant.apps.call import Effect
from ctrag.assistant.apps.execute import Result
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Item, Usage
from stores.people.stores import Stores

Run = Callable[..., Result]
AT = datetime(2025, 4, 17, 12, 0)

WRITES = [
    'add_song_to_playlist(song_name="La Llorona", playlist_name="Road")',
    'create_note(title="Tyres", body="185/70")',
    'append_to_note(title="Impala to-do", text="plugs")',
    'update_note(title="Shopping list", body="eggs")',
    'delete_note(title="Shopping list")',
    'move_note(title="Shopping list", folder="Cars")',
    'delete_mail(subject="Your book is due")',
    'flag_mail(subject="Your book is due")',
    'block_caller(contact="Harbour Clinic")',
    'create_event(title="Lunch", start="2025-04-18T13:00")',
    'reschedule_event(title="Loading at the dock", new_start="2025-04-18T08:00")',
    'cancel_event(title="Loading at the dock")',
    'create_reminder(title="Eggs", due="2025-04-18T09:00")',
    'complete_reminder(title="Pay rent")',
    'snooze_reminder(title="Pay rent", until="2025-04-18T09:00")',
    'delete_reminder(title="Pay rent")',
]


def snapshot(stores: Stores) -> tuple[dict[str, Item], object, int]:
    """All that an API may change: items by id, blocked callers, how many records went out."""
    items = {stored.item.id: stored.item for stored in stores.items("ada").items}
    return items, stores.state("ada", "phonecall", "blocked"), len(stores.outbox("ada"))


def only_change(before: dict[str, Item], stores: Stores) -> tuple[Item | None, Item | None]:
    """The one item that differs from `before`: as it was and as it is; None where it is not."""
    after = snapshot(stores)[0]
    [item_id] = [key for key in before | after if before.get(key) != after.get(key)]
    return before.get(item_id), after.get(item_id)


@pytest.fixture
def change(stores: Stores, run: Run) -> Callable[[str], tuple[Item | None, Item | None]]:
    """Runs a plan that changes one item; gives that item before and after."""

    def one(plan: str) -> tuple[Item | None, Item | None]:
        before = snapshot(stores)[0]
        assert run(plan, confirm=_never_asked).status == "done"
        return only_change(before, stores)

    return one


def _never_asked(question: str) -> bool:
    raise AssertionError(f"asked: {question}")


def test_a_doubt_asks_before_a_change_and_not_before_an_answer(stores: Stores, run: Run) -> None:
    before = snapshot(stores)
    questions: list[str] = []

    def no(question: str) -> bool:
        questions.append(question)
        return False

    plan = 'delete_note(title="Shopping list")'
    assert run(plan, confirm=no, doubt="This may be another note.").status == "declined"
    assert snapshot(stores) == before
    [question] = questions
    assert question.startswith("This may be another note. ")
    reading = 'read_note(title="Shopping list")'
    assert run(reading, confirm=_never_asked, doubt="This may be another note.").status == "done"


@pytest.mark.parametrize("plan", WRITES)
def test_undo_brings_back_exactly_what_a_write_changed(plan: str, stores: Stores, run: Run) -> None:
    before = snapshot(stores)
    result = run(plan, confirm=_never_asked)
    assert result.status == "done"
    assert result.change is not None
    after = snapshot(stores)
    assert after != before
    assert after[2] == before[2], "a write sends nothing"
    assert stores.undo("ada").summary == result.change.summary
    assert snapshot(stores) == before


def test_every_writing_api_is_in_the_list() -> None:
    writing = [tool.api for tool in Toolbox.packaged() if tool.effect == "write"]
    assert sorted(Plan.parse(plan).api for plan in WRITES) == sorted(writing)


Change = Callable[[str], tuple[Any, Any]]
"""The changed item before and after; None where there is none."""


def test_create_event_lasts_an_hour_and_keeps_place_and_attendees(change: Change) -> None:
    before, after = change(
        'create_event(title="Lunch", start="2025-04-18T13:00", location="Pier", '
        'attendees=["Omar Salcedo", "Rosa"])'
    )
    assert before is None
    assert after.fields == {
        "title": "Lunch",
        "start": datetime(2025, 4, 18, 13),
        "end": datetime(2025, 4, 18, 14),
        "location": "Pier",
        "attendees": ("Omar Salcedo", "Rosa"),
        "notes": None,
    }
    assert after.usage == Usage()


def test_reschedule_event_keeps_the_duration(change: Change) -> None:
    before, after = change(
        'reschedule_event(title="loading at the dock", new_start="2025-04-18T08:00")'
    )
    start, end = datetime(2025, 4, 18, 8), datetime(2025, 4, 18, 9, 30)
    assert after == replace(before, fields={**before.fields, "start": start, "end": end})


def test_reschedule_event_into_the_past_says_so(ask: Callable[..., Effect]) -> None:
    effect = ask('reschedule_event(title="Theory test", new_start="2025-04-16T08:00")')
    assert effect.answer == "Moved “Theory test” to yesterday 08:00, which lies in the past."


def test_cancel_event_removes_it_and_tells_nobody(change: Change, stores: Stores) -> None:
    before, after = change('cancel_event(title="Loading at the dock")')
    assert before.id == "c1"
    assert after is None
    assert stores.outbox("ada") == []


def test_create_reminder_goes_to_the_most_used_list(change: Change) -> None:
    _, after = change('create_reminder(title="Eggs", due="2025-04-18T09:00")')
    assert after.fields == {
        "title": "Eggs",
        "due": datetime(2025, 4, 18, 9),
        "list": "Home",
        "done": False,
    }


def test_create_reminder_prefers_a_list_called_reminders(
    ask: Callable[..., Effect], make_item: Callable[..., Item], items: tuple[Item, ...]
) -> None:
    more = (*items, make_item("reminders", "r4", title="Salt", list="Reminders"))
    assert ask('create_reminder(title="Eggs")', items=more).items[0].text("list") == "Reminders"
    assert ask('create_reminder(title="Eggs")', items=[]).items[0].text("list") == "Reminders"


def test_snooze_reminder_sets_due_and_opens_it_again(change: Change) -> None:
    before, after = change('snooze_reminder(title="Water plants", until="2025-04-18T09:00")')
    assert before.flag("done")
    due = datetime(2025, 4, 18, 9)
    assert after == replace(before, fields={**before.fields, "due": due, "done": False})


def test_complete_reminder_ticks_off_one(change: Change) -> None:
    before, after = change('complete_reminder(title="Pay rent")')
    assert after == replace(before, fields={**before.fields, "done": True})


def test_delete_reminder_removes_it(change: Change) -> None:
    before, after = change('delete_reminder(title="Buy ink")')
    assert before.id == "r3"
    assert after is None


def test_create_note_goes_to_notes_and_is_dated(change: Change) -> None:
    _, after = change('create_note(title="Tyres", body="185/70")')
    assert after.fields == {
        "title": "Tyres",
        "body": "185/70",
        "folder": "Notes",
        "modified_at": AT,
    }


def test_append_to_note_adds_a_line(change: Change) -> None:
    before, after = change('append_to_note(title="Impala to do", text="plugs")')
    body = "float\nchoke\nplugs"
    assert after == replace(before, fields={**before.fields, "body": body, "modified_at": AT})


def test_update_note_replaces_the_text(change: Change) -> None:
    before, after = change('update_note(title="Shopping list", body="eggs")')
    assert after == replace(before, fields={**before.fields, "body": "eggs", "modified_at": AT})


@pytest.mark.parametrize(
    ("folder", "stored"), [("cars", "Cars"), ("Attic", "Attic"), ("Cars, old", "Cars, old")]
)
def test_move_note_takes_a_folder_that_exists_or_a_new_one(
    folder: str, stored: str, change: Change
) -> None:
    before, after = change(f'move_note(title="Shopping list", folder="{folder}")')
    assert after == replace(before, fields={**before.fields, "folder": stored})


def test_delete_note_removes_it(change: Change) -> None:
    before, after = change('delete_note(title="Impala to-do")')
    assert before.id == "n1"
    assert after is None


def test_flag_mail_sets_the_flag_and_leaves_it_unread(change: Change) -> None:
    before, after = change('flag_mail(subject="Your book is due")')
    assert after == replace(before, fields={**before.fields, "flagged": True})
    assert after.flag("unread")


def test_delete_mail_removes_it(change: Change) -> None:
    before, after = change('delete_mail(subject="Pallets for Monterrey")')
    assert before.id == "m1"
    assert after is None


def test_add_song_to_playlist_gives_a_song_its_first_playlist(change: Change) -> None:
    before, after = change('add_song_to_playlist(song_name="La Llorona", playlist_name="road")')
    assert after == replace(before, fields={**before.fields, "playlist": "Road"})


def test_a_song_stays_in_its_old_playlist_too(
    ask: Callable[..., Effect], make_item: Callable[..., Item], items: tuple[Item, ...]
) -> None:
    other = make_item(
        "music",
        "s4",
        song_name="Alfonsina",
        artist="Mercedes Sosa",
        album_title="Alfonsina",
        genre="Folk",
        playlist="Sea",
        played_at="2025-04-01T08:00",
    )
    effect = ask(
        'add_song_to_playlist(song_name="Alfonsina", playlist_name="Road")', items=(*items, other)
    )
    assert effect.change is not None
    assert effect.change.remove == ()
    assert effect.items[0].id != "s4"
    assert effect.items[0].fields == {**other.fields, "playlist": "Road"}


def test_a_song_already_in_the_playlist_is_left_alone(ask: Callable[..., Effect]) -> None:
    effect = ask('add_song_to_playlist(song_name="Autobahn", playlist_name="Road")')
    assert effect.change is None
    assert effect.answer == "“Autobahn” by Kraftwerk is already in the playlist “Road”."


def test_block_caller_adds_to_those_blocked_before(stores: Stores, run: Run) -> None:
    assert run('block_caller(contact="+1 (800) 555-0199")').answer == "Blocked +1 800 555 0199."
    assert run('block_caller(contact="wife")').answer == "Blocked Lupita Robles."
    assert run('block_caller(contact="+52 33 5550 1101")').answer == (
        "Lupita Robles is already blocked."
    )
    blocked = ["+1 800 555 0199", "Lupita Robles"]
    assert stores.state("ada", "phonecall", "blocked") == blocked


def test_seconds_are_cut_so_that_undo_brings_times_back_exactly(
    ask: Callable[..., Effect],
) -> None:
    effect = ask('append_to_note(title="Impala to-do", text="x")', at=AT.replace(second=31))
    assert effect.items[0].time("modified_at") == AT
    assert ask('create_event(title="Now", start="2025-04-17T12:00")', at=AT.replace(second=31))


def test_two_items_made_one_after_the_other_have_ids_of_their_own(stores: Stores, run: Run) -> None:
    run('create_note(title="One", body="1")')
    run('create_note(title="Two", body="2")', items=list(snapshot(stores)[0].values()))
    titles = [item.text("title") for item in snapshot(stores)[0].values() if item.app == "notes"]
    assert titles == ["Impala to-do", "Shopping list", "One", "Two"]
