"""Tool documents: what a tool needs, changes, how it fails, and what it is not for (paper, 3.2)."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ctrag.agents.catalogue.files import checked, read_file
from ctrag.agents.catalogue.formats import schema_line
from ctrag.agents.catalogue.names import NAME_LIMIT, digest, readable_name
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.prompt.signatures import signature_line
from ctrag.models.tokens import CountTokens
from ctrag.toolbox import Toolbox

LARGEST = 800
"""Most tokens of a document; longer ones lose exemplars and notes, then words."""
_EXAMPLE = re.compile(
    r"(?:such as|e\.g\.|example:?|for example)\s*:?\s*['\"“]([^'\"”]{1,40})['\"”]"
)
_STANDINS: dict[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "float": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "dict": {},
}
_EFFECTS = {
    "read": "changes nothing",
    "write": "data are changed",
    "outward": "others notice it",
}


class ToolNotes(BaseModel):
    """Optional notes of a catalogue on a tool, besides its schema."""

    model_config = ConfigDict(extra="ignore")
    effect: str | None = None
    """read, write or outward; other values are ignored."""
    fails_when: str | None = None
    preconditions: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    exemplars: tuple[str, ...] = ()
    """Calls, each as `name(argument="value")`."""
    negative_examples: tuple[str, ...] = ()
    """Requests that need a different tool."""


class _NotedRow(ToolNotes):
    name: str
    server: str = ""
    domain: str = ""


_ROWS = TypeAdapter(list[_NotedRow])


@dataclass(frozen=True)
class ToolDocument:
    """A tool as it is shown to a model."""

    tool: CatalogueTool
    name: str
    """Unique in its catalogue and fit for function calling."""
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    exemplars: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The tool's id."""
        return self.tool.id

    @property
    def domain(self) -> str:
        """The tool's server."""
        return self.tool.server

    @cached_property
    def description(self) -> str:
        """The catalogue's description, then one line per kind of note."""
        notes = [
            ("Needs", self.needs),
            ("After", self.after),
            ("Fails", self.fails),
            ("Example", self.exemplars),
            ("Not for", self.not_for),
        ]
        lines = [f"{title}: {'; '.join(items)}" for title, items in notes if items]
        return "\n".join([self.tool.description, *lines])

    @cached_property
    def line(self) -> str:
        """The whole document on one line of JSON, as shown in a prompt and counted."""
        return schema_line(self.name, self.description, self.tool.parameters)

    @cached_property
    def bare_line(self) -> str:
        """Name, description and parameters as the catalogue has them, on one line of JSON."""
        return schema_line(self.name, self.tool.description, self.tool.parameters)

    @cached_property
    def signature(self) -> str:
        """The signature shown in a prompt, in one line."""
        return signature_line(self.name, self.tool.description, self.tool.parameters)

    @property
    def searched(self) -> str:
        """The text for retrieval: server and name as words, description, arguments."""
        return f"{self.tool.server} {self.tool.text}".strip()


def load_documents(path: Path, count: CountTokens) -> list[ToolDocument]:
    """Documents of a catalogue file (`ctrag.agents.catalogue.tool` has the formats), in file order.

    Raises:
        ValueError: The file breaks a rule, or a note is of the wrong type.
        FileNotFoundError: There is no such file.
    """
    return make_documents(load_catalogue(path), _notes(path), count)


def _notes(path: Path) -> dict[str, ToolNotes]:
    """Notes from a catalogue's rows, by tool id; OpenAPI documents have none."""
    value = read_file(path)
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        return {}
    if isinstance(value, dict) and "tools" in value:
        value = value["tools"]
    elif isinstance(value, dict) and path.suffix in {".yaml", ".yml"}:
        return toolbox_notes(Toolbox.from_file(path))
    rows = checked(_ROWS, value, f"{path}: notes of a tool")
    return {
        f"{server}/{row.name}" if server else row.name: row
        for row in rows
        for server in [row.server or row.domain]
    }


def toolbox_notes(toolbox: Toolbox) -> dict[str, ToolNotes]:
    """Notes from a toolbox's APIs, by tool id."""
    return {
        f"{tool.app}/{tool.api}": ToolNotes(effect=tool.effect, fails_when=tool.fails_when)
        for tool in toolbox
    }


def make_documents(
    tools: Sequence[CatalogueTool], notes: Mapping[str, ToolNotes], count: CountTokens
) -> list[ToolDocument]:
    """One document per tool, in order; missing notes are derived from the schemas.

    Args:
        tools: The catalogue, ids distinct.
        notes: By tool id; tools without notes use their schema.
        count: Tokens of a text.
    """
    often = Counter(tool.name for tool in tools)
    named = [
        readable_name(tool.name if often[tool.name] == 1 else f"{tool.server}__{tool.name}")
        for tool in tools
    ]
    clashes = Counter(named)
    documents = []
    for tool, plain in zip(tools, named, strict=True):
        name = plain
        if clashes[plain] > 1:  # whichever comes first, neither has the plain name
            hashed = digest(tool.id)
            name = f"{plain[: NAME_LIMIT - len(hashed) - 1]}_{hashed}"
        documents.append(_fitted(_document(tool, name, notes.get(tool.id, ToolNotes())), count))
    return documents


def _document(tool: CatalogueTool, name: str, notes: ToolNotes) -> ToolDocument:
    required = tool.parameters.get("required") or []
    needs = notes.preconditions or ((f"{', '.join(required)} known",) if required else ())
    effect = _EFFECTS.get(notes.effect or "")
    return ToolDocument(
        tool,
        name,
        needs,
        notes.postconditions or ((effect,) if effect else ()),
        (notes.fails_when,) if notes.fails_when else (),
        notes.exemplars[:2] or (_call(name, tool.parameters),),
        notes.negative_examples,
    )


def _call(name: str, parameters: Mapping[str, Any]) -> str:
    """A sample call with values from the descriptions, else placeholders."""
    properties = parameters.get("properties") or {}
    required = parameters.get("required") or list(properties)[:2]
    parts = [
        f"{key}={json.dumps(_value(key, properties.get(key)), ensure_ascii=False)}"
        for key in required
    ]
    return f"{name}({', '.join(parts)})"


def _value(key: str, schema: Any) -> Any:
    schema = schema if isinstance(schema, dict) else {}
    values = schema.get("enum")
    if isinstance(values, list) and values:
        return values[0]
    example = _EXAMPLE.search(str(schema.get("description", "")))
    kind = schema.get("type")
    if example:
        return [example[1]] if kind == "array" else example[1]
    return _STANDINS.get(kind, f"<{key}>") if isinstance(kind, str) else f"<{key}>"


def _fitted(document: ToolDocument, count: CountTokens) -> ToolDocument:
    """The document within `LARGEST` tokens; arguments are never cut."""
    if count(document.line) > LARGEST:
        document = replace(document, exemplars=(), not_for=(), needs=(), after=())
    words = document.tool.description.split()
    while count(document.line) > LARGEST and words:
        words = words[: len(words) * 3 // 4]
        shorter = replace(document.tool, description=" ".join(words))
        document = replace(document, tool=shorter, fails=())
    return document
