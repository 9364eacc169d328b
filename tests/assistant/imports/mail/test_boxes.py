"""Mails are found wherever a mail program keeps them."""

import json
import os
import plistlib
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest

from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.mails import MailFile, mail_file, mails_in
from stores.people.items import Item
from tests.assistant.imports.mail.conftest import NORA, letter, mbox, read_all


def found_in(path: Path) -> tuple[dict[str, Item], list[LeftOut]]:
    """Subject → mail, and what was left out."""
    found = list(mails_in(path, NORA))
    items = {one.text("subject"): one for one in found if isinstance(one, Item)}
    return items, [one for one in found if isinstance(one, LeftOut)]


def titled(subject: str, **headers: str | None) -> str:
    return letter(subject=subject, message_id=f"<{subject}@x>", **headers)


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_single_mail_is_read_and_is_not_new(tmp_path: Path) -> None:
    items, left = found_in(put(tmp_path / "a.eml", titled("One")))
    assert not items["One"].flag("unread")
    assert left == []


def test_an_export_of_apple_mail_is_a_folder_with_a_file(tmp_path: Path) -> None:
    put(tmp_path / "Post.mbox" / "mbox", mbox(titled("One"), titled("Two")))
    put(tmp_path / "Post.mbox" / "table_of_contents", b"\x00\x01")
    put(tmp_path / "Deleted Messages.mbox" / "mbox", mbox(titled("Gone")))
    items, [left] = found_in(tmp_path)
    assert list(items) == ["One", "Two"]
    assert not items["One"].flag("unread")
    assert (left.what, left.source) == ("Gone", "Deleted Messages.mbox/mbox")
    assert set(found_in(tmp_path / "Post.mbox")[0]) == {"One", "Two"}


def emlx(message: str, flags: int) -> bytes:
    data = message.encode()
    return f"{len(data)}      \n".encode() + data + plistlib.dumps({"flags": flags})


def test_files_of_apple_mail_are_read_with_their_flags(tmp_path: Path) -> None:
    folder = tmp_path / "INBOX.mbox" / "Messages"
    put(folder / "1.emlx", emlx(titled("New and flagged"), 1 << 4))
    put(folder / "2.partial.emlx", emlx(titled("Read"), 1))
    put(folder / "3.emlx", emlx(titled("Gone"), 1 << 1))
    put(folder / "4.emlx", emlx(titled("No list"), 0).partition(b"<?xml")[0])
    items, [left] = found_in(tmp_path)
    assert {name: (one.flag("unread"), one.flag("flagged")) for name, one in items.items()} == {
        "New and flagged": (True, True),
        "Read": (False, False),
        "No list": (False, False),
    }
    assert left.what == "Gone"


def test_a_file_of_apple_mail_is_read_after_empty_lines_and_with_a_wrong_length(
    tmp_path: Path,
) -> None:
    message = titled("One").encode()
    for number, data in enumerate((b"\n\n" + emlx(titled("One"), 1), b"9999999\n" + message)):
        items, left = found_in(put(tmp_path / f"{number}.emlx", data))
        assert (list(items), left) == (["One"], [])


def test_a_file_name_of_any_bytes_can_be_shown(tmp_path: Path) -> None:
    put(tmp_path / os.fsdecode(b"caf\xe9.eml"), letter(Date="soon").replace("From:", "X-From:"))
    [left] = found_in(tmp_path)[1]
    assert left.source.encode() == "caf\ufffd.eml".encode()


def test_a_profile_of_thunderbird_is_read_with_its_folders(tmp_path: Path) -> None:
    put(tmp_path / "Inbox", mbox(titled("One", x_mozilla_status="0001")))
    put(tmp_path / "Inbox.msf", "// <!-- <mdb:mork:z v='1.4'/> -->")
    put(tmp_path / "Inbox.sbd" / "Boats", mbox(titled("Two", x_mozilla_status="0000")))
    put(tmp_path / "Sent", mbox(titled("Three")))
    put(tmp_path / "Junk", mbox(titled("Four")))
    put(tmp_path / "Trash.sbd" / "Old", mbox(titled("Five")))
    put(tmp_path / "popstate.dat", "# POP3 State File")
    items, left = found_in(tmp_path)
    assert {name: one.flag("unread") for name, one in items.items()} == {
        "One": False,
        "Two": True,
        "Three": False,
    }
    assert {one.what: one.source for one in left} == {
        "Four": "Junk",
        "Five": str(Path("Trash.sbd", "Old")),
    }
    assert set(found_in(tmp_path / "Inbox")[0]) == {"One"}


def test_a_maildir_is_read_with_its_folders_flags_and_times(tmp_path: Path) -> None:
    for folder in ("cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Trash/cur", ".Trash/new"):
        (tmp_path / folder).mkdir(parents=True)
    put(tmp_path / "cur" / "1795541400.M1.quay:2,FS", titled("Read and flagged"))
    put(tmp_path / "new" / "1795541400.M2.quay", titled("New", Date=None))
    put(tmp_path / "tmp" / "1795541400.M3.quay", titled("Half written"))
    put(tmp_path / "cur" / "1795541400.M4.quay:2,T", titled("Gone"))
    put(tmp_path / ".Sent" / "cur" / "1795541400.M5.quay:2,S", titled("Mine"))
    put(tmp_path / ".Trash" / "cur" / "1795541400.M6.quay:2,S", titled("Thrown away"))
    items, left = found_in(tmp_path)
    assert {name: (one.flag("unread"), one.flag("flagged")) for name, one in items.items()} == {
        "Read and flagged": (False, True),
        "New": (True, False),
        "Mine": (False, False),
    }
    assert items["New"].time("received_at") == datetime(2026, 11, 24, 18, 30)
    assert {one.what for one in left if one.lost} == {"Gone", "Thrown away"}
    assert [one.what for one in left if not one.lost] == ["New"]


def test_a_folder_of_numbered_files_is_read(tmp_path: Path) -> None:
    put(tmp_path / "inbox" / "1", titled("One"))
    put(tmp_path / "inbox" / ".mh_sequences", "unseen: 1")
    put(tmp_path / "inbox" / "notes.txt", "To buy: rope")
    assert list(found_in(tmp_path)[0]) == ["One"]


def test_a_file_that_holds_no_mails_is_named_when_it_was_sought(tmp_path: Path) -> None:
    for content in (b"hello\n", b"\x00\x01", b"Subject to change: all"):
        items, [left] = found_in(put(tmp_path / "a.mbox", content))
        assert items == {}
        assert (left.kind, left.what, left.why) == ("file", "a.mbox", "it holds no mails")
    assert found_in(put(tmp_path / "b.mbox", b"")) == ({}, [])


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "secret" / "a.eml", titled("Secret"))
    (tmp_path / "post").mkdir()
    (tmp_path / "post" / "b.eml").symlink_to(tmp_path / "secret" / "a.eml")
    (tmp_path / "post" / "c").symlink_to(tmp_path / "secret")
    assert found_in(tmp_path / "post") == ({}, [])


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (mbox(letter()), "Inbox", "mbox"),
        (b"From pia\nSubject: a\n", "x", "mbox"),
        (letter().encode(), "x", "eml"),
        (b"X-Only: this\n\nbody", "a.eml", "eml"),
        (b"X-Only: this\n\nbody", "a.txt", None),
        (b"321\n" + letter().encode(), "1.emlx", "emlx"),
        (b"Subject: Cells\nDate: 2026-11-20\n\n# Cells", "Cells.md", None),
        (b"Subject: Cells\nDate: 2026-11-20\n\nCells", "Cells.txt", None),
        (b"Subject: Cells\nFrom: pia@x.example\n\nCells", "Cells.txt", "eml"),
        (letter(message_id="<1@x>").encode(), "Cells.md", "eml"),
        (b"From the market\nwe need quinces", "notes.txt", None),
        (b"BEGIN:VCALENDAR\nVERSION:2.0", "a.ics", None),
        (b"", "a.mbox", None),
    ],
)
def test_a_file_is_known_by_its_content(head: bytes, name: str, kind: MailFile | None) -> None:
    assert mail_file(head, name) == kind


def test_an_open_file_of_an_archive_is_read_with_the_folder_in_its_name() -> None:
    found = list(mails_in(BytesIO(mbox(titled("One"))), NORA, name="Takeout/Mail/Spam.mbox"))
    [left] = [one for one in found if isinstance(one, LeftOut)]
    assert (left.what, left.source) == ("One", "Takeout/Mail/Spam.mbox")


def test_two_mails_with_one_message_id_are_two_and_copies_are_one() -> None:
    january = letter("Read the meter.", Date="Mon, 5 Jan 2026 09:00:00 +0100")
    february = letter("Read the meter.", Date="Thu, 5 Feb 2026 09:00:00 +0100")
    longer = letter("Read the meter. Now.", Date="Mon, 5 Jan 2026 09:00:00 +0100")
    copy = letter("Read the meter.\n", Date="Mon, 5 Jan 2026 09:00:00 +0100", status="RO")
    items, left = read_all(mbox(january, february, longer, copy))
    assert len({one.id for one in items}) == len(items) == 3
    assert left == []


def test_a_mail_is_the_same_in_every_kind_of_file() -> None:
    message = letter("Hi\n>From here on\nbye")
    [boxed], _ = read_all(mbox(letter("Hi\n>From here on\nbye")))
    [alone], _ = read_all(message.replace(">From", "From").replace("\n", "\r\n").encode(), "a.eml")
    assert boxed.id == alone.id


def test_one_bad_mail_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctrag.assistant.imports.mail import message as module

    def fails(part: object) -> object:
        raise RecursionError("any fault of a reader")

    monkeypatch.setattr(module, "content_of", fails)
    items, left = read_all(mbox(titled("One"), titled("Two")))
    monkeypatch.undo()
    assert items == []
    assert [(one.what, one.why) for one in left] == [
        ("mail 1", "cannot be read (RecursionError)"),
        ("mail 2", "cannot be read (RecursionError)"),
    ]
    assert len(read_all(mbox(titled("One"), "no headers at all", titled("Two")))[0]) >= 1


def test_a_mail_that_is_called_by_its_subject_is_of_the_folder_and_not_of_that_name(
    tmp_path: Path,
) -> None:
    for name in ("Draft.eml", "Chat.eml", "contract.draft.eml"):
        put(tmp_path / "kept" / name, titled(name))
    put(tmp_path / "Drafts" / "a.eml", titled("Begun"))
    items, [left] = found_in(tmp_path)
    assert set(items) == {"Draft.eml", "Chat.eml", "contract.draft.eml"}
    assert left.what == "Begun"


def test_what_a_server_keeps_in_a_folder_is_no_mail() -> None:
    own = letter(
        subject="DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA",
        From="Mail System Internal Data <MAILER-DAEMON@quay.example>",
        X_IMAP="1795421700 0000000001",
    )
    items, [left] = read_all(mbox(own, titled("One")))
    assert [one.text("subject") for one in items] == ["One"]
    assert (left.why, left.on_purpose) == (
        "a note of the mail server on the folder, and no mail",
        True,
    )
    answer = letter(subject="Re: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA?")
    assert len(read_all(mbox(answer))[0]) == 1


def test_what_proton_keeps_beside_a_mail_is_known(tmp_path: Path) -> None:
    said: dict[str, tuple[int, list[str]]] = {
        "Read": (0, ["0", "5", "10"]),
        "New": (1, ["0", "5"]),
        "Spam": (1, ["4", "5"]),
        "Gone": (0, ["3"]),
        "Begun": (0, ["1", "8"]),
    }
    for name, (unread, labels) in said.items():
        put(tmp_path / f"{name}.eml", titled(name))
        payload = {"Version": 1, "Payload": {"ID": name, "Unread": unread, "LabelIDs": labels}}
        put(tmp_path / f"{name}.metadata.json", json.dumps(payload))
    put(tmp_path / "Alone.eml", titled("Alone"))
    put(tmp_path / "Broken.eml", titled("Broken"))
    put(tmp_path / "Broken.metadata.json", '{"Payload": [')
    items, left = found_in(tmp_path)
    assert {name: (one.flag("unread"), one.flag("flagged")) for name, one in items.items()} == {
        "Read": (False, True),
        "New": (True, False),
        "Alone": (False, False),
        "Broken": (False, False),
    }
    assert {one.what for one in left} == {"Spam", "Gone", "Begun"}
