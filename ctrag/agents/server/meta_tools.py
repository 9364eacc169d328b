"""The meta-tools as clients see them: names, arguments, descriptions, hints."""

from typing import Annotated, Any

from mcp.types import (
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field

from ctrag.agents.server.answers import CALL, CALL_CHANGING

_Session = Annotated[str, Field(min_length=1, description="The session that search_tools gave.")]


class MetaArguments(BaseModel):
    """Arguments of a meta-tool."""

    model_config = ConfigDict(extra="forbid")


class SearchArguments(MetaArguments):
    """Arguments of `search_tools`."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=2_000, description="What the tool should do, in words."),
    ]
    session: Annotated[
        str | None, Field(description="Of an earlier search; leave it out to begin a session.")
    ] = None
    limit: Annotated[int | None, Field(ge=1, le=20, description="Tools at most.")] = None


class CallArguments(MetaArguments):
    """Arguments of `call_tool`."""

    session: _Session
    name: Annotated[str, Field(min_length=1, description="The tool's name as the search gave it.")]
    arguments: Annotated[dict[str, Any], Field(description="As the tool's input_schema says.")] = {}


class ReleaseArguments(MetaArguments):
    """Arguments of `release_tools`."""

    session: _Session
    names: Annotated[list[str], Field(min_length=1, description="Tools no longer needed.")]


class InstallArguments(MetaArguments):
    """Arguments of `install_plugin`."""

    plugin: Annotated[str, Field(min_length=1, description="Its name, from `installable`.")]


MetaTool = tuple[type[MetaArguments], str, ToolAnnotations]
"""Arguments, description, hints."""

META_TOOLS: dict[str, MetaTool] = {
    "search_tools": (
        SearchArguments,
        "Find tools by what they should do. Describe one need in plain words; search again for "
        "the next. Answers with the tools that fit, their input schemas, and the session to pass "
        "to call_tool and to later searches.",
        ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    "call_tool": (
        CallArguments,
        "Call a tool that a search of this session found.",
        ToolAnnotations(read_only_hint=False, open_world_hint=True),
    ),
    CALL_CHANGING: (
        CallArguments,
        "Call a tool that a search of this session found and that may change something: one that "
        "is shown with `call_with: call_changing_tool`.",
        ToolAnnotations(read_only_hint=False, open_world_hint=True),
    ),
    "release_tools": (
        ReleaseArguments,
        "Drop tools of this session that are no longer needed, to make room.",
        ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    ),
    "install_plugin": (
        InstallArguments,
        "Install a plugin that a search listed under `installable`, after the user has agreed; "
        "its tools can then be found.",
        ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True),
    ),
}

CALL_READING: MetaTool = (
    CallArguments,
    "Call a tool that a search of this session found and that only reads: one that is shown with "
    "`call_with: call_tool`.",
    ToolAnnotations(read_only_hint=True, open_world_hint=True),
)
"""`call_tool` where reads and changes are told apart."""


def meta_tools(*, reads_apart: bool, installs: bool) -> list[Tool]:
    """The meta-tools as they are listed.

    Args:
        reads_apart: Whether tools that may change something are called by a tool of their own.
        installs: Whether plugins may be installed.
    """
    names = ["search_tools", CALL, "release_tools"]
    known = META_TOOLS
    if reads_apart:
        names.insert(2, CALL_CHANGING)
        known = {**META_TOOLS, CALL: CALL_READING}
    if installs:
        names.append("install_plugin")
    return [_listed(name, *known[name]) for name in names]


def _listed(
    name: str, arguments: type[BaseModel], description: str, hints: ToolAnnotations
) -> Tool:
    return Tool(
        name=name,
        description=description,
        input_schema=_schema(arguments),
        annotations=hints,
    )


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema without titles, which are of no use to a model."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema["properties"].values():
        field.pop("title", None)
    return schema
