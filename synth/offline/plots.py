"""A life with a plot: who somebody is by a written scene, with its items and more of that life."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ctrag.assistant.apps.lookup import plain_words
from stores.people.items import Contact, Item, Usage, Value
from synth.offline.acquaintances import Acquaintance
from synth.offline.addressing import called, gender_of
from synth.offline.homes import household, is_district, street, town_and_country
from synth.offline.life import Life, born
from synth.offline.matters import Matter, Thing
from synth.offline.moments import written_minute
from synth.offline.music import known_everywhere, playlist_for
from synth.offline.searching import bank, looked, searched
from synth.offline.strand_lines import ordered
from synth.offline.strands import Telling
from synth.offline.trades import read_data
from synth.offline.written import (
    Scene,
    asked_for,
    habits,
    songs_of,
)

_KEPT = {"mail": (4, 0.3), "notes": (3, 0.35)}
"""Application → the most items of it, and how often one is left out, so that the mean is the
paper's: what is longest is only what is written."""
_TASTES = (3, 3, 4, 4)
"""Searches for what somebody likes to eat, to watch and to hear."""
_FURTHER = {"mail": 0.35, "notes": 0.3}
"""How often there is one more than the plot has, of another matter."""
_SHORT_NAMES = {"United Kingdom": "UK", "United States": "USA"}
_LISTED = 0.7
_HABIT = 7
"""How often what is wanted out of habit was opened in thirty days, about."""
_OLD = 62
_FOR_THE_YOUNGER = ("surfing", "climbing", "judo", "video games", "stand-up comedy", "football",
                    "running", "podcasts", "salsa dancing")  # fmt: skip
_FULL_HOURS = 0.45
_DONE, _UNDATED = 0.34, 0.08
"""Of the reminders that are not the plot's, those that are done, and those without a time."""
_LIKELY = 6
"""How much more likely each word of the plot makes a hobby."""
_COMMON_LISTS = ("Home", "Home", "Errands", "Family")
_OWN_LISTS = ("Me", "House", "To do", "Personal", "Private", "Misc", "This week")
"""Common ones that nobody translates."""
_STOCK_LISTS = ("Errands", "Papers", "Health", "Home")


@dataclass(frozen=True, slots=True)
class Plot:
    """A scene and the life that it is told in."""

    scene: Scene
    life: Life
    lists: Sequence[str]
    """Names of lists for whatever belongs to no trade and no hobby."""

    def counts(self, draw: random.Random) -> dict[str, int]:
        """How many mails and notes there are: as many as the scene has."""
        found = {}
        for app, (most, left_out) in _KEPT.items():
            own = min(most, len(self.scene.of(app)))
            found[app] = max(1, own - (draw.random() < left_out))
        return found


def plotted(chosen: Scene, draw: random.Random) -> Plot:
    """A new life in a scene's country, with the scene's people around it."""
    life = born(draw, chosen.country)
    _cast(life, chosen, draw)
    return Plot(chosen, life, _common_lists(life, chosen, draw))


def _cast(life: Life, chosen: Scene, draw: random.Random) -> None:
    """The scene's trade, town, household and contacts, for somebody with a name of their own."""
    profile, known = chosen.profile, life.words.values
    for key in [key for key, one in known.items() if isinstance(one, Acquaintance)]:
        del known[key]
    for key in ("friend_first", "pet", "animal", "child", "childage", "baby", "sibling_or_friend"):
        known.pop(key, None)
    life.circle.clear()
    for number, contact in enumerate(chosen.contacts):
        join(life, contact, _role(contact, number))
    city, home = str(profile["city"]).split(",")[0], profile.get("home") or profile["city"]
    district = str(home).split(",")[0]
    if not is_district(district):
        district = city
    known |= {"city": city, "district": district, "street": district, "me": _named(life, chosen)}
    life.town = replace(
        life.town,
        name=city,
        timezone=life.country.timezone(city, life.town.timezone),
        area=life.country.area(one.phone or "" for one in chosen.contacts) or life.town.area,
    )
    known["number"] = life.country.number(life.town, draw)
    life.now = chosen.now
    genres = [one.text("genre") for one in chosen.of("music")]
    told = {
        "away": draw.choice(life.country.away),
        "month": f"{life.now - timedelta(days=draw.randint(20, 300)):%B}",
        "early": str(life.now.year - draw.randint(3, 15)),
    }
    life.profile = replace(
        life.profile,
        name=life.profile.name,
        age=profile["age"],
        profession=profile["profession"],
        city=town_and_country(city, _short(chosen.country), draw),
        timezone=life.town.timezone,
        home=street(str(home), draw),
        work=profile.get("work"),
        favorite_music_genre=max(genres, key=genres.count) if genres else None,
        favorite_movie_genre=draw.choice(list(bank()["film"])),
        favorite_cuisine=draw.choice(list(bank()["cuisine"])),
        favorite_sport=draw.choice(list(bank()["sport"])),
        hobbies=_hobbies(chosen, draw),
        household=household(
            str(profile.get("household") or ""), chosen.gender(), chosen.contacts, told, draw
        ),
    )
    known |= {"work_short": str(profile.get("work") or "work").split(",")[0]}
    life.tags = frozenset({"adult", "home"})


def _hobbies(chosen: Scene, draw: random.Random) -> tuple[str, ...]:
    """Three hobbies, rather those of which the plot speaks."""
    age = int(chosen.profile["age"])
    said = set(plain_words(f"{chosen.profile['profession']} {chosen.text()}"))
    fitting = [one for one in bank()["hobby"] if age < _OLD or one not in _FOR_THE_YOUNGER]
    likes: Mapping[str, str] = read_data("likes.yaml")
    chance = {one: 1 + _LIKELY * len(said & set(plain_words(likes[one]))) for one in fitting}
    return tuple(sorted(fitting, key=lambda one: -(draw.random() ** (1 / chance[one])))[:3])


def _short(country: str) -> str:
    return _SHORT_NAMES.get(country, country)


def _role(contact: Contact, number: int) -> str:
    """The role in a life: only who lives together and works above one has a word of their own."""
    relation = contact.relation.split(",")[0].strip().casefold()
    roles = {"wife": "partner", "husband": "partner", "mother": "mother", "father": "father",
             "boss": "boss"}  # fmt: skip
    return roles.get(relation, f"contact{number}")


def join(life: Life, contact: Contact, key: str) -> None:
    """Somebody written, in the circle as they are."""
    words = contact.name.split()
    gender = gender_of(contact, life.country.firsts)
    one = Acquaintance(key, contact, words[0], words[-1], gender, called(contact))
    life.circle[key] = one
    life.words.values[key] = one


def _named(life: Life, chosen: Scene) -> str:
    """The owner's first name, and the profile's: new, but for what the scene's texts say of it."""
    name = str(chosen.profile["name"])
    gender = chosen.gender()
    said = chosen.text() + " ".join(one.name for one in chosen.contacts)
    first, *rest = name.split()
    draw = life.words.draw
    called = re.search(rf"(?i)\b{re.escape(first[:3])}|{re.escape(first[-4:])}\b", said)
    if gender is not None and len(rest) > 0 and called is None:
        taken = {one.first for one in life.circle.values()}
        first = draw.choice([one for one in life.country.firsts[gender][:150] if one not in taken])
        if len(rest) == 1 and not _within(rest[0], said):
            rest = [draw.choice(life.country.lasts[gender][:300])]
    life.profile = replace(life.profile, name=" ".join((first, *rest)))
    return first


def _within(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def threads(plot: Plot, left: dict[str, int], draw: random.Random) -> list[Matter]:
    """The scene's own items, then more of the same life; what is found is taken off `left`."""
    life, found = plot.life, []
    own = list(plot.scene.items)
    draw.shuffle(own)
    usual = habits(plot.scene.id)
    title = playlist_for(draw, life.in_own_words)
    for item in own:
        if left.get(item.app, 0) > 0:
            left[item.app] -= 1
            found.append(
                _matter(
                    life, plot.scene, _minuted(_heard(item, draw, usual.get(item.id, ())), draw)
                )
            )
    for query_id, query in draw.sample(some := asked_for(plot.scene, draw), len(some)):
        if left.get("google", 0) > 0 and not _alike(query, found):
            left["google"] -= 1
            item = looked(query_id, query, None, life.now, draw)
            found.append(_matter(life, plot.scene, item))
    items = [thing.item for one in found for thing in one.things.values()]
    telling = Telling(life, _room(left, draw), plot.lists, list(items))
    more: list[Item] = []
    for strand in ordered(life.profile.hobbies, draw):
        more += telling.tell(strand)
    more += called_up(life, telling.left.get("phonecall", 0), draw)
    more += heard(life, [one for one in items if one.app == "music"], left.get("music", 0), title,
                  draw)  # fmt: skip
    for item in more:
        left[item.app] -= 1
        told = item.id in telling.words
        found.append(telling.matter(item) if told else _matter(life, plot.scene, item))
    return found


def _room(left: Mapping[str, int], draw: random.Random) -> dict[str, int]:
    """How many items strands may add: searches for tastes and, now and then, calls are others'."""
    room = {app: max(0, count) for app, count in left.items()}
    room["google"] = max(0, room.get("google", 0) - draw.choice(_TASTES))
    for app, chance in _FURTHER.items():
        room[app] = room.get(app, 0) + (draw.random() < chance)
    return room


def _alike(query: str, found: Sequence[Matter]) -> bool:
    """Whether nearly the same has been looked up."""
    words = set(plain_words(query))
    queries = [set(plain_words(thing.item.text("query"))) for one in found
               for thing in one.things.values() if thing.item.app == "google"]  # fmt: skip
    return any(len(words & one) >= min(3, len(words), len(one)) for one in queries)


def called_up(life: Life, count: int, draw: random.Random) -> list[Item]:
    """Calls with people of the circle of which nothing but the call is known."""
    people = list(life.circle.values())
    found = []
    for number, one in enumerate(draw.sample(people, min(count, len(people)))):
        at = (life.now - timedelta(days=draw.randint(1, 5))).replace(
            hour=draw.choice((8, 12, 13, 17, 18, 19, 20)), minute=written_minute(draw)
        )
        direction = draw.choice(("incoming", "outgoing", "missed"))
        seconds = draw.choice((draw.randint(2, 20), draw.randint(6, 150))) * 10
        fields: dict[str, Value] = {
            "contact": one.contact.name,
            "direction": direction,
            "called_at": at,
            "duration_s": 0 if direction == "missed" else seconds,
            "voicemail": None,
        }
        found.append(Item(f"call{number}", "phonecall", fields))
    return found


def heard(
    life: Life, own: Sequence[Item], count: int, title: str, draw: random.Random
) -> list[Item]:
    """Further songs, of the country or known everywhere; a playlist where there is none."""
    known = {one.text("song_name") for one in own}
    genres = {one.text("genre") for one in own}
    native = songs_of(life.country.name)
    near = [one for one in native if one.text("genre") in genres]
    world = [one for one in known_everywhere() if one.text("genre") in genres]
    listed = not any(one.text("playlist") for one in own) and draw.random() < _LISTED
    found: list[Item] = []
    for some in (near, world, native, known_everywhere()):
        for song in draw.sample(some, min(len(some), 6)):
            if len(found) < count and song.text("song_name") not in known:
                known.add(song.text("song_name"))
                at = (life.now - timedelta(days=draw.randint(1, 18))).replace(
                    hour=draw.choice((7, 8, 9, 17, 18, 20, 21, 22)), minute=written_minute(draw)
                )
                item = _with(song, played_at=at, playlist=title if listed else None)
                item = replace(item, id=f"song{len(found)}", usage=Usage())
                found.append(_heard(item, draw))
    return found


def looked_up(
    plot: Plot, items: Sequence[Item], left: dict[str, int], draw: random.Random
) -> list[Matter]:
    """Searches for what is left of them; see `synth.offline.searching`."""
    life = plot.life
    district = str(life.words.values["district"])
    known = {one.text("query").casefold() for one in items if one.app == "google"}
    found = searched(life.profile, life.country.name, district, items, left.pop("google", 0),
                     life.now, draw)  # fmt: skip
    return [_matter(life, plot.scene, one) for one in found
            if one.text("query").casefold() not in known]  # fmt: skip


def _matter(life: Life, chosen: Scene, item: Item) -> Matter:
    start = item.time("start")
    when = {"t": start} if start else {}
    hours = " ".join(map(str, habits(chosen.id).get(item.id, ())))
    spec = {"opens": _HABIT, "hours": hours} if hours else {}
    return Matter(f"written/{chosen.id}", life.words, {item.id: Thing(item, spec, item.id)}, when)


def _minuted(item: Item, draw: random.Random) -> Item:
    """A mail, note or call some minutes before the full hour at which it was written to be."""
    name = {"mail": "received_at", "notes": "modified_at", "phonecall": "called_at"}.get(item.app)
    at = item.time(name) if name else None
    if name is None or at is None or at.minute % 30 or draw.random() < _FULL_HOURS:
        return item
    step = draw.choice((5, 10, 10, 15, 20, 20, draw.randint(1, 25)))
    return _with(item, **{name: at - timedelta(minutes=step)})


def _heard(item: Item, draw: random.Random, habit: tuple[int, ...] = ()) -> Item:
    """A song with its usage, which scenes mostly lack."""
    if item.app != "music":
        return item
    played = item.time("played_at")
    often = bool(item.text("playlist") or habit)
    opens = draw.randint(8, 20) if often else draw.choice((1, 2, 3, 3, 4, 6, 9))
    hours = tuple(sorted({*habit, *((played.hour,) if played else ())}))
    return replace(item, usage=Usage(opens, played, hours, draw.choice(("home", "home", None))))


def _common_lists(life: Life, chosen: Scene, draw: random.Random) -> Sequence[str]:
    """Lists for whatever belongs to no trade and no hobby: the plot's, else one or two.

    What is not of the plot must not stand on its lists for pigeons or for court.
    """
    every = {*_COMMON_LISTS, *_OWN_LISTS}
    every |= {name for language in read_data("lists.yaml").values()
              for one, name in language.items() if one in _COMMON_LISTS}  # fmt: skip
    own = [name for one in chosen.of("reminders") if (name := one.text("list")) in every]
    new = life.in_own_words(draw.choice(_COMMON_LISTS))
    return own or draw.sample([new, draw.choice(_OWN_LISTS)], draw.choice((1, 2)))


def settled(item: Item, lists: Sequence[str], draw: random.Random, now: datetime) -> Item:
    """A reminder on a list that there is; one that has been done, or is not for any day."""
    due = item.time("due")
    if item.app != "reminders":
        return item
    if item.text("list") in _STOCK_LISTS:
        item = _with(item, list=draw.choice(lists))
    if due is None:
        return item
    chance = draw.random()
    if chance < _DONE:
        days = timedelta(days=draw.randint(1, 12))
        past = (now - days).replace(hour=due.hour, minute=due.minute)
        return _with(item, due=past, done=True)
    return _with(item, due=None) if chance < _DONE + _UNDATED else item


def _with(item: Item, **fields: Value) -> Item:
    merged: Mapping[str, Value] = {**item.fields, **fields}
    return replace(item, fields=merged)
