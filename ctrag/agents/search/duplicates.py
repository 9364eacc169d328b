"""Near-duplicates: one tool on several servers, or in several versions of one interface.

Candidates share one unit of belief, so each of three copies has a third of what one would have
alone. Whether something fits, and which tools are given, is therefore judged by group.
"""

import re
from collections.abc import Sequence

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.fields import ToolTerms, compact

ALIKE = 0.6
"""Least share of terms in common of two tools that are alike whatever their names."""
_SAME_NAME = 0.3
"""The same for two tools of one name: mail's `search` is no copy of the web's."""
_VERSION = re.compile(r"(?<![A-Za-z])v\d+(?:(?:alpha|beta|rc)\d*)?(?![a-z])", re.IGNORECASE)
_HUMP_VERSION = re.compile(r"V\d+(?:(?:alpha|beta|rc)\d*)?(?![a-z])")


def versionless(name: str) -> str:
    """A name written together without its version: `listAppsV1beta1Pod` and `list_apps_v1_pod`."""
    return compact(_VERSION.sub(" ", _HUMP_VERSION.sub(" ", name).replace("_", " ")))


def in_common(first: ToolTerms, second: ToolTerms) -> float:
    """Share of their terms that two tools have in common, 0 to 1."""
    shared = len(first.frequencies.keys() & second.frequencies.keys())
    every = len(first.frequencies) + len(second.frequencies) - shared
    return shared / every if every else 0.0


def groups_of(tools: Sequence[tuple[CatalogueTool, ToolTerms]]) -> list[int]:
    """For each tool the place of the first one that it is a copy of; its own where there is none.

    Args:
        tools: Best first. Tools of one server are copies only if their names differ in nothing but
            the version: `read_file` and `delete_file` may share all other words.
    """
    names = [versionless(tool.name) for tool, _ in tools]
    firsts: list[int] = []
    for place, (tool, terms) in enumerate(tools):
        found = place
        for other in range(place):
            if firsts[other] != other:
                continue
            least = _SAME_NAME if names[other] == names[place] else ALIKE
            apart = tool.server != tools[other][0].server or least == _SAME_NAME
            if apart and in_common(terms, tools[other][1]) >= least:
                found = other
                break
        firsts.append(found)
    return firsts
