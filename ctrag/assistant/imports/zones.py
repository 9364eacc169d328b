"""Time zones by the names that calendars have for them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

_OFFSET = re.compile(
    r"\(?(?:UTC|GMT|Z)?\s*(?P<sign>[+\-\u2212])\s*(?P<h>\d{1,2})(?:[:.]?(?P<m>\d\d))?\)?"
)
_NAMED = {
    "pacific time (us & canada)": "America/Los_Angeles",
    "mountain time (us & canada)": "America/Denver",
    "central time (us & canada)": "America/Chicago",
    "eastern time (us & canada)": "America/New_York",
    "pacific time": "America/Los_Angeles",
    "mountain time": "America/Denver",
    "central time": "America/Chicago",
    "eastern time": "America/New_York",
    "atlantic time (canada)": "America/Halifax",
    "baja california": "America/Tijuana",
    "central america": "America/Guatemala",
    "indiana (east)": "America/Indiana/Indianapolis",
    "mexico city": "America/Mexico_City",
    "brasilia": "America/Sao_Paulo",
    "greenland": "America/Nuuk",
    "cabo verde is.": "Atlantic/Cape_Verde",
    "cape verde is.": "Atlantic/Cape_Verde",
    "west central africa": "Africa/Lagos",
    "hong kong": "Asia/Hong_Kong",
    "new delhi": "Asia/Kolkata",
    "mumbai": "Asia/Kolkata",
    "chennai": "Asia/Kolkata",
    "sri jayawardenepura": "Asia/Colombo",
    "kyiv": "Europe/Kyiv",
    "ekaterinburg": "Asia/Yekaterinburg",
    "astana": "Asia/Almaty",
    "abu dhabi": "Asia/Dubai",
    "islamabad": "Asia/Karachi",
    "st. petersburg": "Europe/Moscow",
    "yangon (rangoon)": "Asia/Yangon",
    "beijing": "Asia/Shanghai",
    "solomon is.": "Pacific/Guadalcanal",
    "new caledonia": "Pacific/Noumea",
    "nuku'alofa": "Pacific/Tongatapu",
    "samoa": "Pacific/Apia",
    "wellington": "Pacific/Auckland",
    "pretoria": "Africa/Johannesburg",
    "dublin": "Europe/London",
    "western/central europe": "Europe/Berlin",
    "mexico standard time": "America/Mexico_City",
    "mexico standard time 2": "America/Mazatlan",
    "kamchatka standard time": "Asia/Kamchatka",
    "us/pacific-new": "America/Los_Angeles",
    "hora estándar romance": "Europe/Madrid",
    "hora de verano romance": "Europe/Madrid",
    "москва": "Europe/Moscow",
    "московское время": "Europe/Moscow",
    "東京": "Asia/Tokyo",
    "北京": "Asia/Shanghai",
    "中国标准时间": "Asia/Shanghai",
    "서울": "Asia/Seoul",
    "utc time": "UTC",
    "coordinated universal time": "UTC",
    "universal time": "UTC",
    "utc": "UTC",
    "gmt": "UTC",
    "z": "UTC",
    "zulu": "UTC",
    "tzone://microsoft/utc": "UTC",
    "greenwich mean time": "Europe/London",
    "central european time": "Europe/Berlin",
    "central european standard time": "Europe/Berlin",
    "central european summer time": "Europe/Berlin",
    "eastern european time": "Europe/Athens",
    "eastern european standard time": "Europe/Athens",
    "eastern european summer time": "Europe/Athens",
    "western european time": "Europe/Lisbon",
    "british summer time": "Europe/London",
    "india standard time": "Asia/Kolkata",
    "japan standard time": "Asia/Tokyo",
    "mitteleuropäische zeit": "Europe/Berlin",
    "mitteleuropäische sommerzeit": "Europe/Berlin",
    "westeuropäische zeit": "Europe/Lisbon",
    "osteuropäische zeit": "Europe/Athens",
    "heure d’europe centrale": "Europe/Paris",
    "heure normale d’europe centrale": "Europe/Paris",
    "hora de europa central": "Europe/Madrid",
    "ora dell’europa centrale": "Europe/Rome",
    "midden-europese tijd": "Europe/Amsterdam",
    "cet": "Europe/Berlin",
    "cest": "Europe/Berlin",
    "mez": "Europe/Berlin",
    "mesz": "Europe/Berlin",
    "eet": "Europe/Athens",
    "eest": "Europe/Athens",
    "wet": "Europe/Lisbon",
    "bst": "Europe/London",
    "est": "America/New_York",
    "edt": "America/New_York",
    "cst": "America/Chicago",
    "cdt": "America/Chicago",
    "mst": "America/Denver",
    "mdt": "America/Denver",
    "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
}
"""What neither the zone database nor Windows' own names have, and names of places that several
zones share; as Windows shows them."""
_TWO = re.compile(r"\A(.*?)\s*\(standard\)\s*/\s*(.*?)\s*\(daylight\)\Z", re.IGNORECASE)
"""`GMT -0500 (Standard) / GMT -0400 (Daylight)`, as GroupWise names its zones."""
_BY_BOTH = (
    *("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"),
    *("America/Halifax", "America/Anchorage", "Europe/London", "Europe/Berlin", "Europe/Athens"),
    *("Australia/Sydney", "Australia/Adelaide", "Pacific/Auckland"),
)
_WINTER = datetime(2026, 1, 15)


class Zones:
    """The zones of one calendar file: what its names of zones mean.

    A name that the zone database has means that zone; then the file's own rules for the name count,
    then what the name says. What still is unknown counts as `fallback` and is kept in `unknown`.
    """

    def __init__(self, own: Mapping[str, tzinfo], fallback: tzinfo) -> None:
        self._own = own
        self.fallback = fallback
        self.unknown: set[str] = set()

    def within(self, fallback: tzinfo | None) -> "Zones":
        """These zones with another fallback; unknown names are kept in the same set."""
        made = Zones(self._own, fallback or self.fallback)
        made.unknown = self.unknown
        return made

    def zone(self, name: str) -> tzinfo:
        """The zone of that name, or the fallback."""
        name = name.strip()
        found = _of_database(name) or self._own.get(name) or zone_named(name)
        if found is None:
            self.unknown.add(name)
            return self.fallback
        return found


def zone_named(name: str) -> tzinfo | None:
    """The zone that a name means: of the zone database, with a vendor's prefix, of Windows, as
    Windows shows it, or an offset; None where it says nothing known.

    A name such as "(UTC+01:00) Amsterdam, Berlin, Bern" is the zone of the first of its places that
    the zone database has, if that one's winter time is the offset; else the offset itself.
    """
    return _named(" ".join(name.replace("\\", "").strip().strip("\"'").split()))


def machine_zone() -> ZoneInfo:
    """The zone that this machine is set to; UTC where it says none."""
    from tzlocal import get_localzone_name

    try:
        return ZoneInfo(get_localzone_name() or "UTC")
    except (LookupError, ValueError, OSError):
        return ZoneInfo("UTC")


@cache
def _named(name: str) -> tzinfo | None:
    found = _of_database(name) or _behind_prefix(name) or _of_windows(name)
    if found is not None:
        return found
    if both := _TWO.match(name):
        return _of_both(*map(_OFFSET.fullmatch, both.groups()))
    offset = _OFFSET.match(name)
    if offset is None:
        bare = re.sub(r"\A(?:TZID\s*=|DST:?\s)|\s*\([^()]*\)\Z", "", name)  # `Europe/Berlin (CET)`
        return _shown(name) or (_named(bare) if 0 < len(bare) < len(name) else None)
    fixed = _fixed(offset)
    if fixed is None:
        return None
    shown = _shown(name[offset.end() :].lstrip(" )"))
    if shown is not None and _WINTER.replace(tzinfo=shown).utcoffset() == fixed.utcoffset(None):
        return shown
    south = datetime(2026, 7, 15, tzinfo=shown).utcoffset() if shown is not None else None
    return shown if south == fixed.utcoffset(None) else fixed


def _of_both(*offsets: re.Match[str] | None) -> tzinfo | None:
    """The zone that people live in whose clocks show these offsets in winter and in summer."""
    fixed = [_fixed(one) for one in offsets if one is not None]
    wanted = {one.utcoffset(None) for one in fixed if one is not None}
    for zone in map(ZoneInfo, _BY_BOTH):
        halves = {_WINTER.replace(month=month, tzinfo=zone).utcoffset() for month in (1, 7)}
        if halves == wanted:
            return zone
    return None


@cache
def _zones() -> dict[str, str]:
    return {name.casefold(): name for name in available_timezones()}


def _of_database(name: str) -> ZoneInfo | None:
    plain = name.casefold().replace(" ", "_")
    known = _zones().get(plain) or _zones().get(plain.replace("-", "/", 1))
    if known is None or known.casefold() in _NAMED:  # `EST` is no zone that anybody lives in
        return None
    return ZoneInfo(known)


def _behind_prefix(name: str) -> ZoneInfo | None:
    """`/freeassociation.sourceforge.net/Europe/Berlin`, `/mozilla.org/20050126_1/Europe/Berlin`."""
    parts = name.strip("/").split("/")
    for start in range(1, len(parts) - 1):
        found = _of_database("/".join(parts[start:]))
        if found is not None:
            return found
    return None


def _of_windows(name: str) -> ZoneInfo | None:
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    names = {one.casefold(): zone for one, zone in WINDOWS_TO_OLSON.items()}
    plain = re.sub(r"\s+\d+\Z", "", name).casefold()
    plain = plain.replace("daylight time", "standard time").replace("summer time", "standard time")
    found = names.get(plain) or names.get(f"{plain} standard time")
    return ZoneInfo(found) if found else None


def _shown(name: str) -> tzinfo | None:
    """The zone of one of the places in a name; of the whole name before its parts."""
    whole = name.casefold()
    for part in (whole, *(one.strip() for one in re.split(r"[,/;、，]", whole))):
        found = _NAMED.get(part) or _places().get(part.replace(" ", "_"))
        if found is not None:
            return ZoneInfo(found)
    return _of_windows(name)


@cache
def _places() -> dict[str, str]:
    places: dict[str, str] = {}
    for name in sorted(available_timezones()):
        area, _, place = name.rpartition("/")
        if area and area not in ("Etc", "SystemV", "posix", "right"):
            places.setdefault(place.casefold(), name)
    return places


def _fixed(offset: re.Match[str]) -> timezone | None:
    length = timedelta(hours=int(offset["h"]), minutes=int(offset["m"] or 0))
    if length >= timedelta(hours=24):
        return None
    return timezone(length if offset["sign"] == "+" else -length) if length else UTC
