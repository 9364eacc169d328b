"""The arguments of one call, one after the other, each from what the request has left.

Needed arguments come first. What a value is taken from is taken: no other argument gets it, unless
it was said twice or a needed one would have nothing else.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ctrag.agents.calls.call_grammar import (
    LONGEST_NUMBER,
    LONGEST_VALUE,
    NUMBER,
    ArgumentRules,
    call_opening,
    copyable,
    number_words,
    numbers_in,
)
from ctrag.agents.calls.plausible import Kind, kind_of_value, named_values, plausible, texts_in
from ctrag.agents.calls.spans import TAKEN
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.models.chat_markup import closing, opening, turn
from ctrag.models.language_model import LanguageModel
from ctrag.text.lark import literal, spelled

SYSTEM = (
    "You turn a request into one function call. Answer with JSON only: the function's name and "
    "its arguments, with values from the request."
)
SAID = 1500
"""Characters of the request in the prompt, the last ones."""
_REACH = 6000
"""Characters that values are copied from, the last ones: each run of words is a candidate."""
_DESCRIPTION, _NOTE = 300, 160
"""Characters of a tool's description in the prompt, and of an argument's."""
_ARGUMENTS = 60
"""Arguments of a tool at most, the needed ones first."""
_PROMPTED = 4_000
"""Characters of a tool's arguments in the prompt, together."""
_EXAMPLE = """Function book_table: Book a table in a restaurant
Arguments:
- restaurant (string): Name of the restaurant
- people (integer): How many will come
- day (string): Day of the visit
- notes (string, optional): Wishes
Request:"""
_EXAMPLE_SAID = " I want a table for four at Luigi's Corner on Friday evening, please"
_EXAMPLE_CALL = (
    '{"name": "book_table", "arguments": '
    '{"restaurant": "Luigi\'s Corner", "people": 4, "day": "Friday"}}'
)


def fill_call(
    model: LanguageModel, tool: CatalogueTool, source: str, prompt: list[int], shared: int = 0
) -> tuple[dict[str, Any] | None, bool]:
    """Arguments of a call, each from what the request has left, and whether the model was asked.

    Args:
        model: Fills them in.
        tool: What is called.
        source: The request, and any other text that values may be copied from.
        prompt: What the model reads before it.
        shared: See `LanguageModel.read`.

    Returns:
        None in place of the arguments where the answer was longer than it may be. Needed ids,
        credentials and addresses that the request does not give are left out.
    """
    properties = spoken(tool)
    required = tool.parameters.get("required") or ()
    source = source[-_REACH:]
    kinds = {name: _kind(name, _schema(given)) for name, given in properties.items()}
    # What is written in one way only is found first, and is nothing else then.
    order = {"secret": 0, "email": 1, "phone": 2, "url": 2, "id": 3, "text": 4, "free": 5}
    needed = sorted(
        (one for one in properties if one in required), key=lambda one: order[kinds[one]]
    )
    if not texts_in(source):
        needed = sorted(needed, key=lambda one: (order[kinds[one]] > 3, [*properties].index(one)))
    optional = [name for name in properties if name not in required]
    written, rest, any_asked = call_opening(tool), source, False
    arguments: dict[str, Any] = {}
    while needed or optional:
        rules = ArgumentRules(source, rest)
        comma = ", " if arguments else ""
        if needed:
            name = needed.pop(0)
            begin = f"{written}{comma}{spelled(name)}: "
            value = _needed(rules, name, _schema(properties[name]), kinds[name], rest)
            if value is None:
                continue
            lark = rules.lark(f"{literal(begin)} {value}")
        else:
            begin = written
            candidates = {
                name: value
                for name in optional
                if (value := _optional(rules, name, _schema(properties[name]), kinds[name], rest))
                is not None
            }
            texts = texts_in(rest)
            written_to = [name for name in candidates if kinds[name] == "text"] if texts else []
            ways = [
                f"{literal(f'{comma}{spelled(name)}: ')} {value}"
                for name, value in candidates.items()
                if name in written_to or not written_to
            ]
            end = [] if written_to else [literal("}}")]
            lark = rules.lark(f"{literal(begin)} ({' | '.join([*end, *ways])})")
        tokens, _, asked = model.bound(prompt, lark, begin, shared)
        any_asked |= asked
        text = model.decode(tokens)
        if text == f"{written}}}}}":
            break
        try:
            found = json.loads(f"{text}}}}}")["arguments"]
        except json.JSONDecodeError:
            return None, any_asked
        new = found.keys() - arguments.keys()
        if not new:
            return None, any_asked
        [name] = new
        optional = [one for one in optional if one != name]
        arguments[name] = found[name]
        written, rest = text, _without(rest, found[name])
    return arguments, any_asked


def _kind(name: str, schema: Mapping[str, Any]) -> Kind:
    """See `kind_of_value`; values that the schema lists, and lists and objects, are free."""
    if schema.get("enum") or kind_of(schema) in {"array", "object", "boolean", "list", "dict"}:
        return "free"
    kind = kind_of_value(name, schema)
    return kind if kind != "text" or kind_of(schema) in {"string", "str"} else "free"


def _needed(
    rules: ArgumentRules,
    name: str,
    schema: Mapping[str, Any],
    kind: Kind,
    rest: str,
) -> str | None:
    """Rule of a needed argument; None where it must not be made up and the request lacks it."""
    if kind == "text" and (texts := texts_in(rest)):
        return rules.texts(texts)
    if kind in ("free", "text"):
        return rules.value(name, schema, True)
    if kind_of(schema) in ("string", "str"):
        given = rules.texts(plausible(kind, name, rest))
        return rules.value(name, schema, True) if kind == "url" and given is None else given
    return rules.value(name, schema, True) if numbers_in(rest) else None


def _optional(
    rules: ArgumentRules, name: str, schema: Mapping[str, Any], kind: Kind, rest: str
) -> str | None:
    """Rule of an optional argument; None where nothing grounds it."""
    if kind == "text" and (texts := texts_in(rest)):
        return rules.texts(texts)
    if kind in ("free", "text") or kind_of(schema) not in ("string", "str"):
        return rules.value(name, schema, False)
    return rules.texts(
        named_values(name, rest) if kind in ("secret", "id") else plausible(kind, name, rest)
    )


def filling_prompt(model: LanguageModel, tool: CatalogueTool, source: str) -> tuple[list[int], int]:
    """What the model reads before the arguments: an example, and the tool with its arguments.

    Returns:
        The prompt's tokens, and how many of them are the same for every call.
    """
    lines = [
        f"Function {shortened(tool.id, _NOTE)}: {shortened(tool.description, _DESCRIPTION)}",
        "Arguments:",
    ]
    needed = tool.parameters.get("required") or ()
    room = _PROMPTED
    for name, given in spoken(tool).items():
        kind = shortened(kind_of(given), _NOTE)
        kind = kind if name in needed else f"{kind}, optional"
        note = shortened(str(_schema(given).get("description", "")), _NOTE)
        lines.append(f"- {shortened(name, _NOTE)} ({kind}): {note}")
        room -= len(lines[-1])
        if room < 0:
            break
    head = model.begin(opening(SYSTEM, _EXAMPLE) + closing(_EXAMPLE_SAID) + _EXAMPLE_CALL)
    asked = "\n".join([*lines, "Request:"]) + f" {copyable(source)[-SAID:]}"
    return head + model.encode(turn() + closing(asked)), len(head)


def shortened(text: str, longest: int) -> str:
    """A description as prompts have it: on one line, cut where it is too long."""
    flat = copyable(text)
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def spoken(tool: CatalogueTool) -> dict[str, Any]:
    """The arguments that a call can name: the needed ones first, and not endlessly many or long."""
    needed = tool.parameters.get("required") or ()
    given = _schema(tool.parameters.get("properties"))
    names = [name for name in given if isinstance(name, str) and len(name) <= LONGEST_VALUE]
    if len(names) > _ARGUMENTS:
        names = sorted(names, key=lambda name: name not in needed)[:_ARGUMENTS]
    return {name: given[name] for name in names}


def _without(rest: str, value: Any) -> str:
    """The text without what a value was taken from, once."""
    if isinstance(value, list):
        for one in value:
            rest = _without(rest, one)
    elif isinstance(value, Mapping):
        for one in value.values():
            rest = _without(rest, one)
    elif isinstance(value, str) and value:
        words = r"\W+".join(map(re.escape, value.split()))
        rest = re.sub(rf"(?<!\w){words}(?!\w)", TAKEN, rest, count=1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        for match in NUMBER.finditer(rest):
            if len(match[0]) <= LONGEST_NUMBER and float(match[0].replace(",", "")) == value:
                return f"{rest[: match.start()]}{TAKEN}{rest[match.end() :]}"
        for word in number_words(value):
            rest = re.sub(rf"\b{word}\b", TAKEN, rest, count=1, flags=re.IGNORECASE)
    return rest


def kind_of(schema: Any) -> str:
    """Type of an argument in words: of an enum its first values."""
    if not isinstance(schema, Mapping):
        return "string"
    if isinstance(schema.get("enum"), list):
        return "|".join(str(one) for one in schema["enum"][:6])
    declared = schema.get("type", "string")
    return "|".join(map(str, declared)) if isinstance(declared, list) else str(declared)


def _schema(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
