"""`ctrag tools search` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOLS = [
    {"name": "book_flight", "description": "Reserve a seat on\nan airplane", "server": "air"},
    {"name": "play_song", "description": "Play a song", "server": "music"},
]


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    grants = [{"user": "ada", "tools": ["air/*"]}]
    file = {"tools": TOOLS, "access": {"members": {"ada": {}}, "grants": grants}}
    (tmp_path / "governed.json").write_text(json.dumps(file))
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path / "tools.json"


def test_a_search_prints_the_best_tools_one_a_line(
    ctrag: Callable[..., Any], catalogue: Path
) -> None:
    ran = ctrag("tools", "search", "reserve a seat", "--catalogue", catalogue, "-k", 1, "--lexical")
    assert (ran.code, ran.err) == (0, "")
    [line] = ran.out.splitlines()
    assert line.split(maxsplit=1)[1] == "air/book_flight  Reserve a seat on an airplane"


def test_json_has_a_row_per_tool_and_with_explain_every_step(
    ctrag: Callable[..., Any], catalogue: Path
) -> None:
    asked = ("tools", "search", "play a song", "--catalogue", catalogue, "--lexical", "--json")
    first = ctrag(*asked).json[0]
    assert (first["id"], first["tier"], first["fits"]) == ("music/play_song", "database", True)
    explained = ctrag(*asked, "--explain").json
    assert explained["hits"][0] == first
    assert (explained["fits"], explained["trace"]["visible"]) == (True, 2)


@pytest.mark.parametrize(("user", "found"), [("ada", ["air/book_flight"]), ("bob", []), (None, [])])
def test_access_rules_of_the_file_hold(
    ctrag: Callable[..., Any], catalogue: Path, user: str | None, found: list[str]
) -> None:
    governed = catalogue.with_name("governed.json")
    options = () if user is None else ("--user", user)
    asked = ("tools", "search", "seat or song", "--catalogue", governed, "--lexical", *options)
    assert [one["id"] for one in ctrag(*asked, "--json").json] == found
    said = ctrag(*asked).out
    assert ("Nothing fits." in said.splitlines()) == (not found)


def test_a_broken_catalogue_is_one_line_and_exit_1(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"name": ""}]')
    ran = ctrag("tools", "search", "x", "--catalogue", path)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert "0.name: " in ran.err


@pytest.fixture
def dependencies(
    next_tool: Any, tmp_path: Path, configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A fitted model of tool dependencies that the settings name."""
    from ctrag.agents.next_tool import NextTool

    next_tool.save(tmp_path / "dependency")
    configure(dependency=tmp_path / "dependency", dependency_weight=0.9)
    load = NextTool.load
    monkeypatch.setattr(NextTool, "load", lambda folder: load(folder, next_tool.encoder))
    return tmp_path / "dependency"


def test_calls_so_far_count_with_a_model_of_dependencies(
    ctrag: Callable[..., Any], chains: Path, dependencies: Path, configure: Callable[..., None]
) -> None:
    asked = ("tools", "search", "Mail Ada that I am late", "--catalogue", chains / "tools.json")
    asked = (*asked, "--lexical", "--json", "-k", 1)
    [first] = ctrag(*asked).json
    [then] = ctrag(*asked, "--after", "find_contact").json
    assert (first["id"], then["id"]) == ("find_contact", "send_mail")
    configure(dependency=dependencies, dependency_weight=0.0)
    assert ctrag(*asked).json == ctrag(*asked, "--after", "find_contact").json


def test_prompts_take_the_configured_next_tool_model(
    dependencies: Path, chains: Path, tmp_path: Path, with_planner: Path
) -> None:
    from ctrag.agents.prompt.builder import PromptBuilder

    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "office.md").write_text("# Mail\n\nBe brief.\n", encoding="utf-8")
    builder = PromptBuilder.open(tmp_path / "policies", chains / "tools.json")
    assert builder.settings.next_tool_weight == 1.0
    text = "Mail Ada that I am late"
    before = builder.build(text, 2000)
    after = builder.build(text, 2000, history=["find_contact"])
    assert before.scores["find_contact"] > before.scores["send_mail"]
    assert after.scores["send_mail"] > after.scores.get("find_contact", -100.0)


def test_a_list_of_hits_has_a_line_each_and_whole_descriptions_where_asked_for(
    ctrag: Callable[..., Any], tmp_path: Path
) -> None:
    long = "Reserve a seat on a train. Takes a place in a coach. " + "More of it. " * 200
    wordy = "Reserve a seat " + "and another seat " * 40
    path = tmp_path / "tools.json"
    rows = [{"name": "seat", "description": long}, {"name": "seats", "description": wordy}]
    path.write_text(json.dumps(rows), encoding="utf-8")
    asked = ("tools", "search", "reserve a seat", "--catalogue", path, "--lexical")
    lines = [line for line in ctrag(*asked).out.splitlines() if "differs" not in line]
    assert {line.split("  ")[1]: line.split("  ")[2] for line in lines}["seat"] == (
        "Reserve a seat on a train."
    )
    assert all(len(line) < 130 for line in lines)
    assert any(line.endswith("…") for line in lines)
    assert " ".join(long.split()) in ctrag(*asked, "--full").out
    assert long in {one["description"] for one in ctrag(*asked, "--json").json}
