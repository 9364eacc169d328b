"""Words for days as they are typed in haste: "tomorow", "saterday", "2moro"."""

import re
from difflib import SequenceMatcher
from functools import lru_cache

_DAYS = (
    "tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday "
    "afternoon january february september october november december"
).split()
_SHORT = {
    "2moro": "tomorrow", "2morrow": "tomorrow", "tmoro": "tomorrow", "tomoro": "tomorrow",
    "tomoz": "tomorrow", "tmr": "tomorrow", "tmw": "tomorrow", "tmrow": "tomorrow",
    "tmrw": "tomorrow", "tmrrw": "tomorrow", "tomo": "tomorrow", "morn": "morning",
    "2nite": "tonight", "2night": "tonight", "tonite": "tonight", "2day": "today",
}  # fmt: skip
_WEEKDAYS = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "weds": "wednesday",
    "thu": "thursday", "thur": "thursday", "thurs": "thursday", "fri": "friday", "sat": "saturday",
    "sun": "sunday",
}  # fmt: skip
_SHORT_DAY = re.compile(
    r"\b(?P<always>tues?|weds|thu(?:rs?)?|fri)\b\.?"
    r"|(?:(?<=\bto )|(?<=\bon )|(?<=\bfor )|(?<=\bby )|(?<=\bnext )|(?<=\btill )|(?<=\bfrom ))"
    r"(?P<led>mon|wed|sat|sun)\b"
    r"|\b(?P<timed>mon|wed|sat|sun)(?=\s+(?:at\s+)?(?:\d|half\b|quarter\b|noon\b|morning\b|afternoon\b|"
    r"evening\b|night\b))"
    r"|(?<=\d )(?P<after>mon|wed|sat|sun)(?=\s*(?:$|[,.;!?])|\s+(?:instead|please|not)\b)"
    r"|(?<!\bwe )(?<!\bi )(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\bwho )(?<!\bit )(?<!\bthe )"
    r"(?<=\w )(?P<last>sat|wed)(?=\s*(?:[?!.]\s*)?$)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_ALIKE = 0.85
"""Similarity from which a word is one of a day's, misspelled; "saterday" has 0.88."""
_SHORTEST = 6


def respelled(text: str) -> str:
    """The text with the words for days and months spelled as they are read."""
    text = _SHORT_DAY.sub(lambda one: _WEEKDAYS[one[0].lower().rstrip(".")], text)
    return _WORD.sub(lambda word: _meant(word[0].lower()) or word[0], text)


@lru_cache(maxsize=10_000)
def _meant(word: str) -> str | None:
    """The day's word that a word is, spelled otherwise; None where it is none or spelled right."""
    if word in _SHORT:
        return _SHORT[word]
    if len(word) < _SHORTEST:
        return None
    for day in _DAYS:
        if word.startswith(day):  # "mondays"
            return None
        near = abs(len(word) - len(day)) <= 2 and word[0] == day[0]
        if near and SequenceMatcher(None, word, day).ratio() >= _ALIKE:
            return day
    return None
