"""Number words, and the patterns that words for time share: numbers, hours, weekdays, months.

The patterns go into larger ones; none has a group with a name.
"""

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_VALUES = {word: value for value, word in enumerate(_SMALL)}
_VALUES |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_VALUES |= {"a": 1, "an": 1, "couple": 2, "few": 3, "oh": 0}

DIGIT_WORD = "one|two|three|four|five|six|seven|eight|nine"
TEENS = "thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
TENS = "twenty|thirty|forty|fifty"
NUMBER = (
    rf"(?:\d{{1,3}}|(?:{TENS})(?:[ -](?:{DIGIT_WORD}))?|{TEENS}|ten|eleven|twelve|"
    rf"{DIGIT_WORD}|sixty|ninety)"
)
HOUR_WORD = rf"(?:{TEENS}|twenty[ -](?:one|two|three)|ten|eleven|twelve|{DIGIT_WORD}|twenty)"
HOUR = rf"(?:[01]?\d|2[0-4]|{HOUR_WORD})"
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
_UNIT = r"(?:minute|min|hour|hr|day|night|week|fortnight|month|year)s?\b"
# What follows a number that counts things instead of naming an hour.
COUNTED = (
    rf"(?!\s*-?\s*(?:more\s+)?{_UNIT})(?!\s*(?:st|nd|rd|th|k|km|kg|g|ml|h|m)\b)(?![.,:/]?\d)"
    rf"(?!\s*[%€$£])(?!\s+(?:of|more|other|others|people|persons|kids|times?|percent|euros?|"
    rf"dollars?|pounds?|degrees|and\s+a\s+half|{MONTH}))"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"


def number(words: str) -> int:
    """The value of digits or English number words up to 99, such as "7" or "twenty-five".

    Raises KeyError for other words; the patterns that read times only pass known ones.
    """
    if words.isdigit():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))
