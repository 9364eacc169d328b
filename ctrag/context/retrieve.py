"""Context retrieval: the person's own items that a request is about.

The stores yield candidates; BM25, dense search and LambdaMART each order their union; weighted
reciprocal rank fusion joins the rankings. (The rankings must share their rows: lists of different
stores have no item in common and cannot be fused by rank.)
"""

from dataclasses import dataclass, field

import numpy as np

from ctrag.context.candidates import EXHAUSTIVE, PER_STORE, candidates
from ctrag.context.fusion import fuse, rankings, ranks
from ctrag.context.ranker import Ranker
from ctrag.context.reasons import because, lifts_of
from ctrag.context.scene import Scene
from ctrag.context.signals import SIGNALS, compute
from ctrag.context.view import Floats, Ints, PersonView
from ctrag.encoder import Encoder, Matrix
from ctrag.tuned import Adapter, RequestReader, Tuned
from stores.items import Item, Request

FURTHER = 10
"""Items behind the retrieved ones that values may still be taken from."""

__all__ = [
    "EXHAUSTIVE",
    "FURTHER",
    "PER_STORE",
    "ContextRetriever",
    "Found",
    "FoundItem",
    "candidates",
]


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A retrieved item and why it ranks where it does."""

    item: Item
    score: float
    """Fused score; only the order means something."""
    ranks: dict[str, int]
    """Ranking → 1-based rank among the candidates."""
    parts: dict[str, float]
    """Ranking → its share of the fused score."""
    reasons: tuple[tuple[str, float], ...] = ()
    """(signal, contribution to the LambdaMART score), strongest first; only when asked for."""
    because: tuple[str, ...] = ()
    """Why it ranks where LambdaMART has it, in words; only when asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of context retrieval, best item first."""

    items: tuple[FoundItem, ...]
    scene: Scene
    """The request beside the candidates, for whoever comes next."""
    rows: Ints
    """Rows of `scene` that hold `items`, in their order."""
    relevance: Floats
    """LambdaMART score of each of `items`."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → why its store did not answer."""
    further: tuple[Item, ...] = ()
    """What ranks behind `items`, best first: an API may need something of its own application."""
    further_relevance: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    """LambdaMART score of each of `further`."""

    @property
    def candidates(self) -> int:
        """How many items were ranked."""
        return len(self.scene)

    @property
    def vector(self) -> Matrix:
        """The request's vector."""
        return self.scene.vector

    @classmethod
    def given(
        cls, scene: Scene, rows: Ints, relevance: Floats | None = None, limit: int | None = None
    ) -> "Found":
        """Items that were not retrieved but given: labelled ones, or none at all.

        Args:
            scene: The request beside the candidates.
            rows: Rows of the scene, best first.
            relevance: A score per row; equal when None.
            limit: So many are the items, the others are `further`; all are items when None.
        """
        scores = np.zeros(len(rows), dtype=np.float32) if relevance is None else relevance
        given = tuple(scene.view.items[scene.rows[row]] for row in rows)
        return cls(
            tuple(FoundItem(item, 0.0, {}, {}) for item in given[:limit]),
            scene,
            rows[:limit],
            scores[:limit],
            further=() if limit is None else given[limit:],
            further_relevance=scores[:0] if limit is None else scores[limit:],
        )


class ContextRetriever:
    """Finds the items of a person that a request needs."""

    def __init__(self, encoder: Encoder, ranker: Ranker, adapter: Adapter | None = None) -> None:
        if ranker.card.encoder != encoder.name:
            raise ValueError(
                f"encoder: the ranker was trained with {ranker.card.encoder}, not {encoder.name}"
            )
        self.reader = RequestReader(encoder, adapter)
        self.ranker = ranker

    def retrieve(
        self,
        view: PersonView,
        request: Request,
        limit: int = 5,
        *,
        read: tuple[Matrix, Tuned | None] | None = None,
        explain: bool = False,
    ) -> Found:
        """The `limit` best items for a request.

        Args:
            view: The person's items.
            request: What was said, when and where.
            limit: How many items to return at most.
            read: What `reader` says of the request's text, where it is known already.
            explain: Whether each item gets `reasons` and `because`.
        """
        vector, tuned = self.reader.read([request.text])[0] if read is None else read
        scene = Scene(view, request, vector, candidates(view, request, vector, tuned), tuned)
        if not len(scene):
            nothing = np.empty(0, dtype=np.int64)
            return Found((), scene, nothing, np.empty(0, np.float32), view.unavailable)
        table = compute(scene, self.ranker.prior)
        scores = rankings(scene, self.ranker.scores_of(scene, table))
        card = self.ranker.card
        fused, parts = fuse(scores, card.fusion_weights, card.fusion_k)
        order = np.argsort(-fused, kind="stable")
        best = order[:limit]
        why, told = self._reasons(scene, best, table) if explain else ({}, {})
        positions = {name: ranks(values) for name, values in scores.items()}
        said = {
            row: [name for name, values in scores.items() if not np.isnan(values[row])]
            for row in best
        }
        found = tuple(
            FoundItem(
                item=view.items[scene.rows[row]],
                score=float(fused[row]),
                ranks={name: int(positions[name][row]) for name in said[row]},
                parts={name: float(parts[name][row]) for name in said[row] if name in parts},
                reasons=why.get(int(row), ()),
                because=told.get(int(row), ()),
            )
            for row in best
        )
        relevance = np.asarray(scores["lambdamart"], dtype=np.float32)
        behind = order[limit : limit + FURTHER]
        return Found(
            found,
            scene,
            best,
            relevance[best],
            view.unavailable,
            tuple(view.items[scene.rows[row]] for row in behind),
            relevance[behind],
        )

    def _reasons(
        self, scene: Scene, rows: Ints, table: Floats
    ) -> tuple[dict[int, tuple[tuple[str, float], ...]], dict[int, tuple[str, ...]]]:
        """What lifts each row beyond the median candidate: by signal, and in words."""
        lifts = lifts_of(self.ranker.contributions(table)[:, :-1])
        why = {
            int(row): tuple(
                (SIGNALS[column].name, float(lifts[row, column]))
                for column in np.argsort(-lifts[row])[:4]
            )
            for row in rows
        }
        return why, {int(row): because(scene, int(row), table[row], lifts[row]) for row in rows}
