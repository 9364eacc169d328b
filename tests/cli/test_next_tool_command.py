"""`ctrag tools next` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TASKS = {
    "water the roses": ("plan", "fetch_can", "water_bed"),
    "water the beans": ("plan", "fetch_can", "water_bed"),
    "cut the hedge": ("plan", "fetch_shears", "cut_hedge"),
}
TOOLS = ("fetch_can", "fetch_shears", "water_bed", "cut_hedge", "plan")


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """Tasks and the tools that they took; one of the tools is known by its server alone."""
    tools = [{"name": one, "server": "garden", "description": one} for one in TOOLS]
    rows = [{"query_id": text, "text": text, "tools": list(calls)} for text, calls in TASKS.items()]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    return tmp_path


def test_the_likeliest_next_tools_are_printed_best_first(
    ctrag: Callable[..., Any], garden: Path
) -> None:
    asked = ["tools", "next", "water the roses", "--traces", garden]
    ran = ctrag(*asked, "--after", "plan", "-k", 2)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0].endswith("  garden/fetch_can")
    assert len(ran.out.splitlines()) == 2
    by_id = ctrag(*asked, "--after", "garden/plan", "-k", 9, "--json").json
    assert by_id[0]["id"] == "garden/fetch_can"
    assert sum(one["probability"] for one in by_id) == pytest.approx(1, abs=0.001)


def test_only_tools_that_can_be_called_are_ranked(ctrag: Callable[..., Any], garden: Path) -> None:
    tools = [{"name": "fetch_shears", "server": "garden", "description": "Fetch the shears"}]
    (garden / "some.json").write_text(json.dumps(tools), encoding="utf-8")
    given = ["--traces", garden, "--after", "plan", "--catalogue", garden / "some.json", "--json"]
    found = ctrag("tools", "next", "water the roses", *given).json
    assert {one["id"] for one in found} == {"garden/fetch_shears", "end"}
    assert sum(one["probability"] for one in found) == pytest.approx(1, abs=0.001)


def test_masks_decide_what_a_model_may_say(ctrag: Callable[..., Any], garden: Path) -> None:
    asked = ["tools", "next", "water the roses", "--traces", garden, "--after", "plan"]
    hard = ctrag(*asked, "--mask", "hard_mask", "--json").json
    everything = ctrag(*asked, "--mask", "none", "--json").json
    assert hard["answers"][0] == "garden/fetch_can"
    assert len(everything["answers"]) == len(TOOLS) + 1  # and the end
    system, user = everything["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Called so far: garden/plan" in user["content"]
    shown = ctrag(*asked, "--mask", "raw_demonstrations").out
    assert "Tools in order: garden/plan, garden/fetch_shears, garden/cut_hedge, end" in shown


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--mask", "firm"], "--mask: 'firm' is unknown; known: none, raw_demonstrations"),
        (["--after", "mow"], "--after: 'mow' is in no trace; give an id such as 'garden/"),
        (["--after", "end"], "--after: 'end' is in no trace"),
    ],
)
def test_unknown_masks_and_calls_are_refused(
    ctrag: Callable[..., Any], garden: Path, options: list[str], problem: str
) -> None:
    ran = ctrag("tools", "next", "water the roses", "--traces", garden, *options)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"ctrag: {problem}")


def test_without_traces_the_command_says_what_to_give(ctrag: Callable[..., Any]) -> None:
    ran = ctrag("tools", "next", "water the roses")
    assert (ran.code, ran.err) == (
        1,
        "ctrag: --traces: give a folder of `ctrag train dependency`, or episodes, queries or a "
        "recording\n",
    )
