"""Durations and their relation to a point in time: "ten days", "an hour ago"."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ctrag.text.dates.number_words import COUNTED, NUMBER, TENS, number

Relation = Literal["from_now", "ago", "later", "earlier", "past", "open"]
Unit = Literal["minute", "hour", "day", "week", "month", "year"]

_UNITS: dict[str, Unit] = {
    "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "h": "hour", "day": "day",
    "night": "day", "week": "week", "fortnight": "week", "month": "month", "year": "year",
}  # fmt: skip
# Behind the minutes of "in twenty to check the pasta" and "in an hour and ten"; not "in ten to
# twenty days".
_NO_HOUR = (
    rf"(?=\s*(?:$|[,.;!?](?!\d))|\s+(?:to\s+(?!(?:{NUMBER}|half|quarter)\b)[a-z]{{2,}}|from\s+now"
    r"|please|later|so|and\s+(?:then|not))\b)"
)
_DURATION = re.compile(
    rf"""\b(?P<just>just\s+now|a\s+(?:moment|while)\s+ago|(?:last|past)\s+hour(?!\s+of\b))\b
    |\b(?:(?P<three_q>three\s+quarters\s+of\s+an\s+)|(?P<half>half\s+(?:an?\s+|-)?)
    |(?P<quarter>quarter\s+(?:of\s+)?(?:an\s+)?)
    |(?P<count>{NUMBER}|\d\.\d|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|an?)
      (?P<and_half>\s+and\s+a\s+half)?\s*-?\s*(?:more\s+|full\s+|whole\s+)?)
    (?:(?P<hour>hour|hr|h)|(?P<unit>minute|min|day|night|week|fortnight|month|year))s?\b
    (?P<late_half>\s+and\s+a\s+half)?(?P<late_quarter>\s+and\s+a\s+quarter)?
    (?(hour)(?:(?:\s+and)?\s+(?P<late_minutes>{NUMBER})\s*min(?:ute)?s?\b
      |(?:\s+and)?\s+(?P<late_bare>[1-5]\d|5|five|ten|fifteen|(?:{TENS})(?:[ -]five)?){_NO_HOUR})?)
    |\bin\s+(?:about\s+|around\s+)?(?P<soon>[1-5][05]|5|five|ten|fifteen|(?:{TENS})(?:[ -]five)?)
      {_NO_HOUR}
    |\b(?:back|give\s+(?:me|us|it|her|him|them)|another|by)\s+
      (?P<bare>[1-5]?[05]|five|ten|fifteen|(?:{TENS})(?:[ -]five)?)
      (?!\s*(?:o'|[ap]\.?m\b|:|\.\d|%|\d|\w*th\b)){COUNTED}(?=\s*(?:$|[,.;!?]|more\b|then\b|or\b))""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_BEFORE_DURATION = re.compile(
    r"\b(in|within|last|past|previous|forward)\s+(?:the\s+|about\s+|by\s+)?$", re.I
)
_AFTER_DURATION = re.compile(
    r"\s*(?:(ago)|(from\s+now)|(later|after|back)|(before|earlier|sooner|forward|early))\b", re.I
)


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration in a request; `begin` and `end` are offsets into the text."""

    begin: int
    end: int
    amount: float
    unit: Unit
    relation: Relation
    """Its relation to a point: "ago", "from_now", "later" or "earlier" than some item, "past" for
    the span that ends now ("the last two hours"), "open" when it is not stated."""


def find_durations(text: str, limit: int = 6) -> list[Duration]:
    """Durations in the order of the text, at most `limit`.

    A bare number after "back", "another", "give me" or "in" counts minutes ("push it back fifteen",
    "in ten to turn the oven off").
    """
    return [_duration(match, text) for match in islice(_DURATION.finditer(text), limit)]


def _duration(match: re.Match[str], text: str) -> Duration:
    group = match.groupdict()
    begin, end = match.span()
    if group["just"]:
        return Duration(begin, end, 1, "hour", "past")
    if group["bare"]:
        return Duration(match.start("bare"), end, number(group["bare"]), "minute", "open")
    if group["soon"]:
        return Duration(match.start("soon"), end, number(group["soon"]), "minute", "from_now")
    if group["three_q"]:
        amount = 0.75
    elif group["half"] or group["quarter"]:
        amount = 0.5 if group["half"] else 0.25
    else:
        words = re.sub(r"^a\s+(?=couple|few)|\s+of$", "", group["count"].lower())
        amount = float(words) if "." in words else float(number(words))
    amount += 0.5 if group["and_half"] or group["late_half"] else 0
    name = (group["hour"] or group["unit"]).lower()
    amount += 0.25 if group["late_quarter"] else 0
    if minutes := group["late_minutes"] or group["late_bare"]:
        amount += number(minutes) / 60
    amount *= 2 if name == "fortnight" else 1
    return Duration(begin, end, amount, _UNITS[name], _relation(text, begin, end))


def _relation(text: str, begin: int, end: int) -> Relation:
    after = _AFTER_DURATION.match(text, end)
    if after:
        relations: tuple[Relation, ...] = ("ago", "from_now", "later", "earlier")
        return relations[(after.lastindex or 1) - 1]
    before = _BEFORE_DURATION.search(text[max(0, begin - 24) : begin])
    if before:
        word = before[1].lower()
        if word in ("in", "within"):
            return "from_now"
        return "earlier" if word == "forward" else "past"
    return "open"
