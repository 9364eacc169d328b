"""Weights of prompts: each half has its own twins, and traces of the first half teach the other."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.prompt.settings import REQUEST_WEIGHT, PromptSettings, weighed
from eval.learning.weights import run_weights, table
from tests.agents.prompt.toys import TopicEncoder, count_words

WORDS = "one two three four five six seven eight nine ten eleven twelve".split()


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    """Twelve episodes that look up an order before they cancel it, and a twin of each."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "shop.md").write_text("# Orders\n\nAsk before you cancel.\n")
    tools = [
        {"name": name, "server": "shop", "description": text}
        for name, text in (("look", "Look a flight up"), ("cancel", "Cancel an order"))
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    rows = [
        {
            "episode_id": f"{word}{copy}",
            "domain": "shop",
            "instruction": f"cancel {word} {word}th {word}ly {word}er{' please' * copy}",
            "steps": [{"tool": "look"}, {"tool": "cancel"}],
        }
        for word in WORDS
        for copy in (0, 1)
    ]
    (tmp_path / "episodes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_traces_of_others_find_the_step_that_no_request_names(episodes: Path) -> None:
    found = run_weights(episodes, encoder=TopicEncoder(), count=count_words)
    figures: Any = found.figures
    assert figures["1 / 0"] == {"chosen": 50.0, "reported": 50.0}
    assert figures["0.1 / 1"] == {"chosen": 100.0, "reported": 100.0}
    extra: Any = found.extra
    assert extra["twins"] == len(WORDS)
    assert all(count % 2 == 0 for count in extra["episodes"].values())
    assert sum(extra["episodes"].values()) == 2 * len(WORDS)
    assert f"{len(WORDS)} episodes have a twin" in table(found).notes[0]


def test_the_requests_weight_is_the_users_then_the_settings_then_by_the_model(
    configure: Any,
) -> None:
    assert weighed(PromptSettings(), predicted=False).request_weight == 1.0
    assert weighed(PromptSettings(), predicted=True).request_weight == REQUEST_WEIGHT
    configure(request_weight=0.5, dependency_prompt_weight=2)
    found = weighed(PromptSettings(tools=1), predicted=True)
    assert (found.tools, found.request_weight, found.next_tool_weight) == (1, 0.5, 2.0)
    assert weighed(found, predicted=True, request_weight=0.1).request_weight == 0.1
    configure(request_weight=0.5, dependency_prompt_weight=0)
    assert weighed(PromptSettings(), predicted=True).next_tool_weight == 0.0
