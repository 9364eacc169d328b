"""Plain questions about what is on the phone."""

import re
from collections.abc import Iterator

from synth.offline.asking import Asking
from synth.offline.plain_words import Way, is_coming, made
from synth.provider import LabelledRequest

_READ: dict[str, str] = {
    "calendar": "get_event",
    "mail": "read_mail",
    "notes": "read_note",
    "reminders": "read_reminder",
    "google": "get_search_history",
}


def _details(asking: Asking, app: str) -> Iterator[LabelledRequest]:
    """A question about something that an item says, or about the item."""
    for entry in asking.of(app)[:1]:
        asked = asking.soon(entry.moment if is_coming(asking, entry) else None)
        if asked is None:
            return
        api = _READ[app]
        item = entry.item
        key = {"mail": "subject", "google": "query"}.get(app, "title")
        own = entry.texts("ask")
        text = None
        if own and asking.draw.random() < 0.7:
            text = entry.words.with_values({}, asked).text(asking.draw.choice(own))
        name = f"ask {api}"
        yield from made(asking, name, entry, {key: item.text(key)}, [item], asked, text,
                        call=asking.called(entry))  # fmt: skip


def _day(asking: Asking) -> Iterator[LabelledRequest]:
    coming = [one for one in asking.of("calendar") if (one.item.time("start") or asking.now) >
              asking.now]  # fmt: skip
    for entry in coming[:1]:
        start = entry.item.time("start")
        asked = asking.soon(start)
        if start is None or asked is None or (start - asked).days > 6:
            return
        same = [one.item for one in coming
                if (other := one.item.time("start")) and other.date() == start.date()
                and other > asked]  # fmt: skip
        date = f"{start:%Y-%m-%d}"
        yield from made(asking, "ask list_events", None, {"date": date}, same, asked,
                        x=asking.moment(start))  # fmt: skip


def _meeting(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("calendar"):
        people = entry.item.fields.get("attendees")
        if is_coming(asking, entry) and isinstance(people, tuple) and people:
            contact = asking.persona.person.contact(asking.draw.choice(people))
            if contact is None:
                return
            same = [
                one.item
                for one in asking.of("calendar")
                if contact.name in one.item.text("attendees") and is_coming(asking, one)
            ]
            yield from made(asking, "ask search_events", None, {"query": contact.name}, same,
                            asking.soon(entry.moment), who=asking.who(contact))  # fmt: skip
            return


def _from(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("mail"):
        contact = asking.persona.person.contact(entry.item.text("sender"))
        if contact:
            same = [one.item for one in asking.of("mail") if one.item.text("sender") ==
                    contact.name]  # fmt: skip
            yield from made(asking, "ask search_mail", None, {"sender": contact.name}, same,
                            who=asking.who(contact))  # fmt: skip
            return


def _unread(asking: Asking) -> Iterator[LabelledRequest]:
    unread = [one.item for one in asking.of("mail") if one.item.flag("unread")]
    if unread:
        yield from made(asking, "ask read_unread_mail", None, {}, unread)


def _folder(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("notes")[:1]:
        folder = entry.item.text("folder")
        same = [one.item for one in asking.of("notes") if one.item.text("folder") == folder]
        yield from made(asking, "ask list_notes", None, {"folder": folder}, same, folder=folder)


def _list(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("reminders")[:1]:
        name = entry.item.text("list")
        same = [one.item for one in asking.of("reminders")
                if one.item.text("list") == name and not one.item.flag("done")]  # fmt: skip
        if same:
            lower = name[:1].lower() + name[1:] if name.isascii() else name
            yield from made(asking, "ask list_reminders", None, {"list": name}, same, list=lower)


def _missed(asking: Asking) -> Iterator[LabelledRequest]:
    missed = [one.item for one in asking.of("phonecall") if one.item.text("direction") == "missed"]
    if missed:
        yield from made(asking, "ask get_missed_calls", None, {}, missed)


def _history(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        contact = asking.persona.person.contact(entry.item.text("contact"))
        if contact:
            same = [one.item for one in asking.of("phonecall") if one.item.text("contact") ==
                    contact.name]  # fmt: skip
            yield from made(asking, "ask get_call_history", None, {"contact": contact.name}, same,
                            who=asking.who(contact))  # fmt: skip
            return


def _voicemail(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        contact = asking.persona.person.contact(entry.item.text("contact"))
        if contact and entry.item.text("voicemail"):
            yield from made(asking, "ask play_voicemail", entry, {"contact": contact.name},
                            [entry.item], who=asking.who(contact))  # fmt: skip
            return


def _playing(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("music")[:1]:
        yield from made(asking, "ask get_current_song", None, {}, [entry.item],
                        playing=entry.item.id)  # fmt: skip


def _noted(asking: Asking) -> Iterator[LabelledRequest]:
    """A word of a note, to find whatever has it."""
    for entry in asking.of("notes"):
        words = re.findall(r"\b[a-z]{5,}\b", entry.item.text("body"))
        if words:
            word = asking.draw.choice(words)
            same = [one.item for one in asking.of("notes")
                    if word in f"{one.item.text('title')} {one.item.text('body')}".lower()
            ]  # fmt: skip
            yield from made(asking, "ask search_notes", None, {"query": word}, same, word=word)
            return


def _about(app: str) -> Way:
    return lambda asking: _details(asking, app)


QUESTIONS: dict[str, list[Way]] = {
    "calendar": [_about("calendar"), _about("calendar"), _day, _meeting],
    "mail": [_about("mail"), _about("mail"), _about("mail"), _from, _unread],
    "notes": [_about("notes"), _about("notes"), _folder, _noted],
    "reminders": [_about("reminders"), _list],
    "google": [_about("google")],
    "phonecall": [_missed, _history, _voicemail],
    "music": [_playing],
}
"""Application → the ways of asking about it."""
