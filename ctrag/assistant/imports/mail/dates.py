"""When a mail was sent, as mails say it: well, badly, or not at all."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_tz
from zoneinfo import ZoneInfo

from ctrag.assistant.imports.mail.headers import Headers, decoded_words, one_line

_LONGEST = 120
_FIRST_YEAR = 1971
"""Earlier times are clocks that were never set."""
_MONTHS = (
    "jan gen ene sty oca led янв",
    "feb fév fev fevr févr lut şub feb úno фев",
    "mar mär mrt mars mrz maa мар",
    "apr avr abr kwi nis dub апр",
    "may mai mag mei maj kvě май мая",
    "jun juin giu cze haz kesä čvn июн",
    "jul juil lug lip tem heinä čvc июл",
    "aug aoû aou ago sie ağu elo srp авг",
    "sep set sept wrz eyl syys zář сен",
    "oct okt ott out paź paz eki loka říj окт",
    "nov lis kas marras noy ноя",
    "dec dez déc dic gru ara joulu pro дек",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_ENGLISH = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_ZONES = {
    **{"CET": 60, "CEST": 120, "MET": 60, "MEST": 120, "MEZ": 60, "MESZ": 120, "WET": 0},
    **{"WEST": 60, "BST": 60, "EET": 120, "EEST": 180, "MSK": 180, "TRT": 180, "SAST": 120},
    **{"PKT": 300, "IST": 330, "ICT": 420, "SGT": 480, "HKT": 480, "AWST": 480, "JST": 540},
    **{"KST": 540, "ACST": 570, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780},
    **{"NST": -210, "NDT": -150, "BRT": -180, "ART": -180, "AKST": -540, "AKDT": -480},
    **{"HST": -600, "UTC": 0, "UT": 0, "GMT": 0, "Z": 0, "EST": -300, "EDT": -240},
    **{"CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420},
    **{"AST": -240, "ADT": -180},
}
_ZONE_NAME = re.compile(r"(?<![A-Za-z])({})(?![A-Za-z])".format("|".join(_ZONES)))
_OFFSET = re.compile(r"(?<=[\d\sTC])([+-])(\d{1,2}):?(\d{2})?(?!\d|[-:])")
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}")
_DOT = re.compile(r"(?<=\w)\.(?=[\s,])")
_NO_YEAR = re.compile(r"(?<![\d+-])00\d\d(?!\d)")
_COMMENT = re.compile(r"\([^()]*\)?")
_WEEKDAY = re.compile(r"\A(?!\d)\w+\.?,?\s+(?=\d{1,2}\.?[\s-]+[^\W\d])")
_ASIAN = re.compile(r"(?<!\d)(0?[1-9]|1[0-2])\s?[月월]")
_LINKING = re.compile(r"\b(?:de|del|den|à|às|um|kl|alle|ore|klo)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+\.?")


@dataclass(frozen=True, slots=True)
class Sent:
    """A mail's time on the person's clock."""

    at: datetime
    guessed: str = ""
    """What the time was taken from, where the mail itself has none."""


def sent_at(
    headers: Headers,
    zone: ZoneInfo,
    now: datetime,
    stamp: str = "",
    kept: datetime | None = None,
    kept_of: str = "the time of its file",
) -> Sent | None:
    """When the mail was sent, on the clock of `zone`: as `Date` says, else as it was received.

    Args:
        headers: The mail's headers.
        zone: The person's zone; times without a zone are meant in it.
        now: The moment of the import in `zone`; times far after it are not believed.
        stamp: The date in the line that separates it from others in a mailbox.
        kept: A time for want of a better one, without a zone, in `zone`.
        kept_of: What that is the time of.

    Returns:
        None where nothing says when.
    """
    first: datetime | None = None
    latest = now + timedelta(days=370)
    for said in _said(headers, stamp):
        found = read_time(said, zone)
        if found is None:
            continue
        if found.year >= _FIRST_YEAR and found <= latest:
            return Sent(found)
        first = first or found
    if kept is not None:
        return Sent(kept.replace(second=0, microsecond=0), kept_of)
    if first is not None and 1900 <= first.year <= 2200:
        return Sent(first, "a date that cannot be right")
    return None


def read_time(said: str, zone: ZoneInfo) -> datetime | None:
    """A time in one of the many spellings of mails, on the clock of `zone`; None if it is none."""
    text = _COMMENT.sub(" ", one_line(decoded_words(said[:_LONGEST]))).strip()
    text = _DOT.sub("", text)
    # A weekday may look like a month in another language (`mardi`, `二`).
    text = _WEEKDAY.sub("", _ASIAN.sub(lambda one: _ENGLISH[int(one[1]) - 1], text))
    try:
        found = _iso(text) or _spelled(text) or _any_order(text)
        if found is None:
            return None
        if found.tzinfo is not None:
            found = found.astimezone(zone)
        return found.replace(tzinfo=None, second=0, microsecond=0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _said(headers: Headers, stamp: str) -> Iterable[str]:
    yield from headers.all("date")
    for name in ("delivery-date", "resent-date", "x-received", "received"):
        yield from (value.rpartition(";")[2] for value in headers.all(name)[:1])
    for name in ("x-original-date", "x-date", "sent", "posted-date"):
        yield from headers.all(name)
    if stamp:
        yield stamp


def _iso(text: str) -> datetime | None:
    if not re.match(r"\d{4}-?\d\d-?\d\d(?:[T ]|$)", text):
        return None
    text = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", text)
    text = re.sub(r"\s+(?=[+-]\d\d:?\d\d$)", "", text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _spelled(text: str) -> datetime | None:
    """`Mon, 23 Nov 2026 09:15:00 +0100` and what comes near it."""
    if not _CLOCK.search(text) or re.search(r"\d\s?[ap]m\b", text, re.IGNORECASE):
        return None
    text, zone = _without_zone(text)
    parts = parsedate_tz(_WORD.sub(_english, text))
    if parts is None or _NO_YEAR.search(text):
        return None
    year, month, day, hour, minute, second = parts[:6]
    if 100 <= year < 200:  # counted from 1900, as some scripts do
        year += 1900
    return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)


def _any_order(text: str) -> datetime | None:
    from dateutil import parser

    if re.fullmatch(r"\d{9,10}", text):
        return datetime.fromtimestamp(int(text), UTC)
    if _NO_YEAR.search(text) or not re.search(r"\d{4}", text) or len(re.findall(r"\d+", text)) < 3:
        return None
    text, zone = _without_zone(text)
    text = _WORD.sub(_english, _LINKING.sub(" ", text))
    one, other = (
        parser.parse(text, default=datetime(year, month, day), ignoretz=True)
        for year, month, day in ((2001, 1, 1), (2004, 2, 2))
    )
    return one.replace(tzinfo=zone) if one == other else None  # else it is no whole date


def _without_zone(text: str) -> tuple[str, tzinfo | None]:
    """The text before and after the zone's name or offset, and the zone."""
    offset = _OFFSET.search(text)
    clock = _CLOCK.search(text)
    if offset and clock and offset.start() > clock.start():
        sign = 1 if offset[1] == "+" else -1
        hours, minutes = int(offset[2]), int(offset[3] or 0)
        rest = text[: offset.start()] + " " + text[offset.end() :]
        rest = _ZONE_NAME.sub(" ", rest)
        if hours > 14 or minutes > 59:
            return rest, UTC
        return rest, timezone(sign * timedelta(hours=hours, minutes=minutes))
    name = _ZONE_NAME.search(text)
    if name:
        zone = timezone(timedelta(minutes=_ZONES[name[1]]))
        return text[: name.start()] + " " + text[name.end() :], zone
    return text, None


def _english(word: re.Match[str]) -> str:
    """The English name of a month in another language; other words as they are."""
    plain = word[0].rstrip(".").casefold()
    for length in (len(plain), 6, 5, 4, 3):
        if plain[:length] in _MONTH and length >= 3:
            return _ENGLISH[_MONTH[plain[:length]] - 1]
    return word[0]
