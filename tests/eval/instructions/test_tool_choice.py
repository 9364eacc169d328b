"""Which tool the embedded model names, bound to the names it was given."""

from typing import Any

import pytest

from ctrag.models.chat_markup import END
from eval.instructions.name_choice import ways_of
from eval.instructions.tool_choice import EmbeddedChooser, WindowExceeded, asking

NAMES = ["cancel_order", "cancel_order_items", "get_weather"]


@pytest.fixture(scope="module")
def chooser(planner: Any) -> EmbeddedChooser:
    return EmbeddedChooser(str(planner.folder), threads=1)


def test_the_choice_is_one_of_the_names_and_a_shared_prefix_changes_nothing(
    chooser: EmbeddedChooser,
) -> None:
    system = "You are a shop's agent. Tools: cancel_order, cancel_order_items, get_weather."
    first = chooser.choose(system, asking("Cancel my order", []), NAMES)
    again = chooser.choose(system, asking("Cancel my order", ["look(x=1)"]), NAMES)
    assert first.name in NAMES
    assert again.computed_tokens < again.prompt_tokens
    alone = EmbeddedChooser(str(chooser.folder), threads=1)
    alone._loaded = chooser._loaded
    fresh = alone.choose(system, asking("Cancel my order", ["look(x=1)"]), NAMES)
    assert fresh.name == again.name
    assert fresh.computed_tokens == fresh.prompt_tokens > again.computed_tokens


def test_one_name_needs_no_decoding(chooser: EmbeddedChooser) -> None:
    assert chooser.choose("Tools: x.", "hello", ["x"]).name == "x"


def test_what_does_not_fit_the_window_is_refused(chooser: EmbeddedChooser) -> None:
    with pytest.raises(WindowExceeded, match=r"tokens for a window of 8192"):
        chooser.choose("word " * 9000, "hello", NAMES)


def test_no_name_is_refused(chooser: EmbeddedChooser) -> None:
    with pytest.raises(ValueError, match="names: there is none to choose from"):
        chooser.choose("x", "hello", [])


@pytest.mark.slow
def test_reading_all_names_at_once_is_reading_them_one_by_one(chooser: EmbeddedChooser) -> None:
    import torch

    model, tokenizer = chooser._loaded
    names = [*NAMES, "cancel_all_orders", "get_weather_of_town"]
    spelled = {
        name: tuple(tokenizer(name + END, add_special_tokens=False).input_ids) for name in names
    }
    ways = ways_of(spelled)
    assert sum(len(some) > 1 for some in ways.values()) >= 3  # names part
    ids = chooser._tokens("You are a shop's agent.", asking("Cancel my order", []))
    chooser._ids = []
    for _ in range(2):  # from nothing, then with the prompt in the cache
        found = chooser._after(ids, ways)
        assert set(found) == set(ways)
    for path, some in found.items():
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*ids, *path]])).logits[0, -1]
        alone = torch.log_softmax(logits, dim=-1)
        for token, log in some.items():
            assert log == pytest.approx(float(alone[token]), abs=1e-3)
