"""What a person has, application by application, with what the assistant changed marked."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_line import said_time
from ctrag.text.words import fold
from ctrag.web.names import NAMES, app_name
from stores.people.app_spec import spec_of
from stores.people.local_time import format_local_time

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant
    from stores.people.changes import TouchedItem
    from stores.people.items import Item

ORDER = tuple(NAMES)
PAGE = 100
"""Rows of a list before "show more"."""
Mark = Literal["made", "changed", "removed", ""]
_NAMES = re.compile(
    r"\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b"
)
_HIDDEN = ("repeats",)
"""Fields for programs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item."""

    id: str
    app: str
    title: str
    when: str
    """As people say it; empty without a time."""
    moment: datetime | None
    people: str
    details: tuple[tuple[str, str], ...]
    """(field, text) of what is shown small."""
    body: str
    states: tuple[str, ...]
    group: str
    mark: Mark = ""
    """What the assistant did with it."""
    change: str = ""
    """That call, in words."""
    before: tuple[tuple[str, str, str], ...] = ()
    """(field, before, now) of what it changed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one head."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """One application's page, or what a search found in all."""

    groups: tuple[Group, ...]
    count: int
    """Rows that fit, shown or not."""
    removed: tuple[Row, ...] = ()
    unavailable: dict[str, str] = field(default_factory=dict)


def apps_of(assistant: "Assistant") -> list[tuple[str, str, int]]:
    """(application, its name, how many items), the packaged ones first."""
    counts: dict[str, int] = dict.fromkeys((spec.name for spec in assistant.stores.apps), 0)
    for item in assistant.view().items:
        counts[item.app] = counts.get(item.app, 0) + 1
    known = [app for app in ORDER if app in counts]
    further = [app for app in counts if app not in ORDER]
    return [(app, app_name(app), counts[app]) for app in (*known, *further)]


def listing(
    assistant: "Assistant",
    app: str | None,
    words: str = "",
    *,
    most: int = PAGE,
    now: datetime | None = None,
) -> Listing:
    """The items of an application, or of all, that have every word.

    Args:
        assistant: Whose items.
        app: The application; all when None.
        words: What is searched for.
        most: Rows at most.
        now: The time that "today" and "overdue" go by; the request's default when None.
    """
    view = assistant.view()
    moment = now or present(assistant)
    touched = {one.item_id: one for one in assistant.stores.touched(assistant.person.person_id)}
    fitting = [
        item for item in view.items if app in (None, item.app) and _has(item, fold(words).split())
    ]
    rows = [_row(item, touched.get(item.id), moment) for item in fitting]
    there = {item.id for item in view.items}
    removed = [
        _row(one.before, one, moment, removed=True)
        for one in touched.values()
        if one.item_id not in there and one.before is not None and app in (None, one.before.app)
    ]
    found = _grouped(rows, app, moment)
    return Listing(_first(found, most), len(rows), tuple(removed), dict(view.unavailable))


def present(assistant: "Assistant") -> datetime:
    """The time on the person's phone."""
    return assistant.request("now").asked_at


@dataclass(frozen=True, slots=True)
class Day:
    """One day of a calendar's week."""

    date: date
    today: bool
    rows: tuple[Row, ...]


def week(assistant: "Assistant", monday: date, now: datetime | None = None) -> list[Day]:
    """The seven days from `monday` on, each with what is on that day in the order of its time."""
    moment = now or present(assistant)
    touched = {one.item_id: one for one in assistant.stores.touched(assistant.person.person_id)}
    days: list[Day] = []
    events = [item for item in assistant.view().items if item.app == "calendar"]
    for offset in range(7):
        day = monday + timedelta(days=offset)
        rows = [_row(one, touched.get(one.id), moment) for one in events if _on(one, day)]
        rows.sort(key=lambda row: (row.moment or datetime.min, row.title))
        days.append(Day(day, day == moment.date(), tuple(rows)))
    return days


def monday_of(day: date) -> date:
    """The Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def _on(event: "Item", day: date) -> bool:
    begin = item_text.time_of(event)
    if begin is None:
        return False
    end = item_text.time_of(event, "end") or begin
    midnight = datetime.combine(day, datetime.min.time())
    return begin.date() == day or (begin < midnight < end)


def _has(item: "Item", words: Sequence[str]) -> bool:
    text = fold(item_text.searched_text(item)) if words else ""
    return all(word in text for word in words)


def _row(
    item: "Item", touched: "TouchedItem | None", now: datetime, *, removed: bool = False
) -> Row:
    spec = spec_of(item.app)
    moment = item_text.time_of(item)
    end = item_text.time_of(item, "end")
    when = "" if moment is None else _said(moment, now)
    if moment is not None and abs((moment - now).days) > 300:
        when += f" {moment.year}" if str(moment.year) not in when else ""
    if moment is not None and end is not None:
        when += f"–{end:%H:%M}" if end.date() == moment.date() else f" to {_said(end, now)}"
    title = item_text.title(item)
    body = "\n".join(
        item.text(one.name) for one in spec.fields if one.type == "text" and one.role == "text"
    ).strip()
    named = {*spec.named("title"), *spec.named("time"), *spec.named("end"), *spec.named("group")}
    details = tuple(
        (one.name.replace("_", " "), item.text(one.name))
        for one in spec.fields
        if one.name not in (*named, *_HIDDEN)
        and one.type not in ("text", "boolean", "datetime")
        and one.role not in ("state", "person")
        and item.text(one.name) not in ("", title)
    )
    people = ", ".join(item_text.people(item))
    states = tuple(
        one.name if one.type == "boolean" else item.text(one.name)
        for one in spec.fields
        if one.role == "state" and (item.flag(one.name) or one.type != "boolean")
    )
    mark: Mark = "" if touched is None else "made" if touched.before is None else "changed"
    return Row(
        item.id,
        item.app,
        title or "(no title)",
        when,
        moment,
        "" if people == title else people,
        details,
        body,
        tuple(filter(None, states)),
        ", ".join(filter(None, item_text.groups(item))),
        "removed" if removed else mark,
        "" if touched is None else touched.record.summary,
        () if touched is None or removed else _differences(touched.before, item),
    )


def _said(moment: datetime, now: datetime) -> str:
    """The time as people say it, days and months as they are written: `last Sat 19:30`."""
    return _NAMES.sub(lambda found: found[0].capitalize(), said_time(moment, now))


def _differences(before: "Item | None", now: "Item") -> tuple[tuple[str, str, str], ...]:
    if before is None:
        return ()
    return tuple(
        (name.replace("_", " "), _shown(before.fields.get(name)), _shown(now.fields.get(name)))
        for name in now.fields
        if before.fields.get(name) != now.fields.get(name) and name not in _HIDDEN
    )


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return format_local_time(value).replace("T", " ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _grouped(rows: Iterable[Row], app: str | None, now: datetime) -> list[Group]:
    latest = sorted(rows, key=lambda row: (row.moment or datetime.min, row.title), reverse=True)
    if app is None:
        by_app: dict[str, list[Row]] = {}
        for row in latest:
            by_app.setdefault(row.app, []).append(row)
        order = [*(one for one in ORDER if one in by_app), *(o for o in by_app if o not in ORDER)]
        return [Group(app_name(one), tuple(by_app[one])) for one in order]
    if app == "reminders":
        return _reminders(latest, now)
    if app == "notes" or app == "music":
        return _by(latest, lambda row: row.group or "Without a folder")
    return [Group("", tuple(latest))] if latest else []


def _reminders(rows: Sequence[Row], now: datetime) -> list[Group]:
    by_due = sorted(rows, key=lambda row: (row.moment is None, row.moment or now))
    open_ones = [row for row in by_due if "done" not in row.states]
    found: Mapping[str, list[Row]] = {
        "Overdue": [row for row in open_ones if row.moment is not None and row.moment < now],
        "To come": [row for row in open_ones if row.moment is not None and row.moment >= now],
        "Without a date": [row for row in open_ones if row.moment is None],
        "Done": [row for row in by_due if "done" in row.states],
    }
    return [Group(title, tuple(some)) for title, some in found.items() if some]


def _by(rows: Sequence[Row], key: Callable[[Row], str]) -> list[Group]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [Group(title, tuple(some)) for title, some in groups.items()]


def _first(groups: Sequence[Group], most: int) -> tuple[Group, ...]:
    kept: list[Group] = []
    for one in groups:
        if most <= 0:
            break
        kept.append(Group(one.title, one.rows[:most]))
        most -= len(one.rows)
    return tuple(kept)
