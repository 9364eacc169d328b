"""What is fuzzed: each parser of files and texts of others, with seeds to begin from.

A target may refuse an input with one of `REFUSALS`; any other exception is a fault. The readers of
own files are called through `personas_from` alone, whatever reads them behind it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ctrag.errors import CtragError

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


def _import(suffix: str) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        from ctrag.assistant.imports.files import personas_from
        from stores.people.stores import Stores

        file = folder / f"input{suffix}"
        file.write_bytes(content)
        return personas_from(file, "ada", "Ada Quist", Stores(folder / "stores"))

    return run


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


TARGETS: dict[str, Target] = {
    "ics": Target((ICS,), _import(".ics")),
    "mbox": Target((MBOX,), _import(".mbox")),
    "vcf": Target((VCF,), _import(".vcf")),
    "catalogue": Target((_json(TOOLS), _json({"tools": TOOLS})), _catalogue("tools.json")),
    "catalogue.yaml": Target((_json({"tools": TOOLS}),), _catalogue("tools.yaml")),
    "openapi": Target((_json(OPENAPI),), _catalogue("openapi.json")),
    "apps.yaml": Target((APPS,), _apps),
    "toolbox": Target((TOOLBOX,), _toolbox),
    "time phrases": Target(tuple(one.encode() for one in PHRASES), _times),
    "plan syntax": Target(tuple(one.encode() for one in PLANS), _plan),
    "call grammar": Target((_json(TOOLS[0]["parameters"]),), _call),
}
