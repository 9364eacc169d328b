"""Where the files of MCP clients keep their table of servers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TABLES = (
    "mcpServers",
    "mcp_servers",
    "servers",
    "context_servers",
    "mcp.servers",
    "amp.mcpServers",
    "extensions",
)
"""Keys under which clients keep the table of servers."""
_DEEPER = ("modelContextProtocolServers", "mcp_config", "tools")
"""Keys that hold servers in some files, and other things in most."""
LISTS_OFF = ("disabledMcpServers", "disabledMcpjsonServers", "excludeMCPServers")
"""Keys of lists, beside a table, of servers that are turned off."""
LISTS_ON = ("allowMCPServers",)
"""Keys of lists of the only servers that are not."""
_DEPTH = 5
_REACHED_BY = {"command", "cmd", "url", "serverUrl", "httpUrl", "server_url", "uri", "baseUrl"}
_TRANSPORTS = ("transport", "stdio", "http", "sse")


def is_server(value: Any) -> bool:
    """Whether it says how a server is reached, itself or in an object for its transport."""
    if not isinstance(value, dict):
        return False
    return _reached(value) or any(_reached(value.get(one)) for one in _TRANSPORTS)


def _reached(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(one), str | list) or (one == "command" and one in value)
        for one in _REACHED_BY
    )


def holds_servers(value: Any) -> bool:
    """Whether it is a table of servers, or a list of them."""
    if isinstance(value, list):
        return any(map(is_server, value))
    return isinstance(value, dict) and any(map(is_server, value.values()))


def spelled_as_known(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with `McpServers`, `mcp-servers` and the like as the key that they mean."""
    known = {_plain(one): one for one in TABLES if "." not in one}
    return {
        known[_plain(key)] if holds_servers(one) and _plain(key) in known else key: one
        for key, one in value.items()
    }


def unwrapped(table: dict[str, Any]) -> dict[str, Any]:
    """A table that stands, alone, in another of the same name is what is meant."""
    while len(table) == 1:
        [(key, inner)] = table.items()
        if key not in TABLES or is_server(inner) or not holds_servers(inner):
            break
        table = named(inner)
    return table


def named(entries: Any) -> dict[str, Any]:
    """Entries by name; those of a list that have none are numbered."""
    if not isinstance(entries, list):
        return dict(entries)
    found: dict[str, Any] = {}
    for number, one in enumerate(entries, start=1):
        given = one if isinstance(one, dict) else {}
        name = given.get("name") or given.get("id") or given.get("server_label")
        found[str(name or f"#{number}")] = one
    return found


def turned_off(value: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """The servers of a table that lists beside it turn off, as Gemini, Claude Code and Witsy have
    them."""
    lists: list[tuple[Mapping[str, Any], tuple[str, ...], tuple[str, ...]]]
    lists = [(value, LISTS_OFF, LISTS_ON)]
    if isinstance(inner := value.get("mcp"), Mapping):
        lists.append((inner, ("excluded",), ("allowed",)))
    off: set[str] = set()
    for beside, excluding, allowing in lists:
        off |= {str(one) for key in excluding for one in _listed(beside.get(key))}
        for key in allowing:
            if isinstance(beside.get(key), list):
                off |= set(names) - set(map(str, beside[key]))
    return off


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def nested(value: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The servers of tables deeper in a file, as of a workspace, a container or a project, and the
    top-level keys that they are under; of two with one name the first counts."""
    found: dict[str, Any] = {}
    used: set[str] = set()
    for key, inner in value.items():
        for table in _tables({key: inner}, str(value.get("name") or ""), _DEPTH):
            found = {**table, **found}
            used.add(key)
    return found, used


def _tables(value: Mapping[str, Any], name: str, depth: int) -> Iterator[dict[str, Any]]:
    for key, inner in value.items():
        if key in (*TABLES, *_DEEPER) and holds_servers(inner):
            table = named(inner)
            off = turned_off(value, table)
            yield {one: _disabled(entry) if one in off else entry for one, entry in table.items()}
        elif key == "mcp_config" and is_server(inner):
            yield {name or "server": inner}
        elif depth and isinstance(inner, dict):
            yield from _tables(inner, name, depth - 1)


def _disabled(entry: Any) -> Any:
    return {**entry, "disabled": True} if isinstance(entry, dict) else entry


def _plain(key: str) -> str:
    return re.sub(r"[-_ ]", "", key).lower()
