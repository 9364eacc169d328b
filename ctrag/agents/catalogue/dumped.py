"""Lists of tools as the SDKs of models and of MCP write them out, as the list that they mean."""

from collections.abc import Iterator, Mapping
from typing import Any

_SCHEMAS = (
    "parameters inputSchema input_schema parametersJsonSchema parameters_json_schema "
    "params_json_schema"
).split()
"""Names under which a tool's arguments are kept; the first is the catalogue's own."""
_DECLARED = ("functionDeclarations", "function_declarations")
_WRAPPERS = ("function", "toolSpec", "tool_spec")
_AROUND = frozenset("nextCursor _meta ttlMs cacheScope toolChoice tool_choice".split())
"""What stands beside a list of tools in answers of MCP and in requests of APIs."""


def listed(value: Any) -> Any:
    """A file's value with its tools as one list; what is of no known form stays as it is."""
    if isinstance(value, Mapping) and "jsonrpc" in value and isinstance(value.get("result"), dict):
        value = value["result"]
    if isinstance(value, Mapping) and isinstance(value.get("toolConfig"), dict):
        value = value["toolConfig"]
    if isinstance(value, list) or (isinstance(value, Mapping) and _declared(value) is not None):
        return list(_rows(value))
    if not isinstance(value, Mapping) or not isinstance(value.get("tools"), list | Mapping):
        return value
    kept = {key: one for key, one in value.items() if key not in _AROUND}
    return {**kept, "tools": list(_rows(value["tools"]))}


def row(value: Any) -> Any:
    """One tool's entry with its fields under the catalogue's names and without those that are
    null."""
    if not isinstance(value, dict):
        return value
    for wrapper in _WRAPPERS:
        if isinstance(inner := value.get(wrapper), dict):
            value = {**value, **inner}
    kept = {key: one for key, one in value.items() if one is not None}
    if schema := next((kept[one] for one in _SCHEMAS if one in kept), None):
        kept = {key: one for key, one in kept.items() if key not in _SCHEMAS}
        kept[_SCHEMAS[0]] = _schema(schema)
    return kept


def _rows(tools: Any) -> Iterator[Any]:
    if isinstance(tools, Mapping):
        declared = _declared(tools)
        if declared is None:  # by name
            tools = [
                {"name": name, **one} if isinstance(one, Mapping) else one
                for name, one in tools.items()
            ]
        else:
            tools = declared
    for one in tools:
        declared = _declared(one) if isinstance(one, Mapping) else None
        if declared is None:
            yield one
        else:
            yield from declared


def _declared(value: Mapping[str, Any]) -> list[Any] | None:
    """Gemini's declarations of functions."""
    return next((value[key] for key in _DECLARED if isinstance(value.get(key), list)), None)


def _schema(value: Any) -> Any:
    """A schema out of the object that some SDKs put around it."""
    for wrapper in ("jsonSchema", "json"):
        alone = isinstance(value, Mapping) and not {"type", "properties", "$ref"} & value.keys()
        if alone and isinstance(value.get(wrapper), dict):
            return value[wrapper]
    return value
