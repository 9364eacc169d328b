"""Claims about requests that one call cannot do whole."""

from datetime import datetime

import pytest

from ctrag.assistant.planning.limits import (
    does_half,
    moves_unnamed,
    of_another_day,
    reaches_unnamed,
    removes_unnamed,
    takes_away_what_is_added,
)
from ctrag.assistant.planning.plan import Plan
from stores.people.items import Item


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("don't call Femi", True),
        ("Please, don’t send that mail yet", True),
        ("never mind the alarm", True),
        ("remind me every Monday to water the plants", True),
        ("wake me at six each morning", True),
        ("remind me daily at six", True),
        ("remind me weekly", True),
        ("set a nightly reminder to lock up", True),
        ("remind me twice a day to drink", True),
        ("remind me on Tuesdays", True),
        ("on weekdays remind me at seven", True),
        ("wake me every other day", True),
        ("remind me every two hours", True),
        ("remind me every fortnight", True),
        ("call mum on Sundays", True),
        ("I want you to not call Femi", True),
        ("not call Femi", True),
        ("I don't want you to call Femi", True),
        ("there's no need to ring Femi", True),
        ("you don’t have to ring Femi", True),
        ("let's not move the dentist", True),
        ("let's not forget the dentist", False),
        ("I don't want you to forget the dentist", False),
        ("cancel the weekly meeting", False),
        ("play my daily mix", False),
        ("note that he comes on Mondays only", False),
        ("play the old songs, as every night", False),
        ("not the first, the second", False),
        ("don't forget to call Femi", False),
        ("don't let me forget the keys", False),
        ("tell Anna I don't eat fish", False),
        ("play Every Breath You Take", False),
        ("call Femi", False),
        ("", False),
    ],
)
def test_forbidding_and_repeating_is_more_than_a_call(text: str, half: bool) -> None:
    assert does_half(text) is half


def test_what_nobody_named_is_not_taken_away_for_sure() -> None:
    assert removes_unnamed("delete_note", named=0.0, plain=0.9)
    assert removes_unnamed("cancel_event", named=0.0, plain=0.9)
    assert not removes_unnamed("delete_note", named=1.0, plain=0.9)
    assert not removes_unnamed("cancel_event", named=0.0, plain=0.2), "a hint names nothing"
    assert not removes_unnamed("read_note", named=0.0, plain=0.9)


def test_everybody_at_an_event_that_nobody_named_is_not_told_for_sure() -> None:
    assert reaches_unnamed("notify_attendees", named=0.0, plain=0.9)
    assert not reaches_unnamed("notify_attendees", named=1.0, plain=0.9)
    assert not reaches_unnamed("notify_attendees", named=0.0, plain=0.2), "a hint names nothing"
    assert not reaches_unnamed("list_events", named=0.0, plain=0.9)


def test_what_is_added_is_not_ticked_off_for_sure() -> None:
    assert takes_away_what_is_added("complete_reminder", "put magnesium on my shopping list")
    assert takes_away_what_is_added("delete_note", "please add hoses")
    assert not takes_away_what_is_added("complete_reminder", "I put the bins out")
    assert not takes_away_what_is_added("append_to_note", "put hoses on the list")


@pytest.mark.parametrize(
    ("said", "api", "other"),
    [
        ("cancel all my meetings next week", "cancel_event", True),
        ("cancel tomorrow's meeting", "cancel_event", True),
        ("cancel today's meeting", "cancel_event", False),
        ("cancel the meeting", "cancel_event", False),
        ("move the meeting to tomorrow", "reschedule_event", False),
    ],
)
def test_what_is_on_another_day_is_not_taken_away_for_sure(
    said: str, api: str, other: bool
) -> None:
    at = datetime(2023, 10, 26, 12, 40)  # a Thursday
    meeting = Item("c1", "calendar", {"title": "Meeting", "start": datetime(2023, 10, 26, 13)})
    assert of_another_day(Plan(api, {"title": "Meeting"}), said, at, [meeting]) is other
    assert not of_another_day(Plan(api, {"title": "Lunch"}), said, at, [meeting])


@pytest.mark.parametrize(
    ("said", "unnamed"),
    [
        ("move tomorrow's career day to ten", True),
        ("move the meeting to ten", False),
        ("move the thing at the town hall to ten", False),
        ("move it to ten", False),
    ],
)
def test_what_has_no_word_of_what_is_moved_is_not_moved_for_sure(said: str, unnamed: bool) -> None:
    budget = Item("c1", "calendar", {"title": "Budget meeting", "location": "Town hall"})
    plan = Plan("reschedule_event", {"title": "Budget meeting"})
    assert moves_unnamed(plan, said, [budget]) is unnamed
