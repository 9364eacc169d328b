"""The `ctrag synth` commands: what they write, what they refuse, and their messages."""

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
    """`ctrag("personas", …)`: stdout and stderr of `ctrag synth personas …`."""
    from ctrag.cli.main import main

    monkeypatch.setattr(stores.people.app_spec, "_further", {})

    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["ctrag", "synth", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        out, err = capsys.readouterr()
        return out, err

    return run


def test_queries_adds_requests_to_people_without_any(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "people"
    output, errors = ctrag("personas", "--personas", 3, "--out", out, "--json")
    assert (json.loads(output)["requests"], errors) == (0, "")
    assert (out / "queries.jsonl").read_text() == ""
    output, errors = ctrag("queries", "--out", out, "--json")
    assert errors == ""
    assert json.loads(output)["requests"] == len(load_labels(out)) > 10
    assert len(load_dataset(out).personas) == 3


def test_existing_requests_are_never_overwritten(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "people"
    ctrag("personas", "--personas", 2, "--out", out)
    by_hand = '{"query_id": "s00001-q1", "persona_id": "s00001", "text": "by hand"}\n'
    (out / "queries.jsonl").write_text(by_hand)
    output, errors = ctrag("queries", "--out", out)
    assert output == ""
    assert errors == (
        f"ctrag: out: {out / 'queries.jsonl'} holds requests already; "
        "move it away to have others made\n"
    )
    assert (out / "queries.jsonl").read_text() == by_hand


def test_queries_also_writes_the_apis(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    apps, out = tmp_path / "lists.yaml", tmp_path / "people"
    apps.write_text(LISTS)
    ctrag("toolbox", "--app", "lists", "--apps", apps, "--out", tmp_path / "own")
    ctrag("personas", "--personas", 8, "--apps", apps, "--out", out)
    assert toolbox_of(out).get("read_list") is None
    ctrag("queries", "--toolbox", tmp_path / "own" / "toolbox.yaml", "--out", out)
    called = {one.plan.api for one in load_labels(out).values() if one.plan}
    assert {"read_list", "search_lists", "delete_list"} & called
    assert called <= set(toolbox_of(out).names)


def test_inspect_shows_ten_requests_in_the_terminal_and_in_html(
    ctrag: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    out, page = tmp_path / "data", tmp_path / "page.html"
    ctrag("dataset", "--personas", 6, "--out", out)
    output, errors = ctrag("inspect", out, "--html", page)
    assert errors == ""
    seen = json.loads(ctrag("inspect", out, "--json")[0])
    assert (seen["sizes"]["people"], len(seen["shown"])) == (6, 10)
    html = unescape(page.read_text(encoding="utf-8"))
    for one in seen["shown"]:
        assert f"“{one['text']}”" in " ".join(output.split())
        assert one["text"] in html
        assert one["plan"] in " ".join(output.split())
        assert one["plan"] in html


@pytest.mark.parametrize("name", ["smart home", "", "Maps", "9lives", "people"])
@pytest.mark.parametrize("provider", ["offline", "openai"])
def test_an_invalid_application_name_is_refused_with_one_line(
    name: str,
    provider: str,
    ctrag: Callable[..., tuple[str, str]],
    tmp_path: Path,
    through_model: Model,
) -> None:
    options = ("--provider", provider, "--out", tmp_path / "own")
    output, errors = ctrag("toolbox", "--app", name, *options)
    assert output == ""
    assert errors == (
        "ctrag: --app: must be lower-case letters, digits and underscores, a letter first, and "
        f"not 'people'; {name!r} is not: write, say, 'smart_home'\n"
    )
    assert not (tmp_path / "own").exists()
    assert through_model.asked == []
