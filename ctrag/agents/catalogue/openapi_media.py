"""What the content types of an OpenAPI document say of bodies and of the fields of forms."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ctrag.agents.catalogue.openapi_parts import as_list, as_map

BYTES = "Text; bytes as a data: URI (data:image/png;base64,…)."
"""What the model is told of an argument that is a file."""
_DEPTH = 6
"""References, unions and lists around a file that are looked into."""


def preferred_type(kinds: list[str], is_list: bool = False) -> str:
    """The content type to send: JSON, a form, a multipart form, else the first.

    JSON Patch, a list of changes, comes behind other JSON unless the body is a list: servers that
    take several kinds of patches describe one body for all of them.
    """

    def rank(kind: str) -> int:
        plain = kind.partition(";")[0].strip().lower()
        if plain == "application/json":
            return 0
        if "json-patch" in plain and not is_list:
            return 2
        if plain.endswith("+json") or plain in ("*/*", "application/*"):
            return 1
        return 3 if plain.endswith("form-urlencoded") else 4 if "multipart" in plain else 5

    return min(kinds, key=rank)


def is_text_format(content_type: str) -> bool:
    """Whether a body of that kind is a text that JSON values do not say how to write."""
    plain = content_type.partition(";")[0].strip().lower()
    if "json" in plain or "form-urlencoded" in plain or "*" in plain:
        return False
    return plain.startswith("text/") or plain.endswith(("xml", "yaml", "csv", "graphql"))


def holds_text(schema: Any) -> bool:
    """Whether a body is a text, or may be anything."""
    return as_map(schema).get("type") == "string" or not as_map(schema)


def is_bytes(schema: Any) -> bool:
    """Whether a body is a text that may stand for bytes."""
    return as_map(schema).get("format") == "binary" or as_map(schema) == {"type": "string"}


def is_file(schema: Any, content_type: str, multipart: bool, target: Callable[[str], Any]) -> bool:
    """Whether a field of a form is a file or a list of them, or either or null.

    Args:
        schema: Of the field, as the document has it.
        content_type: Of the field's part, where the document says one.
        multipart: Whether the form is.
        target: What a reference leads to.
    """
    kinds = list(_alternatives(schema, target, _DEPTH))
    if any(one.get("format") == "binary" or "contentMediaType" in one for one in kinds):
        return True
    texts = bool(kinds) and all(set(_types(one)) <= {"string", "null"} for one in kinds)
    known = ("text/", "application/json", "application/xml")
    return multipart and texts and bool(content_type) and not content_type.startswith(known)


def _alternatives(
    schema: Any, target: Callable[[str], Any], depth: int
) -> Iterator[Mapping[str, Any]]:
    """What a value may be, references followed; of a list its members, of null nothing."""
    if not isinstance(schema, Mapping) or not depth or _types(schema) in (["null"], [None]):
        return
    inner = [one for key in ("anyOf", "oneOf", "allOf") for one in as_list(schema.get(key))]
    if isinstance(reference := schema.get("$ref"), str):
        inner.append(target(reference))
    if "array" in _types(schema):
        inner.append(schema.get("items"))
    for one in inner:
        yield from _alternatives(one, target, depth - 1)
    if not inner or "format" in schema or "contentMediaType" in schema:
        yield schema


def _types(schema: Mapping[str, Any]) -> list[Any]:
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]
