"""Where a step belongs, from the units' chances and the calls so far."""

import numpy as np
import pytest

from ctrag.agents.prompt.domains import Domains
from ctrag.agents.prompt.settings import PromptSettings
from tests.agents.prompt.toys import FRAGMENTS, TOOLS, builder

FEW = Domains(["shop", "air"], ["shop", "shop", "air", ""])


def test_a_domain_has_the_mean_of_what_policies_and_tools_say() -> None:
    found = FEW.shares(np.array([0.9, 0.1]), np.array([0.2, 0.2, 0.3, 0.3]))
    assert FEW.names == ["air", "shop"]
    assert found == pytest.approx([0.3 / 2, (0.1 + 0.3) / 2, (0.9 + 0.4) / 2])


def test_without_policies_the_tools_alone_say_it() -> None:
    found = Domains([], ["shop", "air"]).shares(np.empty(0), np.array([0.25, 0.75]))
    assert found == pytest.approx([0.0, 0.75, 0.25])


def test_before_any_call_the_log_share_counts_and_tools_without_a_domain_get_the_least() -> None:
    shares = np.array([0.5, 0.1, 0.4])
    fragments, tools = FEW.added(shares, set(), weight=2.0, called_weight=3.0)
    assert fragments == pytest.approx(2 * np.log([0.4, 0.1]))
    assert tools == pytest.approx(2 * np.log([0.4, 0.4, 0.1, 1e-3]))


def test_after_a_call_its_domain_counts_and_nothing_else() -> None:
    fragments, tools = FEW.added(np.ones(3), {"air"}, weight=2.0, called_weight=3.0)
    assert fragments.tolist() == [0.0, 3.0]
    assert tools.tolist() == [0.0, 0.0, 3.0, 0.0]


def test_once_a_tool_of_a_server_was_called_the_rest_of_it_comes_before_others() -> None:
    settings = PromptSettings(opening=0.0, domain_weight=0.0, called_domain=100.0)
    shop = {tool.id for tool in TOOLS if tool.domain == "shop"}
    ranked = builder(settings=settings).ranked("book a flight", ["shop/transfer"])
    assert {tool.id for tool in ranked[: len(shop)]} == shop
    away = builder(settings=PromptSettings(called_domain=0.0, domain_weight=0.0))
    assert away.ranked("book a flight", ["shop/transfer"])[0].id == "air/book_flight"


def test_policies_follow_the_calls_too_and_a_document_opens_with_its_rules() -> None:
    strong = PromptSettings(instructions=1, called_domain=100.0, discovery="off")
    after = builder(settings=strong).build("cancel my order", 500, history=["air/book_flight"])
    assert [one.id for one in after.fragments] == ["air#flight"]
    opening = PromptSettings(instructions=1, opening=100.0, discovery="off")
    first = builder(settings=opening).build("cancel my order", 500)
    assert [one.place for one in first.fragments] == [0]
    assert {one.id for one in FRAGMENTS if one.place == 0} >= {first.fragments[0].id}


def test_a_domain_that_is_said_counts_as_one_that_was_called() -> None:
    strong = PromptSettings(instructions=1, called_domain=100.0, tau=1.0)
    prompt = builder(settings=strong).build("cancel my order", 500, domain="air")
    assert [one.id for one in prompt.fragments] == ["air#flight"]
    assert prompt.domain == "air"
