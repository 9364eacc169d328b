"""A gateway's next-tool model: begun, taught by sessions, taken over when it is trained again."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import NextTool, opening
from ctrag.agents.next_tool.traces import TracePrior
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server import learning
from ctrag.agents.session.events import JsonLines
from ctrag.agents.session.tool_session import ToolSession


@pytest.fixture
def model(
    next_tool: NextTool, word_bins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    for where in ("ctrag.agents.next_tool.next_tool", "ctrag.agents.next_tool.opening"):
        monkeypatch.setattr(f"{where}.load_encoder", lambda name: word_bins)
    monkeypatch.setattr(opening, "CachedEncoder", lambda encoder, folder: encoder)
    next_tool.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.anyio
async def test_a_model_that_was_trained_again_is_taken_over_whole_or_not_at_all(
    model: Path, word_bins: Any
) -> None:
    index = ToolIndex([CatalogueTool("lock_door", "Lock a door")], word_bins)
    index.next_tool, said = learning.next_tool_of(model, None, learns=False)
    first = index.next_tool
    card, log = learning.watched_model(index, model)
    assert said == []
    shutil.move(model / "arrays.npz", model / "away")
    with pytest.raises(ValueError, match=r"NotFoundError: .*arrays\.npz"):
        await card.reread()
    assert index.next_tool is first
    shutil.move(model / "away", model / "arrays.npz")
    assert list(await card.reread()) == ["the next-tool model is loaded again"]
    assert index.next_tool is not first
    NextTool.load(model).observe("Water the ficus", ["water_plants"])
    assert list(await log.reread()) == ["1 lines that others observed are learned"]
    assert list(await log.reread()) == []


def test_a_gateway_that_learns_begins_with_what_it_recorded(
    model: Path, tmp_path: Path, word_bins: Any
) -> None:
    record = tmp_path / "gateway.jsonl"
    nothing, said = learning.next_tool_of(None, record, learns=True)
    assert isinstance(nothing, TracePrior)
    assert (len(nothing), said) == (0, [])
    index = ToolIndex([CatalogueTool("lock_door", "Lock a door")], word_bins)
    index.next_tool = nothing
    teacher = learning.teacher_of(index)
    for record_to in (teacher, JsonLines(record)):
        session = ToolSession("s1", record=record_to)
        session.found("Lock up", index.tools)
        session.finished("lock_door", {})
        session.closed("done")
    teacher.close()
    assert nothing.rank("Lock up")[0][0] == "lock_door"
    counted, said = learning.next_tool_of(None, record, learns=True)
    assert isinstance(counted, TracePrior)
    assert (len(counted), said) == (1, ["gateway.jsonl: learned 1"])
    for known in ("learned 1", "learned 0, known before 1"):
        fitted, said = learning.next_tool_of(model, record, learns=True)
        assert isinstance(fitted, NextTool)
        assert said == [f"gateway.jsonl: {known}"]


def test_sessions_do_not_teach_where_nobody_said_so(model: Path, tmp_path: Path) -> None:
    assert learning.next_tool_of(None, tmp_path / "gateway.jsonl", learns=False) == (None, [])
