"""Tools from OpenAPI documents, Python functions and LangChain tools.

Other MCP servers are listed by `ctrag.agents.server`; all end in `ToolIndex.replace_server`.
"""

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.effects import HINTS
from ctrag.agents.catalogue.files import read_file
from ctrag.agents.catalogue.tool import CatalogueTool, check_identities
from ctrag.errors import InputError

_VERBS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_MAX_DEPTH = 6
"""Depth to which nested references are followed."""
_ARGUMENT = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$")


def tools_from_openapi(
    document: Mapping[str, Any] | str | Path, server: str = "", where: str = "openapi"
) -> list[CatalogueTool]:
    """One tool per operation, in the document's order.

    The name is the `operationId`, or verb and path where there is none, with a number where two
    paths have the same words. Path, query, header and cookie parameters are merged with the
    body's properties; a body that is not an object becomes `body`. References inside the document
    are resolved, others stay as they are.

    Args:
        document: The parsed document (versions 2 and 3), or a file that holds it.
        server: Server of the tools; the document's title when empty.
        where: Name of the document in errors.

    Raises:
        ValueError: It is not an OpenAPI document, or two operations have one name.
    """
    if not isinstance(document, Mapping):
        return tools_from_openapi(read_file(Path(document)), server, str(document))
    paths = document.get("paths")
    if not isinstance(paths, Mapping):
        raise InputError(f"{where}: paths: an OpenAPI document must map paths to operations")
    title = _text(_map(document.get("info")).get("title"))
    server = server or "_".join(re.findall(r"\w+", title.lower()))
    version = _text(_map(document.get("info")).get("version"))
    tools = [
        _operation(document, str(path), verb, _map(item), server, version)
        for path, item in paths.items()
        for verb in _VERBS
        if verb in _map(item)
    ]
    tools = _numbered(tools, [_text(one.get("operationId")) for one in _operations(paths)])
    check_identities(tools, where)
    return tools


def _operations(paths: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for item in paths.values():
        yield from (_map(_map(item)[verb]) for verb in _VERBS if verb in _map(item))


def _numbered(tools: Sequence[CatalogueTool], given: Sequence[str]) -> list[CatalogueTool]:
    """The tools; generated names that are taken get the next free number."""
    taken = {one for one in given if one}
    numbered = []
    for tool, own in zip(tools, given, strict=True):
        name, number = tool.name, 1
        while not own and name in taken:
            number += 1
            name = f"{tool.name}_{number}"
        taken.add(name)
        numbered.append(replace(tool, name=name))
    return numbered


def _operation(
    document: Mapping[str, Any],
    path: str,
    verb: str,
    item: Mapping[str, Any],
    server: str,
    version: str,
) -> CatalogueTool:
    operation = _map(item[verb])
    name = _text(operation.get("operationId")) or "_".join([verb, *re.findall(r"\w+", path)])
    texts = [_text(operation.get("summary")), _text(operation.get("description"))]
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in [*_list(item.get("parameters")), *_list(operation.get("parameters"))]:
        _add_parameter(_map(_resolved(document, one)), properties, required)
    for body in _bodies(document, operation):
        _add_body(body, properties, required)
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = list(dict.fromkeys(required))
    tags = [one for one in _list(operation.get("tags")) if isinstance(one, str)]
    description = ". ".join(dict.fromkeys(one.strip().rstrip(".") for one in texts if one))
    return CatalogueTool(
        name, description or f"{verb.upper()} {path}", server, parameters, version, ", ".join(tags)
    )


def _add_parameter(one: Mapping[str, Any], properties: dict[str, Any], required: list[str]) -> None:
    name = _text(one.get("name"))
    if one.get("in") == "body":  # version 2
        _add_body(_map(one.get("schema")), properties, required)
        return
    if not name:
        return
    known = ("type", "enum", "items", "default", "format")
    schema = dict(_map(one.get("schema"))) or {key: one[key] for key in known if key in one}
    if one.get("description") and "description" not in schema:
        schema["description"] = _text(one["description"])
    properties[name] = schema
    if one.get("required") is True or one.get("in") == "path":
        required.append(name)


def _add_body(schema: Mapping[str, Any], properties: dict[str, Any], required: list[str]) -> None:
    if not schema:
        return
    if not isinstance(schema.get("properties"), Mapping):
        properties["body"] = dict(schema)
        return
    properties.update(schema["properties"])
    required.extend(str(one) for one in _list(schema.get("required")))


def _bodies(
    document: Mapping[str, Any], operation: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """The body's schema of its first content type, if there is one."""
    content = _map(_map(_resolved(document, operation.get("requestBody"))).get("content"))
    for media in list(content.values())[:1]:
        yield _map(_resolved(document, _map(media).get("schema")))


def _resolved(document: Mapping[str, Any], value: Any, depth: int = 0) -> Any:
    """The value with references into the document resolved, cycles cut."""
    if isinstance(value, list):
        return [_resolved(document, one, depth) for one in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        if not reference.startswith("#/") or depth >= _MAX_DEPTH:
            return {"type": "object"} if depth >= _MAX_DEPTH else dict(value)
        found: Any = document
        for step in reference[2:].split("/"):
            found = _map(found).get(step.replace("~1", "/").replace("~0", "~"))
        return _resolved(document, found, depth + 1)
    return {key: _resolved(document, one, depth) for key, one in value.items()}


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
        hints = typing.get_type_hints(function)
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


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(annotation: Any) -> dict[str, Any]:
    """JSON Schema of a Python annotation; `{}` for what JSON Schema cannot express."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        schema = schema_of(inside[0])
        texts = [one for one in inside[1:] if isinstance(one, str)]
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
    said = _map(getattr(tool, "metadata", None))  # where adapters put MCP's annotations
    hints = {hint: said[hint] for hint in HINTS if isinstance(said.get(hint), bool)}
    return CatalogueTool(
        name,
        getattr(tool, "description", "") or "",
        server,
        parameters,
        category=tags,
        mcp={"annotations": hints} if hints else {},
    )


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""
