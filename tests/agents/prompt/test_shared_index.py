"""A builder that takes its tools from the agent's `ToolIndex`."""

from collections.abc import Sequence

import numpy as np
import pytest

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.search.index import ToolIndex
from ctrag.models.encoder import Matrix
from tests.agents.prompt.toys import FRAGMENTS, TOOLS, TopicEncoder, card, count_words


class CountingEncoder:
    """Topics as vectors; keeps what it encoded."""

    name = "counting"

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self._topics = TopicEncoder()

    def encode(self, texts: Sequence[str]) -> Matrix:
        self.encoded += texts
        return np.stack([self._topics.encode(text) for text in texts])


def shared(
    access: AccessRules | None = None, user: str | None = None
) -> tuple[PromptBuilder, CountingEncoder]:
    encoder = CountingEncoder()
    index = ToolIndex([one.tool for one in TOOLS], encoder, access)
    return (
        PromptBuilder(
            FRAGMENTS, index=index, user=user, reranker=Reranker(card()), count=count_words
        ),
        encoder,
    )


def test_a_catalogue_is_encoded_once_for_search_and_prompts() -> None:
    builder, encoder = shared()
    builder.build("cancel my order", 400)
    for tool in TOOLS:
        read = [text for text in encoder.encoded if tool.tool.description in text]
        assert len(read) == 1, tool.id
    for one in FRAGMENTS:
        assert sum(one.text.strip() in text for text in encoder.encoded) == 1, one.id


def test_the_builder_ranks_all_tools_of_the_index() -> None:
    builder, _ = shared()
    assert builder.ranked("cancel my order")[0].id == "shop/cancel_order"
    assert {tool.id for tool in builder.tools} == {tool.id for tool in TOOLS}


def test_tools_that_the_caller_may_not_see_are_in_no_prompt() -> None:
    rules = AccessRules(
        (Grant("user:ada", "shop/cancel_order"),),
        {"ada": Principal("ada"), "bob": Principal("bob")},
    )
    builder, _ = shared(rules, "ada")
    assert [one.id for one in builder.full("book a flight").tools] == ["shop/cancel_order"]
    with pytest.raises(ValueError, match="index: holds no tool that 'bob' may see"):
        shared(rules, "bob")
