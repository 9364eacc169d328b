"""Looking at a configuration before it is used: `ctrag serve mcp --check`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from anyio.to_thread import run_sync

from ctrag.agents.catalogue.formats import wire_name
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.meta_tools import meta_tools
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.tokens import tool_tokens

FIRST = 5
"""A tool is found when it is among so many."""


@dataclass(slots=True)
class ServerReport:
    """What one server of the file gives."""

    name: str
    state: str
    """`ok`, `fails`, `left out` or `disabled`."""
    why: str = ""
    """Why it fails or is left out."""
    tools: int = 0
    tokens: int = 0
    """Of its tools' definitions, as a quarter of their characters."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why a tool is not shown, by its name."""
    marked: dict[str, list[str]] = field(default_factory=dict)
    """What was done to a tool's definition or found in it, by its name."""
    unused: list[str] = field(default_factory=list)
    """Names and patterns of `include`, `exclude`, `rename` and `descriptions` that no tool has."""


@dataclass(slots=True)
class Report:
    """What a gateway with this configuration serves."""

    servers: list[ServerReport]
    tools: int
    tokens: int
    """Of all tools, if they were listed to the model."""
    meta_tokens: int
    """Of the meta-tools, which are listed instead."""
    same_names: dict[str, list[str]]
    """Ids of tools that several servers have under one name."""
    same_wire_names: dict[str, list[str]]
    """Ids whose names for a model's API are told apart by a number or hash alone."""
    not_found: list[str]
    """Ids of tools that neither their name's words nor their description finds."""
    notes: list[str]
    """What was read otherwise than it stands, or passed over."""

    @property
    def fails(self) -> bool:
        """Whether a server cannot be used."""
        return any(one.state in {"fails", "left out"} for one in self.servers)

    def as_json(self) -> dict[str, Any]:
        """The report for machines."""
        return {**asdict(self), "fails": self.fails}


async def check(gateway: Gateway, upstreams: Upstreams) -> Report:
    """Start every server, wait for each one's list, and look at what can be found.

    Args:
        gateway: Not running yet.
        upstreams: Its servers, as read from the file.
    """
    async with gateway.running():
        await gateway.start_all()
        servers = [_server(gateway, name) for name in gateway.servers]
        servers += [
            ServerReport(name, "left out", why)
            for name, why in upstreams.problems.items()
            if name not in gateway.servers
        ]
        servers += [
            ServerReport(name, "ok" if why is None else "fails", why or "")
            for name, why in gateway.registries_down().items()
        ]
        servers += [ServerReport(name, "disabled") for name in upstreams.disabled]
        # The index has them in the order in which servers answered, which is another each time.
        found = sorted(gateway.index.tools, key=lambda tool: tool.id)
        tools = [tool for tool in found if tool.id != SELF.id]
        missed = await run_sync(lambda: not_found(gateway.index, tools))
    by_name: dict[str, list[str]] = defaultdict(list)
    by_wire_name: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        by_name[tool.name].append(tool.id)
        by_wire_name[wire_name(tool.id)].append(tool.id)
    apart = gateway.settings.reads_apart
    meta = [
        CatalogueTool(one.name, one.description or "", parameters=one.input_schema)
        for one in meta_tools(reads_apart=apart, installs=gateway.installs)
    ]
    return Report(
        servers,
        len(tools),
        sum(map(tool_tokens, tools)),
        sum(map(tool_tokens, meta)),
        _several(by_name),
        _several(by_wire_name),
        missed,
        [*upstreams.notes, *gateway.problems_of_apis()],
    )


def not_found(index: ToolIndex, tools: Iterable[CatalogueTool], k: int = FIRST) -> list[str]:
    """Ids of the tools that are not among the first `k` for the words of their own name, nor for
    their description's first sentence."""
    missed = []
    for tool in tools:
        words = tool.text.partition(":")[0].strip()
        sentence = tool.description.strip().partition(". ")[0][:300]
        asked = [one for one in (words, sentence) if one.strip()]
        if not any(tool.id in {hit.tool.id for hit in index.search(one, k)} for one in asked):
            missed.append(tool.id)
    return missed


def _server(gateway: Gateway, name: str) -> ServerReport:
    upstream, shown = gateway.servers[name], gateway.exposed(name)
    if upstream.down is not None:
        return ServerReport(name, "fails", upstream.down)
    tools = [tool for tool in gateway.index.tools if tool.server == name]
    return ServerReport(
        name,
        "ok",
        tools=len(tools),
        tokens=sum(map(tool_tokens, tools)),
        left_out={**upstream.problems, **shown.left_out},
        marked={tool: list(one.marks) for tool, one in shown.tools.items() if one.marks},
        unused=shown.unused,
    )


def _several(named: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: ids for name, ids in named.items() if len(ids) > 1}
