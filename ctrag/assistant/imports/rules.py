"""Recurrence rules: whether one can be worked out at all, and over which span of time.

A rule is a program of its own: one that says every second, or that has no day it fits, keeps any
library busy for years. Those are refused before any is asked.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from ctrag.assistant.imports.calendar_times import Moment, instant, parsed
from ctrag.assistant.imports.old_rules import daily, modern
from ctrag.assistant.imports.zones import Zones
from ctrag.errors import InputError

PAST, FUTURE = timedelta(days=366), timedelta(days=731)
"""How far before and after now occurrences of an endless series are kept."""
MOST_PAST, MOST_FUTURE = 110, 400
"""Occurrences of one series that are kept before and after now, the nearest ones."""
_LONGEST = 1000
_EVERY = {"YEARLY": 366, "MONTHLY": 31, "WEEKLY": 7, "DAILY": 1}
_MOST_COUNT = 1000
_NUMBERS = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (1, 31),
    "BYYEARDAY": (1, 366),
    "BYWEEKNO": (1, 53),
    "BYSETPOS": (1, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSECOND": (0, 59),
}
_NAMES = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST", "RSCALE", *_NUMBERS}
"""Parts that are read; a part of another name says nothing."""
_NO_NUMBER = ("0", "-1")
"""What some programs write for "not given"."""
_DAY = re.compile(r"[+-]?\d{0,2}(MO|TU|WE|TH|FR|SA|SU)")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TIMES_A_DAY = 6
_FEW = 100
"""Occurrences that may be so close together as the rule says."""
_EARLIEST = 1900
"""Daily and weekly series that begin before this year are no person's."""
_EARLIEST_YEARLY = 1500
"""As `_EARLIEST`, of others: phones keep birthdays without a year in 1604."""


class Rule:
    """One RRULE, checked."""

    def __init__(self, text: str, start: Moment, zones: Zones) -> None:
        """The rule of a series that begins at `start`.

        Raises:
            ValueError: It breaks the format, or has more occurrences than can be worked out.
        """
        if len(text) > _LONGEST:
            raise InputError("its rule of repetition is longer than any rule is")
        self.parts: dict[str, str] = {}
        text = re.sub(r"\A\s*RRULE\s*:", "", text, flags=re.IGNORECASE)  # written twice by some
        for part in modern(text).upper().replace(" ", "").strip(";").split(";"):
            name, equals, value = part.partition("=")
            if equals and value and name in _NAMES:
                self.parts[name] = value
        if isinstance(start, datetime):
            self.parts = daily(self.parts, start.hour)
        self.start = start
        self._zone = zones.fallback
        self.every = _EVERY.get(self.parts.get("FREQ", ""), 0)
        self.interval = self._number("INTERVAL", 1)
        self.count = self._number("COUNT", 0)
        self.until = self._until(zones)
        self._check()

    @property
    def endless(self) -> bool:
        """Whether it goes on for longer than anybody plans."""
        if self.count:
            return self.count > _MOST_COUNT
        return self.until is None or self.until.year >= 2100

    @property
    def plain_days(self) -> bool:
        """Whether it is daily or weekly."""
        return 0 < self.every <= 7

    def text(self, last: datetime | None = None) -> str:
        """The rule as it is handed on, ended at `last` (UTC) where it does not end before."""
        parts = dict(self.parts)
        parts.pop("UNTIL", None)
        until = self.until if "COUNT" not in parts or self.count > _MOST_COUNT else None
        if self.count > _MOST_COUNT:
            parts.pop("COUNT", None)
        if last is not None and "COUNT" not in parts:
            until = last if until is None else min(until, last)
        if until is not None:
            timed = isinstance(self.start, datetime)
            parts["UNTIL"] = f"{until:%Y%m%dT%H%M%SZ}" if timed else f"{until:%Y%m%d}"
        return ";".join(f"{name}={value}" for name, value in parts.items())

    def span(self, now: datetime) -> tuple[datetime, datetime, datetime]:
        """(first, now, last) in UTC: where occurrences are worked out. "Now" lies inside of the
        series: its start where it has not begun, its end where it is over."""
        start = instant(self.start, self._zone)
        over = self.until
        if self.count and self.count <= _MOST_COUNT:
            over = _later(start, timedelta(days=self.every * self.interval * self.count))
        middle = max(start, now if over is None else min(now, over))
        if self.endless:
            past, future = PAST, FUTURE
        else:
            step = timedelta(days=self.every * self.interval)
            past, future = MOST_PAST * step, MOST_FUTURE * step
        if self.count and self.count <= _MOST_COUNT:
            past = future = timedelta(days=366 * 200)
        return max(start, _later(middle, -past)), middle, _later(middle, future)

    def _until(self, zones: Zones) -> datetime | None:
        """The last moment, in UTC; of a day, its last one."""
        if "UNTIL" not in self.parts:
            return None
        last = parsed(self.parts["UNTIL"], "", zones)
        if not isinstance(self.start, datetime):
            day = whole_day(last, zones.fallback)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        if isinstance(last, datetime):
            if self.parts["UNTIL"].endswith("Z") or self.start.tzinfo is None:
                return instant(last, zones.fallback)
            return last.replace(tzinfo=self.start.tzinfo).astimezone(UTC)
        end = datetime(last.year, last.month, last.day, 23, 59, 59, tzinfo=self.start.tzinfo)
        return instant(end, zones.fallback)

    def _number(self, name: str, default: int) -> int:
        value = self.parts.get(name)
        if value is None or value in _NO_NUMBER:
            self.parts.pop(name, None)
            return default
        if not re.fullmatch(r"\d{1,12}", value) or int(value) < 1:
            raise InputError(f"its rule of repetition has {name}={value[:20]}")
        return int(value)

    def _check(self) -> None:
        if self.parts.pop("RSCALE", "GREGORIAN") != "GREGORIAN":
            raise InputError("its rule of repetition is for another calendar than ours")
        if not self.every:
            freq = self.parts.get("FREQ", "none")
            if freq in ("HOURLY", "MINUTELY", "SECONDLY"):
                raise InputError(f"it repeats {freq.lower()}, which is too often to be listed")
            raise InputError(f"its rule of repetition has the frequency {freq[:20]}")
        if self.interval * self.every > 366 * 100:
            raise InputError("it repeats only after more than a hundred years")
        if self.start.year < (_EARLIEST if self.plain_days else _EARLIEST_YEARLY):
            raise InputError(f"it repeats since the year {self.start.year}")
        chosen = {name: self._numbers(name) for name in _NUMBERS if name in self.parts}
        days = self.parts.get("BYDAY", "").split(",") if "BYDAY" in self.parts else []
        if any(not _DAY.fullmatch(day) for day in days):
            raise InputError(f"its rule of repetition has BYDAY={self.parts['BYDAY'][:40]}")
        times = 1
        for name in ("BYHOUR", "BYMINUTE", "BYSECOND"):
            times *= len(chosen.get(name, [0]))
        if times > _TIMES_A_DAY and not 0 < self.count <= _FEW:
            raise InputError("it repeats too often on a day to be listed")
        if not self._fits(chosen, days, times):
            raise InputError("its rule of repetition fits no day")

    def _fits(self, chosen: dict[str, list[int]], days: list[str], times: int) -> bool:
        """Whether the rule can have an occurrence; of rules that mix ways to say a day, only those
        that people have are known to."""
        months = chosen.get("BYMONTH", [])
        in_month = chosen.get("BYMONTHDAY", [])
        longest = max(_LENGTHS[month - 1] for month in months or range(1, 13))
        if in_month and min(map(abs, in_month)) > longest:
            return False
        by_year = {"BYYEARDAY", "BYWEEKNO"} & chosen.keys()
        if by_year and (self.every < 366 or months or in_month or len(by_year) > 1):
            return False
        if months and self.every == 31:
            reached = {(self.start.month - 1 + self.interval * step) % 12 + 1 for step in range(12)}
            if not reached & set(months):
                return False
        ordinals = [abs(int(day[:-2])) for day in days if day[:-2] not in ("", "+", "-")]
        if ordinals and self.every >= 31:
            most = 53 if self.every == 366 and not months else 5
            if in_month or by_year or not 0 < max(ordinals) <= most or min(ordinals) < 1:
                return False
        return min(map(abs, chosen.get("BYSETPOS", [1]))) <= self._most_places(
            len(days), len(ordinals), len(in_month), len(months), times
        )

    def _most_places(self, days: int, ordinals: int, in_month: int, months: int, times: int) -> int:
        """How many places (BYSETPOS) each year, month, week or day surely has."""
        if self.every < 31:
            return max(1, days if self.every == 7 else 1) * times
        if days and in_month:
            return 1
        of_month = in_month or (ordinals if ordinals else 4 * days) or 1
        if self.every == 31:
            return max(of_month, 5 if days == 1 and not ordinals and not in_month else 0) * times
        return of_month * (months or (12 if days or in_month else 1)) * times

    def _numbers(self, name: str) -> list[int]:
        low, high = _NUMBERS[name]
        values = self.parts[name].split(",")
        signed = name in ("BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS")
        numbers = [int(one) for one in values if re.fullmatch(r"[+-]?\d{1,3}", one)]
        if len(numbers) < len(values) or any(
            not low <= (abs(one) if signed else one) <= high for one in numbers
        ):
            raise InputError(f"its rule of repetition has {name}={self.parts[name][:40]}")
        return numbers


def day_of(moment: Moment, zone: tzinfo | None) -> date:
    """The day of a moment as its own clock, or one in `zone`, shows it."""
    if not isinstance(moment, datetime):
        return moment
    return moment.date() if zone is None else moment.astimezone(zone).date()


def whole_day(moment: Moment, zone: tzinfo) -> date:
    """The day that a moment means where all are whole days.

    Programs write the day in UTC as midnight there, or as the moment at which it begins or ends in
    `zone`.
    """
    if not isinstance(moment, datetime) or str(moment.tzinfo) not in ("UTC", "Etc/UTC"):
        return day_of(moment, None)
    return day_of(moment, None if moment.time() == time() else zone)


def _later(moment: datetime, length: timedelta) -> datetime:
    try:
        return moment + length
    except OverflowError:
        edge = datetime.max if length > timedelta() else datetime.min
        return edge.replace(tzinfo=UTC, microsecond=0)
