"""Growing LambdaMART's trees: the first pass on single items, the second on items together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ctrag.assistant.context.features import FEATURES
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.second_stage import (
    CATEGORIES,
    SECOND_STAGE_FEATURES,
    SecondStageFeatures,
)
from training.ranker.on_dask import fit_on_dask
from training.ranker.settings import PassSettings, RankerSettings

if TYPE_CHECKING:
    import lightgbm

CATEGORICAL = ("kind",)


def fit_first(
    tables: Sequence[Floats], relevance: Sequence[Floats], settings: RankerSettings
) -> str:
    """The first pass, as a LightGBM model string."""
    names = [feature.name for feature in FEATURES]
    return _fit(tables, relevance, None, names, CATEGORICAL, settings.first, settings)


def fit_second(
    stages: Sequence[SecondStageFeatures],
    tables: Sequence[Floats],
    relevance: Sequence[Floats],
    settings: RankerSettings,
) -> str:
    """The second pass, which continues boosting from the scores of the first."""
    return _fit(
        tables,
        [labels[one.rows] for one, labels in zip(stages, relevance, strict=True)],
        [one.scores for one in stages],
        [feature.name for feature in SECOND_STAGE_FEATURES],
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
    """LambdaMART (Burges, 2010); requests without a relevant item are ignored."""
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


def predict(model: "lightgbm.Booster", table: Floats) -> Floats:
    """Scores of a table's rows."""
    return np.asarray(model.predict(table, num_threads=1), dtype=np.float32)
