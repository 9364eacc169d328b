"""Why an item ranks where it does: its strongest features, each as one short clause.

LightGBM reports how much each feature adds to an item's score. A tree splits that among
correlated features arbitrarily, so those of one group are summed, and the strongest of the group
represents it.
"""

import math
from collections.abc import Callable

import numpy as np

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.features import FEATURES, Feature
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.learned_features import KINDS
from ctrag.text.words import fold, terms, words

LIFTING, LOWERING = 4, 2
"""Reasons at most for an item and against it."""
_WEIGHS_FROM = 0.1
"""Least absolute contribution of a group that is reported."""
_NO_MERIT_AT_ZERO = {"flag", "share", "weight", "count", "log count", "BM25"}
"""Units whose zero means that something is absent: true, but no reason for an item."""


def lifts_of(added: Floats) -> Floats:
    """(candidates, features): contribution of each feature minus that of the median candidate."""
    return np.asarray(added - np.median(added, axis=0), dtype=np.float32)


def because(context: FeatureContext, row: int, values: Floats, lifts: Floats) -> tuple[str, ...]:
    """What raises a candidate, strongest first, then what lowers it, each after "but ".

    Args:
        context: The request and its candidates.
        row: The candidate's row in the context.
        values: (features,): the candidate's row of `features.compute`.
        lifts: (features,): the candidate's row of `lifts_of`.
    """
    groups: dict[str, list[int]] = {}
    for column, feature in enumerate(FEATURES):
        if feature.group != "request":  # the same for all candidates, or of all in an application
            groups.setdefault(feature.group, []).append(column)
    reasons: dict[bool, list[str]] = {True: [], False: []}
    for columns in sorted(groups.values(), key=lambda group: -abs(lifts[group].sum())):
        total = float(lifts[columns].sum())
        strongest_first = sorted(columns, key=lambda column: -lifts[column] * np.sign(total))
        clauses = (
            clause(context, row, FEATURES[column], float(values[column]))
            for column in strongest_first
            if lifts[column] * total > 0
            and not (
                total > 0 and FEATURES[column].unit in _NO_MERIT_AT_ZERO and not values[column]
            )
        )
        if abs(total) >= _WEIGHS_FROM and (text := next(filter(None, clauses), None)):
            reasons[total > 0].append(text)
    return (*reasons[True][:LIFTING], *(f"but {one}" for one in reasons[False][:LOWERING]))


def clause(context: FeatureContext, row: int, feature: Feature, value: float) -> str:
    """A feature's value for a candidate in words; empty when the feature does not apply."""
    if math.isnan(value) or (feature.unit == "1/rank" and not value):
        return ""
    if feature.name in _OWN_FACTS:
        return _OWN_FACTS[feature.name](context, int(context.rows[row]), value)
    shown = _shown(value, feature.unit)
    if feature.name in _SHORT:
        return _SHORT[feature.name].format(shown)
    meaning = feature.meaning.partition(";")[0].rstrip(".")
    return f"{meaning[0].lower()}{meaning[1:]}: {shown}"


def _shown(value: float, unit: str) -> str:
    """A value as people write it: `yes`, `#2`, `12`, `62 %`, `3 hours`."""
    match unit:
        case "flag":
            return "yes" if value else "no"
        case "1/rank":
            return f"#{round(1 / value)}"
        case "count" | "log count":
            return str(round(math.expm1(value) if unit == "log count" else value))
        case "share" | "weight" | "log probability":
            return _percent(math.exp(value) if unit == "log probability" else value)
        case "hours" | "log hours":
            return _lapse(math.expm1(value) if unit == "log hours" else value)
        case _:
            return f"{value:.2f}"


def _percent(share: float) -> str:
    """Never 0 or 100 for what is merely close to it."""
    if 0 < share < 0.005 or 0.995 <= share < 1:
        return "under 1 %" if share < 0.5 else "over 99 %"
    return f"{100 * share:.0f} %"


def _lapse(hours: float) -> str:
    size, unit = (
        (1 / 60, "minute") if hours < 0.99 else (1, "hour") if hours < 47.5 else (24, "day")
    )
    count = round(hours / size)
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _dated(context: FeatureContext, row: int, value: float) -> str:
    apart = _lapse(math.expm1(abs(value)))
    return f"dated {apart} ago" if value < 0 else f"dated in {apart}"


def _words(context: FeatureContext, row: int, value: float) -> str:
    return _shared("has", context, context.view.term_sets[row])


def _title_words(context: FeatureContext, row: int, value: float) -> str:
    return _shared("its title has", context, context.view.title_terms[row])


def _shared(has: str, context: FeatureContext, held: frozenset[str]) -> str:
    asked = dict.fromkeys(words(context.request.text))
    shared = [f"“{one}”" for one in asked if terms(one) and held.issuperset(terms(one))]
    return f"{has} your {', '.join(shared[:4])}" if shared else f"{has} none of your words"


def _named_time(context: FeatureContext, row: int, value: float) -> str:
    reading = round(2 / value - 2) if value else 0  # the value is 1 / (1 + reading / 2)
    named = context.expressions[reading : reading + 1]
    return f"{'' if value else 'not '}in your “{named[0].phrase}”" if named else ""


def _person(context: FeatureContext, row: int, value: float) -> str:
    named = {one: context.named_people.get(fold(one), 0.0) for one in context.view.people[row]}
    meant = " and ".join(
        [one for one in named if math.isclose(named[one], value, abs_tol=1e-6)][:2]
    )
    return f"involves {meant if value else 'nobody'} whom you may mean"


def _needed(what: str) -> Callable[[FeatureContext, int, float], str]:
    def text(context: FeatureContext, row: int, value: float) -> str:
        return f"{_percent(1 / (1 + math.exp(-value)))} likely that such requests need {what}"

    return text


_OWN_FACTS: dict[str, Callable[[FeatureContext, int, float], str]] = {
    "bm25": _words,
    "bm25_share": _words,
    "request_covered": _words,
    "title_covered": _title_words,
    "time_from_now": _dated,
    "in_named_time": _named_time,
    "kind": lambda context, row, value: f"its kind is “{KINDS[int(value)]}”",
    "person_named": _person,
    "app_prior": _needed("its application"),
    "kind_prior": _needed("its kind of item"),
    "habit": lambda context, row, value: f"habit of this hour and place {value:.2f}",
}
"""Feature → a clause with facts of the item; takes context, row of the view and value."""
_SHORT = {
    "cosine": "cosine {} with your request",
    "cosine_standing": "{} standard deviations from the mean in meaning",
    "cosine_rank": "{} of the candidates in meaning",
    "cosine_rank_in_app": "{} of its application in meaning",
    "mapped_cosine": "cosine {} with what such requests needed",
    "mapped_rank_in_app": "{} of its application by what such requests needed",
    "time_distance": "{} away in time",
    "next_in_app": "{} of what comes next in its application",
    "latest_in_app": "{} of what was latest in its application",
    "named_time_gap": "{} from a time you name",
    "named_clock_gap": "{} on the clock from a time you name",
    "opens": "opens in 30 days: {}",
    "usual_place": "at its usual place: {}",
    "person_in_text": "people whom you may mean in its words: {}",
    "opens_rank_in_app": "{} of its application by opens",
    "since_opened": "last opened {} ago",
    "usual_hour_gap": "{} from its usual hour",
    "habit_rank_in_app": "{} of its application by habit of this hour and place",
    "tuned_probability": "{} likely by the tuned encoder",
}
"""Feature → a clause shorter than its meaning; gets the value as `_shown` writes it."""
