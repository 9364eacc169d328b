"""One server's entry: the fields of many MCP clients as ours."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ctrag.agents.server.client_tokens import TOKENS, header_of
from ctrag.agents.server.client_values import texts, truth
from ctrag.agents.server.config import ServerSpec
from ctrag.agents.server.env_files import env_file
from ctrag.agents.server.variables import Variables
from ctrag.errors import InputError

MILLISECONDS_FROM = 1_000
"""A time-out of that many or more is one in milliseconds, unless it is one of whole minutes up to
an hour, such as 1,800."""

_NAMES = {
    "command": ("cmd",),
    "args": ("arguments",),
    "env": ("environment", "envs"),
    "cwd": ("workingDirectory", "working_directory"),
    "url": ("httpUrl", "http_url", "serverUrl", "server_url", "uri", "endpoint", "baseUrl"),
    "headers": ("http_headers", "httpHeaders", "customHeaders"),
    "transport": ("type", "transportType", "transport_type"),
    "include": (
        *("includeTools", "include_tools", "enabledTools", "enabled_tools"),
        *("allowedTools", "allowed_tools", "available_tools"),
    ),
    "exclude": ("excludeTools", "exclude_tools", "disabledTools", "disabled_tools"),
    "result_limit": ("resultLimit",),
    "timeout": ("tool_timeout_sec", "toolTimeout", "requestTimeout", "request_timeout"),
    "start_timeout": (
        "startTimeout",
        "startup_timeout_sec",
        "startup_timeout_ms",
        "startupTimeout",
        "initTimeout",
        "connectTimeout",
    ),
}
"""Our field → what clients call it, in the order in which they count."""
_ENV = ("env", *_NAMES["env"])
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|s|m|h)[a-z]*")
_PARTS = re.compile(r"\s?(?:\d{1,9}(?:\.\d{1,9})?\s?(?:ms|s|m|h)[a-z]*[\s,]*){2,4}")
"""A time of several units, such as `1m30s`."""
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0}
_TRANSPORTS = {
    **dict.fromkeys(("stdio", "local", "command"), "stdio"),
    **dict.fromkeys(("http", "streamable", "streamablehttp", "httpstream"), "http"),
    "sse": "sse",
    **dict.fromkeys(("remote", "url", "auto", "custom", "builtin", "mcp", ""), ""),
}
_TURNED_OFF = {
    "disabled": True,
    "enabled": False,
    "active": False,
    "isActive": False,
    "isEnabled": False,
}
_TEXTS = {"args", "env", "headers"}


class Fields:
    """An entry of a client's file.

    Args:
        entry: As the file has it.
        variables: Fill its texts.
    """

    def __init__(self, entry: dict[str, Any], variables: Variables) -> None:
        self._entry = _flat({key: value for key, value in entry.items() if value is not None})
        self._outside = variables
        self._variables = variables.beside(self._own())
        self._taken: set[str] = {"name", "id", "server_label"}
        self.notes: list[str] = []
        """What was read otherwise than it stands."""

    @property
    def disabled(self) -> bool:
        """Whether the entry is turned off; then nothing else of it is read."""
        off = False
        for key, when in _TURNED_OFF.items():
            if key in self._entry:
                self._taken.add(key)
                off = off or truth(self._variables.fill(self._entry[key]), key) is when
        return off

    @property
    def passed_over(self) -> list[str]:
        """Keys that mean nothing here; after `values`."""
        return [key for key in self._entry if key not in self._taken]

    def values(self) -> dict[str, Any]:
        """The fields of `ServerSpec`, variables filled.

        Raises:
            ValueError: A value is of no usable kind, or a variable is not set.
        """
        self._variables.unfilled.clear()
        found = dict(self._known())
        self._command(found)
        self._headers(found)
        self._environment(found)
        self._tools(found)
        self._transport(found)
        for one in dict.fromkeys(self._variables.unfilled):
            self.notes.append(f"{one} is passed on as it stands: there is no variable of that name")
        for key in ("cwd", "command"):
            if str(found.get(key, "")).startswith("~"):
                found[key] = str(Path(str(found[key])).expanduser())
        return found

    def _take(self, key: str) -> Any:
        """An entry's value, filled; None when it is not there."""
        self._taken.add(key)
        variables = self._outside if key in _ENV else self._variables
        return variables.fill(self._entry.get(key), key)

    def _own(self) -> dict[str, str]:
        """What the entry's own `env` sets, as far as it can be filled: its arguments, address and
        headers may name that."""
        found: dict[str, str] = {}
        for key in _ENV:
            with suppress(InputError):
                for name, value in texts(self._entry.get(key), "env").items():
                    with suppress(ValueError, OSError):
                        found[name] = self._outside.text(value)
        return found

    def _known(self) -> Iterator[tuple[str, Any]]:
        for field in ServerSpec.model_fields:
            names = [field, *_NAMES.get(field, ())]
            present = [one for one in names if one in self._entry]
            self._taken.update(present)
            given = [one for one in present if self._entry[one] not in ("", {}, [])]
            if not present or (field == "command" and _is_table(self._entry)):
                continue
            name = (given or present)[0]
            if name == "available_tools" and not given:  # Goose writes so that all are
                continue
            value = self._take(name)
            if field in _TEXTS:
                value = texts(value, field)
            elif field in {"timeout", "start_timeout"}:
                value = self._seconds(value, name)
                if value is None:
                    continue
            elif field in {"include", "exclude"}:
                value = _names(value)
            elif field == "timeouts" and isinstance(value, dict):
                limits = {tool: self._seconds(one, name) for tool, one in value.items()}
                value = {tool: one for tool, one in limits.items() if one is not None}
            yield field, value

    def _seconds(self, value: Any, name: str) -> Any:
        """A time-out in seconds; large numbers and `…ms` are milliseconds, which is said. None for
        0 and less, by which some clients mean that none holds."""
        if isinstance(value, str) and _PARTS.fullmatch(value.lower()):
            parts = _PART.findall(value.lower())
            return sum(float(number) * _UNITS[unit] for number, unit in parts)
        text = re.fullmatch(r"\s*(-?[\d.]+)\s*(ms|s|m|h)?[a-z]*\s*", str(value).lower())
        if text is None or isinstance(value, bool) or text[1].count(".") > 1 or text[1] == ".":
            return value
        number, unit = float(text[1]), text[2] or ""
        if number <= 0:
            self.notes.append(f"{name} {number:g} is passed over: a call must end some time")
            return None
        if name.endswith("_ms") or unit:
            return number * _UNITS["ms" if name.endswith("_ms") else unit]
        if name.endswith("_sec") or number < MILLISECONDS_FROM:
            return number
        if number <= 3_600 and number % 60 == 0 and number % 500:  # Cline's and Roo's choices
            self.notes.append(f"{name} {number:g} is taken as seconds: {number / 60:g} minutes")
            return number
        self.notes.append(f"{name} {number:g} is taken as milliseconds: {number / 1_000:g} s")
        return number / 1_000

    def _command(self, found: dict[str, Any]) -> None:
        """A command as a list, or as an object with its arguments."""
        if _is_table(self._entry):
            inner = self._take("command")
            found["command"] = inner.get("path") or inner.get("command") or ""
            found.setdefault("args", texts(inner.get("args") or [], "args"))
            found.setdefault("env", texts(inner.get("env") or {}, "env"))
        command = found.get("command")
        if isinstance(command, list):
            words = texts(command, "command")
            found["command"] = words[0] if words else ""
            found["args"] = [*words[1:], *found.get("args", [])]

    def _headers(self, found: dict[str, Any]) -> None:
        headers = dict(found.get("headers", {}))
        for key in ("requestInit", "requestOptions", "request_options"):
            request = self._entry.get(key)
            if isinstance(request, dict) and isinstance(request.get("headers"), dict):
                headers = {**texts(self._take(key)["headers"], "headers"), **headers}
        from_environment = texts(self._take("env_http_headers"), "headers")
        for header, variable in from_environment.items():
            headers[header] = self._variables.text(f"${{{variable}}}")
        if variable := self._take("bearer_token_env_var"):
            headers["Authorization"] = self._variables.text(f"Bearer ${{{variable}}}")
        for key in ("authorization_token", "authorization", "auth"):
            token = self._entry.get(key)
            if isinstance(token, str) and token != "oauth":
                scheme = "" if " " in token else "Bearer "
                headers["Authorization"] = f"{scheme}{self._take(key)}"
        if found.get("url"):
            for key in (*TOKENS, "auth", "authentication"):
                made = header_of(key, self._entry.get(key))
                if made and made[0].lower() not in map(str.lower, headers):
                    self._taken.add(key)
                    headers[made[0]] = self._variables.fill(made[1], "headers")
                    self.notes.append(f"{key} is sent as the header {made[0]}")
        if headers:
            found["headers"] = headers

    def _environment(self, found: dict[str, Any]) -> None:
        env = dict(found.get("env", {}))
        for key in ("envFile", "env_file"):
            if file := self._take(key):
                env = {**env_file(self._variables.path(str(file))), **env}
        listed = self._take("env_vars") or self._take("env_keys")
        if isinstance(listed, list):  # Codex says of each where it is from
            listed = [one.get("name") if isinstance(one, dict) else one for one in listed]
        names = texts(listed, "args")
        env = {**{one: os.environ[one] for one in names if one in os.environ}, **env}
        if env:
            found["env"] = env

    def _tools(self, found: dict[str, Any]) -> None:
        """`tools`: a list of those to show, or settings by name."""
        tools = self._take("tools")
        if isinstance(tools, list) and tools:
            found.setdefault("include", tools)
        if not isinstance(tools, dict):
            return
        for tool, given in tools.items():
            if isinstance(given, bool):
                given = {"enabled": given}
            if not isinstance(given, dict):
                raise InputError(f"tools.{tool}: must be an object or true or false")
            if given.get("disabled") is True or given.get("enabled") is False:
                found["exclude"] = [*_kept(found, "exclude", []), tool]
            for ours, theirs in (("rename", "name"), ("rename", "rename")):
                if isinstance(given.get(theirs), str):
                    found[ours] = {**_kept(found, ours, {}), tool: given[theirs]}
            if isinstance(given.get("description"), str):
                given_texts = _kept(found, "descriptions", {})
                found["descriptions"] = {**given_texts, tool: given["description"]}
            if "timeout" in given:
                seconds = self._seconds(given["timeout"], f"tools.{tool}.timeout")
                limit = {} if seconds is None else {tool: seconds}
                found["timeouts"] = {**limit, **_kept(found, "timeouts", {})}

    def _transport(self, found: dict[str, Any]) -> None:
        named = str(found.get("transport", ""))
        kind = _TRANSPORTS.get(re.sub(r"[^a-z]", "", named.lower()))
        if kind is None:
            raise InputError(f"type: {named!r} is not one of stdio, http, sse, streamable-http")
        if found.get("command") and found.get("url") and kind:
            unused = "url" if kind == "stdio" else "command"
            self.notes.append(f"{unused} is passed over: its type is {named}")
            found[unused] = ""
        elif kind and bool(found.get("command")) != (kind == "stdio"):
            self.notes.append(f"type {named} is passed over: it does not go with what is given")
            kind = ""
        found["transport"] = kind


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry whose transport, or choice of tools, is an object of its own, without that."""
    if isinstance(own := entry.get("anythingllm"), dict):
        starts = {"enabled": own["autoStart"]} if "autoStart" in own else {}
        hidden = {"exclude": own["suppressedTools"]} if own.get("suppressedTools") else {}
        rest = {one: value for one, value in entry.items() if one != "anythingllm"}
        entry = {**starts, **hidden, **rest}
    for key in ("transport", "stdio", "http", "sse", "tool_configuration"):
        inner = entry.get(key)
        if isinstance(inner, dict):
            kind = {} if key in {"transport", "tool_configuration"} else {"type": key}
            rest = {one: value for one, value in entry.items() if one != key}
            entry = {**kind, **inner, **rest}
    return entry


def _names(value: Any) -> Any:
    """Names of tools as a list; others are left to the check of the field."""
    if isinstance(value, dict):  # of OpenAI's Responses
        value = next((value[key] for key in ("tool_names", "names") if key in value), value)
    if isinstance(value, str):
        return [name for one in value.split(",") if (name := one.strip())]
    return value


def _kept(found: dict[str, Any], key: str, empty: Any) -> Any:
    """What a field holds by now, which the entry may have said in an unusable form."""
    value = found.get(key, empty)
    if not isinstance(value, type(empty)):
        raise InputError(f"{key}: must be a {'list' if empty == [] else 'object'}")
    return value


def _is_table(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("command"), dict)
