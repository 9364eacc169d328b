"""Features learned from labels: what similar requests needed.

A `LearnedFeatures` is fitted on labelled requests (in `training`) and is part of the ranker's
artefact. A ranker that is trained on its output needs it fitted out of fold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import Doubles, FeatureContext
from ctrag.assistant.context.item_arrays import Floats
from ctrag.models.encoder import Matrix

KINDS: tuple[str, ...] = (
    "mail read",
    "mail unread",
    "event over",
    "event today",
    "event later",
    "search",
    "note",
    "song",
    "song playing",
    "reminder done",
    "reminder overdue",
    "reminder today",
    "reminder later",
    "reminder undated",
    "call incoming",
    "call outgoing",
    "call missed",
    "voicemail",
    "other",
)


def kinds_of(context: FeatureContext) -> NDArray[np.int64]:
    """Position in `KINDS` of each candidate: its application and state at the time of asking."""
    view = context.view
    names = view.app_names
    apps = context.similar_apps
    kinds = np.full(len(context), KINDS.index("other"), dtype=np.int64)

    def mark(app: str, kind: str, where: NDArray[np.bool_] | bool = True) -> None:
        kinds[(apps == names.index(app)) & where] = KINDS.index(kind)

    today = context.day_gap == 0
    mark("mail", "mail read")
    mark("mail", "mail unread", view.flags["unread"][context.rows])
    mark("calendar", "event later")
    mark("calendar", "event today", today)
    mark("calendar", "event over", context.ends < 0)
    mark("google", "search")
    mark("notes", "note")
    mark("music", "song")
    if context.playing_row is not None:
        mark("music", "song playing", context.rows == context.playing_row)
    mark("reminders", "reminder undated")
    mark("reminders", "reminder later", context.starts > 0)
    mark("reminders", "reminder today", today)
    mark("reminders", "reminder overdue", context.starts < 0)
    mark("reminders", "reminder done", view.flags["done"][context.rows])
    for direction in ("incoming", "outgoing", "missed"):
        mark("phonecall", f"call {direction}", view.directions[context.rows] == direction)
    mark("phonecall", "voicemail", view.flags["voicemail"][context.rows])
    return kinds


def tuned_scores(context: FeatureContext) -> Floats:
    """Score of each candidate by the tuned reading of the request (log odds up to a
    constant): its target vector and the kinds of items it expects; NaN without a reading."""
    tuned = context.tuned
    if tuned is None:
        return np.full(len(context), np.nan, dtype=np.float32)
    products = context.vectors @ tuned.aim
    return np.asarray(products + tuned.kinds[kinds_of(context)], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class LearnedFeatures:
    """Two logistic classifiers and a linear map over the request's vector."""

    app_weights: Matrix
    """(dimension + 1, applications); the last row is the intercept."""
    kind_weights: Matrix
    """(dimension + 1, len(KINDS))."""
    item_map: Matrix
    """(dimension, dimension): from a request's vector towards the items that it needs."""

    def app_scores(self, context: FeatureContext) -> Doubles:
        """Log odds that the candidate's application is needed."""
        scores = context.vector @ self.app_weights[:-1] + self.app_weights[-1]
        return np.asarray(scores[context.similar_apps], dtype=np.float64)

    def kind_scores(self, context: FeatureContext) -> Doubles:
        """Log odds that an item of the candidate's kind is needed."""
        scores = context.vector @ self.kind_weights[:-1] + self.kind_weights[-1]
        return np.asarray(scores[kinds_of(context)], dtype=np.float64)

    def mapped_cosine(self, context: FeatureContext) -> Floats:
        """Cosine of candidate and mapped request."""
        mapped = context.vector @ self.item_map
        mapped = mapped / max(float(np.linalg.norm(mapped)), 1e-9)
        return np.asarray(context.vectors @ mapped, dtype=np.float32)
