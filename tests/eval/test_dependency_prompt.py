"""Claims about predicted tools in a small model's prompt."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.tools.dependency import Demonstration, NextTool
from eval.dependency_prompt import (
    STRATEGIES,
    Chooser,
    Prompt,
    demonstrations_with,
    prompt_of,
)

ASKED = Demonstration("q", "Mail Zoe that I am late", ("find_contact", "send_mail"))
RANKED = [("send_mail", 0.7), ("end", 0.2), ("set_alarm", 0.05), ("book_flight", 0.001)]


@pytest.fixture
def made(next_tool: NextTool) -> Callable[[str], Prompt]:
    return lambda name: prompt_of(name, next_tool, ASKED, ["find_contact"], RANKED)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_prompt_has_the_request_its_history_and_one_demonstration(
    made: Callable[[str], Prompt], strategy: str
) -> None:
    prompt = made(strategy)
    assert ASKED.text in prompt.variable
    assert "Called so far: find_contact" in prompt.variable
    assert prompt.constant.count("Tools in order:") == 1


@pytest.mark.parametrize("strategy", ["hard_mask", "weighted_hard_mask"])
def test_a_hard_mask_shows_and_allows_the_likely_tools_alone(
    made: Callable[[str], Prompt], strategy: str
) -> None:
    prompt = made(strategy)
    assert list(prompt.exposed) == ["send_mail", "end", "set_alarm"]
    assert "weather_report" not in prompt.constant + prompt.variable
    assert ("0.70" in prompt.variable) is (strategy == "weighted_hard_mask")


@pytest.mark.parametrize("strategy", ["none", "soft_mask", "raw_demonstrations"])
def test_the_others_show_and_allow_all_tools(
    made: Callable[[str], Prompt], next_tool: NextTool, strategy: str
) -> None:
    prompt = made(strategy)
    assert set(prompt.exposed) == set(next_tool.memory.names)
    assert all(name in prompt.constant for name in prompt.exposed)
    assert ("prefer" in prompt.variable) is (strategy == "soft_mask")


def test_raw_demonstrations_call_predicted_tools(next_tool: NextTool) -> None:
    found = demonstrations_with(next_tool, ["find_contact", "send_mail", "end"])
    assert len(found) == 5
    assert all({"find_contact", "send_mail"} <= set(one.tools) for one in found)


def test_an_unknown_strategy_is_refused(made: Callable[[str], Prompt]) -> None:
    with pytest.raises(ValueError, match="strategy: 'firm' is unknown; known: none, raw"):
        made("firm")


def test_the_model_says_an_exposed_name_and_reads_the_constant_part_once(
    converted_planner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [folder] = (converted_planner / "models").iterdir()
    chooser = Chooser(folder)
    read: list[int] = []
    forward = chooser._forward

    def counted(tokens: list[int], cache: Any) -> Any:
        read.append(len(tokens))
        return forward(tokens, cache)

    monkeypatch.setattr(chooser, "_forward", counted)
    names = ["set_alarm", "set_timer", "end"]
    first, used = chooser.choose(Prompt("Tools: set_alarm, end\n", "Wake me at six. Tool:", names))
    assert first in names
    assert read[0] == used[0]
    count = len(read)
    again, _ = chooser.choose(Prompt("Tools: set_alarm, end\n", "Wake me at six. Tool:", names))
    assert again == first
    assert len(read) - count == count - 1
    only, _ = chooser.choose(Prompt("Tools: set_alarm, end\n", "Wake me.", ["call_ada"]))
    assert only == "call_ada"
