"""A person's items as arrays.

Rebuilt only when the stores change; features and rankers index into it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context import item_text
from ctrag.assistant.context.projection import LowDimensionalProjection
from ctrag.models.encoder import Encoder, Matrix
from ctrag.text.bm25 import LexicalIndex
from ctrag.text.trigrams import Grams, grams
from ctrag.text.words import terms, words
from stores.gc_pause import gc_paused
from stores.people.app_spec import Role, known_apps, packaged_apps, spec_of
from stores.people.items import CANCELLED, Item, Person
from stores.people.local_time import now_in, zone_of
from stores.people.stores import Stores

if TYPE_CHECKING:
    from ctrag.assistant.context.item_similarity import Links

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
PROJECTED_FROM = 20_000
"""More items than this are projected first for dense search."""
_PARTS = 4
"""Views of a part that a view keeps."""
_EPOCH = datetime(1970, 1, 1)
_Value = TypeVar("_Value")


def hours(moment: datetime) -> float:
    """Hours since 1970, local time."""
    return (moment - _EPOCH).total_seconds() / 3600.0


class Rows(Generic[_Value]):
    """One value per item, computed lazily: most items are never asked for."""

    def __init__(self, count: int, make: Callable[[int], _Value]) -> None:
        self._count = count
        self._make = make
        self._made: dict[int, _Value] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> _Value:
        if row not in self._made:
            self._made[row] = self._make(row)
        return self._made[row]

    def __iter__(self) -> Iterator[_Value]:
        return (self[row] for row in range(self._count))


@dataclass(frozen=True, slots=False)
class PersonView:
    """All items of one person, row by row; every array has one row per item."""

    person: Person
    items: tuple[Item, ...]
    vectors: Matrix
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → why its store did not answer."""

    @classmethod
    def of(cls, person: Person, items: Sequence[Item], encoder: Encoder) -> "PersonView":
        """A view of items that are in no store; their vectors are computed here."""
        if not items:
            return cls(person, (), np.empty((0, 0), np.float32))
        return cls(person, tuple(items), encode_items(encoder, [(person, one) for one in items]))

    def __len__(self) -> int:
        return len(self.items)

    def __getstate__(self) -> dict[str, object]:
        """Fields only: cached properties are computed again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Item ids."""
        return tuple(item.id for item in self.items)

    @cached_property
    def row(self) -> dict[str, int]:
        """Item id → row."""
        return {item_id: row for row, item_id in enumerate(self.ids)}

    @cached_property
    def apps(self) -> Ints:
        """Position of each item's application among the known ones."""
        order = {app.name: position for position, app in enumerate(known_apps())}
        return np.array([order[item.app] for item in self.items], dtype=np.int64)

    @cached_property
    def similar_apps(self) -> Ints:
        """Position of each item's application among the packaged ones; of a further application,
        that of the one that it resembles. Trained models know no others."""
        order = {app.name: position for position, app in enumerate(packaged_apps())}
        places = {app: order[spec_of(app).similar_app] for app in {item.app for item in self.items}}
        return np.array([places[item.app] for item in self.items], dtype=np.int64)

    @cached_property
    def starts(self) -> NDArray[np.float64]:
        """Start of each item, in hours since 1970; NaN when it has no time."""
        return self._times("time")

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        """End of each item, in hours since 1970; its start where there is no end."""
        ends = self._times("end")
        return np.where(np.isnan(ends), self.starts, ends)

    @cached_property
    def opens(self) -> Floats:
        """Times opened in 30 days."""
        return np.array([item.usage.opens_30d for item in self.items], dtype=np.float32)

    @cached_property
    def log_opens(self) -> Floats:
        """Logarithm of one more than `opens`."""
        return np.log1p(self.opens)

    @cached_property
    def opened(self) -> NDArray[np.float64]:
        """When last opened, in hours since 1970; NaN when never."""
        return np.array(
            [
                np.nan if item.usage.last_opened is None else hours(item.usage.last_opened)
                for item in self.items
            ]
        )

    @cached_property
    def usual_hours(self) -> NDArray[np.bool_]:
        """(items, 24): whether the hour of the day is a usual one."""
        table = np.zeros((len(self.items), 24), dtype=bool)
        for row, item in enumerate(self.items):
            table[row, list(item.usage.usual_hours)] = True
        return table

    @cached_property
    def places(self) -> NDArray[np.str_]:
        """Usual place, folded; empty when there is none."""
        return np.array([" ".join(words(item.usage.usual_place or "")) for item in self.items])

    @cached_property
    def members(self) -> tuple[Ints, ...]:
        """Rows of each application that has items, in the order of `apps`."""
        return tuple(np.flatnonzero(self.apps == app) for app in np.unique(self.apps))

    @cached_property
    def used_members(self) -> tuple[Ints, ...]:
        """`members` that were opened in 30 days."""
        return tuple(rows[self.opens[rows] > 0] for rows in self.members)

    @cached_property
    def timelines(self) -> tuple[tuple[Ints, NDArray[np.float64]], ...]:
        """`members` that have a time, with their `starts`, in ascending order of those."""
        dated = (rows[~np.isnan(self.starts[rows])] for rows in self.members)
        ordered = [rows[np.argsort(self.starts[rows], kind="stable")] for rows in dated]
        return tuple((rows, self.starts[rows]) for rows in ordered)

    @cached_property
    def series(self) -> tuple[Ints, ...]:
        """Rows of the occurrences of each repeating event, in order of time."""
        found: dict[str, list[int]] = {}
        for row, item in enumerate(self.items):
            repeats = item.fields.get("repeats")
            if repeats and item.app == "calendar":
                found.setdefault(str(repeats), []).append(row)
        groups = (np.array(rows, dtype=np.int64) for rows in found.values() if len(rows) > 1)
        return tuple(rows[np.argsort(self.starts[rows], kind="stable")] for rows in groups)

    def only(self, rows: Ints) -> "PersonView":
        """A view of some rows; the last few are kept, for requests that follow."""
        if len(rows) == len(self):
            return self
        key = rows.tobytes()
        if key not in self._parts:
            while len(self._parts) >= _PARTS:
                del self._parts[next(iter(self._parts))]
            items = tuple(self.items[row] for row in rows)
            self._parts[key] = PersonView(self.person, items, self.vectors[rows], self.unavailable)
        return self._parts[key]

    @cached_property
    def _parts(self) -> "dict[bytes, PersonView]":
        return {}

    @cached_property
    def projected(self) -> LowDimensionalProjection | None:
        """`vectors` projected where there are more than `PROJECTED_FROM`, otherwise None."""
        return LowDimensionalProjection.of(self.vectors) if len(self) > PROJECTED_FROM else None

    @cached_property
    def title_terms(self) -> Rows[frozenset[str]]:
        """Stemmed words of each title."""
        return self._rows(lambda item: frozenset(terms(item_text.title(item))))

    @cached_property
    def terms(self) -> Rows[list[str]]:
        """Stemmed words of everything that lexical search indexes."""
        return self._rows(lambda item: terms(item_text.searched_text(item)))

    @cached_property
    def people(self) -> Rows[tuple[str, ...]]:
        """Names in each item's person fields."""
        return self._rows(item_text.people)

    @cached_property
    def groups(self) -> Rows[tuple[str, ...]]:
        """Folder, list, playlist and genre of each item, folded."""
        return self._rows(
            lambda item: tuple(" ".join(words(one)) for one in item_text.groups(item))
        )

    @cached_property
    def links(self) -> "Links":
        """Pairwise similarities of the items."""
        from ctrag.assistant.context.item_similarity import Links

        return Links(self)

    @cached_property
    def bm25(self) -> LexicalIndex:
        """An index over `terms`."""
        with gc_paused():
            return LexicalIndex(list(self.terms))

    @cached_property
    def term_sets(self) -> Rows[frozenset[str]]:
        """`terms` without order."""
        ordered = self.terms
        return Rows(len(self), lambda row: frozenset(ordered[row]))

    @cached_property
    def folded_words(self) -> Rows[frozenset[str]]:
        """All words that lexical search indexes, folded."""
        return self._rows(lambda item: frozenset(words(item_text.searched_text(item))))

    @cached_property
    def app_names(self) -> list[str]:
        """The packaged applications, in the order of `similar_apps`."""
        return [app.name for app in packaged_apps()]

    @cached_property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Boolean states by name; items without the field count as not set."""
        return {
            "unread": np.array([item.flag("unread") for item in self.items], dtype=bool),
            "done": np.array([item.flag("done") for item in self.items], dtype=bool),
            "voicemail": np.array([bool(item.text("voicemail")) for item in self.items]),
        }

    @cached_property
    def directions(self) -> NDArray[np.str_]:
        """Direction of calls; empty for other items."""
        return np.array([item.text("direction") for item in self.items], dtype=np.str_)

    def grams(self, row: int) -> Grams:
        """Character trigrams of one item."""
        return self._grams[row]

    @cached_property
    def _grams(self) -> Rows[Grams]:
        return self._rows(lambda item: grams(item_text.searched_text(item)))

    def _rows(self, make: Callable[[Item], _Value]) -> Rows[_Value]:
        items = self.items  # not `self`: a reference cycle would delay freeing the view
        return Rows(len(items), lambda row: make(items[row]))

    def _times(self, role: Role) -> NDArray[np.float64]:
        found = np.full(len(self.items), np.nan)
        for row, item in enumerate(self.items):
            name = item_text.field_of(item, role)
            moment = item.time(name) if name is not None else None
            if moment is not None:
                found[row] = hours(moment)
        return found


def load_view(stores: Stores, person_id: str, encoder: Encoder) -> PersonView:
    """The person's items as they are in the stores now.

    Vectors that are missing or from another encoder are computed here. Of repeating events, those
    occurrences are added that have come near since the events were stored.

    Raises:
        UnknownPerson: The stores hold nobody of that id.
    """
    person, found = stores.person_and_items(person_id)
    later = _later_occurrences(stores, person, [stored.item for stored in found.items])
    items = (*(stored.item for stored in found.items), *later)
    ours = stores.encoder in (None, encoder.name)
    known = [stored.vector if ours else None for stored in found.items]
    known += [None] * len(later)
    missing = [row for row, vector in enumerate(known) if vector is None]
    made = encode_items(encoder, [(person, items[row]) for row in missing])
    fresh = dict(zip(missing, made, strict=True))
    rows = [fresh[row] if vector is None else vector for row, vector in enumerate(known)]
    vectors = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    return PersonView(person, items, vectors, found.unavailable)


def _later_occurrences(stores: Stores, person: Person, items: Sequence[Item]) -> list[Item]:
    """Occurrences of endless series that lay too far ahead when the series were stored."""
    repeating = [item for item in items if item.fields.get("repeats")]
    if not repeating:
        return []
    from ctrag.assistant.apps.repeating import series_key
    from ctrag.assistant.imports.further import further
    from ctrag.assistant.imports.zones import machine_zone

    zone = zone_of(person.profile.timezone) or machine_zone()
    found = list(further(repeating, zone, now_in(person.profile.timezone)))
    if not found:
        return []
    cancelled = stores.state(person.person_id, "calendar", CANCELLED)
    dropped = set(cancelled) if isinstance(cancelled, list) else set()
    return [
        item
        for item in found
        if item.id not in dropped and series_key(item.text("repeats")) not in dropped
    ]


def encode_items(encoder: Encoder, owned: Sequence[tuple[Person, Item]]) -> Matrix:
    """Vectors of items; the `encode` that `Stores.import_personas` and `execute` take.

    Of long items, an encoder that can reads the beginning only.
    """
    encode: Callable[[Sequence[str]], Matrix] = getattr(encoder, "encode_briefly", encoder.encode)
    texts = [item_text.embedded_text(person, item) for person, item in owned]
    unique = {text: row for row, text in enumerate(dict.fromkeys(texts))}  # a series has one text
    made = encode(list(unique))
    return made if len(unique) == len(texts) else made[[unique[text] for text in texts]]
