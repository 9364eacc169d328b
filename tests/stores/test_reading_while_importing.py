"""Claims about readers beside a large import; prints their longest wait. Run with `-s`."""

import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stores.people.items import Contact, Person
from stores.people.stores import PersonItems, Stores
from tests.stores.conftest import ENCODER, encode, persona

Process = Callable[[Path, str], "subprocess.Popen[str]"]
PEOPLE = 3000
IMPORT = f"""
from dataclasses import replace
ada = persona('ada', 'zebra')
ada = replace(ada, person=replace(ada.person, contacts=(Contact('Zoe', 'vet'),)))
people = [ada, *(persona(f'p{{number}}', 'zebra') for number in range({PEOPLE}))]
print('ready', flush=True)
sys.stdin.readline()
stores.import_personas(people, lambda owned: np.ones((len(owned), 7), np.float32), ENCODER)
"""
"""A large import that changes every item of Ada, their vectors and her contacts."""


@dataclass(slots=True)
class Reader:
    """Reads in a loop; keeps each state once for each time that it changes, waits and errors."""

    read: Callable[[], object]
    until: threading.Event
    states: list[object] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        try:
            while not self.until.is_set():
                began = time.perf_counter()
                state = self.read()
                self.waits.append(time.perf_counter() - began)
                if not self.states or self.states[-1] != state:
                    self.states.append(state)
        except BaseException as error:  # told by the test, not by the thread
            self.errors.append(error)


def said(person: Person, found: PersonItems) -> tuple[object, ...]:
    """What a reader sees of Ada: contacts, words, whose vectors, and what is missing."""
    words = {str(next(iter(one.item.fields.values()))).split()[-1] for one in found.items}
    vectors = {None if one.vector is None else bool(one.vector.all()) for one in found.items}
    return (person.contacts, sorted(words), len(found.items), vectors, found.unavailable)


ADA = persona("ada").person
OLD = ((Contact("Ben", "dispatcher"),), ["dentist"], 7, {False}, {})
NEW = ((Contact("Zoe", "vet"),), ["zebra"], 7, {True}, {})


def beside_an_import(
    root: Path, process: Process, reads: list[Callable[[], object]]
) -> tuple[list[Reader], float]:
    """Readers in threads of their own while another process imports, and its seconds."""
    importer = process(root, IMPORT)
    assert importer.stdin is not None
    assert importer.stdout is not None
    assert importer.stdout.readline() == "ready\n"
    over = threading.Event()
    readers = [Reader(read, over) for read in reads]
    threads = [threading.Thread(target=reader.run) for reader in readers]
    for thread in threads:
        thread.start()
    began = time.perf_counter()
    _, errors = importer.communicate("go\n")
    seconds = time.perf_counter() - began
    time.sleep(0.2)  # everybody reads once more
    over.set()
    for thread in threads:
        thread.join()
    assert (importer.returncode, errors) == (0, "")
    return readers, seconds


def test_readers_beside_a_large_import_see_the_old_or_the_new_and_wait_for_neither(
    root: Path, process: Process
) -> None:
    def whole() -> object:
        return said(*Stores(root).person_and_items("ada"))

    def one_store_after_another() -> object:
        return said(ADA, Stores(root).items("ada"))[1:]

    readers, seconds = beside_an_import(root, process, [whole, one_store_after_another])
    for reader, old, new in zip(readers, (OLD, OLD[1:]), (NEW, NEW[1:]), strict=True):
        assert not reader.errors
        assert reader.states == [old, new]
    waits = [wait for reader in readers for wait in reader.waits]
    print(
        f"import of {PEOPLE} people: {seconds:.1f} s; {len(waits)} reads beside it, "
        f"longest {1000 * max(waits):.0f} ms"
    )
    assert max(waits) < max(2.0, seconds / 2)
    assert len(waits) > 2 * len(readers), "nobody read while the import ran"


def test_a_person_and_their_items_are_never_of_two_generations(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Stores._items_in
    waiting = [persona("ada", "zebra")]

    def slow(self: Stores, folder: Path, person_id: str) -> PersonItems:
        if waiting:  # between the person and the items, an import goes by
            stores.import_personas([waiting.pop()], encode, ENCODER)
        return look(self, folder, person_id)

    monkeypatch.setattr(Stores, "_items_in", slow)
    assert said(*stores.person_and_items("ada"))[1] == ["dentist"]
    assert said(*stores.person_and_items("ada"))[1] == ["zebra"]
