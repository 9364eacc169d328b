"""Labelled requests with out-of-fold ranker scores, cross-fitted by person."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.features import compute
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.second_stage import best_of, second_pass, second_stage_table
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from eval.core.examples import RankingExample
from training.core.datasets import load_together
from training.core.origin import people_in, people_of
from training.ranker.lambdamart import fit_first, fit_second, predict
from training.ranker.learned_features import cross_fitted_features
from training.ranker.settings import RankerSettings
from training.ranker.tuned_encoder import TunedEncoder, with_readings

if TYPE_CHECKING:
    import lightgbm

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PreparedRequests:
    """Labelled requests with their features, the learned ones out of fold."""

    examples: list[RankingExample]
    fold: NDArray[np.int64]
    tables: list[Floats]
    """Features of each request's candidates."""
    sizes: tuple[int, ...]
    """How many of the examples each data set gave, in order."""

    @property
    def measured(self) -> slice:
        """The examples of the first data set, which are evaluated."""
        return slice(self.sizes[0])


@dataclass(frozen=True, slots=True)
class CrossFitted(PreparedRequests):
    """Labelled requests with scores by rankers that never saw their person."""

    first_scores: list[Floats]
    """Scores of the first pass of each request's candidates."""
    scores: list[Floats]
    """Scores of both passes."""


def prepare(
    data: Path,
    encoder: Encoder,
    settings: RankerSettings,
    tuned: TunedEncoder | None = None,
    progress: Progress = lambda _: None,
    more: Sequence[Path] = (),
) -> PreparedRequests:
    """Examples and features of labelled data sets.

    Args:
        data: The labelled data set that figures are measured on.
        encoder: Makes the vectors.
        settings: Folds and seed.
        tuned: The tuned encoder with readings of these requests by adapters that never saw their
            people; without one its features carry no information.
        progress: Called with progress messages.
        more: Further data sets to learn from.

    Raises:
        ValueError: The data set breaks a rule, has no labels or fewer people than folds, or the
            tuned encoder has not read one of the requests.
    """
    progress("encoding items and requests")
    parts = load_together([data, *more], encoder)
    examples = [one for part in parts for one in part]
    if not any(one.relevance.any() for one in examples):
        raise InputError(f"{data}: no request needs an item, there is nothing to learn")
    progress(f"cross-fitting priors on {len(examples)} requests")
    learned, fold = cross_fitted_features(examples, settings.folds, settings.seed)
    if tuned is not None:
        _all_read(examples, tuned, [data, *more])
        examples = with_readings(examples, tuned.readings)
    tables = [
        compute(one.context, learned[place]) for one, place in zip(examples, fold, strict=True)
    ]
    return PreparedRequests(examples, fold, tables, tuple(map(len, parts)))


def cross_fit(
    prepared: PreparedRequests, settings: RankerSettings, progress: Progress = lambda _: None
) -> CrossFitted:
    """Out-of-fold LambdaMART scores of every request, by person."""
    examples, fold, tables = prepared.examples, prepared.fold, prepared.tables
    relevance = [one.relevance for one in examples]
    progress("cross-validating the first pass")
    first = out_of_fold(
        fold,
        lambda kept: fit_first([tables[i] for i in kept], [relevance[i] for i in kept], settings),
        lambda model, i: predict(model, tables[i]),
    )
    progress("cross-validating the second pass")
    stages = [best_of(one.context, scores) for one, scores in zip(examples, first, strict=True)]
    together = [second_stage_table(one) for one in stages]
    scores = out_of_fold(
        fold,
        lambda kept: fit_second(
            [stages[i] for i in kept],
            [together[i] for i in kept],
            [relevance[i] for i in kept],
            settings,
        ),
        lambda model, i: second_pass(
            examples[i].context, first[i], lambda table: predict(model, table)
        ),
    )
    return CrossFitted(examples, fold, tables, prepared.sizes, first, scores)


def out_of_fold(
    fold: NDArray[np.int64],
    fit: Callable[[NDArray[np.int64]], str],
    predict: Callable[["lightgbm.Booster", int], Floats],
) -> list[Floats]:
    """Predictions for each row by a model fitted without the row's fold.

    Args:
        fold: Fold of each row.
        fit: From the training rows to a LightGBM model as text.
        predict: From a model and a row to its prediction.
    """
    import lightgbm

    found: list[Floats] = [np.empty(0, dtype=np.float32)] * len(fold)
    for held_out in np.unique(fold):
        model = lightgbm.Booster(model_str=fit(np.flatnonzero(fold != held_out)))
        for row in np.flatnonzero(fold == held_out):
            found[row] = predict(model, int(row))
    return found


def _all_read(
    examples: Sequence[RankingExample], tuned: TunedEncoder, folders: Sequence[Path]
) -> None:
    strangers = people_of(folders) - people_in(tuned.adapter.card, "encoder")
    if strangers:
        raise InputError(
            f"encoder: it never saw {len(strangers)} people of "
            f"{', '.join(str(one) for one in folders)}; train it on the same data"
        )
    missing = [one.asked.query_id for one in examples if one.asked.query_id not in tuned.readings]
    if missing:
        raise InputError(
            f"encoder: it has no reading of {missing[0]} and {len(missing) - 1} other requests; "
            "train it on the same data"
        )
