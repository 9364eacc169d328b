"""What may be said of an item, matter by matter; `reasons` chooses from it by weight.

A matter is a handful of signals that are one reason to a reader. Its function yields what is true
of the item, most telling first, each with the way in which it speaks: a tree may lift an item for a
value that nobody would call a merit, and then nothing may be said in its favour.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import Enum

from ctrag.context import item_text
from ctrag.context.case import Case
from ctrag.context.moments import Moment
from ctrag.context.prior import KINDS
from ctrag.context.wordings import (
    KINDS_SAID,
    clock,
    closest,
    happens,
    hours_words,
    joined,
    lapse,
    many_of,
    one_of,
    opening,
    others,
    percent,
    place_words,
    quoted,
    times,
    when,
)
from ctrag.context.words import STOPWORDS, fold, terms, words

_SPELLED_ALIKE = 0.85
"""Similarity (difflib's ratio) from which two words are called alike."""
_POINTED_AT = 0.05
"""Probability from which the tuned encoder is said to point at an item."""
_HOURS_NEAR = 12
_MINUTES_NEAR = 15
_DAY = 24 * 60


class Speaks(Enum):
    """Which way something true of an item speaks."""

    FOR = 1
    AGAINST = 2
    EITHER = 3
    ASIDE = 4
    """Of the request alone, so of no item rather than another; never told as a reason."""


FOR, AGAINST, EITHER, ASIDE = Speaks
Said = Iterator[tuple[Speaks, str]]


@dataclass(frozen=True, slots=True)
class Matter:
    """Signals that are one reason to a reader."""

    signals: tuple[str, ...]
    tell: Callable[[Case], Said]
    """What is true of the item, most telling first; never nothing."""
    seen: bool = True
    """Whether it is seen in the item. What a model says may outweigh all that is seen, which is
    told all the same: nobody can check a model's word."""


MATTERS: list[Matter] = []


def _matter(
    signals: str, *, seen: bool = True
) -> Callable[[Callable[[Case], Said]], Callable[[Case], Said]]:
    def declare(tell: Callable[[Case], Said]) -> Callable[[Case], Said]:
        MATTERS.append(Matter(tuple(signals.split()), tell, seen))
        return tell

    return declare


# --- what can be said of each matter -------------------------------------------------------

_CLOSE = {
    "cosine": "in meaning",
    "mapped_cosine": "to what such requests are about",
}
"""Signal of closeness → its words; an item is told by the one that ranks it best."""


@_matter(
    "cosine cosine_behind_best cosine_standing cosine_rank cosine_rank_in_app best_cosine "
    "mapped_cosine mapped_rank_in_app"
)
def _meaning(case: Case) -> Said:
    if len(case.scene) == 1:
        yield ASIDE, "there is no other item to compare with"
        return
    best = min(_CLOSE, key=case.rank)
    if case.rank(best) <= 3:
        yield FOR, f"it is {closest(case.rank(best))} of {case.your} {_CLOSE[best]}"
    in_app = min(_CLOSE, key=lambda name: case.rank(name, in_app=True))
    if case.rank(in_app, in_app=True) == 1 and case.siblings > 1:
        yield FOR, f"it is the closest of {case.your_in_app} {_CLOSE[in_app]}"
    above = case.above(best)
    if above >= 0.5:
        yield FOR, f"it is closer {_CLOSE[best]} than {others(above)}"
    nearer = case.rank("cosine") - 1
    if nearer >= 3:
        yield AGAINST, f"{nearer} of {case.your} are closer in meaning"


@_matter("tuned_probability tuned_behind_best", seen=False)
def _tuned(case: Case) -> Said:
    """Where the tuned encoder points."""
    value = case.value("tuned_probability")
    if math.isnan(value):
        yield EITHER, "no tuned encoder has read your request"
        return
    chance = math.exp(min(value, 0.0))
    told = f"what was learned from others' requests {{}} ({percent(chance)})"
    if case.rank("tuned_probability") == 1:
        yield FOR, told.format("points to it first")
    elif chance >= _POINTED_AT:
        yield FOR, told.format("points to it too")
    else:
        yield AGAINST, told.format("hardly points to it")


@_matter("bm25 bm25_share title_covered request_covered trigram_overlap request_length")
def _words(case: Case) -> Said:
    view, row = case.scene.view, case.scene.rows[case.row]
    asked = [word for word in dict.fromkeys(words(case.scene.request.text)) if terms(word)]
    shared = [word for word in asked if view.term_sets[row].issuperset(terms(word))]
    in_title = [word for word in shared if view.title_terms[row].issuperset(terms(word))]
    if not asked:
        yield ASIDE, "the request has no telling word"
    elif shared:
        has, found = ("its title has", in_title) if in_title else ("it has", shared)
        yield FOR, f"{has} your {'words' if len(found) > 1 else 'word'} {quoted(found[:4])}"
        if len(shared) < len(asked) / 2:
            yield AGAINST, f"of your {len(asked)} telling words it has only {quoted(shared[:4])}"
    else:
        for word in asked:
            if like := _spelled_like(word, view.folded_words[row]):
                yield FOR, f"its “{like}” is spelled much like your “{word}”"
        yield AGAINST, "it has none of your words"


def _spelled_like(word: str, among: frozenset[str]) -> str:
    known = sorted(one for one in among if len(one) > 3 and one not in STOPWORDS)
    return "".join(get_close_matches(word, known, 1, _SPELLED_ALIKE))


@_matter("time_from_now time_distance day_gap going_on next_in_app latest_in_app")
def _time(case: Case) -> Said:
    now, begin, end = case.scene.request.asked_at, case.time("time"), case.time("end")
    if begin is None:
        yield EITHER, "it has no date"
        return
    if end is not None and begin <= now < end:
        yield FOR, f"it is going on, until {clock(end)}"
    if end is not None and end < now:
        yield AGAINST, f"it was over {when(end, now)}"
    told = happens(item_text.field_of(case.item, "time") or "", begin, now)
    order = "next" if begin >= now else "latest"
    if case.value(f"{order}_in_app") == 1:
        yield FOR, f"{told}, the {order} of your {many_of(case.item.app)}"
    yield (FOR if abs(case.scene.starts[case.row]) <= _HOURS_NEAR else EITHER), told


@_matter("in_named_time named_time_gap named_clock_gap times_named")
def _named_time(case: Case) -> Said:
    moments = case.scene.moments
    begin, end = case.time("time"), case.time("end")
    if not moments:
        yield ASIDE, "the request names no time"
    elif begin is None:
        yield AGAINST, f"it has no date, and you say “{moments[0].phrase}”"
    else:
        for one in moments:
            if one.start <= begin < one.end or begin == one.start:
                yield FOR, f"its time fits your “{one.phrase}”"
            elif end is not None and begin < one.start < end:
                yield FOR, f"your “{one.phrase}” falls into its time"
        for one in moments:
            if one.grain in ("minute", "hour") and _clock_gap(begin, one.start) <= _MINUTES_NEAR:
                yield FOR, f"its clock time, {clock(begin)}, fits your “{one.phrase}”"
        gap, phrase = min(_gap(begin, one) for one in moments)
        nearer = gap <= _DAY and case.rank("named_time_gap") > len(case.scene) / 2
        if gap:
            yield (EITHER if nearer else AGAINST), f"it is {lapse(gap)} from your “{phrase}”"
        yield ASIDE, f"you say “{phrase}”"


def _clock_gap(one: datetime, other: datetime) -> float:
    """Minutes between two clock times, whatever the day."""
    apart = (one - other).total_seconds() / 60 % _DAY
    return min(apart, _DAY - apart)


def _gap(begin: datetime, named: Moment) -> tuple[int, str]:
    """Minutes from a named time, or whole days from a named day, week, …; and its words."""
    first, last, at = named.start, named.end, begin
    if named.grain in ("minute", "hour"):
        last = first
    elif named.grain != "part":
        last -= timedelta(microseconds=1)
        first, last, at = (datetime(*one.timetuple()[:3]) for one in (first, last, at))
    seconds = max((first - at).total_seconds(), (at - last).total_seconds(), 0)
    return round(seconds / 60), named.phrase


@_matter(
    "opens opens_rank_in_app since_opened usual_hour_gap usual_place habit habit_rank_in_app "
    "hour_of_day"
)
def _usage(case: Case) -> Said:
    request, usage, app = case.scene.request, case.item.usage, case.item.app
    now, opens, last = request.asked_at, usage.opens_30d, usage.last_opened
    if not opens:
        new = KINDS[int(case.value("kind"))] in ("mail unread", "call missed", "voicemail")
        yield (EITHER if new else AGAINST), "you have not opened it in 30 days"
        return
    hour = hours_words(usage.usual_hours, now.hour) if usage.usual_hours else ""
    place = place_words(usage.usual_place) if usage.usual_place else ""
    at_hour, at_place = case.value("usual_hour_gap") <= 1, case.value("usual_place") == 1
    often = f" ({times(opens)} in 30 days)" if opens > 2 else ""
    if at_hour or at_place:
        met = _both(hour if at_hour else "", place if at_place else "")
        yield FOR, f"{opening(app, opens)} {met}{often}"
    here = place_words(request.place) if request.place else ""
    elsewhere = here if place and here != place and not at_place else ""
    off_hour = bool(hour) and not at_hour
    if opens > 2 and (off_hour or elsewhere):
        usual = _both(hour if off_hour else "", place if elsewhere else "")
        this = _both(f"at {clock(now)}" if off_hour else "", elsewhere)
        yield AGAINST, f"{opening(app, opens)} {usual}, not {this}"
    if opens > 2 and case.rank("opens", in_app=True) == 1 and case.siblings > 1:
        yield FOR, f"you open none of {case.your_in_app} more often{often}"
    if last is not None and last <= now:
        recent = now - last <= timedelta(days=1)
        yield (FOR if recent else EITHER), f"you last opened it {when(last, now)}"
    few = opens < 3
    yield (AGAINST if few else FOR), f"you opened it {'only ' * few}{times(opens)} in 30 days"


def _both(hour: str, place: str) -> str:
    return f"{hour} {place}".strip()


@_matter("kind unread done app_prior kind_prior kind_prior_behind_best")
def _kind(case: Case) -> Said:
    name = KINDS[int(case.value("kind"))]
    kind = KINDS_SAID.get(name, f"an item of the kind “{name}”")
    chance = _chance(case.value("kind_prior"))
    if chance < 0.3 and case.value("kind_prior_behind_best") >= 0:
        yield FOR, f"requests like this one need {kind} more than anything else ({percent(chance)})"
    yield _needs(kind, chance)
    yield _needs(f"one of your {many_of(case.item.app)}", _chance(case.value("app_prior")))
    if chance < 0.1 and case.above("kind_prior") >= 0.5:
        yield FOR, f"requests like this one need {kind} more than most else ({percent(chance)})"
    yield EITHER, f"it is {kind}"


def _chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def _needs(what: str, chance: float) -> tuple[Speaks, str]:
    """How often requests of this meaning need something, by the prior's estimate."""
    steps = ((0.6, FOR, "mostly"), (0.3, FOR, "often"), (0.1, EITHER, "sometimes"))
    found = ((speaks, often) for least, speaks, often in steps if chance >= least)
    speaks, often = next(found, (AGAINST, "seldom"))
    return speaks, f"requests like this one {often} need {what} ({percent(chance)})"


@_matter("app_size")
def _app_size(case: Case) -> Said:
    if case.siblings > 1:
        yield EITHER, f"it is one of {case.your_in_app}"
    else:
        yield EITHER, f"you have no other {one_of(case.item.app)}"


@_matter("is_playing with_playing something_plays")
def _playing(case: Case) -> Said:
    scene = case.scene
    if scene.playing_row is None:
        yield ASIDE, "no song of yours plays"
    elif case.value("is_playing"):
        yield FOR, "it is the song that plays"
    else:
        playing = set(scene.view.groups[scene.playing_row])
        groups = [one for one in item_text.groups(case.item) if " ".join(words(one)) in playing]
        if groups:
            yield FOR, f"it shares {quoted(groups)} with the song that plays"
        else:
            yield AGAINST, "it shares no playlist or genre with the song that plays"


@_matter("person_named person_in_text people_count")
def _people(case: Case) -> Said:
    named = case.scene.named_people
    involved = {fold(name): name for name in item_text.people(case.item)}
    surest = sorted(named, key=lambda name: -named[name])
    in_words = case.scene.view.folded_words[case.scene.rows[case.row]]
    meant = [name for name in surest if name in involved]
    said = [name for name in surest if in_words.intersection(name.split()[:1])]
    if meant:
        points = "points" if named[meant[0]] >= 0.8 else "may point"
        alike = [case.person(name) for name in meant if named[name] == named[meant[0]]]
        yield FOR, f"the request {points} at {joined(alike[:3])}"
    elif said:
        whom = f"“{said[0].split()[0]}”, and the request may point at {case.person(said[0])}"
        yield FOR, f"it has the word {whom}"
    elif named:
        whom = joined([case.person(name) for name in surest[:2]])
        yield AGAINST, f"it says nothing of {whom}, at whom the request may point"
    elif involved:
        yield EITHER, f"it involves {joined([case.person(name) for name in involved.values()][:3])}"
    else:
        yield ASIDE, "the request points at nobody you know"
