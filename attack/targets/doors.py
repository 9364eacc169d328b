"""What reaches the doors: forms, recordings, answers of servers, rights, results of trainings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attack.targets.target import Target
from ctrag.errors import InputError

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
TURN: dict[str, Any] = {
    "person": "me",
    "text": "call Asa",
    "asked_at": "2025-04-17T12:00",
    "items": ["a"],
    "tools": ["call"],
    "plan": "none()",
    "confidence": 0.5,
    "status": "done",
    "answer": None,
    "steps": [{"step": "context.retrieve", "milliseconds": 1.5, "outputs": {"items": ["a"]}}],
}
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
MULTISTATUS = b"""<?xml version="1.0" encoding="utf-8"?>
<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response>
<d:href>/me/work/a.ics</d:href><d:propstat><d:prop><d:getetag>"1"</d:getetag>
<c:calendar-data>BEGIN:VCALENDAR</c:calendar-data></d:prop></d:propstat></d:response></d:multistatus>
"""
ACCOUNTS = b"""accounts:
- {name: post, kind: imap, host: imap.example, user: me, password_env: P, folders: [INBOX], days: 9}
- {name: work, kind: caldav, url: https://dav.example/, user: me, password_file: ~/secret}
- {name: club, kind: calendar, url: webcal://club.example/a.ics}
"""
ACCESS = b"""grants:
- {role: nurse, tools: [mail/*, cal/add_event]}
- {user: bob, tools: [bank/*]}
members:
  ada: {roles: [nurse]}
  bob: {organisations: [clinic]}
tokens:
  ada: ["sha256:d7158d3a183a91cb1a4c950a5c3b5a59f37ff397d5f6fde54ec5b292d85bc1c8"]
"""


def _recording(content: bytes, folder: Path) -> object:
    from ctrag.cli.session_file import read_session
    from ctrag.web.session_page import session_page

    (folder / "r.jsonl").write_bytes(content)
    return session_page(read_session(folder / "r.jsonl"), "r.jsonl").encode()


def _lessons(content: bytes, folder: Path) -> object:
    """What a recording teaches and what is reported of it, line by line."""
    from ctrag.agents.session.events import Event
    from ctrag.agents.session.lessons import lessons_of
    from ctrag.agents.session.recording import read_recordings
    from ctrag.agents.session.report import report
    from ctrag.cli.session_file import read_session

    file = folder / "r.jsonl"
    file.write_bytes(content)
    read = read_session(file, [])
    json.dumps(report(one for one in read if isinstance(one, Event)).as_json()).encode()
    return lessons_of(read_recordings([file]))


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


def _dav(content: bytes, folder: Path) -> object:
    """The answer of a calendar server."""
    import httpx

    from ctrag.assistant.sync.dav import responses
    from ctrag.assistant.sync.http import Answer

    answer = Answer(207, content, httpx.Headers(), "https://dav.example/me/")
    return [(str(where), where.host, where.path) for where, _ in responses(answer)]


def _file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return run


def _accounts(path: Path) -> object:
    from ctrag.assistant.sync.accounts import read_accounts

    return read_accounts(path)


def _access(path: Path) -> object:
    from ctrag.agents.server.principals import AccessFile

    return AccessFile.from_file(path)


def _tokens(path: Path) -> object:
    from ctrag.assistant.server.access import Tokens

    return Tokens.from_file(path)


TARGETS = {
    "form": Target((FORM,), _form),
    "recording": Target(
        (
            *(json.dumps(one).encode() for one in (*RECORDED, TURN)),
            b"\n".join(json.dumps(one).encode() for one in RECORDED),
        ),
        _recording,
    ),
    "lessons": Target(
        (
            *(json.dumps(one).encode() for one in RECORDED),
            b"\n".join(json.dumps(one).encode() for one in (*RECORDED, TURN)),
        ),
        _lessons,
    ),
    "dav": Target((MULTISTATUS,), _dav),
    "accounts": Target((ACCOUNTS,), _file("accounts.yaml", _accounts)),
    "access": Target((ACCESS,), _file("access.yaml", _access)),
    "tokens": Target((ACCESS[ACCESS.index(b"tokens:") :],), _file("tokens.yaml", _tokens)),
}
