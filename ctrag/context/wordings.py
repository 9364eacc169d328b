"""Plain words for what reasons tell: times, places, counts, applications and kinds of items."""

from collections.abc import Sequence
from datetime import datetime

KINDS_SAID = {
    "mail read": "a mail you have read",
    "mail unread": "an unread mail",
    "event over": "an event that is over",
    "event today": "an event of today",
    "event later": "an event of another day",
    "search": "a web search",
    "note": "a note",
    "song": "a song",
    "song playing": "the song that plays",
    "reminder done": "a reminder that is ticked off",
    "reminder overdue": "an overdue reminder",
    "reminder today": "a reminder for today",
    "reminder later": "a reminder for a later day",
    "reminder undated": "a reminder without a date",
    "call incoming": "an incoming call",
    "call outgoing": "an outgoing call",
    "call missed": "a missed call",
    "voicemail": "a voicemail",
}
"""Kind of `prior.KINDS` → with its article; a further kind is told by its own name."""

_APPS = {
    "mail": ("mail", "mails"),
    "calendar": ("event", "events"),
    "google": ("search", "searches"),
    "notes": ("note", "notes"),
    "music": ("song", "songs"),
    "reminders": ("reminder", "reminders"),
    "phonecall": ("call", "calls"),
}
_HAPPENS = {
    "start": ("it begins", "it began"),
    "due": ("it is due", "it was due"),
    "received_at": ("", "it came"),
    "searched_at": ("", "you searched for it"),
    "modified_at": ("", "you last changed it"),
    "played_at": ("", "you last played it"),
    "called_at": ("", "the call was"),
}
"""Name of a time field → (ahead, behind); where empty, "its time is"."""

_PLACES = {
    "home": "at home",
    "work": "at work",
    "commute": "on the way",
    "outdoors": "outdoors",
    "car": "in the car",
    "driving": "in the car",
    "train": "on the train",
    "bus": "on the bus",
    "tram": "on the tram",
    "metro": "on the metro",
    "subway": "on the subway",
}
_MINUTE, _DAY = 60, 24 * 60


def clock(moment: datetime) -> str:
    """`07:05`."""
    return f"{moment:%H:%M}"


def quoted(words: Sequence[str]) -> str:
    """`“a”, “b” and “c”`."""
    return joined([f"“{word}”" for word in words])


def joined(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def percent(share: float) -> str:
    """`62 %`; never 0 or 100 for what is merely close to it."""
    shown = round(100 * share)
    if shown == 0 and share > 0:
        return "under 1 %"
    return "over 99 %" if shown == 100 and share < 1 else f"{shown} %"


def others(share: float) -> str:
    """A share of the candidates beside one: `62 % of your other items`."""
    return "all your other items" if share == 1 else f"{percent(share)} of your other items"


def times(count: int) -> str:
    """`once`, `twice`, `12 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def closest(rank: int) -> str:
    """`the closest`, `the 2nd closest`."""
    ending = "th" if 10 <= rank % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return "the closest" if rank == 1 else f"the {rank}{ending} closest"


def one_of(app: str) -> str:
    """An item of an application: `note`."""
    return _APPS.get(app, (f"{app} item", ""))[0]


def many_of(app: str) -> str:
    """Items of an application: `notes`."""
    return _APPS.get(app, ("", f"{app} items"))[1]


def counted(app: str, count: int) -> str:
    """So many items of an application: `1 note`, `12 notes`."""
    return f"{count} {one_of(app) if count == 1 else many_of(app)}"


def opening(app: str, opens: int) -> str:
    """How one says that an item is opened, before the hour or place: `you usually open it`."""
    if opens > 2:
        return f"you usually {'play' if app == 'music' else 'open'} it"
    return f"you {'played' if app == 'music' else 'opened'} it {times(opens)} in 30 days,"


def place_words(place: str) -> str:
    """`at home`, `on the way`, `at The Lough`."""
    return _PLACES.get(place.strip().casefold(), f"at {place.strip()}")


def happens(field: str, moment: datetime, now: datetime) -> str:
    """When an item happens, as its time field means it: `it begins in 25 minutes`."""
    ahead, behind = _HAPPENS.get(field, ("", "its time was"))
    said = behind if moment < now else ahead or "its time is"
    return f"{said} {when(moment, now)}"


def when(moment: datetime, now: datetime) -> str:
    """A moment seen from another: `in 25 minutes`, `yesterday at 20:00`, `on 3 May at 09:00`."""
    minutes = round((moment - now).total_seconds() / _MINUTE)
    if abs(minutes) < _MINUTE:
        if not minutes:
            return "right now"
        return f"in {lapse(minutes)}" if minutes > 0 else f"{lapse(-minutes)} ago"
    days = (moment.date() - now.date()).days
    if abs(days) <= 1:
        return f"{('yesterday', 'today', 'tomorrow')[days + 1]} at {clock(moment)}"
    if abs(days) < 7:
        return f"on {moment:%A} at {clock(moment)}"
    year = "" if moment.year == now.year else f" {moment.year}"
    return (
        f"on {moment.day} {moment:%B}{year}, {lapse(abs(minutes))} {'ahead' if days > 0 else 'ago'}"
    )


def lapse(minutes: int) -> str:
    """A length of time, rounded: `1 minute`, `3 hours`, `2 days`, `6 weeks`."""
    for size, unit, until in (
        (1, "minute", _MINUTE),
        (_MINUTE, "hour", _DAY),
        (_DAY, "day", 14 * _DAY),
        (7 * _DAY, "week", 26 * 7 * _DAY),
    ):
        if minutes < until:
            count = round(minutes / size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{round(minutes / (30.44 * _DAY))} months"


def hours_words(usual: Sequence[int], asked: int) -> str:
    """The run of usual hours nearest to an hour of the day; hour 5 lasts from 05:00 to 06:00.

    `around 05:30` for one hour alone, `between 20:00 and 23:00` for neighbouring ones.
    """
    known = set(usual)
    if len(known) == 24:
        return "at any hour"
    first = last = min(
        known, key=lambda hour: (min((hour - asked) % 24, (asked - hour) % 24), hour)
    )
    while (first - 1) % 24 in known:
        first = (first - 1) % 24
    while (last + 1) % 24 in known:
        last = (last + 1) % 24
    if first == last:
        return f"around {first:02}:30"
    return f"between {first:02}:00 and {(last + 1) % 24:02}:00"
