"""A question for what is on a day, and nothing else: "whats on tmrw", "what do i have mon"."""

import re
from datetime import datetime

from ctrag.assistant.conversation.phrases import apart_from_time, names_clock
from ctrag.assistant.planning.plan import Plan
from ctrag.text.dates.temporal_expressions import offered_dates

_DAY = (
    r"(?:(?:this|next|coming|on|for)\s+)*(?:(?:today|tonight|tomorrow|tmrw|tmw|tomoz|tmr)"
    r"|(?:mon|tue|tues|wed|weds|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?)"
    r"(?:\s+(?:morning|afternoon|evening|night))?"
)
_ASKS = re.compile(
    rf"(?:(?:so|ok|okay|and|hey|right|please)[\s,]+)*(?:what(?:['’]?s| is| do i have"
    rf"| have i(?: got)?"
    rf"| i have| i got| am i doing| does)(?: (?:on|planned|up|happening|there|going on"
    rf"|in my (?:calendar|diary)))*"
    rf"\s+(?P<day>{_DAY})(?: look(?:ing)? like| like| in my (?:calendar|diary)"
    rf"| on my (?:calendar|diary))?"
    rf"|(?P<alone>{_DAY}))\s*[?.!]*",
    re.I,
)

_WHOLE = {
    "tmrw": "tomorrow", "tmw": "tomorrow", "tmr": "tomorrow", "tomoz": "tomorrow",
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday",
    "thu": "Thursday", "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday",
    "sun": "Sunday",
}  # fmt: skip
_SHORT = re.compile(rf"\b({'|'.join(_WHOLE)})\b", re.I)


def day_asked(text: str, at: datetime, first: bool = True) -> Plan | None:
    """The call that lists the day; None where something else is asked.

    Args:
        text: What was said.
        at: When.
        first: Whether nothing was said before that a mere "Friday?" may be about.
    """
    found = _ASKS.fullmatch(" ".join(text.split()))
    if found is None or (found["alone"] and not (first and text.rstrip().endswith("?"))):
        return None
    day = _SHORT.sub(lambda one: _WHOLE[one[1].casefold()], found["day"] or found["alone"])
    if names_clock(day) or apart_from_time(day):
        return None
    days = offered_dates(day, at)
    return Plan("list_events", {"date": days[0].isoformat()}) if days else None
