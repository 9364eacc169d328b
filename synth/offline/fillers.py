"""Distractor items that no request is about, from the vocabulary and from other people.

They have the same applications, days and people as the relevant items on purpose.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cache

from stores.people.app_spec import packaged_apps
from stores.people.items import Item, Person, Usage, Value
from synth.offline.life import Entry, entries, gaps, usual
from synth.offline.sources import SourcePerson, item_texts, letters, ordinary_words, sources

_SPECS = {app.name: app for app in packaged_apps()}
_BORROWED = 0.5
_ORDINARY_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Filler:
    """Makes distractor items for one person."""

    person: Person
    test: bool
    """Which part of the sources items are borrowed from."""
    draw: random.Random

    def items(self, app: str) -> Iterator[Item]:
        """An endless stream of items of an application, without id and usage; may near-repeat."""
        own: dict[str, Callable[[], Item]] = {
            "mail": self._mail,
            "calendar": self._event,
            "google": self._search,
            "notes": self._note,
            "reminders": self._reminder,
            "phonecall": self._call,
        }
        while True:
            lent = _lent(app, self.test)
            if app == "music":
                yield self._song()
            elif lent and self.draw.random() < _BORROWED:
                yield self._moved(*self.draw.choice(lent))
            else:
                yield own[app]()

    def _moved(self, item: Item, then: datetime) -> Item:
        """Another person's item, moved by whole weeks to the same distance from now."""
        weeks = round((self.person.now - then).days / 7)
        fields = {
            name: value + timedelta(weeks=weeks) if isinstance(value, datetime) else value
            for name, value in item.fields.items()
        }
        moment = fields[_SPECS[item.app].named("time")[0]]
        if item.app not in ("calendar", "reminders") and isinstance(moment, datetime):
            while moment >= self.person.now:
                moment -= timedelta(weeks=1)
            fields[_SPECS[item.app].named("time")[0]] = moment
        return Item("", item.app, fields)

    def _mail(self) -> Item:
        if self.draw.random() < 0.5 and self.person.contacts:
            subject, body = self._line("contact_mails").parts
            values = gaps(self.person, self.draw)
            sender = values["c"]
        else:
            sender, subject, body, _ = self._line("company_mails").parts
            values = gaps(self.person, self.draw)
        return self._item(
            "mail",
            sender=sender,
            subject=subject.format(**values),
            body=body.format(**values),
            received_at=self._before(12),
            unread=self.draw.random() < 0.3,
        )

    def _event(self) -> Item:
        title, _, place, hours, minutes, together = self._line("events").parts
        values = gaps(self.person, self.draw)
        start = self._around(hours)
        return self._item(
            "calendar",
            title=title.format(**values),
            start=start,
            end=start + timedelta(minutes=int(minutes)),
            location=place.format(**values) or None,
            attendees=(values["c"],) if together == "yes" else (),
        )

    def _search(self) -> Item:
        query, clicked = self._line("searches").parts
        values = gaps(self.person, self.draw)
        return self._item(
            "google",
            query=query.format(**values).casefold(),
            clicked=clicked.format(**values) if self.draw.random() < 0.85 else None,
            searched_at=self._before(14),
        )

    def _note(self) -> Item:
        title, _, folder, body = self._line("notes").parts
        values = gaps(self.person, self.draw)
        return self._item(
            "notes",
            title=title.format(**values),
            body="\n".join(part.strip() for part in body.format(**values).split(";")),
            folder=folder,
            modified_at=self._before(40),
        )

    def _reminder(self) -> Item:
        title, _, group, hours = self._line("reminders").parts
        due = self._around(hours)
        return self._item(
            "reminders",
            title=title.format(**gaps(self.person, self.draw)),
            due=due if self.draw.random() < 0.9 else None,
            list=group,
            done=due < self.person.now and self.draw.random() < 0.7,
        )

    def _song(self) -> Item:
        favourite = (self.person.profile.favorite_music_genre or "").casefold()
        songs = _songs(self.test)
        liked = songs.get(favourite, [])
        every = songs[""]
        chosen = self.draw.choice(liked if liked and self.draw.random() < 0.6 else every)
        playlist = self.draw.choice(entries("playlists")).parts[0]
        new = {
            "playlist": playlist if self.draw.random() < 0.35 else None,
            "played_at": self._before(10),
        }
        return self._item("music", **{**chosen.fields, **new})

    def _call(self) -> Item:
        direction = self.draw.choice(("incoming", "outgoing", "outgoing", "missed"))
        talked = direction != "missed"
        return self._item(
            "phonecall",
            contact=gaps(self.person, self.draw)["c"],
            direction=direction,
            called_at=self._before(12),
            duration_s=self.draw.randint(20, 900) if talked else 0,
        )

    def _line(self, section: str) -> Entry:
        return self.draw.choice(usual(section, self.person))

    def _item(self, app: str, /, **given: Value) -> Item:
        fields = {field.name: given.get(field.name, field.default) for field in _SPECS[app].fields}
        return Item("", app, fields, Usage())

    def _before(self, days: int) -> datetime:
        """A time in waking hours in the last days."""
        day = (self.person.now - timedelta(days=self.draw.randint(0, days))).date()
        moment = datetime.combine(day, time(self.draw.randint(7, 22), self.draw.randint(0, 59)))
        return moment if moment < self.person.now else moment - timedelta(days=1)

    def _around(self, hours: str) -> datetime:
        """A planned time at one of the given hours, more often ahead than past."""
        day = self.person.now.date() + timedelta(days=self.draw.randint(-8, 14))
        minute = self.draw.choice((0, 0, 0, 15, 30, 30, 45))
        return datetime.combine(day, time(int(self.draw.choice(hours.split())), minute))


@cache
def _lent(app: str, test: bool) -> list[tuple[Item, datetime]]:
    """Impersonal items of sources, each with its owner's now."""
    return [
        (item, source.persona.person.now)
        for source in sources()
        if source.test == test
        for item in source.persona.items
        if item.app == app and _anybodys(item, source)
    ]


@cache
def _songs(test: bool) -> dict[str, list[Item]]:
    """Songs of sources by genre; "" has all."""
    found: dict[str, list[Item]] = defaultdict(list)
    for source in sources():
        if source.test == test:
            for item in source.persona.items:
                if item.app == "music":
                    found[item.text("genre").casefold()].append(item)
                    found[""].append(item)
    return found


def _anybodys(item: Item, source: SourcePerson) -> bool:
    """Whether an item is impersonal: no names, few words that are not ordinary."""
    if item.app in ("phonecall", "music") or item.fields.get("attendees"):
        return False
    person = source.persona.person
    own = {
        word
        for text in (person.profile.name, person.profile.city, person.profile.home,
                     person.profile.work, *(one.name for one in person.contacts))
        for word in letters(text or "")
        if word[0].isupper()
    }  # fmt: skip
    words = [word for text in item_texts(item) for word in letters(text)]
    if not words or own & set(words) or len(words) > 40:
        return False
    # Clock times and days in the text would contradict the new time of the item.
    if any(sign.isdigit() for text in item_texts(item) for sign in text):
        return False
    known = sum(word.casefold() in ordinary_words() for word in words)
    return known >= _ORDINARY_SHARE * len(words)
