"""What stands in a calendar beside a plot: classes that come each week, appointments, visits."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from stores.people.items import Item, Profile
from synth.offline.acquaintances import Acquaintance
from synth.offline.trades import read_data
from synth.offline.wording import chosen

_WEEK = timedelta(weeks=1)
_GAP = timedelta(minutes=20)
_PAST = 0.2
_TOGETHER = 0.6
_ADDRESSED = 0.75
_NOWHERE = ("home", "phone", "online", "video call", "at theirs", "kerb")
_EMPLOYED = re.compile(r"retired|pension|housewife|unemployed|student|pupil", re.IGNORECASE)


def engaged(
    profile: Profile,
    people: Sequence[Acquaintance],
    mates: Mapping[str, Acquaintance],
    streets: Sequence[str],
    taken: Sequence[Item],
    count: int,
    now: datetime,
    draw: random.Random,
) -> list[Item]:
    """Events of a life beside those that are there, at free times.

    Args:
        profile: Whose they are.
        people: Who may take part.
        mates: Hobby → with whom it is shared.
        streets: Addresses in town.
        taken: The other events.
        count: How many.
        now: The person's now.
        draw: Chooses.
    """
    found: list[Item] = []
    used: set[str] = set()
    for hobby, raw in _lines(profile, draw):
        line = chosen(raw, draw)
        title, _, rest = line.partition(" @ ")
        mate = mates.get(hobby)
        who = draw.choice(people) if "{who}" in title and people else None
        if mate and ("{who}" in title or draw.random() < _TOGETHER):
            who = mate
        if len(found) >= count:
            break
        if ("{who}" in title and (who is None or who.contact.name in used)) or (
            "{work}" in rest and (not profile.work or _EMPLOYED.search(profile.profession or ""))
        ):
            continue
        if who and "{who}" in title:
            used.add(who.contact.name)
        events = list(_events(line, profile, who, streets, now, draw))
        found += [one for one in events[: count - len(found)]
                  if not _clashes(one, [*taken, *found])]  # fmt: skip
    return found


def company(profile: Profile, draw: random.Random) -> list[tuple[str, str]]:
    """Whom a person knows beside the plot: keys (a hobby, or a number) with relations."""
    data = read_data("engagements.yaml")
    found = [(one, draw.choice(data["mates"][one].split(" / "))) for one in profile.hobbies
             if one in data["mates"]]  # fmt: skip
    draw.shuffle(found)
    others = data["about"].splitlines()
    return [*found[:2], *((f"about{number}", one) for number, one in
                          enumerate(draw.sample(others, len(others))))]  # fmt: skip


def _lines(profile: Profile, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Hobbies (or nothing) with lines, in the order in which they are tried."""
    data = read_data("engagements.yaml")
    hobbies = [
        (one, line) for one in profile.hobbies
        for line in data["hobby"].get(one, "").splitlines()
    ]  # fmt: skip
    rest = [("", line) for line in data["any"].splitlines()]
    draw.shuffle(hobbies)
    draw.shuffle(rest)
    while hobbies or rest:
        some = hobbies if hobbies and (draw.random() < 0.55 or not rest) else rest
        yield some.pop()


def _events(
    line: str,
    profile: Profile,
    who: Acquaintance | None,
    streets: Sequence[str],
    now: datetime,
    draw: random.Random,
) -> Iterator[Item]:
    title, _, rest = line.partition(" @ ")
    place, minutes, hours, *weekly = rest.split("; ")
    low, high = (int(one) for one in hours.split("-"))
    minute = draw.choice((0,) * 9 + (30,) * 8 + (15, 45))
    days = draw.randint(-14, -1) if draw.random() < _PAST else draw.randint(0, 9)
    day = now + timedelta(days=days)
    start = day.replace(hour=draw.randint(low, high), minute=minute)
    starts = [start]
    number = draw.randint(2, 15)
    if weekly and "{k}" in title:  # two of one name could not be told apart
        starts = [start - _WEEK, start] if draw.random() < 0.6 else [start, start + _WEEK]
    home = (profile.home or "").split(",")[0]
    city = (profile.city or "").split(",")[0]
    values = {
        "home": draw.choice(("home", home, "home")),
        "work": (profile.work or "").split(",")[0],
        "city": city,
        "who": who.called if who else "",
    }
    place = _placed(place.format(**values), streets, draw)
    for step, at in enumerate(starts):
        name = title.format(**values, k=number + step)
        yield Item(
            f"engaged/{line}/{step}",
            "calendar",
            {
                "title": name,
                "start": at,
                "end": at + timedelta(minutes=int(minutes)),
                "location": place,
                "attendees": (who.contact.name,) if who else (),
                "notes": None,
                "repeats": "",
            },
        )


def _placed(place: str, streets: Sequence[str], draw: random.Random) -> str:
    """A place, mostly with its address."""
    bare = place.removeprefix("the ")
    if place in _NOWHERE or bare[:1].isupper() or draw.random() > _ADDRESSED:
        return place
    return f"{bare[:1].upper()}{bare[1:]}, {draw.choice(streets)}"


def _clashes(item: Item, others: Sequence[Item]) -> bool:
    start, end = item.time("start"), item.time("end")
    for other in others:
        begins, ends = other.time("start"), other.time("end")
        if start and end and begins and ends and begins < end + _GAP and start < ends + _GAP:
            return True
        if item.text("title") == other.text("title"):
            return True
    return False
