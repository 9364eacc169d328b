"""Tools from OpenAPI documents, Python functions and LangChain tools.

Other MCP servers are listed by `ctrag.agents.server`; all end in `ToolIndex.replace_server`.
"""

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.effects import HINTS
from ctrag.agents.catalogue.tool import CatalogueTool, check_identities
from ctrag.errors import InputError

_ARGUMENT = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$")


def tools_from_openapi(
    document: Mapping[str, Any] | str | Path, server: str = "", where: str = "openapi"
) -> list[CatalogueTool]:
    """One tool per operation, in the document's order; see `openapi.read_openapi`.

    Raises:
        ValueError: It is not an OpenAPI document.
    """
    from ctrag.agents.catalogue.openapi import read_openapi

    return read_openapi(document, server, where).tools


def tools_from_functions(
    functions: Iterable[Callable[..., Any]], server: str = ""
) -> list[CatalogueTool]:
    """One tool per function: its name, its docstring, its annotated arguments.

    An `Args:` section of the docstring describes the arguments. `self`, `*args` and `**kwargs`
    are left out.

    Raises:
        ValueError: A function has no name (a lambda, a partial), or two have the same.
    """
    tools = [_function(one, server) for one in functions]
    check_identities(tools, "functions")
    return tools


def _function(function: Callable[..., Any], server: str) -> CatalogueTool:
    name = getattr(function, "__name__", "")
    if not name or name == "<lambda>":
        raise InputError(f"functions: {function!r} has no name; define it with `def`")
    docstring = inspect.getdoc(function) or ""
    summary, _, details = docstring.partition("\nArgs:")
    described = _described(details)
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) or one.name in ("self", "cls"):
            continue
        schema = schema_of(hints.get(one.name, Any))
        if one.name in described:
            schema["description"] = described[one.name]
        properties[one.name] = schema
        if one.default is one.empty:
            required.append(one.name)
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    return CatalogueTool(name, " ".join(summary.split()), server, parameters)


def _described(section: str) -> dict[str, str]:
    """Argument → its description, from an `Args:` section whose lines are indented."""
    found: dict[str, str] = {}
    current = ""
    for line in section.splitlines():
        if line and not line[0].isspace():
            break  # Returns:, Raises:
        match = _ARGUMENT.match(line)
        if match:
            current = match[1]
            found[current] = match[2].strip()
        elif current and line.strip():
            found[current] += f" {line.strip()}"
    return found


_DESCRIBES = ("description", "documentation")
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(annotation: Any) -> dict[str, Any]:
    """JSON Schema of a Python annotation; `{}` for what JSON Schema cannot express."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        schema = schema_of(inside[0])
        texts = [text for one in inside[1:] if (text := _said(one))]
        return {**schema, "description": texts[0]} if texts else schema
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if origin is typing.Literal:
        return {"enum": [one.value if isinstance(one, enum.Enum) else one for one in inside]}
    if origin in (typing.Union, types.UnionType):
        options = [schema_of(one) for one in inside if one is not type(None)]
        return options[0] if len(options) == 1 else {"anyOf": options}
    if origin is dict or annotation is dict or origin is Mapping:
        return {"type": "object"}
    if annotation in (list, tuple, set, frozenset):
        return {"type": "array"}
    if origin is not None and inside and issubclass(origin, Iterable):
        return {"type": "array", "items": schema_of(inside[0])}
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return {"enum": [one.value for one in annotation]}
    if hasattr(annotation, "model_json_schema"):
        return dict(annotation.model_json_schema())
    return {}


def _said(annotation: Any) -> str:
    """The description in an annotation: a text, pydantic's `Field`, or `Doc`."""
    for one in (annotation, *(getattr(annotation, key, "") for key in _DESCRIBES)):
        if isinstance(one, str) and one:
            return one
    return ""


def tools_from_langchain(tools: Iterable[Any], server: str = "") -> list[CatalogueTool]:
    """LangChain tools from their `name`, `description` and schema of arguments.

    Raises:
        ValueError: An object has no name, or two have the same.
    """
    converted = [_langchain(one, server) for one in tools]
    check_identities(converted, "tools")
    return converted


def _langchain(tool: Any, server: str) -> CatalogueTool:
    name = getattr(tool, "name", None)
    if not isinstance(name, str) or not name:
        raise InputError(f"tools: {type(tool).__name__} has no name; give LangChain tools")
    schema = getattr(tool, "tool_call_schema", None) or getattr(tool, "args_schema", None)
    if isinstance(schema, Mapping):
        parameters = dict(schema)
    elif schema is not None and hasattr(schema, "model_json_schema"):
        parameters = dict(schema.model_json_schema())
    else:
        parameters = {"type": "object", "properties": dict(getattr(tool, "args", None) or {})}
    tags = ", ".join(getattr(tool, "tags", None) or ())
    said = getattr(tool, "metadata", None)  # where adapters put MCP's annotations
    said = said if isinstance(said, Mapping) else {}
    hints = {hint: said[hint] for hint in HINTS if isinstance(said.get(hint), bool)}
    return CatalogueTool(
        name,
        getattr(tool, "description", "") or "",
        server,
        parameters,
        category=tags,
        mcp={"annotations": hints} if hints else {},
    )
