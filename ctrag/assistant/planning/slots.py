"""Slots: arguments whose value a request itself can say, and a call made from what it says."""

from collections.abc import Mapping
from dataclasses import dataclass

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.text.words import telling_words, words
from ctrag.toolbox import Argument, Tool

OWNED = ("title", "subject")
"""Arguments that name something the person has, when they are values."""


@dataclass(frozen=True, slots=True)
class FilledSlot:
    """What the model read."""

    value: str | None
    """None: the request does not say it."""
    probability: float
    """Of this answer, 0 to 1."""


def slots_of(tool: Tool) -> list[Argument]:
    """The arguments whose value a request can say: free text, and names that nobody owns yet."""
    return [
        argument
        for argument in tool.arguments
        if argument.match == "text"
        or (argument.type == "string" and argument.name not in (*OWNED, "number"))
    ]


@dataclass(frozen=True, slots=True)
class Composed:
    """A call and how sure its arguments are."""

    plan: Plan | None
    """None when a required argument has no value."""
    belief: float
    """Probability, 0 to 1, that all arguments are right."""


def compose(
    tool: Tool, values: ToolValues, slots: Mapping[str, FilledSlot], sources: ValueSources
) -> Composed:
    """The call of a tool: what was said where it was said, else the best ranked values.

    Args:
        tool: The tool that is called.
        values: Its ranked values.
        slots: What the request says of its slots.
        sources: For a text that nobody said: the request's own words.
    """
    arguments: dict[str, Value] = {}
    belief = 1.0
    for argument in tool.arguments:
        name = argument.name
        slot = slots.get(name)
        if slot is not None and slot.value is not None:
            value: str | None = slot.value
            belief *= slot.probability
            if argument.match == "value":
                value = _known(slot.value, values, name)
        elif argument.match == "text":
            value = sources.own_words(tool, argument) if argument.required else None
        elif name in values.absent:
            value = None
            belief *= values.beliefs.get(name, 1.0)
        else:
            candidates = values.candidates.get(name, ())
            value = candidates[0].value if candidates else None
            belief *= values.beliefs.get(name, 1.0)
        if value is None:
            if argument.required:
                return Composed(None, 0.0)
            continue
        arguments[name] = _typed(argument, value)
    return Composed(Plan(tool.api, arguments), belief)


def _known(said: str, values: ToolValues, name: str) -> str:
    """The candidate that was said in other words or letters: "the planets" names "Holst: The
    Planets"; otherwise what was said."""
    wanted = set(telling_words(said)) or set(words(said))
    for candidate in values.candidates.get(name, ()):
        if wanted and wanted <= set(words(candidate.value)):
            return candidate.value
    return said


def _typed(argument: Argument, value: str) -> Value:
    if argument.type == "contacts":
        return [value]
    return int(value) if argument.type == "integer" else value
