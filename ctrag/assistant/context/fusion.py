"""Weighted reciprocal rank fusion (Cormack et al., 2009)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.errors import InputError


def ranks(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """1-based rank of each score, best first, NaN last; ties keep the order of the rows."""
    order = np.argsort(-scores, kind="stable")
    ranked = np.empty(len(order), dtype=np.int64)
    ranked[order] = np.arange(1, len(order) + 1)
    return ranked


def rankings(
    context: FeatureContext, lambdamart: NDArray[np.floating]
) -> dict[str, NDArray[np.floating]]:
    """The rankings that are fused, by name; `bm25` is NaN where no word is shared."""
    return {
        "lambdamart": lambdamart,
        "dense": context.cosine,
        "bm25": np.where(context.bm25 > 0, context.bm25, np.nan),
    }


def fuse(
    scores: Mapping[str, NDArray[np.floating]], weights: Mapping[str, float], k: float
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Sum of weight / (k + rank) over rankings of the same rows.

    Args:
        scores: Ranking name → one score per row, higher is better; NaN for rows that a
            ranking does not cover, to which it contributes 0.
        weights: Ranking name → weight; a ranking without one is left out.
        k: Dampens the top ranks; Cormack et al. use 60.

    Returns:
        The fused score per row, and each ranking's part of it.
    """
    parts: dict[str, NDArray[np.float64]] = {
        name: np.where(np.isnan(values), 0.0, weights[name] / (k + ranks(values)))
        for name, values in scores.items()
        if weights.get(name, 0.0) > 0
    }
    if not parts:
        raise InputError("weights: at least one ranking needs a weight above 0")
    fused: NDArray[np.float64] = np.sum(list(parts.values()), axis=0)
    return fused, parts
