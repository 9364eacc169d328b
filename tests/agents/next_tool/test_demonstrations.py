"""Claims about reading demonstrations and about what is held out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.agents.next_tool.demonstrations import (
    END,
    Demonstration,
    load_demonstrations,
)
from ctrag.agents.next_tool.held_out import split_held_out


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_steps_end_with_end() -> None:
    steps = list(Demonstration("q", "wake me", ("set", "check")).steps())
    assert [(step.history, step.next) for step in steps] == [
        ((), "set"),
        (("set",), "check"),
        (("set", "check"), END),
    ]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (
            "queries.jsonl",
            {
                "query_id": "q",
                "text": "wake me",
                "tools": ["set", "check"],
                "acceptable": [["ring", "set"], []],
            },
        ),
        (
            "episodes.jsonl",
            {
                "episode_id": "q",
                "instruction": "wake me",
                "steps": [{"tool": "set", "acceptable": ["ring"]}, {"tool": "check"}],
            },
        ),
        (
            "conversations.jsonl",
            {
                "conversation_id": "q",
                "turns": [
                    {
                        "user": "wake me",
                        "calls": [{"api": "set", "acceptable": ["ring"]}, {"api": "check"}],
                    }
                ],
            },
        ),
    ],
)
def test_data_may_name_several_right_tools_of_a_step(tmp_path: Path, name: str, row: Any) -> None:
    [one] = load_demonstrations(written(tmp_path / name, row))
    assert [step.others for step in one.steps()] == [("ring",), (), ()]
    assert one.fulfilled_by(("set", "check"))
    assert one.fulfilled_by(("ring", "check"))
    assert not one.fulfilled_by(("ring", "set"))
    assert not one.fulfilled_by(("set", "check", "check"))
    renamed = one.called_by({"set": "clock/set", "ring": "clock/ring"})
    assert renamed.fulfilled_by(("clock/ring", "check"))


def test_calls_in_free_order_are_each_made_once() -> None:
    one = Demonstration("q", "wake me", ("set", "light", "check"), others=(("light",), (), ()))
    assert one.fulfilled_by(("set", "light", "check"))
    assert one.fulfilled_by(("light", "set", "check"))
    assert not one.fulfilled_by(("light", "light", "check"))
    assert not one.fulfilled_by(("light", "check"))
    assert not one.fulfilled_by(("light", "set", "check", "check"))
    assert not one.fulfilled_by(("check", "set", "light"))


def test_right_tools_without_a_call_are_refused(tmp_path: Path) -> None:
    row = {"query_id": "q", "text": "go", "tools": ["a", "b"], "acceptable": [["c"]]}
    with pytest.raises(ValueError, match=r"queries.jsonl:1: acceptable: 1 lists for 2 calls"):
        load_demonstrations(written(tmp_path / "queries.jsonl", row))
    row["acceptable"] = [["end"], []]
    with pytest.raises(ValueError, match="no tool may be called 'end'"):
        load_demonstrations(written(tmp_path / "queries.jsonl", row))


def test_all_three_layouts_are_read(tmp_path: Path) -> None:
    queries = tmp_path / "queries"
    queries.mkdir()
    written(queries / "queries.jsonl", {"query_id": "q1", "text": "go", "tools": ["a", "b"]})
    assert load_demonstrations(queries) == [Demonstration("q1", "go", ("a", "b"))]
    episodes = tmp_path / "episodes"
    episodes.mkdir()
    row = {"episode_id": "e1", "instruction": "go", "steps": [{"tool": "a", "arguments": {}}]}
    written(episodes / "episodes.jsonl", row, {**row, "episode_id": "e2", "domain": "air"})
    assert load_demonstrations(episodes) == [
        Demonstration("e1", "go", ("a",)),
        Demonstration("e2", "go", ("a",), domain="air"),
    ]


def test_a_turn_of_a_conversation_goes_on_from_the_calls_before(tmp_path: Path) -> None:
    turns = [
        {"user": "Hello.", "calls": []},
        {"user": "Find Ada.", "calls": [{"api": "find"}]},
        {"user": "Mail her.", "calls": [{"api": "mail"}, {"api": "log"}]},
    ]
    written(tmp_path / "conversations.jsonl", {"conversation_id": "c", "turns": turns})
    second, third = load_demonstrations(tmp_path)
    assert (second.text, second.tools, second.before) == ("Hello.\nFind Ada.", ("find",), ())
    assert (third.tools, third.before, third.chain) == (("mail", "log"), ("find",), "c")
    assert next(third.steps()).history == ("find",)


def test_lines_without_ids_are_named_by_their_number(tmp_path: Path) -> None:
    path = written(
        tmp_path / "own.jsonl", {"text": "go", "tools": ["a"]}, {"text": "x", "tools": []}
    )
    assert [one.id for one in load_demonstrations(path)] == ["line-1", "line-2"]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("{", ":2: not JSON"),
        ("1" * 9_999, ":2: not JSON"),
        ('{"text": "go"}', ":2: tools: Field required"),
        ('{"text": "", "tools": []}', ":2: text: must not be empty"),
        ('{"text": "half \\ud83d", "tools": []}', ":2: text: holds half of a surrogate pair"),
        ('{"text": "go", "tools": ["a", ""]}', ":2: tools.1: must not be empty"),
        ('{"text": "go", "tools": ["end"]}', ":2: no tool may be called 'end'"),
    ],
)
def test_a_bad_line_is_named_with_its_rule(tmp_path: Path, line: str, rule: str) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"text": "go", "tools": ["a"]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rule):
        load_demonstrations(tmp_path)


def test_an_id_twice_and_nothing_at_all_are_refused(tmp_path: Path) -> None:
    row = {"query_id": "q", "text": "go", "tools": ["a"]}
    with pytest.raises(ValueError, match="'q' appears twice"):
        load_demonstrations(written(tmp_path / "queries.jsonl", row, row))
    with pytest.raises(ValueError, match="holds no demonstration"):
        load_demonstrations(written(tmp_path / "queries.jsonl"))
    with pytest.raises(FileNotFoundError, match=r"queries\.jsonl"):
        load_demonstrations(tmp_path / "..")


@given(st.lists(st.integers(1, 4), min_size=6, max_size=60))
def test_chains_stay_whole_and_the_split_does_not_hang_on_the_order(sizes: list[int]) -> None:
    rows = [
        Demonstration(f"{chain}/{turn}", "go", ("a",), group=f"c{chain}")
        for chain, size in enumerate(sizes)
        for turn in range(size)
    ]
    kept, held = split_held_out(rows)
    assert {one.chain for one in kept}.isdisjoint(one.chain for one in held)
    assert sorted(one.id for one in kept + held) == sorted(one.id for one in rows)
    assert len(held) < round(0.2 * len(rows)) + 4
    again = split_held_out(rows[::-1])[1]
    assert {one.id for one in again} == {one.id for one in held}


def test_too_few_to_hold_some_out_is_told() -> None:
    with pytest.raises(ValueError, match="1 are too few"):
        split_held_out([Demonstration("q", "go", ("a",))])
