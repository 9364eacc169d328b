"""Files of servers as MCP clients write them, read into `Upstreams`.

Claude Desktop and Claude Code, VS Code, Cursor, Cline, Roo, Windsurf, Gemini, Codex, opencode, Zed
and Goose agree on a table of servers by name and on little else: the table's key, the names of the
fields, seconds or milliseconds, comments. What is not known is passed over and said; an entry that
cannot be used is left out and costs nothing else.
"""

import codecs
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ctrag.agents.catalogue.files import read_file
from ctrag.agents.server.client_fields import Fields
from ctrag.agents.server.client_tables import (
    LISTS_OFF,
    LISTS_ON,
    TABLES,
    holds_servers,
    is_server,
    named,
    nested,
    spelled_as_known,
    turned_off,
    unwrapped,
)
from ctrag.agents.server.config import ServerSpec, Upstreams, server_name
from ctrag.agents.server.variables import Variables
from ctrag.errors import InputError

_WITHOUT_MEANING = {"$schema", "inputs", "registries", "mcp", "version", *LISTS_OFF, *LISTS_ON}
_TOKEN = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(rf"{_TOKEN}|//[^\n]*|/\*[\s\S]*?\*/")
_LAST_COMMA = re.compile(rf"{_TOKEN}|,(?=\s*[}}\]])")


def read_servers(path: Path) -> Upstreams:
    """The servers of a file; entries that cannot be used are in `problems`.

    Raises:
        ValueError: It is no JSON, YAML or TOML, or holds no table of servers.
        OSError: It cannot be read.
    """
    notes: list[str] = []
    value = _value(path, notes)
    if value is None or value == {}:
        return Upstreams()
    if isinstance(value, list):
        value = {"mcpServers": value}
    if not isinstance(value, dict):
        raise InputError(f"{path}: must be an object with the servers under `mcpServers`")
    return _Reader(path, value, notes).read()


class _Reader:
    def __init__(self, path: Path, value: dict[str, Any], notes: list[str]) -> None:
        self._path, self._value, self._notes = path, value, notes
        self._passed: list[str] = []
        self._problems: dict[str, str] = {}
        self._disabled: list[str] = []

    def read(self) -> Upstreams:
        table, used = self._table()
        off = turned_off(self._value, table)
        variables = Variables(self._path.parent, _inputs(self._value))
        servers = self._specs(table, variables, off)
        registries = self._specs(self._entries("registries"), variables, set())
        self._passed = [
            *(key for key in self._value if key not in used and key not in _WITHOUT_MEANING),
            *self._passed,
        ]
        if self._passed:
            listed = ", ".join(self._passed[:10]) + (", …" if len(self._passed) > 10 else "")
            keys = "key is" if len(self._passed) == 1 else "keys are"
            self._notes.append(f"{len(self._passed)} {keys} of no meaning here: {listed}")
        return Upstreams(
            mcpServers=servers,
            registries=registries,
            disabled=self._disabled,
            problems=self._problems,
            notes=self._notes,
        )

    def _table(self) -> tuple[dict[str, Any], set[str]]:
        """All entries by name, and the top-level keys that they were under."""
        value = spelled_as_known(self._value)
        inner = value.get("mcp")
        if isinstance(inner, dict):
            tables = [key for key in TABLES if isinstance(inner.get(key), dict)]
            if tables:  # VS Code's settings
                value = {**value, tables[0]: inner[tables[0]]}
            elif any(map(is_server, inner.values())):  # opencode
                value = {**value, "mcpServers": inner}
        self._value = value
        used = {
            key
            for key in TABLES
            if key in value and (key != "extensions" or holds_servers(value[key]))
        }
        table: dict[str, Any] = {}
        for key in TABLES:
            if key in used:
                table = {**self._entries(key), **table}
        if table:
            return unwrapped(table), used
        if is_server(value):
            return {_name_of(value) or self._path.stem or "server": value}, set(value)
        bare = {key: one for key, one in value.items() if is_server(one)}
        if bare:
            return bare, set(bare)
        deeper, under = nested(value)
        if deeper or used or "registries" in value:
            return deeper, used | under
        known = ", ".join(f"`{one}`" for one in TABLES[:3])
        raise InputError(f"{self._path}: holds no servers; put them, by name, under one of {known}")

    def _entries(self, key: str) -> dict[str, Any]:
        """A table by name; a list of entries with names is one too."""
        found = self._value.get(key)
        if found is None:
            return {}
        if not isinstance(found, dict | list):
            raise InputError(f"{self._path}: {key}: must be an object with the servers by name")
        return named(found)

    def _specs(
        self, table: Mapping[str, Any], variables: Variables, off: set[str]
    ) -> dict[str, ServerSpec]:
        specs: dict[str, ServerSpec] = {}
        for raw_name, entry in table.items():
            name = str(raw_name).strip()
            try:
                server_name(name)
                if name in specs:
                    raise InputError("name: another server has it")
                if isinstance(entry, str) and re.match(r"https?://", entry):
                    entry = {"url": entry}
                if not isinstance(entry, dict):
                    kind = type(entry).__name__
                    raise InputError(f"is no object with a command or a url, but a {kind}")
                fields = Fields(entry, variables)
                if name in off or fields.disabled:
                    self._disabled.append(name)
                    continue
                spec = _spec(fields)
            except (ValueError, OSError, RuntimeError) as error:  # `~nobody` is a RuntimeError
                self._problems[name or repr(raw_name)] = " ".join(str(error).split())
                continue
            specs[name] = spec
            self._notes += [f"{name}: {note}" for note in fields.notes]
            self._passed += [f"{name}.{key}" for key in fields.passed_over]
        return specs


def _spec(fields: Fields) -> ServerSpec:
    """An entry as our own specification, its variables filled."""
    values = fields.values()
    url = values.get("url", "")
    if url and not re.match(r"https?://[^/]", str(url)):
        raise InputError(f"url: must begin with http:// or https://, not {str(url)[:8]!r}")
    command = values.get("command", "")
    line = command if isinstance(command, str) and " " in command else ""
    if line and not values.get("args") and not shutil.which(line):
        words = shlex.split(line)
        if words and not Path(command).exists():
            values["command"], values["args"] = words[0], words[1:]
            fields.notes.append("command: taken as a command line")
    try:
        spec = ServerSpec.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        rule = problem["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}: {rule}" if place else rule) from None
    spec._filled = True
    return spec


def _name_of(server: Mapping[str, Any]) -> str:
    """A name for a server that stands alone: its own, its command's or its host."""
    if isinstance(server.get("name"), str):
        return str(server["name"])
    if isinstance(server.get("command"), str):
        return Path(server["command"]).stem
    return re.sub(r"^https?://|[:/].*$", "", str(server.get("url") or ""))


def _inputs(value: Mapping[str, Any]) -> dict[str, str | None]:
    """Defaults of VS Code's `inputs`, and of what a bundle asks its user, by id."""
    nested = value.get("mcp")
    listed = value.get("inputs") or (nested.get("inputs") if isinstance(nested, dict) else None)
    found: dict[str, str | None] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and "id" in one:
            default = one.get("default")
            found[str(one["id"])] = None if default is None else str(default)
    asked = value.get("user_config")  # of a bundle's manifest
    for name, one in asked.items() if isinstance(asked, dict) else ():
        default = one.get("default") if isinstance(one, dict) else None
        found[str(name)] = default if isinstance(default, str) else None
    return found


def _value(path: Path, notes: list[str]) -> Any:
    if path.suffix in {".yaml", ".yml"}:
        return read_file(path)
    raw = path.read_bytes()
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # as PowerShell writes
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except RecursionError:
            raise InputError(f"{path}: not TOML: nested too deep") from None
        except ValueError as error:  # a day that no month has is no TOMLDecodeError
            raise InputError(f"{path}: not TOML: {error}") from None
    if not text.strip():
        return None
    plain = _LAST_COMMA.sub(_string_or_space, _COMMENT.sub(_string_or_space, text))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        for key in found if len(found) < len(pairs) else ():
            if sum(name == key for name, _ in pairs) > 1:
                notes.append(f"{key} is given twice in one place; the last counts")
        return found

    try:
        return json.loads(plain, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        if "property name" in error.msg or plain[error.pos : error.pos + 1] in {"'", "#"}:
            with suppress(ValueError):
                return _as_json5(plain)
        hint = ""
        if "escape" in error.msg:  # a path of Windows
            hint = r"; write \\ for a backslash"
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}{hint}") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON: nested too deep") from None
    except ValueError as error:  # a whole number of more than 4,300 digits
        raise InputError(f"{path}: not JSON: {error}") from None


def _as_json5(text: str) -> Any:
    """JSON with bare keys, single quotes or `#` comments, which YAML takes; ValueError if not."""
    import yaml

    from stores.bounded_yaml import load_yaml

    try:
        return load_yaml(text.replace("\t", " "))
    except yaml.YAMLError as error:
        raise InputError(str(error)) from None


def _string_or_space(found: re.Match[str]) -> str:
    """A string as it is; a comment or comma as blanks, so that line numbers stay."""
    text = found[0]
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)
