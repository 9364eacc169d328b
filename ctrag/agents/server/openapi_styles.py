"""How the arguments of an OpenAPI operation are written: in a path, a query, a header, a body."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ctrag.agents.catalogue.openapi_operations import Argument, Operation
from ctrag.errors import InputError

if TYPE_CHECKING:
    pass


_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


def as_written(value: Any) -> str:
    """A value as text: numbers and booleans as in JSON, what is nested as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def path_segment(one: Argument, value: Any) -> str:
    """A value as a part of the path: nothing in it can end the part or leave it."""
    parts = members(value)
    if any(step in (".", "..") for part in parts for step in re.split(r"[/\\]", part)):
        raise InputError(f"{one.name}: must not hold the steps . or .. of a path")
    if not parts or not all(parts):
        raise InputError(f"{one.name}: must not be empty; the address needs it")
    escaped = [quote(part, safe="") for part in parts]
    if one.style == "label":
        return "." + ("." if one.explode else ",").join(escaped)
    if one.style == "matrix":
        if isinstance(value, list | tuple) and one.explode:
            return "".join(f";{quote(one.name, safe='')}={part}" for part in escaped)
        return f";{quote(one.name, safe='')}={','.join(escaped)}"
    return ",".join(escaped)


def header_value(one: Argument, value: Any) -> str:
    """An argument as a header has it."""
    return as_written(value) if one.json else ",".join(members(value))


def members(value: Any) -> list[str]:
    """The members of a value as texts; keys and values of a mapping in turn."""
    if isinstance(value, Mapping):
        return [part for key, inner in value.items() for part in (str(key), as_written(inner))]
    if isinstance(value, list | tuple):
        return [as_written(inner) for inner in value]
    return [as_written(value)]


def pairs(one: Argument, value: Any) -> list[tuple[str, str]]:
    """An argument as it is written in a query or a form, by its style."""
    if one.json:
        return [(one.name, as_written(value))]
    if isinstance(value, Mapping):
        if one.style == "deepObject":
            return [
                (f"{one.name}[{key}]", text)
                for key, inner in value.items()
                for text in (members(inner) if isinstance(inner, list) else [as_written(inner)])
            ]
        if one.style == "form" and one.explode:
            return [(str(key), as_written(inner)) for key, inner in value.items()]
        return [(one.name, ",".join(members(value)))]
    if isinstance(value, list | tuple):
        if one.explode:
            return [(one.name, as_written(inner)) for inner in value]
        return [(one.name, _SEPARATORS.get(one.style, ",").join(members(value)))]
    return [(one.name, as_written(value))]


def written_body(
    operation: Operation, given: Mapping[str, list[tuple[Argument, Any]]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The body as `httpx.Request` takes it, and its headers."""
    kind = operation.content_type
    plain = kind.partition(";")[0].strip().lower()
    whole, fields = given["whole body"], given["body"]
    if not kind or not (whole or fields):
        return {}, {}
    if "multipart" in plain and fields:
        data = {one.name: as_written(value) for one, value in fields if not one.file}
        files = {
            one.name: (one.name, as_written(value).encode()) for one, value in fields if one.file
        }
        if files:
            return {"data": data, "files": files}, {}
        return {"files": {name: (None, text) for name, text in data.items()}}, {}
    if plain.endswith("form-urlencoded") and fields:
        told = [pair for one, value in fields for pair in pairs(one, value)]
        text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in told)
        return {"content": text.encode()}, {"Content-Type": kind}
    value = whole[0][1] if whole else {one.name: value for one, value in fields}
    if "json" in plain or "*" in plain:
        kind = "application/json" if "*" in plain else kind
        return {"content": json.dumps(value, ensure_ascii=False).encode()}, {"Content-Type": kind}
    return {"content": as_written(value).encode()}, {"Content-Type": kind}
