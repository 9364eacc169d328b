"""The Calendar app."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    address_of,
    addressed,
    asked,
    changed,
    created,
    in_full,
    listing,
    minute,
    moment_of,
    one_line,
    quote,
    search,
    sends,
    title_of,
    titled,
    when,
    writes,
)
from ctrag.assistant.apps.repeating import (
    ended,
    following,
    means_all,
    meant,
    moved,
    repeats,
    rhythm,
)
from ctrag.text.dates.temporal_expressions import find_expressions
from stores.people.changes import Change, OutboxEntry
from stores.people.items import Item

_NEW_EVENT_LENGTH = timedelta(hours=1)
_FREE = re.compile(r"\b(free|available|busy|have time)\b", re.IGNORECASE)
"""Words of a request that asks whether there is time."""


def create_event(call: Call) -> Effect:
    """Puts an event of one hour into the calendar."""
    title, start = call.text("title").strip(), call.time("start")
    if start is None or start < minute(call.at):
        raise Refusal(f"The start of {quote(title)}, {when(start, call.at)}, lies in the past.")
    event = created(
        call,
        "calendar",
        title=title,
        start=start,
        end=start + _NEW_EVENT_LENGTH,
        location=call.text("location") or None,
        attendees=tuple(call.texts("attendees")),
    )
    return writes(f"Created {_line(event.item, call.at)}.", event)


def get_event(call: Call) -> Effect:
    """Reports time, place, attendees and notes of an event."""
    event = _event(call)
    facts = [
        title_of(event),
        f"Time: {_span(event, call.at)}",
        f"Place: {event.text('location') or 'none given'}",
        f"Attendees: {event.text('attendees') or 'none'}",
    ]
    if rhythm(event):
        facts.append(f"Repeats: {rhythm(event)}")
    if event.text("notes"):
        facts.append(f"Notes: {event.text('notes')}")
    return Effect("\n".join(facts), (event,))


def list_events(call: Call) -> Effect:
    """Lists what happens on a day, also what began before it, in order of start."""
    day = call.day("date")
    events = [
        event
        for event in sorted(call.of("calendar"), key=moment_of)
        if day and (moment_of(event).date() == day or _runs_into(event, day))
    ]
    name = f"{day:%a %-d %b %Y}" if day else "no day"
    lines = [_line(event, call.at) for event in events]
    answer = listing(f"{name}:", lines, f"Nothing is planned for {name}.")
    if day and _FREE.search(call.said):
        answer = f"{_free(call, day, events)}\n{answer}" if events else answer
    return Effect(answer, tuple(events))


def search_events(call: Call) -> Effect:
    """Finds events by words, people or places."""
    query = call.text("query")
    found = search(call, "calendar", query)
    lines = [_line(event, call.at) for event in found]
    nothing = f"No event has the words {quote(query)}."
    return Effect(listing(f"Events for {quote(query)}:", lines, nothing), tuple(found))


def reschedule_event(call: Call) -> Effect:
    """Moves an event; it lasts as long as before."""
    event, start = _event(call), call.time("new_start")
    if start is None:
        raise Refusal(f"Moving {quote(title_of(event))} needs a new start.")
    end = start + (_end(event) - moment_of(event))
    answer = f"Moved {quote(title_of(event))} to {when(start, call.at)}"
    past = ", which lies in the past" if start < minute(call.at) else ""
    if means_all(call, event):
        put = moved(following(call, event), start)
        answer += (
            f"{past}, and all that follow by as much ({rhythm(event)} so far, {len(put)} in all)."
        )
        return Effect(
            answer,
            tuple(one.item for one in put),
            Change(one_line(answer), put=put, state=ended(call, event, series=True)),
            question=asked(answer),
        )
    answer += f"{past}."
    question = asked(answer)
    if rhythm(event):
        answer += f" It repeats {rhythm(event)}: only this one was moved."
        question = f"{question} It repeats {rhythm(event)}: only this one is moved."
    return writes(answer, changed(event, start=start, end=end), question=question)


def cancel_event(call: Call) -> Effect:
    """Removes an event from the calendar without notifying anybody; of a repeating one only this
    occurrence, unless the person says that all that follow are meant."""
    event = _event(call)
    answer = f"Cancelled {quote(title_of(event))}, {when(moment_of(event), call.at)}"
    if not rhythm(event):
        # Noted, so that importing its calendar again does not bring it back.
        answer += "."
        change = Change(one_line(answer), remove=(event.id,), state=ended(call, event))
        return Effect(answer, (event,), change, question=asked(answer))
    gone = [event]
    if means_all(call, event):
        gone = following(call, event)
        answer += f", and all that follow ({rhythm(event)}, {len(gone)} in all)."
        question = asked(answer)
    else:
        question = f"{asked(answer)} It repeats {rhythm(event)}: only this one is cancelled."
        answer += f". It repeats {rhythm(event)}: only this one was cancelled."
    state = ended(call, *gone, series=len(gone) > 1 or means_all(call, event))
    change = Change(one_line(answer), remove=tuple(one.id for one in gone), state=state)
    return Effect(answer, tuple(gone), change, question=question)


def notify_attendees(call: Call) -> Effect:
    """Sends a message to everybody who takes part in an event, the person aside."""
    event, message = _event(call), call.text("message")
    attendees = event.fields.get("attendees")
    names = [
        name
        for name in (attendees if isinstance(attendees, tuple) else ())
        if name.casefold() != call.person.profile.name.casefold()
    ]
    if not names:
        raise Refusal(f"The event {quote(title_of(event))} has no attendees.")
    addresses = {name: address_of(call.person.contact(name), name) for name in names}
    if nowhere := [one_line(name) for name in names if not addresses[name]]:
        have = "has" if len(nowhere) == 1 else "have"
        raise Refusal(
            f"{', '.join(nowhere)} {have} neither a number nor a mail address, so nobody was told."
        )
    content = {"event": title_of(event), "message": message}
    recipients = [addressed(name, addresses[name]) for name in names]
    whom = ", ".join(recipients)
    return sends(
        f"Told {whom}: {quote(message)}.",
        f"Send to {whom}, about {quote(title_of(event))}: {in_full(message)}",
        [
            OutboxEntry("message", name, {**content, "to": addresses[name]}, event.id)
            for name in names
        ],
        [event],
        recipients,
    )


APIS = (
    create_event,
    get_event,
    list_events,
    search_events,
    reschedule_event,
    cancel_event,
    notify_attendees,
)


def _event(call: Call) -> Item:
    """The event of that title; of a repeating one, the occurrence that the request means."""
    event = titled(call, "calendar", call.text("title"), "event")
    if not repeats(event):
        return event
    return meant(call, [one for one in call.of("calendar") if repeats(one) == repeats(event)])


def _end(event: Item) -> datetime:
    start = moment_of(event)
    return event.time("end") or start + min(_NEW_EVENT_LENGTH, datetime.max - start)


def _runs_into(event: Item, day: date) -> bool:
    return moment_of(event).date() < day and _end(event) > datetime.combine(day, time.min)


def _free(call: Call, day: date, events: Sequence[Item]) -> str:
    """Whether the part of the day that the request names, or all of it, is free of events that have
    a time."""
    begins, ends = datetime.combine(day, time.min), datetime.combine(day, time.max)
    for one in find_expressions(call.said, call.at):
        if one.start.date() == day and one.grain == "part":
            begins, ends = one.start, min(one.end, ends)
            break
    taken = [
        event
        for event in events
        if not _whole_days(event) and moment_of(event) < ends and _end(event) > begins
    ]
    part = "" if begins.time() == time.min else f" from {begins:%H:%M} to {ends:%H:%M}"
    if not taken:
        return f"Free{part}."
    many = "1 event" if len(taken) == 1 else f"{len(taken)} events"
    return f"Not free{part}: {many}."


def _whole_days(event: Item) -> bool:
    start, end = moment_of(event), _end(event)
    return start.time() == end.time() == time.min and start < end


def _span(event: Item, at: datetime) -> str:
    end = _end(event)
    if _whole_days(event):
        first, last = moment_of(event), end - timedelta(days=1)
        names = dict.fromkeys(when(one, at).removesuffix(" 00:00") for one in (first, last))
        return f"{' to '.join(names)}, all day"
    same_day = end.date() == moment_of(event).date()
    return f"{when(moment_of(event), at)} to {f'{end:%H:%M}' if same_day else when(end, at)}"


def _line(event: Item, at: datetime) -> str:
    place = f", {event.text('location')}" if event.text("location") else ""
    return f"{_span(event, at)}: {quote(title_of(event))}{place}"
