"""Tools of any agent, read from a file.

Formats, detected by content: a list of `{name, description, parameters}` with JSON Schema
parameters (or `inputSchema`, `input_schema`, as MCP and Anthropic call them, or in the objects that
OpenAI, Gemini and Bedrock put around a tool), and `server` (or `domain`) where names repeat; an
object with such a list under `tools` and, optionally, `access` and `experts`; an answer to MCP's
`tools/list`; an OpenAPI document; the assistant's own `toolbox.yaml`.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    model_validator,
)

from ctrag.agents.catalogue import dumped
from ctrag.agents.catalogue.access import AccessRules, Expert
from ctrag.agents.catalogue.depth import shallow
from ctrag.agents.catalogue.files import checked, read_file
from ctrag.errors import InputError
from ctrag.toolbox import Toolbox

if TYPE_CHECKING:
    from ctrag.agents.catalogue.openapi_operations import OpenApi


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)\s(]*\)")
_ADDRESS = re.compile(r"https?://\S+")
_EMBEDDED = 8_000
"""Characters of a description that an encoder is given."""


def spelled_out(name: str) -> str:
    """A name as words: `getHTTPStatus_v2` becomes `get HTTP Status v 2`."""
    return " ".join(_HUMP.sub(" ", name).replace("_", " ").replace(".", " ").split())


@dataclass(frozen=True, slots=True)
class CatalogueTool:
    """A tool as an agent sees it."""

    name: str
    description: str
    server: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    """JSON Schema of the arguments."""
    version: str = ""
    category: str = ""
    always: bool = False
    """Bound in every session, so left out of searches."""
    pinned: bool = False
    """Hot: bound before the first search."""
    system: bool = False
    """Built into the platform: searched by its keywords."""
    mcp: dict[str, Any] = field(default_factory=dict)
    """What else an MCP server lists of it, by the protocol's names: `title`, `annotations`,
    `outputSchema`, `icons`, `_meta`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", shallow(self.parameters))
        object.__setattr__(self, "mcp", shallow(self.mcp))

    @property
    def content_hash(self) -> str:
        """Hash of what is searched and shown; server and version are not part of it."""
        content: list[Any] = [self.name, self.description, self.category, self.parameters]
        if self.mcp:
            content.append(self.mcp)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def id(self) -> str:
        """`server/name`, or the name alone where there is no server."""
        return f"{self.server}/{self.name}" if self.server else self.name

    @property
    def text(self) -> str:
        """What an encoder embeds: name as words, description without the addresses of its links,
        names of parameters.

        An encoder reads some hundred words; the words of longer texts are searched all the same.
        """
        words = spelled_out(self.name).replace("/", " ")
        properties = self.parameters.get("properties")
        named = ", ".join(map(str, properties)) if isinstance(properties, dict) else ""
        description = _ADDRESS.sub(" ", _LINK.sub(r"\1", self.description[: 2 * _EMBEDDED]))
        return f"{words}: {description[:_EMBEDDED]}" + (f" ({named})" if named else "")

    def to_json(self) -> str:
        """The whole definition, for stores."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "CatalogueTool":
        """What `to_json` wrote."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue file."""

    tools: list[CatalogueTool]
    access: AccessRules | None = None
    """None: everybody sees everything."""
    experts: tuple[Expert, ...] = ()
    api: "OpenApi | None" = None
    """How its tools are called, where it is an OpenAPI document."""


def _encodable(text: str) -> str:
    """The text; ValueError for an unpaired surrogate, which no encoder accepts."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("holds half of a surrogate pair")
    return text


def _encodable_schema(schema: dict[str, Any]) -> dict[str, Any]:
    _encodable(json.dumps(shallow(schema), ensure_ascii=False))
    return schema


_Text = Annotated[str, AfterValidator(_encodable)]
_Schema = Annotated[dict[str, Any], AfterValidator(_encodable_schema)]


class _ToolRow(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: Annotated[_Text, Field(min_length=1)]
    description: _Text = ""
    server: _Text = Field("", validation_alias=AliasChoices("server", "domain"))
    parameters: _Schema = {}
    version: _Text = ""
    category: _Text = ""
    always: bool = False
    pinned: bool = False
    system: bool = False
    annotations: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, value: Any) -> Any:
        """Formats of others have other names, and objects around the tool."""
        return dumped.row(value)


class _ExpertRow(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tools: list[str] = []
    allow: list[str] | None = None
    always: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tools: list[_ToolRow]
    access: dict[str, Any] | None = None
    experts: dict[str, _ExpertRow] = {}


_ROWS = TypeAdapter(list[_ToolRow])
_FILE = TypeAdapter(_File)


def load_catalogue(path: Path) -> list[CatalogueTool]:
    """Tools of a catalogue file, in file order; see the module for the formats.

    Raises:
        ValueError: The file breaks a rule (named), or two tools have the same identity.
        FileNotFoundError: There is no such file.
    """
    return read_catalogue(path).tools


def tools_from(rows: Any, where: str) -> list[CatalogueTool]:
    """The tools of a catalogue's list that was read already.

    Raises:
        ValueError: A row breaks a rule; the message begins with `where`.
    """
    return [_tool(row) for row in checked(_ROWS, rows, where)]


def read_catalogue(path: Path, server: str = "") -> Catalogue:
    """Tools, access rules and experts of a catalogue file; errors as `load_catalogue`.

    Args:
        path: The file.
        server: Server of the tools that name none; of an OpenAPI document's in place of its title.
    """
    catalogue = _read(path, server)
    check_identities(catalogue.tools, str(path))
    return catalogue


def check_identities(tools: Sequence[CatalogueTool], where: str) -> None:
    """ValueError when two tools have one id."""
    seen: set[str] = set()
    for tool in tools:
        if tool.id in seen:
            raise InputError(f"{where}: name: tool {tool.id!r} appears twice; give each a server")
        seen.add(tool.id)


def _read(path: Path, server: str = "") -> Catalogue:
    value = read_file(path)
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        from ctrag.agents.catalogue.openapi import read_openapi

        api = read_openapi(value, server, str(path))
        return Catalogue(api.tools, api=api)
    value = dumped.listed(value)
    if isinstance(value, dict) and "tools" in value:
        found = _with_rules(checked(_FILE, value, path), path)
        return replace(found, tools=_served(found.tools, server))
    if isinstance(value, dict) and path.suffix in {".yaml", ".yml"}:
        return Catalogue(_of_toolbox(path))
    return Catalogue(_served([_tool(row) for row in checked(_ROWS, value, path)], server))


def _served(tools: list[CatalogueTool], server: str) -> list[CatalogueTool]:
    """The tools, those without a server as this one's."""
    return [tool if tool.server else replace(tool, server=server) for tool in tools]


def _with_rules(file: _File, path: Path) -> Catalogue:
    access = None
    if file.access is not None:
        access = AccessRules.from_mapping(file.access, f"{path}: access")
    experts = tuple(
        Expert(
            name,
            tuple(one.tools),
            None if one.allow is None else frozenset(one.allow),
            frozenset(one.always),
        )
        for name, one in file.experts.items()
    )
    return Catalogue([_tool(row) for row in file.tools], access, experts)


def _tool(row: _ToolRow) -> CatalogueTool:
    given = dict(row)
    hints = given.pop("annotations")
    return CatalogueTool(**given, mcp={"annotations": hints} if hints else {})


def _of_toolbox(path: Path) -> list[CatalogueTool]:
    return [
        CatalogueTool(
            tool.api,
            tool.description,
            tool.app,
            {"properties": {one.name: {"type": one.type} for one in tool.arguments}},
            mcp={"annotations": {"readOnlyHint": tool.effect == "read"}},
        )
        for tool in Toolbox.from_file(path)
    ]
