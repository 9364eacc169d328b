"""`ctrag synth` as it is typed: what is written, what is refused, and in what words."""

import json
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

import stores.people.app_spec
from ctrag.assistant.open import toolbox_of
from stores.people.dataset import load_dataset, load_labels
from tests.synth.conftest import Model

LISTS = """
lists:
  fields:
    title: {type: string, role: title}
    done: {type: boolean, role: state}
"""


@pytest.fixture
def ctrag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, str]]:
    """`ctrag("personas", …)`: what `ctrag synth personas …` prints and complains of."""
    from ctrag.cli.main import main

    monkeypatch.setattr(stores.people.app_spec, "_further", {})

    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["ctrag", "synth", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        out, err = capsys.readouterr()
        return out, err

    return run


def test_people_without_requests_are_asked_later(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "people"
    said, errors = ctrag("personas", "--personas", 3, "--out", out, "--json")
    assert (json.loads(said)["requests"], errors) == (0, "")
    assert (out / "queries.jsonl").read_text() == ""
    said, errors = ctrag("queries", "--out", out, "--json")
    assert errors == ""
    assert json.loads(said)["requests"] == len(load_labels(out)) > 10
    assert len(load_dataset(out).personas) == 3


def test_requests_that_are_there_are_never_written_over(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "people"
    ctrag("personas", "--personas", 2, "--out", out)
    by_hand = '{"query_id": "s00001-q1", "persona_id": "s00001", "text": "by hand"}\n'
    (out / "queries.jsonl").write_text(by_hand)
    said, errors = ctrag("queries", "--out", out)
    assert said == ""
    assert errors == (
        f"ctrag: out: {out / 'queries.jsonl'} holds requests already; "
        "move it away to have others made\n"
    )
    assert (out / "queries.jsonl").read_text() == by_hand


def test_a_folder_that_gets_requests_gets_their_apis_too(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    apps, out = tmp_path / "lists.yaml", tmp_path / "people"
    apps.write_text(LISTS)
    ctrag("toolbox", "--app", "lists", "--apps", apps, "--out", tmp_path / "own")
    ctrag("personas", "--personas", 8, "--apps", apps, "--out", out)
    assert toolbox_of(out).get("read_list") is None
    ctrag("queries", "--toolbox", tmp_path / "own" / "toolbox.yaml", "--out", out)
    called = {one.plan.api for one in load_labels(out).values() if one.plan}
    assert {"read_list", "search_lists"} & called
    assert called <= set(toolbox_of(out).names)


def test_inspect_shows_ten_requests_in_the_terminal_and_on_a_page(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out, page = tmp_path / "data", tmp_path / "page.html"
    ctrag("dataset", "--personas", 6, "--out", out)
    said, errors = ctrag("inspect", out, "--html", page)
    assert errors == ""
    seen = json.loads(ctrag("inspect", out, "--json")[0])
    assert (seen["sizes"]["people"], len(seen["shown"])) == (6, 10)
    html = unescape(page.read_text(encoding="utf-8"))
    for one in seen["shown"]:
        assert f"“{one['text']}”" in said
        assert one["text"] in html
        assert one["plan"] in said
        assert one["plan"] in html


@pytest.mark.parametrize("name", ["smart home", "", "Maps", "9lives", "people"])
@pytest.mark.parametrize("provider", ["offline", "openai"])
def test_a_name_that_no_api_could_bear_is_refused_in_one_line(
    name: str,
    provider: str,
    ctrag: Callable[..., tuple[str, str]],
    tmp_path: Path,
    through_model: Model,
) -> None:
    options = ("--provider", provider, "--out", tmp_path / "own")
    said, errors = ctrag("toolbox", "--app", name, *options)
    assert said == ""
    assert errors == (
        "ctrag: --app: must be lower-case letters, digits and underscores, a letter first, and "
        f"not 'people'; {name!r} is not: write, say, 'smart_home'\n"
    )
    assert not (tmp_path / "own").exists()
    assert through_model.asked == []
