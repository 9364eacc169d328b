"""Context retrieval: the person's own items that a request is about.

The stores yield candidates; BM25, dense search and LambdaMART each order their union; weighted
reciprocal rank fusion joins the rankings. (The rankings must share their rows: lists of different
stores have no item in common and cannot be fused by rank.)
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ctrag.context.fusion import fuse, ranks
from ctrag.context.ranker import Ranker
from ctrag.context.scene import Scene, bm25_scores
from ctrag.context.signals import SIGNALS
from ctrag.context.view import Floats, Ints, PersonView, hours
from ctrag.encoder import Encoder, Matrix
from stores.items import Item, Request

EXHAUSTIVE = 400
"""Up to so many items, all are candidates."""
PER_STORE = 40
"""Candidates that each way of looking takes from each store beyond that."""


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

    @property
    def candidates(self) -> int:
        """How many items were ranked."""
        return len(self.scene)

    @property
    def vector(self) -> Matrix:
        """The request's vector."""
        return self.scene.vector

    @classmethod
    def given(cls, scene: Scene, rows: Ints, relevance: Floats | None = None) -> "Found":
        """Items that were not retrieved but given: labelled ones, or none at all.

        Args:
            scene: The request beside the candidates.
            rows: Rows of the scene, best first.
            relevance: A score per row; equal when None.
        """
        items = tuple(FoundItem(scene.view.items[scene.rows[row]], 0.0, {}, {}) for row in rows)
        scores = np.zeros(len(rows), dtype=np.float32) if relevance is None else relevance
        return cls(items, scene, rows, scores)


class ContextRetriever:
    """Finds the items of a person that a request needs."""

    def __init__(self, encoder: Encoder, ranker: Ranker) -> None:
        if ranker.card.encoder != encoder.name:
            raise ValueError(
                f"encoder: the ranker was trained with {ranker.card.encoder}, not {encoder.name}"
            )
        self.encoder = encoder
        self.ranker = ranker

    def retrieve(
        self,
        view: PersonView,
        request: Request,
        limit: int = 5,
        *,
        vector: Matrix | None = None,
        explain: bool = False,
    ) -> Found:
        """The `limit` best items for a request.

        Args:
            view: The person's items.
            request: What was said, when and where.
            limit: How many items to return at most.
            vector: The request's vector where it is known already.
            explain: Whether each item gets `reasons`.
        """
        if vector is None:
            vector = self.encoder.encode([request.text])[0]
        scene = Scene(view, request, vector, candidates(view, request, vector))
        if not len(scene):
            nothing = np.empty(0, dtype=np.int64)
            return Found((), scene, nothing, np.empty(0, np.float32), view.unavailable)
        scores: dict[str, NDArray[np.floating]] = {
            "lambdamart": self.ranker.scores(scene),
            "dense": scene.cosine,
            "bm25": scene.bm25,
        }
        card = self.ranker.card
        fused, parts = fuse(scores, card.fusion_weights, card.fusion_k)
        best = np.argsort(-fused, kind="stable")[:limit]
        why = self._reasons(scene, best) if explain else {}
        positions = {name: ranks(values) for name, values in scores.items()}
        found = tuple(
            FoundItem(
                item=view.items[scene.rows[row]],
                score=float(fused[row]),
                ranks={name: int(rank[row]) for name, rank in positions.items()},
                parts={name: float(part[row]) for name, part in parts.items()},
                reasons=why.get(int(row), ()),
            )
            for row in best
        )
        relevance = np.asarray(scores["lambdamart"][best], dtype=np.float32)
        return Found(found, scene, best, relevance, view.unavailable)

    def _reasons(self, scene: Scene, rows: Ints) -> dict[int, tuple[tuple[str, float], ...]]:
        added = self.ranker.contributions(scene)[:, :-1]
        usual = np.median(added, axis=0)
        return {
            int(row): tuple(
                (SIGNALS[column].name, float(added[row, column] - usual[column]))
                for column in np.argsort(-(added[row] - usual))[:4]
            )
            for row in rows
        }


def candidates(view: PersonView, request: Request, vector: Matrix) -> Ints:
    """Rows worth ranking: all of a small person, the union of each store's best otherwise.

    From each store come the best by meaning, by words, by opens at this hour, and those nearest
    in time before and after the request.
    """
    if len(view) <= EXHAUSTIVE:
        return np.arange(len(view))
    words_of = Scene(view, request, vector, np.empty(0, dtype=np.int64)).terms
    now = hours(request.asked_at)
    gap = view.starts - now
    hour = request.asked_at.hour
    looks: list[Floats | NDArray[np.float64]] = [
        view.vectors @ vector,
        bm25_scores(view, words_of),
        np.log1p(view.opens) * (0.2 + view.usual_hours[:, hour]),
        np.where(gap >= 0, -gap, -np.inf),
        np.where(gap <= 0, gap, -np.inf),
    ]
    chosen: list[Ints] = []
    for app in np.unique(view.apps):
        rows = np.flatnonzero(view.apps == app)
        for scores in looks:
            # Not nan_to_num: it makes the -inf of "says nothing" finite, and so a candidate.
            mine = np.where(np.isnan(scores[rows]), -np.inf, scores[rows])
            count = min(PER_STORE, len(rows))
            top = np.argpartition(-mine, count - 1)[:count]
            chosen.append(rows[top[mine[top] > -np.inf]])
    if request.playing in view.row:
        chosen.append(np.array([view.row[str(request.playing)]]))
    return np.unique(np.concatenate(chosen))
