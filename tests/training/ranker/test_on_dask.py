"""Claims about trees grown on Dask: whole queries in a partition, figures as on one machine."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.ranker.lambdamart import _fit
from training.ranker.on_dask import _partitions, fit_on_dask
from training.ranker.settings import PassSettings, RankerSettings

NAMES = [f"feature {number}" for number in range(6)]
PASS = PassSettings(
    rounds=40, learning_rate=0.1, leaves=7, fewest_in_leaf=10, penalty=1.0, columns=1.0
)


@given(st.lists(st.integers(1, 40), min_size=4, max_size=50), st.integers(1, 4))
def test_every_worker_gets_whole_queries_in_order(sizes: list[int], workers: int) -> None:
    parts = _partitions(sizes, workers)
    assert len(parts) == workers
    assert all(len(part) for part in parts)
    assert np.concatenate(parts).tolist() == list(range(len(sizes)))


def test_more_workers_than_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="3 workers need as many queries, there are 2"):
        _partitions([5, 5], 3)


def queries(count: int, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Candidates of which the one with the highest noisy sum of two features is relevant."""
    draw = np.random.default_rng(seed)
    tables = [draw.standard_normal((15, 6)).astype(np.float32) for _ in range(count)]
    hidden = [one[:, 0] + one[:, 1] + 0.3 * draw.standard_normal(15) for one in tables]
    return tables, [(one == one.max()).astype(np.float32) for one in hidden]


def ndcg(model: str, tables: list[np.ndarray], relevance: list[np.ndarray]) -> float:
    import lightgbm

    booster = lightgbm.Booster(model_str=model)
    gains = []
    for table, wanted in zip(tables, relevance, strict=True):
        order = np.argsort(-np.asarray(booster.predict(table, num_threads=1)))
        rank = int(np.flatnonzero(wanted[order])[0])
        gains.append(1 / np.log2(rank + 2))
    return 100 * float(np.mean(gains))


@pytest.mark.slow
@pytest.mark.training
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_ndcg_is_within_a_point_of_one_machines() -> None:
    tables, relevance = queries(1500, 1)
    settings = RankerSettings(threads=1)
    alone = _fit(tables, relevance, None, NAMES, (), PASS, settings)
    shared = fit_on_dask(tables, relevance, None, NAMES, (), PASS, settings.seed, "local", 2)
    test = queries(800, 2)
    assert ndcg(alone, *test) > 80
    assert ndcg(shared, *test) == pytest.approx(ndcg(alone, *test), abs=1.0)
