"""The values that move between packages: items, people, requests and their labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

Value: TypeAlias = str | int | bool | datetime | tuple[str, ...] | None

CANCELLED = "cancelled"
"""State of the calendar: ids of events that the person cancelled, and marks of series that they
ended, so that they do not come back when a series is continued or a calendar imported again."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How a person uses an item, as their phone recorded it."""

    opens_30d: int = 0
    """Times opened in the 30 days before the phone's contents were taken."""
    last_opened: datetime | None = None
    usual_hours: tuple[int, ...] = ()
    """Hours of the day, 0 to 23."""
    usual_place: str | None = None
    """`home`, `work`, `commute` or any other place's name."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in one application; `fields` has every field of the application's spec."""

    id: str
    app: str
    fields: Mapping[str, Value]
    usage: Usage = Usage()

    def text(self, name: str) -> str:
        """The field as text; an absent or null field is the empty string."""
        value = self.fields.get(name)
        if value is None:
            return ""
        return ", ".join(value) if isinstance(value, tuple) else str(value)

    def time(self, name: str) -> datetime | None:
        """The field if it is a time, else None."""
        value = self.fields.get(name)
        return value if isinstance(value, datetime) else None

    def flag(self, name: str) -> bool:
        """Whether a boolean field is set; an absent one is not."""
        return self.fields.get(name) is True


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact of the person; `relation` is to the person (wife, dispatcher)."""

    name: str
    relation: str = ""
    phone: str | None = None
    """The number that is called; the preferred one of `phones` where there are several."""
    email: str | None = None
    phones: tuple[str, ...] = ()
    """All numbers, `phone` first, where an address book has them."""
    emails: tuple[str, ...] = ()
    """All mail addresses, `email` first, where an address book has them."""
    nicknames: tuple[str, ...] = ()
    organisation: str = ""
    title: str = ""
    """Their job (dentist), where an address book has it; a relation to the person it is not."""
    related: tuple[str, ...] = ()
    """People who are related to the contact, each with how: `spouse: Even`."""
    birthday: str | None = None
    """`1984-05-02`, or `--05-02` without a year."""
    addresses: tuple[str, ...] = ()
    """Postal addresses, the preferred one first."""
    note: str = ""
    uid: str = ""
    """Identity in the address book that the contact comes from, or empty."""

    def all_phones(self) -> tuple[str, ...]:
        """All numbers, `phone` first."""
        return tuple(dict.fromkeys((*filter(None, (self.phone,)), *self.phones)))

    def all_emails(self) -> tuple[str, ...]:
        """All mail addresses, `email` first."""
        return tuple(dict.fromkeys((*filter(None, (self.email,)), *self.emails)))


_TELLS_APART: tuple[Callable[[Contact], str], ...] = (
    lambda one: one.relation,
    lambda one: one.organisation,
    lambda one: one.title,
    lambda one: one.nicknames[0] if one.nicknames else "",
    lambda one: one.phone or "",
    lambda one: one.email or "",
)
"""What is said of people of one name, the first that only one of them has."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What the person told the assistant about themselves."""

    name: str
    age: int | None = None
    profession: str | None = None
    city: str | None = None
    timezone: str | None = None
    home: str | None = None
    work: str | None = None
    favorite_music_genre: str | None = None
    favorite_movie_genre: str | None = None
    favorite_cuisine: str | None = None
    favorite_sport: str | None = None
    hobbies: tuple[str, ...] = ()
    household: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """One person: profile and contacts; their items are read from the stores."""

    person_id: str
    now: datetime
    """When the phone's contents were captured."""
    profile: Profile
    contacts: tuple[Contact, ...] = ()

    def contact(self, name: str) -> Contact | None:
        """The contact of that name or `label` (case and outer spaces aside), or None."""
        wanted = name.strip().casefold()
        for one in self.contacts:
            if one.name.casefold() == wanted:
                return one
        if not wanted.endswith(")"):
            return None
        labelled = zip(self.contacts, self.labels(), strict=True)
        return next((one for one, label in labelled if label.casefold() == wanted), None)

    def label(self, contact: Contact) -> str:
        """What only this contact is called: the name, of namesakes with what tells them apart."""
        return dict(zip(self.contacts, self.labels(), strict=True)).get(contact, contact.name)

    def labels(self) -> tuple[str, ...]:
        """The `label` of each contact, in their order."""
        named: dict[str, list[Contact]] = {}
        for one in self.contacts:
            named.setdefault(one.name.casefold(), []).append(one)
        return tuple(_label(one, named[one.name.casefold()]) for one in self.contacts)


def _label(contact: Contact, namesakes: Sequence[Contact]) -> str:
    if len(namesakes) < 2:
        return contact.name
    for tells in _TELLS_APART:
        mine = tells(contact)
        if mine and [tells(one) for one in namesakes].count(mine) == 1:
            return f"{contact.name} ({mine})"
    return f"{contact.name} (no. {1 + namesakes.index(contact)})"


@dataclass(frozen=True, slots=True)
class Request:
    """All that a method may see of a request: never a label."""

    text: str
    asked_at: datetime
    place: str | None = None
    playing: str | None = None
    """Id of the song that plays while the person asks; None when nothing plays."""


@dataclass(frozen=True, slots=True)
class LabelledPlan:
    """A plan as an annotator wrote it."""

    api: str
    arguments: Mapping[str, str | int | list[str]]


@dataclass(frozen=True, slots=True)
class Labels:
    """Annotations of a request; for training and scoring only.

    None means that the data set has none; an empty `relevant` or `tools` means that
    nothing is needed or fits.
    """

    kind: str | None = None
    chain_of_thought: str | None = None
    relevant: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    plan: LabelledPlan | None = None
    also: tuple[LabelledPlan, ...] = field(default=())

    @property
    def says_none(self) -> bool:
        """Whether it is annotated that no API can do it (rather than not annotated at all)."""
        return self.plan is None and self.tools == ()

    @property
    def has_plan(self) -> bool:
        """Whether the right answer is known: a plan, or that there is none."""
        return self.plan is not None or self.says_none
