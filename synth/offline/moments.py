"""Moments of a life: drawn from a specification, and written as people and machines write them."""

import random
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from stores.people.local_time import format_local_time

_AWAY = re.compile(r"([+-])(\d+)\.\.[+-]?(\d+)")
_FROM = re.compile(r"(\w+?)(?:([+-])(\d+)([dhm]))?")
_HOURS = re.compile(r"(\d+)-(\d+)")
_NUMBERS = (
    "twelve one two three four five six seven eight nine ten eleven twelve one two three four "
    "five six seven eight nine ten eleven".split()
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment, and how the country writes the time of day."""

    at: datetime
    clock: int
    month_first: bool = False

    def written(self, form: str, asked: datetime | None, draw: random.Random) -> str:
        """The moment in one of the forms that templates use.

        Args:
            form: `iso`, `isodate`, `wd`, `date`, `daydate`, `month`, `clock`, `said` (as one says
                the time), `rel` (the day, seen from `asked`) or `day` (the same without "on").
            asked: When it is said; needed for `rel` and `day`.
            draw: Chooses among spellings.

        Raises:
            ValueError: There is no such form.
        """
        at = self.at
        date = f"{at:%B} {at.day}" if self.month_first else f"{at.day} {at:%B}"
        match form:
            case "iso":
                return format_local_time(at)
            case "isodate":
                return f"{at:%Y-%m-%d}"
            case "wd":
                return f"{at:%A}"
            case "month":
                return f"{at:%B}"
            case "date":
                return date
            case "daydate":
                comma = "," if self.month_first else ""
                return f"{at:%A}{comma} {date}"
            case "clock":
                return self._clock()
            case "said":
                return _said(at, draw)
            case "day":
                return _rel(at, asked or at, draw).removeprefix("on ")
            case "rel":
                return _rel(at, asked or at, draw)
        raise ValueError(f"form: there is no form {form!r} of a moment")

    def _clock(self) -> str:
        at = self.at
        if self.clock == 24:
            return f"{at:%H:%M}"
        minutes = f":{at:%M}" if at.minute else ""
        return f"{at.hour % 12 or 12}{minutes} {'am' if at.hour < 12 else 'pm'}"


def _said(at: datetime, draw: random.Random) -> str:
    """A time of day as it is said: "half past two", "2:30", "quarter to six".

    A bare hour is an hour of the day: from seven to noon, and from one to six in the afternoon. Of
    another the half of the day is said.
    """
    spoken = at.hour + (at.minute == 45)
    if at.hour < 7 or spoken > 18:
        return _said_in_full(at, draw)
    hour, following = _NUMBERS[at.hour], _NUMBERS[(at.hour + 1) % 24]
    digits = at.hour % 12 or 12
    half = "am" if at.hour < 12 else "pm"
    match at.minute:
        case 0:
            return draw.choice((hour, hour, str(digits), f"{digits} {half}", f"{digits}{half}"))
        case 15:
            return draw.choice((f"quarter past {hour}", f"{digits}:15", f"{hour} fifteen"))
        case 30:
            ways = (f"half past {hour}", f"{digits}:30", f"{hour} thirty", f"{digits}.30")
            return draw.choice(ways)
        case 45:
            return draw.choice((f"quarter to {following}", f"{digits}:45"))
    return f"{digits}:{at:%M}"


def _said_in_full(at: datetime, draw: random.Random) -> str:
    hour, following = _NUMBERS[at.hour], _NUMBERS[(at.hour + 1) % 24]
    digits, half = at.hour % 12 or 12, "am" if at.hour < 12 else "pm"
    part = (
        "in the morning" if 4 <= at.hour < 12 else "in the evening" if at.hour < 22 else "at night"
    )
    words = {0: hour, 15: f"quarter past {hour}", 30: f"half past {hour}",
             45: f"quarter to {following}"}  # fmt: skip
    figures = f"{digits}:{at:%M}" if at.minute else str(digits)
    ways = [f"{figures} {half}", f"{figures}{half}", f"{figures} {half}"]
    if at.minute in words and 4 <= at.hour <= 22:
        ways.append(f"{words[at.minute]} {part}")
    return draw.choice(ways)


def _rel(at: datetime, asked: datetime, draw: random.Random) -> str:
    days = (at.date() - asked.date()).days
    if days == 0:
        return "today" if at.hour < 17 else draw.choice(("tonight", "this evening"))
    if days == 1:
        return "tomorrow"
    if days == -1:
        return "yesterday"
    if 1 < days < 7:
        return f"on {at:%A}"
    if -7 < days < 0:
        return f"last {at:%A}"
    return f"on the {at.day}{_ordinal(at.day)}"


def _ordinal(day: int) -> str:
    if 10 <= day % 100 <= 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def drawn(
    spec: str, now: datetime, known: dict[str, datetime], draw: random.Random, *, round_to: int
) -> datetime:
    """The moment that a specification describes.

    `+1..9 8-16 work`: one to nine days from now, between these hours, on a working day (or
    `weekend`). `t-3d 9-18`: three days before the moment `t`; `t+2h`, `t-90m`: exactly that far.

    Args:
        spec: The specification.
        now: The person's now.
        known: Moments by name.
        draw: Source of randomness.
        round_to: Minutes are multiples of this.

    Raises:
        ValueError: The specification is not understood.
    """
    first, *rest = spec.split()
    hours = next((found for one in rest if (found := _HOURS.fullmatch(one))), None)
    if away := _AWAY.fullmatch(first):
        sign = 1 if away[1] == "+" else -1
        days = sorted((int(away[2]), int(away[3])))
        start = now + sign * timedelta(days=draw.randint(*days))
        return _at_hours(_fitting_day(start, rest, sign), hours, draw, round_to)
    base = _FROM.fullmatch(first)
    if base is None or base[1] not in known:
        raise ValueError(f"moment: {spec!r} is not understood")
    moment = known[base[1]]
    if base[2]:
        step = int(base[3]) * (1 if base[2] == "+" else -1)
        unit = {"d": "days", "h": "hours", "m": "minutes"}[base[4]]
        moment += timedelta(**{unit: step})
    return _at_hours(moment, hours, draw, round_to) if hours else moment


def _fitting_day(day: datetime, rest: list[str], sign: int) -> datetime:
    while ("work" in rest and day.weekday() > 4) or ("weekend" in rest and day.weekday() < 5):
        day += timedelta(days=sign)
    return day


def written_minute(draw: random.Random) -> int:
    """A minute of a record: mostly a round one, as in what people write down of themselves."""
    return draw.choices(
        (draw.choice((0, 30)), draw.choice((10, 20, 40, 50)), draw.choice((5, 15, 25, 35, 45, 55)),
         draw.randrange(60)),
        (40, 38, 14, 8),
    )[0]  # fmt: skip


def _at_hours(
    day: datetime, hours: re.Match[str] | None, draw: random.Random, round_to: int
) -> datetime:
    low, high = (int(hours[1]), int(hours[2])) if hours else (8, 20)
    if round_to >= 15:
        minute = draw.choice((0,) * 9 + (30,) * 8 + (15, 15, 45))
    else:
        minute = written_minute(draw)
    hour = draw.randint(low, max(low, high - 1))
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)
