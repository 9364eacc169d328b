"""Chains of thought for requests that have none: where to look and why.

A thought names applications, relations and times, never the words of the item itself.
"""

import random
from collections.abc import Sequence
from datetime import datetime

from stores.people.app_spec import packaged_apps
from stores.people.items import Item, Person

_SPECS = {app.name: app for app in packaged_apps()}
_PLACES = {
    "mail": ("{who} wrote about it by Mail{when}", "Mail from {who}{when} has it",
             "that came by Mail{when}, from {who}"),
    "calendar": ("Calendar has it{when}{with_whom}", "it stands in Calendar{when}{with_whom}",
                 "the appointment in Calendar{when}{with_whom} is meant"),
    "google": ("it was looked up in Google{when}", "Google shows what was searched{when}"),
    "notes": ("it was written down in Notes{when}", "a page in Notes has it",
              "Notes keeps that, in one of the folders"),
    "music": ("Music shows what is heard at such hours", "the songs in Music fit this moment",
              "Music has it among what is played"),
    "reminders": ("Reminders has the task{when}", "the task{when} in Reminders is meant"),
    "phonecall": ("PhoneCall has the call with {who}{when}", "{who} rang{when}, says PhoneCall"),
}  # fmt: skip
_NOTHING = (
    "Everything is said; no item is needed.",
    "The request names all that the call needs.",
)
_NO_APP = ("No application of the phone can do that.", "That is nothing a phone can do.")


def thought(
    relevant: Sequence[Item], person: Person, at: datetime, api: str | None, draw: random.Random
) -> str:
    """One or two sentences on where to look.

    Args:
        relevant: The relevant items.
        person: Whose they are.
        at: When the request is made.
        api: The best API; None when none fits.
        draw: Source of randomness.
    """
    if api is None:
        return draw.choice(_NO_APP)
    if not relevant:
        return draw.choice(_NOTHING)
    firsts = {item.app: item for item in reversed(relevant)}
    places = [_place(item, person, at, draw) for item in firsts.values()]
    text = "; ".join(places)
    return f"{text[0].upper()}{text[1:]}."


def _place(item: Item, person: Person, at: datetime, draw: random.Random) -> str:
    spec = _SPECS[item.app]
    names = item.fields.get(spec.named("person")[0]) if spec.named("person") else None
    bearers = names if isinstance(names, tuple) else (str(names),) if names else ()
    who = [_relation(name, person) for name in bearers]
    known = [one for one in who if one]
    return draw.choice(_PLACES[item.app]).format(
        who=known[0] if known else "somebody",
        with_whom=f" with {known[0]}" if known else "",
        when=_when(item.time(spec.named("time")[0]), at),
    )


def _relation(name: str, person: Person) -> str | None:
    contact = person.contact(name)
    if contact is None:
        return None
    relation = contact.relation.split(",")[0].strip()
    return f"the {relation.removeprefix('his ').removeprefix('her ')}" if relation else None


def _when(moment: datetime | None, at: datetime) -> str:
    if moment is None:
        return ""
    days = (moment.date() - at.date()).days
    if days in (-1, 0, 1):
        return {-1: " yesterday", 0: " today", 1: " tomorrow"}[days]
    if abs(days) < 7:
        return f" {'on' if days > 0 else 'last'} {moment:%A}"
    return " some time ago" if days < 0 else " later on"
