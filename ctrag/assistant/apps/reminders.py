"""The Reminders app."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    changed,
    created,
    listing,
    matching,
    minute,
    pick,
    quote,
    removes,
    title_of,
    when,
    writes,
)
from ctrag.assistant.apps.repeating import only_once
from ctrag.text.dates.temporal_expressions import TemporalExpression, find_expressions
from stores.people.items import Item

_OVERDUE = re.compile(r"\b(?:overdue|past due|(?:running |am i )?late|behind)\b", re.IGNORECASE)
_CLOCK = ("hour", "minute")
_NEW_REMINDERS_LIST = "Reminders"


def create_reminder(call: Call) -> Effect:
    """Adds a reminder to "Reminders" or, where the person has no such list, the most used one."""
    title, due = call.text("title").strip(), call.time("due")
    if due is not None and due < minute(call.at):
        raise Refusal(f"The due time of {quote(title)}, {when(due, call.at)}, lies in the past.")
    lists = Counter(_list(one) for one in call.of("reminders"))
    name = _NEW_REMINDERS_LIST
    if lists and name not in lists:
        name = lists.most_common(1)[0][0]
    reminder = created(call, "reminders", title=title, due=due, list=name, done=False)
    line = _line(reminder.item, call.at)
    return writes(f"Created the reminder {line}.{only_once(call)}", reminder)


def list_reminders(call: Call) -> Effect:
    """Lists open reminders, next due first and undated ones last; of a time, or the overdue ones,
    where the request names it."""
    name = call.text("list")
    found = call.of("reminders")
    where = ""
    if name.strip():
        found = matching(name, found, _list)
        if not found:
            raise Refusal(f"There is no list {quote(name)}.")
        where = f" in {_list(found[0])}"
    still_open = [one for one in found if not one.flag("done")]
    still_open.sort(key=lambda one: one.time("due") or datetime.max)
    wanted, told = _asked_for(call, still_open)
    lines = [_line(one, call.at) for one in wanted]
    nothing = f"No reminder{where} is {told or 'open'}."
    if told and still_open and not wanted:
        nothing += f" Otherwise open: {len(still_open)}."
    head = f"{told.capitalize()}{where}:" if told else f"Open reminders{where}:"
    return Effect(listing(head, lines, nothing), tuple(wanted))


def read_reminder(call: Call) -> Effect:
    """Reports when a reminder is due and whether it is done."""
    reminder = _reminder(call)
    state = "done" if reminder.flag("done") else "open"
    return Effect(f"{_line(reminder, call.at)}, {state}, list {_list(reminder)}", (reminder,))


def complete_reminder(call: Call) -> Effect:
    """Ticks a reminder off."""
    reminder = _reminder(call)
    title = quote(title_of(reminder))
    return writes(f"Done: {title}.", changed(reminder, done=True), question=f"Tick off {title}?")


def snooze_reminder(call: Call) -> Effect:
    """Makes a reminder due at another time; one that was done is open again."""
    reminder, until = _reminder(call), call.time("until")
    if until is None:
        raise Refusal(f"Postponing {quote(title_of(reminder))} needs a time.")
    title, due = quote(title_of(reminder)), when(until, call.at)
    due += ", which lies in the past" if until < minute(call.at) else ""
    return writes(
        f"{title} is now due {due}.",
        changed(reminder, due=until, done=False),
        question=f"Put off {title} until {due}?",
    )


def delete_reminder(call: Call) -> Effect:
    """Deletes a reminder."""
    reminder = _reminder(call)
    return removes(f"Deleted the reminder {quote(title_of(reminder))}.", reminder)


APIS = (
    create_reminder,
    list_reminders,
    read_reminder,
    complete_reminder,
    snooze_reminder,
    delete_reminder,
)


def _reminder(call: Call) -> Item:
    """The reminder of that title; an open one where several are alike."""
    title = call.text("title")
    found = matching(title, call.of("reminders"), title_of)
    if not found:
        raise Refusal(f"There is no reminder {quote(title)}.")
    return pick(call, [one for one in found if not one.flag("done")] or found)


def _asked_for(call: Call, still_open: Sequence[Item]) -> tuple[Sequence[Item], str]:
    """The reminders that are due when the request says, and how: "overdue", "due tomorrow"."""
    if _OVERDUE.search(call.said):
        return [one for one in still_open if _late(one, call.at)], "overdue"
    spans = [one for one in find_expressions(call.said, call.at) if one.grain not in _CLOCK]
    spans = [one for one in spans if one.end > call.at]
    if not spans:
        return still_open, ""
    span = spans[0]
    within = [one for one in still_open if (due := one.time("due")) and _in(due, span)]
    return within, f"due {span.phrase}"


def _in(due: datetime, span: TemporalExpression) -> bool:
    if due.time() == time.min and span.grain == "part":  # of a day without a time
        return (
            span.start.date() <= due.date() < max(span.end.date(), due.date() + timedelta(days=1))
        )
    return span.start <= due < span.end


def _late(reminder: Item, at: datetime) -> bool:
    due = reminder.time("due")
    if due is None:
        return False
    return due.date() < at.date() if due.time() == time.min else due < at


def _list(reminder: Item) -> str:
    return reminder.text("list")


def _line(reminder: Item, at: datetime) -> str:
    due = reminder.time("due")
    return f"{quote(title_of(reminder))}, {f'due {_due(due, at)}' if due else 'no due time'}"


def _due(due: datetime, at: datetime) -> str:
    """When something is due: a day where it has no time."""
    return when(due, at).removesuffix(" 00:00")
