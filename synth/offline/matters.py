"""What happens in a life, and the items that it leaves: a visit has its mail, event and reminder.

A matter is an entry of `data/matters/*.yaml`:

- `need`: tags that the life must have; `!tag` must be missing.
- `who`: names for people of the circle, each with role and optionally the form of the name.
- `pick`: names for words that are chosen once, so that all its items agree.
- `when`: names for moments; see `synth.offline.moments.drawn`.
- one entry for each item, named by its application (`mail`, `event`, `search`, `note`, `rem`,
  `call`, with a number where there are several). Besides the item's fields it says what its owner
  calls it (`call`), what a question (`ask`), an answer (`reply`: said => written) or an addition
  (`add`) may be, and oblique requests (`hint`: kind, API, arguments :: texts).
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from stores.people.items import Item, Value
from synth.offline.acquaintances import Acquaintance
from synth.offline.life import Life
from synth.offline.moments import Moment, drawn
from synth.offline.trades import hobby_of, knows, read_data
from synth.offline.wording import Word, Words

APPS = {
    "mail": "mail",
    "event": "calendar",
    "search": "google",
    "note": "notes",
    "rem": "reminders",
    "call": "phonecall",
}
_PAST = {"mail", "google", "notes", "phonecall"}
_PARTS = ("home", "work", "hobby")
_TRIES = 12
_ANSWERED = 0.4
"""Calls that were taken after all."""
_SPOKEN = 0.6
"""Of the missed calls that may leave a message, those that do."""
_EVENING = "night evening stage concert milonga salsa ball raid dinner quiz owl"
_HOURS = {
    "dawn early morning": (6, 9),
    _EVENING: (18, 20),
    "service repair library archive licence": (10, 16),
}
"""Words of an event and the hours at which such a thing begins."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An item of a matter, with what its owner may say about it."""

    item: Item
    spec: Mapping[str, Any]
    key: str
    """Its name in the matter."""

    def said(self, name: str) -> list[str]:
        """The texts of a list in the specification."""
        raw = self.spec.get(name) or []
        return raw.split(" / ") if isinstance(raw, str) else list(raw)


@dataclass(slots=True)
class Matter:
    """A matter of one life."""

    name: str
    words: Words
    things: dict[str, Thing] = field(default_factory=dict)
    when: dict[str, datetime] = field(default_factory=dict)

    @property
    def moment(self) -> datetime | None:
        """When it takes place."""
        return self.when.get("t")


def eligible(life: Life) -> list[tuple[str, dict[str, Any], str | None]]:
    """The matters that may happen in a life: name, specification, hobby (or None)."""
    found: list[tuple[str, dict[str, Any], str | None]] = []
    for part in _PARTS:
        for spec in specifications()[part]:
            if not _fits(spec.get("need", ""), life.tags):
                continue
            known = [one for one in life.profile.hobbies if knows(one)]
            hobbies = known if part == "hobby" else (None,)
            found += [(f"{part}/{spec['id']}/{one or ''}", spec, one) for one in hobbies]
    return found


@cache
def specifications() -> dict[str, tuple[dict[str, Any], ...]]:
    """All matters by part."""
    return {part: tuple(read_data("matters", f"{part}.yaml")) for part in _PARTS}


def _fits(need: str, tags: frozenset[str]) -> bool:
    return all((one[1:] not in tags) if one[0] == "!" else one in tags for one in need.split())


def happen(
    life: Life, name: str, spec: Mapping[str, Any], hobby: str | None, wanted: set[str]
) -> Matter:
    """The matter in that life, with items of the wanted applications only."""
    draw = life.words.draw
    matter = Matter(name, life.words.with_values(_words(life, hobby, draw)))
    for key, who in spec.get("who", {}).items():
        matter.words.values[key] = _person(life, matter, who)
    for key, options in spec.get("pick", {}).items():
        matter.words.values[key] = _picked(options, matter, draw)
    for key, when in spec.get("when", {}).items():
        matter.when[key] = drawn(when, life.now, matter.when, draw, round_to=15)
    if "t" in matter.when and "event" in spec:
        matter.when["t"] = _at_its_hour(matter, spec["event"]["title"], draw)
    if "t" in matter.when and spec["when"]["t"].startswith("+"):
        late = life.now + timedelta(hours=2)
        if matter.when["t"] < late:
            matter.when["t"] += timedelta(days=1)
            for key, when in spec["when"].items():
                if key != "t":
                    matter.when[key] = drawn(when, life.now, matter.when, draw, round_to=15)
    for key, moment in matter.when.items():
        matter.words.values[key] = _moment(moment, life)
    for key, one in spec.items():
        app = APPS.get(re.sub(r"\d$", "", key))
        if app in wanted and isinstance(one, dict):
            try:
                fields = dict(_FIELDS[app](one, matter, life))
            except KeyError:  # it is from or about somebody whom this life lacks
                continue
            matter.things[key] = Thing(Item(key, app, fields), _possible(one, fields), key)
    return matter


def _possible(one: Mapping[str, Any], fields: Mapping[str, Value]) -> Mapping[str, Any]:
    """What may be said about an item: a call that was taken is not called back."""
    gone = {
        "play_voicemail": "voicemail" in fields and not fields["voicemail"],
        "return_missed_call": fields.get("direction", "missed") != "missed",
        "block_caller": fields.get("direction", "missed") != "missed",
    }
    hints = [hint for hint in one.get("hint", []) if not gone.get(hint.split()[1], False)]
    return {**one, "hint": hints}


def _at_its_hour(matter: Matter, title: str, draw: random.Random) -> datetime:
    """The matter's moment, at an hour at which such a thing begins: marshes at dawn."""
    moment = matter.when["t"]
    named = " ".join(
        word.lower()
        for slot in re.findall(r"\{(\w+)", title)
        if isinstance(word := matter.words.values.get(slot), str)
    )
    for words, (first, last) in _HOURS.items():
        if set(words.split()) & set(named.split()) and not first <= moment.hour <= last:
            return moment.replace(hour=draw.randint(first, last))
    return moment


def _moment(at: datetime, life: Life) -> Moment:
    return Moment(at, life.country.clock, life.country.name == "United States")


def _words(life: Life, hobby: str | None, draw: random.Random) -> dict[str, Word]:
    found: dict[str, Word] = {
        "d4": str(draw.randint(1100, 9899)),
        "d4b": str(draw.randint(1100, 9899)),
        "money": life.country.price(draw.choice((8, 12, 15, 20, 25, 35, 40, 60, 85, 120))),
        "away_rel": draw.choice(("university", "old", "childhood")),
    }
    found["t"] = _moment(life.now + timedelta(days=draw.randint(-6, 6)), life)
    if hobby:
        found |= hobby_of(hobby).words(draw)
    return found


def _person(life: Life, matter: Matter, who: str) -> Acquaintance:
    role, _, form = who.partition("; ")
    relation = matter.words.text(role, full=False)
    return life.meet(relation, relation, form=form)


def _picked(options: str, matter: Matter, draw: random.Random) -> str:
    return matter.words.text(draw.choice(options.split(" / ")))


def _when(spec: str, matter: Matter, life: Life, *, past: bool, round_to: int) -> datetime:
    """A moment of an item; what has happened lies before now."""
    draw = life.words.draw
    for _ in range(_TRIES):
        moment = drawn(spec, life.now, matter.when, draw, round_to=round_to)
        if not past or moment < life.now - timedelta(minutes=3):
            return moment
    minutes = draw.randint(12, 40) if life.now.hour < 9 else draw.randint(15, 480)
    moment = life.now - timedelta(minutes=minutes)
    return moment.replace(minute=moment.minute // 5 * 5)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _mail(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    sender = words.values[one["from"]] if one["from"].isidentifier() else None
    yield (
        "sender",
        sender.contact.name if isinstance(sender, Acquaintance) else words.text(one["from"]),
    )
    subject = words.text(one["subject"])
    yield "subject", subject if draw.random() < 0.3 else _capital(subject)
    yield "body", _sentences(words.text(one["body"]))
    at = _when(one["at"], matter, life, past=True, round_to=1)
    yield "received_at", at
    fresh = life.now - at < timedelta(days=2)
    yield "flagged", False
    yield "unread", draw.random() < (0.6 if one.get("unread") else 0.3) if fresh else False


def _sentences(text: str) -> str:
    """The text with a capital after each full stop."""
    return re.sub(r"(^|[.!?] )([a-zà-ÿ])", lambda one: one[1] + one[2].upper(), text)


def _event(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    start = matter.when["t"]
    minutes = one.get("for", 60) + draw.choice((0, 0, 0, 15, 30))
    yield "title", _capital(words.text(one["title"]))
    yield "start", start
    yield "end", start + timedelta(minutes=minutes)
    yield "location", words.text(one.get("place", "")) or None
    names = [words.values.get(key) for key in one.get("with", "").split(",") if key]
    yield "attendees", tuple(x.contact.name for x in names if isinstance(x, Acquaintance))
    yield "notes", None
    yield "repeats", ""


def _search(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    query, clicked = (words.text(part) for part in draw.choice(one["q"].split(" / ")).split(" => "))
    yield "query", query.lower() if draw.random() < 0.6 else query
    yield "clicked", None if clicked == "None" else clicked
    yield "searched_at", _when(one.get("at", "-9..-1 7-23"), matter, life, past=True, round_to=1)


def _note(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    lines = words.text(one["body"]).split("\n")
    if len(lines) > 3 and draw.random() < 0.5:
        lines.pop(draw.randrange(1, len(lines)))
    yield "title", _capital(words.text(one["title"]))
    yield "body", "\n".join(lines)
    yield "folder", life.in_own_words(words.text(one.get("folder", "Notes")))
    yield "modified_at", _when(one.get("at", "-14..-1 8-23"), matter, life, past=True, round_to=1)


def _reminder(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    due = _when(one["at"], matter, life, past=False, round_to=15)
    done = bool(one.get("done"))
    yield "title", _capital(words.text(one["title"]))
    yield "due", due if done or draw.random() < 0.9 else None
    yield "list", life.in_own_words(_capital(words.text(one.get("list", "Home"))))
    yield "done", done


def _call(one: Mapping[str, Any], matter: Matter, life: Life) -> Iterator[tuple[str, Value]]:
    words, draw = matter.words, life.words.draw
    who = words.values[one["with"]]
    direction = words.text(one["dir"])
    if isinstance(who, Acquaintance) and draw.random() < _ANSWERED:
        direction = draw.choice(("incoming", "outgoing"))
    missed = direction == "missed"
    voicemail = words.text(one.get("voicemail", "")) if draw.random() < _SPOKEN else ""
    yield "contact", who.contact.name if isinstance(who, Acquaintance) else str(who)
    yield "direction", direction
    yield "called_at", _when(one["at"], matter, life, past=True, round_to=1)
    yield (
        "duration_s",
        0 if missed else draw.choice((draw.randint(2, 20), draw.randint(6, 150))) * 10,
    )
    yield "voicemail", _sentences(voicemail) if missed and voicemail else None


_FIELDS = {
    "mail": _mail,
    "calendar": _event,
    "google": _search,
    "notes": _note,
    "reminders": _reminder,
    "phonecall": _call,
}
