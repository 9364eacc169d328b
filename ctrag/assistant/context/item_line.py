"""Items on one line each, for prompts and the API classifier."""

from datetime import date, datetime

from ctrag.assistant.context import item_text
from stores.people.items import Item, Person
from stores.people.local_time import format_local_time

WIDTH = 140
"""Characters of an item's line at most, where the budget allows."""
_WEEK = 6
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def item_line(item: Item, width: int = WIDTH) -> str:
    """An item on one line: application, time, state, words; at most `width` characters."""
    parts = [f"{item.app}: {item_text.title(item)}"]
    times = [
        format_local_time(moment).replace("T", " ")
        for role in ("time", "end")
        for name in [item_text.field_of(item, role)]
        if name is not None and (moment := item.time(name)) is not None
    ]
    if times:
        parts.append(" to ".join(times))
    parts += _state(item)
    for role in ("person", "place", "group", "text"):
        for name in item_text.fields_of(item, role):
            text = item.text(name)
            if text and text != item_text.title(item):
                parts.append(text)
    return one_line("; ".join(parts), width)


def item_words(item: Item, person: Person, asked_at: datetime, width: int) -> str:
    """The item as short text: title, time in everyday words, state, contacts with their relation,
    the rest; at most `width` characters."""
    title = item_text.title(item)
    moment = item_text.time_of(item)
    parts = [title, "" if moment is None else said_time(moment, asked_at), *_state(item)]
    for role in ("person", "place", "group", "text"):
        for name in item_text.fields_of(item, role):
            text = item_text.introduced(person, item, name) if role == "person" else item.text(name)
            if text and item.text(name) != title:
                parts.append(text)
    return one_line("; ".join(filter(None, parts)), width)


def said_time(moment: datetime, asked_at: datetime) -> str:
    """A time as people say it: `today 19:30`, `sat 19:30`, `last sat 19:30`, `24 apr 19:30`."""
    return f"{_said_day(moment.date(), asked_at)} {moment:%H:%M}"


def _said_day(day: date, asked_at: datetime) -> str:
    days = (day - asked_at.date()).days
    if abs(days) <= 1:
        return ("yesterday", "today", "tomorrow")[days + 1]
    if abs(days) <= _WEEK:
        return f"{'last ' if days < 0 else ''}{_DAYS[day.weekday()]}"
    return f"{day.day} {_MONTHS[day.month - 1]}"


def item_name(item: Item) -> str:
    """How the prompt refers to an item that it has shown."""
    return f"{item.app}: {one_line(item_text.title(item), 60)}"


def _state(item: Item) -> list[str]:
    states = []
    for name in item_text.fields_of(item, "state"):
        value = item.fields.get(name)
        if isinstance(value, bool):
            if value:
                states.append(name)
        elif value:
            states.append(str(value))
    return states


def one_line(text: str, width: int) -> str:
    """The text with single spaces, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"
