"""Ablation by feature group: the ranker cross-validated without each."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ctrag.assistant.context.features import FEATURES
from training.core.cross_fitted import PreparedRequests, cross_fit
from training.core.figures import ranking_figures
from training.ranker.settings import RankerSettings


def ablate(
    prepared: PreparedRequests,
    settings: RankerSettings,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, dict[str, float]]:
    """Group → figures of the ranker that was trained without the group's features.

    `nothing` is the full ranker, `company` the first pass alone.

    Args:
        prepared: Requests with their features.
        settings: How the ranker is trained.
        progress: Called with the name of the group that is left out.
    """
    whole = cross_fit(prepared, settings)
    own = whole.measured
    found = {
        "nothing": ranking_figures(whole.examples[own], whole.scores[own]),
        "company": ranking_figures(whole.examples[own], whole.first_scores[own]),
    }
    for group in dict.fromkeys(feature.group for feature in FEATURES):
        progress(f"without {group}")
        columns = [place for place, feature in enumerate(FEATURES) if feature.group == group]
        tables = [table.copy() for table in prepared.tables]
        for table in tables:
            table[:, columns] = np.float32(0)  # a constant column splits nothing
        fitted = cross_fit(replace(prepared, tables=tables), settings)
        found[group] = ranking_figures(fitted.examples[own], fitted.scores[own])
    return found
