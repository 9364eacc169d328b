"""The Calendar app."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.free_time import NEW_EVENT_LENGTH, end_of, free_time, whole_days
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
from ctrag.assistant.apps.named_occurrences import (
    Named,
    first_from,
    leaves_some_out,
    moved_together,
    named_occurrences,
    weekdays_of_all,
    without_reason,
)
from ctrag.assistant.apps.repeating import (
    ended,
    following,
    means_all,
    meant,
    moved,
    only_once,
    repeats,
    rhythm,
)
from stores.people.changes import Change, OutboxEntry
from stores.people.items import Item

_BIRTHDAY = "birthday"
_SAID_ONE_BY_ONE = 6
"""Occurrences that are named one by one in an answer, at most."""


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
        end=start + NEW_EVENT_LENGTH,
        location=call.text("location") or None,
        attendees=tuple(call.texts("attendees")),
    )
    return writes(f"Created {_line(event.item, call.at)}.{only_once(call)}", event)


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
    if day and events and (told := free_time(call, day, events)):
        answer = f"{told}\n{answer}"
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
    if together := moved_together(call, event):
        return _moves_several(call, together, start.time())
    end = start + (end_of(event) - moment_of(event))
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
    """Removes an event from the calendar without notifying anybody; of a repeating one this
    occurrence, those that the request names, or all that follow, where it says so."""
    call = without_reason(call)
    event = _event(call)
    if repeats(event) and (named := named_occurrences(call, event)):
        return _cancels_several(call, named)
    if repeats(event):
        if leaves_some_out(call, event):
            raise Refusal(
                f"Of {quote(title_of(event))} I cannot leave some out: name those that are to be "
                "cancelled, such as those of next week."
            )
        event = first_from(call, event)
    answer = f"Cancelled {quote(title_of(event))}, {when(moment_of(event), call.at)}"
    if not rhythm(event):
        # Noted, so that importing its calendar again does not bring it back.
        answer += "."
        change = Change(one_line(answer), remove=(event.id,), state=ended(call, event))
        return Effect(answer, (event,), change, question=asked(answer))
    gone = [event]
    whole = means_all(call, event)
    if whole:
        gone, whole = _all_named(call, event)
        last = "" if whole else f", the last {when(moment_of(gone[-1]), call.at)}"
        answer += f", and all that follow ({rhythm(gone[0])}, {len(gone)} in all{last})."
        if not whole:
            days = " and ".join(dict.fromkeys(f"{moment_of(one):%A}" for one in gone[:7]))
            answer = (
                f"Cancelled {quote(title_of(event))} on every {days} that is in the calendar, "
                f"{_in_words(gone, call.at)}. Other days are still there."
            )
        question = asked(answer)
    else:
        question = f"{asked(answer)} It repeats {rhythm(event)}: only this one is cancelled."
        answer += f". It repeats {rhythm(event)}: only this one was cancelled."
    state = ended(call, *gone, series=whole)
    change = Change(one_line(answer), remove=tuple(one.id for one in gone), state=state)
    return Effect(answer, tuple(gone), change, question=question)


def _all_named(call: Call, event: Item) -> tuple[list[Item], bool]:
    """All that follow, or those on the weekdays that the request names; whether it is all."""
    days = weekdays_of_all(call, event)
    every = following(call, event)
    first = min(
        (one for one in call.of("calendar") if _same_series_ahead(call, event, one)),
        key=moment_of,
        default=event,
    )
    ahead = following(call, first)
    chosen = [one for one in ahead if moment_of(one).weekday() in days]
    return (chosen, False) if chosen and len(chosen) < len(ahead) else (every, True)


def _same_series_ahead(call: Call, event: Item, other: Item) -> bool:
    return repeats(other) == repeats(event) and moment_of(other) >= call.at


def _cancels_several(call: Call, named: Named) -> Effect:
    """Cancels the occurrences that were named together."""
    gone = named.events
    answer = f"Cancelled {quote(title_of(gone[0]))}, {_in_words(gone, call.at)}."
    answer += _still_there(call, gone)
    for day in named.missing:
        answer += f" There is none on {day:%a %-d %b %Y}."
    change = Change(
        one_line(answer), remove=tuple(one.id for one in gone), state=ended(call, *gone)
    )
    return Effect(answer, gone, change, question=asked(answer))


def _moves_several(call: Call, named: Named, clock: time) -> Effect:
    """Moves the occurrences that were named together to another time of their days."""
    put = []
    for one in named.events:
        start = datetime.combine(moment_of(one).date(), clock)
        put.append(changed(one, start=start, end=start + (end_of(one) - moment_of(one))))
    title = quote(title_of(named.events[0]))
    answer = f"Moved {title} to {clock:%H:%M}, {_in_words(named.events, call.at)}."
    return writes(answer + _still_there(call, named.events), *put)


def _in_words(events: Sequence[Item], at: datetime) -> str:
    """Several times in words: all of a few, of many the first and the last."""
    if len(events) <= _SAID_ONE_BY_ONE:
        return ", ".join(when(moment_of(one), at) for one in events)
    first, last = (when(moment_of(one), at) for one in (events[0], events[-1]))
    return f"{first} to {last}, {len(events)} in all"


def _still_there(call: Call, gone: Sequence[Item]) -> str:
    """Which occurrence comes next when these are gone."""
    ids = {one.id for one in gone}
    left = [
        one
        for one in call.of("calendar")
        if one.id not in ids
        and moment_of(one) >= call.at
        and title_of(one).casefold() == title_of(gone[0]).casefold()
    ]
    if not left:
        return ""
    return f" The next one that stays is {when(min(map(moment_of, left)), call.at)}."


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
    if _BIRTHDAY in title_of(event).casefold():  # an event of each year, all of one title
        same = [one for one in call.of("calendar") if title_of(one) == title_of(event)]
        return meant(call, same)
    if not repeats(event):
        return event
    return meant(call, [one for one in call.of("calendar") if repeats(one) == repeats(event)])


def _runs_into(event: Item, day: date) -> bool:
    return moment_of(event).date() < day and end_of(event) > datetime.combine(day, time.min)


def _span(event: Item, at: datetime) -> str:
    end = end_of(event)
    if whole_days(event):
        first, last = moment_of(event), end - timedelta(days=1)
        names = dict.fromkeys(when(one, at).removesuffix(" 00:00") for one in (first, last))
        return f"{' to '.join(names)}, all day"
    same_day = end.date() == moment_of(event).date()
    return f"{when(moment_of(event), at)} to {f'{end:%H:%M}' if same_day else when(end, at)}"


def _line(event: Item, at: datetime) -> str:
    place = f", {event.text('location')}" if event.text("location") else ""
    return f"{_span(event, at)}: {quote(title_of(event))}{place}"
