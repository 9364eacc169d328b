"""A grammar made for one request: only plans that are well-formed and grounded can be decoded.

API names come from the exposed tools, argument names and order from their schemas, values from
`ValueSources`. An API that lacks a value for a required argument is left out; `none()`
is always there.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctrag.assistant.planning.candidate_values import OPEN, CandidateValue, ValueSources
from ctrag.assistant.planning.ranked_values import ToolValues, rank_values
from ctrag.assistant.planning.slots import slots_of
from ctrag.text.lark import literal, spelled
from ctrag.toolbox import Argument, Tool

TEXT_LENGTH = 120
"""Characters of a free text argument at most."""
OPEN_LENGTH = 40
LONGEST_LIST = 4

_RULES = f"""
TEXT: /"([^"…\\\\\\n\\r\\t\\x00-\\x1f]){{1,{TEXT_LENGTH}}}"/
OPEN: /"([^"…\\\\\\n\\r\\t\\x00-\\x1f]){{1,{OPEN_LENGTH}}}"/
INTEGER: /-?(0|[1-9][0-9]{{0,8}})/
"""


@dataclass(frozen=True, slots=True)
class PlanGrammar:
    """A Lark grammar for llguidance, and what it was made from."""

    lark: str
    apis: tuple[str, ...]
    """APIs that can be called; `none` is not among them and always possible."""
    candidates: dict[str, dict[str, tuple[CandidateValue, ...]]]
    """API → argument → candidate values; arguments of free text are left out."""
    left_out: dict[str, str]
    """Exposed APIs that cannot be called now → which argument has no value."""
    belief: dict[str, float] = field(default_factory=dict)
    """API → probability, 0 to 1, that its best arguments are right; 1 without a value ranker."""
    values: Mapping[str, ToolValues] = field(default_factory=dict)
    """What the grammar was made from."""

    def traced(self) -> dict[str, Any]:
        """Its part of the trace."""
        values = {
            api: {name: [one.value for one in candidates] for name, candidates in found.items()}
            for api, found in self.candidates.items()
        }
        sources = {
            api: {name: [one.source for one in candidates] for name, candidates in found.items()}
            for api, found in self.candidates.items()
        }
        return {"values": values, "sources": sources, "left_out": self.left_out}


def plan_grammar(
    tools: Sequence[Tool],
    sources: ValueSources,
    *,
    best_only: bool = False,
    write_text: bool = True,
    write_outward: bool = True,
    open_when_empty: bool = False,
    fillable: bool = False,
    values: Mapping[str, ToolValues] | None = None,
) -> PlanGrammar:
    """The grammar of all plans that the exposed tools and the sources allow.

    Args:
        tools: The exposed tools.
        sources: Where values may come from.
        best_only: Allow one value per argument, the likeliest (an enum that no ranker has ordered
            keeps all of its own), and every optional argument that has a value; free text that is
            optional only where no other argument has a value. For a model that cannot choose values
            well (docs/log.md).
        write_text: Let the model write free text. Otherwise text arguments are the person's own
            words, or the title of the item that a search is for.
        write_outward: Whether that includes text that is sent to others; if False, that stays in
            the person's own words.
        open_when_empty: Allow any short text where there is no candidate; for experiments that hide
            the person's items, never for serving.
        fillable: Whether a slot filler reads the request for arguments without a candidate: a call
            that lacks nothing else is possible then.
        values: The result of `rank_values`; when None, that without a ranker.
    """
    rules: list[str] = []
    candidates: dict[str, dict[str, tuple[CandidateValue, ...]]] = {}
    left_out: dict[str, str] = {}
    apis: list[str] = []
    belief: dict[str, float] = {}
    values = rank_values(tools, sources) if values is None else values
    for number, tool in enumerate(tools):
        known = values[tool.api]
        found = known.candidates
        writes = write_text and (write_outward or tool.effect != "outward")
        empty = {
            argument.name
            for argument in tool.arguments
            if argument.match == "value"
            and argument.type != "integer"
            and not found[argument.name]
            and argument.name not in OPEN
            and not open_when_empty
        }
        read = {slot.name for slot in slots_of(tool)} if fillable else set()
        missing = [
            one.name
            for one in tool.arguments
            if one.required and one.name in empty and one.name not in read
        ]
        if missing:
            left_out[tool.api] = missing[0]
            continue
        left = empty | known.absent if best_only else empty
        usable = [argument for argument in tool.arguments if argument.name not in left]
        for position, argument in enumerate(usable):
            choices = found.get(argument.name, ())
            if best_only and (argument.type != "enum" or known.ranked):
                choices = choices[:1]
            if argument.match == "text" and not writes:
                rule = literal(spelled(sources.own_words(tool, argument)))
            else:
                rule = _value_rule(argument, choices, best_only)
            rules.append(f"v{number}_{position}: {rule}")
        rules.append(f"api{number}: {_call_rule(tool, usable, number, best_only)}")
        apis.append(tool.api)
        candidates[tool.api] = found
        belief[tool.api] = known.belief
    names = [f"api{number}" for number, tool in enumerate(tools) if tool.api in candidates]
    start = "start: " + " | ".join([*names, '"none()"'])
    return PlanGrammar(
        "\n".join([start, *rules, _RULES]), tuple(apis), candidates, left_out, belief, values
    )


def _call_rule(tool: Tool, usable: Sequence[Argument], number: int, best_only: bool) -> str:
    """Alternatives for each choice of optional arguments, all in the schema's order."""
    optional = [position for position, one in enumerate(usable) if not one.required]
    if best_only:
        has_values = any(one.match == "value" for one in usable)
        choices = [{at for at in optional if usable[at].match == "value" or not has_values}]
    else:
        choices = [
            set(chosen)
            for size in range(len(optional) + 1)
            for chosen in itertools.combinations(optional, size)
        ]
    alternatives = []
    for chosen in choices:
        kept = [
            position for position, one in enumerate(usable) if one.required or position in chosen
        ]
        parts = [literal(f"{tool.api}(")]
        for place, position in enumerate(kept):
            comma = ", " if place else ""
            parts += [literal(f"{comma}{usable[position].name}="), f"v{number}_{position}"]
        alternatives.append(" ".join([*parts, literal(")")]))
    return " | ".join(alternatives)


def _value_rule(argument: Argument, candidates: Sequence[CandidateValue], best_only: bool) -> str:
    if argument.match == "text":
        return "TEXT"
    if argument.type == "integer":
        return "INTEGER"
    values = [literal(spelled(candidate.value)) for candidate in candidates]
    if not values or (argument.name in OPEN and not best_only):
        values.append("OPEN")
    one = " | ".join(values)
    if argument.type == "contacts" and best_only:
        return f'"[" ({one}) "]"'
    if argument.type == "contacts":
        return f'"[" ({one}) (", " ({one})){{0,{LONGEST_LIST - 1}}} "]"'
    return one
