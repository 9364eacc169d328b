"""Tools of any agent, read from a file.

Two formats: a `toolbox.yaml`, or JSON: a list of `{name, description, parameters}` with JSON
Schema parameters, and `server` (or `domain`) where names repeat.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from ctrag.apps.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class CatalogueTool:
    """A tool as an agent sees it."""

    name: str
    description: str
    server: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    """JSON Schema of the arguments."""

    @property
    def id(self) -> str:
        """`server/name`, or the name alone where there is no server."""
        return f"{self.server}/{self.name}" if self.server else self.name

    @property
    def text(self) -> str:
        """What is searched: name as words, description, parameters."""
        words = self.name.replace("_", " ").replace(".", " ")
        properties = self.parameters.get("properties")
        named = ", ".join(properties) if isinstance(properties, dict) else ""
        return f"{words}: {self.description}" + (f" ({named})" if named else "")


def _encodable(text: str) -> str:
    """Let no half of a surrogate pair pass, which no encoder reads."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("holds half of a surrogate pair")
    return text


_Text = Annotated[str, AfterValidator(_encodable)]


class _ToolRow(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: Annotated[_Text, Field(min_length=1)]
    description: _Text = ""
    server: _Text = Field("", validation_alias=AliasChoices("server", "domain"))
    parameters: dict[str, Any] = {}


_ROWS = TypeAdapter(list[_ToolRow])


def load_catalogue(path: Path) -> list[CatalogueTool]:
    """Tools of a `.json` catalogue or a `.yaml` toolbox, in file order.

    Raises:
        ValueError: The file breaks a rule (named), or two tools have the same identity.
        FileNotFoundError: There is no such file.
    """
    if path.suffix in {".yaml", ".yml"}:
        tools = [
            CatalogueTool(
                tool.api,
                tool.description,
                tool.app,
                {"properties": {one.name: {"type": one.type} for one in tool.arguments}},
            )
            for tool in Toolbox.from_file(path)
        ]
    else:
        tools = _from_json(path)
    seen: set[str] = set()
    for tool in tools:
        if tool.id in seen:
            raise ValueError(f"{path}: name: tool {tool.id!r} appears twice; give each a server")
        seen.add(tool.id)
    return tools


def _from_json(path: Path) -> list[CatalogueTool]:
    try:
        rows = _ROWS.validate_python(json.loads(path.read_text(encoding="utf-8-sig")))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise ValueError(f"{path}: not JSON: nested too deep") from None
    except ValidationError as error:
        problem = error.errors()[0]
        where = "".join(f"{part}." for part in problem["loc"])[:-1]
        rule = problem["msg"].removeprefix("Value error, ")
        raise ValueError(f"{path}: {where}: {rule}" if where else f"{path}: {rule}") from None
    return [CatalogueTool(row.name, row.description, row.server, row.parameters) for row in rows]
