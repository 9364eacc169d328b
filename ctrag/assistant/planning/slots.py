"""Slots: the arguments whose value a request itself can say."""

from ctrag.toolbox import Argument, Tool

OWNED = ("title", "subject")
"""Arguments that name something the person has, when they are values."""
OWNED_GROUPS = ("playlist_name", "list", "folder")
"""Arguments that name a group of the person's items."""
SAID = 0.5
"""Probability from which what was said is taken."""
_MENTIONED = ("contact", "contacts", "datetime", "date")
"""Types of which the request has words to be read, and not the value itself."""


def slots_of(tool: Tool) -> list[Argument]:
    """The arguments of which a request can say something: all but choices, numbers and names of
    what the person has."""
    return [
        argument
        for argument in tool.arguments
        if argument.match == "text"
        or argument.type in _MENTIONED
        or (argument.type == "string" and argument.name not in (*OWNED, "number"))
    ]
