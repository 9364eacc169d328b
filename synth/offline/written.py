"""Written threads: what the packaged scenes' people have on their phones, for lives of a country.

A scene is a person with a plot: a few items that belong together, contacts with their roles, and
requests about them. A life takes one scene as its plot, whole and unchanged, and from some others
of the same country what could happen to anybody. No name is put in place of another in a text.
"""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from stores.compressed import open_kept
from stores.people.app_spec import packaged_apps
from stores.people.dataset import Persona
from stores.people.item_objects import read_item
from stores.people.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request
from stores.people.local_time import parse_local_time
from synth.consistency import person_faults
from synth.offline.countries import Gender, countries
from synth.reference import scenes_folder

_CANADA = frozenset(
    "204 226 236 249 250 289 306 343 365 403 416 418 431 437 438 450 506 514 519 548 579 581 587 "
    "604 613 639 647 672 705 709 778 780 782 807 819 825 867 873 902 905".split()
)
_ISLANDS = frozenset(
    "242 246 264 268 284 340 345 441 473 649 658 664 721 758 767 784 787 809 829 849 868 869 876 "
    "939".split()
)
"""Prefixes of +1 that are of islands."""
_BEFORE = "2026"
"""Plots begin before that year: made people live when the reference people do."""
_TEST_EVERY = 6
"""One scene in so many belongs to people of the test part."""
_LOOKED_UP = {
    "google_search": ("{query}",),
    "google_image_search": ("{query}", "{query} pictures"),
    "google_news": ("{topic}", "{topic}", "{topic} latest"),
    "google_shopping": ("{product}", "{product}", "{product} used"),
    "google_nearby": ("{category} {near}", "", ""),
    "google_weather": ("{location} forecast {date}", "", "", ""),
    "google_flights": ("{origin} to {destination} flights", "flight {origin} {destination} {month}",
                       "cheap flights {destination}", "", ""),
}  # fmt: skip
"""API → how what it is asked for is typed; nothing where it is not."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A written person."""

    id: str
    now: datetime
    profile: Mapping[str, Any]
    country: str
    contacts: tuple[Contact, ...]
    items: tuple[Item, ...]

    def of(self, app: str) -> list[Item]:
        """The items of an application."""
        return [one for one in self.items if one.app == app]

    def text(self) -> str:
        """All that the items say."""
        values = (value for one in self.items for value in one.fields.values())
        return "\n".join(value for value in values if isinstance(value, str))

    def gender(self) -> Gender | None:
        """The owner's gender, where the first name says it."""
        home = next(one for one in countries() if one.name == self.country)
        first = str(self.profile["name"]).split()[0]
        options: tuple[Gender, ...] = ("female", "male")
        return next((gender for gender in options if first in home.firsts[gender]), None)


def dealt(deck: str, place: int, *, test: bool) -> Scene:
    """The scene at a place of a shuffled deck, which begins anew where it ends.

    Args:
        deck: Another deck has another order.
        place: From 0.
        test: Whether the scenes are those for people of the test part.
    """
    ids = _deck(deck, test)
    return scene(ids[place % len(ids)])


@lru_cache(maxsize=64)
def _deck(deck: str, test: bool) -> tuple[str, ...]:
    ids = sorted(
        one for some in by_country().values() for one in some
        if _rows()[one]["now"] < _BEFORE and _sound(one)
    )  # fmt: skip
    mine = [one for one in ids if (int(one[1:]) % _TEST_EVERY == 0) == test]
    random.Random(deck).shuffle(mine)
    return tuple(mine)


@cache
def _sound(number: str) -> bool:
    """Whether a scene hangs together by the rules for made people."""
    one = scene(number)
    profile = Profile(name=str(one.profile["name"]))
    return not person_faults(Persona(Person(number, one.now, profile, one.contacts), one.items))


@cache
def by_country() -> dict[str, tuple[str, ...]]:
    """Country → ids of its scenes; countries that lives know, in the order of the file."""
    codes = {one.phone.split(" ")[0]: one.name for one in countries() if one.name != "Canada"}
    found: dict[str, list[str]] = {}
    for number, row in _rows().items():
        known = [_home_of(one["phone"] or "", codes) for one in row["contacts"]]
        home = max(set(known), key=lambda one: (known.count(one), str(one)))
        if home is not None and known.count(home) > len(known) / 2:
            found.setdefault(home, []).append(number)
    return {name: tuple(some) for name, some in found.items()}


def _home_of(phone: str, codes: Mapping[str, str]) -> str | None:
    """The country of a number, None where no life is told."""
    code, _, rest = phone.partition(" ")
    if code == "+1" and rest[:3] in _CANADA:
        return "Canada"
    return None if code == "+1" and rest[:3] in _ISLANDS else codes.get(code)


@cache
def _rows() -> dict[str, dict[str, Any]]:
    with open_kept(scenes_folder() / "personas.jsonl") as file:
        rows = [json.loads(line) for line in file]
    return {row["persona_id"]: row for row in rows}


@cache
def _asked() -> dict[str, list[bytes]]:
    """Scene → lines of its requests."""
    found: dict[str, list[bytes]] = {}
    owner = re.compile(rb'"persona_id": "(\w+)"')
    with open_kept(scenes_folder() / "queries.jsonl") as file:
        for line in file:
            if named := owner.search(line):
                found.setdefault(named[1].decode(), []).append(line)
    return found


@lru_cache(maxsize=1000)
def scene(number: str) -> Scene:
    """The scene with that id."""
    row = _rows()[number]
    specs = {app.name: app for app in packaged_apps()}
    items = tuple(
        read_item(one, specs[app], number) for app, some in row["apps"].items() for one in some
    )
    country = next(name for name, some in by_country().items() if number in some)
    contacts = tuple(Contact(**one) for one in row["contacts"])
    return Scene(number, parse_local_time(row["now"]), row["profile"], country, contacts, items)


def requests_of(number: str, ids: Mapping[str, str]) -> list[tuple[Request, Labels]]:
    """A scene's requests about items that a life has.

    Args:
        number: The scene's id.
        ids: Ids of its items → the ids in the life; what is missing is not there.
    """
    found = []
    for line in _asked().get(number, ()):
        row = json.loads(line)
        if row["query_id"] in ids:  # it has been looked up
            continue
        relevant, playing = row["relevant"] or [], row["playing"]
        if any(one not in ids for one in (*relevant, *filter(None, (playing,)))):
            continue
        plan = row["plan"] and LabelledPlan(row["plan"]["api"], row["plan"]["arguments"])
        asked = parse_local_time(row["asked_at"])
        if asked < scene(number).now:
            continue
        found.append((
            Request(row["text"], asked, row["place"], playing and ids[playing]),
            Labels(
                kind=row["kind"],
                relevant=tuple(ids[one] for one in relevant),
                tools=tuple(row["tools"] or ()),
                plan=plan,
            ),
        ))  # fmt: skip
    return found


@lru_cache(maxsize=1000)
def habits(number: str) -> dict[str, tuple[int, ...]]:
    """Items that a scene's owner wants out of habit, with the hours at which they do."""
    found: dict[str, set[int]] = {}
    for line in _asked().get(number, ()):
        row = json.loads(line)
        if row["kind"] == "habit":
            for one in row["relevant"] or ():
                found.setdefault(one, set()).add(parse_local_time(row["asked_at"]).hour)
    return {one: tuple(sorted(hours)) for one, hours in found.items()}


def asked_for(chosen: Scene, draw: random.Random) -> list[tuple[str, str]]:
    """What a scene's owner looks up in their requests, as searches, with the requests' ids."""
    found: list[tuple[str, str]] = []
    for line in _asked().get(chosen.id, ()):
        row = json.loads(line)
        plan = row["plan"] or {"api": "", "arguments": {}}
        values: dict[str, str] = {"near": "", "date": "", "month": "", **plan["arguments"]}
        if values["date"]:
            day = parse_local_time(values["date"] + "T00:00")
            values |= {"date": f"{day:%A}", "month": f"{day:%B}"}
        pattern = draw.choice(_LOOKED_UP.get(plan["api"], ("",)))
        query = re.sub(r"\s+", " ", pattern.format(**values)).strip()
        if query:
            found.append((row["query_id"], query))
    return found


def songs_of(country: str) -> list[Item]:
    """The songs of a country's scenes."""
    return [one for number in by_country()[country] for one in scene(number).of("music")]
