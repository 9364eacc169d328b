"""Items of user-declared applications, based only on the roles of their fields."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from stores.people.app_spec import AppSpec, FieldSpec, packaged_apps
from stores.people.items import Item, Person, Usage, Value
from synth.offline.life import Entry, entries, gaps
from synth.shape import OTHER_ITEMS

_GROUPS = ("Family", "Work", "Friends", "Other")


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
    entry = draw.choice(entries("contact_mails"))
    fields = {field.name: _value(field, entry, person, moment, draw) for field in app.fields}
    opens = draw.choice((0, 0, 1, 2, 4))
    hour = max(moment, person.now - timedelta(days=3))
    usage = Usage(opens, hour, (hour.hour,), "home") if opens else Usage()
    return Item(item_id, app.name, fields, usage)


def _value(
    field: FieldSpec, entry: Entry, person: Person, moment: datetime, draw: random.Random
) -> Value:
    if field.values:
        return draw.choice(field.values)
    values = gaps(person, draw)
    match field.type:
        case "datetime":
            return moment + timedelta(hours=1) if field.role == "end" else moment
        case "boolean":
            return draw.random() < 0.3
        case "integer":
            return draw.randint(0, 300)
        case "strings":
            return (values["c"],)
    texts = {
        "person": values["c"],
        "place": person.profile.home or values["city"],
        "group": draw.choice(_GROUPS),
        "title": entry.parts[0],
        "text": entry.parts[1].format(**values),
    }
    return texts.get(field.role, field.default if isinstance(field.default, str) else "")
