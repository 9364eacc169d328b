"""Items of user-declared applications, based only on the roles of their fields."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from stores.people.app_spec import AppSpec, FieldSpec, packaged_apps
from stores.people.items import Item, Person, Usage, Value
from synth.shape import OTHER_ITEMS

_GROUPS = ("Family", "Work", "Friends", "Other")
_TEXTS = (
    ("The key", "The key is with {c} until tonight."),
    ("Sunday", "Sunday works, {c} brings the bread."),
    ("Photos from the lake", "The photos from the lake are there, ask {c} for the code."),
    ("Lift to the station", "{c} can take two people to the station."),
    ("New number", "My old number is gone, this is the new one."),
    ("The blue chair", "Do you still want the blue chair? {c} has it in the cellar."),
    ("Soup", "There is soup left, come by."),
    ("Rehearsal", "We start half an hour later, tell {c}."),
)


def own_items(
    apps: Sequence[AppSpec], person: Person, counts: Mapping[str, int], draw: random.Random
) -> list[Item]:
    """Items of the declared applications, each field filled according to its role."""
    found = []
    for app in apps:
        if app in packaged_apps():
            continue
        wanted = counts.get(app.name, round(OTHER_ITEMS))
        for number in range(wanted):
            found.append(_item(app, f"own-{app.name}-{number}", person, draw))
    return found


def _item(app: AppSpec, item_id: str, person: Person, draw: random.Random) -> Item:
    moment = person.now - timedelta(minutes=draw.randint(5, 12 * 24 * 60))
    about = draw.choice(_TEXTS)
    who = draw.choice(person.contacts).name if person.contacts else person.profile.name
    fields = {field.name: _value(field, about, who, person, moment, draw) for field in app.fields}
    opens = draw.choice((0, 0, 1, 2, 4))
    hour = max(moment, person.now - timedelta(days=3))
    usage = Usage(opens, hour, (hour.hour,), "home") if opens else Usage()
    return Item(item_id, app.name, fields, usage)


def _value(
    field: FieldSpec,
    about: tuple[str, str],
    who: str,
    person: Person,
    moment: datetime,
    draw: random.Random,
) -> Value:
    if field.values:
        return draw.choice(field.values)
    match field.type:
        case "datetime":
            return moment + timedelta(hours=1) if field.role == "end" else moment
        case "boolean":
            return draw.random() < 0.3
        case "integer":
            return draw.randint(0, 300)
        case "strings":
            return (who,)
    texts = {
        "person": who,
        "place": person.profile.home or (person.profile.city or ""),
        "group": draw.choice(_GROUPS),
        "title": about[0],
        "text": about[1].format(c=who),
    }
    return texts.get(field.role, field.default if isinstance(field.default, str) else "")
