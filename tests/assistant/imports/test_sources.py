"""Folders and archives are looked through; what could do harm is left out and counted."""

import os
import struct
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports import sources
from ctrag.assistant.imports.files import records_in, size_of
from ctrag.assistant.imports.found import LeftOut, Owner, Version
from ctrag.assistant.imports.kinds import kind_of
from ctrag.assistant.imports.sources import Source, sources_in
from stores.people.items import Contact, Item

OWNER = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nEND:VCARD\n"
MAIL = (
    "From - Thu Apr 17 08:00:00 2025\nFrom: Uwe <uwe@x.example>\nTo: me@x.example\n"
    "Date: Wed, 16 Apr 2025 12:44:30 +0200\nMessage-ID: <1@x.example>\nSubject: Glass\n\nTwo panes.\n"
)
EVENT = (
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1\nSUMMARY:Dock\nDTSTART:20261127T180000\n"
    "END:VEVENT\nEND:VCALENDAR\n"
)


def read(path: Path) -> tuple[list[str], list[LeftOut]]:
    """What the items and contacts under a path are called, and what was left out."""
    titles, left = [], []
    for _, record in records_in(path, OWNER):
        if isinstance(record, LeftOut):
            left.append(record)
        elif isinstance(record, Contact):
            titles.append(record.name)
        elif not isinstance(record, Version):
            assert isinstance(record, Item)
            titles.append(record.text("title") or record.text("subject"))
    return titles, left


def folder(root: Path) -> Path:
    """A folder with a file of each of four kinds, whose names say nothing or something wrong."""
    (root / "deep" / "er").mkdir(parents=True)
    (root / "a").write_text(EVENT)
    (root / "b.txt").write_text(CARD.format("Ida"))
    (root / "deep" / "Inbox").write_text(MAIL)
    (root / "deep" / "er" / "Lock.md").write_text("7719")
    (root / "deep" / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(100))
    (root / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    return root


def zipped(root: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                target.write(path, Path("Takeout", path.relative_to(root)))
    return archive


@pytest.mark.parametrize("packed", [False, True])
def test_each_file_is_read_by_what_it_holds_wherever_it_is(tmp_path: Path, packed: bool) -> None:
    path = folder(tmp_path / "phone")
    if packed:
        path = zipped(path, tmp_path / "takeout.zip")
    titles, left = read(path)
    assert sorted(titles) == ["Dock", "Glass", "Ida", "Lock"]
    [photo] = left
    assert photo.what.endswith("deep/photo.jpg")
    assert not photo.lost
    assert size_of(path) == sum(
        one.stat().st_size
        for one in (tmp_path / "phone").rglob("*")
        if one.is_file() and one.name != ".DS_Store"
    )


def test_a_broken_file_costs_only_itself(tmp_path: Path) -> None:
    path = folder(tmp_path / "phone")
    (path / "broken.ics").write_text("BEGIN:VCARD\n")
    (path / "broken.json").write_text('{"isTrashed": false, "textContent": ')
    titles, left = read(path)
    assert sorted(titles) == ["Dock", "Glass", "Ida", "Lock"]
    assert sorted(one.source for one in left if one.lost) == [
        "phone/broken.ics",
        "phone/broken.json",
    ]


def test_a_link_is_not_followed_and_a_pipe_is_not_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.vcf").write_text(CARD.format("Secret"))
    path = folder(tmp_path / "phone")
    (path / "link.vcf").symlink_to(outside / "secret.vcf")
    (path / "linked").symlink_to(outside)
    (path / "loop").symlink_to(path)
    os.mkfifo(path / "pipe")
    titles, left = read(path)
    assert "Secret" not in titles
    whys = {one.what.rpartition("/")[2]: one.why for one in left if one.lost}
    assert whys.keys() == {"link.vcf", "linked", "loop", "pipe"}
    assert "not followed" in whys["linked"]
    assert "device, pipe or socket" in whys["pipe"]


def test_a_link_that_was_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "card.vcf").write_text(CARD.format("Ida"))
    (tmp_path / "link").symlink_to(tmp_path / "card.vcf")
    assert read(tmp_path / "link") == (["Ida"], [])


def test_names_that_lead_out_of_an_archive_and_links_in_it_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    link = zipfile.ZipInfo("link.vcf")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.vcf", CARD.format("Evil"))
        archive.writestr("/etc/evil.vcf", CARD.format("Evil"))
        archive.writestr(link, "/etc/passwd")
        archive.writestr("good.vcf", CARD.format("Ida"))
    titles, left = read(path)
    assert titles == ["Ida"]
    assert sorted(one.why.partition(":")[0] for one in left) == [
        "a symbolic link is not followed",
        "its name leads out of the archive",
        "its name leads out of the archive",
    ]
    assert not list(tmp_path.glob("*evil*"))


def test_an_archive_that_unpacks_to_no_measure_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.vcf", CARD.format("Ida"))
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<I", 0xFFFFFFF0)  # its size unpacked, as told
    path.write_bytes(data)
    titles, [left] = read(path)
    assert (titles, left.lost) == ([], True)
    assert "would unpack to 4,294,967,280 bytes" in left.why


def packed(*files: tuple[str, str | bytes]) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def test_an_archive_inside_of_an_archive_is_read_and_one_too_deep_is_told(tmp_path: Path) -> None:
    deep = packed(("card.vcf", CARD.format("Deep")))
    for _ in range(2):
        deep = packed(("inner.zip", deep))
    path = tmp_path / "takeout.zip"
    parts = [(f"part {name}.zip", packed(("c.vcf", CARD.format(name)))) for name in ("Ida", "Ola")]
    path.write_bytes(packed(*parts, ("deep.zip", deep), ("bad.zip", b"PK\x03\x04" + bytes(99))))
    titles, left = read(path)
    assert titles == ["Ida", "Ola"]
    assert sorted(one.what for one in left) == [
        "takeout.zip/bad.zip",
        "takeout.zip/deep.zip/inner.zip/inner.zip",
    ]
    assert all("unpack it and import the folder" in one.why for one in left)


def test_archives_inside_of_each_other_have_one_measure_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_SMALL", 3_000)
    monkeypatch.setattr(sources, "_RATIO", 1)
    zeros = packed(("z.md", bytes(2_000)))
    path = tmp_path / "a.zip"
    path.write_bytes(packed(("1.zip", zeros), ("2.zip", zeros)))
    found = list(sources.sources_in(path))
    assert [one.name for one in found if isinstance(one, Source)] == ["a.zip/1.zip/z.md"]
    assert "would unpack to 2,000 bytes" in found[1].why  # type: ignore[union-attr]


def test_a_damaged_or_encrypted_entry_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("bad.vcf", "good.vcf", "locked.vcf"):
            archive.writestr(name, CARD.format(name))
    data = bytearray(path.read_bytes())
    data[data.index(b"FN:bad")] ^= 1  # its checksum is another now
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # encrypted
    path.write_bytes(data)
    titles, left = read(path)
    assert titles == ["good.vcf"]
    assert [one.source for one in left] == ["a.zip/bad.vcf", "a.zip"]


@pytest.mark.parametrize(
    ("head", "name", "way"),
    [
        (b"!BDN\0\0", "old.pst", "readpst"),
        (b"PK\x03\x04", "mac.olm", "drag the mail folders out of Outlook"),
        (b"<?xml version='1.0'?>\n<smses count='1'>", "sms.xml", r"own-app\.md"),
        (b"SQLite format 3\0", "contacts2.db", "export from the application"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "Offer.MSG", r"save it as \.eml"),
        (b"dn: cn=Ida\n", "book.ldif", "export it as vCard"),
        (b"\x1f\x8b\x08\0", "takeout-20261126.tgz", r"order Takeout as \.zip"),
        (b"\x1f\x8b\x08\0", "takeout.tar.gz", "tar xf"),
        (b"Rar!\x1a\x07", "notes.rar", "unpack it"),
    ],
)
def test_what_is_not_read_names_a_way(tmp_path: Path, head: bytes, name: str, way: str) -> None:
    (tmp_path / name).write_bytes(head + bytes(200))
    titles, [left] = read(tmp_path)
    assert (titles, left.lost) == ([], True)
    assert way.replace("\\", "") in left.why


def test_a_maildir_is_one_source(tmp_path: Path) -> None:
    for part in ("cur", "new", "tmp"):
        (tmp_path / "Mail" / part).mkdir(parents=True)
    (tmp_path / "Mail" / "cur" / "1.x:2,S").write_text(MAIL.partition("\n")[2])
    [source] = [one for one in sources_in(tmp_path) if isinstance(one, Source)]
    assert source.name.endswith("/Mail")
    assert read(tmp_path)[0] == ["Glass"]


def test_documents_that_are_archives_inside_are_not_looked_into(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "letter.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("card.vcf", CARD.format("Ida"))
    titles, [left] = read(tmp_path)
    assert (titles, left.lost) == ([], False)


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (EVENT.encode("utf-16"), "x", "calendar"),
        (b"Sent by Ann\n\n" + EVENT.encode(), "x", "calendar"),
        (CARD.encode(), "x.ics", "contacts"),
        (MAIL.encode(), "calendar.ics", "mail"),
        (b"From the market we bring eggs.\nSee you.\n", "From.md", "note"),
        (b"---\ntitle: x\n---\ntext", "x", "note"),
        (b"plain text, without anything", "x.dat", None),
        (b"plain text, without anything", "x.txt", "note"),
        (b"[ ] milk", "Shop.txt", "note"),
        (b"url,username,password\n", "Wifi.md", "note"),
        (b"Home\nShop\n", "Keep/Labels.txt", None),
        (b"First Name\tLast Name\tE-mail Address\n", "x.txt", "contact table"),
        (b"Date,Type,Number\n2026-01-02,Invoice,1001\n", "x.csv", None),
        (b"Date,Type,Number,Name,Amount\n", "x.csv", None),
        (b"Datum;Typ;Rufnummer;Betrag\n", "x.csv", None),
        (b"Date,Call Type,Number\n", "x.csv", "call table"),
        (b"type,name,url,email,username,password,note\n", "x.csv", None),
        (b'[{"endTime": "2026", "artistName": "a", "trackName": "b"}]', "x", "music"),
        (b'[{"header": "Search", "title": "x", "time": "y"}]', "x", "activity"),
        (b'{"kind": "tasks#taskLists", "items": []}', "x", "tasks"),
        (b'{"textContent": "x", "isTrashed": false}', "x", "keep"),
        (b"<?xml version='1.0'?><calls count='0'/>", "x", "calls"),
        (b'{"other": 1}', "x.json", None),
        (b"", "x.vcf", None),
    ],
)
def test_the_content_decides_and_not_the_name(head: bytes, name: str, kind: str | None) -> None:
    assert kind_of(head, name) == kind


@pytest.mark.parametrize("packed", [False, True])
def test_a_maildir_that_is_called_as_a_notebooks_trash_is_read_and_counted(
    tmp_path: Path, packed: bool
) -> None:
    root = tmp_path / "Mail"
    for folder in ("Inbox", ".Trash"):
        for part in ("cur", "new"):
            (root / folder / part).mkdir(parents=True)
        mail = MAIL.partition("\n")[2].replace("Glass", folder).replace("1@x", f"{folder}@x")
        (root / folder / "cur" / "1795421700.M1.quay:2,S").write_text(mail)
    (root / "vault" / ".trash").mkdir(parents=True)
    (root / "vault" / ".trash" / "Thrown away.md").write_text("old")
    titles, left = read(zipped(root, tmp_path / "mail.zip") if packed else root)
    assert titles == ["Inbox"]
    assert [(one.what, one.on_purpose) for one in left] == [(".Trash", True)]


def test_a_file_that_says_more_of_the_mail_beside_it_is_not_told_as_unread(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text(MAIL.partition("\n")[2])
    (tmp_path / "a.metadata.json").write_text('{"Payload": {"Unread": 1, "LabelIDs": ["4"]}}')
    (tmp_path / "b.metadata.json").write_text("{}")
    titles, left = read(tmp_path)
    assert titles == []
    assert [(one.what.rpartition("/")[2], one.on_purpose) for one in left] == [
        ("Glass", True),
        ("b.metadata.json", False),
    ]


@pytest.mark.parametrize(
    ("head", "name", "way"),
    [
        (
            "type,name,url,email,username,password,note\nlogin,Bank,,a@x.example,a,b,c\n",
            "p.csv",
            "passwords",
        ),
        ("Titel;E-Mail;Name;Passwort\nBank;a@x.example;a;b\n", "p.csv", "passwords"),
        ("name,email,phone,login_password\nBank,a@x.example,1,b\n", "p.txt", "passwords"),
        ("[20.11.26, 10:05:00] Ole: Hi\n", "Chat.txt", "text messages"),
        ("11/20/26, 10:05 AM - Ole: Hi\n", "WhatsApp Chat with Ole.txt", "text messages"),
    ],
)
def test_passwords_and_chats_are_never_stored(
    tmp_path: Path, head: str, name: str, way: str
) -> None:
    (tmp_path / name).write_text(head)
    titles, [left] = read(tmp_path)
    assert (titles, left.lost) == ([], True)
    assert way in left.why


def test_plain_texts_in_a_folder_are_notes(tmp_path: Path) -> None:
    (tmp_path / "Wifi.txt").write_text("Password, at home: 7719, at sea: 1818\n")
    (tmp_path / "Wifi 2.txt").write_text("Wifi password, name, and more\n")
    (tmp_path / "Wifi.md").write_text("url,username,password\n")
    (tmp_path / "Boat.txt").write_text("The code is 7719.\n", "utf-16")
    (tmp_path / "Empty.txt").write_text(" \n")
    assert read(tmp_path)[0] == ["Boat", "Wifi 2", "Wifi", "Wifi"]
