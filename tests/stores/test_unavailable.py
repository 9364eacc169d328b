import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.database import StoreUnavailable
from stores.people.changes import Change
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, WHEN, encode, persona

Process = Callable[[Path, str], "subprocess.Popen[str]"]


def truncate(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def flip(path: Path) -> None:
    """Bytes in the middle of every block changed, headers left alone."""
    content = bytearray(path.read_bytes())
    for start in range(12288 + 1000, len(content), 4096):
        content[start : start + 8] = b"damaged!"
    path.write_bytes(bytes(content))


def become_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: path.unlink(), "missing"),
    "garbage": (lambda path: path.write_bytes(b"garbage" * 5000), "damaged"),
    "empty": (lambda path: path.write_bytes(b""), "damaged"),
    "truncated in the header": (lambda path: truncate(path, 9000), "damaged"),
    "truncated in the data": (lambda path: truncate(path, 20_000), "damaged"),
    "bytes flipped": (flip, "damaged"),
    "a folder": (become_folder, "damaged"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_store_that_does_not_answer_is_named_and_the_other_six_answer(
    root: Path, kind: str
) -> None:
    damage, reason = DAMAGE[kind]
    damage(root / "g000001" / "calendar.duckdb")
    stores = Stores.open(root)
    for _ in range(2):  # the first failure spoils nothing for the next read
        found = stores.items("ada")
        assert list(found.unavailable) == ["calendar"]
        assert found.unavailable["calendar"].startswith(reason)
        assert "\n" not in found.unavailable["calendar"]
        assert [one.item.app for one in found.items] == [
            app.name for app in stores.apps if app.name != "calendar"
        ]
    with pytest.raises(StoreUnavailable, match="the calendar store is"):
        stores.apply("ada", "calendar", Change("x", remove=["ada-calendar"]), WHEN)
    stores.apply("ada", "mail", Change("x", remove=["ada-mail"]), WHEN)
    assert list(stores.items("ada").unavailable) == ["calendar"]


def test_writing_to_a_missing_store_does_not_make_an_empty_one(stores: Stores, root: Path) -> None:
    path = root / "g000001" / "mail.duckdb"
    path.unlink()
    with pytest.raises(StoreUnavailable, match="the mail store is missing"):
        stores.apply("ada", "mail", Change("x"), WHEN)
    assert not path.exists()


def test_a_store_that_is_written_elsewhere_for_long_is_named(
    stores: Stores, root: Path, process: Process
) -> None:
    writer = process(
        root,
        "with writing(root / 'g000001' / 'notes.duckdb', 'notes'):\n"
        "    print('held', flush=True)\n    sys.stdin.readline()",
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "held\n"
    found = stores.items("ada")
    assert found.unavailable == {"notes": "locked: others have it open for more than 0.3 s"}
    assert len(found.items) == 6
    with pytest.raises(StoreUnavailable, match=r"notes store is locked: .* more than 0\.5 s"):
        stores.apply("ada", "notes", Change("x"), WHEN)
    writer.communicate("go\n")
    assert not stores.items("ada").unavailable


def test_a_reader_waits_for_a_short_write(stores: Stores, root: Path, process: Process) -> None:
    writer = process(
        root,
        "with writing(root / 'g000001' / 'notes.duckdb', 'notes'):\n"
        "    print('held', flush=True)\n    time.sleep(0.15)",
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "held\n"
    assert not stores.items("ada").unavailable


@pytest.mark.parametrize("kind", ["missing", "garbage", "truncated in the header"])
def test_without_the_people_the_error_says_so(stores: Stores, root: Path, kind: str) -> None:
    damage, reason = DAMAGE[kind]
    damage(root / "g000001" / "people.duckdb")
    for ask in (
        lambda: stores.person("ada"),
        lambda: stores.people(),
        lambda: stores.undo("ada"),
        lambda: stores.import_personas([persona("eve")], encode, ENCODER),
    ):
        with pytest.raises(StoreUnavailable, match=f"the people store is {reason}") as caught:
            ask()
        assert "\n" not in str(caught.value)
    assert len(stores.items("ada").items) == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"damaged manifest \(.*JSON"),
        (b'{"generation": "g0000', r"damaged manifest \(.*JSON"),
        (b"\xff\xfe", r"damaged manifest \("),
        (b"[]", r"damaged manifest \("),
        (b'{"generation": "../x", "changed_at": 1, "summary": ""}', r"damaged .*generation: "),
        (b'{"generation": "g000001", "summary": ""}', r"damaged .*changed_at: Field required"),
        (
            b'{"format": 2, "generation": "g000001", "changed_at": 1, "summary": ""}',
            r"format: these stores have format 2, this ctrag reads 1",
        ),
    ],
)
def test_a_damaged_manifest_is_named(root: Path, text: bytes, message: str) -> None:
    (root / "manifest.json").write_bytes(text)
    with pytest.raises(ValueError, match=rf"manifest\.json: {message}") as caught:
        Stores.open(root)
    assert "\n" not in str(caught.value)


def test_opening_a_folder_without_stores_says_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no stores in .*: run `ctrag import` first"):
        Stores.open(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert Stores(tmp_path).people() == []
