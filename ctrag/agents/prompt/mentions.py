"""Which tools a text speaks of, by their names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

_TOKEN = re.compile(r"\w[\w./:-]*")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_TELLING = re.compile(r"[_.\d-]|[a-z][A-Z]|/|:")
"""What a name has that no plain word has."""


class Named(Protocol):
    """A tool."""

    @property
    def name(self) -> str:
        """Alone."""
        ...

    @property
    def server(self) -> str:
        """Empty if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in a text that may be tools."""

    names: frozenset[str]
    servers: frozenset[str]
    """Servers all of whose tools it names, as in `mcp__github__*`."""

    @classmethod
    def of(cls, texts: Iterable[str], declared: Sequence[str] = ()) -> "Mentions":
        """Of the texts of one document, and of the tools that its front matter names."""
        names: set[str] = {one.lower() for one in declared}
        for text in texts:
            plain = (token.rstrip("./:-") for token in _TOKEN.findall(text))
            names.update(token.lower() for token in plain if _TELLING.search(token))
            coded = (_TOKEN.match(one.strip()) for one in _CODE.findall(text))
            names.update(one[0].rstrip("./:-").lower() for one in coded if one)
        ours = {one.removeprefix("mcp__") for one in names if one.startswith("mcp__")}
        servers = {one.rstrip("*").rstrip("_/.:") for one in (*ours, *names) if one.endswith("*")}
        servers |= {one for one in ours if "__" not in one}
        return cls(frozenset(names), frozenset(servers - {""}))

    def speaks_of(self, tool: Named) -> bool:
        """Whether it names the tool: alone, or after its server as MCP clients write it."""
        name, server = tool.name.lower(), tool.server.lower()
        if name in self.names or (server and server in self.servers):
            return True
        if not server:
            return False
        return any(f"{server}{sign}{name}" in self.names for sign in ("/", ":", ".", "__")) or (
            f"mcp__{server}__{name}" in self.names
        )
