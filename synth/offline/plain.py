"""Plain requests about what is on the phone: questions, and orders that an item completes."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from stores.people.dataset import Kind
from stores.people.items import Item
from synth.offline.asking import Asking, Entry, phrases
from synth.offline.moments import Moment
from synth.offline.wording import sentence
from synth.provider import LabelledRequest, Level

_HOME = ("home", "phone", "online", "upstairs", "")
_READ: dict[str, str] = {
    "calendar": "get_event",
    "mail": "read_mail",
    "notes": "read_note",
    "reminders": "read_reminder",
    "google": "get_search_history",
}


def plain(asking: Asking, level: Level) -> Iterator[LabelledRequest]:
    """Questions (`ask`) or orders (`tell`), the applications in turn at random; endless."""
    ways = _ASK if level == "ask" else _TELL
    draw = asking.draw
    while True:
        app = draw.choice(list(ways))
        way = draw.choice(ways[app])
        try:
            yield from way(asking)
        except KeyError:  # a template's value is missing in this life
            continue


def pair(asking: Asking, entry: Entry, text: str) -> tuple[str, str]:
    """What is said and what is to be written, of `said => written`; `=` is the same words."""
    said, _, written = text.partition(" => ")
    taken: list[str] = []
    drawn: dict[str, str] = {}
    said = entry.words.text(said, taken, drawn)
    if written == "=":
        return said, said
    return said, sentence(entry.words.text(written, taken, drawn))


def _one(
    asking: Asking,
    name: str,
    entry: Entry | None,
    arguments: dict[str, str],
    relevant: list[Item],
    asked: datetime | None = None,
    text: str | None = None,
    playing: str | None = None,
    gaps: Mapping[str, str | Moment] | None = None,
    **more: str | Moment,
) -> Iterator[LabelledRequest]:
    """One request in the words of `phrases.yaml`."""
    level: Level = "ask" if name.startswith("ask") else "tell"
    kind: Kind = "mismatch" if level == "ask" else "write"
    asked = asked or asking.soon()
    if asked is None:
        return
    words = (entry.words if entry else asking.words).with_values({**(gaps or {}), **more}, asked)
    if text is None:
        text = words.text(asking.draw.choice(phrases("phrases")[name]))
    yield asking.made(
        text, asked, name.split()[1], arguments, relevant, kind=kind, level=level, playing=playing
    )


def _details(asking: Asking, app: str) -> Iterator[LabelledRequest]:
    """A question about something that an item says, or about the item."""
    for entry in asking.of(app)[:1]:
        asked = asking.soon(entry.moment if _coming(asking, entry) else None)
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
        yield from _one(asking, name, entry, {key: item.text(key)}, [item], asked, text,
                        call=asking.called(entry))  # fmt: skip


def _coming(asking: Asking, entry: Entry) -> bool:
    return entry.moment is not None and entry.moment > asking.now


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
        yield from _one(asking, "ask list_events", None, {"date": date}, same, asked,
                        x=asking.moment(start))  # fmt: skip


def _meeting(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("calendar"):
        people = entry.item.fields.get("attendees")
        if _coming(asking, entry) and isinstance(people, tuple) and people:
            contact = asking.persona.person.contact(asking.draw.choice(people))
            if contact is None:
                return
            same = [
                one.item
                for one in asking.of("calendar")
                if contact.name in one.item.text("attendees") and _coming(asking, one)
            ]
            yield from _one(asking, "ask search_events", None, {"query": contact.name}, same,
                            asking.soon(entry.moment), who=asking.who(contact))  # fmt: skip
            return


def _from(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("mail"):
        contact = asking.persona.person.contact(entry.item.text("sender"))
        if contact:
            same = [one.item for one in asking.of("mail") if one.item.text("sender") ==
                    contact.name]  # fmt: skip
            yield from _one(asking, "ask search_mail", None, {"sender": contact.name}, same,
                            who=asking.who(contact))  # fmt: skip
            return


def _unread(asking: Asking) -> Iterator[LabelledRequest]:
    unread = [one.item for one in asking.of("mail") if one.item.flag("unread")]
    if unread:
        yield from _one(asking, "ask read_unread_mail", None, {}, unread)


def _folder(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("notes")[:1]:
        folder = entry.item.text("folder")
        same = [one.item for one in asking.of("notes") if one.item.text("folder") == folder]
        yield from _one(asking, "ask list_notes", None, {"folder": folder}, same, folder=folder)


def _list(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("reminders")[:1]:
        name = entry.item.text("list")
        same = [one.item for one in asking.of("reminders")
                if one.item.text("list") == name and not one.item.flag("done")]  # fmt: skip
        if same:
            lower = name[:1].lower() + name[1:] if name.isascii() else name
            yield from _one(asking, "ask list_reminders", None, {"list": name}, same, list=lower)


def _missed(asking: Asking) -> Iterator[LabelledRequest]:
    missed = [one.item for one in asking.of("phonecall") if one.item.text("direction") == "missed"]
    if missed:
        yield from _one(asking, "ask get_missed_calls", None, {}, missed)


def _history(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        contact = asking.persona.person.contact(entry.item.text("contact"))
        if contact:
            same = [one.item for one in asking.of("phonecall") if one.item.text("contact") ==
                    contact.name]  # fmt: skip
            yield from _one(asking, "ask get_call_history", None, {"contact": contact.name}, same,
                            who=asking.who(contact))  # fmt: skip
            return


def _voicemail(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        contact = asking.persona.person.contact(entry.item.text("contact"))
        if contact and entry.item.text("voicemail"):
            yield from _one(asking, "ask play_voicemail", entry, {"contact": contact.name},
                            [entry.item], who=asking.who(contact))  # fmt: skip
            return


def _playing(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("music")[:1]:
        yield from _one(asking, "ask get_current_song", None, {}, [entry.item],
                        playing=entry.item.id)  # fmt: skip


def _reschedule(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("calendar"):
        asked = asking.soon(entry.moment)
        if not _coming(asking, entry) or asked is None or entry.moment is None:
            continue
        new = asking.later(asked)
        if asking.draw.random() < 0.4:  # the same day at another hour
            other = entry.moment.replace(minute=0, hour=asking.draw.randint(9, 20))
            if other > asked and other != entry.moment:
                new = asking.moment(other)
        yield from _one(
            asking, "tell reschedule_event", entry,
            {"title": entry.item.text("title"),
             "new_start": new.written("iso", asked, asking.draw)},
            [entry.item], asked, call=asking.called(entry), x=new,
        )  # fmt: skip
        return


def _event(api: str) -> Callable[[Asking], Iterator[LabelledRequest]]:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("calendar"):
            if not _coming(asking, entry):
                continue
            asked, item = asking.soon(entry.moment), entry.item
            gaps: dict[str, str] = {"call": asking.called(entry)}
            arguments = {"title": item.text("title")}
            if api == "notify_attendees":
                if not item.fields.get("attendees"):
                    continue
                text = asking.draw.choice(phrases("new")["messages"][:2])
                gaps["said"], arguments["message"] = pair(asking, entry, text.replace("{his} ", ""))
            if api == "google_directions":
                place = item.text("location")
                if place.casefold() in _HOME or "'s" in place or place == "station":
                    continue
                arguments = {"destination": place}
            yield from _one(asking, f"tell {api}", entry, arguments, [item], asked, gaps=gaps)
            return

    return way


def _mail(api: str) -> Callable[[Asking], Iterator[LabelledRequest]]:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("mail"):
            item = entry.item
            sender = asking.persona.person.contact(item.text("sender"))
            gaps: dict[str, str] = {"call": asking.called(entry)}
            arguments = {"subject": item.text("subject")}
            asked = asking.soon(entry.moment if _coming(asking, entry) else None)
            if api == "reply_to_mail":
                replies = entry.texts("reply")
                if not sender or not sender.email or not replies or asked is None:
                    continue
                entry.words.asked = asked
                gaps["said"], arguments["body"] = pair(asking, entry, asking.draw.choice(replies))
                gaps["who"] = asking.who(sender)
                gaps["her"] = _her(asking, sender.name)
            if api == "forward_mail":
                others = [one for one in asking.contacts() if one.email and one != sender]
                if not others or (not sender and "spam" in item.id):
                    continue
                arguments["to"], gaps["who2"] = others[0].name, asking.who(others[0])
            if api == "delete_mail" and sender:
                continue
            yield from _one(asking, f"tell {api}", entry, arguments, [item], asked, gaps=gaps)
            return

    return way


def _her(asking: Asking, name: str) -> str:
    people = (one for one in asking.words.values.values() if not isinstance(one, str | Moment))
    known = next((one for one in people if one.contact.name == name), None)
    return known.written("her") if known else "them"


def _note(api: str) -> Callable[[Asking], Iterator[LabelledRequest]]:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("notes"):
            gaps: dict[str, str] = {"call": asking.called(entry)}
            arguments = {"title": entry.item.text("title")}
            if api == "append_to_note":
                additions = entry.texts("add")
                if not additions:
                    continue
                gaps["said"], arguments["text"] = pair(asking, entry, asking.draw.choice(additions))
                arguments["text"] = arguments["text"].rstrip(".")
            if api == "share_note":
                others = [one for one in asking.contacts() if one.email]
                if not others:
                    return
                arguments["contact"], gaps["who2"] = others[0].name, asking.who(others[0])
            if api == "move_note":
                folder = asking.draw.choice(
                    ("Archive", "Private", "Work", "Family", "Ideas", "Old", "House", "Later")
                )
                if folder == entry.item.text("folder"):
                    continue
                arguments["folder"], gaps["folder2"] = folder, folder
            yield from _one(asking, f"tell {api}", entry, arguments, [entry.item], gaps=gaps)
            return

    return way


def _rewritten(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("notes"):
        if additions := entry.texts("add"):
            said, written = pair(asking, entry, asking.draw.choice(additions))
            arguments = {"title": entry.item.text("title"), "body": written.rstrip(".")}
            yield from _one(asking, "tell update_note", entry, arguments, [entry.item],
                            call=asking.called(entry), said=said)  # fmt: skip
            return


def _noted(asking: Asking) -> Iterator[LabelledRequest]:
    """A word of a note, to find whatever has it."""
    for entry in asking.of("notes"):
        words = re.findall(r"\b[a-z]{5,}\b", entry.item.text("body"))
        if words:
            word = asking.draw.choice(words)
            same = [one.item for one in asking.of("notes")
                    if word in f"{one.item.text('title')} {one.item.text('body')}".lower()
            ]  # fmt: skip
            yield from _one(asking, "ask search_notes", None, {"query": word}, same, word=word)
            return


def _reminder(api: str) -> Callable[[Asking], Iterator[LabelledRequest]]:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("reminders"):
            if entry.item.flag("done"):
                continue
            asked = asking.soon()
            arguments = {"title": entry.item.text("title")}
            gaps: dict[str, str | Moment] = {"call": asking.called(entry)}
            if api == "snooze_reminder" and asked:
                gaps["x"] = new = asking.later(asked)
                arguments["until"] = new.written("iso", asked, asking.draw)
            yield from _one(asking, f"tell {api}", entry, arguments, [entry.item], asked, gaps=gaps)
            return

    return way


def _phone(asking: Asking) -> Iterator[LabelledRequest]:
    for contact in asking.contacts():
        if not contact.phone:
            continue
        calls = [one.item for one in asking.of("phonecall")
                 if one.item.text("contact") == contact.name]  # fmt: skip
        missed = [one for one in calls if one.text("direction") == "missed"]
        gaps = {"who": asking.who(contact), "her": _her(asking, contact.name)}
        arguments = {"contact": contact.name}
        if missed:
            missed = missed[:1]
            yield from _one(asking, "tell return_missed_call", None, arguments, missed, gaps=gaps)
        else:
            yield from _one(asking, "tell call_contact", None, arguments, calls[:1], gaps=gaps)
        return


def _stranger(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        number = entry.item.text("contact")
        if asking.persona.person.contact(number) is None and number.startswith("+"):
            yield from _one(asking, "tell block_caller", None, {"contact": number}, [entry.item],
                            number=number)  # fmt: skip
            return


def _redial(asking: Asking) -> Iterator[LabelledRequest]:
    out = [one.item for one in asking.of("phonecall") if one.item.text("direction") == "outgoing"]
    if out:
        last = max(out, key=lambda one: one.time("called_at") or asking.now)
        yield from _one(asking, "tell redial_last_call", None, {}, [last])


def _playlist(asking: Asking) -> Iterator[LabelledRequest]:
    listed = [one.item for one in asking.of("music") if one.item.text("playlist")]
    if not listed:
        return
    name = listed[0].text("playlist")
    others = [one.item for one in asking.of("music") if not one.item.text("playlist")]
    if others and asking.draw.random() < 0.5:
        song = others[0].text("song_name")
        yield from _one(asking, "tell add_song_to_playlist", None,
                        {"song_name": song, "playlist_name": name}, [others[0]],
                        song=song, list=name)  # fmt: skip
    else:
        yield from _one(asking, "tell play_playlist", None, {"playlist_name": name}, listed,
                        list=name)  # fmt: skip


def _about(app: str) -> Callable[[Asking], Iterator[LabelledRequest]]:
    return lambda asking: _details(asking, app)


_Way = Callable[[Asking], Iterator[LabelledRequest]]
_ASK: dict[str, list[_Way]] = {
    "calendar": [_about("calendar"), _about("calendar"), _day, _meeting],
    "mail": [_about("mail"), _about("mail"), _about("mail"), _from, _unread],
    "notes": [_about("notes"), _about("notes"), _folder, _noted],
    "reminders": [_about("reminders"), _list],
    "google": [_about("google")],
    "phonecall": [_missed, _history, _voicemail],
    "music": [_playing],
}
_TELL: dict[str, list[_Way]] = {
    "calendar": [_reschedule, _reschedule, _event("cancel_event"), _event("notify_attendees"),
                 _event("google_directions")],
    "mail": [_mail("reply_to_mail")] * 5 + [_mail("forward_mail"), _mail("flag_mail"),
             _mail("delete_mail")],
    "notes": [_note("append_to_note")] * 3 + [_note("share_note"), _note("move_note"),
              _note("delete_note"), _rewritten],
    "reminders": [_reminder("complete_reminder"), _reminder("snooze_reminder"),
                  _reminder("snooze_reminder"), _reminder("delete_reminder")],
    "phonecall": [_phone, _phone, _phone, _stranger, _redial],
    "music": [_playlist],
}  # fmt: skip
