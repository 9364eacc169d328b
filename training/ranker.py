"""Training the LambdaMART ranker (both passes) and the weights of its fusion."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ctrag.context.company import (
    CATEGORIES,
    COMPANY,
    Company,
    best_of,
    company_table,
    second_pass,
)
from ctrag.context.fusion import fuse, rankings
from ctrag.context.ranker import Ranker, RankerCard
from ctrag.context.signals import SIGNALS, compute
from ctrag.context.view import Floats
from ctrag.encoder import Encoder
from eval.examples import Example
from eval.experiment import folders_sha256, versions
from training.dask_ranker import fit_on_dask
from training.figures import mean_recall, ranking_figures
from training.prior import cross_fitted_priors, fit_prior
from training.together import load_together
from training.tuned_encoder import TunedEncoder, with_readings

if TYPE_CHECKING:
    import lightgbm

CATEGORICAL = ("kind",)
FUSION_K = (1.0, 3.0, 10.0, 60.0)
FUSION_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PassSettings:
    """How one pass of LambdaMART is trained."""

    rounds: int
    learning_rate: float
    leaves: int
    fewest_in_leaf: int
    penalty: float
    """L2 penalty on leaf values."""
    columns: float
    """Share of the signals that each tree may use."""
    rows: float = 0.8
    """Share of the rows that each tree sees."""
    truncation: int = 10
    """Ranks that LambdaMART's gradients look at."""


FIRST = PassSettings(
    rounds=700,
    learning_rate=0.025,
    leaves=7,
    fewest_in_leaf=27,
    penalty=20.0,
    columns=0.33,
    truncation=12,
)
SECOND = PassSettings(
    rounds=400,
    learning_rate=0.02,
    leaves=5,
    fewest_in_leaf=43,
    penalty=4.5,
    columns=0.48,
    truncation=23,
)


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How the ranker is trained; the defaults were chosen by cross-validation on train."""

    folds: int = 5
    first: PassSettings = FIRST
    second: PassSettings = SECOND
    threads: int = 2
    seed: int = 1
    scheduler: str | None = None
    """Address of a Dask scheduler that grows the trees, or "local"; None for this process."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Labelled requests with their signals, the learned ones out of fold."""

    examples: list[Example]
    fold: NDArray[np.int64]
    tables: list[Floats]
    """Signals of each request's candidates."""
    sizes: tuple[int, ...]
    """How many of the examples each data set gave, in order."""

    @property
    def measured(self) -> slice:
        """The examples of the first data set, which give the figures."""
        return slice(self.sizes[0])


@dataclass(frozen=True, slots=True)
class CrossFitted(Prepared):
    """Labelled requests with what was learned about each without its own person."""

    first_scores: list[Floats]
    """Scores of the first pass of each request's candidates."""
    scores: list[Floats]
    """Scores of both passes."""


def train_ranker(
    data: Path,
    encoder: Encoder,
    settings: RankerSettings,
    tuned: TunedEncoder | None = None,
    progress: Progress = lambda _: None,
    more: Sequence[Path] = (),
) -> Ranker:
    """A ranker from labelled data sets, with cross-validated figures of `data` in its card.

    Raises:
        ValueError: The data set breaks a rule, has no labels or fewer people than folds, or the
            tuned encoder has not read one of the requests.
    """
    prepared = prepare(data, encoder, settings, tuned, progress, more)
    fitted = cross_fit(prepared, settings, progress)
    return final_ranker(fitted, [data, *more], encoder, settings, progress)


def prepare(
    data: Path,
    encoder: Encoder,
    settings: RankerSettings,
    tuned: TunedEncoder | None = None,
    progress: Progress = lambda _: None,
    more: Sequence[Path] = (),
) -> Prepared:
    """Examples and signals of labelled data sets.

    Args:
        data: The labelled data set that figures are measured on.
        encoder: Makes the vectors.
        settings: Folds and seed.
        tuned: The tuned encoder with readings of these requests by adapters that never saw their
            people; without one its signals say nothing.
        progress: Told what happens.
        more: Further data sets to learn from.

    Raises:
        ValueError: As `train_ranker`.
    """
    progress("encoding items and requests")
    parts = load_together([data, *more], encoder)
    examples = [one for part in parts for one in part]
    if not any(one.relevance.any() for one in examples):
        raise ValueError(f"{data}: no request needs an item, there is nothing to learn")
    progress(f"cross-fitting priors on {len(examples)} requests")
    priors, fold = cross_fitted_priors(examples, settings.folds, settings.seed)
    if tuned is not None:
        _all_read(examples, tuned)
        examples = with_readings(examples, tuned.readings)
    tables = [compute(one.scene, priors[place]) for one, place in zip(examples, fold, strict=True)]
    return Prepared(examples, fold, tables, tuple(map(len, parts)))


def cross_fit(
    prepared: Prepared, settings: RankerSettings, progress: Progress = lambda _: None
) -> CrossFitted:
    """LambdaMART scores of every request, without its own person."""
    examples, fold, tables = prepared.examples, prepared.fold, prepared.tables
    relevance = [one.relevance for one in examples]
    progress("cross-validating the first pass")
    first = out_of_fold(
        fold,
        lambda kept: fit_first([tables[i] for i in kept], [relevance[i] for i in kept], settings),
        lambda model, i: _predict(model, tables[i]),
    )
    progress("cross-validating the second pass")
    companies = [best_of(one.scene, scores) for one, scores in zip(examples, first, strict=True)]
    together = [company_table(one) for one in companies]
    scores = out_of_fold(
        fold,
        lambda kept: _fit_second(
            [companies[i] for i in kept],
            [together[i] for i in kept],
            [relevance[i] for i in kept],
            settings,
        ),
        lambda model, i: second_pass(
            examples[i].scene, first[i], lambda table: _predict(model, table)
        ),
    )
    return CrossFitted(examples, fold, tables, prepared.sizes, first, scores)


def final_ranker(
    fitted: CrossFitted,
    data: Sequence[Path],
    encoder: Encoder,
    settings: RankerSettings,
    progress: Progress = lambda _: None,
    ablation: dict[str, dict[str, float]] | None = None,
) -> Ranker:
    """The ranker of everybody; its second pass and fusion learn from out-of-fold scores."""
    progress("choosing the fusion")
    own = fitted.measured
    k, weights, figures = choose_fusion(fitted.examples[own], fitted.scores[own])
    first = ranking_figures(fitted.examples[own], fitted.first_scores[own])
    figures = {"first_pass": first, **figures}
    progress("training the ranker on everybody")
    tuned = " --encoder ENCODER" if fitted.examples[0].scene.tuned is not None else ""
    relevance = [one.relevance for one in fitted.examples]
    companies = [
        best_of(one.scene, scores)
        for one, scores in zip(fitted.examples, fitted.first_scores, strict=True)
    ]
    return Ranker(
        model=fit_first(fitted.tables, relevance, settings),
        second=_fit_second(
            companies, [company_table(one) for one in companies], relevance, settings
        ),
        prior=fit_prior(fitted.examples),
        card=_card(encoder, settings, data, figures, k, weights, ablation or {}, tuned),
    )


def out_of_fold(
    fold: NDArray[np.int64],
    fit: Callable[[NDArray[np.int64]], str],
    predict: Callable[["lightgbm.Booster", int], Floats],
) -> list[Floats]:
    """Predictions of each row by a model that was fitted without the row's fold.

    Args:
        fold: Fold of each row.
        fit: From the rows to learn from to a LightGBM model as text.
        predict: From a model and a row to its prediction.
    """
    import lightgbm

    found: list[Floats] = [np.empty(0, dtype=np.float32)] * len(fold)
    for held_out in np.unique(fold):
        model = lightgbm.Booster(model_str=fit(np.flatnonzero(fold != held_out)))
        for row in np.flatnonzero(fold == held_out):
            found[row] = predict(model, int(row))
    return found


def fit_first(
    tables: Sequence[Floats], relevance: Sequence[Floats], settings: RankerSettings
) -> str:
    """The first pass on signals, as LightGBM's text."""
    names = [signal.name for signal in SIGNALS]
    return _fit(tables, relevance, None, names, CATEGORICAL, settings.first, settings)


def _fit_second(
    companies: Sequence[Company],
    tables: Sequence[Floats],
    relevance: Sequence[Floats],
    settings: RankerSettings,
) -> str:
    """The second pass, which boosts on from the scores of the first."""
    return _fit(
        tables,
        [labels[one.rows] for one, labels in zip(companies, relevance, strict=True)],
        [one.scores for one in companies],
        [signal.name for signal in COMPANY],
        CATEGORIES,
        settings.second,
        settings,
    )


def _fit(
    tables: Sequence[Floats],
    relevance: Sequence[Floats],
    start: Sequence[Floats] | None,
    names: Sequence[str],
    categories: Sequence[str],
    one_pass: PassSettings,
    settings: RankerSettings,
) -> str:
    """LambdaMART (Burges, 2010); requests without a relevant item teach nothing."""
    import lightgbm

    useful = [i for i, labels in enumerate(relevance) if labels.any()]
    if settings.scheduler is not None:
        return fit_on_dask(
            [tables[i] for i in useful],
            [relevance[i] for i in useful],
            None if start is None else [start[i] for i in useful],
            names,
            categories,
            one_pass,
            settings.seed,
            settings.scheduler,
            settings.threads,
        )
    dataset = lightgbm.Dataset(
        np.vstack([tables[i] for i in useful]),
        np.concatenate([relevance[i] for i in useful]),
        group=[len(relevance[i]) for i in useful],
        init_score=None if start is None else np.concatenate([start[i] for i in useful]),
        feature_name=list(names),
        categorical_feature=[names.index(name) for name in categories],
    )
    parameters = {
        "objective": "lambdarank",
        "learning_rate": one_pass.learning_rate,
        "num_leaves": one_pass.leaves,
        "min_data_in_leaf": one_pass.fewest_in_leaf,
        "lambda_l2": one_pass.penalty,
        "feature_fraction": one_pass.columns,
        "bagging_fraction": one_pass.rows,
        "bagging_freq": 1,
        "lambdarank_truncation_level": one_pass.truncation,
        "num_threads": settings.threads,
        "seed": settings.seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    return str(lightgbm.train(parameters, dataset, one_pass.rounds).model_to_string())


def _predict(model: "lightgbm.Booster", table: Floats) -> Floats:
    return np.asarray(model.predict(table, num_threads=1), dtype=np.float32)


def _all_read(examples: Sequence[Example], tuned: TunedEncoder) -> None:
    missing = [one.asked.query_id for one in examples if one.asked.query_id not in tuned.readings]
    if missing:
        raise ValueError(
            f"encoder: it has no reading of {missing[0]} and {len(missing) - 1} other requests; "
            "train it on the same data"
        )


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
    ranked = [rankings(one.scene, score) for one, score in zip(examples, scores, strict=True)]
    alone = ranking_figures(examples, scores)
    best: tuple[float, float, dict[str, float]] | None = None
    for k, dense, bm25 in itertools.product(FUSION_K, FUSION_WEIGHTS, FUSION_WEIGHTS):
        if dense == bm25 == 0:
            continue  # that is LambdaMART alone
        weights = {"lambdamart": 1.0, "dense": dense, "bm25": bm25}
        fused = [fuse(one, weights, k)[0] for one in ranked]
        quality = mean_recall(examples, fused)
        if best is None or quality > best[0]:
            best = (quality, k, weights)
    assert best is not None
    _, k, weights = best
    fused = [fuse(one, weights, k)[0] for one in ranked]
    return k, weights, {"lambdamart": alone, "lambdamart_rrf": ranking_figures(examples, fused)}


def ranker_command(data: Sequence[Path], tuned: str) -> str:
    """What makes the ranker, and the tool prior beside it, again."""
    more = "".join(f" --more {one.name}" for one in data[1:])
    return f"ctrag train ranker --data {data[0].name}{more}{tuned} --out DIR"


def _card(
    encoder: Encoder,
    settings: RankerSettings,
    data: Sequence[Path],
    figures: dict[str, dict[str, float]],
    k: float,
    weights: dict[str, float],
    ablation: dict[str, dict[str, float]],
    tuned: str,
) -> RankerCard:
    return RankerCard(
        command=ranker_command(data, tuned),
        encoder=encoder.name,
        signals=[signal.name for signal in SIGNALS],
        company=[signal.name for signal in COMPANY],
        fusion_k=k,
        fusion_weights=weights,
        settings=asdict(settings),
        data="+".join(one.name for one in data),
        data_sha256=folders_sha256(data),
        seed=settings.seed,
        figures=figures,
        ablation=ablation,
        versions=versions(),
    )
