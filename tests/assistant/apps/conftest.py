"""One person with a few items in each application, and ways to run plans on them."""

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.apps.call import Call, Effect
from ctrag.assistant.apps.execute import Result, effect_of, execute
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.dataset import Persona
from stores.people.items import Contact, Item, Person, Profile, Value
from stores.people.stores import Encode, Matrix, Stores

AT = datetime(2025, 4, 17, 12, 0)
"""A Thursday."""

ADA = Person(
    "ada",
    AT,
    Profile(name="Ada Quist", city="Bergen", home="Elm Street 4", work="Pier 2"),
    (
        Contact("Omar Salcedo", "dispatcher", "+52 33 5550 1103", "omar@example.mx"),
        Contact("Lupita Robles", "wife", "+52 33 5550 1101", "lupita@example.mx"),
        Contact("Nando Vidal", "mechanic", "+52 33 5550 1105", None),
        Contact("Tere Macías", "teacher", None, "tere@example.mx"),
        Contact("Ghost Writer", "pen friend"),
    ),
)


def _item(app: str, item_id: str, **fields: Value) -> Item:
    times = ("received_at", "start", "end", "searched_at", "modified_at", "played_at", "due")
    for name in (*times, "called_at"):
        if isinstance(value := fields.get(name), str):
            fields[name] = datetime.fromisoformat(value)
    optional: dict[str, dict[str, Value]] = {
        "mail": {"unread": False, "flagged": False, "recipients": None},
        "calendar": {"location": None, "attendees": (), "notes": None},
        "google": {"clicked": None},
        "music": {"playlist": None},
        "reminders": {"due": None, "done": False},
        "phonecall": {"duration_s": 0, "voicemail": None},
    }
    return Item(item_id, app, {**optional.get(app, {}), **fields})


ITEMS = (
    _item(
        "mail",
        "m1",
        sender="Omar Salcedo",
        subject="Pallets for Monterrey",
        body="22 pallets, dock 4.",
        received_at="2025-04-16T18:44",
    ),
    _item(
        "mail",
        "m2",
        sender="City Library",
        subject="Your book is due",
        body="In the Woods, back by Friday.",
        received_at="2025-04-17T08:05",
        unread=True,
    ),
    _item(
        "calendar",
        "c1",
        title="Loading at the dock",
        start="2025-04-17T13:15",
        end="2025-04-17T14:45",
        location="Dock 4, El Salto",
        attendees=("Omar Salcedo", "Rosa"),
        notes="bring the papers",
    ),
    _item(
        "calendar",
        "c4",
        title="Crates for Rosa",
        start="2025-06-02T10:00",
        end="2025-06-02T11:00",
        attendees=("Omar Salcedo", "rosa@example.mx"),
    ),
    _item("calendar", "c2", title="Breakfast", start="2025-04-17T07:00", end="2025-04-17T07:30"),
    _item(
        "calendar",
        "c3",
        title="Theory test",
        start="2025-04-24T09:00",
        end="2025-04-24T11:00",
        location="Centro SICT",
    ),
    _item(
        "google",
        "g1",
        query="impala float level",
        clicked="Rochester rebuild",
        searched_at="2025-04-12T16:40",
    ),
    _item("google", "g2", query="corrosive placard", searched_at="2025-04-16T21:15"),
    _item(
        "notes",
        "n1",
        title="Impala to-do",
        body="float\nchoke",
        folder="Cars",
        modified_at="2025-04-10T10:00",
    ),
    _item(
        "notes",
        "n2",
        title="Shopping list",
        body="milk",
        folder="Home",
        modified_at="2025-04-11T10:00",
    ),
    _item(
        "music",
        "s1",
        song_name="Autobahn",
        artist="Kraftwerk",
        album_title="Autobahn",
        genre="Electronic",
        playlist="Road",
        played_at="2025-04-16T06:30",
    ),
    _item(
        "music",
        "s2",
        song_name="Equinoxe",
        artist="Jean-Michel Jarre",
        album_title="Equinoxe",
        genre="Electronic",
        playlist="Road",
        played_at="2025-04-16T06:40",
    ),
    _item(
        "music",
        "s3",
        song_name="La Llorona",
        artist="Chavela Vargas",
        album_title="Cupaima",
        genre="Ranchera",
        played_at="2025-04-15T20:00",
    ),
    _item("reminders", "r1", title="Pay rent", list="Home", due="2025-04-17T18:00"),
    _item("reminders", "r2", title="Water plants", list="Home", done=True),
    _item("reminders", "r3", title="Buy ink", list="Hobby"),
    _item(
        "phonecall",
        "p1",
        contact="Lupita Robles",
        direction="missed",
        called_at="2025-04-17T10:00",
        voicemail="Bring bread, please.",
    ),
    _item(
        "phonecall",
        "p2",
        contact="Omar Salcedo",
        direction="outgoing",
        called_at="2025-04-17T09:00",
        duration_s=75,
    ),
    _item(
        "phonecall",
        "p3",
        contact="+1 800 555 0199",
        direction="missed",
        called_at="2025-04-16T09:00",
    ),
    _item(
        "phonecall",
        "p4",
        contact="Harbour Clinic",
        direction="missed",
        called_at="2025-04-15T09:00",
    ),
)


def _zeros(owned: Sequence[tuple[Person, Item]]) -> Matrix:
    return np.zeros((len(owned), 384), dtype=np.float32)


@pytest.fixture
def at() -> datetime:
    return AT


@pytest.fixture(scope="session")
def person() -> Person:
    return ADA


@pytest.fixture(scope="session")
def items() -> tuple[Item, ...]:
    return ITEMS


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    """`make_item(app, id, **fields)`; times may be texts, optional fields may be left out."""
    return _item


@pytest.fixture(scope="session")
def toolbox() -> Toolbox:
    return Toolbox.packaged()


@pytest.fixture(scope="session")
def encode() -> Encode:
    """An encoder for tests that do not look at vectors."""
    return _zeros


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of stores with Ada in it, to be copied."""
    folder = tmp_path_factory.mktemp("ada") / "stores"
    Stores(folder).import_personas([Persona(ADA, ITEMS)], _zeros, "zeros")
    return folder


@pytest.fixture
def stores(imported: Path, tmp_path: Path) -> Stores:
    """Ada's stores, fresh for each test."""
    return Stores(shutil.copytree(imported, tmp_path / "stores"))


@pytest.fixture
def ask(toolbox: Toolbox) -> Callable[..., Effect]:
    """`ask(plan, **how)`: the effect of a plan written as text; nothing is stored."""

    def effect(
        text: str,
        *,
        items: Sequence[Item] = ITEMS,
        person: Person = ADA,
        at: datetime = AT,
        playing: str | None = None,
        preferred: Sequence[str] = (),
        online: bool = True,
    ) -> Effect:
        plan = Plan.parse(text)
        call = Call(plan.api, plan.arguments, person, items, at, playing, preferred, online=online)
        return effect_of(plan, call, toolbox)[1]

    return effect


@pytest.fixture
def run(stores: Stores, toolbox: Toolbox) -> Callable[..., Result]:
    """`run(plan, **how)`: a plan written as text, carried out on Ada's stores.

    `items` are what the plan sees, Ada's own at first; what earlier plans changed has to be given.
    """

    def result(
        text: str,
        *,
        confirm: Callable[[str], bool] = lambda question: True,
        playing: str | None = "s1",
        items: Sequence[Item] = ITEMS,
        online: bool = True,
        doubt: str = "",
    ) -> Result:
        return execute(
            Plan.parse(text),
            stores=stores,
            person=ADA,
            items=items,
            at=AT,
            toolbox=toolbox,
            encode=_zeros,
            confirm=confirm,
            playing=playing,
            online=online,
            doubt=doubt,
        )

    return result
