"""What one call cannot do: requests that forbid, requests that repeat, and other days' things."""

import re
from collections.abc import Sequence
from datetime import datetime

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.plan import Plan
from ctrag.text.dates.day_words import find_days
from ctrag.text.dates.usual_times import as_usual
from ctrag.text.words import terms
from stores.people.items import Item

_LEAD = r"^\W*(?:(?:please|hey|oh|ok|okay|no|and|but|so|well|uh|um)\W+)*"
_ORDERS = (
    "add|answer|book|call|cancel|change|delete|e-?mail|invite|message|move|notify|phone|play|put"
    "|remind|remove|reply|ring|send|share|start|switch|tell|text|turn|write"
)
_FORBIDS = re.compile(
    rf"{_LEAD}(?:don'?t|do\s+not|never|(?:there(?:'?s|\s+is)\s+)?no\s+need\s+to"
    r"|let'?s\s+not|you\s+(?:needn'?t|mustn'?t|shouldn'?t|(?:don'?t|do\s+not)\s+(?:need|have)\s+to)"
    r"|i\s+(?:don'?t|do\s+not)\s+(?:want|need)\s+you\s+to|i(?:'d|\s+would)\s+rather\s+you\s+didn'?t"
    rf"|(?:i\s+(?:want|need)\s+you\s+(?:to\s+)?|(?:can|could)\s+you\s+)?not\s+(?:to\s+)?(?:{_ORDERS})"
    r"|i\s+(?:want|need)\s+you\s+to\s+(?:not|never))\b(?!\s+(?:let\s+me\s+)?forget\b)",
    re.IGNORECASE,
)
_DAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)"
)
_OFTEN = r"(?:daily|nightly|weekly|fortnightly|monthly|yearly|annually|hourly)"
_DAYS = (
    r"(?:on\s+(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends)|at\s+weekends"
    r"|every\s+fortnight)\b"
)
_REPEATS = re.compile(
    r"(?<!\bas\s)(?<!\blike\s)\b(?:every|each)\s+"
    r"(?:(?:other|second|single|few|two|three|four|six|\d\d?)\s+)?"
    r"(?:day|night|morning|afternoon|evening|week|weekend|weekday|month|year|(?:half\s+)?hour"
    rf"|{_DAY})s?\b"
    r"|\b(?:once|twice|(?:two|three|four|\d\d?)\s+times)\s+(?:a|an|every|each|per)\s+"
    r"(?:day|night|week|fortnight|month|year|hour)\b"
    rf"|\b(?:remind|wake|nag|ping|repeat)\b[^,.;:!?]{{0,60}}\b{_DAYS}"
    rf"|\b{_DAYS}[^,.;:!?]{{0,60}}\b(?:remind|wake|nag|ping)\s+me\b"
    rf"|{_LEAD}(?:call|ring|phone|play|book|schedule)\b[^,.;:!?]{{0,60}}\b{_DAYS}"
    rf"|(?<!\bthe\s)(?<!\bmy\s)(?<!\bour\s)(?<!\ba\s)\b{_OFTEN}"
    r"(?=\s*(?:[.,;!?]|$)|\s+(?:at|on|in|from|until|till|for|to|and|please|starting|reminders?)\b)"
    rf"|{_LEAD}(?:set|add|make|create|put|schedule|book|give|need|want)\s+"
    rf"(?:(?:me|up|in)\s+)?an?\s+{_OFTEN}\b",
    re.IGNORECASE,
)
"""Not "as every night", nor that "he comes on Mondays"."""
_ADDS = re.compile(rf"{_LEAD}(?:add|put|write|create|new|schedule|book)\b", re.IGNORECASE)
MOVED = re.compile(
    rf"{_LEAD}(?:push|move|shift|postpone|delay|reschedule|snooze|bump|shove)\s+(?:back\s+)?"
    r"(?P<what>[^,.;:!?]{2,60}?)\s+(?:back\s+)?(?:to|until|till?|by|for)\s",
    re.IGNORECASE,
)
"""What a request moves: "career day" of "move career day to ten"."""
_NO_NAMES = frozenset(
    terms(
        "thing one that it reminder event meeting appointment today tonight tomorrow morning "
        "afternoon evening night monday tuesday wednesday thursday friday saturday sunday week "
        "next last first other forward later earlier o clock"
    )
)
UNSURE = 0.3
"""Confidence at most in a call that changes something for such a request."""


def does_half(text: str) -> bool:
    """Whether a call that changes something would do other than, or only part of, what was said.

    "don't call Tom" forbids a call, "every Monday" asks for more than one; "don't forget to" and "I
    don't" inside a message do neither.
    """
    plain = text.replace("’", "'")
    return bool(_FORBIDS.search(plain) or _REPEATS.search(plain))


def takes_away_what_is_added(api: str, text: str) -> bool:
    """Whether a call ends or deletes what a request adds: "put magnesium on my list" ticks nothing
    off."""
    ends = api.startswith(("delete_", "cancel_", "complete_"))
    return ends and _ADDS.match(text) is not None


def reaches_unnamed(api: str, named: float, plain: float) -> bool:
    """Whether a plain request's message goes to everybody at an event that it does not name: "tell
    everyone at home" is no meeting. Arguments as for `removes_unnamed`."""
    return api == "notify_attendees" and named < 1 and plain > 0.5


def removes_unnamed(api: str, named: float, plain: float) -> bool:
    """Whether a call takes something away that a plain request does not name: "take the eggs off my
    shopping note" of somebody who has no such note.

    Args:
        api: What is called.
        named: Share of the things of the person's in the call of which the request has a word.
        plain: Probability that the request says its own values.
    """
    return api.startswith(("delete_", "cancel_", "block_")) and named < 1 and plain > 0.5


def of_another_day(plan: Plan, text: str, at: datetime, owned: Sequence[Item]) -> bool:
    """Whether a call takes away what is on no day that the request names: "cancel all my meetings
    next week" is not today's.

    Args:
        plan: The call.
        text: What was said.
        at: When.
        owned: Everything that the person has.
    """
    app = {"cancel_event": "calendar", "delete_reminder": "reminders"}.get(plan.api)
    if app is None:
        return False
    spans = [one.spans for one in find_days(as_usual(text, at), at.date(), (), False)]
    when = [
        moment.date()
        for one in owned
        if one.app == app
        and item_text.title(one) == plan.arguments.get("title")
        and (moment := item_text.time_of(one)) is not None
    ]
    named = [span for one in spans for span in one]
    if not named or not when:
        return False
    return not any(first <= day < last for day in when for first, last in named)


def moves_unnamed(plan: Plan, text: str, owned: Sequence[Item]) -> bool:
    """Whether a call moves what shares no word with what the request moves: "move tomorrow's career
    day to ten" of somebody who has no such event. Arguments as for `of_another_day`."""
    app = {"reschedule_event": "calendar", "snooze_reminder": "reminders"}.get(plan.api)
    found = MOVED.match(text)
    if app is None or found is None:
        return False
    named = set(terms(found["what"])) - _NO_NAMES
    meant = [
        one
        for one in owned
        if one.app == app and item_text.title(one) == plan.arguments.get("title")
    ]
    there = {word for one in meant for word in terms(item_text.searched_text(one))}
    return bool(named and meant) and not named & there
