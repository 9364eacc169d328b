"""`ctrag session show` prints requests and decisions, for people and for machines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import JsonLines
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
