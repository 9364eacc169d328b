"""Whole people: a life, what happens in it, and the items of the wanted numbers."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from ctrag.assistant.apps.lookup import plain_words
from stores.people.app_spec import AppSpec, spec_of
from stores.people.dataset import Persona
from stores.people.items import Contact, Item, Person, Usage
from synth.consistency import person_faults
from synth.offline.life import Life
from synth.offline.matters import Matter, Thing, eligible, happen
from synth.offline.music import listened
from synth.offline.own_apps import own_items
from synth.offline.plots import looked_up, plotted, settled, threads
from synth.offline.usage import Places, with_usage
from synth.offline.written import Scene, dealt
from synth.shape import part_of

_MATTERS = 120
"""Matters tried before a person counts as full."""
_PLOTS = {"home": 3.0, "work": 2.2, "hobby": 1.6}
_LIGHT = 2
"""Matters with so many items or fewer are small."""
_LIGHT_SHARE = 0.45
_ATTEMPTS = 6
_CONTACTS = (7, 8, 8, 8, 9)


@dataclass(frozen=True, slots=True)
class Told:
    """A person with the life behind their items."""

    persona: Persona
    life: Life
    matters: tuple[Matter, ...]
    """Those of which at least one item is there, with only those items."""
    scene: str
    """The id of the written scene that is the plot."""
    ids: Mapping[str, str]
    """Ids of the scene's items → those here."""

    def things(self) -> list[tuple[Matter, Thing]]:
        """All items with their matters."""
        return [(matter, thing) for matter in self.matters for thing in matter.things.values()]


@lru_cache(maxsize=8)
def told(person_id: str, counts: tuple[tuple[str, int], ...], apps: tuple[AppSpec, ...],
         seed: int) -> Told:  # fmt: skip
    """The person of a seed; one that does not hang together is refused and another told.

    Args:
        person_id: Prefix of the items' ids.
        counts: Application and number of items.
        apps: All applications.
        seed: Another seed is another life.
    """
    for attempt in range(_ATTEMPTS):
        draw = random.Random(f"{seed}/life/{attempt}")
        whole, place, test = part_of(seed)
        chosen = dealt(f"{whole}/{attempt}", place, test=test)
        found = _told(person_id, counts, apps, chosen, draw)
        if not person_faults(found.persona):
            break
    return found


def _told(person_id: str, counts: tuple[tuple[str, int], ...], apps: tuple[AppSpec, ...],
          chosen: Scene, draw: random.Random) -> Told:  # fmt: skip
    plot = plotted(chosen, draw)
    life, left = plot.life, {**dict(counts), **plot.counts(draw)}
    matters = threads(plot, left, draw)
    songs = listened(life.country.music, life.profile.favorite_music_genre or "",
                     left.pop("music", 0), life.now, draw, life.in_own_words)  # fmt: skip
    matters += looked_up(plot, [thing.item for one in matters for thing in one.things.values()]
                         + songs, left, draw)  # fmt: skip
    matters += _happened(life, left, draw, matters)
    works = bool(life.profile.work)
    places = Places(life.trade.hours, works, draw)
    numbered: Counter[str] = Counter()
    found: list[Item] = []
    ids: dict[str, str] = {}
    own = {one.id for one in plot.scene.items}
    kept: dict[str, list[tuple[Matter, Thing]]] = {}
    for matter in matters:
        for thing in matter.things.values():
            kept.setdefault(thing.item.app, []).append((matter, thing))
    for app in apps:
        some = kept.get(app.name, [])
        draw.shuffle(some)
        for matter, thing in some:
            numbered[app.name] += 1
            item = replace(thing.item, id=f"{person_id}-{app.name}-{numbered[app.name]}")
            if thing.key not in own and not thing.key.startswith("strand/"):
                item = settled(item, plot.lists, draw, life.now)
            item = with_usage(item, life.now, draw, places, _habit(thing, places))
            ids[thing.key] = item.id
            matter.things[thing.key] = replace(thing, item=item)
            found.append(item)
    contacts = _contacts(life, found, draw)
    person = Person(person_id, life.now, life.profile, contacts)
    for item in (*songs, *own_items(apps, person, dict(counts), draw)):
        numbered[item.app] += 1
        found.append(replace(item, id=f"{person_id}-{item.app}-{numbered[item.app]}"))
    order = {app.name: place for place, app in enumerate(apps)}
    found.sort(key=lambda one: order.get(one.app, 99))
    return Told(Persona(person, tuple(found)), life, tuple(matters), plot.scene.id, ids)


def _contacts(life: Life, items: Sequence[Item], draw: random.Random) -> tuple[Contact, ...]:
    """Everybody whom an item names, and of the others as many as an address book has."""
    named = {
        name
        for item in items
        for name in (item.text("sender"), item.text("contact"), *_attendees(item))
    }
    close = [one for one in life.circle.values() if one.contact.name not in named]
    room = draw.choice(_CONTACTS) - sum(one.contact.name in named for one in life.circle.values())
    kept = {one.key for one in close[: max(1, room)]}
    left = [one for one in life.circle.values() if one.contact.name in named or one.key in kept]
    first, others = left[:1], left[1:]
    draw.shuffle(others)
    life.circle = {one.key: one for one in (*first, *others)}
    return tuple(one.contact for one in life.circle.values())


def _attendees(item: Item) -> tuple[str, ...]:
    found = item.fields.get("attendees")
    return found if isinstance(found, tuple) else ()


def _habit(thing: Thing, places: Places) -> Usage | None:
    if thing.item.app == "music":
        return thing.item.usage
    if "hours" not in thing.spec:
        if "opens" not in thing.spec:
            return None
        return Usage(int(thing.spec["opens"]))
    hours = tuple(int(one) for one in str(thing.spec["hours"]).split())
    return Usage(int(thing.spec.get("opens", 6)), None, hours)


def _happened(
    life: Life, left: dict[str, int], draw: random.Random, before: Sequence[Matter]
) -> list[Matter]:
    """Matters beside those before until every application has its number of items."""
    ranked = _ordered(eligible(life), draw)
    found: list[Matter] = []
    seen = {_title(thing.item) for one in before for thing in one.things.values()
            if thing.item.app != "music"}  # fmt: skip
    unknown_calls = 0
    for name, spec, hobby in ranked[:_MATTERS]:
        wanted = {app for app, count in left.items() if count > 0}
        if not wanted:
            break
        if not _offers(spec, wanted) or (spec["id"] == "unknowncall" and unknown_calls):
            continue
        try:
            matter = happen(life, name, spec, hobby, wanted)
        except KeyError:  # it is about somebody whom this life lacks
            continue
        things = {}
        for key, thing in matter.things.items():
            title = _title(thing.item)
            if (
                left[thing.item.app] < 1
                or title in seen
                or _collides(thing.item, [*before, *found])
            ):
                continue
            lines = {("line", one) for one in thing.item.text("body").split("\n")}
            if thing.item.app == "notes" and lines & seen:  # a life writes a thing down once
                continue
            seen |= {title, *(lines if thing.item.app == "notes" else ())}
            left[thing.item.app] -= 1
            things[key] = thing
        matter.things = things
        if things:
            found.append(matter)
            unknown_calls += spec["id"] == "unknowncall"
    return found


_Option = tuple[str, dict[str, object], str | None]


def _ordered(options: Sequence[_Option], draw: random.Random) -> list[_Option]:
    """Home, work and hobbies in turn, so that a life has them all; small matters now and then."""
    parts: dict[tuple[str, bool], list[_Option]] = {}
    for one in draw.sample(options, len(options)):
        key = one[0].split("/")[0], _size(one[1]) <= _LIGHT
        parts.setdefault(key, []).append(one)
    found: list[_Option] = []
    while any(parts.values()):
        names = draw.choices(list(_PLOTS), list(_PLOTS.values()))
        light = draw.random() < (_LIGHT_SHARE if len(found) > 2 else 0)
        some = parts.get((names[0], light)) or []
        if some:
            found.append(some.pop())
        elif not any(parts.get((name, light)) for name in _PLOTS):
            light = not light
            found += [one for name in _PLOTS for one in parts.pop((name, light), [])]
    return found


def _size(spec: Mapping[str, object]) -> int:
    return sum(isinstance(one, dict) and key not in ("who", "pick", "when")
               for key, one in spec.items())  # fmt: skip


def _offers(spec: Mapping[str, object], wanted: set[str]) -> bool:
    from synth.offline.matters import APPS

    return any(APPS.get(key.rstrip("0123456789")) in wanted for key in spec)


def _title(item: Item) -> tuple[str, str]:
    name = "contact" if item.app == "phonecall" else spec_of(item.app).named("title")[0]
    extra = item.text("direction") if item.app == "phonecall" else ""
    return item.app, " ".join(plain_words(item.text(name))) + extra


def _collides(item: Item, found: Sequence[Matter]) -> bool:
    """Whether an event takes place at the time of another."""
    start, end = item.time("start"), item.time("end")
    if start is None or end is None:
        return False
    for matter in found:
        for thing in matter.things.values():
            begins, ends = thing.item.time("start"), thing.item.time("end")
            if begins and ends and begins < end + timedelta(minutes=15) and start < ends:
                return True
    return False
