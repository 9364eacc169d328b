"""Variables in a file of servers: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:ID}`.

The forms are those that MCP clients have. One that cannot be filled is an error: a server that
gets the literal text takes it for its secret.
"""

import os
import re
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

from ctrag.errors import InputError

_START = re.compile(
    r"(?P<escape>\$\$\{)|(?P<template>\$?\{\{(?P<of>[\w\s.]+)\}\})|\$\{|\{(?=(?:env|file|input):)"
)
_TEMPLATE = re.compile(r"\s*(?:(?:secrets|inputs|env)\.)?(?P<name>[A-Z_][A-Z0-9_]*)\s*")
"""`{{ secrets.NAME }}`, as Continue and others have it; other templates are the server's."""
_BARE = re.compile(
    r"(?P<scheme>(?:[A-Za-z]+ )?)"
    r"(?:\$(?:env:)?(?P<name>[A-Z_][A-Z0-9_]*)|%(?P<framed>[A-Z_][A-Z0-9_]*)%)"
)
"""A text that is nothing but `$NAME`, or `Bearer $NAME`, as Gemini and Copilot have it; or
`$env:NAME` or `%NAME%`, as in the shells of Windows."""
_INSIDE = re.compile(r"(?<![$\\])\$(?P<name>[A-Z_][A-Z0-9_]+)\b")
"""`$NAME` inside a text: a variable if there is one, else perhaps a part of a password."""
_SHELL = re.compile(r"(?:[A-Za-z]+ )?(?:\$\(.*\)|`.*`)", re.DOTALL)
_SECRET = ("env", "headers", "url")
"""Fields that begin so hold what a server must not get unfilled."""
_LINES = ("args", "arguments")
"""Fields with words of a command line: with blanks in it, one is a script, whose shell fills it."""
_NAMED = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:(?P<operator>:?[-?+])(?P<rest>.*))?", re.DOTALL)
_SCRIPT = re.compile(r"-[a-z]*c|/[cC]|--?[cC]ommand")
"""The word before a script, in shells."""
_KIND = re.compile(
    r"(?P<kind>process\.env|env|localEnv|containerEnv|secrets?|input|file|user_config)[:.]"
    r"(?P<rest>.*)",
    re.DOTALL,
)
_EDITOR_FOLDERS = {
    *(".vscode", ".cursor", ".gemini", ".codex", ".kiro", ".claude", ".claude-plugin"),
    *(".devcontainer", ".roo", ".amazonq", ".zed"),
}
_FORMS = "${NAME}, ${NAME:-default}, ${env:NAME}, ${input:ID}, ${file:PATH}"


class Variables:
    """The values that variables stand for.

    Args:
        folder: Where the file is; `${workspaceFolder}` is the folder of the project around it.
        inputs: Defaults of VS Code's `inputs` by id; None for one that has none. Nobody can be
            asked here, so `${input:api-key}` is the environment's `API_KEY`, else the default.
    """

    def __init__(
        self, folder: Path | None = None, inputs: Mapping[str, str | None] | None = None
    ) -> None:
        here = (folder or Path.cwd()).resolve()
        project = here.parent if here.name in _EDITOR_FOLDERS else here
        self._folder = here
        self._inputs = inputs or {}
        self._own: Mapping[str, str] = {}
        self.unfilled: list[str] = []
        """Texts inside others that look like variables and stand as they are, as none is set."""
        self._editor = {
            "workspaceFolder": str(project),
            "workspaceRoot": str(project),
            "workspacePath": str(project),
            "localWorkspaceFolder": str(project),
            "containerWorkspaceFolder": str(project),
            "localWorkspaceFolderBasename": project.name,
            "extensionPath": str(here),
            "CLAUDE_PLUGIN_ROOT": str(here.parent if here.name == ".claude-plugin" else here),
            "CLAUDE_PROJECT_DIR": str(project),
            "workspaceFolderBasename": project.name,
            "userHome": str(Path.home()),
            "cwd": str(Path.cwd()),
            "__dirname": str(here),
            "pathSeparator": os.sep,
            "/": os.sep,
        }

    def beside(self, own: Mapping[str, str]) -> "Variables":
        """The same variables, and before them those that a server's own `env` sets."""
        more = copy(self)
        more._own = own
        return more

    def fill(self, value: Any, place: str = "", *, script: bool = False) -> Any:
        """The value with all its texts filled, at any depth.

        Args:
            value: Of a field.
            place: The field's name, for the error.
            script: Whether it is a script, whose shell fills what has no value here.

        Raises:
            ValueError: A variable is not set or not understood; the message names it.
        """
        if isinstance(value, str):
            try:
                if place.startswith(_SECRET) and _SHELL.fullmatch(value):
                    raise InputError(f"{value[:40]!r} is for a shell, which does not run here")
                loose = not (place.startswith(_LINES) and " " in value)
                return self.text(value, loose=loose, script=script)
            except ValueError as error:
                raise InputError(f"{place}: {error}" if place else str(error)) from None
        if isinstance(value, list):
            before = ["", *value] if place.startswith(_LINES) else [""] * len(value)
            return [
                self.fill(one, place, script=" " in str(one) and bool(_SCRIPT.fullmatch(str(flag))))
                for flag, one in zip(before, value, strict=False)
            ]
        if isinstance(value, dict):
            return {
                self.fill(key, place): self.fill(one, f"{place}.{key}" if place else str(key))
                for key, one in value.items()
            }
        return value

    def path(self, text: str) -> Path:
        """A file that an entry names: of the project where it is there, else beside the file."""
        given = Path(text).expanduser()
        project = Path(self._editor["workspaceFolder"]) / given
        return project if project.exists() else self._folder / given

    def text(self, text: str, *, loose: bool = False, script: bool = False) -> str:
        """One text, filled; `$${` stands for a literal `${`. Errors as for `fill`.

        Args:
            text: The text.
            loose: Fill `$NAME` inside it too, where such a variable is set.
            script: Leave what has no value here, or gets one in the text, as it stands.
        """
        if (bare := _BARE.fullmatch(text)) and not script:
            return bare["scheme"] + self._value(bare["name"] or bare["framed"])
        done: list[str] = []
        at = 0
        plain = self._loosely if loose else str
        while found := _START.search(text, at):
            done.append(plain(text[at : found.start()]))
            if found["escape"]:
                done.append("${")
                at = found.end()
                continue
            if found["template"]:
                named = _TEMPLATE.fullmatch(found["of"])
                done.append(self._value(named["name"]) if named else found["template"])
                at = found.end()
                continue
            end = _closing(text, found.end())
            inner, at = text[found.end() : end], end + 1
            try:
                left = script and _set_in(text, inner)
                done.append(text[found.start() : at] if left else self._value(inner))
            except ValueError:
                if not script:
                    raise
                done.append(text[found.start() : at])
        return "".join(done) + plain(text[at:])

    def _loosely(self, text: str) -> str:
        def filled(found: re.Match[str]) -> str:
            value = self._set(found["name"])
            if value is None:
                self.unfilled.append(found[0])
            return found[0] if value is None else value

        return _INSIDE.sub(filled, text)

    def _set(self, name: str) -> str | None:
        """A variable's value; None if it is not set."""
        return self._own[name] if name in self._own else os.environ.get(name)

    def _value(self, inner: str) -> str:
        kind = _KIND.fullmatch(inner)
        if kind is not None and kind["kind"] in {"input", "user_config"}:
            return self._input(kind["rest"])
        if kind is not None and kind["kind"] == "file":
            path = self._folder / Path(self.text(kind["rest"])).expanduser()
            return path.read_text(encoding="utf-8").strip()
        rest = inner if kind is None else kind["rest"]
        if kind is not None and kind["kind"] in {"localEnv", "containerEnv"}:
            rest = re.sub(r"^(\w+):(?![-?+])", r"\1:-", rest)  # a container's way to a default
        named = _NAMED.fullmatch(rest)
        if named is None:
            if inner in self._editor:
                return self._editor[inner]
            raise InputError(
                f"variable ${{{inner[:40]}}} is not understood; the forms are {_FORMS}, and $${{ "
                "for the two characters themselves"
            )
        name, value = named["name"], self._set(named["name"])
        if value is None and kind is None:
            value = self._editor.get(name)
        operator = named["operator"] or ""
        if operator.startswith(":") and not value:
            value = None
        if operator.endswith("+"):
            return "" if value is None else self.text(named["rest"])
        if value is not None:
            return value
        if operator.endswith("-"):
            return self.text(named["rest"])
        said = f": {named['rest']}" if named["rest"] else ""
        raise InputError(f"environment variable {name} is not set{said}")

    def _input(self, identity: str) -> str:
        name = re.sub(r"\W", "_", identity).upper()
        value = os.environ.get(name)
        value = self._inputs.get(identity) if value is None else value
        if value is None:
            raise InputError(
                f"input {identity!r} cannot be asked for here; environment variable {name} is not "
                "set and has no default"
            )
        return value


def _set_in(script: str, inner: str) -> bool:
    """Whether a script gives a variable its value itself."""
    name = re.match(r"\w*", inner)
    return bool(name and name[0] and re.search(rf"\b{name[0]}=", script))


def _closing(text: str, at: int) -> int:
    """Where the brace that is open at `at` closes; braces inside are counted."""
    depth = 1
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise InputError("`${` has no `}`; write $${ for the two characters themselves")
