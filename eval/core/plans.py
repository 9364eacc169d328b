"""Scores of planned calls against labelled ones, as DESIGN.md defines them.

A predicted plan of None means that the model's text was no plan: it is never right. A gold plan of
None means that no API can do what was asked: only `none()` is right.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import assert_never

from ctrag.assistant.planning.plan import NONE, Plan, Value
from ctrag.errors import InputError
from ctrag.toolbox import ArgumentType, Toolbox
from stores.people.items import LabelledPlan

Normalised = str | frozenset[str]

_QUOTES = str.maketrans(dict.fromkeys('"“”„‟«»`´‘’‚‛‹›', "'"))
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d %B %Y",
    "%d %b %Y",
    "%B %d %Y",
    "%b %d %Y",
)
_TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M%p")


def normalise(value: Value, type_: ArgumentType = "string") -> Normalised:
    """A value in the one spelling in which two equal values are equal.

    Case, spacing, composed characters, the kind of quotes and quotes around the whole do not
    matter; nor does the order or repetition of a list; nor, for dates and datetimes, the spelling
    (`2 May 2025, 18:30` is `2025-05-02T18:30`). Spellings that leave day and month open
    (`05/06/2025`) are left as they are, and a date is never equal to a datetime.
    """
    if isinstance(value, list):
        return frozenset(_normalise_text(item) for item in value)
    match type_:
        case "datetime" | "date":
            return _normalise_time(_normalise_text(str(value)))
        case "string" | "integer" | "contact" | "contacts" | "enum":
            return _normalise_text(str(value))
        case _:
            assert_never(type_)


def labelled_plan(label: LabelledPlan | None) -> Plan | None:
    """A label as a plan; None where no API can do what was asked."""
    return None if label is None else Plan(label.api, dict(label.arguments))


def ast_match(predicted: Plan | None, gold: Plan | None, toolbox: Toolbox) -> bool:
    """Same API, same argument names, and equal normalised values where `match` is `value`.

    Optional arguments get no leave: one that the gold plan lacks is as wrong as one it has and the
    prediction lacks. Arguments that the toolbox does not know are compared by value.
    """
    return _equal(predicted, gold, toolbox, text_counts=False)


def exact_match(predicted: Plan | None, gold: Plan | None, toolbox: Toolbox) -> bool:
    """An AST match in which free text, normalised, is equal too."""
    return _equal(predicted, gold, toolbox, text_counts=True)


def accepted(
    predicted: Plan | None, gold: Plan | None, also: Iterable[Plan | None], toolbox: Toolbox
) -> bool:
    """An AST match with the gold plan or with one of those that are as right."""
    return any(ast_match(predicted, plan, toolbox) for plan in (gold, *also))


def closed(gold: Plan | None, toolbox: Toolbox) -> bool:
    """Whether the plan has no free text, so that an exact match can be asked for."""
    return not _text_arguments(gold or NONE, toolbox)


def token_f1(predicted: Plan | None, gold: Plan | None, toolbox: Toolbox) -> float | None:
    """Token F1 of the gold plan's free texts, 0-1, averaged over them; None if it has none.

    Tokens as for SQuAD: lower case, without punctuation and the articles a, an, the. A text that
    is missing, or belongs to another API, scores 0.
    """
    gold = gold or NONE
    names = _text_arguments(gold, toolbox)
    if not names:
        return None
    if predicted is None or predicted.api != gold.api:
        return 0.0
    return fmean(
        _overlap(_tokens(predicted.arguments[name]), _tokens(gold.arguments[name]))
        if name in predicted.arguments
        else 0.0
        for name in names
    )


def hallucinated(plan: Plan | None, toolbox: Toolbox) -> bool:
    """Whether the plan calls an API that the toolbox does not have; no plan calls none."""
    return plan is not None and not plan.is_none and toolbox.get(plan.api) is None


def text_right(
    predicted: Plan | None, gold: Plan | None, also: Iterable[Plan | None], toolbox: Toolbox
) -> bool | None:
    """Whether a plan's free texts say what was to be written.

    A text is right when at least 0.8 of its words stand in the text of the labelled plan, or of one
    that is as right, and at least 0.6 of that text's words are written. A mail's subject is left
    out: nobody says it.

    Returns:
        None where the labelled plan has no free text and the plan writes none.
    """
    wanted = [gold or NONE, *(one or NONE for one in also)]
    written = [] if predicted is None else _written(predicted, toolbox)
    if not written and not _written(wanted[0], toolbox):
        return None
    if predicted is None:
        return False
    alike = [one for one in wanted if one.api == predicted.api]
    if not any(set(_written(one, toolbox)) <= set(written) for one in alike):
        return False  # a text that every label has was left out
    return all(
        any(_says(predicted.arguments[name], one.arguments.get(name, "")) for one in alike)
        for name in written
    )


def done_right(
    predicted: Plan | None, gold: Plan | None, also: Sequence[Plan | None], toolbox: Toolbox
) -> bool:
    """Whether the call is accepted and all that it writes is right."""
    return accepted(predicted, gold, also, toolbox) and (
        text_right(predicted, gold, also, toolbox) is not False
    )


@dataclass(frozen=True)
class PlanScore:
    """The verdicts on one request's plan; `text_f1` (0-1) and `text_right` are None where there is
    no free text."""

    ast_match: bool
    exact_match: bool
    closed: bool
    accepted: bool
    hallucinated: bool
    ungrounded: bool
    text_f1: float | None
    text_right: bool | None
    done_right: bool
    api_right: bool
    """Whether the API is that of the labelled plan or of one that is as right."""


def score(
    predicted: Plan | None,
    gold: Plan | None,
    also: Iterable[Plan | None] = (),
    *,
    toolbox: Toolbox,
    ungrounded: bool,
) -> PlanScore:
    """All verdicts on one plan; whether it is ungrounded depends on more than the plans."""
    also = list(also)
    return PlanScore(
        ast_match=ast_match(predicted, gold, toolbox),
        exact_match=exact_match(predicted, gold, toolbox),
        closed=closed(gold, toolbox),
        accepted=accepted(predicted, gold, also, toolbox),
        hallucinated=hallucinated(predicted, toolbox),
        ungrounded=ungrounded,
        text_f1=token_f1(predicted, gold, toolbox),
        text_right=text_right(predicted, gold, also, toolbox),
        done_right=done_right(predicted, gold, also, toolbox),
        api_right=predicted is not None
        and predicted.api in {(one or NONE).api for one in (gold, *also)},
    )


def summarise(rows: Sequence[PlanScore]) -> dict[str, float]:
    """The figures of one decoding, each a percentage of the rows (0-100).

    `exact_match_closed` is over rows with a closed gold plan, `text_right` over rows with free
    text; each is left out if there are none.

    Raises:
        ValueError: if there are no rows.
    """
    if not rows:
        raise InputError("rows: at least one scored plan is needed")
    figures = {
        "ast_accuracy": _percent(row.ast_match for row in rows),
        "exact_match": _percent(row.exact_match for row in rows),
        "accepted": _percent(row.accepted for row in rows),
        "api_right": _percent(row.api_right for row in rows),
        "done_right": _percent(row.done_right for row in rows),
        "hallucination": _percent(row.hallucinated for row in rows),
        "ungrounded": _percent(row.ungrounded for row in rows),
    }
    closed_rows = [row.exact_match for row in rows if row.closed]
    if closed_rows:
        figures["exact_match_closed"] = _percent(closed_rows)
    texts = [row.text_right for row in rows if row.text_right is not None]
    if texts:
        figures["text_right"] = _percent(texts)
    return figures


def coverage(
    confidence: Sequence[float], right: Sequence[bool], shares: Sequence[float]
) -> dict[str, float]:
    """How many of the surest plans are right, for shares of all plans.

    Args:
        confidence: Of each plan.
        right: Whether each plan is right.
        shares: Shares of the plans, 0 to 1, surest first.

    Returns:
        Share in percent → percentage that is right; equally sure plans count in their order.
    """
    order = sorted(range(len(right)), key=lambda at: -confidence[at])
    found = {}
    for share in shares:
        kept = order[: max(1, round(share * len(order)))]
        found[f"{100 * share:.0f}"] = round(_percent(right[at] for at in kept), 2)
    return found


def after_question(
    confidence: Sequence[float],
    right: Sequence[bool],
    offered: Sequence[bool],
    shares: Sequence[float],
) -> dict[str, dict[str, float]]:
    """How many plans are right when the least sure ones are asked about, once each.

    Args:
        confidence: Of each plan.
        right: Whether each plan is right.
        offered: Whether it or another plan that the question offers is right.
        shares: Shares of the plans that are asked about, 0 to 1, least sure first.

    Returns:
        Share in percent → `right`, the percentage that is right then, and `threshold`, the
        confidence below which is asked.
    """
    order = sorted(range(len(right)), key=lambda at: confidence[at])
    found = {}
    for share in shares:
        count = round(share * len(order))
        verdicts = [offered[at] for at in order[:count]] + [right[at] for at in order[count:]]
        threshold = confidence[order[count]] if count < len(order) else 1.0
        found[f"{100 * share:.0f}"] = {
            "right": round(_percent(verdicts), 2),
            "threshold": round(threshold, 3),
        }
    return found


_LEAST_WRITTEN, _LEAST_SAID = 0.8, 0.6
_SUBJECT = ("send_mail", "subject")


def _written(plan: Plan, toolbox: Toolbox) -> list[str]:
    return [name for name in _text_arguments(plan, toolbox) if (plan.api, name) != _SUBJECT]


def _says(written: Value, wanted: Value) -> bool:
    ours, theirs = _tokens(written), _tokens(wanted)
    if not ours or not theirs:
        return ours == theirs
    kept = (ours & theirs).total()
    return kept >= _LEAST_WRITTEN * ours.total() and kept >= _LEAST_SAID * theirs.total()


def _percent(verdicts: Iterable[bool]) -> float:
    return 100 * fmean(verdicts)


def _equal(
    predicted: Plan | None, gold: Plan | None, toolbox: Toolbox, *, text_counts: bool
) -> bool:
    gold = gold or NONE
    if predicted is None or predicted.api != gold.api:
        return False
    if predicted.arguments.keys() != gold.arguments.keys():
        return False
    tool = toolbox.get(gold.api)
    known = tool.arguments_by_name if tool else {}
    for name, value in gold.arguments.items():
        argument = known.get(name)
        if argument and argument.match == "text" and not text_counts:
            continue
        type_ = argument.type if argument else "string"
        if normalise(predicted.arguments[name], type_) != normalise(value, type_):
            return False
    return True


def _text_arguments(plan: Plan, toolbox: Toolbox) -> list[str]:
    tool = toolbox.get(plan.api)
    known = tool.arguments_by_name if tool else {}
    return [name for name in plan.arguments if name in known and known[name].match == "text"]


def _normalise_text(text: str) -> str:
    """Casefold, compose and trim; do it until quotes around the whole are gone."""
    text = unicodedata.normalize("NFC", text.casefold()).translate(_QUOTES)
    text = " ".join(text.split())
    while len(text) > 1 and text[0] == text[-1] == "'":
        text = text[1:-1].strip()
    return text


def _normalise_time(text: str) -> str:
    """Spell a normalised date or time in ISO 8601, seconds only if not 0; else leave it."""
    iso = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d(?::\d\d)?))?", text, re.ASCII)
    if iso:
        day, clock = iso[1], iso[2]
    else:
        split = re.fullmatch(r"(.*?)(?:,? at |,? |t)(\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?)", text)
        day, clock = (split[1], split[2]) if split else (text, None)
    date = _read(day.replace(",", ""), _DATE_FORMATS)
    if date is None:
        return text
    if clock is None:
        return date.date().isoformat()
    time = _read(clock, _TIME_FORMATS)
    if time is None:
        return text
    moment = datetime.combine(date.date(), time.time())
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")


def _read(text: str, formats: Iterable[str]) -> datetime | None:
    for format_ in formats:
        try:
            return datetime.strptime(text, format_)
        except ValueError:
            continue
    return None


def _tokens(value: Value) -> Counter[str]:
    text = " ".join(value) if isinstance(value, list) else str(value)
    letters = "".join(
        character for character in text.lower() if unicodedata.category(character)[0] != "P"
    )
    return Counter(_ARTICLES.sub(" ", letters).split())


def _overlap(predicted: Counter[str], gold: Counter[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = (predicted & gold).total()
    return 2 * common / (predicted.total() + gold.total())
