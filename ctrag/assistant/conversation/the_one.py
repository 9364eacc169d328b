"""One of several things that were listed: "the second one", "the one about soup"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.phrases import best_named, ordinal
from ctrag.text.words import telling_words
from stores.people.items import Item

_ONE = re.compile(
    r"\b(?:the|that|my)\s+(?!other\b)(?P<before>(?:(?!ones?\b)[\w'’-]+\s+){0,3}?)(?:ones?"
    r"|things?)\b"
    r"(?P<after>\s+(?:about|with|w|from|for|of|on|by|at|where|what|that|in|called)\s+[^,.;!?]+?)?"
    r"(?=\W*$|\s*[,.;!?]|\s+(?:to|at|till|until|on to|over|instead|off|out|as|again|too|also|please"
    r"|for|make)\b)",
    re.I,
)
_OTHER = re.compile(
    r"\b(?:the|that) other(?:\s+(?:one|mail|note|reminder|event))?"
    r"(?=\W*$|\s*[,.;!?]|\s+(?:to|at|back|on|off|out|too|over)\b)",
    re.I,
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HOURS = {"morning": (0, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (17, 24)}
_KINDS = {"mail", "email", "note", "reminder", "event", "song"}


@dataclass(frozen=True, slots=True)
class Listed:
    """What "the one" may be, likeliest group first."""

    shown: Sequence[Item | None]
    """What was listed last, in its order; None for what is gone since."""
    since: Sequence[str]
    """Ids of what later turns were about."""
    own: Sequence[Item]
    """The person's items of the application."""


def the_one(text: str, listed: Listed) -> tuple[Item, re.Match[str]] | None:
    """Which thing a text names as one of several, and where it says so."""
    placed = ordinal(text, len(listed.shown))
    if placed is not None:
        item = listed.shown[placed[0]]
        return None if item is None else (item, placed[1])
    shown = [one for one in listed.shown if one is not None]
    if other := _OTHER.search(text):
        left = [one for one in shown if one.id not in listed.since]
        return (left[0], other) if len(left) == 1 and len(shown) > 1 else None
    found = _ONE.search(text)
    if found is None or len(listed.shown) < 2:
        return None
    wanted = [
        word
        for word in telling_words(f"{found['before']} {found['after'] or ''}")
        if word not in _KINDS
    ]
    if not wanted:
        return None
    if wanted in (["later"], ["latter"], ["earlier"], ["former"]):
        ends = sorted(shown, key=lambda one: item_text.time_of(one) or datetime.min)
        return ends[-1 if wanted[0].startswith("lat") else 0], found
    timed = [one for one in shown if all(_at(one, word) for word in wanted)]
    if len(timed) == 1:
        return timed[0], found
    item = best_named(wanted, shown, 0.4) or best_named(wanted, listed.own, 0.6)
    return None if item is None else (item, found)


def _at(item: Item, word: str) -> bool:
    """Whether a word names the day or the part of the day of an item."""
    moment = item_text.time_of(item)
    if moment is None:
        return False
    first, last = _HOURS.get(word, (24, 24))
    return first <= moment.hour < last or (
        len(word) > 2 and _DAYS[moment.weekday()].startswith(word)
    )
