"""Training the prompt re-ranker: which tool a request needs next, given the calls so far."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.agents.prompt.index import CorpusIndex, VectorStore
from ctrag.agents.prompt.reranker import (
    HybridWeights,
    Reranker,
    RerankerCard,
    load_cross_encoder,
    query_text,
)
from ctrag.agents.prompt.sufficiency import fit_sufficiency
from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.encoder import Matrix
from training.core.loop import Loop
from training.prompts.decisions import Decision, DecisionSource

Progress = Callable[[str], None]
Floats = NDArray[np.float64]
CANDIDATES = 20
_ROUNDS = 500


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """How the re-ranker is trained."""

    base: str = packages.ENCODER
    """Encoder or cross-encoder that is trained on: a packaged model, a folder, or a hub model that
    was fetched."""
    steps: int = 320
    """At 0 no cross-encoder is trained; only the weights of cosine and BM25 are fitted."""
    groups: int = 4
    """Decisions per step."""
    negatives: int = 7
    """Wrong tools per decision beside the right one, half of them hard negatives."""
    learning_rate: float = 5e-5
    held_out: float = 0.1
    """Share of the requests, chosen by hash, on which weights are fitted and figures measured."""
    measured: int = 300
    """Maximum number of held-out decisions that are measured."""
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A source with the vectors of its tools and queries."""

    source: DecisionSource
    index: CorpusIndex
    queries: Mapping[str, Matrix]

    def candidates(self, decision: Decision) -> tuple[NDArray[np.int64], Matrix]:
        """Rows of the best tools by cosine and words, and all (cosine, lexical) pairs."""
        found = self.index.evidence(self.queries[decision.text], decision.text)
        pairs = np.stack([found.cosine, found.lexical], axis=1)
        order = np.argsort(-(pairs @ np.array([1.0, 0.3])), kind="stable")[:CANDIDATES]
        return order, np.asarray(pairs, dtype=np.float32)


def train_reranker(
    sources: Sequence[DecisionSource],
    encoder: PassageEncoder,
    settings: RerankerSettings,
    card: Mapping[str, Any],
    vectors: Path,
    progress: Progress = lambda _: None,
) -> Reranker:
    """A re-ranker, the hybrid weights and the sufficiency score, with held-out figures.

    Args:
        sources: Catalogues with decisions.
        encoder: The encoder.
        settings: See `RerankerSettings`.
        card: The fields `command`, `data`, `data_sha256`, `seed` and `versions`.
        vectors: Folder in which vectors are kept between runs.
        progress: Called with progress messages.

    Raises:
        ValueError: There are too few decisions.
        ModelMissing: The weights that are trained on are not on this machine.
    """
    learned, kept = _chosen(sources, settings)
    prepared = []
    for at, source in enumerate(sources):
        used = [one for part, one in (*learned, *kept) if part == at]
        progress(f"reading {source.name}: {len(source.tools)} tools, {len(used)} decisions")
        index = CorpusIndex(source.tools, VectorStore(encoder, vectors / f"{source.name}.npz"))
        texts = sorted({one.text for one in used})
        store = VectorStore(encoder, vectors / f"{source.name}-queries.npz")
        queries = dict(zip(texts, store.vectors(texts), strict=True))
        prepared.append(_Prepared(source, index, queries))
    model = _fit(prepared, learned, settings, progress) if settings.steps else None
    untrained = HybridWeights(cosine=1.0, lexical=0.0)
    made = Reranker(
        RerankerCard(
            with_cross=untrained,
            without_cross=untrained,
            sufficiency=(1.0, 0.0),
            settings=asdict(settings),
            figures={},
            **card,
        ),
        model,
    )
    return _with_weights(made, prepared, kept)


def _chosen(
    sources: Sequence[DecisionSource], settings: RerankerSettings
) -> tuple[list[tuple[int, Decision]], list[tuple[int, Decision]]]:
    """Decisions to learn from, in the order of the steps, and those held out."""
    everything = [(at, one) for at, part in enumerate(sources) for one in part.decisions]
    learned = [pair for pair in everything if not _held_out(pair[1], settings.held_out)]
    kept = [pair for pair in everything if _held_out(pair[1], settings.held_out)]
    if not learned or not kept:
        raise InputError("data: too few requests have a tool to learn from some and measure others")
    draw = np.random.default_rng(settings.seed)
    drawn = draw.integers(len(learned), size=settings.steps * settings.groups)
    few = draw.choice(len(kept), min(len(kept), settings.measured), replace=False)
    return [learned[at] for at in drawn], [kept[at] for at in sorted(few)]


def _held_out(decision: Decision, share: float) -> bool:
    """Decided by the request alone, so that all its steps are on the same side."""
    return int(sha256(decision.text.encode()).hexdigest()[:8], 16) % 1000 < 1000 * share


def _with_weights(
    made: Reranker, prepared: Sequence[_Prepared], kept: Sequence[tuple[int, Decision]]
) -> Reranker:
    """Hybrid weights and sufficiency, fitted on decisions that the cross-encoder has not seen.

    Figures are cross-fitted over two halves of the requests; the final weights are fitted on both.
    """
    found, right, half = [], [], []
    for at, decision in kept:
        part = prepared[at]
        order, pairs = part.candidates(decision)
        gold = np.isin(order, decision.right)
        cross = np.zeros(len(order))
        if made.trained:
            query = query_text(decision.text, decision.history)
            cross = made.scores(query, [part.source.tools[row] for row in order])
        found.append(np.column_stack([pairs[order], cross]))
        right.append(gold)
        half.append(int(sha256(decision.text.encode()).hexdigest()[-1], 16) % 2)
    sides = np.array(half)
    columns = {"dense": [0], "hybrid": [0, 1]}
    if made.trained:
        columns |= {"hybrid_reranked": [0, 1, 2], "cross": [2]}
    figures = {}
    weights: dict[str, Floats] = {}
    scored: dict[str, list[Floats]] = {}
    for name, used in columns.items():
        rows = [one[:, used] for one in found]
        weights[name] = fit_choice(rows, right)
        scored[name] = [np.empty(0)] * len(rows)
        for side in (0, 1):
            inside = [i for i in range(len(rows)) if sides[i] != side]
            fitted = fit_choice([rows[i] for i in inside], [right[i] for i in inside])
            for i in np.flatnonzero(sides == side):
                scored[name][i] = rows[i] @ fitted
        figures[name] = _recall(scored[name], right)
    best = "hybrid_reranked" if made.trained else "hybrid"
    slope = fit_sufficiency(scored[best], right)
    changed = {
        "with_cross": _named(weights[best]),
        "without_cross": _named(weights["hybrid"]),
        "sufficiency": slope,
        "figures": figures,
    }
    return Reranker(made.card.model_copy(update=changed), made.model)


def _named(weights: Floats) -> HybridWeights:
    cross = float(weights[2]) if len(weights) > 2 else 0.0
    return HybridWeights(cosine=float(weights[0]), lexical=float(weights[1]), cross=cross)


def fit_choice(features: Sequence[Floats], right: Sequence[NDArray[np.bool_]]) -> Floats:
    """Weights of a conditional logit: the right candidate among each decision's candidates.

    Args:
        features: Per decision (candidates, columns).
        right: Per decision which candidates are right; decisions without any are ignored.

    Raises:
        ValueError: No decision has a right candidate.
    """
    from scipy.optimize import minimize

    pairs = [(one, gold) for one, gold in zip(features, right, strict=True) if gold.any()]
    if not pairs:
        raise InputError("right: no decision has its tool among the candidates")

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = 0.005 * float(weights @ weights) * len(pairs), 0.01 * weights * len(pairs)
        for one, gold in pairs:
            logs = one @ weights
            shares = np.exp(logs - logs.max())
            shares /= shares.sum()
            inside = shares * gold
            total -= math.log(max(float(inside.sum()), 1e-12))
            slope = slope + one.T @ (shares - inside / max(float(inside.sum()), 1e-12))
        return total, slope

    start = np.zeros(pairs[0][0].shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS})
    return np.asarray(found.x, dtype=np.float64)


def _recall(scores: Sequence[Floats], right: Sequence[NDArray[np.bool_]]) -> dict[str, float]:
    """Share of all decisions with a right tool among the first k; a tool not found is a miss."""
    ranked = [
        gold[np.argsort(-one, kind="stable")] for one, gold in zip(scores, right, strict=True)
    ]
    return {
        f"recall@{k}": round(100 * float(np.mean([one[:k].any() for one in ranked])), 2)
        for k in (1, 2, 5, CANDIDATES)
    }


def _fit(
    prepared: Sequence[_Prepared],
    learned: Sequence[tuple[int, Decision]],
    settings: RerankerSettings,
    progress: Progress,
) -> Any:
    """A `CrossEncoder` trained to find the right tool of each group."""
    import torch
    from sentence_transformers.cross_encoder.losses import ListNetLoss

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    draw = np.random.default_rng(settings.seed)
    model = load_cross_encoder(settings.base)
    loss_of = ListNetLoss(model, mini_batch_size=-1)  # all pairs of a step at once
    right = torch.tensor([1.0, *[0.0] * settings.negatives]).log()
    parameters = list(model.parameters())
    loop = Loop(
        "re-ranker",
        [{"params": parameters, "lr": settings.learning_rate}],
        clipped=parameters,
        steps=settings.steps,
        weight_decay=0.01,
        progress=progress,
    )

    def loss(step: int) -> Any:
        queries, tools = [], []
        for at, decision in learned[step * settings.groups :][: settings.groups]:
            part = prepared[at]
            rows = _group(part, decision, settings.negatives, draw)
            queries.append(query_text(decision.text, decision.history))
            tools.append([part.source.tools[row] for row in rows])
        return loss_of([queries, tools], [right] * len(queries))

    model.train()
    loop.run(range(settings.steps), loss)
    return model.eval()


def _group(
    part: _Prepared, decision: Decision, negatives: int, draw: np.random.Generator
) -> list[int]:
    """One right row, then wrong ones: half from the best candidates, half at random."""
    order, _ = part.candidates(decision)
    hard = [int(row) for row in order if row not in decision.right]
    picked = [int(row) for row in draw.permutation(hard)[: negatives // 2 + 1]]
    while len(picked) < negatives:
        row = int(draw.integers(len(part.index)))
        if row not in decision.right:
            picked.append(row)
    return [int(draw.choice(decision.right)), *picked[:negatives]]
