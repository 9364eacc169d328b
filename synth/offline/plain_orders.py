"""Plain orders that an item or a contact completes."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from synth.offline.asking import Asking, Entry, phrases
from synth.offline.moments import Moment
from synth.offline.plain_words import Way, is_coming, made, pair
from synth.provider import LabelledRequest

_SOON = timedelta(hours=30)
"""What goes off within that time is put off."""
_OF_ITS_DAY = re.compile(
    r"(?i)(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|christmas|easter|new year|\beve\b|birthday|"
    r"\b\d{1,2}[.:]\d\d\b|\b(?:full )?moon\b"
)
"""What takes place on its day is not moved to another."""
NOWHERE = re.compile(
    r"(?i)^$|^(?:home|upstairs|kitchen|kitchen table|roof|in front of the house)\b|"
    r"\b(?:phone|online|video|zoom|discord|teams|skype|meet|whatsapp)\b"
)
"""Where nobody needs to be shown the way to."""


def _reschedule(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("calendar"):
        asked = asking.soon(entry.moment)
        if not is_coming(asking, entry) or asked is None or entry.moment is None:
            continue
        if _OF_ITS_DAY.search(entry.item.text("title")):
            continue
        new = asking.later(asked)
        if asking.draw.random() < 0.4:  # the same day at another hour
            other = entry.moment.replace(minute=0, hour=asking.draw.randint(9, 20))
            if other > asked and other != entry.moment:
                new = asking.moment(other)
        yield from made(
            asking, "tell reschedule_event", entry,
            {"title": entry.item.text("title"),
             "new_start": new.written("iso", asked, asking.draw)},
            [entry.item], asked, call=asking.called(entry), x=new,
        )  # fmt: skip
        return


def _event(api: str) -> Way:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("calendar"):
            if not is_coming(asking, entry):
                continue
            asked, item = asking.soon(entry.moment), entry.item
            gaps: dict[str, str] = {"call": asking.called(entry)}
            arguments = {"title": item.text("title")}
            if api == "notify_attendees":
                if not item.fields.get("attendees"):
                    continue
                asked, about = _before(asking, entry, asked)
                text = asking.draw.choice(phrases("new")[about])
                gaps["said"], arguments["message"] = pair(asking, entry, text)
            if api == "google_directions":
                place = item.text("location")
                if NOWHERE.search(place) or "'s" in place or place == "station":
                    continue
                arguments = {"destination": place}
            yield from made(asking, f"tell {api}", entry, arguments, [item], asked, gaps=gaps)
            return

    return way


def _before(asking: Asking, entry: Entry, asked: datetime | None) -> tuple[datetime | None, str]:
    """When those who are waiting are told something, and what: that one is late, only shortly."""
    shortly = (entry.moment or asking.now) - timedelta(minutes=asking.draw.randint(3, 25))
    if asking.now < shortly < asking.now + timedelta(days=3) and asking.draw.random() < 0.6:
        return shortly, "late"
    return asked, "notices"


def _mail(api: str) -> Way:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("mail"):
            item = entry.item
            sender = asking.persona.person.contact(item.text("sender"))
            gaps: dict[str, str] = {"call": asking.called(entry)}
            arguments = {"subject": item.text("subject")}
            asked = asking.soon(entry.moment if is_coming(asking, entry) else None)
            if api == "reply_to_mail":
                replies = entry.texts("reply")
                if not sender or not sender.email or not replies or asked is None:
                    continue
                entry.words.asked = asked
                gaps["said"], arguments["body"] = pair(asking, entry, asking.draw.choice(replies))
                gaps["who"] = asking.who(sender)
            if api == "forward_mail":
                others = [one for one in asking.contacts() if one.email and one != sender]
                if not others or (not sender and "spam" in item.id):
                    continue
                arguments["to"], gaps["who2"] = others[0].name, asking.who(others[0])
            if api == "delete_mail" and sender:
                continue
            yield from made(asking, f"tell {api}", entry, arguments, [item], asked, gaps=gaps)
            return

    return way


def _note(api: str) -> Way:
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
            yield from made(asking, f"tell {api}", entry, arguments, [entry.item], gaps=gaps)
            return

    return way


def _rewritten(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("notes"):
        if additions := entry.texts("add"):
            said, written = pair(asking, entry, asking.draw.choice(additions))
            arguments = {"title": entry.item.text("title"), "body": written.rstrip(".")}
            yield from made(asking, "tell update_note", entry, arguments, [entry.item],
                            call=asking.called(entry), said=said)  # fmt: skip
            return


def _reminder(api: str) -> Way:
    def way(asking: Asking) -> Iterator[LabelledRequest]:
        for entry in asking.of("reminders"):
            if entry.item.flag("done"):
                continue
            asked = asking.soon()
            arguments = {"title": entry.item.text("title")}
            gaps: dict[str, str | Moment] = {"call": asking.called(entry)}
            if api == "snooze_reminder" and asked:
                due = entry.item.time("due")
                if due is not None and not due - asked < _SOON:
                    continue
                gaps["x"] = new = asking.later(max(asked, due or asked))
                arguments["until"] = new.written("iso", asked, asking.draw)
            yield from made(asking, f"tell {api}", entry, arguments, [entry.item], asked, gaps=gaps)
            return

    return way


def _phone(asking: Asking) -> Iterator[LabelledRequest]:
    for contact in asking.contacts():
        if not contact.phone:
            continue
        calls = [one.item for one in asking.of("phonecall")
                 if one.item.text("contact") == contact.name]  # fmt: skip
        missed = [one for one in calls if one.text("direction") == "missed"]
        gaps = {"who": asking.who(contact)}
        arguments = {"contact": contact.name}
        if missed:
            missed = missed[:1]
            yield from made(asking, "tell return_missed_call", None, arguments, missed, gaps=gaps)
        else:
            yield from made(asking, "tell call_contact", None, arguments, calls[:1], gaps=gaps)
        return


def _stranger(asking: Asking) -> Iterator[LabelledRequest]:
    for entry in asking.of("phonecall"):
        number = entry.item.text("contact")
        if asking.persona.person.contact(number) is None and number.startswith("+"):
            yield from made(asking, "tell block_caller", None, {"contact": number}, [entry.item],
                            number=number)  # fmt: skip
            return


def _redial(asking: Asking) -> Iterator[LabelledRequest]:
    out = [one.item for one in asking.of("phonecall") if one.item.text("direction") == "outgoing"]
    if out:
        last = max(out, key=lambda one: one.time("called_at") or asking.now)
        text = None
        if not last.fields.get("duration_s") and asking.draw.random() < 0.6:
            unanswered = phrases("phrases")["tell redial_unanswered"]
            text = asking.words.text(asking.draw.choice(unanswered))
        yield from made(asking, "tell redial_last_call", None, {}, [last], text=text)


def _playlist(asking: Asking) -> Iterator[LabelledRequest]:
    listed = [one.item for one in asking.of("music") if one.item.text("playlist")]
    if not listed:
        return
    name = listed[0].text("playlist")
    others = [one.item for one in asking.of("music") if not one.item.text("playlist")]
    if others and asking.draw.random() < 0.5:
        song = others[0].text("song_name")
        yield from made(asking, "tell add_song_to_playlist", None,
                        {"song_name": song, "playlist_name": name}, [others[0]],
                        song=song, list=name)  # fmt: skip
    else:
        yield from made(asking, "tell play_playlist", None, {"playlist_name": name}, listed,
                        list=name)  # fmt: skip


ORDERS: dict[str, list[Way]] = {
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
"""Application → the ways of ordering something with it."""
