"""Which values a plan's arguments may take, each with the place it was found in.

For arguments that are scored by value, a plan may use what stands in retrieved items, contacts,
the profile or the request, and dates computed from the request's time phrases. Nothing else can
be decoded, except short free text where the value is open (a kind of place, a language).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ctrag.apps.toolbox import Argument, Tool
from ctrag.context import item_text
from ctrag.context.moments import offered_dates, offered_datetimes
from ctrag.context.words import STOPWORDS, words
from stores.dataset import format_local_time
from stores.items import Item, Person, Request

MOST = 24
"""Values offered for one argument at most."""

_LONGEST_WORDS = 300

OPEN = frozenset({"category", "target_language", "genre", "folder", "list", "language"})
"""Arguments whose value may be words that stand nowhere."""

_PLACES = frozenset({"destination", "location", "near", "origin", "place", "address"})
_PHONE = re.compile(r"\+?\d(?:[\d().-]|[^\S\r\n]){5,}\d")
_CLOCK_OR_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAME_RUN = re.compile(r"\b[^\W\d_a-z]\w*(?:[ '-](?:[^\W\d_a-z]\w*|de|la|da|di|of|the))*")


@dataclass(frozen=True, slots=True)
class Offer:
    """A value and where it was found (an item's id, `contact`, `profile`, `request`, `date`)."""

    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """All that values may come from, best item first."""

    request: Request
    person: Person
    items: Sequence[Item]

    def offers(self, tool: Tool, argument: Argument) -> list[Offer]:
        """Values for an argument, likeliest first, no value twice, `MOST` at most."""
        found: list[Offer] = []
        seen: set[str] = set()
        for offer in self._found(tool, argument):
            key = offer.value.strip().casefold()
            if key and key not in seen and len(offer.value) <= 200:
                seen.add(key)
                found.append(offer)
                if len(found) == MOST:
                    break
        return found

    def own_words(self, tool: Tool, argument: Argument) -> str:
        """Text for a free text argument without writing any.

        For what is searched in the person's own things it is the title of the best item there,
        else the request as it was said.
        """
        if tool.effect == "read" and argument.name == "query":
            for item in self.items:
                if item.app == tool.app and item_text.title(item):
                    return item_text.title(item)
        return " ".join(self.request.text.split())[:_LONGEST_WORDS]

    def _found(self, tool: Tool, argument: Argument) -> Iterator[Offer]:
        if argument.type == "enum":
            yield from (Offer(value, "schema") for value in argument.values)
        elif argument.type == "datetime":
            yield from (
                Offer(format_local_time(moment), "date")
                for moment in offered_datetimes(
                    self.request.text, self.request.asked_at, self._anchors()
                )
            )
        elif argument.type == "date":
            yield from (
                Offer(day.isoformat(), "date")
                for day in offered_dates(self.request.text, self.request.asked_at, self._anchors())
            )
        elif argument.type in ("contact", "contacts"):
            yield from self._people(tool, argument)
        elif argument.name == "number":
            yield from self._numbers()
        elif argument.name in _PLACES:
            yield from self._places()
        else:
            yield from self._fields(tool, argument)

    def _fields(self, tool: Tool, argument: Argument) -> Iterator[Offer]:
        """Values of the field that the argument is named after, in the tool's own items."""
        for item in self.items:
            if item.app != tool.app:
                continue
            name = _field_for(item, argument.name)
            if name is not None and item.text(name):
                yield Offer(item.text(name), item.id)
        if argument.name in OPEN:
            yield from (Offer(run, "request") for run in _names(self.request.text))
        if argument.name == "genre" and self.person.profile.favorite_music_genre:
            yield Offer(self.person.profile.favorite_music_genre, "profile")

    def _people(self, tool: Tool, argument: Argument) -> Iterator[Offer]:
        said = self._said()
        contacts = self.person.contacts
        for contact in contacts:
            if said.intersection(word for word in words(contact.name) if len(word) > 2):
                yield Offer(contact.name, "contact")
        known = {contact.name.casefold() for contact in contacts}
        for item in self.items:
            for name in item_text.people(item):
                # Somebody who is no contact can be called back, blocked, invited or searched
                # for, but nothing is sent to them.
                if name.casefold() in known or (item.app == tool.app and argument.name != "to"):
                    yield Offer(name, item.id)
        for contact in contacts:
            if said.intersection(words(contact.relation)):
                yield Offer(contact.name, "contact")
        for item in self.items:
            mentioned = set(words(item_text.searched_text(item)))
            for contact in contacts:
                if mentioned.intersection(words(contact.name)[:1]):
                    yield Offer(contact.name, item.id)
        yield from (Offer(contact.name, "contact") for contact in contacts)

    def _numbers(self) -> Iterator[Offer]:
        yield from (Offer(number, "request") for number in _phones(self.request.text))
        for item in self.items:
            texts = [value for value in item.fields.values() if isinstance(value, str)]
            yield from (Offer(number, item.id) for text in texts for number in _phones(text))
        for item in self.items:
            for name in item_text.people(item):
                contact = self.person.contact(name)
                if contact is not None and contact.phone:
                    yield Offer(contact.phone, item.id)
        said = self._said()
        for contact in self.person.contacts:
            if contact.phone and said.intersection(words(contact.name + " " + contact.relation)):
                yield Offer(contact.phone, "contact")

    def _said(self) -> set[str]:
        """Words of the request that may name somebody: "of" in "friend of Ann" does not."""
        return set(words(self.request.text)) - STOPWORDS

    def _places(self) -> Iterator[Offer]:
        profile = self.person.profile
        for item in self.items:
            field = item_text.field_of(item, "place")
            if field is not None and item.text(field):
                yield Offer(item.text(field), item.id)
                yield from (Offer(part, item.id) for part in _parts(item.text(field)))
        yield from (Offer(run, "request") for run in _names(self.request.text))
        for own in (profile.city, profile.home, profile.work):
            if own:
                yield from (Offer(part, "profile") for part in _parts(own))
                yield Offer(own, "profile")
        for item in self.items:
            yield from (Offer(run, item.id) for run in _names(item_text.title(item)))
        for item in self.items:
            yield from (Offer(run, item.id) for run in _names(item_text.searched_text(item)))

    def _anchors(self) -> list[datetime]:
        """Times that "half an hour later" may hang on: the items', then those in their words."""
        own: list[datetime] = []
        written: list[datetime] = []
        for item in self.items:
            field = item_text.field_of(item, "time")
            moment = item.time(field) if field is not None else None
            if moment is None:
                continue
            if moment >= self.request.asked_at or item.app in ("calendar", "reminders"):
                own.append(moment)
            text = " ".join(item.text(name) for name in ("body", "voicemail", "notes"))
            if text.strip():
                written += offered_datetimes(text, moment, own)[:3]
        return [*own, *written]


def _field_for(item: Item, argument: str) -> str | None:
    """The item's field that an argument is named after: `title`, `subject`, `playlist_name`."""
    if argument in item.fields:
        return argument
    short = argument.removesuffix("_name")
    return short if short in item.fields else None


def _parts(text: str) -> list[str]:
    """The pieces of an address: "Patan covered hall, Lalitpur" → both halves."""
    pieces = [piece.strip() for piece in re.split(r"[,;()]| - ", text)]
    return [piece for piece in pieces if len(piece) > 2] if len(pieces) > 1 else []


def _names(text: str) -> list[str]:
    """Runs of capitalised words, which is how names of places look; the first word counts."""
    runs: Iterable[str] = (match.group().strip() for match in _NAME_RUN.finditer(text))
    return [run for run in runs if len(run) > 2]


def _phones(text: str) -> list[str]:
    return [
        match.group().strip()
        for match in _PHONE.finditer(text)
        if not _CLOCK_OR_DATE.search(match.group())
    ]
