"""Arguments of a tool as models send them, read as its schema has them."""

from collections.abc import Mapping
from typing import Any

from ctrag.agents.catalogue.schema_walk import Schema
from ctrag.agents.catalogue.wanted import Wanted
from ctrag.agents.session.fitted import FittedValues, respelled
from ctrag.agents.session.sent_values import WRAPPERS, object_of, pair, parsed

_PAIRS = frozenset({"name", "key", "value"})


def tool_arguments(raw: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's arguments as its schema has them.

    A whole set under one name that the schema lacks is taken out of it, and what stands inside the
    tool's only argument is put into it; a name in other letters (`userId` for `user_id`) is the
    schema's where it can be one alone; a list of one in the place of a text or number is that one,
    and one value in the place of a list a list of it; a text in the place of an object, list,
    number or boolean is read as JSON where it is of that type; a number or boolean in the place of
    a text is written out; null for an optional argument that takes none leaves it out. So it is
    inside of objects and lists, too. Everything else is left as it is: the tool's own server
    judges it.

    Args:
        raw: An object, its JSON text, or None for no arguments.
        parameters: The tool's JSON Schema.

    Raises:
        ValueError: The arguments are no object.
    """
    values = FittedValues(parameters)
    wanted = values.wanted(parameters)
    arguments = _unwrapped(object_of(raw), wanted.properties)
    one = pair(arguments)
    if one is not None and not _PAIRS.intersection(wanted.properties):
        arguments = dict([one]) if one[0] in wanted.properties else arguments
    arguments = respelled(arguments, wanted.properties)
    arguments = _in_the_only_one(arguments, wanted, values)
    return values.of_object(arguments, wanted)


def _unwrapped(arguments: dict[str, Any], properties: Mapping[str, Schema]) -> dict[str, Any]:
    """The arguments, out of the one name that they stand under and that the schema lacks."""
    if len(arguments) != 1:
        return arguments
    [(name, value)] = arguments.items()
    if name in WRAPPERS and name not in properties:
        inner = parsed(value)
        arguments = dict(inner) if isinstance(inner, Mapping) else arguments
        return {} if value is None else arguments
    return _among(arguments, properties) or arguments


def _among(held: Mapping[str, Any], properties: Mapping[str, Schema]) -> dict[str, Any]:
    """What stands under a name that is none of the properties, if it alone is held and all in it
    is; else empty."""
    (name, *more), value = held, parsed(next(iter(held.values())))
    if more or name in properties or not isinstance(value, Mapping):
        return {}
    return dict(value) if all(one in properties for one in value) else {}


def _in_the_only_one(
    arguments: dict[str, Any], wanted: Wanted, values: FittedValues
) -> dict[str, Any]:
    """What belongs into the object that is the tool's only argument, or the only one that it
    requires, put there; an object that holds that object alone is it."""
    known = set(wanted.properties)
    known = known if len(known) == 1 else known & wanted.required
    if len(known) != 1:
        return arguments
    [only] = known
    inner = values.wanted(wanted.properties[only])
    if "object" not in inner.types or not inner.properties:
        return arguments
    if wanted.properties.keys().isdisjoint(arguments):
        within = respelled(arguments, inner.properties)
        if not all(name in inner.properties for name in within):
            return arguments
        empty = not within and (only not in wanted.required or inner.required)
        return arguments if empty else {only: within}
    held = parsed(arguments.get(only))
    alone = isinstance(held, Mapping) and len(held) == 1 and _among(held, inner.properties)
    return {**arguments, only: alone} if alone else arguments
