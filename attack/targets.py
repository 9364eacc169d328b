"""What is fuzzed: each parser of files and texts of others, with seeds to begin from.

A target may refuse an input with one of `REFUSALS`; any other exception is a fault. Own files
are read as an import reads them, but for its last resort, by which any exception costs a file.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ctrag.errors import CtragError, InputError

REFUSALS: tuple[type[Exception], ...] = (CtragError,)
AT = datetime(2025, 4, 17, 12)


@dataclass(frozen=True)
class Target:
    """One parser.

    Attributes:
        seeds: Inputs that it reads.
        run: Parses an input; the folder is empty but for what earlier inputs left.
    """

    seeds: tuple[bytes, ...]
    run: Callable[[bytes, Path], object]


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
SERVERS: dict[str, Any] = {
    "mcpServers": {
        "files": {"command": "files-server", "args": ["--root", "/tmp"], "env": {"A": "b"}},
        "web": {"url": "https://tools.example/mcp", "headers": {"Authorization": "Bearer x"}},
    }
}
RECORDED: tuple[dict[str, Any], ...] = (
    {"event": "ctrag.session.open", "at": 1744912800.0, "session": "s", "attributes": {}},
    {
        "event": "ctrag.search",
        "at": 1744912801.0,
        "session": "s",
        "seconds": 0.01,
        "attributes": {
            "gen_ai.retrieval.query.text": "mail",
            "gen_ai.retrieval.documents": [{"id": "a", "score": 0.5}],
        },
    },
    {
        "event": "ctrag.tool.call",
        "at": 1744912802.0,
        "session": "s",
        "attributes": {"gen_ai.tool.name": "a"},
    },
)
FORM = b"""--b
Content-Disposition: form-data; name="person"

me
--b
Content-Disposition: form-data; name="at"

2025-04-17T12:59
--b
Content-Disposition: form-data; name="files"; filename="calendar.ics"
Content-Type: text/calendar

BEGIN:VCALENDAR
--b--
""".replace(b"\n", b"\r\n")
TOOLS: list[dict[str, Any]] = [
    {
        "name": "set_level",
        "description": "Set the level of a lamp. It is dimmed slowly.",
        "parameters": {
            "type": "object",
            "properties": {
                "level": {"type": "integer", "minimum": 0},
                "colour": {"enum": ["red", "ultramarine", None, 7]},
                "rooms": {"type": "array", "items": {"type": "string"}},
                "at": {"type": "object", "properties": {"hour": {"type": "number"}}},
            },
            "required": ["level", "colour"],
        },
    }
]
OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Lamps", "version": "1"},
    "servers": [{"url": "https://api.example.org/v1"}],
    "paths": {
        "/lamps/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "put": {
                "operationId": "setLamp",
                "summary": "Set a lamp",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Lamp"}}
                    }
                },
                "security": [{"key": []}],
                "responses": {"200": {"description": "done"}},
            },
        }
    },
    "components": {
        "parameters": {
            "id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
        "schemas": {
            "Lamp": {
                "type": "object",
                "properties": {"level": {"type": "integer"}, "next": {"$ref": "#/x"}},
                "allOf": [{"$ref": "#/components/schemas/Lamp"}],
            }
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
}
APPS = b"""zoo:
  phrase: ["animal: {title}", ", fed by {keeper}"]
  like: notes
  fields:
    title: {type: string, role: title}
    keeper: {type: string, role: person, required: false}
    fed: {type: datetime, role: time}
    state: {type: string, role: state, values: [asleep, awake]}
"""
TOOLBOX = b"""zoo:
  - api: feed_animal
    description: Feeds an animal, by name
    effect: write
    does: change
    arguments:
      - {name: title, type: string, match: value, required: true, description: name, of it}
      - {name: kind, type: enum, match: value, required: false, description: food, values: [hay]}
    fails_when: there is no such animal
"""
PHRASES = (
    "push the dock meeting from Friday at half past nine to the 3rd of May, an hour later",
    "remind me in 2 weeks, the day before easter, not on Monday, at 24:00 or 7:30 pm",
    "since last night until 2025-02-30T10:00, every other day between 8 and 9",
)
PLANS = (
    'send_mail(to="Omar", subject="a\\"b", body="c")',
    'snooze_reminder(title="Rent", until="2025-04-18T09:00")',
    'notify(contacts=["a", "b"], number=-7)',
    "none()",
)


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return text if b"\xed" not in content else text.replace("\ufffd", "\ud800")


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


def _servers(content: bytes, folder: Path) -> object:
    from ctrag.agents.server.config import Upstreams

    (folder / "servers.json").write_bytes(content)
    return Upstreams.from_file(folder / "servers.json")


def _recording(content: bytes, folder: Path) -> object:
    from ctrag.cli.session_file import read_session
    from ctrag.web.session_page import session_page

    (folder / "r.jsonl").write_bytes(content)
    return session_page(read_session(folder / "r.jsonl"), "r.jsonl").encode()


def _form(content: bytes, folder: Path) -> object:
    """A body that the page's upload takes, and the names in it."""
    import asyncio
    import logging

    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    from ctrag.web.own_pages import _plain_name
    from ctrag.web.pages import local, whole

    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)

    async def read() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        kind = b"multipart/form-data; boundary=b"
        scope = {"type": "http", "app": None, "headers": [(b"content-type", kind)]}
        async with Request(scope, receive).form(max_files=100) as form:
            for name, value in form.multi_items():
                if isinstance(value, str):
                    whole(value)
                    if name == "at":
                        local(value)
                else:
                    (folder / _plain_name(value.filename or "")).touch()

    try:
        return asyncio.run(read())
    except HTTPException as error:
        raise InputError(error.detail) from None


def _catalogue(name: str) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        from ctrag.agents.catalogue.tool import load_catalogue

        file = folder / name
        file.write_bytes(content)
        return [(tool.to_json(), tool.content_hash, tool.text) for tool in load_catalogue(file)]

    return run


def _apps(content: bytes, folder: Path) -> object:
    from ctrag.assistant.context.item_text import _phrase
    from stores.people.app_spec import load_apps

    (folder / "apps.yaml").write_bytes(content)
    return [_phrase(one) for one in load_apps(folder / "apps.yaml")]


def _toolbox(content: bytes, folder: Path) -> object:
    from ctrag.toolbox import Toolbox

    (folder / "toolbox.yaml").write_bytes(content)
    return Toolbox.from_file(folder / "toolbox.yaml").to_yaml()


def _times(content: bytes, folder: Path) -> object:
    from ctrag.text.dates import temporal_expressions as times

    text = content.decode("utf-8", "replace")
    year = (1, 999, 1000, 2024, 8999, 9999)[len(content) % 6]
    now = datetime(year, 2, 28, 23, 59)
    return (
        times.offered_datetimes(text, now, [now, AT, datetime.max]),
        times.offered_dates(text, now, [AT]),
        times.offered_beginnings(text, now),
    )


def _plan(content: bytes, folder: Path) -> object:
    from ctrag.assistant.planning.plan import Plan, check
    from ctrag.toolbox import Toolbox

    plan = Plan.parse(_text(content))
    assert Plan.parse(str(plan)) == plan, "a plan reads what it wrote"
    return check(plan, Toolbox.packaged())


def _call(content: bytes, folder: Path) -> object:
    """A tool's schema, and a request made of its own text."""
    import llguidance

    from ctrag.agents.calls.call_grammar import ArgumentRules
    from ctrag.agents.calls.filling import spoken
    from ctrag.agents.catalogue.tool import CatalogueTool
    from ctrag.text.lark import literal, spelled

    try:
        schema = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(schema, dict):
        return None
    said = content.decode("utf-8", "replace")[:300]
    rules = ArgumentRules(said, said)
    parts = [
        f"{literal(f'{spelled(name)}: ')} {value}"
        for name, given in spoken(CatalogueTool("t", "d", "", schema)).items()
        if (value := rules.value(name, given if isinstance(given, dict) else {}, True)) is not None
    ]
    if parts:
        lark = rules.lark(" | ".join(parts))
        problem = llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("lark", lark))
        assert not problem, f"no grammar: {problem[:200]}"
    return parts


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Takeout/Calendar/a.ics", ICS)
        archive.writestr("Takeout/Contacts/../b.vcf", VCF)
        archive.writestr("Takeout/Mail/c.mbox", MBOX)
    return packed.getvalue()


TARGETS: dict[str, Target] = {
    "ics": Target((ICS,), _import("input.ics")),
    "mbox": Target((MBOX,), _import("input.mbox")),
    "eml": Target((MBOX.partition(b"\n")[2],), _import("input.eml")),
    "vcf": Target((VCF,), _import("input.vcf")),
    "csv": Target(TABLES, _import("input.csv")),
    "calls": Target((CALLS,), _import("calls.xml")),
    "notes": Target(NOTES, _import("Boat.md")),
    "histories": Target(tuple(map(_json, HISTORIES)), _import("input.json")),
    "zip": Target((_zip(),), _import("takeout.zip")),
    "form": Target((FORM,), _form),
    "servers.json": Target((_json(SERVERS),), _servers),
    "recording": Target(
        (
            *(json.dumps(one).encode() for one in RECORDED),
            b"\n".join(json.dumps(one).encode() for one in RECORDED),
        ),
        _recording,
    ),
    "catalogue": Target((_json(TOOLS), _json({"tools": TOOLS})), _catalogue("tools.json")),
    "catalogue.yaml": Target((_json({"tools": TOOLS}),), _catalogue("tools.yaml")),
    "openapi": Target((_json(OPENAPI),), _catalogue("openapi.json")),
    "apps.yaml": Target((APPS,), _apps),
    "toolbox": Target((TOOLBOX,), _toolbox),
    "time phrases": Target(tuple(one.encode() for one in PHRASES), _times),
    "plan syntax": Target(tuple(one.encode() for one in PLANS), _plan),
    "call grammar": Target((_json(TOOLS[0]["parameters"]),), _call),
}
