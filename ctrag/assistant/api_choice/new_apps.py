"""API probabilities for applications that the classifier was not trained on.

The classifier treats items of a further application as those of the packaged application that it
resembles, and predicts that one's APIs. So their probability mass is shared: between the two
applications by the share of retrieved items and by similarity to the request, then among the
further application's APIs of the same effect by similarity to the predicted one. Where it predicts
that no API can do it, but an API of a further application is the nearest of all to the request,
most of that mass moves to the further application's APIs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.models.encoder import Matrix
from ctrag.toolbox import Tool
from stores.people.app_spec import known_apps

SIMILARITY_SCALE = 0.1
"""Difference in cosine that gives an API e times the mass of another; a guess, as no data has such
APIs, like the next two."""
WORDS_WEIGHT = 4.0
"""Weight of the cosine of request and API in both splits."""
LEAST_SHARE = 0.05
"""Least share of the retrieved items that an application is counted with."""
NEARER_SCALE = 0.1
"""How much nearer (in cosine) than any packaged API one of a further application must be to get
most of the mass of "no API can do it"."""
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class AppFamily:
    """A packaged application and the further ones that resemble it, as rows of the tools."""

    apps: tuple[str, ...]
    """The packaged one first."""
    rows: tuple[NDArray[np.int64], ...]
    """Tools of each."""


def families(tools: Sequence[Tool]) -> list[AppFamily]:
    """The groups of similar applications in which a further one has tools."""
    similar = {spec.name: spec.similar_app for spec in known_apps()}
    rows: dict[str, list[int]] = {}
    for row, tool in enumerate(tools):
        rows.setdefault(tool.app, []).append(row)
    found = []
    for head in dict.fromkeys(similar.get(app, app) for app in rows):
        others = [app for app in rows if app != head and similar.get(app, app) == head]
        if others and head in rows:
            members = (head, *others)
            found.append(AppFamily(members, tuple(np.array(rows[app]) for app in members)))
    return found


def shared_out(
    logs: NDArray[np.float64],
    family: AppFamily,
    tools: Sequence[Tool],
    vectors: Matrix,
    cosines: Matrix,
    item_shares: Mapping[str, float],
) -> NDArray[np.float64]:
    """Log probabilities after the packaged application has shared its mass with similar ones.

    Args:
        logs: One per tool; those of further applications are small.
        family: The applications that share.
        tools: The tools.
        vectors: (tools, dimension): unit vectors of their purposes.
        cosines: (tools,): cosine of the request and each tool.
        item_shares: Application → share of the retrieved items, the first ones counting most.
    """
    weights = np.array(
        [
            max(item_shares.get(app, 0.0), LEAST_SHARE) * np.exp(WORDS_WEIGHT * cosines[rows].max())
            for app, rows in zip(family.apps, family.rows, strict=True)
        ]
    )
    weights = weights / weights.sum()
    before = np.exp(logs)
    after = before.copy()
    for row in family.rows[0]:
        for weight, rows in zip(weights[1:], family.rows[1:], strict=True):
            mates = np.array([one for one in rows if tools[one].effect == tools[row].effect])
            if not len(mates):
                continue
            similarity = vectors[mates] @ vectors[row] / SIMILARITY_SCALE
            split = np.exp(similarity + WORDS_WEIGHT * cosines[mates])
            after[mates] += before[row] * weight * split / split.sum()
            after[row] -= before[row] * weight
    return np.asarray(np.log(np.maximum(after, _LEAST)), dtype=np.float64)


def from_none(
    logs: NDArray[np.float64], none: float, further: NDArray[np.bool_], cosines: Matrix
) -> tuple[NDArray[np.float64], float]:
    """Log probabilities, and that of "no API can do it", after sharing the latter's mass.

    Args:
        logs: One per tool.
        none: Log probability of "no API can do it".
        further: (tools,): which belong to further applications; neither none nor all.
        cosines: (tools,): cosine of the request and each tool.
    """
    nearer = float(cosines[further].max() - cosines[~further].max())
    share = 1 - np.exp(-max(nearer, 0.0) / NEARER_SCALE)
    split = np.where(further, np.exp(cosines / SIMILARITY_SCALE), 0.0)
    after = np.exp(logs) + np.exp(none) * share * split / split.sum()
    left = np.exp(none) * (1 - share)
    return (
        np.asarray(np.log(np.maximum(after, _LEAST)), dtype=np.float64),
        float(np.log(max(left, _LEAST))),
    )
