"""One person whose features can be worked out by hand, and an encoder that counts four words."""

from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest

import numpy as np
import pytest

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import PersonView, encode_items
from ctrag.assistant.context.learned_features import KINDS, LearnedFeatures
from ctrag.models.encoder import Matrix
from ctrag.text.words import words
from stores.people.app_spec import packaged_apps
from stores.people.dataset import Persona
from stores.people.items import Contact, Item, Person, Profile, Request, Usage, Value

NOW = datetime(2025, 4, 17, 12, 0)
"""A Thursday, noon."""
AXES = ("dentist", "bus", "rent", "jazz")


class AxisEncoder:
    """Counts of `AXES`, or the fifth axis for a text without any, brought to length one."""

    def __init__(self, name: str = "axes", dimension: int = 5) -> None:
        self.name = name
        self.asked: list[str] = []
        self._dimension = dimension

    def encode(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:4] = [words(text).count(axis) for axis in AXES]
            row[4] = not row.any()
            row /= np.linalg.norm(row)
        return rows


def made(app: str, item_id: str, *values: Value, usage: Usage | None = None) -> Item:
    """An item whose fields have `values` in declared order, the last ones None; ISO times may be text."""
    spec = next(one for one in packaged_apps() if one.name == app)
    fields: dict[str, Value] = {}
    named = [field for field in spec.fields if not field.sparse or len(values) == len(spec.fields)]
    for field, value in zip_longest(named, values):
        is_time = field.type == "datetime" and isinstance(value, str)
        fields[field.name] = datetime.fromisoformat(str(value)) if is_time else value
    return Item(item_id, app, fields, usage or Usage())


def used(opens: int, last: str | None, hours: tuple[int, ...], place: str | None) -> Usage:
    return Usage(opens, None if last is None else datetime.fromisoformat(last), hours, place)


ADA = Persona(
    Person(
        "ada",
        NOW,
        Profile(name="Ada Quist", age=41, city="Bergen", home="Elm Street 9", hobbies=("chess",)),
        (
            Contact("Ben Okoro", "dispatcher", "+47 555 01", "ben@example.no"),
            Contact("Mia Quist", "sister"),
            Contact("Tere Macías", "head teacher"),
            Contact("City Shop"),
        ),
    ),
    (
        made("mail", "m1", "Ben Okoro", "Route change", "The bus takes Elm Street", "2025-04-17T10:00", True, False),
        made("mail", "m2", "City Shop", "Invoice", "Rent is paid", "2025-04-15T12:00", False, False,
             usage=used(3, "2025-04-16T12:00", (23, 0), "Home")),
        made("calendar", "c1", "Dentist", "2025-04-17T18:00", "2025-04-17T19:00", "Elm Street 4", ("Mia Quist",), None,
             usage=used(7, "2025-04-17T11:00", (12,), "work")),
        made("calendar", "c2", "Stand-up", "2025-04-17T11:30", "2025-04-17T12:30", None, (), None,
             usage=used(1, "2025-04-17T11:30", (11,), "commute")),
        made("calendar", "c3", "Concert", "2025-04-10T20:00", "2025-04-10T22:00", "Hall", ("Mia Quist", "Ben Okoro"), "a jazz night"),
        made("calendar", "c4", "Theory test", "2025-04-24T09:00", "2025-04-24T11:00", None, (), None),
        made("google", "g1", "dentist near the bus stop", None, "2025-04-16T12:00"),
        made("notes", "n1", "Packing list", "passport, tent", "Travel", "2025-04-01T12:00",
             usage=used(0, None, (8,), None)),
        made("music", "s1", "Blue Moon", "Ella", "Moonlight", "Jazz", "Evening", "2025-04-17T11:55"),
        made("music", "s2", "Night Bus", "Trio", "Lines", "Jazz", None, "2025-04-16T22:00"),
        made("music", "s3", "Loud", "Band", "Noise", "Rock", "Run", "2025-04-15T07:00"),
        made("reminders", "r1", "Pay the rent", "2025-04-17T09:00", "Home", False),
        made("reminders", "r2", "Call the dentist", None, "Health", False),
        made("reminders", "r3", "Water plants", "2025-04-17T20:00", "Home", False),
        made("reminders", "r4", "Buy tickets", "2025-04-19T10:00", "Travel", False),
        made("reminders", "r5", "Return book", "2025-04-16T10:00", "Home", True),
        made("phonecall", "p1", "Ben Okoro", "missed", "2025-04-17T11:00", 0, None),
        made("phonecall", "p2", "Mia Quist", "incoming", "2025-04-16T18:00", 340, None),
        made("phonecall", "p3", "City Shop", "outgoing", "2025-04-15T10:00", 61, None),
        made("phonecall", "p4", "Ben Okoro", "missed", "2025-04-14T09:00", 0, "Ring me back"),
    ),
)  # fmt: skip

ASKED = Request("move the dentist thing at 6 pm, tell my sister", NOW, "home", "s1")
"""Its vector is the dentist axis; 6 pm is today's, else tomorrow's."""

BOB = Persona(
    Person("bob", NOW, Profile(name="Bob"), (Contact("Mia Quist", "dentist"),)),
    (
        made("calendar", "b1", "Dentist", "2025-04-17T18:00", "2025-04-17T19:00", None, (), None),
        made("reminders", "b2", "Dentist at 6 pm", "2025-04-17T18:00", "Health", False),
    ),
)


def view_of(persona: Persona = ADA, encoder: AxisEncoder | None = None) -> PersonView:
    vectors = encode_items(
        encoder or AxisEncoder(), [(persona.person, item) for item in persona.items]
    )
    return PersonView(persona.person, persona.items, vectors)


def context_of(
    request: Request = ASKED, view: PersonView | None = None, rows: Sequence[int] | None = None
) -> FeatureContext:
    view = view_of() if view is None else view
    chosen = np.arange(len(view)) if rows is None else np.array(rows, dtype=np.int64)
    return FeatureContext(view, request, AxisEncoder().encode([request.text])[0], chosen)


def toy_learned_features() -> LearnedFeatures:
    """The dentist axis speaks for the calendar (2) and events of today (3), mail has an intercept
    of -1, notes one of -2; the map turns the dentist axis into the bus axis."""
    apps = [app.name for app in packaged_apps()]
    app_weights = np.zeros((6, len(apps)), dtype=np.float32)
    app_weights[0, apps.index("calendar")] = 2.0
    app_weights[-1, apps.index("mail")] = -1.0
    kind_weights = np.zeros((6, len(KINDS)), dtype=np.float32)
    kind_weights[0, KINDS.index("event today")] = 3.0
    kind_weights[-1, KINDS.index("note")] = -2.0
    item_map = np.eye(5, dtype=np.float32)
    item_map[0] = [0, 4, 0, 0, 0]
    return LearnedFeatures(app_weights, kind_weights, item_map)


@pytest.fixture
def context() -> FeatureContext:
    """Ada's request beside all of her items."""
    return context_of()
