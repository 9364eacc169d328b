"""Words of follow-ups: what opens them, what points back, what names a time."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.remarks import order_of
from ctrag.text.dates.half_days import nearest_half
from ctrag.text.dates.temporal_expressions import offered_dates, offered_datetimes
from ctrag.text.false_starts import as_meant
from ctrag.text.words import STOPWORDS, fold, stems, words
from stores.people.items import Contact, Item

_OPENING = re.compile(
    r"^(?:(?:and|also|oh|ah|aah|eh|uh|um|ugh|hmm+|hm|er|well|ok|okay|alright|all right|right|good"
    r"|great|perfect|nice|cool|fine|lovely|super|grand|so|now|then|but|sorry|actually|please|hey"
    r"|yes|yeah|yep|thanks|thank you|och|ach|ha|haha|shoot(?! \S+ an?\b)|damn|oops|nope|nah|wait"
    r"|hang on|hold on"
    r"|n(?=\s)|k+(?=\s)|ugh+|lol|o+h+|a+h+|a+w+|ay+|h+m+|pls|plz|very (?:well|good)|that'?ll do"
    r"|(?:when|once|after) (?:that|this|it)(?:'?s| is) (?:done|over|sorted|finished)|perhaps|maybe"
    r"|kindly|be so (?:kind|good) (?:and|as to)|(?:would|could|can) you please|do(?= (?:let|tell))"
    r"|you (?:can|may)(?= \w+ (?:it|that|them|the)\b)|can we|could we|shall we"
    r"|no wait|no no|no(?=\s*[,.!;:-]|\s+(?:no|not|make|better|rather|at|the|it|i|that|leave"
    r"|cancel|play|just|half|quarter|move|use|try|to|sorry|wait|actually|for|noon|midday"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|today)\b(?!-)"
    r"|\s+\d|\s*$)"
    r"|can you|could you|would you|will you|i'?d like you to|now)\b[\s,.!;:…-]*)+",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\b(?:no|nope|nah|not|wait|actually|sorry|oops|rather|instead|better|hang on|i meant|i mean"
    r"|i said|wrong)\b",
    re.IGNORECASE,
)

_TIME = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty half quarter past to oclock "
    "clock "
    "am pm noon midday midnight morning afternoon evening night tonight today tomorrow "
    "tmrw yesterday day "
    "days week weeks weekend hour hours minute minutes min mins later earlier sooner after before "
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs "
    "fri sat "
    "sun january february march april may june july august september october november december "
    "first second third th st nd rd next this same time sharp an a the in at on by for till until "
    "from of around about another more less couple following hr hrs".split()
)
_NAMES_TIME = _TIME - frozenset(
    "to past an a the in at on by for till until from of around about another more less couple "
    "this "
    "same next one first second third may th st nd rd after before sun".split()
)
_DIGITS = re.compile(r"\d+(?:st|nd|rd|th|h|am|pm)?")
_EMPTY = (
    STOPWORDS
    | _TIME
    | frozenset(
        "please instead rather better no not yes make move shift push put change set bring "
        "reschedule "
        "postpone delay snooze have get back forward off then now wait meant mean said actually "
        "i it "
        "that this too also well really one ones just only still maybe let lets s start starting s "
        "want would like need needs be is was time fine thanks works work suits suit me us".split()
    )
)

POINTS = re.compile(
    r"\b(?:it|that|this|them|those|these|him|her|he|she|they|his|their|there|both|one|ones|same"
    r"|too|as well|again|instead|everyone|everybody)\b",
    re.IGNORECASE,
)
ORDINALS = {
    "first": 0,
    "1st": 0,
    "second": 1,
    "2nd": 1,
    "third": 2,
    "3rd": 2,
    "fourth": 3,
    "4th": 3,
}
_ORDINAL = re.compile(
    r"\b(?:the\s+)?(first|1st|second|2nd|third|3rd|fourth|4th|last)(?:\s+(?:one|thing|event|mail"
    r"|email|reminder|note|song|item|appointment|of them))?\b(?!\s+(?:week|month|year|day|time"
    r"|night"
    r"|call|of\s+\w))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said, without what opens and closes it."""

    text: str
    core: str
    no: bool
    """Whether it takes back what was said or done before."""


_EH = re.compile(r"(?<=,)\s*eh,", re.I)


def said(text: str, contacts: Sequence[Contact] = ()) -> Said:
    """A turn without its opening; the turn itself where nothing else is in it."""
    text = _EH.sub("", as_meant(" ".join(text.replace("’", "'").split())))
    opening = _OPENING.match(text)
    begin = opening.end() if opening else 0
    core = text[begin:].strip() or text
    no = bool(_NO.search(text[:begin])) or bool(
        re.match(r"(?:not|rather|better|i meant|i mean|i said|wrong)\b", core, re.I)
    )
    return Said(text, order_of(core, contacts), no)


def names_time(text: str) -> bool:
    """Whether a text has a word of a clock time, a day or a duration."""
    found = words(text)
    clock = re.search(
        r"\b(?:at|to|make (?:it|that)|till|until|by|for)\s+"
        r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\b",
        text,
        re.IGNORECASE,
    )
    return bool(clock) or any(word in _NAMES_TIME or _DIGITS.fullmatch(word) for word in found)


_CLOCK = re.compile(
    r"\b(?:\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm)|\d{1,2}:\d\d|noon|midday|midnight|o'?clock"
    r"|(?:half|quarter|ten|twenty|five)\s+(?:past|to)\s+\w+"
    r"|(?:at|for|by|till|until)\s+(?:about\s+|around\s+)?(?:half\s+)?(?:one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|\d{1,2}))\b",
    re.IGNORECASE,
)


def names_clock(text: str) -> bool:
    """Whether a text has a time of day by the clock."""
    return bool(_CLOCK.search(text))


def apart_from_time(text: str) -> list[str]:
    """The telling words of a text that belong to no time, in order."""
    found = [word for word in words(text) if not _DIGITS.fullmatch(word)]
    return [word for word in found if word not in _EMPTY and len(word) > 1]


def moment_for(text: str, at: datetime, item: Item | None) -> datetime | None:
    """The time to which an item is moved by what was said: on its own day, and in its own half of
    the day, unless the text says another one."""
    text = re.sub(r"\bhrs?\b", "hour", _BEFORE_TIME.sub("", text), flags=re.I)
    text = _FOUR_DIGITS.sub(r"\1:\2", text)
    own = None if item is None else item_text.time_of(item)
    anchors = [] if own is None else [own]
    if own is not None and (near := _near_hour(text, own)):
        return near
    if own is not None and (weekday := _FOLLOWING.search(text)):
        text = _FOLLOWING.sub(f"{_weekday_after(weekday[1], own):%d %B %Y}", text)
    if own is not None and _SAME_NEXT_WEEK.search(text):
        weeks = (at.date() - own.date()).days // 7 + 1
        return own + timedelta(weeks=max(weeks, 1))
    if own is not None and _SAME_TIME.search(text):
        days = offered_dates(_SAME_TIME.sub(" ", text), at, anchors)
        return datetime.combine(days[0], own.time()) if days else None
    found = offered_datetimes(f"move it to {text}", at, anchors)
    if not _says(text, own, at):
        found = [one for one in found if one != own]  # what is left where no time was understood
    ahead = [one for one in found if one >= at]
    first = next(iter(ahead or found), None)
    if first is None or own is None or _HALF_OF_DAY.search(text):
        return first
    same_day = [one for one in found if abs(one - first) == timedelta(hours=12)]
    same_day = [one for one in same_day if one.date() == first.date() and one >= at]
    return nearest_half([first, *same_day], own)[0]


def _says(text: str, own: datetime | None, at: datetime) -> bool:
    """Whether a text by itself names the hour that something has already."""
    clocks = (one.time() for one in offered_datetimes(f"move it to {text}", at, []))
    return own is not None and any(
        (one.hour % 12, one.minute) == (own.hour % 12, own.minute) for one in clocks
    )


_FOUR_DIGITS = re.compile(r"^\s*(?:at )?([01]?\d|2[0-3])([0-5]\d)(?=[\s.!?]*$)")
"""The time alone, as it is typed in haste: "2130"."""
_BEFORE_TIME = re.compile(r"^\W*(?:(?:it|that|this|back|up)[\s,]+)*(?:to\s+)?(?=\w)", re.IGNORECASE)
_HALF_OF_DAY = re.compile(
    r"\d\s*(?:am|pm)\b|\b(?:a\.?m|p\.?m|morning|afternoon|evening|night|tonight|noon)\b|\b(?:0|1[3-9]|2\d)"
    r"[:.h]?\d\d\b",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"\bthe following ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE
)


def _weekday_after(name: str, moment: datetime) -> datetime:
    """The first such weekday after a moment's day."""
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    away = (days.index(name.casefold()) - moment.weekday() - 1) % 7 + 1
    return moment + timedelta(days=away)


_SAME_TIME = re.compile(r"\b(?:(?:at|in)\s+)?(?:the\s+)?same\s+(?:time|hour)\b", re.IGNORECASE)
_SAME_NEXT_WEEK = re.compile(
    r"\b(?:the )?same\b(?: (?:day|time|day and time|time and day))?,? (?:for |but |again )?"
    r"next week\b",
    re.IGNORECASE,
)
_NEAR_HOUR = re.compile(
    r"\W*(?:(?:it|that|to|at|for|a|rather|better)\s+)*(?:(half|quarter|twenty|ten|five"
    r"|twenty[ -]five)"
    r"\s+(past|to)|half|quarter)\b(?!\s*(?:past|to|an?|\d|one\b|two|three|four|five|six|seven"
    r"|eight|nine"
    r"|ten|eleven|twelve|mid|noon))",
    re.IGNORECASE,
)
_MINUTES = {"half": 30, "quarter": 15, "twenty": 20, "ten": 10, "five": 5}


def _near_hour(text: str, own: datetime) -> datetime | None:
    """ "quarter past" without an hour: that of the item's own time."""
    found = _NEAR_HOUR.match(text)
    if found is None or found[2] is None:
        return None
    minutes = _MINUTES.get(found[1].casefold(), 25)
    if found[2].casefold() == "past":
        return own.replace(minute=minutes)
    hour = own.replace(minute=0)
    both = [hour + timedelta(minutes=60 - minutes), hour - timedelta(minutes=minutes)]
    return min((one for one in both if one != own), key=lambda one: abs(one - own))


def best_named(wanted: Iterable[str], items: Sequence[Item], least: float = 0.5) -> Item | None:
    """The item that has most of these words, its title counting more than its text; the first of
    several; None where it has less than that share of them."""
    looked_for = set(stems([fold(word) for word in wanted if fold(word) not in STOPWORDS]))
    if not looked_for:
        return None
    best, top = None, 0.0
    for item in items:
        title = set(stems(words(item_text.title(item))))
        rest = set(stems(words(item_text.searched_text(item))))
        alike = sum(_likeness(word, title) + 0.5 * _likeness(word, rest) for word in looked_for)
        if alike > top + 1e-9:
            best, top = item, alike
    return best if top >= least * len(looked_for) else None


def _likeness(word: str, others: Set[str]) -> float:
    if word in others:
        return 1.0
    close = any(
        len(word) > 3 and len(one) > 3 and (one.startswith(word) or word.startswith(one))
        for one in others
    )
    return 0.7 if close else 0.0


def ordinal(text: str, count: int) -> tuple[int, re.Match[str]] | None:
    """Which of `count` listed things a text names ("the second one"), and where."""
    for match in _ORDINAL.finditer(text):
        place = count - 1 if match[1].casefold() == "last" else ORDINALS[match[1].casefold()]
        spelled = match[0].casefold()
        if 0 <= place < count and (spelled.startswith("the ") or " " in spelled):
            return place, match
    return None
