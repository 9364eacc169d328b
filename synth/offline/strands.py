"""Strands told to a life: a few items that belong together, with one of its people.

`strand_lines` reads what is written. What a mail or a voicemail speaks of is still to come, within
a week, so that its weekday can mean one day only.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stores.people.items import Item, Value
from synth.offline.acquaintances import Acquaintance, bare
from synth.offline.homes import CLOSE
from synth.offline.life import Life
from synth.offline.matters import Matter, Thing
from synth.offline.moments import Moment, written_minute
from synth.offline.open_days import is_open, travelling
from synth.offline.searching import looked, suits
from synth.offline.strand_lines import Strand, lists_of
from synth.offline.trades import read_data
from synth.offline.wording import Word, Words

_APPS = {"event": "calendar", "search": "google", "rem": "reminders", "note": "notes",
         "mail": "mail", "call": "phonecall"}  # fmt: skip
_PRICES = (12, 20, 40, 80, 150)
_DAYS_TOLD = 6
"""So many days lie at most between a mail and what it speaks of."""
_PAST = 0.3
"""Of the strands whose event nobody speaks of, those in which it has taken place."""
_SPOKEN = 0.4
"""Of the calls that may have left a voicemail, those that are there."""
_DONE, _UNDATED, _OWN_LIST = 0.22, 0.06, 0.7
_GAP = timedelta(minutes=20)
_TRIES = 20
_OLD = 64
_OLDER = re.compile(r"aunt\b|uncle\b|godmother\b|mother's|grandm|teacher\b")
"""Relations of people who are mostly older."""
_LEARNS_TO_DRIVE = 45
_CHILDREN = re.compile(
    r"(?i)\b(?:kids?|child(?:ren)?|baby|toddler|twins?|girls|boys|(?:two|three) (?:daughters|sons)|"
    r"(?:son|daughter|grandson|granddaughter)s? \w+,? \d{1,2})\b|\w, \d{1,2}\b"
)
_IN_TIME = timedelta(minutes=45)
"""What a reminder is for begins so long after it at least."""
_SAID_HOURS = {
    r"(?i)before (?:noon|nine)|\bby noon|morning": (8, 9),
    r"(?i)\b(?:to|over)?night\b|evening|after (?:the news|ten)": (19, 20, 21),
}
"""Words of a reminder's title → the hours at which it makes sense."""
_DUE_AT = (8, 9, 10, 12, 12, 15, 17, 18, 18, 19, 20)
_CALLED_AT = (8, 9, 12, 13, 17, 18, 19, 20)


@dataclass(slots=True)
class Telling:
    """A life to which strands are told, and what it has by now."""

    life: Life
    left: dict[str, int]
    """Application → how many items are still wanted; counted down."""
    lists: Sequence[str]
    """Names of lists and folders for what is neither work nor a hobby."""
    items: list[Item] = field(default_factory=list)
    """All items so far, those of others included."""
    words: dict[str, Words] = field(default_factory=dict)
    """Id of an item → what its strand's templates are filled with."""
    about: dict[str, Acquaintance] = field(default_factory=dict)
    """Id of an item → whom its strand is about."""

    def matter(self, item: Item) -> Matter:
        """An item told here, with what hints at it where its owner can only mean one person."""
        who, words = self.about.get(item.id), self.words[item.id]
        start = words.values["t"]
        when = {"t": start.at} if isinstance(start, Moment) else {}
        spec: dict[str, list[str]] = {}
        relation = bare(who.contact) if who else ""
        alike = [one for one in self.life.circle.values() if bare(one.contact) == relation]
        if who and relation and len(alike) == 1:
            mine = CLOSE.match(relation) is not None
            words = words.with_values({"rel": f"{'my' if mine else 'the'} {relation}"})
            spec = {
                "hint": [
                    one
                    for one in read_data("strand_hints.yaml").get(item.app, [])
                    if item.app != "phonecall" or item.text("direction") == "missed"
                ]
            }
        return Matter(item.id, words, {item.id: Thing(item, spec, item.id)}, when)

    def tell(self, strand: Strand) -> list[Item]:
        """The strand's items that are wanted; none where the life has nobody for it."""
        draw = self.life.words.draw
        strand = strand.drawn(draw)
        if not any(self.left.get(_APPS[verb], 0) > 0 for verb, _ in strand.lines if verb in _APPS):
            return []
        who = self._who(strand, draw)
        if who is None and (strand.of("with") or strand.of("who")):
            return []
        one = _Told(self, strand, who, draw)
        found: list[Item] = []
        for verb, text in strand.lines:
            app = _APPS.get(verb, "")
            if self.left.get(app, 0) < 1:
                continue
            try:
                fields = one.fields(verb, text)
            except KeyError:  # the life lacks somebody or something
                continue
            there = {_title(x.app, x.fields) for x in self.items}
            if verb == "call" and fields and fields["voicemail"] and draw.random() > _SPOKEN:
                continue
            if fields is None or _title(app, fields) in there:
                continue
            item = Item(f"strand/{strand.name}/{len(found)}", app, fields)
            self.left[app] -= 1
            self.words[item.id] = one.words
            if who is not None:
                self.about[item.id] = who
            found.append(item)
            self.items.append(item)
        return found

    def _who(self, strand: Strand, draw: random.Random) -> Acquaintance | None:
        life = self.life
        if patterns := strand.of("with"):
            pattern = re.compile(rf"^(?:\w+ )?(?:{patterns[0]})\b(?!['’]| of| to)", re.IGNORECASE)
            fitting = [one for one in life.circle.values() if pattern.match(one.contact.relation)]
            return draw.choice(fitting) if fitting else None
        if not (options := strand.of("who")):
            return None
        relation = life.words.text(options[0])
        if not _may_know(relation, life.profile.age or 40, life.profile.household or ""):
            return None
        there = {one.contact.relation for one in life.circle.values()}
        if relation in there and not CLOSE.match(relation):  # nobody has two choir directors
            return None
        if strand.name.startswith("new/"):
            word = relation.split(",")[0].split()[0].casefold()
            if any(word in one.contact.relation.casefold() for one in life.circle.values()):
                return None
        return life.meet(f"strand/{strand.name}", relation)


def _may_know(relation: str, age: int, household: str) -> bool:
    """Whether somebody of that age and household has somebody in that relation."""
    if age > _OLD and _OLDER.match(relation):
        return False
    if relation == "driving instructor":
        return age < _LEARNS_TO_DRIVE
    return relation != "babysitter" or _CHILDREN.search(household) is not None


def _title(app: str, fields: Mapping[str, Value]) -> tuple[str, str]:
    names = {"calendar": "title", "google": "query", "reminders": "title", "notes": "title",
             "mail": "subject"}  # fmt: skip
    if app == "phonecall":
        return app, f"{fields.get('contact')}/{fields.get('direction')}"
    return app, str(fields.get(names.get(app, ""), "")).casefold()


class _Told:
    """One strand in the telling: who, when, and the words that its lines share."""

    def __init__(
        self, telling: Telling, strand: Strand, who: Acquaintance | None, draw: random.Random
    ) -> None:
        self._telling, self._strand, self._who, self._draw = telling, strand, who, draw
        life = telling.life
        spoken = any(text.split("|")[-1].strip() for text in strand.of("mail") + strand.of("call"))
        self._sent = timedelta(hours=draw.uniform(1, 80)) if spoken else timedelta()
        self._start = self._free(spoken)
        moment = Moment(self._start, life.country.clock, life.country.name == "United States")
        city = (life.profile.city or "").split(",")[0]
        known = [one.called for one in life.circle.values() if one is not who]
        values: dict[str, Word] = {
            "city": city,
            "country": life.country.name,
            "month": f"{life.now:%B}",
            "year": str(life.now.year),
            "d4": str(draw.randint(1100, 9899)),
            "t": moment,
            **{f"p{euros}": life.country.price(euros) for euros in _PRICES},
            **({"who": who} if who else {}),
            **({"who2": draw.choice(known)} if known else {}),
            **({"work": work} if (work := (life.profile.work or "").split(",")[0]) else {}),
        }
        self.words: Words = life.words.with_values(values)
        self._shared: dict[str, str] = {}
        for line in strand.of("pick"):
            name, _, options = line.partition(" ")
            self.words.values[name] = draw.choice(options.split(" / "))

    def fields(self, verb: str, text: str) -> dict[str, Value] | None:
        """The fields of the item that a line tells; None where it does not fit the time."""
        tell: dict[str, Callable[[str], dict[str, Value] | None]] = {
            "event": self._event, "search": self._search, "rem": self._reminder,
            "note": self._note, "mail": self._mail, "call": self._call,
        }  # fmt: skip
        return tell[verb](text)

    @property
    def _now(self) -> datetime:
        return self._telling.life.now

    def _say(self, template: str) -> str:
        return self.words.text(template.strip(), drawn=self._shared)

    def _name(self, template: str) -> str:
        text = self._say(template)
        return text[:1].upper() + text[1:]

    def _free(self, spoken: bool) -> datetime:
        """When the event takes place: at a usual hour at which nothing else does."""
        events = self._strand.of("event")
        minutes, hours = (events[0].rsplit("; ", 2)[1:]) if events else ("60", "9-18")
        place = events[0].partition(" @ ")[2] if events else ""
        relation = self._who.contact.relation if self._who else ""
        away = travelling(self._telling.items) if events else set()
        low, high = (int(one) for one in hours.split("-"))
        past = not spoken and self._draw.random() < _PAST
        start = self._now
        for _ in range(_TRIES):
            last = _DAYS_TOLD - self._sent.days - 1 if spoken else 11
            days = -self._draw.randint(1, 12) if past else self._draw.randint(1, max(1, last))
            minute = self._draw.choice((0,) * 10 + (30,) * 7 + (15, 45))
            start = (self._now + timedelta(days=days)).replace(
                hour=self._draw.randint(low, high), minute=minute
            )
            if (
                start.date() not in away
                and is_open(start, place, relation)
                and not any(_overlap(start, int(minutes), one) for one in self._telling.items)
            ):
                break
        return start

    def _event(self, text: str) -> dict[str, Value]:
        title, _, rest = text.partition(" @ ")
        place, minutes, _ = rest.rsplit("; ", 2)
        home = (self._telling.life.profile.home or "").split(",")[0]
        where = self._say(place)
        return {
            "title": self._name(title),
            "start": self._start,
            "end": self._start + timedelta(minutes=int(minutes)),
            "location": self._draw.choice(("home", "home", home)) if where == "home" else where,
            "attendees": (self._who.contact.name,) if self._who else (),
            "notes": None,
            "repeats": "",
        }

    def _search(self, text: str) -> dict[str, Value] | None:
        query, page = map(self._say, (text + " => ").split(" => ")[:2])
        if not suits(query, self._telling.life.profile.age):
            return None
        item = looked("", query, page or None, self._now, self._draw)
        return dict(item.fields)

    def _reminder(self, text: str) -> dict[str, Value]:
        draw = self._draw
        lists = lists_of(self._strand)
        own = lists and draw.random() < _OWN_LIST
        done = self._start < self._now or draw.random() < _DONE
        title = self._name(text)
        due = self._due(title, done=done)
        return {
            "title": title,
            "due": due if done or draw.random() > _UNDATED else None,
            "list": draw.choice(lists if own else self._telling.lists),
            "done": done,
        }

    def _due(self, title: str, *, done: bool) -> datetime:
        """When a reminder goes off: before what it is for begins, at an hour that it may name."""
        draw, before = self._draw, self._start - _IN_TIME
        hours = next(
            (some for name, some in _SAID_HOURS.items() if re.search(name, title)), _DUE_AT
        )
        for _ in range(_TRIES):
            if done:
                day = min(self._start, self._now) - timedelta(days=draw.choice((1, 1, 2, 3)))
            else:
                early = self._start - timedelta(days=draw.choice((0, 1, 1, 1, 2)))
                day = max(early, self._now + timedelta(days=draw.choice((0, 1))))
            due = day.replace(hour=draw.choice(hours), minute=draw.choice((0, 0, 0, 0, 30)))
            if done or self._now < due <= before:
                return due
        return max(before.replace(minute=0), self._now.replace(minute=0) + timedelta(hours=1))

    def _note(self, text: str) -> dict[str, Value]:
        title, _, body = text.partition(" => ")
        draw = self._draw
        lists = lists_of(self._strand)
        ago = timedelta(days=40 * draw.random() ** 2, hours=2)
        at = (self._now - ago).replace(minute=written_minute(draw))
        return {
            "title": self._name(title),
            "body": "\n".join(self._say(line) for line in body.split(" / ")),
            "folder": draw.choice(lists or self._telling.lists),
            "modified_at": _waking(at),
        }

    def _mail(self, text: str) -> dict[str, Value] | None:
        sender, subject, body = (
            (one.strip() for one in text.split("|", 2))
            if not text.startswith("|")
            else ("", *(one.strip() for one in text[1:].split("|", 1)))
        )
        name = self._say(sender) if sender else self._who.contact.name if self._who else ""
        unwritten = self._who is not None and not sender and self._who.contact.email is None
        if not name or unwritten or self._start < self._now:
            return None
        at = _waking((self._now - self._sent).replace(minute=written_minute(self._draw)))
        return {
            "sender": name,
            "subject": self._name(subject),
            "body": self._say(body),
            "received_at": min(at, self._now - timedelta(minutes=self._draw.randint(5, 50))),
            "flagged": False,
            "unread": self._sent.days < 2 and self._draw.random() < 0.35,
        }

    def _call(self, text: str) -> dict[str, Value] | None:
        direction, _, told = (one.strip() for one in text.partition("|"))
        draw = self._draw
        if self._who is None or (told and self._start < self._now):
            return None
        at = (self._now - timedelta(days=draw.randint(0 if told else 1, 2 if told else 5))).replace(
            hour=draw.choice(_CALLED_AT), minute=written_minute(draw)
        )
        if at >= self._now:
            at = self._now - timedelta(minutes=draw.randint(6, 90))
        if at.hour < _CALLED_AT[0] - 1:  # nobody rings at night: it was the evening before
            at = (at - timedelta(days=1)).replace(hour=draw.choice(_CALLED_AT[-3:]))
        seconds = draw.choice((draw.randint(2, 20), draw.randint(6, 150))) * 10
        return {
            "contact": self._who.contact.name,
            "direction": direction,
            "called_at": at,
            "duration_s": 0 if direction == "missed" else seconds,
            "voicemail": self._say(told) if told else None,
        }


def _waking(at: datetime) -> datetime:
    """The minute, in waking hours of its day."""
    hour = at.hour + 8 if at.hour < 7 else at.hour
    return at.replace(hour=hour, second=0, microsecond=0)


def _overlap(start: datetime, minutes: int, item: Item) -> bool:
    begins, ends = item.time("start"), item.time("end")
    if begins is None or ends is None:
        return False
    return begins < start + timedelta(minutes=minutes) + _GAP and start < ends + _GAP
