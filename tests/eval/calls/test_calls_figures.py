"""What is counted of calls, on nine conversations of a turn with prepared answers."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval.calls import cases as cases_module
from eval.calls import run as experiment
from eval.calls.cases import load_calls
from eval.calls.run import METHOD, CallRow, run_calls, table
from eval.core.intervals import bootstrap_interval
from tests.eval.calls.test_calls_experiment import TALK_TOOLS, Words

ALARM, NOTE = "AddAlarm", "DeleteNote"
TURNS: list[tuple[list[str], list[str], dict[str, Any] | None, float]] = [
    # called in truth, tools shown, arguments planned, seconds
    ([ALARM], [ALARM, NOTE], {"time": "at 7"}, 0.9),
    ([ALARM], [ALARM, NOTE], {"time": "at 8"}, 0.1),
    ([NOTE], [ALARM, NOTE], {"time": "at 7"}, 0.1),
    ([NOTE, NOTE], [NOTE, ALARM], {}, 0.9),
    ([ALARM], [ALARM], None, 0.1234),
    ([NOTE], [ALARM], {"time": "at 7"}, 0.1),
    ([NOTE], [NOTE, ALARM], {}, 0.1),
    ([ALARM], [ALARM, NOTE], {"time": "at 7"}, 0.9),
    ([NOTE], [NOTE], {}, 0.9),
]
RIGHT = [1, 0, 0, 0, 0, 0, 1, 1, 1]
TOOL = [1, 1, 0, 1, 1, 0, 1, 1, 1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    talks = []
    for number, (names, *_) in enumerate(TURNS):
        calls = [{"api": n, "arguments": {"time": "at 7"} if n == ALARM else {}} for n in names]
        turns = [{"user": "go", "calls": calls}]
        talks.append({"conversation_id": f"c{number}", "metadata": {}, "turns": turns})
    (tmp_path / "tools.json").write_text(json.dumps(TALK_TOOLS))
    (tmp_path / "conversations.jsonl").write_text("\n".join(map(json.dumps, talks)))
    return tmp_path


def test_figures_are_of_what_was_called(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def answered(case: Any, encoder: Any, model: Any, run: str) -> CallRow:
        _, shown, arguments, seconds = TURNS[int(case.group[1:])]
        runs.append(run)
        return CallRow(
            run=run, case_id=case.case_id, shown=shown, arguments=arguments, seconds=seconds
        )

    monkeypatch.setattr(experiment, "_row", answered)
    model: Any = SimpleNamespace(engine_name="toy")
    told: list[str] = []
    found = run_calls(str(folder), encoder=Words(), model=model, progress=told.append)
    assert (found.settings["encoder"], found.settings["engine"]) == ("words", "toy")
    assert (told[0], told[-1], len(told)) == ("1/9", "9/9", 9)
    assert found.figures == {METHOD: {"accuracy": 44.44, "tool_accuracy": 77.78}}
    expected = {}
    for key, values in (("accuracy", RIGHT), ("tool_accuracy", TOOL)):
        names = [f"c{number}" for number in range(9)]
        bounds = bootstrap_interval([100.0 * one for one in values], names, seed=0)
        assert bounds is not None
        expected[key] = [round(bounds.low, 2), round(bounds.high, 2)]
    assert found.intervals == {METHOD: expected}
    extra: Any = found.extra
    assert extra["errors"] == {
        METHOD: {"wrong number of calls": 1, "wrong function": 2, "wrong argument": 2}
    }
    assert (extra["cases"], extra["of"], extra["single_call_cases"], extra["cut"]) == (9, 9, 8, 1)
    assert extra["tool_shown"] == 87.5  # 7 of 8
    assert extra["arguments_with_the_right_tool"] == {METHOD: 66.67}  # 4 of 6
    assert extra["seconds_p50"] == 0.123
    assert 0 <= found.seconds < 60
    assert len(runs) == 9
    low, high = expected["accuracy"]
    between = f"{low:.1f} to {high:.1f}"
    assert table(found).rows == [[METHOD, "44.4", between, "77.8", "1", "2", "2"]]
    one = found.model_copy(update={"intervals": {METHOD: {"accuracy": None}}})
    assert table(one).rows[0][2] == "-"


def test_a_row_says_what_was_planned_and_how_long_it_took(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = SimpleNamespace(
        choices=[SimpleNamespace(tool=SimpleNamespace(id=name)) for name in (NOTE, ALARM)],
        arguments={"a": 1},
        complete=False,
        seconds=0.123456,
    )
    planner = SimpleNamespace(plan=lambda *_: plan)
    monkeypatch.setattr(experiment, "CallPlanner", lambda *_, **__: planner)
    case = load_calls(str(folder)).cases[0]
    model: Any = None
    row = experiment._row(case, Words(), model, "run")
    assert (row.shown, row.arguments, row.seconds) == ([NOTE, ALARM], None, 0.1235)
    plan.complete = True
    assert experiment._row(case, Words(), model, "run").arguments == {"a": 1}


def test_four_tools_are_on_offer_and_the_right_ones_place_goes_round(tmp_path: Path) -> None:
    names = [f"tool_{letter}" for letter in "abcdefghij"]
    rows = [
        {"query_id": str(n), "text": "go", "calls": [{"api": "tool_e", "arguments": {}}]}
        for n in range(5)
    ]
    # With nothing before it, the first tool stays in front.
    rows.append({"query_id": "5", "text": "go", "calls": [{"api": "tool_a", "arguments": {}}]})
    (tmp_path / "tools.json").write_text(json.dumps([{"name": one} for one in names]))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    offered = [
        "".join(tool.name[-1] for tool in one.tools) for one in load_calls(str(tmp_path)).cases
    ]
    assert offered == ["efgh", "defg", "cdef", "bcde", "efgh", "abcd"]


def test_functions_keep_their_order_and_one_that_is_listed_twice_its_first_definition() -> None:
    def listed(names: str) -> list[dict[str, Any]]:
        return [{"name": name, "at": at} for at, name in enumerate(names)]

    assert cases_module._once(listed("cab")) == listed("cab")
    once = cases_module._once(listed("abcab"))
    assert [(one["name"], one["at"]) for one in once] == [("c", 2), ("a", 0), ("b", 1)]


def test_what_bfcl_says_before_the_last_turn_is_what_was_said_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = {"name": "book", "description": "Books", "parameters": {"type": "object"}}
    turns = [[{"content": "Be brief."}], [{"content": "Hello."}, {"content": "Book it."}]]
    rows = [({"id": "m_1", "question": turns, "function": [function]}, [{"book": {}}])]
    monkeypatch.setattr(cases_module, "bfcl_rows", lambda category: (rows, "digest"))
    found = load_calls("bfcl:multiple")
    [case] = found.cases
    assert (case.case_id, case.text, case.before) == ("m_1", "Book it.", "Be brief.\nHello.")
    assert [tool.name for tool in case.tools] == ["book"]
    assert (found.sha256, found.judged_by) == ("digest", "bfcl-eval")
