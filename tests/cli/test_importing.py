"""`ctrag import PATH…`: what it tells, its options and its exit codes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.cli.importing import Watch
from stores.people.stores import Stores

Run = Callable[..., Any]
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nTEL:{}\nEND:VCARD\n"


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """A folder with two contacts and a photo."""
    folder = tmp_path / "phone"
    folder.mkdir()
    (folder / "c.vcf").write_text(CARD.format("Ida", 1) + CARD.format("Ola", 2))
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff" + bytes(50))
    return folder


def test_contacts_are_counted_and_a_photo_is_no_loss(ctrag: Run, phone: Path) -> None:
    ran = ctrag("import", phone, "--persona", "me", "--timezone", "Europe/Oslo")
    assert ran.code == 0
    assert "contacts: 2 added, 0 changed, 0 as before" in ran.out
    assert "1 file: no file that ctrag reads" in ran.out
    again = ctrag("import", phone, "--persona", "me")
    assert "contacts: 0 added, 0 changed, 2 as before" in again.out


def test_several_paths_are_read_and_what_is_lost_is_exit_code_3(
    ctrag: Run, phone: Path, tmp_path: Path
) -> None:
    (tmp_path / "old.pst").write_bytes(b"!BDN" + bytes(100))
    ran = ctrag("import", phone / "c.vcf", tmp_path / "old.pst", "--persona", "me", "--json")
    assert ran.code == 3
    assert ran.json["kinds"]["contacts"]["added"] == 2
    [left] = ran.json["left_out"]
    assert (left["source"], left["lost"]) == ("old.pst", True)
    assert "readpst" in left["why"]


def test_one_file_of_which_nothing_can_be_read_is_an_error(ctrag: Run, phone: Path) -> None:
    ran = ctrag("import", phone / "photo.jpg", "--persona", "me")
    assert (ran.code, ran.out) == (1, "")
    assert "photo.jpg: no file that ctrag reads" in ran.err


def test_a_dry_run_stores_nothing(ctrag: Run, phone: Path, tmp_path: Path) -> None:
    ran = ctrag("import", phone, "--persona", "me", "--dry-run")
    assert "contacts: 2 would be added" in ran.out
    assert not (tmp_path / "home" / "stores").exists()


def test_the_zone_of_a_new_person_is_said_and_kept(ctrag: Run, phone: Path, tmp_path: Path) -> None:
    stores = tmp_path / "s"
    ran = ctrag("import", phone, "--persona", "me", "--stores", stores)
    zone = Stores(stores).person("me").profile.timezone
    assert zone is not None
    assert f"Times are those of {zone}, this machine's zone; --timezone sets another." in ran.out
    moved = ctrag(
        *("import", phone, "--persona", "me", "--stores", stores, "--timezone", "Asia/Tokyo")
    )
    assert f"The zone of me was {zone} and is Asia/Tokyo now" in moved.out
    assert Stores(stores).person("me").profile.timezone == "Asia/Tokyo"
    wrong = ctrag("import", phone, "--persona", "me", "--timezone", "Oslo")
    assert (wrong.code, wrong.out) == (1, "")
    assert "--timezone: 'Oslo' is no time zone" in wrong.err


def test_a_known_person_is_renamed_and_it_is_said(ctrag: Run, phone: Path, tmp_path: Path) -> None:
    base = ("import", phone, "--persona", "me", "--stores", tmp_path / "s")
    ctrag(*base, "--name", "Ada")
    ran = ctrag(*base, "--name", "Ada Byron")
    assert "me was called 'Ada' and is 'Ada Byron' now." in ran.out
    person = Stores(tmp_path / "s").person("me")
    assert person.profile.name == "Ada Byron"
    assert [one.name for one in person.contacts] == ["Ida", "Ola"]


def test_without_a_terminal_a_line_is_printed_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 5.0, 11.0, 12.0, 22.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with Watch([]) as watch:
        for items in (25, 50, 75, 100):
            watch.told(items, None)
    assert capsys.readouterr().err.splitlines() == [
        "ctrag: 50 items, 5 a second",
        "ctrag: 100 items, 5 a second",
    ]


def test_a_card_that_is_not_in_the_next_export_goes_with_mirror(
    ctrag: Run, phone: Path, tmp_path: Path
) -> None:
    book = phone / "c.vcf"
    ran = ctrag("import", "--mirror", book, "--persona", "me", "--timezone", "Europe/Oslo")
    assert (ran.code, "contacts: 2 added" in ran.out) == (0, True)
    book.write_text(CARD.format("Ola", 2))
    again = ctrag("import", "--mirror", book, "--persona", "me", "--name", "Ada", "--json")
    assert (again.code, again.json["gone"]) == (0, 1)
    assert again.json["notes"] == ["me was called 'me' and is 'Ada' now."]
    assert ctrag("import", "--mirror", book, "--persona", "me").out == "c.vcf: nothing new\n"
    ran = ctrag("import", "--mirror", phone / "photo.jpg", "--persona", "me")
    assert ran.code == 1
    assert "--mirror is for calendars and address books" in ran.err
    ran = ctrag("import", "--mirror", "--dry-run", book, "--persona", "me")
    assert (ran.code, "--dry-run is for files" in ran.err) == (2, True)
