"""Pairwise similarity of a person's items: people, rare words, days, groups, meaning.

A mail and the event that it is about may share hardly a word with the request, but plenty with
each other. Nothing here depends on a request, so it is kept with the view.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import Floats, Ints, PersonView, Rows, hours
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.words import fold, words
from stores.people.app_spec import spec_of

_EPOCH = datetime(1970, 1, 1)
_WRITTEN = {"mail", "phonecall", "notes", "reminders"}
"""Applications whose items are dated when they were written and mention other times; also those
that resemble them."""
_RARE = 5
"""Words in more of the person's items than this are ignored."""
_MOST_EXPRESSIONS = 8
_LONGEST = 26.0
"""Longest span in hours that still names a single day."""


class Links:
    """Pairwise similarities of the items of one view."""

    def __init__(self, view: PersonView) -> None:
        self._view = view

    def people(self, rows: Ints) -> Floats:
        """(rows, rows): 1 where two items are about the same person, 0 on the diagonal."""
        return self._shared([self._people[row] for row in rows])

    def groups(self, rows: Ints) -> Floats:
        """1 where two items are in the same folder, list, playlist or genre."""
        return self._shared([frozenset(self._view.groups[row]) for row in rows])

    def words(self, rows: Ints) -> Floats:
        """Sum of the inverse document frequencies of the rare words that two items share."""
        return self._shared([self._rare[row] for row in rows], self._weights)

    def days(self, rows: Ints) -> Floats:
        """1 where one item names the day of the other."""
        named = [self._named_days[row] for row in rows]
        own = np.floor(self._view.starts[rows] / 24)
        table = np.array([[float(day in days) for days in named] for day in own], dtype=np.float32)
        return _without_diagonal(np.maximum(table, table.T))

    def same_day(self, rows: Ints) -> Floats:
        """1 where two items happen on the same day."""
        own = np.floor(self._view.starts[rows] / 24)
        return _without_diagonal((own[:, None] == own[None, :]).astype(np.float32))

    def cosines(self, rows: Ints) -> Floats:
        """Cosine of the items' vectors, minus the mean over these rows."""
        vectors = self._view.vectors[rows]
        table = vectors @ vectors.T
        return _without_diagonal(np.asarray(table - table.mean(), dtype=np.float32))

    @cached_property
    def _first_names(self) -> dict[str, str]:
        """First two words of a contact's name → the contact, where no other has them."""
        owners: dict[str, set[str]] = {}
        for contact in self._view.person.contacts:
            for word in [word for word in words(contact.name) if len(word) > 2][:2]:
                owners.setdefault(word, set()).add(fold(contact.name))
        return {word: next(iter(names)) for word, names in owners.items() if len(names) == 1}

    @cached_property
    def _people(self) -> Rows[frozenset[str]]:
        def find(row: int) -> frozenset[str]:
            named = {fold(name) for name in self._view.people[row]}
            said = self._view.folded_words[row] & self._first_names.keys()
            return frozenset(named | {self._first_names[word] for word in said})

        return Rows(len(self._view), find)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Rare word → inverse document frequency among the person's items."""
        counts = Counter(word for terms in self._view.term_sets for word in terms)
        return {
            word: float(np.log(len(self._view) / count))
            for word, count in counts.items()
            if 1 < count <= _RARE
        }

    @cached_property
    def _rare(self) -> Rows[frozenset[str]]:
        return Rows(
            len(self._view),
            lambda row: frozenset(self._view.term_sets[row] & self._weights.keys()),
        )

    @cached_property
    def _named_days(self) -> Rows[frozenset[float]]:
        """Days since 1970 that an item's words name, seen from the item's own time."""

        def find(row: int) -> frozenset[float]:
            item, start = self._view.items[row], float(self._view.starts[row])
            if spec_of(item.app).similar_app not in _WRITTEN or np.isnan(start):
                return frozenset()
            at = _EPOCH + timedelta(hours=start)
            expressions = find_expressions(item_text.searched_text(item), at)[:_MOST_EXPRESSIONS]
            return frozenset(
                float(np.floor(hours(one.start) / 24))
                for one in expressions
                if hours(one.end) - hours(one.start) <= _LONGEST
            )

        return Rows(len(self._view), find)

    @staticmethod
    def _shared(sets: list[frozenset[str]], weights: dict[str, float] | None = None) -> Floats:
        holders: dict[str, list[int]] = {}
        for place, members in enumerate(sets):
            for one in members:
                holders.setdefault(one, []).append(place)
        table = np.zeros((len(sets), len(sets)), dtype=np.float32)
        for one, places in holders.items():
            if len(places) > 1:
                both = np.ix_(places, places)
                if weights is None:
                    table[both] = 1.0
                else:
                    table[both] += weights[one]
        return _without_diagonal(table)


def _without_diagonal(table: Floats) -> Floats:
    np.fill_diagonal(table, 0.0)
    return table
