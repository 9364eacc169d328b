"""The second, listwise pass of the ranker.

The first pass scores each item on its own. The second continues the boosting for the best of them
with features that relate an item to the others: how strongly it is linked to the items that the
first pass ranks high. So the event comes up with the mail that it is about.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import Doubles, FeatureContext
from ctrag.assistant.context.item_arrays import Floats, Ints
from ctrag.assistant.context.learned_features import kinds_of

LOOKED_AT = 30
"""Candidates that the second pass re-ranks; the others stay behind them, in their order."""
_TEMPERATURE = 2.0
_BEHIND = 1000.0


@dataclass(frozen=True, slots=True)
class SecondStageFeatures:
    """The best candidates of the first pass, from which second-stage features are computed."""

    context: FeatureContext
    rows: Ints
    """Rows of the context, best first."""
    scores: Floats
    """First-pass scores of these rows."""

    @property
    def view_rows(self) -> Ints:
        """The same rows in the view."""
        return self.context.rows[self.rows]

    @property
    def belief(self) -> Doubles:
        """Softmax of the scores: the first pass's probability of each row."""
        shifted = np.exp((self.scores - self.scores.max()).astype(np.float64) / _TEMPERATURE)
        return np.asarray(shifted / shifted.sum(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SecondStageFeature:
    """One column of the second pass's input."""

    name: str
    meaning: str


SECOND_STAGE_FEATURES: tuple[SecondStageFeature, ...] = (
    SecondStageFeature("belief", "how much the first pass believes in the item"),
    SecondStageFeature("behind_best", "how far its score is behind the best one"),
    SecondStageFeature("place", "its rank in the first pass"),
    SecondStageFeature("own_kind", "its kind (missed call, open reminder, …)"),
    SecondStageFeature("best_kind", "the best item's kind"),
    SecondStageFeature("best_belief", "how sure the first pass is of the best item"),
    SecondStageFeature("people_tie", "same people as the items believed in"),
    SecondStageFeature("words_tie", "rare words shared with the items believed in"),
    SecondStageFeature("words_with_best", "rare words shared with the best item"),
    SecondStageFeature("days_tie", "names the day of items believed in, or they name its day"),
    SecondStageFeature("same_day_tie", "on the day of the items believed in"),
    SecondStageFeature("groups_tie", "in a folder, list or playlist with the items believed in"),
    SecondStageFeature("meaning_tie", "closeness in meaning to the items believed in"),
    SecondStageFeature("meaning_with_best", "closeness in meaning to the best item"),
    SecondStageFeature("closest_tie", "closeness in meaning to the nearest item believed in"),
)
CATEGORIES = ("own_kind", "best_kind")


def best_of(context: FeatureContext, scores: Floats) -> SecondStageFeatures:
    """The best candidates by first-pass scores."""
    rows = np.argsort(-scores, kind="stable")[:LOOKED_AT]
    return SecondStageFeatures(context, rows, scores[rows])


def second_stage_table(stage: SecondStageFeatures) -> Floats:
    """(rows, len(SECOND_STAGE_FEATURES)), columns in the order of `SECOND_STAGE_FEATURES`."""
    rows = stage.view_rows
    links = stage.context.view.links
    belief = stage.belief
    kinds = kinds_of(stage.context)[stage.rows]
    words, cosines = links.words(rows), links.cosines(rows)
    count = len(rows)
    columns: list[NDArray[np.floating] | NDArray[np.int64]] = [
        belief,
        stage.scores - stage.scores.max(),
        np.arange(count),
        kinds,
        np.full(count, kinds[0]),
        np.full(count, belief[0]),
        links.people(rows) @ belief,
        words @ belief,
        words[:, 0],
        links.days(rows) @ belief,
        links.same_day(rows) @ belief,
        links.groups(rows) @ belief,
        cosines @ belief,
        cosines[:, 0],
        (cosines * np.sqrt(belief)[None, :]).max(axis=1),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def second_pass(
    context: FeatureContext, scores: Floats, correct: Callable[[Floats], NDArray[np.floating]]
) -> Floats:
    """Scores after both passes.

    Args:
        context: The request and its candidates.
        scores: First-pass scores, one per candidate.
        correct: Table of `second_stage_table` → what is added to the scores of its rows.
    """
    if not len(scores):
        return scores
    stage = best_of(context, scores)
    found = np.asarray(scores - _BEHIND, dtype=np.float32)
    found[stage.rows] = stage.scores + correct(second_stage_table(stage))
    return found
