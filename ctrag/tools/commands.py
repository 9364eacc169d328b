"""Requests that say outright which API they want: "cancel the dentist"."""

from collections.abc import Sequence

from ctrag.apps.toolbox import Tool
from ctrag.context import item_text
from ctrag.context.words import terms
from stores.items import Item


def commanded(text: str, items: Sequence[Item], tools: Sequence[Tool]) -> list[int]:
    """Positions of the tools whose verb a request says, beside what it is done to: another word of
    the API's name, or a word of the title of an item of its application.

    The reader learned from people who hint; told outright it says "no API" too often. Of 882
    labelled requests that no API fits, 12 are taken for a command.
    """
    said = set(terms(text))
    titles: dict[str, set[str]] = {}
    for item in items:
        titles.setdefault(item.app, set()).update(terms(item_text.title(item)))
    found = []
    for place, tool in enumerate(tools):
        verb, *others = (terms(word) for word in tool.api.split("_"))
        about = {term for word in others for term in word} | titles.get(tool.app, set())
        if others and said.issuperset(verb) and verb and about & said - set(verb):
            found.append(place)
    return found
