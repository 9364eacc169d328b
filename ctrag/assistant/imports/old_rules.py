"""Recurrence rules of vCalendar 1.0, as older phones and Palm export them, in iCalendar's form."""

import re

_RULE = re.compile(r"(D|W|MP|MD|YM|YD)(\d{1,4})((?: .*)?)")
_FREQ = {
    "D": "DAILY",
    "W": "WEEKLY",
    "MP": "MONTHLY",
    "MD": "MONTHLY",
    "YM": "YEARLY",
    "YD": "YEARLY",
}
_LISTS = {"MD": "BYMONTHDAY", "YM": "BYMONTH", "YD": "BYYEARDAY"}
_DAY = re.compile(r"MO|TU|WE|TH|FR|SA|SU")
_PLACE = re.compile(r"(\d{1,2})([+-])")
_COUNT = 2
"""Occurrences of a rule that says neither how many nor until when."""


_SECONDS = {"SECONDLY": 1, "MINUTELY": 60, "HOURLY": 3600}


def daily(parts: dict[str, str], hour: int) -> dict[str, str]:
    """A rule of hours, minutes or seconds as one of days with their hours, where it is the same:
    every 24 hours, or every eight from `hour`. Any other is returned as it is.

    Args:
        parts: The parts of the rule.
        hour: When the series begins.
    """
    step = _SECONDS.get(parts.get("FREQ", ""))
    interval = parts.get("INTERVAL", "1")
    if step is None or not re.fullmatch(r"\d{1,9}", interval) or int(interval) < 1:
        return parts
    hours, rest = divmod(int(interval) * step, 3600)
    days, odd = divmod(hours, 24)
    told = {name: value for name, value in parts.items() if name != "INTERVAL"} | {"FREQ": "DAILY"}
    if rest or not hours:
        return parts
    if not odd:
        return told | {"INTERVAL": str(days)}
    if 24 % hours or (hours > 1 and "BYHOUR" in parts):
        return parts
    every = sorted((hour + step) % 24 for step in range(0, 24, hours))
    return {"BYHOUR": ",".join(map(str, every))} | told


def modern(text: str) -> str:
    """The rule in iCalendar's form: `W1 TU #3` is `FREQ=WEEKLY;INTERVAL=1;BYDAY=TU;COUNT=3`.

    Any other text is returned as it is.
    """
    found = _RULE.fullmatch(" ".join(text.upper().split()))
    if found is None:
        return text
    kind, interval, rest = found.groups()
    parts = [f"FREQ={_FREQ[kind]}", f"INTERVAL={interval}"]
    days: list[str] = []
    numbers: list[str] = []
    places: list[str] = []
    end = f"COUNT={_COUNT}"
    for word in rest.split():
        if word.startswith("#"):
            end = "" if word == "#0" else f"COUNT={word[1:]}"
        elif re.match(r"\d{8}", word):
            end = f"UNTIL={word}"
        elif place := _PLACE.fullmatch(word):
            sign = "-" if place[2] == "-" else ""
            places = [*([] if days else places), sign + place[1]]
            numbers.append(sign + place[1])
        elif _DAY.fullmatch(word):
            days += [one + word for one in places] if kind == "MP" else [word]
        elif word == "LD":
            numbers.append("-1")
        elif word.isdigit() and len(word) < 4:
            numbers.append(word)
    if days:
        parts.append(f"BYDAY={','.join(days)}")
    if numbers and kind in _LISTS:
        parts.append(f"{_LISTS[kind]}={','.join(numbers)}")
    return ";".join(filter(None, (*parts, end)))
