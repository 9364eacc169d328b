"""OpenAPI documents (Swagger 2, OpenAPI 3.0 and 3.1) as tools, with what a call of each needs.

References stay references, as `$defs` of each tool's schema, so that a recursive schema stays as
small as it is written. What is only known to whoever runs the server (keys, tokens) is no argument.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ctrag.agents.catalogue.files import read_file
from ctrag.agents.catalogue.names import digest
from ctrag.agents.catalogue.schemas import mapped, modern, pointed
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.errors import InputError

Place = Literal["path", "query", "header", "cookie", "body", "whole body"]

_VERBS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_READS = {"readOnlyHint": True}
_CHANGES = {"readOnlyHint": False}
_HINTS = {
    **dict.fromkeys(("get", "head", "options", "trace"), _READS),
    "post": _CHANGES,
    "patch": _CHANGES,
    "put": {**_CHANGES, "idempotentHint": True},
    "delete": {**_CHANGES, "destructiveHint": True, "idempotentHint": True},
}
"""What a call does, as HTTP promises it by the method (RFC 9110, 9.2): a claim of the API."""
_SERVER_LENGTH = 24
"""Letters of a title that is taken whole; of a longer one, `_SHORT_LENGTH` are."""
_SHORT_LENGTH = 16
_FILLERS = frozenset(
    "a an and api apis documentation docs for full interface of official openapi platform public "
    "reference rest s service services spec specification swagger the v1 v2 v3 web with".split()
)
_PARAMETER_KEYS = frozenset(
    "type enum items default format minimum maximum exclusiveMinimum exclusiveMaximum minLength "
    "maxLength pattern minItems maxItems uniqueItems multipleOf nullable".split()
)
_NOT_OURS = frozenset(
    "accept content-type authorization host content-length transfer-encoding connection upgrade "
    "te trailer".split()
)
"""Header parameters that the specification says to ignore, and those that steer the connection."""
_SECRETS = re.compile(
    r"(?:x[-_])?(?:api[-_]?key|auth[-_]?token|access[-_]?token)|proxy-authorization|cookie", re.I
)
"""Parameters that hold credentials, whether the document says so or not."""
_NO_SCHEMA = ("xml", "externalDocs", "discriminator", "example", "readOnly", "writeOnly")
_DEFINITIONS = 150_000
"""Characters of a tool's `$defs` at most; what is nearest to the root comes first."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Where an argument of a tool goes."""

    name: str
    """Its name in the API."""
    place: Place
    style: str = ""
    explode: bool = True
    json: bool = False
    """Whether its value is written as JSON."""
    file: bool = False
    """Whether it is a file of a multipart body."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A security scheme or a parameter that holds a secret."""

    name: str
    """As the document names it."""
    kind: Literal["header", "query", "cookie", "bearer", "basic"]
    parameter: str = ""
    """The header, query or cookie parameter that takes it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call of one tool needs."""

    method: str
    path: str
    address: str
    """Base URL; empty or without a host where the document does not say it."""
    arguments: Mapping[str, Argument]
    """By the tool's name of each."""
    content_type: str
    """Of the body; empty where there is none."""
    security: tuple[tuple[Credential, ...], ...]
    """Alternatives; each needs all of its credentials. Empty: none is needed."""


@dataclass(frozen=True, slots=True)
class OpenApi:
    """A document's tools and how each is called."""

    server: str
    tools: list[CatalogueTool]
    operations: Mapping[str, Operation]
    """By the tool's name."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """What was left out or named otherwise, and why; by operation."""


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
    info = _map(document.get("info"))
    server = server or server_name(_text(info.get("title")))
    version = _text(info.get("version"))
    found = list(reader.operations())
    names, problems = _names(found)
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
                mcp={"annotations": dict(_HINTS[one.verb])},
            )
        )
    return OpenApi(server, tools, operations, problems)


def server_name(title: str) -> str:
    """A title as a server's name; of a long one, the words that tell it from others."""
    words = re.findall(r"\w+", title.lower())
    whole = "_".join(words)
    if len(whole) <= _SERVER_LENGTH:
        return whole
    kept = ""
    for word in [one for one in words if one not in _FILLERS] or words:
        longer = f"{kept}_{word}" if kept else word[:_SHORT_LENGTH]
        if len(longer) > _SHORT_LENGTH:
            break
        kept = longer
    return kept


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    verb: str
    item: Mapping[str, Any]
    operation: Mapping[str, Any]

    @property
    def plain_name(self) -> str:
        return "_".join([self.verb, *re.findall(r"\w+", self.path)])

    @property
    def description(self) -> str:
        texts = [_text(self.operation.get(key)) for key in ("summary", "description")]
        texts = [one.strip().rstrip(".") for one in texts if one.strip()]
        return ". ".join(dict.fromkeys(texts)) or f"{self.verb.upper()} {self.path}"

    @property
    def category(self) -> str:
        tags = self.operation.get("tags")
        return ", ".join(one for one in _list(tags) if isinstance(one, str))


def _names(found: list[_Found]) -> tuple[list[str], dict[str, str]]:
    """A name for each operation, none twice."""
    problems: dict[str, str] = {}
    given = Counter(_text(one.operation.get("operationId")) for one in found)
    plain = Counter(
        one.plain_name for one in found if given[_text(one.operation.get("operationId"))] != 1
        or not _text(one.operation.get("operationId"))
    )  # fmt: skip
    names: list[str] = []
    taken: set[str] = set()
    for one in found:
        own = _text(one.operation.get("operationId"))
        name = own
        if not own or own in taken:
            name = one.plain_name
            if plain[name] > 1 or given[name]:
                name = f"{name}_{digest(f'{one.verb} {one.path}')}"
            if own:
                problems[f"{one.verb.upper()} {one.path}"] = (
                    f"has the operationId {own!r} of another operation; it is named {name!r}"
                )
        taken.add(name)
        names.append(name)
    return names, problems


class _Reader:
    """Reads one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._old = "swagger" in document
        self._schemes = _map(
            document.get("securityDefinitions")
            if self._old
            else _map(document.get("components")).get("securitySchemes")
        )
        self._converted: dict[str, tuple[Any, list[str]]] = {}
        self._names: dict[str, str] = {}

    def operations(self) -> Iterator[_Found]:
        for path, item in self._document["paths"].items():
            resolved = _map(self._resolved(item))
            for verb in _VERBS:
                if isinstance(operation := resolved.get(verb), Mapping):
                    yield _Found(str(path), verb, resolved, operation)

    def read(self, found: _Found) -> tuple[dict[str, Any], Operation]:
        """The tool's schema, and what a call needs."""
        making = _Making(self)
        security, secrets = self._security(found.operation)
        hidden: list[tuple[Credential, bool]] = []
        content_type = ""
        for one in self._parameters(found):
            place, name = one.get("in"), _text(one.get("name"))
            if place == "body":
                content_type = self._consumed(found.operation, "application/json")
                making.add_body(one.get("schema"), one.get("required") is True, name)
            elif place == "formData":
                is_file = one.get("type") == "file"
                default = "application/x-www-form-urlencoded"
                content_type = content_type or self._consumed(found.operation, default)
                if is_file:
                    content_type = "multipart/form-data"
                making.add(_argument(one, "body", self._old, file=is_file), one)
            elif place in ("path", "query", "header", "cookie") and name:
                if place == "header" and name.lower() in _NOT_OURS:
                    continue
                if (place, name.lower()) in secrets:
                    continue
                if place != "path" and _is_secret(name, place, security):
                    hidden.append((Credential(name, place, name), one.get("required") is True))
                    continue
                making.add(_argument(one, place, self._old), one)
        body = _map(self._resolved(found.operation.get("requestBody")))
        if content := _map(body.get("content")):
            content_type = _preferred(list(map(str, content)))
            media = _map(content[content_type])
            binary = media.get("schema") is None
            schema = {"type": "string"} if binary else media["schema"]
            making.add_body(schema, body.get("required") is True, "body", content_type)
        for credential, required in hidden:
            known = security or ((),)
            security = tuple((*one, credential) for one in known)
            security += () if required else known
        address = self._address(found)
        return making.parameters(), Operation(
            found.verb.upper(), found.path, address, making.arguments, content_type, security
        )

    def _parameters(self, found: _Found) -> list[Mapping[str, Any]]:
        """Of path and operation; the operation's replaces the path's of the same name and place."""
        named: dict[tuple[str, str], Mapping[str, Any]] = {}
        for source in (found.item, found.operation):
            for one in _list(source.get("parameters")):
                parameter = _map(self._resolved(one))
                named[_text(parameter.get("in")), _text(parameter.get("name"))] = parameter
        return list(named.values())

    def _consumed(self, operation: Mapping[str, Any], default: str) -> str:
        kinds = _list(operation.get("consumes")) or _list(self._document.get("consumes"))
        kinds = [one for one in kinds if isinstance(one, str)]
        if default in kinds or not kinds:
            return default
        return _preferred(kinds)

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
        for one in _list(asked):
            needed = [known.get(str(name)) for name in _map(one)]
            if all(needed) or not needed:
                alternatives.append(tuple(each for each in needed if each is not None))
        return tuple(alternatives), secrets

    def _credential(self, name: str, scheme: Any) -> Credential | None:
        found = _map(self._resolved(scheme))
        kind, place = found.get("type"), found.get("in")
        if kind == "apiKey" and place in ("header", "query", "cookie"):
            return Credential(name, place, _text(found.get("name")))
        if kind == "basic" or (kind == "http" and _text(found.get("scheme")).lower() == "basic"):
            return Credential(name, "basic")
        if kind in ("oauth2", "openIdConnect") or kind == "http":
            return Credential(name, "bearer")
        return None

    def _address(self, found: _Found) -> str:
        if self._old:
            host = _text(self._document.get("host"))
            schemes = _list(found.operation.get("schemes")) or _list(self._document.get("schemes"))
            scheme = "https" if "https" in schemes or not schemes else _text(schemes[0])
            path = _text(self._document.get("basePath"))
            return f"{scheme}://{host}{path}" if host else path
        for source in (found.operation, found.item, self._document):
            for one in _list(source.get("servers"))[:1]:
                url = _text(_map(one).get("url"))
                for name, variable in _map(_map(one).get("variables")).items():
                    url = url.replace(f"{{{name}}}", _text(_map(variable).get("default")))
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
            value = {**_map(found), **beside} if isinstance(found, Mapping) else beside
        return value

    def target(self, reference: str) -> Any:
        """The schema that a reference points to; None where nothing is there."""
        return pointed(self._document, reference)

    def schema(self, value: Any) -> tuple[Any, list[str]]:
        """A schema of the document in draft 2020-12, its references into `$defs`; and these."""
        needed: list[str] = []

        def visit(one: Any) -> Any:
            if not isinstance(one, Mapping):
                return one if isinstance(one, bool) else {}
            kept = {
                str(key): each
                for key, each in one.items()
                if key not in _NO_SCHEMA and not str(key).startswith("x-")
            }
            if one.get("type") == "file":
                kept |= {"type": "string", "format": "binary"}
            reference = kept.get("$ref")
            if isinstance(reference, str):
                if pointed(self._document, reference) is None:
                    del kept["$ref"]
                else:
                    needed.append(reference)
                    kept["$ref"] = f"#/$defs/{self._name(reference)}"
            return mapped(kept, visit)

        if not isinstance(value, Mapping):
            return {}, []
        return modern(visit(value)), needed

    def definitions(self, needed: list[str]) -> dict[str, Any]:
        """All that the references need, nearest first, until there is too much."""
        found: dict[str, Any] = {}
        waiting, spent = list(dict.fromkeys(needed)), 0
        seen = set(waiting)
        for reference in waiting:
            if reference not in self._converted:
                schema, more = self.schema(pointed(self._document, reference))
                self._converted[reference] = schema, more
            schema, more = self._converted[reference]
            spent += len(str(schema))
            if spent > _DEFINITIONS:
                kept = {key: schema[key] for key in ("type", "description") if key in schema}
                found[self._name(reference)] = kept
                continue
            found[self._name(reference)] = schema
            new = [one for one in dict.fromkeys(more) if one not in seen]
            seen.update(new)
            waiting.extend(new)
        return found

    def _name(self, reference: str) -> str:
        """The last part of a reference, with a hash where another one ends alike."""
        if reference not in self._names:
            last = re.sub(r"[^A-Za-z0-9_.-]+", "_", reference.rpartition("/")[2]) or "schema"
            taken = last in self._names.values()
            self._names[reference] = f"{last}_{digest(reference)}" if taken else last
        return self._names[reference]


class _Making:
    """The arguments of one tool."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._needed: list[str] = []
        self.arguments: dict[str, Argument] = {}

    def add(self, argument: Argument, parameter: Mapping[str, Any]) -> None:
        """A parameter of path, query, header, cookie or form."""
        content = next(iter(_map(parameter.get("content")).values()), None)
        given = parameter.get("schema") or _map(content).get("schema")
        if not isinstance(given, Mapping):
            given = {key: parameter[key] for key in _PARAMETER_KEYS & set(parameter)}
            given = {key: parameter[key] for key in parameter if key in given}  # in their order
        schema, needed = self._reader.schema(given)
        self._needed += needed
        if (text := _text(parameter.get("description"))) and "description" not in schema:
            schema["description"] = text
        required = parameter.get("required") is True or argument.place == "path"
        self._put(argument, schema, required)

    def add_body(
        self, given: Any, required: bool, name: str, content_type: str = "application/json"
    ) -> None:
        """A body: its properties where it is an object, else one argument."""
        schema, needed = self._reader.schema(given)
        flat = self._flat(schema, given, ())
        form = "json" not in content_type and (
            "form-urlencoded" in content_type or "multipart" in content_type
        )
        if flat is None or not (form or "json" in content_type or content_type == "*/*"):
            self._needed += needed
            self._put(Argument(name, "whole body"), schema, required)
            return
        properties, asked, more = flat
        self._needed += more
        for key, one in properties.items():
            inner = _map(one)
            is_file = inner.get("format") == "binary" or "contentMediaType" in inner
            self._put(Argument(key, "body", file=form and is_file), one, key in asked)

    def _flat(
        self, schema: Any, given: Any, seen: tuple[str, ...]
    ) -> tuple[dict[str, Any], list[str], list[str]] | None:
        """Properties, those required and the references inside; None if it is no plain object."""
        if isinstance(given, Mapping) and isinstance(reference := given.get("$ref"), str):
            if reference in seen or not isinstance(target := self._target(reference), Mapping):
                return None
            return self._flat(self._reader.schema(target)[0], target, (*seen, reference))
        if not isinstance(given, Mapping) or any(key in given for key in ("oneOf", "anyOf", "not")):
            return None
        if schema.get("type", "object") not in ("object", ["object", "null"]):
            return None
        properties: dict[str, Any] = {}
        required: list[str] = []
        needed: list[str] = []
        for member in _list(given.get("allOf")):
            inner = self._flat(self._reader.schema(member)[0], member, seen)
            if inner is None:
                return None
            properties |= inner[0]
            required += inner[1]
            needed += inner[2]
        own = _map(given.get("properties"))
        for key, one in own.items():
            made, more = self._reader.schema(one)
            properties[str(key)] = made
            needed += more
        if not properties:
            return None
        asked = [str(one) for one in _list(given.get("required"))]
        only_read = {str(key) for key, one in own.items() if _map(one).get("readOnly") is True}
        required += [one for one in asked if one in properties and one not in only_read]
        return properties, required, needed

    def _target(self, reference: str) -> Any:
        return self._reader.target(reference)

    def _put(self, argument: Argument, schema: Any, required: bool) -> None:
        name = argument.name
        if name in self._properties:
            place = "body" if argument.place == "whole body" else argument.place
            name = f"{name}_{place}"
        while name in self._properties:
            name += "_"
        self._properties[name] = schema
        self.arguments[name] = argument
        if required:
            self._required.append(name)

    def parameters(self) -> dict[str, Any]:
        """The tool's schema."""
        made: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            made["required"] = list(dict.fromkeys(self._required))
        if definitions := self._reader.definitions(self._needed):
            made["$defs"] = definitions
        return made


def _argument(one: Mapping[str, Any], place: Place, old: bool, file: bool = False) -> Argument:
    name = _text(one.get("name"))
    if old:
        kind = _text(one.get("collectionFormat")) or "csv"
        styles = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
        simple = "simple" if place in ("path", "header") else "form"
        return Argument(name, place, styles.get(kind, simple), kind == "multi", file=file)
    default = "simple" if place in ("path", "header") else "form"
    style = _text(one.get("style")) or default
    explode = one.get("explode", style == "form")
    return Argument(name, place, style, explode is True, isinstance(one.get("content"), Mapping))


def _is_secret(name: str, place: str, security: tuple[Any, ...]) -> bool:
    """Whether a parameter holds a credential that the document describes as an argument."""
    if _SECRETS.fullmatch(name):
        return True
    return name.lower() == "token" and (place == "header" or bool(security))


def _preferred(kinds: list[str]) -> str:
    """The content type to send: JSON, a form, a multipart form, else the first."""

    def rank(kind: str) -> int:
        plain = kind.partition(";")[0].strip().lower()
        if plain == "application/json":
            return 0
        if plain.endswith("+json") or plain in ("*/*", "application/*"):
            return 1
        return 2 if plain.endswith("form-urlencoded") else 3 if "multipart" in plain else 4

    return min(kinds, key=rank)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""
