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
