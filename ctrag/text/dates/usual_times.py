"""Rarer ways to say an hour, in the usual one: "0730", "21h", "optician 4 fri"."""

import re
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped,unused-ignore]

from ctrag.text.dates.number_words import HOUR, MONTH, ORDINAL_WORD, WEEKDAY
from ctrag.text.dates.spelling import respelled
from ctrag.text.dates.written_times import as_said

MOVES = re.compile(
    r"\b(?:push|shift|mov|slid|bump|shov|bring|brought|reschedul|swap|chang)", re.IGNORECASE
)
# "A reminder for five to find the gloves", "at 0630", "half 9": as they are said otherwise.
_FOR_HOUR = re.compile(
    rf"\b(?P<lead>(?:reminder|alarm|timer|call|(?:put|make|set|move|moved|schedule|leave)"
    rf"\s+(?:it|that|this|me)(?:\s+(?:in|down))?)\s+)for\s+(?P<hour>{HOUR})"
    rf"(?=\s*(?:$|[,.;!?])|\s+(?:to\s+(?!{HOUR}\b)[a-z]{{2,}}|tomorrow|tonight|today|on|please"
    r"|in\s+the|and|so|then|instead)\b)",
    re.IGNORECASE,
)
_MILITARY = re.compile(
    rf"\b(?P<lead>(?:at|make\s+(?:it|that)|{WEEKDAY},?|tomorrow,?|tonight)\s+)?"
    r"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)"
    rf"(?P<tail>\s?h(?:ou)?rs?\b|(?=\s+(?:tomorrow|tonight|today|{WEEKDAY})\b)|(?<=[05])(?=\s+instead\b))?(?![\d-])"
    r"(?!\s*(?:people|kr|euros?|dollars?|words|steps|met(?:er|re)s|calories|copies))",
    re.IGNORECASE,
)
# "Tonight 22h": of the afternoon, since "in 2h" and "6h" are durations.
_HOUR_H = re.compile(
    r"(?<!\bin )(?<!\bfor )(?<!\bafter )(?<![\d.,:])\b(?P<hour>1[3-9]|2[0-3])h(?!\w)", re.IGNORECASE
)
# "Optician 4 tuesday", "swim 8 not 715": the hour of a note in haste, not a number of things.
_HOUR_OF_DAY = re.compile(
    rf"(?<=\w )(?P<hour>1[0-2]|[1-9])"
    rf"(?=\s+(?:on\s+)?(?:{WEEKDAY}|tomorrow)\b(?!['’]|\s(?!thanks)\w+s\b)"
    r"|,?\s+not\s+at\s+\d)",
    re.IGNORECASE,
)
_NOT_DIGITS = re.compile(
    r"(?<=\d)(?P<not>,?\s+not\s+)(?:at\s+)?(?P<hour>1\d|2[0-3]|0?[1-9])(?P<minute>[0-5]\d)(?=\s*(?:$|[,.;!?]))",
    re.IGNORECASE,
)
_NO_HOUR = re.compile(
    r"\b(?:at|by|to|till?|until|past|half|quarter|from|between|and|or|of|for|about|around|before"
    r"|after|since|the|chapter|lesson|page|room|number|block|part|season|episode|track|gate|platform"
    r"|bus|line|flight|terminal|unit|level|size|version|step|table|week|day|no\.?|grade|volume|not"
    r"|route|a|an|number|pay|add|buy|lend|owe)\s$",
    re.IGNORECASE,
)
# "Move it to 745", "bake it at 315": three digits, not a room or a price.
_TERSE_HOUR = re.compile(
    r"\b(?P<lead>(?:at|to|till?|until|by)\s+)(?P<hour>[1-9])(?P<minute>[0-5][05])"
    r"(?=\s*(?:$|[,.;!?](?!\d))|\s+(?:tomorrow|tmrw|tonight|today|instead|then|please|on"
    r"|in\s+the|and\s+[a-z]|so|sharp|this|next|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)",
    re.IGNORECASE,
)
# "Run 845 fri": the same beside a day.
_TERSE_DAY = re.compile(
    rf"(?<=\w )(?P<hour>[1-9])(?P<minute>[0-5][05])(?=\s+(?:{WEEKDAY}|tomorrow)\b)", re.IGNORECASE
)
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+{MONTH}|{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?"
    rf"|the\s+(?:\d{{1,2}}(?:st|nd|rd|th)|{ORDINAL_WORD}))"
)
# "On 12 May, a Sunday": the day of the week only says it again.
_SAID_AGAIN = re.compile(
    rf"\b(?P<date>{_DATE})(?:,\s|\s)(?:(?:that\sis|that's|which\sis|it\sis|it's)\s)?an?\s{WEEKDAY}\b",
    re.IGNORECASE,
)
# "3 Oct 0800" and "16 Oct, 11.15": neither a year nor a number.
_AFTER_DATE = re.compile(
    rf"\b(?P<date>{_DATE},?\s|(?:{WEEKDAY}|tomorrow|today|tonight),?\s)"
    r"(?:(?P<early>0\d)(?P<minutes>[0-5]\d)|(?P<hour>1?\d|2[0-3])\.(?P<minute>[0-5]\d))"
    r"(?![\d.,%€$£]|\s?(?:km|kg|k|m|euros?|dollars?|pounds?)\b)",
    re.IGNORECASE,
)
_THIS_TIME = re.compile(
    rf"\b(?:(?:at\s)?this\stime|same\stime\sas\snow)(?=\s(?:tomorrow|on\s{WEEKDAY}|next\s{WEEKDAY}|{WEEKDAY})\b)",
    re.IGNORECASE,
)
_THIS_DAY_NEXT = re.compile(
    r"\b(?:(?:at\s)?this\stime|same\stime\sas\snow|(?P<day>this\sday))\s(?P<next>next\sweek|in\sa\sweek"
    r"|next\smonth|a\sweek\stoday)\b",
    re.IGNORECASE,
)
_OF_THE = re.compile(
    rf"\b(?P<hour>{HOUR}(?:[:.][0-5]\d)?)(?P<half>\sand\sa\shalf)?\s(?:of|in)\sthe"
    r"\s(?P<part>morning|afternoon|evening)\b",
    re.IGNORECASE,
)
_HALF_DIGIT = re.compile(
    r"\bhalf\s+(?P<hour>1[0-2]|[1-9])(?![\d:./%-]|\s*(?:of|price|pound|kilo)\b)", re.IGNORECASE
)
# "Sports day 11 not 10" moves the hour: elsewhere a number behind "day" counts days.
_NOT_THE_HOUR = re.compile(
    rf"\b(?P<day>day)\s+(?P<new>{HOUR}),?\s+not\s+(?P<old>{HOUR})(?=\s*(?:$|[,.;!?]))",
    re.IGNORECASE,
)
_DIGITS = "one two three four five six seven eight nine ten eleven twelve".split()


def as_usual(text: str, now: datetime) -> str:
    """The text with rarer ways to say an hour in the usual one.

    Args:
        text: A request.
        now: When it was said, for "this time tomorrow".
    """

    def clock(found: re.Match[str]) -> str:
        if found["lead"] is None and found["tail"] is None:
            return found[0]
        return f"{found['lead'] or ''}{found['hour']}:{found['minute']}"

    moves = MOVES.search(text) is not None or "snooze" in text.casefold()

    def terse(found: re.Match[str]) -> str:
        amount = found["lead"].strip().casefold() == "to" and not moves  # "the rent to 950"
        return found[0] if amount else f"{found['lead']}{found['hour']}:{found['minute']}"

    def in_haste(found: re.Match[str]) -> str:
        other = _NO_HOUR.search(found.string[: found.start()][-16:])
        return found[0] if other else f"at {':'.join(found.groups())}"

    def dated(found: re.Match[str]) -> str:
        hour, minute = found["early"] or found["hour"], found["minutes"] or found["minute"]
        return f"{found['date']}at {hour}:{minute}"

    def of_day(found: re.Match[str]) -> str:
        hour = f"half past {found['hour']}" if found["half"] else found["hour"]
        return f"{hour} in the {found['part']}"

    def again(found: re.Match[str]) -> str:
        month = "month" in found["next"].casefold()
        day = now + (relativedelta(months=1) if month else timedelta(weeks=1))
        return f"on {day:%d %B %Y}" + ("" if found["day"] else f" at {now:%H:%M}")

    text = _NOT_THE_HOUR.sub(r"\g<day> at \g<new>, not at \g<old>", as_said(respelled(text), now))
    text = _SAID_AGAIN.sub(r"\g<date>", _THIS_DAY_NEXT.sub(again, text))
    text = _THIS_TIME.sub(f"at {now:%H:%M}", _OF_THE.sub(of_day, _AFTER_DATE.sub(dated, text)))
    text = _FOR_HOUR.sub(r"\g<lead>at \g<hour>", text)
    text = _NOT_DIGITS.sub(r"\g<not>at \g<hour>:\g<minute>", text)
    text = _HOUR_OF_DAY.sub(in_haste, _HOUR_H.sub(r"\g<hour>:00", text))
    text = _TERSE_DAY.sub(in_haste, text)
    text = _TERSE_HOUR.sub(terse, _MILITARY.sub(clock, text))
    return _HALF_DIGIT.sub(lambda found: f"half {_DIGITS[int(found['hour']) - 1]}", text)
