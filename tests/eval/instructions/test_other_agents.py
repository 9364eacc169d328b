"""Steps read from conversations of several turns."""

import json
from pathlib import Path

import pytest

from eval.instructions.other_agents import END_STATE, end_states, load_turns
from eval.instructions.steps import bfcl_folder
from eval.instructions.table import VARIANT_HEADS, variant_heads
from eval.replay.conversations import load_conversations

NAME = "BFCL_v4_multi_turn_base.json"


def write(folder: Path, questions: list[object], answers: list[object]) -> None:
    (folder / "possible_answer").mkdir()
    for path, rows in ((folder / NAME, questions), (folder / "possible_answer" / NAME, answers)):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def question(name: str, *turns: str) -> dict[str, object]:
    questions = [[{"role": "user", "content": text}] for text in turns]
    return {"id": name, "question": questions, "involved_classes": ["GorillaFileSystem", "MathAPI"]}


def test_a_turn_is_the_request_and_all_calls_before_are_the_history(tmp_path: Path) -> None:
    calls = [["cd(folder='a')", "ls()"], ["add(a=1, b=2)"]]
    write(tmp_path, [question("x", "look", "sum")], [{"id": "x", "ground_truth": calls}])
    known = {"gorilla_file_system/cd", "gorilla_file_system/ls", "math_api/add"}
    first, second, third = load_turns(tmp_path, known, 5)
    assert (first.id, first.instruction, first.history) == ("x/1", "look", ())
    assert (second.gold, second.history) == ("gorilla_file_system/ls", ("gorilla_file_system/cd",))
    assert (third.instruction, third.domain, third.gold) == ("sum", "math_api", "math_api/add")
    assert third.calls == ("cd(folder='a')", "ls()")
    assert third.episode_tools == tuple(sorted(known))


def test_conversations_with_tools_that_the_catalogue_lacks_are_left_out(tmp_path: Path) -> None:
    rows = [question("x", "look"), question("y", "sum"), question("z", "sum")]
    answers = [
        {"id": "x", "ground_truth": [["unknown()"]]},
        {"id": "y", "ground_truth": [["add(a=1)"]]},
        {"id": "z", "ground_truth": [["add(a=2)"]]},
    ]
    write(tmp_path, rows, answers)
    assert [one.id for one in load_turns(tmp_path, {"math_api/add"}, 1)] == ["y/1"]


def test_the_benchmarks_own_file_is_read() -> None:
    folder = bfcl_folder()
    if folder is None:
        pytest.skip("bfcl-eval is not installed")
    found = load_turns(folder, {"gorilla_file_system/ls"}, 3)
    assert all(one.gold == "gorilla_file_system/ls" for one in found)


def test_end_states_are_those_of_the_calls_whose_tools_are_exposed(tmp_path: Path) -> None:
    pytest.importorskip("bfcl_eval", reason="the simulated tools are those of bfcl-eval")
    home = {"root": {"home": {"type": "directory", "contents": {}}}}
    row = {**question("x", "make it", "sum"), "initial_config": {"GorillaFileSystem": home}}
    calls = [["mkdir(dir_name='a')", "ls()"], ["add(a=1, b=2)"]]
    write(tmp_path, [row], [{"id": "x", "ground_truth": calls}])
    known = load_conversations(tmp_path)
    assert end_states(known, {"x": [True, False, False]}) == [True]
    assert end_states(known, {"x": [False, True, True]}) == [False]


def test_the_end_state_has_a_column_where_it_was_measured() -> None:
    assert variant_heads({"default": {"top1": 1.0}}) == VARIANT_HEADS
    assert variant_heads({"default": {END_STATE: 1.0}})[END_STATE] == "end state"
