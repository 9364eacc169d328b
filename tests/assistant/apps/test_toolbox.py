from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest

import ctrag.toolbox as toolbox_module
from ctrag.toolbox import Argument, Tool, Toolbox

NOTES = """
notes:
  - api: read_note
    description: Opens one note.
    effect: read
    arguments:
      - {name: title, type: string, match: value, required: true, description: its title}
      - {name: mode, type: enum, values: [full, short], match: value, required: false,
         description: how much of it}
    fails_when: there is no such note
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "toolbox.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_packaged_toolbox_has_the_papers_59_apis_in_7_applications() -> None:
    counts = Counter(tool.app for tool in Toolbox.packaged())
    assert counts == {
        "music": 11,
        "google": 10,
        "notes": 9,
        "mail": 8,
        "phonecall": 8,
        "calendar": 7,
        "reminders": 6,
    }
    assert len(Toolbox.packaged()) == len(Toolbox.packaged().names) == 59
    assert Toolbox.packaged().apps == tuple(counts)


def test_the_packaged_toolbox_is_read_within_50_ms() -> None:
    path = Path(toolbox_module.__file__).with_name("toolbox.yaml")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        assert Toolbox.from_file(path) == Toolbox.packaged()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


def test_tools_are_found_by_api_name(tmp_path: Path) -> None:
    toolbox = Toolbox.from_file(write(tmp_path, NOTES))
    tool = toolbox.get("read_note")
    assert tool is not None
    assert (tool.app, tool.effect) == ("notes", "read")
    assert tool.arguments_by_name["mode"].values == ("full", "short")
    assert toolbox.get("no_such_api") is None


def test_a_signature_marks_optional_arguments(tmp_path: Path) -> None:
    (tool,) = Toolbox.from_file(write(tmp_path, NOTES))
    assert tool.signature == "read_note(title, mode?)"


def test_a_description_keeps_what_stands_after_its_comma(tmp_path: Path) -> None:
    text = NOTES.replace("its title", "its title, or a part of it, in any case")
    (tool,) = Toolbox.from_file(write(tmp_path, text))
    description = tool.arguments_by_name["title"].description
    assert description == "its title, or a part of it, in any case"


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        pytest.param(
            "type: string", "type: text", "read_note: arguments: title: type: Input .*enum"
        ),
        pytest.param(
            "required: true, ", "", "read_note: arguments: title: required: Field required"
        ),
        pytest.param("effect: read", "effect: none", "read_note: effect: Input should be 'read'"),
        pytest.param("match: value", "matches: value", "read_note: arguments: title: match: Field"),
        pytest.param(
            "values: [full, short], ", "", "read_note: arguments: mode: an enum needs values"
        ),
        pytest.param(
            "type: string",
            "type: string, values: [a]",
            "read_note: arguments: title: only an enum has values, not a string",
        ),
        pytest.param(
            "[full, short]", "[full, full]", "read_note: arguments: mode: values must differ"
        ),
        pytest.param(
            "name: mode", "name: title", "read_note: arguments: 'title' occurs more than once"
        ),
        pytest.param(
            "name: title", "name: a title", "arguments: a title: name: must be a lower-case Python"
        ),
        pytest.param("api: read_note", "api: class", "class: api: must be a .* no keyword"),
        pytest.param("api: read_note", "api: none", "none: api: 'none' is the plan that calls"),
        pytest.param("    effect: read\n", "", "read_note: effect: Field required"),
        pytest.param("- api: read_note\n    ", "- ", r"notes\[0\]: api: Field required"),
        pytest.param("effect: read", "effect: read\n    app: mail", "read_note: app: stands above"),
        pytest.param("effect: read", "effect: read\n    cost: 3", "read_note: cost: Extra inputs"),
    ],
)
def test_a_fault_is_named_by_file_api_field_and_rule(
    tmp_path: Path, old: str, new: str, rule: str
) -> None:
    path = write(tmp_path, NOTES.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: .*{rule}"):
        Toolbox.from_file(path)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("- a list", "must map applications", id="list"),
        pytest.param("", "must map applications", id="empty"),
        pytest.param("notes: 3", "notes: must be a list", id="number"),
        pytest.param("notes: [read_note]", r"notes\[0\]: must be a map", id="bare-name"),
        pytest.param("notes: [", "not valid YAML", id="no-yaml"),
        pytest.param(
            NOTES + NOTES,
            "not valid YAML: 'notes' occurs more than once in the map",
            id="app-twice",
        ),
        pytest.param(
            NOTES + NOTES.replace("notes:", "mail:"),
            r"read_note: api: occurs more than once \(in notes and mail\)",
            id="api-twice",
        ),
    ],
)
def test_a_file_that_is_no_toolbox_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {rule}"):
        Toolbox.from_file(path)


def test_a_toolbox_made_in_python_refuses_duplicates_too() -> None:
    title = Argument(name="title", type="string", match="value", required=True, description="it")
    tool = Tool(
        app="notes",
        api="read_note",
        description="Opens one note.",
        effect="read",
        arguments=(title,),
        fails_when="never",
    )
    with pytest.raises(ValueError, match="read_note: api: occurs more than once"):
        Toolbox([tool, tool])
