"""OpenAPI documents (Swagger 2, OpenAPI 3.0 and 3.1) as tools, with what a call of each needs.

References stay references, as `$defs` of each tool's schema, so that a recursive schema stays as
small as it is written. What is only known to whoever runs the server (keys, tokens) is no argument.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.files import read_file
from ctrag.agents.catalogue.openapi_arguments import (
    ToolArguments,
    argument_of,
)
from ctrag.agents.catalogue.openapi_media import preferred_type
from ctrag.agents.catalogue.openapi_names import FoundOperation, operation_names, server_name
from ctrag.agents.catalogue.openapi_operations import Credential, OpenApi, Operation
from ctrag.agents.catalogue.openapi_parts import as_list, as_map, as_text
from ctrag.agents.catalogue.openapi_paths import braced, placeholders, with_slashes
from ctrag.agents.catalogue.openapi_schemas import DocumentSchemas
from ctrag.agents.catalogue.openapi_secrets import is_secret
from ctrag.agents.catalogue.schema_walk import pointed
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.errors import InputError

_VERBS = ("get", "put", "post", "delete", "patch", "head", "options", "trace", "query")
_READS = {"readOnlyHint": True}
_CHANGES = {"readOnlyHint": False}
_HINTS = {
    **dict.fromkeys(("get", "head", "options", "trace", "query"), _READS),
    "post": _CHANGES,
    "patch": _CHANGES,
    "put": {**_CHANGES, "idempotentHint": True},
    "delete": {**_CHANGES, "destructiveHint": True, "idempotentHint": True},
}
"""What a call does, as HTTP promises it by the method (RFC 9110, 9.2): a claim of the API."""
_NOT_OURS = frozenset(
    "accept content-type authorization host content-length transfer-encoding connection upgrade "
    "te trailer".split()
)
"""Header parameters that the specification says to ignore, and those that steer the connection."""


def read_openapi(
    document: Mapping[str, Any] | str | Path, server: str = "", where: str = "openapi"
) -> OpenApi:
    """One tool per operation, in the document's order.

    The name is the `operationId`, or verb and path where there is none or another operation has it;
    where two paths have the same words, a hash of each. An argument of the same name as another
    carries its place, `id_body` beside the path's `id`.

    Args:
        document: The parsed document, or a file that holds it.
        server: Server of the tools; made of the document's title when empty.
        where: Name of the document in errors.

    Raises:
        ValueError: It is not an OpenAPI document.
    """
    if not isinstance(document, Mapping):
        return read_openapi(read_file(Path(document)), server, str(document))
    if not isinstance(document.get("paths"), Mapping):
        raise InputError(f"{where}: paths: an OpenAPI document must map paths to operations")
    reader = _Reader(document)
    info = as_map(document.get("info"))
    server = server or server_name(as_text(info.get("title")))
    version = as_text(info.get("version"))
    found = list(reader.operations())
    names, renamed = operation_names(found)
    problems = dict(renamed)
    tools: list[CatalogueTool] = []
    operations: dict[str, Operation] = {}
    for one, name in zip(found, names, strict=True):
        if not name:
            continue
        try:
            parameters, operation = reader.read(one)
        except (InputError, RecursionError) as error:
            problems[f"{one.verb.upper()} {one.path}"] = str(error) or "is nested too deep"
            continue
        operations[name] = operation
        tools.append(
            CatalogueTool(
                name,
                one.description,
                server,
                parameters,
                version,
                one.category,
                mcp={"annotations": dict(_HINTS.get(one.verb, _CHANGES))},
            )
        )
    return OpenApi(server, tools, operations, {**reader.problems, **problems})


class _Reader:
    """Reads one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._read = DocumentSchemas(document)
        self._old = "swagger" in document
        text = {"type": "string"}
        self._text = text if self._old else {"schema": text}
        self._schemes = as_map(
            document.get("securityDefinitions")
            if self._old
            else as_map(document.get("components")).get("securitySchemes")
        )
        self._problems: dict[str, str] = {}

    @property
    def problems(self) -> dict[str, str]:
        """What was left out and why, by operation, path or reference."""
        return {**self._problems, **self._read.problems}

    def operations(self) -> Iterator[FoundOperation]:
        for path, item in self._document["paths"].items():
            if str(path).startswith("x-"):
                continue
            resolved = as_map(self._resolved(item))
            if not resolved:
                self._problems[str(path)] = "is no object with operations, or a reference to none"
            further = as_map(resolved.get("additionalOperations"))  # of OpenAPI 3.2
            verbs = {**{one: resolved.get(one) for one in _VERBS}, **further}
            for verb, operation in verbs.items():
                if isinstance(operation, Mapping):
                    own = braced(str(path), self._path_names(resolved, operation))
                    yield FoundOperation(own, verb.lower(), resolved, operation)
                elif operation is not None:
                    self._problems[f"{verb.upper()} {path}"] = "is no object"

    def _path_names(self, *sources: Mapping[str, Any]) -> set[str]:
        """Names of the parameters of the path that an operation and its path declare."""
        declared = [
            as_map(self._resolved(one))
            for source in sources
            for one in _listed(source.get("parameters"))
        ]
        return {as_text(one.get("name")) for one in declared if _place(one) == "path"}

    def read(self, found: FoundOperation) -> tuple[dict[str, Any], Operation]:
        """The tool's schema, and what a call needs."""
        making = ToolArguments(self._read)
        security, secrets = self._security(found.operation)
        hidden: list[tuple[Credential, bool]] = []
        content_type = ""
        must = False
        free: set[str] = set()
        for one in self._parameters(found):
            place, name = _place(one), as_text(one.get("name"))
            if place == "path" and _is_free(one):
                free.add(name)
            if place == "body":
                is_list = as_map(self._resolved(one.get("schema"))).get("type") == "array"
                content_type = self._consumed(found.operation, "application/json", is_list)
                must = one.get("required") is True
                making.add_body(one.get("schema"), must, name, content_type)
            elif place == "formdata":
                is_file = one.get("type") == "file"
                default = "application/x-www-form-urlencoded"
                content_type = content_type or self._consumed(found.operation, default)
                if is_file:
                    content_type = "multipart/form-data"
                making.add(argument_of(one, "body", self._old, file=is_file), one)
            elif place in ("path", "query", "header", "cookie") and name:
                if place == "header" and name.lower() in _NOT_OURS:
                    continue
                if (place, name.lower()) in secrets:
                    continue
                if place != "path" and is_secret(name, place, security):
                    hidden.append((Credential(name, place, name), one.get("required") is True))
                    continue
                making.add(argument_of(one, place, self._old), one)
            elif name:
                where = f"{found.verb.upper()} {found.path}: parameter {name}"
                self._problems[where] = f"is in {place!r}, which cannot be sent"
        given = as_map(found.operation.get("requestBody"))
        body = as_map(self._resolved(given))
        if not body and "$ref" in given:
            self._not_here(found, "the body", given["$ref"])
        if content := as_map(body.get("content")):
            content_type = preferred_type(list(map(str, content)))
            media = as_map(content[content_type])
            bare: Any = {} if "json" in content_type.lower() else {"type": "string"}
            schema = bare if media.get("schema") is None else media["schema"]
            encoding = as_map(media.get("encoding"))
            must = must or body.get("required") is True
            making.add_body(schema, body.get("required") is True, "body", content_type, encoding)
        for credential, required in hidden:
            known = security or ((),)
            security = tuple((*one, credential) for one in known)
            security += () if required else known
        address = self._address(found)
        return making.parameters(), Operation(
            found.verb.upper(),
            with_slashes(found.path, free),
            address,
            making.arguments,
            content_type,
            security,
            must,
            making.open_body,
        )

    def _not_here(self, found: FoundOperation, what: str, reference: Any) -> None:
        """Say that a part of an operation is not in the document."""
        self._problems[f"{found.verb.upper()} {found.path}: {what}"] = (
            f"{as_text(reference)} is not in the document, so it is not sent"
        )

    def _parameters(self, found: FoundOperation) -> list[Mapping[str, Any]]:
        """Of path and operation; the operation's replaces the path's of the same name and place."""
        named: dict[tuple[str, str], Mapping[str, Any]] = {}
        for source in (found.item, found.operation):
            for one in _listed(source.get("parameters")):
                parameter = as_map(self._resolved(one))
                if not parameter.get("name") and "$ref" in as_map(one):
                    last = as_text(one["$ref"]).rpartition("/")[2]
                    self._not_here(found, f"parameter {last}", one["$ref"])
                    continue
                named[_place(parameter), as_text(parameter.get("name"))] = parameter
        declared = {name for place, name in named if place == "path"}
        for name in placeholders(found.path, declared):  # what the path needs, declared or not
            implied = {"name": name, "in": "path", "required": True, **self._text}
            named.setdefault(("path", name), implied)
        return list(named.values())

    def _consumed(self, operation: Mapping[str, Any], default: str, is_list: bool = False) -> str:
        kinds = as_list(operation.get("consumes")) or as_list(self._document.get("consumes"))
        kinds = [one for one in kinds if isinstance(one, str)]
        if default in kinds or not kinds:
            return default
        return preferred_type(kinds, is_list)

    def _security(
        self, operation: Mapping[str, Any]
    ) -> tuple[tuple[tuple[Credential, ...], ...], set[tuple[str, str]]]:
        """Alternatives of credentials, and the parameters that all schemes take."""
        known = {str(name): self._credential(str(name), one) for name, one in self._schemes.items()}
        secrets: set[tuple[str, str]] = {
            (one.kind, one.parameter.lower())
            for one in known.values()
            if one is not None and one.parameter
        }
        asked = operation.get("security", self._document.get("security"))
        alternatives = []
        for one in as_list(asked):
            needed = [known.get(str(name)) for name in as_map(one)]
            if all(needed) or not needed:
                alternatives.append(tuple(each for each in needed if each is not None))
        return tuple(alternatives), secrets

    def _credential(self, name: str, scheme: Any) -> Credential | None:
        found = as_map(self._resolved(scheme))
        kind, place = found.get("type"), found.get("in")
        if kind == "apiKey" and place in ("header", "query", "cookie"):
            return Credential(name, place, as_text(found.get("name")))
        if kind == "basic" or (kind == "http" and as_text(found.get("scheme")).lower() == "basic"):
            return Credential(name, "basic")
        if kind in ("oauth2", "openIdConnect") or kind == "http":
            return Credential(name, "bearer")
        return None

    def _address(self, found: FoundOperation) -> str:
        if self._old:
            host = as_text(self._document.get("host"))
            schemes = as_list(found.operation.get("schemes")) or as_list(
                self._document.get("schemes")
            )
            scheme = "https" if "https" in schemes or not schemes else as_text(schemes[0])
            path = as_text(self._document.get("basePath"))
            return f"{scheme}://{host}{path}" if host else path
        for source in (found.operation, found.item, self._document):
            for one in as_list(source.get("servers"))[:1]:
                url = as_text(as_map(one).get("url"))
                for name, variable in as_map(as_map(one).get("variables")).items():
                    choices = [
                        as_map(variable).get("default"),
                        *as_list(as_map(variable).get("enum")),
                    ]
                    if value := next((text for each in choices if (text := as_text(each))), ""):
                        url = url.replace(f"{{{name}}}", value)
                return url
        return ""

    def _resolved(self, value: Any) -> Any:
        """What a reference to a parameter, body, path item or scheme stands for."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(reference := value.get("$ref"), str):
            if reference in seen:
                return {}
            seen.add(reference)
            beside = {key: one for key, one in value.items() if key != "$ref"}
            found = pointed(self._document, reference)
            value = {**as_map(found), **beside} if isinstance(found, Mapping) else beside
        return value


def _place(parameter: Mapping[str, Any]) -> Any:
    """Where a parameter goes, as the specification spells it, in small letters."""
    return as_text(parameter.get("in")).strip().lower()


def _is_free(parameter: Mapping[str, Any]) -> bool:
    """Whether a value of the path may hold slashes, as Azure and OpenAPI 3.2 say it."""
    return any(parameter.get(key) is True for key in ("allowReserved", "x-ms-skip-url-encoding"))


def _listed(parameters: Any) -> list[Any]:
    """Parameters as a list; a table of them has their names."""
    if isinstance(parameters, Mapping):
        return [{"name": name, **as_map(one)} for name, one in parameters.items()]
    return as_list(parameters)
