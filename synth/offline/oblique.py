"""Oblique requests: what only hints, so that the items must say what is meant."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from stores.people.dataset import Kind
from stores.people.items import Contact, Item
from synth.offline.acquaintances import bare
from synth.offline.asking import Asking, Entry, phrases
from synth.offline.wording import Word
from synth.provider import LabelledRequest

_HINT = re.compile(
    r"(?P<kind>\w) (?P<api>\w+)(?P<beside>(?: \+\w+)*)(?: @(?P<at>\S+))?"
    r"(?: (?P<arguments>\w+=.*?))? :: (?P<texts>.*)",
    re.DOTALL,
)
_KINDS: dict[str, Kind] = {
    "m": "mismatch", "w": "write", "n": "now", "r": "reference", "h": "habit", "f": "refind",
    "x": "multi",
}  # fmt: skip
_MAIN = {
    "calendar": "title", "mail": "subject", "notes": "title", "reminders": "title",
    "google": "query", "phonecall": "contact",
}  # fmt: skip
_WRITTEN = 0.82
"""How often a hint is a written one, where there are others too."""
_PEOPLE = ("to", "contact", "sender")


def oblique(asking: Asking, kind: Kind) -> Iterator[LabelledRequest]:
    """Oblique requests of a kind: written ones, those of the matters, each once, general ones."""
    hints = [
        (entry, found)
        for entry in asking.entries
        for raw in entry.texts("hint")
        if (found := _HINT.fullmatch(raw)) and _kind(found) == kind
    ]
    asking.draw.shuffle(hints)
    written = [one for one in asking.written if one[1].kind == kind]
    written = asking.draw.sample(written, len(written))
    general = [name for name in phrases("oblique") if name.startswith(f"{kind} ")]
    while written or hints:
        if written and asking.draw.random() < _WRITTEN:
            yield asking.quoted(*written.pop(), "new" if kind == "explicit" else "oblique")
            continue
        if general and (not hints or asking.draw.random() < 0.12):
            yield from _general(asking, kind, asking.draw.choice(general).split()[1])
        if not hints:
            continue
        try:
            yield from _hinted(asking, *hints.pop())
        except KeyError:  # a template's value is missing in this life
            continue
    others = [one for one in asking.written if one[1].kind in _KINDS.values()]
    for request, labels in asking.draw.sample(others, len(others)):
        yield asking.quoted(request, labels)
    for _ in range(40 if general else 0):
        yield from _general(asking, kind, asking.draw.choice(general).split()[1])


def _kind(hint: re.Match[str]) -> Kind:
    """The kind of a hint's request; one that needs a single item is not about several."""
    kind = _KINDS[hint["kind"]]
    return "mismatch" if kind == "multi" and not hint["beside"] else kind


def _hinted(asking: Asking, entry: Entry, hint: re.Match[str]) -> Iterator[LabelledRequest]:
    draw, item = asking.draw, entry.item
    if item.app == "reminders" and item.flag("done"):
        return
    asked = _asked(asking, entry, hint["at"])
    if asked is None:
        return
    relevant = [item]
    for key in hint["beside"].split():
        other = entry.beside.get(key[1:])
        if other is None:
            return
        relevant.append(other)
    words = entry.words.with_values({"x": asking.later(asked)}, asked)
    taken: list[str] = []
    drawn: dict[str, str] = {}
    arguments: dict[str, str] = {}
    for one in filter(None, (hint["arguments"] or "").split("; ")):
        name, _, value = one.partition("=")
        arguments[name] = words.text(value, taken, drawn, full=name in _PEOPLE)
    api = hint["api"]
    if api == "append_to_note":
        arguments["text"] = arguments["text"].rstrip(".")
    main = "destination" if api == "google_directions" else _MAIN[item.app]
    if api.startswith("google_"):
        if api == "google_directions" and "destination" not in arguments:
            place = item.text("location")
            if not place or "'s" in place or place.casefold() in ("home", "online", "phone"):
                return
            arguments = {main: place, **arguments}
    else:
        arguments = {main: item.text(_MAIN[item.app]), **arguments}
    text = words.text(draw.choice(hint["texts"].split(" / ")), taken, drawn)
    kind = _kind(hint)
    yield asking.made(text, asked, api, arguments, relevant, kind=kind, level="oblique")


def _asked(asking: Asking, entry: Entry, at: str | None) -> datetime | None:
    """When a hint is dropped: `now`, an hour of the day, or so long before its moment."""
    now, draw = asking.now, asking.draw
    coming = entry.moment if entry.moment and entry.moment > now else None
    if at is None:
        start = entry.item.time("start")
        return asking.soon(start if start and start > now else None)
    if at == "now":
        return now + timedelta(minutes=draw.randint(1, 45))
    if hours := re.fullmatch(r"(\d+)-(\d+)", at):
        day = now.date() + timedelta(days=draw.randint(0, 2))
        moment = datetime(day.year, day.month, day.day, int(hours[1]), draw.randint(0, 59))
        return moment if moment > now else moment + timedelta(days=1)
    minutes = int(at[2:-1])
    if coming is None:
        return None
    asked = coming - timedelta(minutes=minutes + draw.randint(-4, 6))
    return asked if now <= asked <= now + timedelta(days=3) else None


def _general(asking: Asking, kind: Kind, api: str) -> Iterator[LabelledRequest]:
    draw = asking.draw
    asked = asking.soon()
    if asked is None:
        return
    gaps: dict[str, Word] = {"x": asking.later(asked), "hour": str(asked.hour % 12 or 12)}
    arguments: dict[str, str] = {}
    relevant: Sequence[Item] = ()
    playing = None
    music = [one.item for one in asking.of("music")]
    listed = [one for one in music if one.text("playlist") and one.usage.usual_hours]
    contact = next(iter(asking.contacts()), None)
    match api:
        case "play_playlist" if listed:
            hour = listed[0].usage.usual_hours[0]
            day = asking.now + timedelta(days=draw.randint(0, 2))
            asked = day.replace(hour=hour, minute=draw.randint(0, 59))
            if asked < asking.now:
                asked += timedelta(days=1)
            arguments = {"playlist_name": listed[0].text("playlist")}
            relevant = listed
            gaps["hour"] = str(hour % 12 or 12)
        case _ if kind == "multi":
            pass
        case "skip_song" | "pause_music" | "get_current_song" if music:
            playing, relevant = music[0].id, music[:1]
            gaps["artist"] = music[0].text("artist")
            arguments = {"direction": "next"} if api == "skip_song" else {}
        case "add_song_to_playlist" if listed and len(listed) < len(music):
            song = next((one for one in music if not one.text("playlist")), None)
            if song is None:
                return
            playing, relevant = song.id, [song]
            gaps["part"] = _part(listed[0].usage.usual_hours[0])
            arguments = {
                "song_name": song.text("song_name"),
                "playlist_name": listed[0].text("playlist"),
            }
        case "get_recently_played" if music:
            song = music[0]
            played = song.time("played_at")
            if played is None or (asking.now - played).days > 6:
                return
            relevant = [song]
            gaps["rel"] = asking.moment(played).written("rel", asked, draw)
        case "read_unread_mail":
            relevant = [one.item for one in asking.of("mail") if one.item.flag("unread")]
        case "get_missed_calls":
            relevant = [one.item for one in asking.of("phonecall")
                        if one.item.text("direction") == "missed"]  # fmt: skip
        case "list_events":
            found = _events(asking, asked, kind)
            if found is None:
                return
            asked, relevant, start = found
            arguments = {"date": f"{start:%Y-%m-%d}"}
            gaps["x"] = asking.moment(start)
        case "list_reminders":
            entry = next((one for one in asking.of("reminders") if not one.item.flag("done")), None)
            if entry is None:
                return
            name = entry.item.text("list")
            relevant = [one.item for one in asking.of("reminders")
                        if one.item.text("list") == name and not one.item.flag("done")]  # fmt: skip
            gaps["list"], arguments = name.lower(), {"list": name}
        case "list_notes":
            folder = next((one.item.text("folder") for one in asking.of("notes")), "")
            relevant = [one.item for one in asking.of("notes")
                        if one.item.text("folder") == folder]  # fmt: skip
            gaps["folder"], arguments = folder.lower(), {"folder": folder}
        case "call_contact" | "search_mail" | "get_call_history" if contact:
            chosen = _related(asking, api)
            if chosen is None:
                return
            contact, relevant = chosen
            gaps["relation"] = bare(contact)
            arguments = {"sender" if api == "search_mail" else "contact": contact.name}
        case "get_search_history":
            entry = next((one for one in asking.of("google")), None)
            searched = entry.item.time("searched_at") if entry else None
            if entry is None or searched is None or (asking.now - searched).days > 6:
                return
            relevant, arguments = [entry.item], {"query": entry.item.text("query")}
            gaps["rel"] = asking.moment(searched).written("rel", asked, draw)
        case "forward_mail" | "share_note":
            app = "mail" if api == "forward_mail" else "notes"
            entry = next((one for one in asking.of(app)), None)
            to = next((one for one in asking.contacts() if one.email and bare(one)), None)
            if entry is None or to is None or to.name == entry.item.text("sender"):
                return
            relevant, gaps["relation"] = [entry.item], bare(to)
            if app == "mail":
                gaps["sender"] = entry.item.text("sender")
                arguments = {"subject": entry.item.text("subject"), "to": to.name}
            else:
                gaps["topic"] = _topic(entry.item)
                arguments = {"title": entry.item.text("title"), "contact": to.name}
        case "move_note":
            entry = next((one for one in asking.of("notes")), None)
            if entry is None:
                return
            relevant, gaps["topic"] = [entry.item], _topic(entry.item)
            gaps["folder2"] = draw.choice(("Old", "Later", "Private", "Family", "Ideas"))
            arguments = {"title": entry.item.text("title"), "folder": str(gaps["folder2"])}
        case "delete_mail":
            known = asking.persona.person.contact
            strangers = (one for one in asking.of("mail") if known(one.item.text("sender")) is None)
            entry = next(strangers, None)
            if entry is None:
                return
            relevant, gaps["sender"] = [entry.item], entry.item.text("sender")
            arguments = {"subject": entry.item.text("subject")}
        case "none":
            pass
        case _:
            return
    if kind == "multi":
        found_event = _with_event(asking, api, asked)
        if found_event is None:
            return
        asked, relevant, arguments, more = found_event
        gaps |= more
        playing = next((one.id for one in relevant if one.app == "music"), None)
    if not relevant and api != "none":
        return
    gaps.setdefault("part", _part(asked.hour))
    words = asking.words.with_values(gaps, asked)
    try:
        text = words.text(draw.choice(phrases("oblique")[f"{kind} {api}"]))
    except KeyError:
        return
    yield asking.made(text, asked, "" if api == "none" else api, arguments, relevant, kind=kind,
                      level="oblique", playing=playing)  # fmt: skip


def _events(
    asking: Asking, asked: datetime, kind: Kind
) -> tuple[datetime, list[Item], datetime] | None:
    """When a day is asked about, its events that are still to come, and the first of them."""
    coming = sorted(
        (start, one.item.id, one.item) for one in asking.of("calendar")
        if (start := one.item.time("start")) and start > asked
    )  # fmt: skip
    if not coming:
        return None
    start = coming[0][0] if kind == "now" else asking.draw.choice(coming)[0]
    if kind == "now":
        earliest = max(asking.now, start.replace(hour=7, minute=0))
        if start <= earliest or (start - asking.now).days > 2:
            return None
        asked = earliest + (start - earliest) * asking.draw.random() * 0.8
        asked = asked.replace(second=0, microsecond=0)
    if (start - asked).days > 6:
        return None
    same = [item for at, _, item in coming if at.date() == start.date() and at > asked]
    return asked, same, start


def _with_event(
    asking: Asking, api: str, asked: datetime
) -> tuple[datetime, list[Item], dict[str, str], dict[str, Word]] | None:
    """What is done because of an event that is to come, with one of its people or at its time."""
    draw = asking.draw
    for entry in asking.of("calendar"):
        event, start, end = entry.item, entry.item.time("start"), entry.item.time("end")
        if start is None or end is None or start <= asked or (start - asked).days > 6:
            continue
        gaps: dict[str, Word] = {
            "event": asking.called(entry),
            "rel2": asking.moment(start).written("rel", asked, draw),
        }
        people = event.fields.get("attendees")
        who = asking.persona.person.contact(people[0]) if isinstance(people, tuple) and people \
            else None  # fmt: skip
        app = {"share_note": "notes", "forward_mail": "mail", "pause_music": "music",
               "snooze_reminder": "reminders", "call_contact": "phonecall"}[api]  # fmt: skip
        others = [one for one in asking.of(app) if not one.item.flag("done")]
        if app == "phonecall":
            others = [one for one in others if who and one.item.text("contact") == who.name
                      and one.item.text("direction") != "missed"]  # fmt: skip
        if not others:
            continue
        other = others[0].item
        match api:
            case "pause_music":
                if (start - asking.now).days > 2:
                    continue
                gaps["artist"] = other.text("artist")
                return max(asking.now, start - timedelta(minutes=3)), [event, other], {}, gaps
            case "snooze_reminder":
                gaps["task"] = asking.called(others[0]).removeprefix("the reminder to ")
                until = asking.moment(end).written("iso", asked, draw)
                return asked, [other, event], {"title": other.text("title"), "until": until}, gaps
            case "call_contact" if who:
                return asked, [event, other], {"contact": who.name}, gaps
            case "share_note" if who and who.email:
                gaps["topic"] = _topic(other)
                arguments = {"title": other.text("title"), "contact": who.name}
                return asked, [other, event], arguments, gaps
            case "forward_mail" if who and who.email and other.text("sender") != who.name:
                gaps["sender"] = other.text("sender")
                return (
                    asked,
                    [other, event],
                    {"subject": other.text("subject"), "to": who.name},
                    gaps,
                )
    return None


def _related(asking: Asking, api: str) -> tuple[Contact, list[Item]] | None:
    """A contact whom their relation tells from all others, with what is there of them."""
    app, field = ("mail", "sender") if api == "search_mail" else ("phonecall", "contact")
    people = asking.persona.person.contacts
    for contact in asking.contacts():
        relation = bare(contact)
        if not relation or sum(bare(one) == relation for one in people) > 1 or not contact.phone:
            continue
        found = [one.item for one in asking.of(app) if one.item.text(field) == contact.name]
        if found and not any(one.text("direction") == "missed" for one in found):
            return contact, found
    return None


def _topic(item: Item) -> str:
    """A word of a note that its title does not have."""
    title = item.text("title").lower()
    words = [one for one in re.findall(r"\b[a-zà-ÿ]{5,}\b", item.text("body")) if one not in title]
    return max(words, key=len) if words else "that"


def _part(hour: int) -> str:
    if hour < 11:
        return "morning"
    return (
        "noon" if hour < 14 else "afternoon" if hour < 18 else "evening" if hour < 22 else "night"
    )
