"""Prints what common operations cost; asserts only that nothing is absurd. Run with `-s`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.people.changes import Change
from stores.people.dataset import Persona
from stores.people.items import Item
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, encode, fields, persona

SECONDS = 20.0


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    print(f"{what}: {1000 * seconds:.0f} ms")
    assert seconds < SECONDS


def many(person: str, count: int) -> Persona:
    kinds = [("mail", fields("mail", "x")), ("notes", fields("notes", "y"))]
    items = (Item(f"{person}-{n}", *kinds[n % 2]) for n in range(count))
    return Persona(persona(person).person, tuple(items))


def test_common_operations_cost_little_among_many_people(tmp_path: Path) -> None:
    stores = Stores(tmp_path / "stores")
    people = [many(f"p{number}", 10) for number in range(500)]
    people.append(many("hoarder", 5000))
    with timed("import of 501 people and 10,000 items"):
        stores.import_personas(people, encode, ENCODER)
    with timed("the same again"):
        assert not stores.import_personas(people, encode, ENCODER).anything
    with timed("items of a person with 5,000"):
        assert len(stores.items("hoarder").items) == 5000
    with timed("items of a person with 10"):
        assert len(stores.items("p7").items) == 10
    with timed("one change"):
        stores.apply("p7", "mail", Change("x", remove=["p7-0"]), WHEN)
    with timed("undo of it"):
        stores.undo("p7")
    with timed("import of one more"):
        stores.import_personas([persona("new")], encode, ENCODER)
    with timed("undo of an import, with 501 people to ask"):
        stores.undo("new")
    with timed("forgetting one"):
        assert stores.forget("p7").items == 10
