"""The Reminders app."""

from collections import Counter
from datetime import datetime

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
from stores.people.items import Item

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
    return writes(f"Created the reminder {_line(reminder.item, call.at)}.", reminder)


def list_reminders(call: Call) -> Effect:
    """Lists open reminders, next due first and undated ones last."""
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
    lines = [_line(one, call.at) for one in still_open]
    nothing = f"No reminder{where} is open."
    return Effect(listing(f"Open reminders{where}:", lines, nothing), tuple(still_open))


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


def _list(reminder: Item) -> str:
    return reminder.text("list")


def _line(reminder: Item, at: datetime) -> str:
    due = reminder.time("due")
    return f"{quote(title_of(reminder))}, {f'due {when(due, at)}' if due else 'no due time'}"
