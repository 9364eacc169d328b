"""Each kind of fault of a person is found where it was planted, and nowhere else."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from stores.people.app_spec import packaged_apps
from stores.people.dataset import Persona
from stores.people.items import Item
from synth.consistency import person_faults
from synth.offline import OfflineProvider
from synth.shape import item_counts, person_seed

SEED = person_seed(3, 7)


@pytest.fixture(scope="module")
def persona() -> Persona:
    counts = item_counts(packaged_apps(), SEED)
    return OfflineProvider().person("s00008", counts, SEED)


def contact(persona: Persona, **changes: object) -> Persona:
    first, *others = persona.person.contacts
    changed = (replace(first, **changes), *others)  # type: ignore[arg-type]
    return replace(persona, person=replace(persona.person, contacts=changed))


def item(persona: Persona, app: str, change: Callable[[Item], Item]) -> Persona:
    place = next(i for i, one in enumerate(persona.items) if one.app == app)
    items = list(persona.items)
    items[place] = change(items[place])
    return replace(persona, items=tuple(items))


def field(**values: object) -> Callable[[Item], Item]:
    return lambda one: replace(one, fields={**one.fields, **values})  # type: ignore[dict-item]


def later(one: Item) -> Item:
    """An event that ends an hour before it begins."""
    start = one.time("start")
    assert start is not None
    return replace(one, fields={**one.fields, "end": start - timedelta(hours=1)})


PLANTED: dict[str, tuple[Callable[[Persona], Persona], str]] = {
    "nickname": (lambda one: contact(one, name="Hyun-woo 'Sayaka' Ahn"), "nickname in quotes"),
    "signs": (lambda one: contact(one, name="Teściowa Novak (accountant)"), "no name has"),
    "twice": (lambda one: contact(one, name="Lowri Lowri"), "says a word twice"),
    "small letter": (lambda one: contact(one, name="Sandra cu"), "small letter"),
    "address": (lambda one: contact(one, email="phuong@high weber.example"), "no mail address"),
    "number": (lambda one: contact(one, phone="ring me"), "no telephone number"),
    "namesake": (
        lambda one: contact(one, name=one.person.contacts[1].name),
        "two contacts are called",
    ),
    "country": (
        lambda one: contact(one, phone="+999 555 1234", relation="plumber"),
        "number of another country",
    ),
    "unfilled": (lambda one: item(one, "mail", field(body="See you {t:day}")), "filled in"),
    "choice": (lambda one: item(one, "mail", field(body="[Hello|Hi] you")), "filled in"),
    "role": (lambda one: item(one, "mail", field(sender="colleague")), "a role and no name"),
    "the the": (lambda one: item(one, "mail", field(body="It's the the piano again.")), "the the"),
    "no such day": (
        lambda one: item(one, "mail", field(subject="Monday 31 February")),
        "there is no such day",
    ),
    "other day": (
        lambda one: item(
            one, "calendar",
            field(title=f"Boat, {one.person.now + timedelta(days=90):%A %-d %B}"),
        ),
        "it is on",
    ),
    "future mail": (
        lambda one: item(one, "mail", field(received_at=one.person.now + timedelta(days=1))),
        "lies in the future",
    ),
    "ends first": (lambda one: item(one, "calendar", later), "ends before it begins"),
    "opened": (
        lambda one: item(
            one, "reminders",
            lambda x: replace(x, usage=replace(x.usage, last_opened=one.person.now
                                               + timedelta(hours=3))),
        ),
        "opened in the future",
    ),
    "opened before": (
        lambda one: item(
            one, "phonecall",
            lambda x: replace(x, usage=replace(x.usage, last_opened=one.person.now
                                               - timedelta(days=90))),
        ),
        "opened before it was there",
    ),
    "stranger": (
        lambda one: item(one, "calendar", field(attendees=("Nobody Known",))),
        "is no contact",
    ),
    "caller": (lambda one: item(one, "phonecall", field(contact="Nobody Known")), "is no contact"),
    "same title": (
        lambda one: replace(one, items=(*one.items, *(
            replace(x, id="s00008-notes-99") for x in one.items if x.app == "notes"
        ))),
        "items of notes are called",
    ),
}  # fmt: skip


def test_a_made_person_has_no_fault(persona: Persona) -> None:
    assert person_faults(persona) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(persona: Persona, name: str) -> None:
    plant, message = PLANTED[name]
    assert any(message in fault for fault in person_faults(plant(persona)))
