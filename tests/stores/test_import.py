import errno
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.database import StoreUnavailable
from stores.people.changes import Change
from stores.people.dataset import Persona
from stores.people.item_rows import StoredItem
from stores.people.items import Contact, Item, Person
from stores.people.store_files import StoreFiles
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, comparable, contents, encode, item, persona

Process = Callable[[Path, str], "subprocess.Popen[str]"]


def said(stores: Stores, person: str) -> set[str]:
    """The words of a person's items."""
    found = comparable(stores.items(person))
    return {str(next(iter(one.fields.values()))).split()[-1] for one, _ in found.values()}


def generations(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir()}


def bytes_under(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "write.lock"
    }


def test_importing_the_same_again_makes_no_generation(stores: Stores, root: Path) -> None:
    before = bytes_under(root)

    def never(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
        raise AssertionError("nothing is new, nothing is to be encoded")

    report = stores.import_personas([persona("ada"), persona("bob", "plumber")], never, ENCODER)
    assert not report.anything
    assert report.unchanged == 14
    assert bytes_under(root) == before


def test_changed_items_are_replaced_and_others_stay(stores: Stores) -> None:
    old = comparable(stores.items("ada"))
    changed = Persona(persona("ada").person, (item("mail", "ada-mail", "zebra"),))
    report = stores.import_personas([changed], encode, ENCODER)
    assert (report.people, report.added, report.changed, report.unchanged) == (0, 0, 1, 0)
    new = comparable(stores.items("ada"))
    assert new.pop("ada-mail")[0] == changed.items[0]
    del old["ada-mail"]
    assert new == old
    assert said(stores, "bob") == {"plumber"}


def test_an_item_that_moved_to_another_application_is_there_once(stores: Stores) -> None:
    moved = Persona(persona("ada").person, (item("notes", "ada-mail"),))
    stores.import_personas([moved], encode, ENCODER)
    assert comparable(stores.items("ada"))["ada-mail"][0].app == "notes"
    assert len(stores.items("ada").items) == 7


def test_items_that_name_a_contact_of_a_new_relation_get_new_vectors(stores: Stores) -> None:
    ada = persona("ada")
    called = replace(item("phonecall", "ada-call"), fields={**item("phonecall", "x").fields})
    called = replace(called, fields={**called.fields, "contact": "Ben"})
    stores.import_personas([Persona(ada.person, (called,))], encode, ENCODER)
    encoded: list[str] = []

    def noted(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
        encoded.extend(one.id for _, one in pairs)
        return encode(pairs)

    husband = replace(ada.person, contacts=(Contact("Ben", "husband"),))
    stores.import_personas([Persona(husband, ada.items[:2])], noted, ENCODER)
    assert sorted(encoded) == ["ada-calendar", "ada-call"]  # both name him
    assert all(one.vector is not None for one in stores.items("ada").items)


def test_batches_of_one_import_share_a_generation_and_are_taken_back_together(
    stores: Stores, root: Path
) -> None:
    before = contents(stores)
    first = Persona(persona("ada").person, (item("mail", "one"),))
    second = Persona(persona("ada").person, (item("notes", "two"), item("mail", "three")))
    report = stores.import_personas([first], encode, ENCODER)
    both = report + stores.import_personas([second], encode, ENCODER, continues=report)
    assert (both.added, both.apps["mail"].added, both.apps["notes"].added) == (3, 2, 1)
    assert {"one", "two", "three"} <= comparable(stores.items("ada")).keys()
    assert len(generations(root)) == 2
    assert stores.undo("ada").summary == "import of 0 people and 3 items"
    assert contents(stores) == before


def test_a_batch_after_somebody_elses_import_is_a_generation_of_its_own(stores: Stores) -> None:
    report = stores.import_personas(
        [Persona(persona("ada").person, (item("mail", "one"),))], encode, ENCODER
    )
    stores.import_personas([persona("eve")], encode, ENCODER)
    second = Persona(persona("ada").person, (item("mail", "two"),))
    again = stores.import_personas([second], encode, ENCODER, continues=report)
    assert again.generation != report.generation
    assert {"one", "two"} <= comparable(stores.items("ada")).keys()
    assert len(stores.items("eve").items) == 7


@pytest.mark.parametrize(
    ("personas", "message"),
    [
        ([persona("eve"), persona("eve")], "persona_id: 'eve' appears twice"),
        (
            [Persona(persona("eve").person, (item("mail", "x"), item("notes", "x")))],
            "id: item 'x' of 'eve' appears twice",
        ),
        (
            [Persona(persona("eve").person, (Item("x", "pets", {}),))],
            "app: 'pets' of item 'x' is unknown",
        ),
        (
            [Persona(persona("eve").person, (Item("x", "mail", {"colour": "red"}),))],
            "x: mail has no field 'colour'",
        ),
        (
            [Persona(persona("eve").person, (Item("x", "mail", {"received_at": "soon"}),))],
            "mail: Conversion Error",
        ),
    ],
)
def test_a_bad_persona_changes_nothing(
    stores: Stores, root: Path, personas: list[Persona], message: str
) -> None:
    before = bytes_under(root)
    with pytest.raises(ValueError, match=message) as caught:
        stores.import_personas([persona("new"), *personas], _sevens, ENCODER)
    assert "\n" not in str(caught.value)
    assert bytes_under(root) == before


def _sevens(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
    return np.zeros((len(pairs), 7), np.float32)


def test_vectors_of_another_encoder_are_refused(stores: Stores, root: Path) -> None:
    before = bytes_under(root)
    with pytest.raises(ValueError, match="encoder: these stores hold vectors of letters, not of"):
        stores.import_personas([persona("eve")], encode, "words")
    assert bytes_under(root) == before


def test_what_happens_while_vectors_are_made_is_not_lost(stores: Stores) -> None:
    calls = 0

    def slow(pairs: Sequence[tuple[Person, Item]]) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 1:  # somebody else imports, forgets and changes meanwhile
            stores.import_personas([persona("eve")], encode, ENCODER)
            stores.forget("bob")
            stores.apply("ada", "notes", Change("gone", remove=["ada-notes"]), WHEN)
        return encode(pairs)

    stores.import_personas([persona("bob", "zebra"), persona("flo")], slow, ENCODER)
    assert sorted(stores.people()) == ["ada", "bob", "eve", "flo"]
    assert said(stores, "bob") == {"zebra"}
    assert "ada-notes" not in comparable(stores.items("ada"))


def test_folders_are_private(tmp_path: Path) -> None:
    root = tmp_path / "stores"
    Stores(root).import_personas([persona("ada")], encode, ENCODER)
    folders = [root, *(path for path in root.iterdir() if path.is_dir())]
    assert [oct(path.stat().st_mode & 0o777) for path in folders] == ["0o700", "0o700"]


KILLS = {
    "copying": "generations.shutil.copy2 = die",
    "first store": "app_store.AppStore.load = die",
    "inside a transaction": "item_rows.ItemTable.insert = die",
    "last store": (
        "load = app_store.AppStore.load\n"
        "def late(self, *a):\n    load(self, *a)\n    self.app.name == 'phonecall' and die()\n"
        "app_store.AppStore.load = late"
    ),
    "before the manifest": "generations.write_manifest = die",
    "between the manifests": (
        "move = Path.replace\n"
        "def only(a, b):\n    b == root / 'manifest.json' and die()\n    move(a, b)\n"
        "Path.replace = only"
    ),
}
IMPORT = (
    "stores.import_personas([persona('ada', 'zebra'), persona('eve', 'zebra')], encode, ENCODER)"
)


@pytest.mark.parametrize("point", KILLS)
def test_a_killed_import_leaves_the_old_data_and_the_next_one_works(
    stores: Stores, root: Path, process: Process, point: str
) -> None:
    before = contents(stores)
    killed = process(root, f"{KILLS[point]}\n{IMPORT}")
    killed.communicate()
    assert killed.returncode == -9
    assert contents(Stores.open(root)) == before

    stores.import_personas([persona("ada", "zebra"), persona("eve", "zebra")], encode, ENCODER)
    assert said(stores, "ada") == said(stores, "eve") == {"zebra"}
    assert said(stores, "bob") == {"plumber"}
    assert len(generations(root)) == 2


def test_an_import_killed_after_the_swap_is_complete(root: Path, process: Process) -> None:
    killed = process(root, f"generations.prune = die\n{IMPORT}")
    killed.communicate()
    assert killed.returncode == -9
    assert said(Stores.open(root), "ada") == said(Stores.open(root), "eve") == {"zebra"}


def test_an_import_interrupted_right_after_the_swap_keeps_its_files(
    root: Path, process: Process
) -> None:
    code = (
        "write = generations.write_manifest\n"
        "def late(*a):\n    write(*a)\n    raise KeyboardInterrupt\n"
        f"generations.write_manifest = late\ntry:\n    {IMPORT}\nexcept KeyboardInterrupt: print('^C')"
    )
    out, _ = process(root, code).communicate()
    assert out == "^C\n"
    assert said(Stores.open(root), "ada") == {"zebra"}


def test_readers_elsewhere_see_the_old_or_the_new_and_never_a_mixture(
    stores: Stores, root: Path, process: Process
) -> None:
    reader = process(
        root,
        "seen = []\nprint('ready', flush=True)\n"
        "import select\n"
        "while not select.select([sys.stdin], [], [], 0)[0]:\n"
        "    found = stores.items('ada')\n"
        "    assert not found.unavailable, found.unavailable\n"
        "    texts = {str(next(iter(one.item.fields.values()))).split()[-1] for one in found.items}\n"
        "    assert len(texts) == 1 and len(found.items) == 7, (texts, len(found.items))\n"
        "    seen += texts - set(seen[-1:])\n"
        "print(*seen)",
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    imported = [f"word{number}" for number in range(4)]
    for words in imported:
        stores.import_personas([persona("ada", words)], encode, ENCODER)
    time.sleep(0.1)
    out, errors = reader.communicate("stop\n")
    assert errors == ""
    seen = out.split()
    assert seen == [one for one in ["dentist", *imported] if one in seen]
    assert len(seen) > 1
    assert seen[-1] == "word3"


def test_a_reader_whose_generation_is_removed_on_the_way_starts_again(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = [persona("ada", "one"), persona("ada", "two"), persona("ada", "three")]
    look = StoreFiles.stores_in

    def slow(self: StoreFiles, folder: Path) -> object:
        found = look(self, folder)
        if waiting:  # between the manifest and the first file, three imports go by
            todo, waiting[:] = list(waiting), []
            for one in todo:
                stores.import_personas([one], encode, ENCODER)
        return found

    monkeypatch.setattr(StoreFiles, "stores_in", slow)
    assert said(stores, "ada") == {"three"}


def test_a_name_of_a_generation_is_never_used_again(stores: Stores, root: Path) -> None:
    used = [stores.signature()[0]]
    for words in ("one", "two"):
        stores.import_personas([persona("ada", words)], encode, ENCODER)
        used.append(stores.signature()[0])
        stores.undo("ada")
    assert len(set(used)) == 3


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"junk" * 5000)])
def test_what_a_broken_store_cannot_take_is_counted_and_the_rest_is_imported(
    stores: Stores, root: Path, damage: Callable[[Path], object]
) -> None:
    damage(next(root.glob("g*/mail.duckdb")))
    report = stores.import_personas([persona("eve"), persona("ada", "zebra")], encode, ENCODER)
    assert (report.people, report.added, report.changed) == (1, 6, 6)
    (reason, left_out) = report.unavailable["mail"]
    assert reason.startswith(("missing", "damaged"))
    assert left_out == 2
    found = stores.items("ada")  # a lost store is not passed off as an empty one
    assert list(found.unavailable) == ["mail"]
    assert len(found.items) == 6
    assert len(stores.items("eve").items) == 6


@pytest.fixture
def small_disk(tmp_path: Path, template: Path) -> Iterator[Path]:
    """The stores on a disk of their own with little room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"mounting a small disk needs rights: {mounted.stderr.strip()}")
    try:
        subprocess.run(["cp", "-r", str(template), str(disk / "stores")], check=True)
        yield disk / "stores"
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def large(person: str) -> Persona:
    """A person with about 10 MB of mail that does not compress."""
    rng = np.random.default_rng(0)
    words = [rng.bytes(100_000).hex() for _ in range(50)]
    return Persona(
        persona(person).person,
        tuple(item("mail", f"{person}{number}", text) for number, text in enumerate(words)),
    )


def test_a_full_disk_changes_nothing(small_disk: Path) -> None:
    stores = Stores.open(small_disk)
    before, files = contents(stores), bytes_under(small_disk)
    with pytest.raises((StoreUnavailable, OSError), match=r"No space|full|write") as caught:
        stores.import_personas([large("eve")], encode, ENCODER)
    assert "\n" not in str(caught.value)
    change = Change("big", put=[StoredItem(one) for one in large("eve").items])
    with pytest.raises((StoreUnavailable, OSError), match=r"No space|full|write") as caught:
        stores.apply("ada", "mail", change, WHEN)
    assert "\n" not in str(caught.value)
    assert contents(stores) == before
    assert bytes_under(small_disk).keys() - files.keys() <= {"g000001/mail.duckdb.wal"}
    stores.apply("ada", "mail", Change("small", remove=["ada-mail"]), WHEN)
    assert len(stores.items("ada").items) == 6


def test_files_that_may_not_grow_change_nothing(root: Path, process: Process) -> None:
    before = contents(Stores.open(root))
    code = (
        "import resource\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({20_000}, {resource.RLIM_INFINITY}))\n"
        f"try:\n    {IMPORT}\n"
        "except (StoreUnavailable, OSError) as error: print(type(error).__name__, error)\n"
        "try: stores.apply('ada', 'mail', Change('x', put=[StoredItem(item('mail', 'b', 'x' * 900000))]), WHEN)\n"
        "except (StoreUnavailable, OSError) as error: print(type(error).__name__, error)\n"
    )
    out, errors = process(root, code).communicate()
    assert errors == ""
    assert len(out.splitlines()) == 2, out
    assert contents(Stores.open(root)) == before


@pytest.fixture
def read_only(small_disk: Path) -> Path:
    """The stores in a folder that nobody may write, root included."""
    disk = str(small_disk.parent)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    return small_disk


def test_a_read_only_folder_is_read_and_not_changed(read_only: Path) -> None:
    stores = Stores.open(read_only)
    before = bytes_under(read_only)
    assert len(stores.items("ada").items) == 7
    for write in (
        lambda: stores.import_personas([persona("eve")], encode, ENCODER),
        lambda: stores.apply("ada", "mail", Change("x", remove=["ada-mail"]), WHEN),
        lambda: stores.forget("ada"),
        lambda: stores.undo("ada"),
        lambda: Stores(read_only.parent / "new").import_personas([persona("eve")], encode, ENCODER),
    ):
        with pytest.raises(
            (StoreUnavailable, OSError), match=r"(?i)read-only|permission"
        ) as caught:
            write()
        assert "\n" not in str(caught.value)
    assert bytes_under(read_only) == before


def test_a_folder_without_write_permission_is_not_changed(stores: Stores, root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere; the read-only disk stands in for this")
    before = bytes_under(root)
    root.chmod(0o500)
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EACCES)):
            stores.import_personas([persona("eve")], encode, ENCODER)
    finally:
        root.chmod(0o700)
    assert bytes_under(root) == before
