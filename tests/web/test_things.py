"""What a person has: by application, in a week, searched, with the assistant's changes marked."""

from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest

from ctrag.web.things import Row, apps_of, listing, monday_of, week
from tests.web.conftest import ByHeart

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant

NOW = datetime(2025, 4, 17, 19, 0)


def rows(assistant: "Assistant", app: str | None, words: str = "") -> list[Row]:
    return [row for group in listing(assistant, app, words).groups for row in group.rows]


def done(assistant: "Assistant", by_heart: ByHeart, plan: str, text: str = "do it") -> None:
    by_heart.plans[text] = (plan, None)
    answer = assistant.ask(text, run=True, confirm=lambda question: True)
    assert answer.result is not None
    assert answer.result.status == "done", answer.result.answer


def test_every_application_is_there_with_its_count(ada: "Assistant") -> None:
    counts = {app: count for app, _, count in apps_of(ada)}
    assert counts == {
        "calendar": 2, "mail": 5, "notes": 3, "reminders": 1, "music": 2, "phonecall": 2,
        "google": 0,
    }  # fmt: skip
    assert [name for _, name, _ in apps_of(ada)][:2] == ["Calendar", "Mail"]


def test_mails_stand_newest_first(ada: "Assistant") -> None:
    times = [row.moment for row in rows(ada, "mail")]
    assert times == sorted(times, key=lambda at: at or datetime.min, reverse=True)


def test_a_search_looks_in_all_applications_for_every_word(ada: "Assistant") -> None:
    assert {row.app for row in rows(ada, None, "dock")} == {"calendar"}
    assert [row.id for row in rows(ada, None, "GATE code")] == ["ada-n1"]
    assert rows(ada, None, "gate zebra") == []


def test_a_week_has_its_events_on_their_days(ada: "Assistant") -> None:
    monday = monday_of(date(2025, 4, 17))
    assert monday == date(2025, 4, 14)
    days = week(ada, monday, NOW)
    assert {day.date.day: [row.title for row in day.rows] for day in days if day.rows} == {
        17: ["Loading at the dock"],
        18: ["Dentist"],
    }
    assert [day.date.day for day in days if day.today] == [17]
    assert not any(day.rows for day in week(ada, date(2025, 4, 21), NOW))


def test_reminders_are_told_apart_by_when_they_are_due(ada: "Assistant") -> None:
    [late] = listing(ada, "reminders", now=NOW).groups
    assert late.title == "Overdue"
    [open_one] = listing(ada, "reminders", now=datetime(2025, 4, 17, 9)).groups
    assert open_one.title == "To come"


def test_what_the_assistant_made_changed_and_removed_is_marked(
    ada: "Assistant", by_heart: ByHeart
) -> None:
    done(ada, by_heart, 'create_reminder(title="Buy rope")')
    done(ada, by_heart, 'snooze_reminder(title="Buy rope", until="2025-04-18T09:00")', "later")
    done(ada, by_heart, 'create_note(title="Rope", body="ten metres")', "note it")
    done(ada, by_heart, 'delete_note(title="Gate code")', "away with it")
    marks = {row.title: row for row in rows(ada, None)}
    assert marks["Rope"].mark == "made"
    assert "Rope" in marks["Rope"].change
    assert marks["Dentist"].mark == ""
    changed = marks["Buy rope"]
    assert changed.mark == "changed"
    assert ("due", "", "2025-04-18 09:00") in changed.before
    [gone] = listing(ada, "notes").removed
    assert (gone.title, gone.mark) == ("Gate code", "removed")
    assert "Gate code" not in marks


def test_a_long_list_is_cut_and_counted(ada: "Assistant") -> None:
    found = listing(ada, "mail", most=2)
    assert (sum(len(group.rows) for group in found.groups), found.count) == (2, 5)


@pytest.mark.parametrize("app", ["mail", "calendar", "notes", "music", "phonecall"])
def test_texts_of_items_are_whole(ada: "Assistant", app: str) -> None:
    bodies = " ".join(f"{row.title} {row.body} {row.details}" for row in rows(ada, app))
    for item in ada.view().items:
        if item.app == app:
            title = item.text("title") or item.text("subject") or item.text("song_name")
            assert title in bodies
