"""Which tool the embedded model names, bound to the names it was given."""

from typing import Any

import numpy as np
import pytest

from eval.tool_choice import NOTHING, EmbeddedChooser, WindowExceeded, asking

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


def test_a_blank_prompt_leaves_the_reading_of_the_asked_one_as_it_was(
    chooser: EmbeddedChooser,
) -> None:
    system = "You are a shop's agent. Tools: cancel_order, cancel_order_items, get_weather."
    blank = asking(NOTHING, [])
    weighed = EmbeddedChooser(str(chooser.folder), threads=1)
    plain = EmbeddedChooser(str(chooser.folder), threads=1)
    weighed._loaded = plain._loaded = chooser._loaded
    for calls in ([], ["look(x=1)"]):
        user = asking("Cancel my order", calls)
        one, other = weighed.choose(system, user, NAMES, blank), plain.choose(system, user, NAMES)
        assert one.prompt_tokens == other.prompt_tokens
        assert one.computed_tokens == other.computed_tokens
    rows = weighed._weighed_rows
    ids = weighed._tokens(system, blank)
    fresh = weighed._read(ids, 0)[-1]
    np.testing.assert_allclose(rows[()], fresh, atol=1e-3)
