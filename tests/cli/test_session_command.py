"""`ctrag session show` prints requests and decisions, for people and for machines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import JsonLines
from ctrag.agents.session.tokens import tool_tokens
from ctrag.agents.session.tool_session import ToolSession


def recorded(path: Path, clock: Callable[[], float] = lambda: 1_700_000_000.25) -> Path:
    session = ToolSession("s1", record=JsonLines(path), clock=clock)
    session.found("send a mail", [CatalogueTool("send", "", "mail")], seconds=0.0042)
    session.finished("mail/send", {"to": "Omar\x1b[31m"}, error="TimeoutError", seconds=1.0)
    return path


def test_decisions_are_shown_in_order_with_their_times(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    ran = ctrag("session", "show", recorded(tmp_path / "session.jsonl"))
    assert (ran.code, ran.err) == (0, "")
    assert [line for line in ran.out.splitlines() if not line.startswith(" ")] == [
        "2023-11-14T22:13:20.250Z  s1  session.open",
        "2023-11-14T22:13:20.250Z  s1  search  4.2 ms",
        "2023-11-14T22:13:20.250Z  s1  tool.bind",
        "2023-11-14T22:13:20.250Z  s1  tool.call  1000.0 ms",
    ]
    assert "    gen_ai.retrieval.query.text  send a mail\n" in ran.out
    assert "    error.type  TimeoutError\n" in ran.out
    assert "\x1b" not in ran.out


def test_machines_get_the_same(ctrag: Callable[..., Any], tmp_path: Path) -> None:
    events = ctrag("session", "show", recorded(tmp_path / "session.jsonl"), "--json").json
    assert [one["event"] for one in events] == [
        "ctrag.session.open",
        "ctrag.search",
        "ctrag.tool.bind",
        "ctrag.tool.call",
    ]
    assert events[2]["attributes"] == {"gen_ai.tool.name": "mail/send"}


def test_a_clock_that_does_not_count_from_1970_is_shown_as_it_is(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    ran = ctrag("session", "show", recorded(tmp_path / "session.jsonl", lambda: 1e18))
    assert ran.out.startswith("1000000000000000000.0  s1  session.open")


def test_a_report_says_what_was_searched_and_found_in_vain(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "gateway.jsonl"
    tools = {name: CatalogueTool(name, "x" * 392, "mail") for name in ("send", "read", "sort")}
    sizes = {tool.id: tool_tokens(tool) for tool in tools.values()}
    opened = {"ctrag.tokens.listed": 1000, "ctrag.catalogue": sizes}
    session = ToolSession("s1", record=JsonLines(path), opened=opened)
    session.found("send a mail", [tools["send"], tools["read"]])
    session.finished("mail/send", {}, error="TimeoutError")
    session.found("read a mail", [tools["read"]])
    session.found("fly to Rome", [])
    ToolSession("s2", record=JsonLines(path)).found("sort mails", [tools["read"]])
    found = ctrag("session", "report", path, "--json").json
    assert (found["sessions"], found["searches"], found["calls"]) == (2, 4, 1)
    assert found["empty"] == {"fly to Rome": 1}
    assert found["without_call"] == {"read a mail": 1, "sort mails": 1}
    assert found["failed"] == {"mail/send": 1}
    assert found["found_not_called"] == ["mail/read"]
    assert found["never_found"] == ["mail/sort"]
    assert found["never_used"] == ["mail/read", "mail/sort"]
    listed = 1000 + sum(sizes.values())
    bound = sizes["mail/send"] + 2 * sizes["mail/read"]
    assert found["tokens"] == {"listed": listed, "bound": bound, "saved": 1 - bound / listed}
    out = ctrag("session", "report", path).out
    assert "2 sessions, 4 searches, 1 calls (1 failed, 0 refused, 0 in a loop)" in out
    assert "found and not called: 1\n  3  mail/read\n" in out


def test_a_report_without_a_catalogue_says_that_savings_are_not_known(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    path = recorded(tmp_path / "session.jsonl")
    assert "tokens saved: not known; give --catalogue" in ctrag("session", "report", path).out
    catalogue = tmp_path / "tools.json"
    catalogue.write_text('[{"name": "send", "server": "mail"}, {"name": "read"}]', "utf-8")
    found = ctrag("session", "report", path, "--catalogue", catalogue, "--json").json
    assert found["never_found"] == ["read"]
    assert found["tokens"]["saved"] > 0


def test_a_session_is_written_as_a_page(ctrag: Callable[..., Any], tmp_path: Path) -> None:
    record, other = recorded(tmp_path / "session.jsonl"), tmp_path / "own.html"
    ran = ctrag("session", "show", "--web", record)
    page = tmp_path / "session.html"
    assert (ran.code, ran.out) == (0, f"{page}\n")
    assert "send a mail" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    assert ctrag("session", "show", record, other, "--web").code == 0
    assert other.read_text() == page.read_text()


def test_a_page_never_replaces_its_record(ctrag: Callable[..., Any], tmp_path: Path) -> None:
    record = recorded(tmp_path / "session.jsonl")
    before = record.read_text()
    assert ctrag("session", "show", record, record, "--web").code == 2
    assert ctrag("session", "show", record, tmp_path / "other.html").code == 2
    assert ctrag("session", "show", record, "--web", "--json").code == 2
    assert record.read_text() == before


def test_a_damaged_line_costs_itself_and_is_said(ctrag: Callable[..., Any], tmp_path: Path) -> None:
    path = recorded(tmp_path / "session.jsonl")
    with path.open("ab") as file:
        file.write(b'{"event": "ctrag.se\n\xff\n')
    for command in ("show", "report"):
        ran = ctrag("session", command, path)
        assert ran.code == 0
        assert "lines left out: 2; the first: " in ran.err
        assert "session.jsonl:5: " in ran.err
    path.write_bytes(b"{\n")
    ran = ctrag("session", "show", path)
    assert (ran.code, ran.out) == (1, "")
    assert "session.jsonl:1: not a turn of a session" in ran.err


def test_what_an_agent_did_is_counted_for_prompts(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    session = ToolSession("s1", record=JsonLines(path), clock=lambda: 1.0)
    session.found("send a mail", [CatalogueTool("send", "", "mail"), CatalogueTool("read", "")])
    session.finished("mail/send", {})
    out = tmp_path / "new" / "gains.json"
    ran = ctrag("train", "gains", "--data", path, "--out", out, "--json")
    assert ran.json == {
        "steps": 1,
        "sessions": 1,
        "tasks": 1,
        "searches": 1,
        "calls": 1,
        "left_out": {},
    }
    assert json.loads(out.read_text(encoding="utf-8")) == {
        "mail/send": {"exposed": 1, "used": 1},
        "read": {"exposed": 1, "used": 0},
    }


def test_observing_says_what_it_needs(ctrag: Callable[..., Any], tmp_path: Path) -> None:
    path = recorded(tmp_path / "session.jsonl")
    ran = ctrag("session", "observe")
    assert (ran.code, ran.err) == (1, "ctrag: give recordings, or --request with its --call\n")
    ran = ctrag("session", "observe", path)
    assert (ran.code, "--model: name the folder" in ran.err) == (1, True)
    ran = ctrag("session", "observe", path, "--model", tmp_path)
    assert (ran.code, "card.json: No such file" in ran.err) == (1, True)
