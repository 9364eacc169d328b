"""What people look up beside what happens to them: for what they like, own, hear and have to do."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import takewhile

from ctrag.assistant.apps.lookup import plain_words
from stores.people.items import Item, Profile
from synth.offline.moments import written_minute
from synth.offline.trades import read_data
from synth.offline.wording import chosen

_SLOT = re.compile(r"\{(\w+)\}")
_LOWER = 0.3
_MUSIC = 0.4
_ANY = ("home", "health", "money", "town")
_NAMED = 0.4
"""How often a page's short title begins with what it is about."""
_AGES = (
    (re.compile(r"\bpension\b|\bretire"), 45, 120),
    (re.compile(r"wisdom tooth|parental leave|portfolio for|first class"), 16, 48),
    (re.compile(r"school holidays|lice letter|babysitter|children safe|own child\b"), 22, 62),
    (re.compile(r"get father|talk to parent|mother'?s old"), 18, 66),
)
"""What is looked up at an age, from and to."""
_SMALL = frozenset(
    "a an and at are before after by do does down for from how i if in is it many much must my no "
    "not of off on or out over should that the to under was what when where which while who whom "
    "whose why will with without".split()
)
_DO = frozenset(
    "ask cancel carry climb compare explain fix get hang harmonise lift mark play post prune read "
    "record remove sell send sharpen shut sing skip sleep split swim talk teach transfer travel "
    "turn use watch".split()
)
"""With these a search orders something; a page is about something."""
_DAYS, _RECENT = 24, 1.9
"""Searches lie so far back at most, and how much nearer most of them are."""
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
    for raw in _wanted(profile, draw):
        query, _, page = chosen(raw, draw).partition(" => ")
        values = _values(profile, country, district, items, now, draw)
        try:
            query, page = (_filled(one, values) for one in (query, page))
        except KeyError:  # nothing is heard, or nowhere is to be gone to
            continue
        if len(found) < count and suits(query, profile.age):
            found.setdefault(query, page)
    return [looked(f"search{number}", query, page, now, draw)
            for number, (query, page) in enumerate(found.items())]  # fmt: skip


def suits(query: str, age: int | None) -> bool:
    """Whether somebody of that age looks this up."""
    return age is None or all(
        low <= age <= high or not pattern.search(query.lower()) for pattern, low, high in _AGES
    )


def _wanted(profile: Profile, draw: random.Random) -> Iterator[str]:
    """Lines in the order in which they are tried: a taste each, then more of the same."""
    tastes = [
        ("cuisine", profile.favorite_cuisine or ""),
        ("sport", profile.favorite_sport or ""),
        ("film", profile.favorite_movie_genre or ""),
        *(("any", one) for one in draw.sample(_ANY, 2)),
        *((("any", "music"),) if draw.random() < _MUSIC else ()),
        *(("hobby", one) for one in profile.hobbies),
    ]
    banks = [draw.sample(lines, len(lines)) for kind, name in tastes
             if (lines := bank()[kind].get(name, ()))]  # fmt: skip
    first, others = banks[:2], banks[2:]
    draw.shuffle(others)
    turns = [*first, *others]
    while any(turns):
        yield from (lines.pop() for lines in turns if lines)
        draw.shuffle(turns)


@cache
def bank() -> dict[str, dict[str, tuple[str, ...]]]:
    """Kind of taste → taste → lines."""
    raw: dict[str, dict[str, str]] = read_data("searches.yaml")
    return {
        kind: {name: tuple(text.strip().splitlines()) for name, text in some.items()}
        for kind, some in raw.items()
    }


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
    at = now - timedelta(days=_DAYS * draw.random() ** _RECENT)
    at = at.replace(
        hour=draw.choice(_TYPED_AT), minute=written_minute(draw), second=0, microsecond=0
    )
    if page and len(page.split()) < 4 and draw.random() < _NAMED:
        page = titled(query, page)
    fields = {
        "query": query.lower() if draw.random() < _LOWER else query,
        "clicked": page or None,
        "searched_at": at if at < now else at - timedelta(days=1),
    }
    return Item(name, "google", fields)


def titled(query: str, page: str) -> str:
    """The title of a page behind its subject, which is what the search begins with."""
    words = query.split()
    subject = list(takewhile(lambda word: word.lower() not in _SMALL, words))
    if (
        not 1 < len(subject) < 4
        or subject[0].lower() in _DO
        or set(plain_words(page)) & set(plain_words(" ".join(subject)))
    ):
        return page
    begun = " ".join(subject)
    return f"{begun[:1].upper()}{begun[1:]}: {page[:1].lower()}{page[1:]}"
