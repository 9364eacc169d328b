"""Strands: a few items of one life that belong together, as they are written in `data/strands`.

A file holds strands by hobby; `home.yaml` those of any life: `with` somebody who is there already,
or with somebody `new`. Strands are parted by an empty line, and each line begins with what it is:

- `list A / B`, alone at the top: what lists and folders of that hobby are called.
- `who RELATION / RELATION`: somebody new; `with PATTERN`: a contact with a relation like that.
  A line that begins with `2: ` or `13: ` is only for the second, or the first and third.
- `pick NAME A / B`: a word for `{NAME}`, the same in all lines.
  `[this|that]` is a choice; choices of one line with equally many options go together.
- `event TITLE @ PLACE; MINUTES; HOURS`, `search QUERY => PAGE`, `rem TITLE`,
  `note TITLE => LINE / LINE`, `mail [SENDER] | SUBJECT | BODY`, `call DIRECTION | VOICEMAIL`.

Of several lines of a kind one is told. `{t}` is when the event takes place. What a mail or a
voicemail speaks of is still to come, within a week, so that its weekday can mean one day only.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from stores.people.items import Item, Value
from synth.offline.acquaintances import Acquaintance, bare
from synth.offline.homes import CLOSE
from synth.offline.life import Life
from synth.offline.matters import Matter, Thing
from synth.offline.moments import Moment, written_minute
from synth.offline.searching import bank, looked
from synth.offline.trades import read_data
from synth.offline.wording import Word, Words, agreeing

_FILES = ("making", "moving", "minding", "home", "further", "quiet")
_APPS = {"event": "calendar", "search": "google", "rem": "reminders", "note": "notes",
         "mail": "mail", "call": "phonecall"}  # fmt: skip
_FOR = re.compile(r"(\d+): ")
_BOUND = re.compile(r"\{(?!n\d|p\d|city|country|month|year)")
_OTHER = 0.45
"""How often the only line of a kind gives way to another of the same hobby."""
_PRICES = (12, 20, 40, 80, 150)
_DAYS_TOLD = 6
"""So many days lie at most between a mail and what it speaks of."""
_PAST = 0.3
"""Of the strands whose event nobody speaks of, those in which it has taken place."""
_AT_HOME = 0.65
"""How often a matter of home is on such a list."""
_TWO = 0.25
"""How often two things are looked up for one matter."""
_SPOKEN = 0.4
"""Of the calls that may have left a voicemail, those that are there."""
_DONE, _UNDATED, _OWN_LIST = 0.22, 0.06, 0.45
_GAP = timedelta(minutes=20)
_TRIES = 8
_DUE_AT = (8, 9, 10, 12, 12, 15, 17, 18, 18, 19, 20)
_CALLED_AT = (8, 9, 12, 13, 17, 18, 19, 20)


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines that belong together."""

    name: str
    """The hobby, `with` or `new`, and the strand's place among them."""
    lines: tuple[tuple[str, str], ...]
    """What each is, and its template."""

    def of(self, verb: str) -> list[str]:
        """The templates of one kind."""
        return [text for one, text in self.lines if one == verb]

    def drawn(self, draw: random.Random) -> "Strand":
        """One of those it may be about, one line of each kind, now and then two searches."""
        found: list[tuple[str, str]] = []
        people = [one for text in self.of("who") for one in text.split(" / ")]
        chosen = draw.randrange(len(people)) if people else 0
        for verb in dict.fromkeys(verb for verb, _ in self.lines):
            some = [text for one in self.of(verb) if (text := _of_person(one, chosen))]
            if verb == "who":
                some = people[chosen : chosen + 1]
            several = verb == "search" and len(some) > 1 and draw.random() < _TWO
            count = len(some) if verb == "pick" else 2 if several else min(1, len(some))
            taken = draw.sample(some, count)
            if len(some) == 1 and (others := self._others(verb)) and draw.random() < _OTHER:
                taken = [draw.choice(others)]
            found += [(verb, agreeing(text, draw)) for text in taken]
        return Strand(self.name, tuple(found))

    def _others(self, verb: str) -> tuple[str, ...]:
        """What may stand for the only line of a kind: others of the hobby that name nothing."""
        hobby = self.name.split("/")[0]
        return _unbound(hobby, verb) if verb in ("search", "rem", "note") else ()


@cache
def _unbound(hobby: str, verb: str) -> tuple[str, ...]:
    """A hobby's lines of a kind that name neither people nor days."""
    lines = [text for one in strands()[hobby] for text in one.of(verb)]
    if verb == "search":
        lines += bank()["hobby"].get(hobby, ())
    plain = [text for text in lines if not _BOUND.search(text) and not _FOR.match(text)]
    return tuple(plain) if hobby in bank()["hobby"] else ()


@cache
def strands() -> dict[str, tuple[Strand, ...]]:
    """Hobby, `with` or `new` → its strands."""
    return {name: tuple(some) for name, (_, some) in _read().items()}


@cache
def _read() -> dict[str, tuple[tuple[str, ...], list[Strand]]]:
    found: dict[str, tuple[tuple[str, ...], list[Strand]]] = {}
    every = ((file, *one) for file in _FILES
             for one in read_data("strands", f"{file}.yaml").items())  # fmt: skip
    for file, name, text in every:
        lists: tuple[str, ...] = ()
        some = []
        for number, part in enumerate(text.strip().split("\n\n")):
            lines = tuple(_verb_and_text(line) for line in part.splitlines())
            if lines[0][0] == "list":
                lists = tuple(lines[0][1].split(" / "))
            else:
                some.append(Strand(f"{name}/{file}/{number}", lines))
        before, others = found.get(name, ((), []))
        found[name] = lists or before, others + some
    return found


def _of_person(text: str, chosen: int) -> str:
    """A template without the places of the people it is for; nothing where it is for others."""
    found = _FOR.match(text)
    if found is None:
        return text
    return text[found.end() :] if str(chosen + 1) in found[1] else ""


def _verb_and_text(line: str) -> tuple[str, str]:
    verb, _, text = line.strip().partition(" ")
    return verb, text


@dataclass(slots=True)
class Telling:
    """A life to which strands are told, and what it has by now."""

    life: Life
    left: dict[str, int]
    """Application → how many items are still wanted; counted down."""
    lists: Sequence[str]
    """Names of lists and folders that there are."""
    home: Sequence[str]
    """Those for what is neither work nor a hobby."""
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

    def lists_of(self, strand: Strand) -> Sequence[str]:
        """What lists are called that such a matter may stand on."""
        at_home = strand.name.startswith(("with/", "new/"))
        return self.home if at_home and self.life.words.draw.random() < _AT_HOME else self.lists

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
        found = []
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
        if strand.name.startswith("new/"):
            word = relation.split(",")[0].split()[0].casefold()
            if any(word in one.contact.relation.casefold() for one in life.circle.values()):
                return None
        return life.meet(f"strand/{strand.name}", relation)


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
            if not any(_overlap(start, int(minutes), one) for one in self._telling.items):
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

    def _search(self, text: str) -> dict[str, Value]:
        query, _, page = text.partition(" => ")
        item = looked("", self._say(query), self._say(page) or None, self._now, self._draw)
        return dict(item.fields)

    def _reminder(self, text: str) -> dict[str, Value]:
        draw = self._draw
        lists, _ = _read()[self._strand.name.split("/")[0]]
        own = lists and draw.random() < _OWN_LIST
        done = self._start < self._now or draw.random() < _DONE
        if done:
            day = min(self._start, self._now) - timedelta(days=draw.choice((1, 1, 2, 3)))
        else:
            early = self._start - timedelta(days=draw.choice((0, 1, 1, 1, 2)))
            day = max(early, self._now + timedelta(days=draw.choice((0, 1))))
        due = day.replace(hour=draw.choice(_DUE_AT), minute=draw.choice((0, 0, 0, 0, 30)))
        return {
            "title": self._name(text),
            "due": due if done or draw.random() > _UNDATED else None,
            "list": draw.choice(lists if own else self._telling.lists_of(self._strand)),
            "done": done,
        }

    def _note(self, text: str) -> dict[str, Value]:
        title, _, body = text.partition(" => ")
        draw = self._draw
        lists, _ = _read()[self._strand.name.split("/")[0]]
        ago = timedelta(days=40 * draw.random() ** 2, hours=2)
        at = (self._now - ago).replace(minute=written_minute(draw))
        return {
            "title": self._name(title),
            "body": "\n".join(self._say(line) for line in body.split(" / ")),
            "folder": draw.choice(lists or self._telling.lists_of(self._strand)),
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


def ordered(hobbies: Sequence[str], draw: random.Random) -> Iterator[Strand]:
    """Strands in the order in which a life takes them: one of each hobby, some of home, others."""
    mine = {name: _richest_first(some, draw) for name in hobbies
            if (some := strands().get(name, ()))}  # fmt: skip
    near, new = (_richest_first(strands()[one], draw) for one in ("with", "new"))
    for own in mine.values():
        yield own.pop(0)
    yield from near[:3]
    yield from new[:1]
    names = [name for name in mine for _ in range(len(mine[name]))]
    for name in draw.sample(names, len(names)):
        yield mine[name].pop(0)
        if draw.random() < 0.5 and new[1:]:
            yield new.pop()
    yield from near[3:]


def _richest_first(some: Sequence[Strand], draw: random.Random) -> list[Strand]:
    """Strands in random order, those with more lines to choose from mostly earlier."""
    return sorted(some, key=lambda one: -(draw.random() ** (1 / len(one.lines))))
