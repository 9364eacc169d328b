"""The ranker's signals, declared one by one.

A signal is a function of a `FeatureContext` (and, for learned ones, of a `LearnedFeatures`) that
gives one number per candidate. NaN means "does not apply"; LightGBM treats it as missing. Signals
that learn from labels live in `prior` and are cross-fitted by whoever trains.
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


SIGNALS: list[Feature] = []


def _signal(group: str, unit: str) -> Callable[[Column], Column]:
    def declare(column: Column) -> Column:
        name = column.__name__
        meaning = (column.__doc__ or "").strip().splitlines()[0]
        SIGNALS.append(Feature(name, group, unit, meaning, column))
        return column

    return declare


def compute(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """(candidates, len(SIGNALS)), columns in the order of `SIGNALS`."""
    table = np.empty((len(scene), len(SIGNALS)), dtype=np.float32)
    for position, signal in enumerate(SIGNALS):
        table[:, position] = signal.column(scene, prior)
    return table


def _share_of_best(scores: Floats) -> Floats:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


# --- meaning -------------------------------------------------------------------------------


@_signal("meaning", "cosine")
def cosine(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """Cosine of the request's and the item's vectors."""
    return scene.cosine


@_signal("meaning", "cosine")
def cosine_behind_best(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """How far the cosine is behind the person's best item."""
    return np.asarray(scene.cosine - scene.cosine.max(initial=-1.0), dtype=np.float32)


@_signal("meaning", "standard deviations")
def cosine_standing(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """The cosine's standing among all of the person's items."""
    spread = scene.cosine.std()
    return (scene.cosine - scene.cosine.mean()) / spread if spread > 0 else 0 * scene.cosine


@_signal("meaning", "1/rank")
def cosine_rank(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the cosine among all items."""
    order = np.argsort(-scene.cosine, kind="stable")
    ranked = np.empty(len(order))
    ranked[order] = 1.0 / np.arange(1, len(order) + 1)
    return ranked


@_signal("meaning", "1/rank")
def cosine_rank_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the cosine among items of the same application."""
    return scene.rank_within_app(scene.cosine)


# --- words ---------------------------------------------------------------------------------


@_signal("words", "BM25")
def bm25(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """BM25 with statistics of the person's own items."""
    return scene.bm25


@_signal("words", "share")
def bm25_share(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """BM25 as a share of the person's best item."""
    return _share_of_best(scene.bm25)


@_signal("words", "share")
def title_covered(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Share of the title's words that the request has."""
    asked = set(scene.terms)
    titles = scene.view.title_terms
    return np.array([len(titles[row] & asked) / max(len(titles[row]), 1) for row in scene.rows])


@_signal("words", "share")
def request_covered(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Share of the request's words that the item has."""
    asked = set(scene.terms)
    if not asked:
        return np.zeros(len(scene))
    have = scene.view.term_sets
    return np.array([len(have[row] & asked) / len(asked) for row in scene.rows])


@_signal("words", "cosine")
def trigram_overlap(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """Cosine of character trigrams, which sees word forms that stemming misses."""
    return trigram_cosines(grams(scene.request.text), [scene.view.grams(row) for row in scene.rows])


# --- time ----------------------------------------------------------------------------------


@_signal("time", "log hours, signed")
def time_from_now(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """When the item happens, seen from the request: past is negative."""
    return np.sign(scene.starts) * np.log1p(np.abs(scene.starts))


@_signal("time", "log hours")
def time_distance(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How far away in time the item is, either way."""
    return np.log1p(np.abs(scene.starts))


@_signal("time", "days")
def day_gap(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Calendar days between request and item, within a month."""
    return np.clip(scene.day_gap, -30, 30)


@_signal("time", "flag")
def going_on(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.bool_]:
    """The item has begun and is not over."""
    return (scene.starts <= 0) & (scene.ends > 0)


@_signal("time", "1/rank")
def next_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank among what is still to come in the same application."""
    ahead = np.where(scene.ends >= 0, -scene.starts, np.nan)
    return scene.rank_within_app(ahead)


@_signal("time", "1/rank")
def latest_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank among what happened last in the same application."""
    behind = np.where(scene.starts <= 0, scene.starts, np.nan)
    return scene.rank_within_app(behind)


@_signal("time", "share")
def in_named_time(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Whether the item lies in a span that the request names; later readings count less."""
    best = np.zeros(len(scene))
    for position, moment in enumerate(scene.moments):
        begin, stop = hours(moment.start) - scene.now, hours(moment.end) - scene.now
        stop = max(stop, begin + 1 / 60)
        inside = (scene.starts < stop) & (np.maximum(scene.ends, scene.starts + 1 / 60) > begin)
        best = np.maximum(best, inside / (1.0 + 0.5 * position))
    return best


@_signal("time", "log hours")
def named_time_gap(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Hours from the nearest time that the request names; NaN when it names none."""
    gaps = [np.abs(scene.starts - (hours(moment.start) - scene.now)) for moment in scene.moments]
    return np.log1p(np.min(gaps, axis=0)) if gaps else np.full(len(scene), np.nan)


@_signal("time", "hours")
def named_clock_gap(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Hours on the clock from a clock time that the request names; NaN when it names none."""
    exact = [moment for moment in scene.moments if moment.grain in ("minute", "hour")]
    if not exact:
        return np.full(len(scene), np.nan)
    clock = np.mod(scene.view.starts[scene.rows], 12)
    gaps = []
    for moment in exact:
        gap = np.abs(clock - np.mod(hours(moment.start), 12))
        gaps.append(np.minimum(gap, 12 - gap))
    return np.asarray(np.min(gaps, axis=0), dtype=np.float64)


# --- usage ---------------------------------------------------------------------------------


@_signal("usage", "log count")
def opens(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """How often the item was opened in 30 days."""
    return np.log1p(scene.view.opens[scene.rows])


@_signal("usage", "1/rank")
def opens_rank_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank by opens among items of the same application."""
    return scene.rank_within_app(scene.view.opens[scene.rows])


@_signal("usage", "log hours")
def since_opened(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Hours since the item was last opened; NaN when never."""
    return np.log1p(np.maximum(scene.now - scene.view.opened[scene.rows], 0))


@_signal("usage", "hours")
def usual_hour_gap(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Hours from the request's hour to the nearest usual one; NaN without usual hours."""
    return scene.usual_hour_gap


@_signal("usage", "flag")
def usual_place(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Whether the request comes from the item's usual place; NaN without one."""
    places = scene.view.places[scene.rows]
    return np.where(places == "", np.nan, places == scene.place)


@_signal("usage", "log count")
def habit(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Opens, weighted by how near the usual hour is and by the place."""
    places = scene.view.places[scene.rows]
    near = np.exp(-((np.nan_to_num(scene.usual_hour_gap, nan=12.0) / 1.5) ** 2))
    there = np.where(places == scene.place, 1.0, 0.4)
    return np.log1p(scene.view.opens[scene.rows]) * near * there


@_signal("usage", "1/rank")
def habit_rank_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank by habit among items of the same application."""
    return scene.rank_within_app(habit(scene, prior).astype(np.float64))


# --- state ---------------------------------------------------------------------------------


@_signal("state", "flag")
def unread(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.bool_]:
    """A mail that was not read."""
    return scene.view.flags["unread"][scene.rows]


@_signal("state", "flag")
def done(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.bool_]:
    """A reminder that is ticked off."""
    return scene.view.flags["done"][scene.rows]


@_signal("state", "category")
def kind(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.int64]:
    """Application and state together (missed call, open reminder, past event, …)."""
    return kinds_of(scene)


@_signal("state", "flag")
def is_playing(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.bool_]:
    """The song that plays."""
    return np.equal(scene.rows, -1 if scene.playing_row is None else scene.playing_row)


@_signal("state", "flag")
def with_playing(scene: FeatureContext, prior: LearnedFeatures) -> NDArray[np.bool_]:
    """Shares a playlist or genre with the song that plays."""
    if scene.playing_row is None:
        return np.zeros(len(scene), dtype=bool)
    shared = set(scene.view.groups[scene.playing_row])
    return np.array([bool(shared.intersection(scene.view.groups[row])) for row in scene.rows])


# --- people --------------------------------------------------------------------------------


@_signal("people", "weight")
def person_named(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How surely the request points at somebody of the item (name, then relation)."""
    named = scene.named_people
    if not named:
        return np.zeros(len(scene))
    return np.array(
        [
            max((named.get(fold(name), 0.0) for name in scene.view.people[row]), default=0.0)
            for row in scene.rows
        ]
    )


@_signal("people", "count")
def person_in_text(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How many people that the request points at stand in the item's words."""
    named = scene.named_people
    if not named:
        return np.zeros(len(scene))
    firsts = [set(name.split()[:1]) for name in named]
    texts = scene.view.folded_words
    return np.array([sum(bool(first & texts[row]) for first in firsts) for row in scene.rows])


@_signal("people", "count")
def people_count(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How many people the item involves."""
    return np.array([len(scene.view.people[row]) for row in scene.rows], dtype=np.float64)


# --- learned from labels (cross-fitted) ----------------------------------------------------


@_signal("learned", "log odds")
def app_prior(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How often requests of this meaning needed this application."""
    return prior.app_scores(scene)


@_signal("learned", "log odds")
def kind_prior(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How often requests of this meaning needed this kind of item."""
    return prior.kind_scores(scene)


@_signal("learned", "log odds")
def kind_prior_behind_best(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How far the kind is behind the likeliest kind that the person has."""
    scores = prior.kind_scores(scene)
    return np.asarray(scores - scores.max(initial=-20.0), dtype=np.float64)


@_signal("learned", "cosine")
def mapped_cosine(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """Cosine after a learned linear map from requests to the items that they needed."""
    return prior.mapped_cosine(scene)


@_signal("learned", "1/rank")
def mapped_rank_in_app(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Reciprocal rank of the mapped cosine among items of the same application."""
    return scene.rank_within_app(prior.mapped_cosine(scene))


@_signal("tuned", "log probability")
def tuned_probability(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Probability of the item by the tuned encoder, among the candidates."""
    scores = tuned_scores(scene).astype(np.float64)
    shifted = scores - scores.max(initial=-np.inf)
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float64)


@_signal("tuned", "log odds")
def tuned_behind_best(scene: FeatureContext, prior: LearnedFeatures) -> Floats:
    """How far the item is behind the best one by the tuned encoder."""
    scores = tuned_scores(scene)
    return np.asarray(scores - scores.max(initial=-np.inf), dtype=np.float32)


# --- the request itself --------------------------------------------------------------------


@_signal("request", "count")
def request_length(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Content words in the request."""
    return np.full(len(scene), float(len(scene.terms)))


@_signal("request", "hours")
def hour_of_day(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Clock time of the request."""
    return np.full(len(scene), scene.now % 24)


@_signal("request", "flag")
def something_plays(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Whether music plays while asking."""
    return np.full(len(scene), float(scene.playing_row is not None))


@_signal("request", "count")
def times_named(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How many readings of times the request has."""
    return np.full(len(scene), float(len(scene.moments)))


@_signal("request", "cosine")
def best_cosine(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """Cosine of the person's best item: how much meaning alone can say."""
    return np.full(len(scene), float(scene.cosine.max(initial=-1.0)))


@_signal("request", "count")
def app_size(scene: FeatureContext, prior: LearnedFeatures) -> Doubles:
    """How many items the item's application holds."""
    sizes = scene.same_app.sum(axis=1)
    return np.asarray(sizes[scene.apps], dtype=np.float64)
