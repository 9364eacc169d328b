"""Claims about predicted tools in a small model's prompt."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.next_tool import Demonstration, NextTool
from ctrag.agents.prompt.masks import (
    STRATEGIES,
    MaskedPrompt,
    demonstrations_with,
    masked_prompt,
    prompt_of,
)
from eval.dependency.prompt import run_prompts
from eval.dependency.steps import Steps
from eval.instructions.tool_choice import EmbeddedChooser

ASKED = Demonstration("q", "Mail Zoe that I am late", ("find_contact", "send_mail"))
RANKED = [("send_mail", 0.7), ("end", 0.2), ("set_alarm", 0.05), ("book_flight", 0.001)]


@pytest.fixture
def made(next_tool: NextTool) -> Callable[[str], MaskedPrompt]:
    return lambda name: prompt_of(
        name, RANKED, ASKED.text, ["find_contact"], next_tool.memory.demonstrations
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_prompt_has_the_request_its_history_and_one_demonstration(
    made: Callable[[str], MaskedPrompt], strategy: str
) -> None:
    prompt = made(strategy)
    assert ASKED.text in prompt.variable
    assert "Called so far: find_contact" in prompt.variable
    assert prompt.constant.count("Tools in order:") == 1


@pytest.mark.parametrize("strategy", ["hard_mask", "weighted_hard_mask"])
def test_a_hard_mask_shows_and_allows_the_likely_tools_alone(
    made: Callable[[str], MaskedPrompt], strategy: str
) -> None:
    prompt = made(strategy)
    assert list(prompt.exposed) == ["send_mail", "end", "set_alarm"]
    assert "weather_report" not in prompt.constant + prompt.variable
    assert ("0.70" in prompt.variable) is (strategy == "weighted_hard_mask")


@pytest.mark.parametrize(
    "strategy", ["none", "soft_mask", "weighted_soft_mask", "raw_demonstrations"]
)
def test_the_others_show_and_allow_all_tools_that_can_be_called(
    made: Callable[[str], MaskedPrompt], strategy: str
) -> None:
    prompt = made(strategy)
    assert set(prompt.exposed) == {name for name, _ in RANKED}
    assert all(name in prompt.constant for name in prompt.exposed)
    assert ("prefer" in prompt.variable) is (strategy in ("soft_mask", "weighted_soft_mask"))


def test_raw_demonstrations_call_predicted_tools(next_tool: NextTool) -> None:
    found = demonstrations_with(
        next_tool.memory.demonstrations, ["find_contact", "send_mail", "end"]
    )
    assert len(found) == 5
    assert all({"find_contact", "send_mail"} <= set(one.tools) for one in found)


def test_an_unknown_strategy_is_refused(made: Callable[[str], MaskedPrompt]) -> None:
    with pytest.raises(ValueError, match="strategy: 'firm' is unknown; known: none, raw"):
        made("firm")


@pytest.mark.slow
def test_the_experiment_counts_right_names_and_tokens_by_strategy(
    next_tool: NextTool, converted_planner: Path
) -> None:
    [folder] = (converted_planner / "models").iterdir()
    demonstrations = next_tool.memory.demonstrations[:6]
    steps = Steps.of(demonstrations)
    chooser = EmbeddedChooser(str(folder))
    among = next_tool.among(None)
    found: Any = run_prompts(next_tool, steps, 2, among, lambda _: None, chooser=chooser)
    assert found["steps"] == 2
    assert list(found["strategies"]) == list(STRATEGIES)
    by = found["strategies"]
    assert all(one["accuracy"] in (0.0, 50.0, 100.0) for one in by.values())
    # All tools stand in the constant part of three strategies, none in that of a hard mask.
    assert by["none"]["constant_tokens"] == by["soft_mask"]["constant_tokens"]
    assert by["none"]["constant_tokens"] > by["hard_mask"]["constant_tokens"]
    assert by["hard_mask"]["variable_tokens"] < by["weighted_hard_mask"]["variable_tokens"]
    rows = [0, len(steps.wanted) - 1]
    firsts = [
        next_tool.rank(steps.owners[row].text, steps.histories[row])[0][0] == steps.wanted[row]
        for row in rows
    ]
    assert found["retriever_top1"] == pytest.approx(50 * sum(firsts))


def test_a_product_asks_a_model_for_the_prompt_and_may_say_what_it_shows(
    next_tool: NextTool,
) -> None:
    prompt = masked_prompt(next_tool, ASKED.text, ["find_contact"], strategy="hard_mask")
    best = next_tool.rank(ASKED.text, ["find_contact"])[0][0]
    assert prompt.exposed[0] == best
    some = masked_prompt(next_tool, ASKED.text, strategy="none", tools=["send_mail"])
    assert set(some.exposed) == {"send_mail", "end"}
    assert "Example" not in some.constant, "without demonstrations there is none"
