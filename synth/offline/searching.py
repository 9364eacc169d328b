"""What people look up beside what happens to them: for what they like, own, hear and have to do."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache

from stores.people.items import Item, Profile
from synth.offline.moments import written_minute
from synth.offline.trades import read_data
from synth.offline.wording import chosen

_SLOT = re.compile(r"\{(\w+)\}")
_LOWER = 0.7
_MUSIC = 0.4
_TWO = 0.35
"""How often two searches are for one hobby."""
_KNOWN = 0.65
"""How often a search for a taste is one of the whole lines, not of a thing."""
_ANY = ("home", "health", "money", "town")
_DAYS = 30
_TYPED_AT = (*range(7, 24), 10, 11, 17, 22)
"""Hours at which things are looked up."""


def searched(
    profile: Profile,
    country: str,
    district: str,
    items: Sequence[Item],
    count: int,
    now: datetime,
    draw: random.Random,
) -> list[Item]:
    """Searches that follow from a profile and from what else is on the phone.

    Args:
        profile: Whose they are.
        country: Their country's name.
        district: Where in town they live.
        items: What else is on the phone.
        count: How many.
        now: The person's now.
        draw: Chooses.
    """
    found: dict[str, str] = {}
    for raw in _wanted(profile, count, draw):
        query, _, page = chosen(raw, draw).partition(" => ")
        values = _values(profile, country, district, items, now, draw)
        try:
            query, page = (_filled(one, values) for one in (query, page))
        except KeyError:  # nothing is heard, or nowhere is to be gone to
            continue
        if len(found) < count:
            found.setdefault(query, page)
    return [looked(f"search{number}", query, page, now, draw)
            for number, (query, page) in enumerate(found.items())]  # fmt: skip


def _wanted(profile: Profile, count: int, draw: random.Random) -> Iterator[str]:
    """Lines in the order in which they are tried: tastes first, in turn."""
    some = []
    tastes = (
        ("cuisine", profile.favorite_cuisine),
        ("sport", profile.favorite_sport),
        ("film", profile.favorite_movie_genre),
        *(("hobby", one) for one in profile.hobbies),
        *(("any", one) for one in draw.sample(_ANY, 1)),
        *((("any", "music"),) if draw.random() < _MUSIC else ()),
    )
    for kind, name in tastes:
        lines = bank()[kind].get(name or "", ())
        if kind == "any" or draw.random() < _KNOWN:
            some += draw.sample(
                lines, min(len(lines), 1 + (kind == "hobby" and draw.random() < _TWO))
            )
        else:
            some.append(_wish(kind, name or "", draw))
    draw.shuffle(some)
    yield from some
    for _ in range(3 * count):
        kind, name = draw.choice(tastes)
        yield _wish(kind, name, draw) if name and kind != "any" else draw.choice(_lines_of_any())


def _lines_of_any() -> tuple[str, ...]:
    return tuple(line for one in (*_ANY, "music") for line in bank()["any"][one])


def _wish(kind: str, name: str, draw: random.Random) -> str:
    """What one may want to know of a thing of that taste."""
    line = draw.choice(bank()["wish"][kind])
    return line.replace("{thing}", draw.choice(things()[name]))


@cache
def things() -> dict[str, tuple[str, ...]]:
    """Taste → things of it."""
    raw: dict[str, str] = read_data("searches.yaml")["thing"]
    return {name: tuple(text.split(" / ")) for name, text in raw.items()}


@cache
def bank() -> dict[str, dict[str, tuple[str, ...]]]:
    """Kind of taste → taste → lines."""
    raw: dict[str, dict[str, str]] = read_data("searches.yaml")
    return {
        kind: {name: tuple(text.strip().splitlines()) for name, text in some.items()}
        for kind, some in raw.items() if kind != "thing"
    }  # fmt: skip


def _values(
    profile: Profile,
    country: str,
    district: str,
    items: Sequence[Item],
    now: datetime,
    draw: random.Random,
) -> dict[str, str]:
    city = (profile.city or "").split(",")[0]
    found = {
        "city": city,
        "country": country,
        "district": district,
        "month": f"{now:%B}",
        "year": str(now.year + (now.month > 9)),
        "n": str(draw.randint(2, 9)),
    }
    songs = [one for one in items if one.app == "music"]
    if songs:
        song = draw.choice(songs)
        found |= {"artist": song.text("artist"), "song": song.text("song_name"),
                  "album": song.text("album_title") or song.text("song_name")}  # fmt: skip
    places = [
        place for one in items
        if one.app == "calendar" and (place := one.text("location").split(",")[0])
        and place[0].isupper() and "'" not in place and len(place.split()) < 4
    ]  # fmt: skip
    if places:
        found["place"] = draw.choice(places)
    return found


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda one: values[one[1]], text)


def looked(name: str, query: str, page: str | None, now: datetime, draw: random.Random) -> Item:
    """A search of the last weeks, mostly in lower case."""
    day = now - timedelta(days=1 + int(_DAYS * draw.random() ** 1.3))
    at = day.replace(hour=draw.choice(_TYPED_AT), minute=written_minute(draw))
    fields = {
        "query": query.lower() if draw.random() < _LOWER else query,
        "clicked": page or None,
        "searched_at": at,
    }
    return Item(name, "google", fields)
