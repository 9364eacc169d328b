"""Negative examples come from what was called, or from nowhere."""

from dataclasses import replace

import pytest

from ctrag.prompt.negatives import with_negatives
from ctrag.prompt.settings import PromptSettings
from ctrag.prompt.tool_documents import LARGEST, ToolDocument
from ctrag.prompt.traces import Trace
from tests.prompt.toys import TOOLS, TopicReader, builder, count_words

CANCELLED = Trace("Cancel my order", ("shop/cancel_order",))
RETURNED = Trace("It is broken. Return it for a refund.", ("shop/return_order",))
FLOWN = Trace("Book a flight", ("air/book_flight",))


def noted(traces: list[Trace], tools: list[ToolDocument] = TOOLS) -> dict[str, tuple[str, ...]]:
    found = with_negatives(tools, traces, TopicReader(), count_words, 1)
    assert [one.id for one in found] == [one.id for one in tools]
    return {one.id: one.not_for for one in found if one.not_for}


def test_a_tool_is_not_for_what_its_sibling_was_called_for() -> None:
    """Sentences about nothing, tools that nobody called and tools of another server say nothing."""
    assert noted([CANCELLED, RETURNED, FLOWN]) == {
        "shop/cancel_order": ('"Return it for a refund." (that is return_order)',),
        "shop/return_order": ('"Cancel my order" (that is cancel_order)',),
    }


def test_the_sentence_is_the_one_that_comes_nearest_to_both_tools() -> None:
    """ "Return the order" shares a topic with `cancel_order`, which may be taken for it."""
    near = Trace("Return the order", ("shop/return_order",))
    found = noted([CANCELLED, RETURNED, near])
    assert found["shop/cancel_order"] == ('"Return the order" (that is return_order)',)


def test_a_request_that_both_tools_served_tells_them_not_apart() -> None:
    both = Trace("Cancel this, return that", ("shop/cancel_order", "shop/return_order"))
    assert noted([both]) == {}
    assert set(noted([both, RETURNED])) == {"shop/cancel_order"}


def test_what_may_be_personal_is_not_shown_and_long_sentences_are_cut() -> None:
    personal = Trace("Return order 4711. Return it to a@b.c", ("shop/return_order",))
    assert set(noted([CANCELLED, personal])) == {"shop/return_order"}
    long = Trace("Return " + "please " * 20, ("shop/return_order",))
    found = noted([CANCELLED, long])
    said = f'"Return {"please " * 11}'.strip() + '…" (that is return_order)'
    assert found["shop/cancel_order"] == (said,)


def test_what_the_catalogue_says_stays_and_no_document_becomes_too_long() -> None:
    own = replace(TOOLS[0], not_for=("the weather",))
    long = replace(TOOLS[1], needs=tuple(["word"] * (LARGEST - 5)))
    assert noted([CANCELLED, RETURNED], [own, long]) == {"shop/cancel_order": ("the weather",)}


def test_a_builder_takes_negatives_from_traces_only_where_the_setting_says_so() -> None:
    traces = [CANCELLED, RETURNED]
    assert builder(traces=traces).tools == tuple(TOOLS)
    prompt = builder(traces=traces, settings=PromptSettings(negatives=1)).build("cancel my order")
    assert "(that is return_order)" in prompt.text
    assert prompt.tokens == count_words(prompt.text)
    with pytest.raises(ValueError, match="negatives: must not be negative, is -1"):
        PromptSettings(negatives=-1)
