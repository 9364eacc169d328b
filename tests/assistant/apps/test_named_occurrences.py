"""A request that names several occurrences changes those, and nothing beyond them."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest

from ctrag.assistant.apps.calendar import cancel_event, reschedule_event
from ctrag.assistant.apps.call import Call, Effect, Refusal
from stores.people.items import Item, Person, Profile

AT = datetime(2026, 11, 26, 12, 41)
"""A Thursday."""
ME = Person("me", AT, Profile("Ada"))
WEEKDAYS = "RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
TWICE = "RRULE:FREQ=WEEKLY;BYDAY=TU,TH"


def series(title: str, rule: str, days: tuple[int, ...], hour: int) -> Iterator[Item]:
    for step in range(-10, 60):
        day = date(2026, 11, 26) + timedelta(days=step)
        if day.weekday() in days:
            start = datetime(day.year, day.month, day.day, hour)
            fields = {"title": title, "start": start, "end": start + timedelta(hours=1)}
            yield Item(f"{title}-{day}", "calendar", {**fields, "repeats": rule})


ITEMS = [
    *series("Team standup", WEEKDAYS, (0, 1, 2, 3, 4), 9),
    *series("Swimming", TWICE, (1, 3), 18),
    *series("Pottery", "RRULE:FREQ=WEEKLY", (2,), 19),
]


def call(api: str, said: str, title: str, **arguments: str) -> Call:
    return Call(api, {"title": title, **arguments}, ME, ITEMS, AT, said=said)


def cancelled(said: str, title: str) -> tuple[list[str], Effect]:
    effect = cancel_event(call("cancel_event", said, title))
    assert effect.change is not None
    return [f"{one.time('start'):%d.%m.}" for one in effect.items], effect


@pytest.mark.parametrize(
    ("said", "title", "days"),
    [
        ("cancel all my standups next week", "Team standup", "30.11. 01.12. 02.12. 03.12. 04.12."),
        ("no swimming for the rest of the month", "Swimming", "26.11."),
        ("cancel swimming for the rest of December", "Swimming", "26.11. 01.12. 03.12. 08.12. "
         "10.12. 15.12. 17.12. 22.12. 24.12. 29.12. 31.12."),
        ("skip the next two pottery classes", "Pottery", "02.12. 09.12."),
        ("skip the next couple of pottery classes", "Pottery", "02.12. 09.12."),
        ("cancel swimming on the 10th and the 15th", "Swimming", "10.12. 15.12."),
        ("cancel swimming on both days, the 8th and 10th", "Swimming", "08.12. 10.12."),
        ("cancel pottery on 2 and 9 December", "Pottery", "02.12. 09.12."),
        ("skip the standup tomorrow and on Monday", "Team standup", "27.11. 30.11."),
        ("cancel swimming for the next two weeks", "Swimming", "26.11. 01.12. 03.12. 08.12."),
        ("drop the standups from Monday to Wednesday", "Team standup", "30.11. 01.12. 02.12."),
        ("cancel the standup until Wednesday", "Team standup", "27.11. 30.11. 01.12."),
        ("cancel every standup next week except Wednesday", "Team standup",
         "30.11. 01.12. 03.12. 04.12."),
        ("cancel the Monday and Tuesday standups next week", "Team standup", "30.11. 01.12."),
        ("I'm on leave next week, cancel swimming", "Swimming", "01.12. 03.12."),
    ],
)  # fmt: skip
def test_what_is_named_together_is_cancelled_together(said: str, title: str, days: str) -> None:
    assert cancelled(said, title)[0] == days.split()


def test_cancelling_some_leaves_their_series_and_says_what_stays() -> None:
    days, effect = cancelled("cancel swimming next week", "Swimming")
    assert effect.answer == (
        "Cancelled “Swimming”, Tue 1 Dec 2026 18:00, Thu 3 Dec 2026 18:00. "
        "The next one that stays is today 18:00."
    )
    assert effect.change is not None
    assert effect.change.state == {"cancelled": list(effect.change.remove)}
    assert len(days) == 2


def test_all_of_a_weekday_leave_the_other_days() -> None:
    days, effect = cancelled("cancel swimming every Tuesday", "Swimming")
    assert days[:3] == ["01.12.", "08.12.", "15.12."]
    assert "every Tuesday that is in the calendar" in effect.answer
    assert effect.change is not None
    assert not any(one.startswith("series:") for one in effect.change.state["cancelled"])


@pytest.mark.parametrize(
    "said", ["cancel swimming from next week on", "no more swimming, cancel it for good"]
)
def test_without_an_end_all_that_follow_are_cancelled(said: str) -> None:
    _, effect = cancelled(said, "Swimming")
    assert "and all that follow" in effect.answer


def test_a_day_on_which_there_is_none_cancels_no_other_one() -> None:
    with pytest.raises(Refusal, match=r"no “Pottery” then .the next is on Wed 2 Dec 2026 19:00"):
        cancel_event(call("cancel_event", "cancel pottery on Friday", "Pottery"))
    _, effect = cancelled("cancel pottery on the 2nd and the 4th of December", "Pottery")
    assert effect.answer.endswith("There is none on Fri 4 Dec 2026.")


def test_a_day_that_is_the_reason_cancels_the_next_one() -> None:
    assert cancelled("cancel pottery, I'm ill until Friday", "Pottery")[0] == ["02.12."]


@pytest.mark.parametrize(
    "said", ["cancel the next few pottery classes", "skip the next 40 pottery"]
)
def test_a_number_that_is_none_or_too_many_is_refused(said: str) -> None:
    with pytest.raises(Refusal, match=r"how many|still to come, not 40"):
        cancel_event(call("cancel_event", said, "Pottery"))


def test_several_are_moved_to_another_time_of_their_own_days() -> None:
    said = "move all standups next week to 9:30"
    effect = reschedule_event(
        call("reschedule_event", said, "Team standup", new_start="2026-11-30T09:30")
    )
    starts = [f"{one.time('start'):%d.%m. %H:%M}" for one in effect.items]
    assert starts == [f"{day}. 09:30" for day in ("30.11", "01.12", "02.12", "03.12", "04.12")]
    one = reschedule_event(
        call("reschedule_event", "move the standup to 9:30", "Team standup",
             new_start="2026-11-27T09:30")
    )  # fmt: skip
    assert len(one.items) == 1


@pytest.mark.parametrize(
    "said",
    ["cancel every pottery except the one on 16 December", "cancel pottery but not the next one"],
)
def test_what_cannot_leave_some_out_cancels_none(said: str) -> None:
    with pytest.raises(Refusal, match="cannot leave some out: name those that are to be cancelled"):
        cancel_event(call("cancel_event", said, "Pottery"))


def test_what_begins_later_begins_there() -> None:
    days, effect = cancelled("cancel all the pottery from 16 December on", "Pottery")
    assert days[0] == "16.12."
    assert "and all that follow" in effect.answer


def test_days_of_a_reason_are_not_cancelled() -> None:
    said = "cancel pottery on 2 December, I have a meeting on 9 and 16 December"
    assert cancelled(said, "Pottery")[0] == ["02.12."]
    assert cancelled("cancel the pottery I have on 9 December", "Pottery")[0] == ["09.12."]
