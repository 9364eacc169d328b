"""Keywords of a JSON Schema whose values have the wrong type, as servers send them.

PHP writes an empty table as a list, form builders write numbers as texts, and a title may be null.
Such a keyword is read as it is meant, or dropped: it is no reason to lose the tool.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

_DROPPED = object()


def with_readable_keywords(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema's own keywords, each of the type that drafts give it."""
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        read = _READERS.get(key)
        made = value if read is None else read(value)
        if made is not _DROPPED:
            kept[key] = made
    return kept


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else _DROPPED


def _number(value: Any) -> Any:
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value) if not value.strip().lstrip("-").isdecimal() else int(value)
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return value if usable and value == value and abs(value) != float("inf") else _DROPPED


def _positive(value: Any) -> Any:
    number = _number(value)
    return number if number is not _DROPPED and number > 0 else _DROPPED


def _count(value: Any) -> Any:
    number = _number(value)
    if number is _DROPPED or number < 0 or number != int(number):
        return _DROPPED
    return int(number)


def _truth(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    return value if isinstance(value, bool) else _DROPPED


def _list(value: Any) -> Any:
    return value if isinstance(value, list) else _DROPPED


def _choices(value: Any) -> Any:
    """Allowed values, each once; a list of none, which nothing could meet, is dropped."""
    if not isinstance(value, list):
        return _DROPPED
    kept: dict[str, Any] = {}
    for one in value:  # 1, 1.0 and true are three values
        kept.setdefault(json.dumps(one, sort_keys=True, default=repr), one)
    return list(kept.values()) or _DROPPED


def _names(value: Any) -> Any:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return list(dict.fromkeys(one for one in value if isinstance(one, str)))
    return value if isinstance(value, bool) else _DROPPED  # draft 3, read elsewhere


def _schema(value: Any) -> Any:
    if isinstance(value, Mapping | bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    return {"type": value} if isinstance(value, str) and value.isalpha() else _DROPPED


def _schema_or_list(value: Any) -> Any:
    return _schemas(value) if isinstance(value, list) else _schema(value)


def _schemas(value: Any) -> Any:
    if not isinstance(value, list):
        return _DROPPED
    kept = [made for one in value if (made := _schema(one)) is not _DROPPED]
    return kept or _DROPPED


def _by_name(value: Any) -> Any:
    """Schemas by name; a list of them may say the names inside."""
    if isinstance(value, list):
        value = {
            one["name"]: {key: each for key, each in one.items() if key != "name"}
            for one in value
            if isinstance(one, Mapping) and isinstance(one.get("name"), str)
        }
    if not isinstance(value, Mapping):
        return _DROPPED
    made = {str(name): _schema(one) for name, one in value.items()}
    return {name: {} if one is _DROPPED else one for name, one in made.items()}


def _names_by_name(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return _DROPPED
    made = {str(name): _names(one) for name, one in value.items()}
    return {name: one for name, one in made.items() if isinstance(one, list)}


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        "title description format pattern $comment $ref $dynamicRef $recursiveRef $schema "
        "contentMediaType contentEncoding".split(),
        _text,
    ),
    "dependentRequired": _names_by_name,
    **dict.fromkeys(("minimum", "maximum"), _number),
    **dict.fromkeys(
        "minLength maxLength minItems maxItems minProperties maxProperties minContains "
        "maxContains".split(),
        _count,
    ),
    "multipleOf": _positive,
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _truth),
    "enum": _choices,
    "examples": _list,
    "required": _names,
    **dict.fromkeys(
        "additionalProperties unevaluatedProperties unevaluatedItems contains not if then else "
        "propertyNames contentSchema additionalItems".split(),
        _schema,
    ),
    "items": _schema_or_list,
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _schemas),
    **dict.fromkeys(
        ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _by_name
    ),
}
