"""Claims about the experiment on other people's calls, on small folders made for it."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.models.language_model import LanguageModel
from eval.calls import run as experiment
from eval.calls.cases import drawn, load_calls
from eval.calls.run import CAUSES, METHOD, run_calls, table


class Words:
    """An encoder that counts the words it knows."""

    name = "words"
    known = "alarm delete wake note".split()

    def encode(self, texts: Any) -> Any:
        rows = [[float(word in text.lower()) for word in self.known] + [0.1] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


TALK_TOOLS = [
    {
        "name": "AddAlarm",
        "description": "Adds an alarm",
        "parameters": {
            "session_token": {"type": "string", "required": False},
            "time": {"type": "string", "required": True},
            "days": {"type": "array", "required": False},
        },
    },
    {"name": "DeleteNote", "description": "Deletes a note", "parameters": {}},
]
TALK = {
    "conversation_id": "c1",
    "metadata": {"timestamp": "2025-04-17 09:00:00", "session_token": "s-1"},
    "turns": [
        {"user": "wake me, set an alarm", "calls": [], "assistant": "When?"},
        {
            "user": "at 7",
            "calls": [{"api": "AddAlarm", "arguments": {"session_token": "s-1", "time": "at 7"}}],
            "assistant": "Done.",
        },
        {
            "user": "delete the note and the alarm note",
            "calls": [
                {"api": "DeleteNote", "arguments": {}},
                {"api": "DeleteNote", "arguments": {}},
            ],
        },
    ],
}
QUERY_TOOLS = [
    {
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": {"what": {"type": "string"}}},
    }
    for name in ("alarmAdd", "alarmDrop", "noteAdd", "noteDelete", "noteFind", "noteMove")
]
QUERIES = [
    {"query_id": "q1", "text": "alarm", "calls": [{"api": "alarmAdd", "arguments": {}}]},
    {
        "query_id": "q2",
        "text": "a note",
        "calls": [{"api": "noteMove", "arguments": {"what": "x"}}],
    },
    {"query_id": "q3", "text": "both", "calls": [{"api": "noteAdd", "arguments": {}}] * 2},
]


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(TALK_TOOLS))
    (tmp_path / "conversations.jsonl").write_text(json.dumps(TALK) + "\n")
    return tmp_path


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(QUERY_TOOLS))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)) + "\n")
    return tmp_path


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> LanguageModel:
    return LanguageModel(str(tiny_llama), threads=1)


def test_a_turn_of_a_conversation_is_a_case_with_what_was_said_before(talks: Path) -> None:
    found = load_calls(str(talks))
    assert found.judged_by == "eval.calls.bfcl"
    first, second = found.cases
    assert (first.case_id, first.group, first.text) == ("c1/1", "c1", "at 7")
    assert first.before == "timestamp 2025-04-17 09:00:00\nwake me, set an alarm\nWhen?"
    assert first.tools[0].parameters["required"] == ["time"]
    assert first.right([{"AddAlarm": {"time": "AT 7."}}])
    assert not first.right([{"AddAlarm": {"time": "at 8"}}])
    assert not first.right([{"AddAlarm": {"time": "at 7", "days": ["Monday"]}}])
    assert len(second.truth) == 2


def test_a_query_with_one_call_is_a_case_among_neighbouring_tools(queries: Path) -> None:
    cases = load_calls(str(queries)).cases
    assert [case.case_id for case in cases] == ["q1", "q2"]
    for case in cases:
        names = [tool.name for tool in case.tools]
        assert names == sorted(names)
        assert next(iter(case.truth[0])) in names
    assert cases[1].right([{"noteMove": {"what": "X"}}])


def test_a_number_that_is_labelled_as_a_text_is_a_number_where_the_schema_says_so(
    queries: Path,
) -> None:
    properties = {"height": {"type": "number"}, "count": {"type": "integer"}, "id": {}}
    tool = {**QUERY_TOOLS[0], "parameters": {"type": "object", "properties": properties}}
    labelled = {"height": "31.7", "count": "2", "id": "87"}
    query = {"query_id": "q", "text": "t", "calls": [{"api": tool["name"], "arguments": labelled}]}
    (queries / "tools.json").write_text(json.dumps([tool]))
    (queries / "queries.jsonl").write_text(json.dumps(query))
    [case] = load_calls(str(queries)).cases
    assert case.truth == [{tool["name"]: {"height": [31.7], "count": [2], "id": ["87"]}}]
    assert case.right([{tool["name"]: {"height": 31.7, "count": 2, "id": "87"}}])


def test_cases_are_drawn_by_seed_and_keep_their_order(queries: Path) -> None:
    [case, _] = load_calls(str(queries)).cases
    cases = [replace(case, case_id=f"q{number}") for number in range(10)]
    some = drawn(cases, 4, seed=3)
    assert some == drawn(cases, 4, seed=3) != drawn(cases, 4, seed=4)
    assert len(some) == 4
    assert [one.case_id for one in some] == sorted(one.case_id for one in some)
    assert drawn(cases, None, 0) == drawn(cases, 99, 0) == cases


def test_every_case_is_right_or_wrong_for_one_reason(talks: Path, model: LanguageModel) -> None:
    found = run_calls(str(talks), encoder=Words(), model=model)
    extra: Any = found.extra
    figures: Any = found.figures[METHOD]
    wrong = sum(extra["errors"][METHOD].values())
    assert figures["accuracy"] == 100 * (2 - wrong) / 2
    assert extra["errors"][METHOD]["wrong number of calls"] == 1
    assert figures["accuracy"] <= figures["tool_accuracy"]
    assert extra["single_call_cases"] == 1
    shown = table(found).lines()
    assert shown[2].split()[0] == METHOD
    assert all(cause in shown[0] for cause in CAUSES)


def test_a_stopped_run_goes_on_where_it_stopped(
    queries: Path,
    tmp_path_factory: pytest.TempPathFactory,
    model: LanguageModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = tmp_path_factory.mktemp("runs") / "calls.rows.jsonl"
    first = run_calls(str(queries), encoder=Words(), model=model, resume=rows)
    text = rows.read_text(encoding="utf-8")
    rows.write_text(text[: text.rindex('"arguments"')], encoding="utf-8")  # killed while writing
    asked = []
    made = experiment._row
    monkeypatch.setattr(experiment, "_row", lambda *args: asked.append(1) or made(*args))
    again = run_calls(str(queries), encoder=Words(), model=model, resume=rows)
    assert len(asked) == 1
    assert again.figures == first.figures


@pytest.mark.parametrize("category", ["multiple", "live_multiple"])
def test_bfcl_is_judged_by_its_own_checker(category: str, model: LanguageModel) -> None:
    if importlib.util.find_spec("bfcl_eval") is None:
        pytest.skip("bfcl-eval is not installed: pip install --no-deps bfcl-eval")
    found = run_calls(f"bfcl:{category}", limit=3, encoder=Words(), model=model)
    assert found.extra["judged_by"] == "bfcl-eval"
    assert found.extra["cases"] == 3
    case = load_calls(f"bfcl:{category}").cases[0]
    [(name, possible)] = case.truth[0].items()
    gold = {key: values[0] for key, values in possible.items() if values[0] != ""}
    assert case.right([{name: gold}]) or category == "live_multiple"
    assert not case.right([{"no_such_function": gold}])
    assert not case.right([])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("bfcl:simple", "--data: bfcl:simple is unknown; known: multiple, live_multiple"),
        ("elsewhere", "--data: elsewhere: neither bfcl:CATEGORY nor a folder"),
    ],
)
def test_a_mistake_is_named(data: str, message: str, model: LanguageModel) -> None:
    if data == "bfcl:simple" and importlib.util.find_spec("bfcl_eval") is None:
        pytest.skip("bfcl-eval is not installed: pip install --no-deps bfcl-eval")
    with pytest.raises(ValueError, match=message):
        run_calls(data, encoder=Words(), model=model)


def test_a_broken_row_is_named_with_its_file_and_line(talks: Path) -> None:
    file = talks / "conversations.jsonl"
    file.write_text(file.read_text() + '{"conversation_id": "c2", "metadata": {}, "turns": 3}\n')
    with pytest.raises(ValueError, match=r"conversations\.jsonl:2: turns: Input should be a valid"):
        load_calls(str(talks))
