"""Context retrieval: the person's own items that a request is about.

The stores yield candidates; BM25, dense search and LambdaMART each order their union; weighted
reciprocal rank fusion combines the rankings. (All rankings are over the same rows: lists from
different stores have no item in common and cannot be fused by rank.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ctrag.assistant.context.candidates import EXHAUSTIVE, PER_STORE, candidates
from ctrag.assistant.context.explain import because, lifts_of
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, compute
from ctrag.assistant.context.fusion import fuse, rankings, ranks
from ctrag.assistant.context.item_arrays import Floats, Ints, PersonView
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.context.occurrences import near
from ctrag.assistant.context.personal_ranker import PersonalRanker
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder, Matrix
from ctrag.models.request_adapter import Adapter, RequestEncoder, TunedRequest
from stores.people.items import Item, Person, Request

FURTHER = 10
"""Next best items, which values may still be taken from."""

__all__ = [
    "EXHAUSTIVE",
    "FURTHER",
    "PER_STORE",
    "ContextRetriever",
    "FoundItem",
    "RetrievedContext",
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
    """(feature, contribution to the LambdaMART score), strongest first; only when asked for."""
    because: tuple[str, ...] = ()
    """Why it ranks where LambdaMART has it, in words; only when asked for."""


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """The answer of context retrieval, best item first."""

    items: tuple[FoundItem, ...]
    context: FeatureContext
    """The request and its candidates; `ToolRetriever.search` can reuse it."""
    relevance: Floats
    """LambdaMART score of each of `items`, then of each of `further`."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → why its store did not answer."""
    further: tuple[Item, ...] = ()
    """The next best items after `items`, best first: an API may need one of its own application."""
    packaged: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    """As `relevance`, before what was learned from the person's own record of use."""

    @property
    def candidates(self) -> int:
        """How many items were ranked."""
        return len(self.context)

    @property
    def vector(self) -> Matrix:
        """The request's vector."""
        return self.context.vector


class ContextRetriever:
    """Finds the items of a person that a request needs.

    Example::

        retriever = ContextRetriever.open()
        found = retriever.retrieve(retriever.view(person, items), Request("call him back", now))
        print([one.item.id for one in found.items])
    """

    def __init__(self, encoder: Encoder, ranker: Ranker, adapter: Adapter | None = None) -> None:
        if ranker.card.encoder != encoder.name:
            raise InputError(
                f"encoder: the ranker was trained with {ranker.card.encoder}, not {encoder.name}; "
                "train one by `ctrag train ranker` and name its folder in CTRAG_ARTEFACTS"
            )
        self.request_encoder = RequestEncoder(encoder, adapter)
        self.ranker = ranker
        self._encoder = encoder

    @classmethod
    def open(cls) -> "ContextRetriever":
        """With the encoder and artefacts named by the settings, by default the packaged ones.

        Raises:
            ModelMissing: The encoder is not installed.
        """
        from ctrag.assistant.artefacts import load_context_artefacts
        from ctrag.models.encoder import load_encoder
        from ctrag.settings import settings

        options = settings()
        return cls(load_encoder(options.encoder), *load_context_artefacts(options.artefacts))

    def view(self, person: Person, items: Sequence[Item]) -> PersonView:
        """A person's items as `retrieve` takes them; `load_view` reads them from stores."""
        return PersonView.of(person, items, self._encoder)

    def retrieve(
        self,
        view: PersonView,
        request: Request,
        limit: int = 5,
        *,
        encoded: tuple[Matrix, TunedRequest | None] | None = None,
        explain: bool = False,
        personal: PersonalRanker | None = None,
    ) -> RetrievedContext:
        """The `limit` best items for a request.

        Args:
            view: The person's items.
            request: What was said, when and where.
            limit: How many items to return at most.
            encoded: What `request_encoder` returns for the text, where it is known already.
            explain: Whether each item gets `reasons` and `because`.
            personal: What was learned from the person's own record of use.
        """
        view = near(view, request)
        vector, tuned = self.request_encoder.read([request.text])[0] if encoded is None else encoded
        context = FeatureContext(
            view, request, vector, candidates(view, request, vector, tuned), tuned
        )
        if not len(context):
            return RetrievedContext((), context, np.empty(0, np.float32), view.unavailable)
        table = compute(context, self.ranker.learned)
        packaged = self.ranker.scores_of(context, table)
        own = packaged if personal is None else personal.corrected(context, packaged)
        scores = rankings(context, own)
        card = self.ranker.card
        fused, parts = fuse(scores, card.fusion_weights, card.fusion_k)
        order = np.argsort(-fused, kind="stable")
        best = order[:limit]
        why, texts = self._reasons(context, best, table) if explain else ({}, {})
        positions = {name: ranks(values) for name, values in scores.items()}
        ranked_by = {
            row: [name for name, values in scores.items() if not np.isnan(values[row])]
            for row in best
        }
        found = tuple(
            FoundItem(
                item=view.items[context.rows[row]],
                score=float(fused[row]),
                ranks={name: int(positions[name][row]) for name in ranked_by[row]},
                parts={name: float(parts[name][row]) for name in ranked_by[row] if name in parts},
                reasons=why.get(int(row), ()),
                because=texts.get(int(row), ()),
            )
            for row in best
        )
        relevance = np.asarray(scores["lambdamart"], dtype=np.float32)
        behind = order[limit : limit + FURTHER]
        return RetrievedContext(
            found,
            context,
            relevance[order[: limit + FURTHER]],
            view.unavailable,
            tuple(view.items[context.rows[row]] for row in behind),
            packaged[order[: limit + FURTHER]],
        )

    def _reasons(
        self, context: FeatureContext, rows: Ints, table: Floats
    ) -> tuple[dict[int, tuple[tuple[str, float], ...]], dict[int, tuple[str, ...]]]:
        """What raises each row above the median candidate: by feature, and in words."""
        lifts = lifts_of(self.ranker.contributions(table)[:, :-1])
        why = {
            int(row): tuple(
                (FEATURES[column].name, float(lifts[row, column]))
                for column in np.argsort(-lifts[row])[:4]
            )
            for row in rows
        }
        return why, {int(row): because(context, int(row), table[row], lifts[row]) for row in rows}
