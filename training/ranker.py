"""Training the LambdaMART ranker and the weights of its fusion."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.context.fusion import fuse
from ctrag.context.ranker import Ranker, RankerCard
from ctrag.context.signals import SIGNALS, compute
from ctrag.context.view import Floats
from ctrag.encoder import Encoder
from eval.examples import Example, load_examples
from eval.experiment import data_sha256, versions
from eval.ranking import evaluate_run
from training.prior import cross_fitted_priors, fit_prior

CATEGORICAL = ("kind",)
FUSION_K = (1.0, 3.0, 10.0, 60.0)
FUSION_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How the ranker is trained; the defaults were chosen by cross-validation on train."""

    folds: int = 5
    rounds: int = 400
    learning_rate: float = 0.05
    leaves: int = 7
    fewest_in_leaf: int = 30
    penalty: float = 5.0
    """L2 penalty on leaf values."""
    columns: float = 0.4
    """Share of the signals that each tree may use."""
    rows: float = 0.8
    """Share of the rows that each tree sees."""
    truncation: int = 10
    """Ranks that LambdaMART's gradients look at."""
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """Labelled requests with what was learned about each without its own person."""

    examples: list[Example]
    fold: NDArray[np.int64]
    tables: list[Floats]
    """Signals of each request's candidates, learned ones out of fold."""
    scores: list[Floats]
    """LambdaMART scores of each request's candidates, out of fold."""


def train_ranker(
    data: Path, encoder: Encoder, settings: RankerSettings, progress: Progress = lambda _: None
) -> Ranker:
    """A ranker from a labelled data set, with cross-validated figures in its card.

    Raises:
        ValueError: The data set breaks a rule, has no labels or fewer people than folds.
    """
    return final_ranker(
        cross_fit(data, encoder, settings, progress), data, encoder, settings, progress
    )


def cross_fit(
    data: Path, encoder: Encoder, settings: RankerSettings, progress: Progress = lambda _: None
) -> CrossFitted:
    """Priors, signals and LambdaMART scores of every request, without its own person.

    Raises:
        ValueError: The data set breaks a rule, has no labels or fewer people than folds.
    """
    progress("encoding items and requests")
    examples = load_examples(data, encoder)
    if not any(one.relevance.any() for one in examples):
        raise ValueError(f"{data}: no request needs an item, there is nothing to learn")
    progress(f"cross-fitting priors on {len(examples)} requests")
    priors, fold = cross_fitted_priors(examples, settings.folds, settings.seed)
    tables = [compute(one.scene, priors[place]) for one, place in zip(examples, fold, strict=True)]
    progress("cross-validating the ranker")
    scores: list[Floats] = [np.empty(0, dtype=np.float32)] * len(examples)
    for held_out in range(settings.folds):
        kept = np.flatnonzero(fold != held_out)
        model = fit([tables[i] for i in kept], [examples[i].relevance for i in kept], settings)
        ranker = Ranker(model, priors[held_out], _card(encoder, settings, data, {}, 1.0, {}))
        for i in np.flatnonzero(fold == held_out):
            scores[i] = ranker.scores_of(tables[i])
    return CrossFitted(examples, fold, tables, scores)


def final_ranker(
    fitted: CrossFitted,
    data: Path,
    encoder: Encoder,
    settings: RankerSettings,
    progress: Progress = lambda _: None,
) -> Ranker:
    """The ranker of everybody, its fusion chosen on the out-of-fold scores."""
    progress("choosing the fusion")
    k, weights, figures = choose_fusion(fitted.examples, fitted.scores)
    progress("training the ranker on everybody")
    model = fit(fitted.tables, [one.relevance for one in fitted.examples], settings)
    card = _card(encoder, settings, data, figures, k, weights)
    return Ranker(model, fit_prior(fitted.examples), card)


def fit(tables: Sequence[Floats], relevance: Sequence[Floats], settings: RankerSettings) -> str:
    """LambdaMART (Burges, 2010) on signals; requests without a relevant item teach nothing."""
    import lightgbm

    useful = [i for i, labels in enumerate(relevance) if labels.any()]
    names = [signal.name for signal in SIGNALS]
    dataset = lightgbm.Dataset(
        np.vstack([tables[i] for i in useful]),
        np.concatenate([relevance[i] for i in useful]),
        group=[len(relevance[i]) for i in useful],
        feature_name=names,
        categorical_feature=[names.index(name) for name in CATEGORICAL],
    )
    parameters = {
        "objective": "lambdarank",
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.leaves,
        "min_data_in_leaf": settings.fewest_in_leaf,
        "lambda_l2": settings.penalty,
        "feature_fraction": settings.columns,
        "bagging_fraction": settings.rows,
        "bagging_freq": 1,
        "lambdarank_truncation_level": settings.truncation,
        "num_threads": settings.threads,
        "seed": settings.seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    return str(lightgbm.train(parameters, dataset, settings.rounds).model_to_string())


def choose_fusion(
    examples: Sequence[Example], scores: Sequence[Floats]
) -> tuple[float, dict[str, float], dict[str, dict[str, float]]]:
    """k and weights of the fusion by the mean of Recall@3, 5 and 10 over held-out people.

    Args:
        examples: Labelled requests.
        scores: Out-of-fold LambdaMART scores, one array per example.

    Returns:
        k, weights, and the figures of `lambdamart` alone and fused.
    """
    rankings: list[dict[str, NDArray[np.floating]]] = [
        {"lambdamart": score, "dense": one.scene.cosine, "bm25": one.scene.bm25}
        for one, score in zip(examples, scores, strict=True)
    ]
    alone = _figures(examples, scores)
    best: tuple[float, float, dict[str, float]] | None = None
    for k, dense, bm25 in itertools.product(FUSION_K, FUSION_WEIGHTS, FUSION_WEIGHTS):
        if dense == bm25 == 0:
            continue  # that is LambdaMART alone
        weights = {"lambdamart": 1.0, "dense": dense, "bm25": bm25}
        fused = [fuse(one, weights, k)[0] for one in rankings]
        quality = _mean_recall(examples, fused)
        if best is None or quality > best[0]:
            best = (quality, k, weights)
    assert best is not None
    _, k, weights = best
    fused = [fuse(one, weights, k)[0] for one in rankings]
    return k, weights, {"lambdamart": alone, "lambdamart_rrf": _figures(examples, fused)}


def _mean_recall(examples: Sequence[Example], scores: Sequence[NDArray[np.floating]]) -> float:
    total = 0.0
    count = 0
    for example, score in zip(examples, scores, strict=True):
        relevant = example.relevance.sum()
        if relevant:
            hits = np.cumsum(example.relevance[np.argsort(-score, kind="stable")[:10]])
            total += float(sum(hits[min(k, len(hits)) - 1] for k in (3, 5, 10))) / float(relevant)
            count += 1
    return total / max(3 * count, 1)


def _figures(
    examples: Sequence[Example], scores: Sequence[NDArray[np.floating]]
) -> dict[str, float]:
    run = {}
    qrels = {}
    for example, score in zip(examples, scores, strict=True):
        ids = np.array(example.scene.view.ids)
        run[example.asked.query_id] = list(ids[np.argsort(-score, kind="stable")])
        qrels[example.asked.query_id] = set(ids[example.relevance > 0])
    figures = evaluate_run(run, qrels).figures
    return {name: round(value, 2) for name, value in figures.items()}


def _card(
    encoder: Encoder,
    settings: RankerSettings,
    data: Path,
    figures: dict[str, dict[str, float]],
    k: float,
    weights: dict[str, float],
) -> RankerCard:
    return RankerCard(
        command=f"ctrag train ranker --data {data.name} --out DIR",
        encoder=encoder.name,
        signals=[signal.name for signal in SIGNALS],
        fusion_k=k,
        fusion_weights=weights,
        settings=asdict(settings),
        data=data.name,
        data_sha256=data_sha256(data),
        seed=settings.seed,
        figures=figures,
        versions=versions(),
    )
