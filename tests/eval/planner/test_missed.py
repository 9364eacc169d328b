"""What retrieval did not return, by hand: it decides which cause a wrong plan is counted under."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eval.planner.rows import _missed


def example(relevance: list[float], api: str | None) -> Any:
    """A request with three items, `a` behind `b` in the ranking, and a labelled plan."""
    view = SimpleNamespace(ids=["a", "b", "c"])
    return SimpleNamespace(
        context=SimpleNamespace(view=view, rows=np.array([1, 0])),
        relevance=np.array(relevance),
        labels=SimpleNamespace(plan=None if api is None else SimpleNamespace(api=api)),
    )


def shown(items: str, *tools: str) -> Any:
    return SimpleNamespace(
        items=[SimpleNamespace(id=one) for one in items],
        callable_tools=[SimpleNamespace(api=one) for one in tools],
    )


@pytest.mark.parametrize(
    ("relevance", "api", "items", "tools", "missed"),
    [
        ([1, 0], "play", "b", ["play"], ""),
        ([1, 0], "play", "ac", ["play"], "item"),  # row 1 is `b`
        ([0, 1], "play", "ac", ["play"], ""),
        ([0.5, 0.5], "play", "a", ["play"], "item"),
        ([0, 0], "play", "", ["play"], ""),
        ([1, 0], "play", "", ["stop"], "tool"),  # first of all
        ([0, 0], None, "", ["stop"], ""),
        ([1, 0], None, "c", [], "item"),
    ],
)
def test_a_tool_is_missed_before_an_item_and_only_relevant_items_are(
    relevance: list[float], api: str | None, items: str, tools: list[str], missed: str
) -> None:
    assert _missed(example(relevance, api), shown(items, *tools)) == missed
