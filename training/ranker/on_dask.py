"""LambdaMART on a Dask cluster: the same trees as on one machine except for the order of sums.

Each query's rows stay in one partition, because its gradients need all its candidates.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_arrays import Floats
from ctrag.errors import InputError
from synth.workers import dask_client
from training.ranker.settings import PassSettings


def fit_on_dask(
    tables: Sequence[Floats],
    relevance: Sequence[Floats],
    start: Sequence[Floats] | None,
    names: Sequence[str],
    categories: Sequence[str],
    one_pass: PassSettings,
    seed: int,
    scheduler: str,
    workers: int = 2,
) -> str:
    """A LambdaMART model as LightGBM's text, fitted by `lightgbm.DaskLGBMRanker`.

    Args:
        tables: (candidates, features) of each query; every query has a relevant candidate.
        relevance: (candidates,) of each query.
        start: (candidates,) initial scores of each query; None to start from zero.
        names: Names of the features.
        categories: Which of them are categorical.
        one_pass: How trees are grown.
        seed: For bagging and column sampling.
        scheduler: Address of a Dask scheduler, or "local" for a cluster on this machine.
        workers: Processes of a local cluster.

    Raises:
        ValueError: Dask is not installed, or nothing answers at the address.
    """
    with dask_client(scheduler, workers) as client:
        lightgbm: Any = import_module("lightgbm")
        places = _partitions([len(one) for one in tables], len(client.scheduler_info()["workers"]))
        sizes = [len(one) for one in tables]
        ranker = lightgbm.DaskLGBMRanker(
            client=client,
            tree_learner="data",
            n_estimators=one_pass.rounds,
            learning_rate=one_pass.learning_rate,
            num_leaves=one_pass.leaves,
            min_child_samples=one_pass.fewest_in_leaf,
            reg_lambda=one_pass.penalty,
            colsample_bytree=one_pass.columns,
            subsample=one_pass.rows,
            subsample_freq=1,
            lambdarank_truncation_level=one_pass.truncation,
            random_state=seed,
            deterministic=True,
            force_row_wise=True,
            verbose=-1,
        )
        ranker.fit(
            _spread(tables, places),
            _spread([one.astype(np.int32) for one in relevance], places),
            group=_spread([np.array([size]) for size in sizes], places),
            init_score=None if start is None else _spread(start, places),
            feature_name=list(names),
            categorical_feature=[list(names).index(name) for name in categories],
        )
        return str(ranker.booster_.model_to_string())


def _partitions(sizes: Sequence[int], workers: int) -> list[NDArray[np.int64]]:
    """Queries of each worker: whole ones, in order, with about equally many rows.

    Raises:
        ValueError: There are fewer queries than workers.
    """
    if len(sizes) < workers:
        raise InputError(
            f"scheduler: {workers} workers need as many queries, there are {len(sizes)}"
        )
    rows = np.cumsum(sizes)
    bounds: list[int] = []
    for place in range(1, workers):
        bound = int(np.searchsorted(rows, rows[-1] * place / workers)) + 1
        # Every worker gets a query, however uneven their sizes.
        lowest, highest = (bounds[-1] if bounds else 0) + 1, len(sizes) - (workers - place)
        bounds.append(min(max(bound, lowest), highest))
    return np.split(np.arange(len(sizes)), bounds)


def _spread(arrays: Sequence[NDArray[Any]], places: Sequence[NDArray[np.int64]]) -> Any:
    """The queries' arrays end to end as one Dask array, a chunk for each partition."""
    dask_array: Any = import_module("dask.array")
    parts = [np.concatenate([arrays[i] for i in part]) for part in places]
    chunks: tuple[tuple[int, ...], ...] = (tuple(len(part) for part in parts),)
    if parts[0].ndim == 2:
        chunks = (*chunks, (parts[0].shape[1],))
    return dask_array.from_array(np.concatenate(parts), chunks=chunks)
