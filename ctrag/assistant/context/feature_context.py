"""A request and a person's items: the intermediate results that features share.

Everything here is computed once per request, vectorised over the items, and uses only what a
method may use: the request, the person and the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_arrays import Floats, Ints, PersonView, hours
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from ctrag.models.request_adapter import TunedRequest
from ctrag.text.dates.temporal_expressions import TemporalExpression, find_expressions
from ctrag.text.words import fold, terms, words
from stores.people.items import Item, Request

Doubles = NDArray[np.float64]

_COMMUTE = {"commute", "car", "train", "bus", "driving", "subway", "metro", "tram"}


@dataclass(frozen=True, slots=False)
class FeatureContext:
    """One request, its vector, and the rows of the view that are its candidates."""

    view: PersonView
    request: Request
    vector: Matrix
    """(dimension,), length one."""
    rows: Ints
    """Rows of the view that are candidates; all of them for a small person."""
    tuned: TunedRequest | None = None
    """The request as the tuned encoder reads it; None where there is no adapter."""

    def __len__(self) -> int:
        return len(self.rows)

    def rows_of(self, items: Sequence[Item]) -> Ints:
        """Rows of the context that hold the items, in their order.

        Raises:
            ValueError: An item is not a candidate.
        """
        rows = []
        for item in items:
            held = np.flatnonzero(self.rows == self.view.row.get(item.id, -1))
            if not len(held):
                raise InputError(f"items: {item.id!r} is not a candidate of the context")
            rows.append(held[0])
        return np.array(rows, dtype=np.int64)

    def __getstate__(self) -> dict[str, object]:
        """Fields only: cached properties are computed again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def now(self) -> float:
        """When the request was made, in hours since 1970."""
        return hours(self.request.asked_at)

    @cached_property
    def apps(self) -> Ints:
        """Application of each candidate."""
        return self.view.apps[self.rows]

    @cached_property
    def similar_apps(self) -> Ints:
        """The packaged application that each candidate's application is or resembles."""
        return self.view.similar_apps[self.rows]

    @cached_property
    def same_app(self) -> NDArray[np.bool_]:
        """(applications, candidates): which candidates belong to which application."""
        return np.equal(np.arange(self.apps.max(initial=0) + 1)[:, None], self.apps[None, :])

    @cached_property
    def vectors(self) -> Matrix:
        """(candidates, dimension): unit vectors of the candidates."""
        return self.view.vectors[self.rows]

    @cached_property
    def cosine(self) -> Floats:
        """Cosine of request and candidate."""
        return np.asarray(self.vectors @ self.vector, dtype=np.float32)

    @cached_property
    def terms(self) -> list[str]:
        """Stemmed words of the request, without stopwords."""
        return terms(self.request.text)

    @cached_property
    def bm25(self) -> Floats:
        """BM25 of each candidate, statistics of this person's items."""
        scores = self.view.bm25.scores(self.terms)
        return scores[self.rows]

    @cached_property
    def starts(self) -> Doubles:
        """Start of the candidate, in hours from now; NaN when it has no time."""
        return self.view.starts[self.rows] - self.now

    @cached_property
    def ends(self) -> Doubles:
        """End of the candidate, in hours from now."""
        return self.view.ends[self.rows] - self.now

    @cached_property
    def day_gap(self) -> Doubles:
        """Calendar days from the request's day to the candidate's, NaN without a time."""
        days: Doubles = np.floor(self.view.starts[self.rows] / 24)
        return np.subtract(days, np.floor(self.now / 24), dtype=np.float64)

    @cached_property
    def expressions(self) -> list[TemporalExpression]:
        """Temporal expressions of the request, likeliest first; 6 at most."""
        return find_expressions(self.request.text, self.request.asked_at)[:6]

    @cached_property
    def place(self) -> str:
        """Where the request is made, folded; means of transport are all `commute`."""
        place = " ".join(words(self.request.place or ""))
        return "commute" if place in _COMMUTE else place

    @cached_property
    def usual_hour_gap(self) -> Doubles:
        """Hours from the time of asking to the nearest usual hour; NaN without usual hours."""
        table = self.view.usual_hours[self.rows]
        # A usual hour h means "between h and h+1": the middle is half past.
        gap = np.abs(np.arange(24) + 0.5 - self.now % 24)
        gap = np.minimum(gap, 24 - gap)
        nearest = np.where(table, gap[None, :], np.inf).min(axis=1)
        return np.where(np.isinf(nearest), np.nan, np.maximum(nearest - 0.5, 0.0))

    @cached_property
    def playing_row(self) -> int | None:
        """Row (in the view) of the song that is playing, or None."""
        playing = self.request.playing
        return None if playing is None else self.view.row.get(playing)

    @cached_property
    def named_people(self) -> dict[str, float]:
        """Folded names of people whom the request mentions → confidence (0 to 1).

        A name or part of a name counts 1, all words of a relation ("dispatcher", "my sister")
        0.8, some of them less.
        """
        text = set(words(self.request.text))
        stems = set(self.terms)
        found: dict[str, float] = {}
        for contact in self.view.person.contacts:
            parts = [word for word in words(contact.name) if len(word) > 2]
            relation = set(terms(contact.relation))
            weight = 1.0 if text.intersection(parts) else 0.0
            if relation and stems:
                weight = max(weight, 0.8 * len(relation & stems) / len(relation))
            if weight:
                found[fold(contact.name)] = weight
        return found

    def rank_within_app(self, scores: Doubles | Floats) -> Doubles:
        """1/rank of each candidate's score among candidates of its application, 0 where NaN."""
        ranked = np.zeros(len(self.rows))
        for members in self.same_app:
            rows = np.flatnonzero(members & ~np.isnan(scores))
            order = rows[np.argsort(-scores[rows], kind="stable")]
            ranked[order] = 1.0 / np.arange(1, len(order) + 1)
        return ranked
