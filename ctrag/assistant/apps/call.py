"""What an API gets, and what it answers: pure values, so that nothing happens by looking.

An API function turns a `Call` into an `Effect` or raises `Refusal`. It writes nothing itself;
`execute` asks the person where that is needed and then applies the effect's change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from ctrag.text.dates.time_phrases import in_usual_years
from stores.people.changes import Change
from stores.people.items import Item, Person

UNKNOWN_SONG = "unknown"
"""Stands for the id of a song where music plays and nobody here knows which."""


class Refusal(Exception):
    """An API cannot do what was asked; the message is one sentence for the person."""


@dataclass(frozen=True, slots=True)
class Call:
    """One API call on one person's data."""

    api: str
    arguments: Mapping[str, str | int | list[str]]
    person: Person
    items: Sequence[Item]
    """All items of the person."""
    at: datetime
    """When the person asked."""
    playing: str | None = None
    """Id of the song that is playing, `UNKNOWN_SONG`, or None."""
    preferred: Sequence[str] = ()
    """Ids of the items that retrieval found, best first: preferred where several match."""
    states: Mapping[str, object] = field(default_factory=dict)
    """State of the application, besides its items, that this API needs, by name; see `STATES`."""
    online: bool = True
    said: str = ""
    """The person's words, where the call comes from a request."""
    new_id: Callable[[str], str] = lambda app: f"{app}-new"
    """Makes an id for a new item of an application."""

    def of(self, app: str) -> list[Item]:
        """The person's items of one application."""
        return [item for item in self.items if item.app == app]

    def text(self, name: str) -> str:
        """A text argument; an absent one is the empty string."""
        value = self.arguments.get(name, "")
        return ", ".join(value) if isinstance(value, list) else str(value)

    def texts(self, name: str) -> list[str]:
        """A list argument; a single text counts as a list of one."""
        value = self.arguments.get(name)
        if value is None:
            return []
        return [str(one) for one in value] if isinstance(value, list) else [str(value)]

    def time(self, name: str) -> datetime | None:
        """A datetime argument, None when absent; Refusal when it is not an ISO 8601 time."""
        value = self.arguments.get(name)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(str(value)).replace(tzinfo=None)
            if in_usual_years(moment):
                return moment
            raise ValueError("too near the calendar's end to count days from")
        except ValueError:
            raise Refusal(f"{name}: {value!r} is not a time such as 2025-04-17T18:00") from None

    def day(self, name: str) -> date | None:
        """A date argument, None when absent; Refusal when it is not an ISO 8601 date."""
        value = self.arguments.get(name)
        if value is None:
            return None
        try:
            return datetime.fromisoformat(str(value)).date()
        except ValueError:
            raise Refusal(f"{name}: {value!r} is not a date such as 2025-04-17") from None


@dataclass(frozen=True, slots=True)
class Effect:
    """The answer of a call and the change that it would make."""

    answer: str
    """For the person; several lines where it lists things."""
    items: tuple[Item, ...] = ()
    """Items read or changed."""
    change: Change | None = None
    """None when nothing is written, not even to the outbox."""
    recipients: tuple[str, ...] = ()
    """Recipients outside the phone, each with the address or number that is used."""
    question: str = ""
    """Asks whether it shall happen, with the exact text and recipients; "" where nothing does."""


Api = Callable[[Call], Effect]
