"""How the arguments of an OpenAPI operation are written: in a path, a query, a header, a body."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from ctrag.agents.catalogue.openapi_operations import Argument, Operation
from ctrag.errors import InputError

_DATA = re.compile(
    r"data:(?P<kind>[\w.+-]+/[\w.+-]+)?(?:;(?!base64)[\w-]+=[\w.+-]+)*(?P<base64>;base64)?,(?P<data>.*)",
    re.DOTALL,
)
_LINES = re.compile(r"ndjson|jsonl|json-?lines|json-seq")
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
    if one.style == "deepObject" and isinstance(value, Mapping | list | tuple):
        return _deep(one.name, value)
    if isinstance(value, Mapping):
        if one.style == "form" and one.explode:
            return [(str(key), as_written(inner)) for key, inner in value.items()]
        return [(one.name, ",".join(members(value)))]
    if isinstance(value, list | tuple):
        if one.explode:
            return [(one.name, as_written(inner)) for inner in value]
        return [(one.name, _SEPARATORS.get(one.style, ",").join(members(value)))]
    return [(one.name, as_written(value))]


def _deep(
    name: str, value: Any, *, inside: bool = False, counted: bool = False
) -> list[tuple[str, str]]:
    """A value by brackets: `f[a][b]=1`; lists of texts inside repeat their name, others count."""
    if isinstance(value, Mapping):
        return [
            pair
            for key, inner in value.items()
            for pair in _deep(f"{name}[{key}]", inner, inside=True, counted=counted)
        ]
    if isinstance(value, list | tuple):
        if (
            inside
            and not counted
            and not any(isinstance(each, Mapping | list | tuple) for each in value)
        ):
            return [(name, as_written(each)) for each in value]
        return [
            pair
            for number, each in enumerate(value)
            for pair in _deep(f"{name}[{number}]", each, inside=True, counted=counted)
        ]
    return [(name, as_written(value))]


def written_body(
    operation: Operation, given: Mapping[str, list[tuple[Argument, Any]]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The body as `httpx.Request` takes it, and its headers."""
    kind = operation.content_type
    plain = kind.partition(";")[0].strip().lower()
    whole, fields = given["whole body"], given["body"]
    if not kind:
        return {}, {}
    if "multipart" in plain or plain.endswith("form-urlencoded"):
        if whole and isinstance(whole[0][1], Mapping):
            fields, whole = _fields(whole[0][1]), []
        elif whole and "multipart" in plain:
            raise InputError(f"{whole[0][0].name}: must be an object with the fields of the form")
        # forms have no null
        fields = [(one, value) for one, value in fields if value is not None]
    if not (whole or fields):
        if operation.body_required and "json" in plain:
            return {"content": b"{}"}, {"Content-Type": kind}
        return {}, {}
    if "multipart" in plain and fields:
        return {"files": [part for one, value in fields for part in _parts(one, value)]}, {}
    if plain.endswith("form-urlencoded") and fields:
        told = [pair for one, value in fields for pair in _form_pairs(one, value)]
        text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in told)
        return {"content": text.encode()}, {"Content-Type": kind}
    value = whole[0][1] if whole else {one.name: value for one, value in fields}
    if _LINES.search(plain) and isinstance(value, list):
        lines = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in value)
        return {"content": lines.encode()}, {"Content-Type": kind}
    if "json" in plain or "*" in plain:
        kind = "application/json" if "*" in plain else kind
        return {"content": json.dumps(value, ensure_ascii=False).encode()}, {"Content-Type": kind}
    content, told_kind = _content(value)
    if not plain.startswith("text/") and told_kind:
        return {"content": content}, {"Content-Type": kind if "*" not in kind else told_kind}
    return {"content": as_written(value).encode()}, {"Content-Type": kind}


def _fields(value: Mapping[str, Any]) -> list[tuple[Argument, Any]]:
    """A whole form as its fields; what is a `data:` URI is a file."""
    return [
        (Argument(str(key), "body", file=isinstance(one, str) and one.startswith("data:")), one)
        for key, one in value.items()
    ]


_Part = tuple[str, tuple[str | None, bytes, str | None]]


def _parts(one: Argument, value: Any) -> list[_Part]:
    """The parts of a multipart body that an argument is: one for each member of a list."""
    if isinstance(value, list | tuple):
        return [part for inner in value for part in _parts(one, inner)]
    if one.file:
        content, kind = _content(value)
        kind = kind or one.content_type or "application/octet-stream"
        return [(one.name, (one.name, content, kind))]
    kind = one.content_type or ("application/json" if isinstance(value, Mapping) else "")
    return [(one.name, (None, as_written(value).encode(), kind or None))]


def _form_pairs(one: Argument, value: Any) -> list[tuple[str, str]]:
    """A field of a form; what is nested, and has no style, as JSON; lists inside are counted."""
    if not one.style and isinstance(value, Mapping):
        return [(one.name, as_written(value))]
    if one.style == "deepObject":
        return _deep(one.name, value, counted=True)
    return pairs(one, value)


def _content(value: Any) -> tuple[bytes, str]:
    """A file's bytes and, where a `data:` URI says it, their type."""
    text = as_written(value)
    found = _DATA.fullmatch(text)
    if found is None:
        return text.encode(), ""
    try:
        content = (
            base64.b64decode(found["data"], validate=True)
            if found["base64"]
            else unquote_to_bytes(found["data"])
        )
    except ValueError:
        raise InputError("a data: URI holds no base64") from None
    return content, found["kind"] or "application/octet-stream"
