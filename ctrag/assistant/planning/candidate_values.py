"""Which values a plan's arguments may take, each with the place it was found in.

For arguments that are scored by value, a plan may use what occurs in retrieved items, contacts,
the profile or the request, and dates computed from the request's time phrases. Nothing else can
be decoded, except short free text where the value is open (a kind of place, a language).
"""

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from ctrag.assistant.api_choice.item_weights import item_weights
from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import Floats
from ctrag.text.dates.temporal_expressions import (
    find_expressions,
    offered_beginnings,
    offered_dates,
    offered_datetimes,
)
from ctrag.text.phone_numbers import dictated_numbers, written_numbers
from ctrag.text.words import STOPWORDS, fold, terms, words
from ctrag.toolbox import Argument, Tool
from stores.people.app_spec import spec_of
from stores.people.items import Contact, Item, Person, Request
from stores.people.local_time import format_local_time

MOST = 24
"""Candidates of one argument at most."""

_LONGEST_WORDS = 300
_PLANNED = ("calendar", "reminders")
"""Applications whose times are appointments, which matter even when they are over."""
_NEAR = 400
"""Days around the request within which a time named in an item's text is accepted."""

OPEN = frozenset({"category", "target_language", "genre", "folder", "list", "language"})
"""Arguments whose value may be words that occur nowhere."""

PLACES = frozenset({"destination", "location", "near", "origin", "place", "address"})
"""Arguments whose value is a place."""
_DAYS = frozenset(
    name.casefold() for names in (calendar.day_name, calendar.month_name) for name in names if name
)
_NAME_RUN = re.compile(r"\b[^\W\d_a-z]\w*(?:[ '-](?:[^\W\d_a-z]\w*|(?:de|la|da|di|of|the)\b))*")


HOW = (
    "schema",
    "phrase",
    "anchor",
    "written",
    "said",
    "named",
    "related",
    "person",
    "mentioned",
    "contact",
    "field",
    "group",
    "place",
    "part",
    "profile",
    "run",
    "number",
    "known",
    "absent",
)
"""Ways in which a value can be found; `absent` leaves an optional argument out."""


@dataclass(frozen=True, slots=True)
class CandidateValue:
    """A value and where it was found (an item's id, `contact`, `profile`, `request`, `date`)."""

    value: str
    source: str
    how: str = field(default="field", compare=False)
    """One of `HOW`."""
    rank: int = field(default=-1, compare=False)
    """Position of the item that it was found in, best first; -1 when in none."""


@dataclass(frozen=True, slots=True)
class ValueSources:
    """Everything that values may come from."""

    request: Request
    person: Person
    items: Sequence[Item]
    shares: Sequence[float] = ()
    """Probability that each item is meant, the further ones included, summing to 1; equal when
    empty."""
    owned: Sequence[Item] = ()
    """Everything that the person has, for names of folders, lists and playlists."""
    further: Sequence[Item] = ()
    """The next best items after `items`, best first: only for calls in the item's application."""

    @classmethod
    def of(
        cls,
        request: Request,
        person: Person,
        items: Sequence[Item],
        relevance: Floats,
        owned: Sequence[Item] = (),
        further: Sequence[Item] = (),
    ) -> "ValueSources":
        """Sources from the result of context retrieval.

        Args:
            request: What was said, when and where.
            person: Whose request it is.
            items: Retrieved items, best first.
            relevance: LambdaMART score of each item, then of each further one.
            owned: Everything that the person has; ignored where no item was retrieved.
            further: The next best items after `items`, best first.
        """
        shares = [float(share) for share in item_weights(relevance)]
        return cls(request, person, items, shares, owned if items else (), further)

    @property
    def ranked(self) -> list[Item]:
        """The items and the further ones; `CandidateValue.rank` is a position in it."""
        return [*self.items, *self.further]

    def _own(self, tool: Tool) -> Iterator[tuple[int, Item]]:
        """Items of the tool's application with their ranks, best first."""
        return ((rank, item) for rank, item in enumerate(self.ranked) if item.app == tool.app)

    def candidates(self, tool: Tool, argument: Argument) -> list[CandidateValue]:
        """Candidates of an argument, likeliest first, without duplicates, `MOST` at most."""
        found: list[CandidateValue] = []
        seen: set[str] = set()
        for candidate in self._found(tool, argument):
            key = candidate.value.strip().casefold()
            if key and key not in seen and len(candidate.value) <= 200:
                seen.add(key)
                found.append(candidate)
                if len(found) == MOST:
                    break
        return found

    def moments(self, text: str, argument: Argument, about: Item | None = None) -> list[str]:
        """What a text means as a date or time, likeliest first; [] when it names none.

        It is read from now on, for `since` back from now; only what means nothing by itself ("an
        hour later") is read from the items' times.

        Args:
            text: A run of the request, or all of it.
            argument: Of type `date` or `datetime`.
            about: The item that the call changes: "to eleven" is on its day.
        """
        asked = self.request.asked_at
        moment = None if about is None else item_text.time_of(about)
        if argument.name == "since":
            return [format_local_time(one) for one in offered_beginnings(text, asked)]
        own, written = self._times()
        for anchors in ([] if moment is None else [moment], [*own, *written]):
            if argument.type == "datetime":
                times = offered_datetimes(text, asked, anchors)
                found = [format_local_time(one) for one in times]
            elif find_expressions(text, asked) or anchors:  # else today is offered
                found = [day.isoformat() for day in offered_dates(text, asked, anchors)]
            else:
                found = []
            if found:
                return found
        return []

    def own_words(self, tool: Tool, argument: Argument) -> str:
        """Text for a free text argument in the person's own words.

        For a search in the person's own items it is the title of the best one in that
        application, otherwise the request itself.
        """
        if tool.effect == "read" and argument.name == "query":
            for item in self.items:
                if item.app == tool.app and item_text.title(item):
                    return item_text.title(item)
        return " ".join(self.request.text.split())[:_LONGEST_WORDS]

    def _found(self, tool: Tool, argument: Argument) -> Iterator[CandidateValue]:
        if argument.type == "enum":
            yield from (CandidateValue(value, "schema", "schema") for value in argument.values)
        elif argument.type == "datetime":
            yield from self._datetimes(argument)
        elif argument.type == "date":
            yield from self._days()
        elif argument.type in ("contact", "contacts"):
            yield from self._people(tool, argument)
        elif argument.name == "number":
            yield from self._numbers()
        elif argument.name in PLACES:
            yield from self._places()
        else:
            yield from self._fields(tool, argument)

    def _fields(self, tool: Tool, argument: Argument) -> Iterator[CandidateValue]:
        """Values of the field that the argument is named after, in the tool's own items."""
        for rank, item in self._own(tool):
            name = _field_for(item, argument.name)
            if name is not None and item.text(name):
                yield CandidateValue(item.text(name), item.id, "field", rank)
        yield from self._groups(tool, argument)
        if argument.name == "category":
            yield from (
                CandidateValue(run, "request", "said") for run in _content(self.request.text)
            )
        elif argument.name in OPEN:
            yield from (
                CandidateValue(run, "request", "said") for run in _request_names(self.request.text)
            )
        if argument.name == "genre" and self.person.profile.favorite_music_genre:
            yield CandidateValue(self.person.profile.favorite_music_genre, "profile", "profile")

    def _groups(self, tool: Tool, argument: Argument) -> Iterator[CandidateValue]:
        """Folders, lists, playlists or genres that the person has, those in the request first."""
        said = set(terms(self.request.text))
        found: dict[str, str] = {}
        for item in self.owned:
            name = _field_for(item, argument.name) if item.app == tool.app else None
            if name is not None and name in item_text.fields_of(item, "group") and item.text(name):
                found.setdefault(item.text(name), item.id)
        for value in sorted(found, key=lambda one: not said.intersection(terms(one))):
            yield CandidateValue(value, found[value], "group")

    def _people(self, tool: Tool, argument: Argument) -> Iterator[CandidateValue]:
        said = self._request_words()
        contacts = self.person.contacts
        labels = dict(zip(contacts, self.person.labels(), strict=True))
        for contact in contacts:
            if said.intersection(word for word in _named(contact) if len(word) > 2):
                yield CandidateValue(labels[contact], "contact", "named")
        known = {contact.name.casefold() for contact in contacts}
        for rank, item in enumerate(self.items):
            for name in item_text.people(item):
                # Somebody who is no contact can be called back, blocked, invited or searched
                # for, but nothing is sent to them.
                if name.casefold() in known or (item.app == tool.app and argument.name != "to"):
                    yield CandidateValue(name, item.id, "person", rank)
        for contact in contacts:
            if said.intersection(_related(contact)):
                yield CandidateValue(labels[contact], "contact", "related")
        for rank, item in enumerate(self.items):
            mentioned = set(words(item_text.searched_text(item)))
            for contact in contacts:
                if mentioned.intersection(words(contact.name)[:1]):
                    yield CandidateValue(labels[contact], item.id, "mentioned", rank)
        for rank, item in self._own(tool):
            for name in item_text.people(item) if rank >= len(self.items) else ():
                if name.casefold() in known or argument.name != "to":
                    yield CandidateValue(name, item.id, "person", rank)
        yield from (CandidateValue(labels[contact], "contact", "contact") for contact in contacts)

    def _numbers(self) -> Iterator[CandidateValue]:
        said = self.request.text
        yield from (CandidateValue(number, "request", "said") for number in written_numbers(said))
        yield from (CandidateValue(number, "request", "said") for number in dictated_numbers(said))
        for rank, item in enumerate(self.items):
            for name, value in item.fields.items():
                if not isinstance(value, str):
                    continue
                how = "person" if name in item_text.fields_of(item, "person") else "number"
                yield from (
                    CandidateValue(number, item.id, how, rank) for number in written_numbers(value)
                )
        for rank, item in enumerate(self.items):
            for name in item_text.people(item):
                contact = self.person.contact(name)
                if contact is not None and contact.phone:
                    yield CandidateValue(contact.phone, item.id, "mentioned", rank)
        named = self._request_words()
        for contact in self.person.contacts:
            if contact.phone and named.intersection(words(contact.name + " " + contact.relation)):
                yield CandidateValue(contact.phone, "contact", "named")

    def _request_words(self) -> set[str]:
        """Words of the request that may name somebody: "of" in "friend of Ann" does not."""
        return set(words(self.request.text)) - STOPWORDS

    def _places(self) -> Iterator[CandidateValue]:
        profile = self.person.profile
        for rank, item in enumerate(self.items):
            place = item_text.field_of(item, "place")
            if place is not None and item.text(place):
                yield CandidateValue(item.text(place), item.id, "place", rank)
                yield from (
                    CandidateValue(part, item.id, "part", rank) for part in _parts(item.text(place))
                )
            if item.text("clicked"):
                yield CandidateValue(item.text("clicked"), item.id, "known", rank)
        yield from (
            CandidateValue(run, "request", "said") for run in _request_names(self.request.text)
        )
        for own in (profile.city, profile.home, profile.work):
            if own:
                yield from (CandidateValue(part, "profile", "profile") for part in _parts(own))
                yield CandidateValue(own, "profile", "profile")
        for rank, item in enumerate(self.items):
            yield from (
                CandidateValue(run, item.id, "run", rank) for run in _names(item_text.title(item))
            )
        for rank, item in enumerate(self.items):
            runs = _names(item_text.searched_text(item))
            yield from (CandidateValue(run, item.id, "run", rank) for run in runs)
        if not self.owned:
            return
        # Searches name towns that the items in question leave out.
        for item in self.owned:
            if spec_of(item.app).similar_app == "google":
                yield from (
                    CandidateValue(run, item.id, "known") for run in _names(item_text.title(item))
                )

    def _datetimes(self, argument: Argument) -> Iterator[CandidateValue]:
        own, written = self._times()
        asked = self.request.asked_at
        named = offered_datetimes(self.request.text, asked, [*own, *written])
        more = [*own, *self._ends(), *written]
        if argument.name == "since":
            # "What played before I slept" means from the full hour before it.
            past = [moment for _, moment in self._timed() if moment <= asked]
            more = [*(moment.replace(minute=0) for moment in past), *past]
        for moment in dict.fromkeys([*named, *more]):
            how = "anchor" if moment in own else "written" if moment in written else "phrase"
            if moment in more and moment not in named:
                how = "written" if moment in written else "anchor"
            yield CandidateValue(format_local_time(moment), "date", how)

    def _days(self) -> Iterator[CandidateValue]:
        own, written = self._times()
        days = [{time.date() for time in times} for times in (own, written)]
        named = offered_dates(self.request.text, self.request.asked_at, [*own, *written])
        read = [day for item in self.items for day in self._dates_in(item)]
        for day in dict.fromkeys([*named, *read]):
            known = day in days[1] or day in read
            how = "anchor" if day in days[0] else "written" if known else "phrase"
            yield CandidateValue(day.isoformat(), "date", how)

    def _times(self) -> tuple[list[datetime], list[datetime]]:
        """Times that "half an hour later" may refer to: the items', and those in their text."""
        own = [
            moment
            for item, moment in self._timed()
            if moment >= self.request.asked_at or spec_of(item.app).similar_app in _PLANNED
        ]
        written: list[datetime] = []
        for item, moment in self._timed():
            text = item_text.written(item)
            if text:
                written += offered_datetimes(text, moment, own)[:4]
        return own, [moment for moment in written if self._is_near(moment.date())]

    def _timed(self) -> Iterator[tuple[Item, datetime]]:
        for item in self.items:
            moment = item_text.time_of(item)
            if moment is not None:
                yield item, moment

    def _ends(self) -> list[datetime]:
        ends = [item_text.time_of(item, "end") for item in self.items]
        return [end for end in ends if end is not None and end >= self.request.asked_at]

    def _dates_in(self, item: Item) -> list[date]:
        """Days that an item's text names, relative to its own day."""
        reference = item_text.time_of(item) or self.request.asked_at
        text = f"{item_text.title(item)}. {item_text.written(item)}"
        days = [one.start.date() for one in find_expressions(text, reference)[:4]]
        return [day for day in days if self._is_near(day)]

    def _is_near(self, day: date) -> bool:
        """Whether a day is within `_NEAR`: numbers in items' text can be misread as years."""
        return abs((day - self.request.asked_at.date()).days) <= _NEAR


def _named(contact: Contact) -> list[str]:
    return words(" ".join((contact.name, *contact.nicknames)))


def _related(contact: Contact) -> list[str]:
    return words(" ".join((contact.relation, contact.title, contact.organisation)))


def _field_for(item: Item, argument: str) -> str | None:
    """The item's field that an argument is named after: `title`, `subject`, `playlist_name`."""
    if argument in item.fields:
        return argument
    short = argument.removesuffix("_name")
    return short if short in item.fields else None


def _parts(text: str) -> list[str]:
    """The parts of an address, and all after the first: "Tull, 1 Ponce Ave, Decatur" → "Tull", "1
    Ponce Ave", "Decatur", "1 Ponce Ave, Decatur"."""
    pieces = [piece.strip() for piece in re.split(r"[,;()]| - ", text)]
    if len(pieces) < 2:
        return []
    rest = text.partition(",")[2].strip()
    tail = [rest] if "," in rest else []
    return [*(piece for piece in pieces if len(piece) > 2), *tail]


def _names(text: str) -> list[str]:
    """Runs of capitalised words, as in names of places, the first word included."""
    runs: Iterable[str] = (match.group().strip() for match in _NAME_RUN.finditer(text))
    return [run for run in runs if len(run) > 2 and run.casefold() not in _DAYS]


def _request_names(text: str) -> list[str]:
    """Names in a request; a first word alone is capitalised anyway."""
    runs = _names(text)
    first = text.split(maxsplit=1)[0].strip(",.!?") if text.split() else ""
    return [run for run in runs if run != first] if len(text.split()) > 1 else runs


def _content(text: str) -> list[str]:
    """Runs of content words of a request, longest first: "a noodle place after the
    scan" → "noodle place", "scan"."""
    runs: list[list[str]] = []
    for piece in re.split(r"[^\w\s]+", text):
        runs.append([])
        for word in piece.split():
            if len(word) < 3 or fold(word) in STOPWORDS:
                runs.append([])
            else:
                runs[-1].append(word)
    return sorted((" ".join(run) for run in runs if run), key=lambda run: -len(run.split()))
