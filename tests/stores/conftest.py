"""Two people with a few items each, and real processes to handle them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from stores.people.app_spec import packaged_apps
from stores.people.dataset import Persona
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person, Profile, Usage, Value
from stores.people.stores import PersonItems, Stores

WHEN = datetime(2025, 4, 17, 12, 59)
ENCODER = "letters"


def fields(app: str, words: str) -> dict[str, Value]:
    """Every field of an item of `app`, with `words` in its texts."""
    spec = next(one for one in packaged_apps() if one.name == app)
    made: dict[str, Value] = {}
    for one in spec.fields:
        values: dict[str, Value] = {
            "string": one.values[0] if one.values else f"{one.name} {words}",
            "text": words,
            "datetime": WHEN,
            "boolean": False,
            "integer": 60,
            "strings": ("Ben", words),
        }
        made[one.name] = values[one.type]
    return made


def item(app: str, item_id: str, words: str = "dentist") -> Item:
    """An item of `app` that says `words`."""
    return Item(item_id, app, fields(app, words), Usage(3, WHEN, (8, 18), "home"))


def persona(person_id: str, words: str = "dentist", apps: Sequence[str] | None = None) -> Persona:
    """A person with one item per application, `<person>-<app>`."""
    names = [app.name for app in packaged_apps()] if apps is None else apps
    return Persona(
        Person(person_id, WHEN, Profile(person_id.title()), (Contact("Ben", "dispatcher"),)),
        tuple(item(name, f"{person_id}-{name}", words) for name in names),
    )


def encode(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
    """Letter counts of the item's first text: different words, different vectors."""
    rows = [[item.text(next(iter(item.fields))).count(a) for a in "abdeint"] for _, item in pairs]
    return np.array(rows, dtype=np.float32).reshape(len(pairs), 7)


def contents(stores: Stores) -> dict[str, dict[str, object]]:
    """All that the stores hold, comparable: person → what there is of them."""
    return {
        person: {
            "person": stores.person(person),
            "items": comparable(stores.items(person)),
            "outbox": stores.outbox(person),
            "changes": stores.changes(person),
            "blocked": stores.state(person, "phonecall", "blocked"),
        }
        for person in stores.people()
    }


def comparable(found: PersonItems) -> dict[str, tuple[Item, list[float] | None]]:
    """Items and vectors by id; the order of stored items says nothing after an undo."""
    assert not found.unavailable
    assert len({one.item.id for one in found.items}) == len(found.items)
    return {one.item.id: (one.item, _floats(one)) for one in found.items}


def _floats(stored: StoredItem) -> list[float] | None:
    return None if stored.vector is None else [float(one) for one in stored.vector]


def run(root: Path, code: str, **more: object) -> "subprocess.Popen[str]":
    """Start `code` in a process of its own, with `stores` opened on `root` if there are any."""
    here = Path(__file__).parent
    prelude = (
        f"import sys; sys.path[:0] = [{str(here.parents[1])!r}, {str(here)!r}]\n"
        "import os, signal, time\nfrom pathlib import Path\n"
        "from conftest import *\n"
        "from stores import database, files\n"
        "from stores.people import app_store, generations, item_rows\n"
        "from stores.people.changes import *\nfrom stores.people.item_rows import *\nfrom stores.database import *\n"
        f"root = Path({str(root)!r})\n"
        "stores = Stores(root)\n"
        "def die(*a, **k): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """`process(root, code)`: `code` in a real process, ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(root: Path, code: str) -> "subprocess.Popen[str]":
        started.append(run(root, code))
        return started[-1]

    yield start
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores with Ada and Bob, to be copied."""
    root = tmp_path_factory.mktemp("template") / "stores"
    Stores(root).import_personas([persona("ada"), persona("bob", "plumber")], encode, ENCODER)
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A folder of stores with Ada and Bob, fresh for each test."""
    import shutil

    return Path(shutil.copytree(template, tmp_path / "stores"))


@pytest.fixture
def stores(root: Path) -> Stores:
    return Stores.open(root, timeout=0.5, read_timeout=0.3)
