"""Number words, and the patterns that words for time share: numbers, ordinals, hours, months.

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

_ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        start=1,
    )
}
_ORDINALS |= {"twentieth": 20, "thirtieth": 30}
_FIRST_TO_NINTH = "|".join(list(_ORDINALS)[:9])

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
ORDINAL_WORD = (
    rf"(?:twenty[ -](?:{_FIRST_TO_NINTH})|thirty[ -]first|"
    rf"{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
)
"""The day of a month in words."""
_UNIT = r"(?:minute|min|hour|hr|day|night|week|fortnight|month|year)s?\b"
# What follows a number that counts things instead of naming an hour.
COUNTED = (
    rf"(?![ -](?:{_FIRST_TO_NINTH})\b)"
    rf"(?!\s*-?\s*(?:more\s+)?{_UNIT})(?!\s*(?:st|nd|rd|th|k|km|kg|g|ml|h|m)\b)(?![.,:/]?\d)"
    rf"(?!\s*[%€$£])(?!\s+(?:of|more|other|others|people|persons|kids|times?|percent|euros?|"
    rf"dollars?|pounds?|degrees|and\s+a\s+half|{MONTH}))"
)
# A word in the plural after a number: "to three friends"; not of "to three this afternoon".
PLURAL = (
    r"(?!\s+(?!(?:is|was|as|us|this|yes|thanks|unless|perhaps|his|always|its|cos|minus|plus|"
    r"sundays|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays)\b)[a-z]{2,20}s\b)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"


def number(words: str) -> int:
    """The value of digits or English number words up to 99, such as "7" or "twenty-five".

    Raises KeyError for other words; the patterns that read times only pass known ones.
    """
    if words.isdigit():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))


def ordinal(words: str) -> int:
    """The value of an ordinal up to 39, such as "7th", "third" or "twenty-second".

    Raises KeyError for other words; the patterns that read dates only pass known ones.
    """
    if words[0].isdigit():
        return int(re.sub(r"\D", "", words))
    *tens, last = re.split(r"[\s-]+", words.lower())
    return sum(_VALUES[word] for word in tens) + _ORDINALS[last]
