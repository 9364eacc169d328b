"""What people remind themselves of beside a plot: their people, their things, what is coming."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from stores.people.items import Item, Profile, Value
from synth.offline.acquaintances import Acquaintance
from synth.offline.searching import things
from synth.offline.trades import read_data
from synth.offline.wording import chosen

_KINDS = ("thing", "thing", "who", "who", "who", "event")
_HOURS = (8, 9, 10, 12, 12, 16, 17, 18, 18, 19, 20, 20, 21)


def reminded(
    profile: Profile,
    people: Sequence[Acquaintance],
    events: Sequence[Item],
    lists: Sequence[str],
    count: int,
    now: datetime,
    draw: random.Random,
) -> list[Item]:
    """Reminders of a life.

    Args:
        profile: Whose they are.
        people: Whom they may be about.
        events: What stands in the calendar.
        lists: Names of lists that there are.
        count: How many.
        now: The person's now.
        draw: Chooses.
    """
    found: dict[str, Item] = {}
    coming = [one for one in events if (one.time("start") or now) > now]
    for number in range(4 * count):
        kind = draw.choice(_KINDS)
        hobby = draw.choice(profile.hobbies)
        who = draw.choice(people).called if people else ""
        event = draw.choice(coming) if coming else None
        line = chosen(draw.choice(read_data("engagements.yaml")["reminders"][kind].splitlines()),
                      draw)  # fmt: skip
        if len(found) >= count:
            break
        if ("{who}" in line and not who) or (kind == "event" and event is None):
            continue
        start = event.time("start") if event and kind == "event" else None
        due = start - timedelta(days=1) if start else now + timedelta(days=draw.randint(0, 7))
        title = line.format(
            thing=draw.choice(things()[hobby]),
            who=who,
            n=draw.randint(1, 9),
            event=event.text("title") if event else "",
        )
        fields: dict[str, Value] = {
            "title": title[:1].upper() + title[1:],
            "due": due.replace(hour=draw.choice(_HOURS), minute=draw.choice((0, 0, 0, 30))),
            "list": hobby.capitalize() if kind == "thing" else draw.choice(lists),
            "done": False,
        }
        if len(title) < 50:
            found.setdefault(title.casefold(), Item(f"reminded{number}", "reminders", fields))
    return list(found.values())
