"""What an agent is given of what the search finds."""

from collections.abc import Sequence
from statistics import fmean

from pydantic import JsonValue

from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import LIMIT, Given, surface
from eval.discovery.data import Need

K = 5
WITHOUT = 200
"""Requests that are also asked with the tools they need taken out."""


def given_to_agents(
    index: ToolIndex, needs: Sequence[Need], hopeless: Sequence[str] = ()
) -> dict[str, JsonValue]:
    """Per cent of the needed tools that are found among the first five and that are given, and
    tools given a search; how often nothing is given and how often with doubt, also where the
    needed tools are taken out and of `hopeless`.

    Args:
        index: The catalogue.
        needs: Requests that it answers; at least one.
        hopeless: Requests that it does not answer.
    """
    found, kept, given = [], [], []
    for need in needs:
        search = index.find(need.text, LIMIT)
        one = surface(search, need.text)
        given.append(one)
        found.append(_recall(need, [hit.tool.id for hit in index.search(need.text, K)]))
        kept.append(_recall(need, list(one.hits)))
    some = needs[:: max(1, len(needs) // WITHOUT)][:WITHOUT]
    without = [index.give(one.text, exclude=one.serving) for one in some]
    answers = [index.give(text) for text in hopeless]
    return {
        "found@5": round(100 * fmean(found), 2),
        "recall@5": round(100 * fmean(kept), 2),
        **_counts(given),
        "without_needed": {"requests": len(without), **_counts(without)},
        "hopeless": {"requests": len(answers), **_counts(answers)} if answers else None,
    }


def _recall(need: Need, ids: Sequence[str]) -> float:
    return len(need.tools.intersection(need.as_needed(ids))) / len(need.tools)


def _counts(given: Sequence[Given]) -> dict[str, JsonValue]:
    return {
        "tools": round(fmean(len(one.hits) for one in given), 2),
        "nothing": round(100 * fmean(not one.hits for one in given), 1),
        "doubt": round(100 * fmean(one.doubt for one in given), 1),
        "said": round(100 * fmean(one.doubt or not one.hits for one in given), 1),
    }
