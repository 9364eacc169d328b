"""Recorded searches as requests that name their tools."""

import json
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.events import JsonLines
from ctrag.agents.session.tool_session import ToolSession
from eval.discovery.data import held_out, read_any

ROWS = [{"name": "send", "server": "mail", "description": "Send a mail"}]


def recorded(path: Path, **opened: object) -> Path:
    for number in range(4):
        session = ToolSession(
            f"s{number}",
            record=JsonLines(path),
            clock=lambda: 1.0,
            opened=opened,  # type: ignore[arg-type]
        )
        for text in ("write to Omar", "write to Ada"):
            session.found(text, [CatalogueTool("send", "", "mail"), CatalogueTool("gone", "")])
            session.finished("mail/send", {"to": text})
        session.found("burn it", [CatalogueTool("gone", "")])
        session.finished("gone", {})
    return path


def test_what_was_called_of_what_was_found_is_needed_and_sessions_stay_together(
    tmp_path: Path,
) -> None:
    found = read_any(recorded(tmp_path / "gateway.jsonl", **{"ctrag.definitions": ROWS}))
    assert [tool.id for tool in found.tools] == ["mail/send"]
    assert {one.text: one.tools for one in found.needs} == {
        "write to Omar": {"mail/send"},
        "write to Ada": {"mail/send"},
    }
    assert found.left_out == {"searches for tools that nobody defines": 4}
    for one in found.needs:
        assert one.held_out == held_out(one.group)


def test_tools_beside_a_record_define_it_and_without_any_it_says_so(tmp_path: Path) -> None:
    path = recorded(tmp_path / "gateway.jsonl")
    with pytest.raises(ValueError, match=r"does not define the tools that were searched; put it"):
        read_any(path)
    (tmp_path / "tools.json").write_text(json.dumps(ROWS), encoding="utf-8")
    assert len(read_any(tmp_path).needs) == 8
