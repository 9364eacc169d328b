"""The ranker's features, declared one by one.

A feature is a function of a `FeatureContext` (and, for learned ones, of a `LearnedFeatures`) that
returns one number per candidate. NaN means "does not apply"; LightGBM treats it as missing. What is
learned from labels is in `LearnedFeatures`, which training cross-fits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import Doubles, FeatureContext
from ctrag.assistant.context.item_arrays import Floats, hours
from ctrag.assistant.context.learned_features import LearnedFeatures, kinds_of, tuned_scores
from ctrag.text.trigrams import grams, trigram_cosines
from ctrag.text.words import fold

Column = Callable[
    [FeatureContext, LearnedFeatures], NDArray[np.floating] | NDArray[np.bool_] | NDArray[np.int64]
]


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of the ranker's input."""

    name: str
    group: str
    """`meaning`, `words`, `time`, `usage`, `state`, `people`, `learned`, `tuned` or `request`."""
    unit: str
    meaning: str
    column: Column


FEATURES: list[Feature] = []


def _feature(group: str, unit: str) -> Callable[[Column], Column]:
    def declare(column: Column) -> Column:
        name = column.__name__
        meaning = (column.__doc__ or "").strip().splitlines()[0]
        FEATURES.append(Feature(name, group, unit, meaning, column))
        return column

    return declare


def compute(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """(candidates, len(FEATURES)), columns in the order of `FEATURES`."""
    table = np.empty((len(context), len(FEATURES)), dtype=np.float32)
    for position, feature in enumerate(FEATURES):
        table[:, position] = feature.column(context, learned)
    return table


def _share_of_best(scores: Floats) -> Floats:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


# --- meaning -------------------------------------------------------------------------------


@_feature("meaning", "cosine")
def cosine(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """Cosine of the request's and the item's vectors."""
    return context.cosine


@_feature("meaning", "cosine")
def cosine_behind_best(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """How far the cosine is behind the person's best item."""
    return np.asarray(context.cosine - context.cosine.max(initial=-1.0), dtype=np.float32)


@_feature("meaning", "standard deviations")
def cosine_standing(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """The cosine's standing among all of the person's items."""
    spread = context.cosine.std()
    return (context.cosine - context.cosine.mean()) / spread if spread > 0 else 0 * context.cosine


@_feature("meaning", "1/rank")
def cosine_rank(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the cosine among all items."""
    order = np.argsort(-context.cosine, kind="stable")
    ranked = np.empty(len(order))
    ranked[order] = 1.0 / np.arange(1, len(order) + 1)
    return ranked


@_feature("meaning", "1/rank")
def cosine_rank_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the cosine among items of the same application."""
    return context.rank_within_app(context.cosine)


# --- words ---------------------------------------------------------------------------------


@_feature("words", "BM25")
def bm25(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """BM25 with statistics of the person's own items."""
    return context.bm25


@_feature("words", "share")
def bm25_share(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """BM25 as a share of the person's best item."""
    return _share_of_best(context.bm25)


@_feature("words", "share")
def title_covered(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Share of the title's words that the request has."""
    asked = set(context.terms)
    titles = context.view.title_terms
    return np.array([len(titles[row] & asked) / max(len(titles[row]), 1) for row in context.rows])


@_feature("words", "share")
def request_covered(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Share of the request's words that the item has."""
    asked = set(context.terms)
    if not asked:
        return np.zeros(len(context))
    have = context.view.term_sets
    return np.array([len(have[row] & asked) / len(asked) for row in context.rows])


@_feature("words", "cosine")
def trigram_overlap(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """Cosine of character trigrams, which sees word forms that stemming misses."""
    return trigram_cosines(
        grams(context.request.text), [context.view.grams(row) for row in context.rows]
    )


# --- time ----------------------------------------------------------------------------------


@_feature("time", "log hours, signed")
def time_from_now(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """When the item happens, seen from the request: past is negative."""
    return np.sign(context.starts) * np.log1p(np.abs(context.starts))


@_feature("time", "log hours")
def time_distance(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How far away in time the item is, either way."""
    return np.log1p(np.abs(context.starts))


@_feature("time", "days")
def day_gap(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Calendar days between request and item, within a month."""
    return np.clip(context.day_gap, -30, 30)


@_feature("time", "flag")
def going_on(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.bool_]:
    """The item has begun and is not over."""
    return (context.starts <= 0) & (context.ends > 0)


@_feature("time", "1/rank")
def next_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank among what is still to come in the same application."""
    ahead = np.where(context.ends >= 0, -context.starts, np.nan)
    return context.rank_within_app(ahead)


@_feature("time", "1/rank")
def latest_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank among what happened last in the same application."""
    behind = np.where(context.starts <= 0, context.starts, np.nan)
    return context.rank_within_app(behind)


@_feature("time", "share")
def in_named_time(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Whether the item lies in a span that the request names; later readings count less."""
    best = np.zeros(len(context))
    for position, expression in enumerate(context.expressions):
        begin, stop = hours(expression.start) - context.now, hours(expression.end) - context.now
        stop = max(stop, begin + 1 / 60)
        inside = (context.starts < stop) & (
            np.maximum(context.ends, context.starts + 1 / 60) > begin
        )
        best = np.maximum(best, inside / (1.0 + 0.5 * position))
    return best


@_feature("time", "log hours")
def named_time_gap(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Hours from the nearest time that the request names; NaN when it names none."""
    gaps = [
        np.abs(context.starts - (hours(expression.start) - context.now))
        for expression in context.expressions
    ]
    return np.log1p(np.min(gaps, axis=0)) if gaps else np.full(len(context), np.nan)


@_feature("time", "hours")
def named_clock_gap(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Hours on the clock from a clock time that the request names; NaN when it names none."""
    exact = [
        expression for expression in context.expressions if expression.grain in ("minute", "hour")
    ]
    if not exact:
        return np.full(len(context), np.nan)
    clock = np.mod(context.view.starts[context.rows], 12)
    gaps = []
    for expression in exact:
        gap = np.abs(clock - np.mod(hours(expression.start), 12))
        gaps.append(np.minimum(gap, 12 - gap))
    return np.asarray(np.min(gaps, axis=0), dtype=np.float64)


# --- usage ---------------------------------------------------------------------------------


@_feature("usage", "log count")
def opens(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """How often the item was opened in 30 days."""
    return np.log1p(context.view.opens[context.rows])


@_feature("usage", "1/rank")
def opens_rank_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank by opens among items of the same application."""
    return context.rank_within_app(context.view.opens[context.rows])


@_feature("usage", "log hours")
def since_opened(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Hours since the item was last opened; NaN when never."""
    return np.log1p(np.maximum(context.now - context.view.opened[context.rows], 0))


@_feature("usage", "hours")
def usual_hour_gap(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Hours from the request's hour to the nearest usual one; NaN without usual hours."""
    return context.usual_hour_gap


@_feature("usage", "flag")
def usual_place(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Whether the request comes from the item's usual place; NaN without one."""
    places = context.view.places[context.rows]
    return np.where(places == "", np.nan, places == context.place)


@_feature("usage", "log count")
def habit(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Opens, weighted by how near the usual hour is and by the place."""
    places = context.view.places[context.rows]
    near = np.exp(-((np.nan_to_num(context.usual_hour_gap, nan=12.0) / 1.5) ** 2))
    there = np.where(places == context.place, 1.0, 0.4)
    return np.log1p(context.view.opens[context.rows]) * near * there


@_feature("usage", "1/rank")
def habit_rank_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank by habit among items of the same application."""
    return context.rank_within_app(habit(context, learned).astype(np.float64))


# --- state ---------------------------------------------------------------------------------


@_feature("state", "flag")
def unread(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.bool_]:
    """A mail that was not read."""
    return context.view.flags["unread"][context.rows]


@_feature("state", "flag")
def done(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.bool_]:
    """A reminder that is ticked off."""
    return context.view.flags["done"][context.rows]


@_feature("state", "category")
def kind(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.int64]:
    """Application and state together (missed call, open reminder, past event, …)."""
    return kinds_of(context)


@_feature("state", "flag")
def is_playing(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.bool_]:
    """The song that plays."""
    return np.equal(context.rows, -1 if context.playing_row is None else context.playing_row)


@_feature("state", "flag")
def with_playing(context: FeatureContext, learned: LearnedFeatures) -> NDArray[np.bool_]:
    """Shares a playlist or genre with the song that plays."""
    if context.playing_row is None:
        return np.zeros(len(context), dtype=bool)
    shared = set(context.view.groups[context.playing_row])
    return np.array([bool(shared.intersection(context.view.groups[row])) for row in context.rows])


# --- people --------------------------------------------------------------------------------


@_feature("people", "weight")
def person_named(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How surely the request points at somebody of the item (name, then relation)."""
    named = context.named_people
    if not named:
        return np.zeros(len(context))
    return np.array(
        [
            max((named.get(fold(name), 0.0) for name in context.view.people[row]), default=0.0)
            for row in context.rows
        ]
    )


@_feature("people", "count")
def person_in_text(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How many people that the request points at stand in the item's words."""
    named = context.named_people
    if not named:
        return np.zeros(len(context))
    firsts = [set(name.split()[:1]) for name in named]
    texts = context.view.folded_words
    return np.array([sum(bool(first & texts[row]) for first in firsts) for row in context.rows])


@_feature("people", "count")
def people_count(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How many people the item involves."""
    return np.array([len(context.view.people[row]) for row in context.rows], dtype=np.float64)


# --- learned from labels (cross-fitted) ----------------------------------------------------


@_feature("learned", "log odds")
def app_prior(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How often requests of this meaning needed this application."""
    return learned.app_scores(context)


@_feature("learned", "log odds")
def kind_prior(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How often requests of this meaning needed this kind of item."""
    return learned.kind_scores(context)


@_feature("learned", "log odds")
def kind_prior_behind_best(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How far the kind is behind the likeliest kind that the person has."""
    scores = learned.kind_scores(context)
    return np.asarray(scores - scores.max(initial=-20.0), dtype=np.float64)


@_feature("learned", "cosine")
def mapped_cosine(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """Cosine after a learned linear map from requests to the items that they needed."""
    return learned.mapped_cosine(context)


@_feature("learned", "1/rank")
def mapped_rank_in_app(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the mapped cosine among items of the same application."""
    return context.rank_within_app(learned.mapped_cosine(context))


@_feature("tuned", "log probability")
def tuned_probability(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Probability of the item by the tuned encoder, among the candidates."""
    scores = tuned_scores(context).astype(np.float64)
    shifted = scores - scores.max(initial=-np.inf)
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float64)


@_feature("tuned", "log odds")
def tuned_behind_best(context: FeatureContext, learned: LearnedFeatures) -> Floats:
    """How far the item is behind the best one by the tuned encoder."""
    scores = tuned_scores(context)
    return np.asarray(scores - scores.max(initial=-np.inf), dtype=np.float32)


# --- the request itself --------------------------------------------------------------------


@_feature("request", "count")
def request_length(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Content words in the request."""
    return np.full(len(context), float(len(context.terms)))


@_feature("request", "hours")
def hour_of_day(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Clock time of the request."""
    return np.full(len(context), context.now % 24)


@_feature("request", "flag")
def something_plays(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Whether music plays while asking."""
    return np.full(len(context), float(context.playing_row is not None))


@_feature("request", "count")
def times_named(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How many readings of times the request has."""
    return np.full(len(context), float(len(context.expressions)))


@_feature("request", "cosine")
def best_cosine(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """Cosine of the person's best item: how much meaning alone can say."""
    return np.full(len(context), float(context.cosine.max(initial=-1.0)))


@_feature("request", "count")
def app_size(context: FeatureContext, learned: LearnedFeatures) -> Doubles:
    """How many items the item's application holds."""
    sizes = context.same_app.sum(axis=1)
    return np.asarray(sizes[context.apps], dtype=np.float64)
