"""Files that a person imports: calendars, mails, contacts, tables, notes, histories, archives.

They are read as an import reads them, but for its last resort, by which any exception costs a file.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attack.targets.target import Target, as_json
from ctrag.errors import InputError

ICS = b"""BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//y//EN
BEGIN:VTIMEZONE
TZID:Europe/Oslo
BEGIN:STANDARD
DTSTART:19701025T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1
SUMMARY:Dock meeting
DTSTART;TZID=Europe/Oslo:20250418T090000
DTEND;TZID=Europe/Oslo:20250418T100000
RRULE:FREQ=WEEKLY;COUNT=4;BYDAY=FR
EXDATE;TZID=Europe/Oslo:20250425T090000
ATTENDEE;CN=Omar:mailto:omar@example.mx
LOCATION:Pier 2
DESCRIPTION:bring papers
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Holiday
DTSTART;VALUE=DATE:20250419
DURATION:P1D
END:VEVENT
END:VCALENDAR
""".replace(b"\n", b"\r\n")
MBOX = b"""From a@b Thu Oct 26 10:00:00 2023
From: =?utf-8?q?Mallory=1B?= <m@example.org>
To: ada@example.no
Subject: =?utf-8?b?THVuY2g=?=
Date: Thu, 26 Oct 2023 10:00:00 +0000
Message-ID: <1@x>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Lunch tomorrow at noon?=1B]52;c;x=07
--b
Content-Type: text/html; charset=iso-8859-1

<p>Lunch <b>tomorrow</b></p>
--b--

"""
VCF = b"""BEGIN:VCARD
VERSION:3.0
FN:Omar Salcedo
N:Salcedo;Omar;;;
TEL;TYPE=CELL:+52 33 5550 1103
EMAIL;TYPE=INTERNET:omar@example.mx
RELATED;TYPE=friend:Ada
END:VCARD
BEGIN:VCARD
VERSION:2.1
FN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=C3=81sa
TEL;HOME:22 11 33 44
END:VCARD
"""
TABLES = (
    b"First Name,Last Name,E-mail 1 - Value,Phone 1 - Value,Birthday,Notes\n"
    b'Omar,Salcedo,omar@example.mx,+52 33 5550 1103,1990-04-01,"met at, the dock"\n',
    b"Name;Vorname;Nachname;E-Mail-Adresse;Geburtstag\n"
    b"Ruth Weil;Ruth;Weil;ruth@example.de;1.4.90\n",
    b"Number,Name,Date,Time,Type,Duration\n+4722113344,Asa,13/04/2025,18:05,Missed,0:01:10\n",
    b"artist,album,track,utc_time\nDina Vale,Tides,Low water,17 Apr 2025 11:02\n",
)
CALLS = b"""<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<calls count="2">
  <call number="+4722113344" duration="65" date="1744912800000" type="1" contact_name="Asa" />
  <call number="-1" duration="0" date="1744916400000" type="3" contact_name="(Unknown)" />
</calls>
"""
NOTES = (
    b"---\ntitle: Lock\nupdated: 2026-02-03T10:00:00Z\ntags: [boat, code]\n---\n"
    b"# Boat lock\n\n7719\n",
    b"Lock\n====\n7719\n\nid: 0123456789abcdef0123456789abcdef\n"
    b"created_time: 2025-04-01T10:00:00Z\n"
    b"type_: 1",
)
HISTORIES: tuple[Any, ...] = (
    [
        {
            "header": "Search",
            "title": "Searched for tide tables",
            "titleUrl": "https://www.google.com/search?q=tide+tables",
            "time": "2025-04-17T09:00:00Z",
        },
        {
            "header": "YouTube Music",
            "title": "Watched Low water",
            "titleUrl": "https://music.youtube.com/watch?v=x",
            "subtitles": [{"name": "Dina Vale - Topic"}],
            "time": "2025-04-17T09:05:00Z",
        },
    ],
    [{"endTime": "2025-04-17 09:30", "artistName": "D", "trackName": "T", "msPlayed": 90000}],
    [
        {
            "ts": "2025-04-17T09:30:00Z",
            "ms_played": 90000,
            "master_metadata_track_name": "T",
            "master_metadata_album_artist_name": "D",
        }
    ],
    {
        "kind": "tasks#taskLists",
        "items": [
            {
                "kind": "tasks#tasks",
                "title": "Boat",
                "items": [
                    {"id": "1", "title": "Grease", "due": "2025-04-18T00:00:00Z", "status": "done"}
                ],
            }
        ],
    },
    {
        "isTrashed": False,
        "title": "Shop",
        "listContent": [{"text": "milk", "isChecked": True}],
        "labels": [{"name": "Shop"}],
        "userEditedTimestampUsec": 1770000000000000,
    },
)


def _import(name: str) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        from ctrag.assistant.imports.files import _records, new_person, owner_of
        from ctrag.assistant.imports.found import LeftOut
        from ctrag.assistant.imports.sources import sources_in

        file = folder / name
        file.write_bytes(content)
        owner = owner_of(new_person("ada", "Ada Quist", "Europe/Oslo"))
        for source in sources_in(file):
            if isinstance(source, LeftOut):
                continue
            try:
                for _, record in _records(source, owner, None):
                    _said(asdict(record)).encode()
            except (
                json.JSONDecodeError,
                OSError,
                EOFError,
                zlib.error,
                zipfile.BadZipFile,
            ) as error:
                raise InputError(f"{name}: {error}") from None
        return None

    return run


def _said(value: Any) -> str:
    """All texts of a record, as they would be stored."""
    if isinstance(value, dict):
        value = list(value.values())
    return "".join(map(_said, value)) if isinstance(value, list | tuple) else str(value)


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Takeout/Calendar/a.ics", ICS)
        archive.writestr("Takeout/Contacts/../b.vcf", VCF)
        archive.writestr("Takeout/Mail/c.mbox", MBOX)
    return packed.getvalue()


TARGETS = {
    "ics": Target((ICS,), _import("input.ics")),
    "mbox": Target((MBOX,), _import("input.mbox")),
    "eml": Target((MBOX.partition(b"\n")[2],), _import("input.eml")),
    "vcf": Target((VCF,), _import("input.vcf")),
    "csv": Target(TABLES, _import("input.csv")),
    "calls": Target((CALLS,), _import("calls.xml")),
    "notes": Target(NOTES, _import("Boat.md")),
    "histories": Target(tuple(map(as_json, HISTORIES)), _import("input.json")),
    "zip": Target((_zip(),), _import("takeout.zip")),
}
