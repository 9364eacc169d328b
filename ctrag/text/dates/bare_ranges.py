"""Ranges of times that go without "from": "Tuesday 7.30 to 9 pm", "nine to half ten on Friday"."""

import re

from ctrag.text.dates.number_words import HOUR, MONTH, WEEKDAY

# "11 to 11:45", "Tuesday 7.30 to 9 pm": a range though no "from" stands before it.
_TIME = (
    r"(?:[01]?\d|2[0-4])(?:[:.h][0-5]\d)?(?!\w)(?:\s*[ap]\.?m\b\.?)?"
    r"|(?:[01]?\d|2[0-4])\s?(?:[ap]m|h)\b"
)
_BARE_RANGE = re.compile(
    rf"(?P<lead>\b(?:\w+day|tomorrow|today|tonight|at)?,?\s+)(?P<left>{_TIME})"
    rf"(?P<joint>\s*[-–]\s*|\s+(?:to|till?|until)\s+)(?P<right>{_TIME})(?![\d:.]*\d)",
    re.IGNORECASE,
)
_MINUTES_TO = ("5", "10", "20", "25")
_HOURS = (
    rf"(?:half\s+(?:past\s+)?{HOUR}|noon|midday|midnight"
    rf"|(?:quarter|five|ten|twenty(?:[ -]five)?)\s+(?:past|to)\s+{HOUR}"
    rf"|{HOUR}(?:[:.][0-5]\d|\s(?:fifteen|thirty|forty[ -]five))?)(?!\w)"
)
_DAY_BEHIND = (
    rf",?\s+(?:on\s+|for\s+)?(?:(?:this|next|the)\s+)?(?:{WEEKDAY}|tomorrow|today|tonight|weekend"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{MONTH}|\d{{1,2}}(?:st|nd|rd|th)|morning|afternoon"
    r"|evening)\b"
)
# "Two to four on Thursday", "ten till six on Saturday", "nine to half ten".
_SAID_RANGE = re.compile(
    rf"\b(?P<left>{_HOURS})(?P<joint>\s+(?:to|till?|until)\s+|\s?[-–]\s?)(?P<right>{_HOURS})"
    rf"(?P<day>(?={_DAY_BEHIND}))?",
    re.IGNORECASE,
)
_DAY_BEFORE = re.compile(rf"\b(?:{WEEKDAY}|tomorrow|today|tonight),?\s+$", re.IGNORECASE)
_MINUTES = ("five", "ten", "twenty", *_MINUTES_TO)
# Before two numbers that are no hours: "pages two to four", "a table for two to four".
_NO_HOURS = re.compile(
    r"\b(?:from|between|half|quarter|past|to|at|it's|is|(?:chapter|page|lesson|room|number|level|verse"
    r"|question|age|week|year|step|stage|unit|part|episode|track|grade|size|platform|row|seat)s?|aged"
    r"|buy|order|(?:table|party|room|dinner|lunch|supper|cook)\s+for)\s+$",
    re.IGNORECASE,
)
_SCORE = re.compile(r"\b(?:won|win|beat|lost|drew|scor\w+|odds|result)\b", re.IGNORECASE)


def with_ranges(text: str) -> str:
    """The text with "from" before ranges of times that go without.

    One of both has minutes or a half of the day, or a day stands before it: "pages 10 to 12"
    is no range of times, and "10 to 8" ten minutes.
    """

    def spelled(found: re.Match[str]) -> str:
        left, right, lead = found["left"], found["right"], found["lead"]
        before = text[: found.start() + len(lead)].rstrip()
        timed = not left.isdigit() or not right.isdigit() or bool(lead.strip(" ,"))
        bare = left.isdigit() and right.isdigit()
        minutes = bare and left in _MINUTES_TO and "o" in found["joint"]
        apart = bare and re.fullmatch(
            r"\s+[-–]\s*|\s*[-–]\s+", found["joint"]
        )  # "at 11 - 12 guests"
        if (
            not timed
            or minutes
            or apart
            or re.search(r"\b(?:from|between)$", before, re.IGNORECASE)
        ):
            return found[0]
        half = re.search(r"[ap]\.?m\.?$", right, re.IGNORECASE)
        clock = f"{left}:00" if left.isdigit() else re.sub(r"^(\d+)\.(\d\d)$", r"\1:\2", left)
        if half and re.fullmatch(r"[\d:]+", clock) and _earlier(clock, right):
            clock += f" {half[0]}"
        return f"{lead}from {clock} to {right}"

    return _with_said_ranges(_BARE_RANGE.sub(spelled, text))


def _earlier(left: str, right: str) -> bool:
    """Whether a time is before another on the dial."""
    hours = [int(re.match(r"\d+", one)[0]) % 12 for one in (left, right)]  # type: ignore[index]
    return hours[0] < hours[1]


def _with_said_ranges(text: str) -> str:
    """The text with "from" before ranges of hours that a day is beside; "ten to six" is none."""
    if _SCORE.search(text):
        return text

    def spelled(found: re.Match[str]) -> str:
        left, right, joint = (found[name].casefold() for name in ("left", "right", "joint"))
        before = text[: found.start()][-24:]
        plain = re.fullmatch(rf"{HOUR}|noon|midday|midnight", right) is not None
        dayed = found["day"] is not None or _DAY_BEFORE.search(before) is not None
        spoken = joint.strip() not in ("-", "–")
        if _NO_HOURS.search(before) or not (dayed or (spoken and not plain)):
            return found[0]
        if left in _MINUTES and plain and (joint.strip() == "to" or not dayed):
            return found[0]
        clock = f"{left}:00" if left.isdigit() else re.sub(r"^(\d+)\.(\d\d)$", r"\1:\2", left)
        return f"from {clock} to {right}"

    return _SAID_RANGE.sub(spelled, text)
