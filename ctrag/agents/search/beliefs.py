"""Beliefs that a candidate is meant: what moves the ranker's, and what they say of whether a tool
does what is asked."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ctrag.agents.search.affinity import Affinity
from ctrag.agents.search.pool import Pool
from ctrag.agents.search.ranker import Floats, Ranked, Readings, ToolRanker


class NextToolModel(Protocol):
    """Predicts the next tool, as learned from sequences of calls."""

    def rank(self, text: str, history: Sequence[str]) -> Sequence[tuple[str, float]]:
        """(tool id, probability), the likeliest first.

        Args:
            text: The request.
            history: Ids of the tools called so far, oldest first.
        """
        ...


def with_next_tool(
    model: NextToolModel | None,
    weight: float,
    pool: Pool,
    beliefs: Floats,
    text: str,
    history: Sequence[str],
    most: int,
) -> Floats:
    """The beliefs mixed with a model of which tool comes next, whose `most` likeliest join the
    candidates."""
    if model is None or not weight:
        return beliefs
    likely = dict(model.rank(text, history))
    top = sorted(likely, key=lambda one: -likely[one])[:most]
    pool.visible(top)  # add tools that the words alone do not find
    known = [likely.get(one.tool_id, 0.0) for one in pool.found]
    padded = np.concatenate([beliefs, np.zeros(len(known) - len(beliefs))])
    return np.asarray((1 - weight) * padded + weight * np.array(known))


def with_affinity(affinity: Affinity, pool: Pool, beliefs: Floats, user: str) -> Floats:
    """The beliefs as a caller's earlier calls move them."""
    factors = np.array([affinity.factor(user, one.tool_id) for one in pool.found])
    pushed = beliefs * factors[: len(beliefs)]
    return np.asarray(pushed / max(float(pushed.sum()), 1e-12))


def fitting(
    ranker: ToolRanker,
    readings: Readings,
    ranked: Ranked,
    copies: Mapping[int, int],
    beliefs: Floats,
    *,
    dense: bool,
) -> Floats:
    """(tools,), the probability that each does what is asked.

    Near-duplicates have the belief of all of them together, and the odds move as the next-tool
    model and affinity moved a tool's belief beside those of most others. What words and vectors
    did not find has its belief alone.
    """
    count = len(ranked.beliefs)
    if not count:
        return beliefs
    fits = ranked.fits
    if copies:
        counted = ranked.by_reading.copy()
        for first in set(copies.values()):
            group = [first, *(one for one, other in copies.items() if other == first)]
            found = [one for one in group if one < count]
            counted[:, found] = ranked.by_reading[:, found].sum(axis=1, keepdims=True)
        fits = ranker.fits(readings, counted, dense=dense)
    moved = np.log(np.maximum(beliefs[:count], 1e-12) / np.maximum(ranked.beliefs, 1e-12))
    odds = fits / np.maximum(1 - fits, 1e-9) * np.exp(moved - np.median(moved))
    return np.concatenate([odds / (1 + odds), beliefs[count:]])
