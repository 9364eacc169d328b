"""Other registries searched beside our own catalogue, each under its own access rules."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from mcp.types import CallToolResult
from pydantic import BaseModel, Field, ValidationError

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.server.channel import SILENT, Channel
from ctrag.agents.server.untrusted import definition
from ctrag.agents.server.upstream import Upstream, UpstreamError

SESSIONS_KEPT = 1_000
"""Sessions whose handles at a registry are remembered."""
RANK_OFFSET = 60
"""k of reciprocal rank fusion."""


@dataclass(frozen=True, slots=True)
class RemoteHit:
    """A registry's tool, and how well it fits."""

    tool: CatalogueTool
    score: float
    """Only comparable within one registry."""
    marks: tuple[str, ...] = ()
    differs: str = ""
    """How it differs from a better, nearly identical tool."""
    also: tuple[str, ...] = ()
    """Ids of near-duplicates that there was no place for."""


class Registry(Protocol):
    """A catalogue that answers searches and calls; its access rules are its own."""

    name: str

    async def search(self, session: str, query: str, limit: int) -> list[RemoteHit]:
        """Best first; ids begin with the registry's name. UpstreamError when it cannot answer."""
        ...

    async def call(
        self, session: str, name: str, arguments: dict[str, Any], channel: Channel = SILENT
    ) -> "CallToolResult":
        """Call a tool that a search of the same session found; UpstreamError without an answer."""
        ...


class _Row(BaseModel):
    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}
    title: str = ""
    annotations: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}
    icons: list[Any] = []
    meta: dict[str, Any] = Field({}, alias="_meta")
    score: float = 0.0


class _Found(BaseModel):
    session: str
    tools: list[_Row] = []


class RemoteRegistry:
    """Another ctrag server, reached over MCP with the credentials of our configuration."""

    def __init__(self, upstream: Upstream, timeout: float = 5.0) -> None:
        """`timeout`: seconds that a search waits for the registry."""
        self.name = upstream.name
        self._timeout = timeout
        self._upstream = upstream
        self._handles: OrderedDict[str, str] = OrderedDict()

    async def search(self, session: str, query: str, limit: int) -> list[RemoteHit]:
        """See `Registry`."""
        if self._upstream.down is not None:
            raise UpstreamError(f"is down: {self._upstream.down}")
        arguments: dict[str, Any] = {"query": query, "limit": limit}
        if session in self._handles:
            arguments["session"] = self._handles[session]
        with anyio.move_on_after(self._timeout):
            answer = await self._upstream.call("search_tools", arguments)
            if answer.is_error and arguments.pop(
                "session", None
            ):  # it forgot the session: open a new one
                answer = await self._upstream.call("search_tools", arguments)
            return self._read(session, answer)
        raise UpstreamError(f"gave no answer within {self._timeout:g} s")

    async def call(
        self, session: str, name: str, arguments: dict[str, Any], channel: Channel = SILENT
    ) -> "CallToolResult":
        """See `Registry`."""
        if session not in self._handles:  # too many other sessions have searched since
            raise UpstreamError(
                f"{self.name} does not know this session any more. Search for {self.name}/{name} "
                "again, then call it."
            )
        wanted = {"session": self._handles[session], "name": name, "arguments": arguments}
        if channel is SILENT:
            return await self._upstream.call("call_tool", wanted)
        return await self._upstream.call("call_tool", wanted, channel, session)

    def _read(self, session: str, answer: "CallToolResult") -> list[RemoteHit]:
        try:
            found = _Found.model_validate(answer.structured_content)
        except ValidationError:
            raise UpstreamError("gave no answer that a ctrag server gives") from None
        self._handles[session] = found.session
        self._handles.move_to_end(session)
        while len(self._handles) > SESSIONS_KEPT:
            self._handles.popitem(last=False)
        return [one for row in found.tools if (one := self._tool(row)) is not None]

    def _tool(self, row: _Row) -> RemoteHit | None:
        entry = {
            "name": row.name,
            "description": row.description,
            "inputSchema": row.input_schema,
            "title": row.title,
            "annotations": row.annotations,
            "outputSchema": row.output_schema,
            "icons": row.icons,
            "_meta": row.meta,
        }
        try:
            tool = definition(entry)
        except ValueError:
            return None
        mine = CatalogueTool(tool.name, tool.description, self.name, tool.parameters, mcp=tool.more)
        return RemoteHit(mine, row.score, tool.marks)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What several registries found."""

    lists: tuple[list[RemoteHit], ...]
    """One list per registry, in the registries' order; empty where it did not answer."""
    unavailable: dict[str, str]
    """Why a registry did not answer, by name."""
    seconds: float


async def gather(registries: Sequence[Registry], session: str, query: str, limit: int) -> Gathered:
    """Ask all registries at once; one that cannot answer is only reported."""
    began = time.perf_counter()
    lists: list[list[RemoteHit]] = [[] for _ in registries]
    unavailable: dict[str, str] = {}

    async def ask(place: int, registry: Registry) -> None:
        try:
            lists[place] = await registry.search(session, query, limit)
        except UpstreamError as error:
            unavailable[registry.name] = str(error)

    async with anyio.create_task_group() as tasks:
        for place, registry in enumerate(registries):
            tasks.start_soon(ask, place, registry)
    return Gathered(tuple(lists), unavailable, time.perf_counter() - began)


def merged(lists: Sequence[Sequence[RemoteHit]], limit: int) -> list[RemoteHit]:
    """Merge several lists by reciprocal rank; equal ranks keep the order of the lists.

    Scores of different registries do not compare, ranks do.
    """
    ranked = [
        (1 / (RANK_OFFSET + rank), -place, one)
        for place, found in enumerate(lists)
        for rank, one in enumerate(found, start=1)
    ]
    ranked.sort(key=lambda entry: entry[:2], reverse=True)
    return [one for _, _, one in ranked[:limit]]
