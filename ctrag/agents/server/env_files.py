"""Files of environment variables (`.env`), as `envFile` of an entry names them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ctrag.errors import InputError

_NAME = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][\w.-]*)\s*=")
_COMMENT = re.compile(r"(?<=\s)#.*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)(?P<default>:?-[^{}]*)?\}")


def env_file(path: Path) -> dict[str, str]:
    """The variables of a file of `NAME=value` lines.

    `export`, comments, quotes and values of several lines in quotes are as usual; `${NAME}` outside
    of single quotes is a variable above it or of this process.

    Raises:
        ValueError: Such a variable is not set.
        OSError: The file cannot be read.
    """
    found: dict[str, str] = {}
    for name, value, literal in _entries(path.read_text(encoding="utf-8-sig")):
        found[name] = value if literal else _filled(value, found, path.name)
    return found


def _entries(text: str) -> Iterator[tuple[str, str, bool]]:
    """Names and values, and whether a value stands as it is."""
    lines = text.splitlines()
    unclosed: set[str] = set()  # quotes that close nowhere below, looked for but once
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        named = _NAME.match(line)
        if named is None:
            continue
        rest = line[named.end() :]
        value = rest.strip()
        quote = value[:1]
        if quote not in ("'", '"') or quote in unclosed:
            yield named["name"], _COMMENT.sub("", rest).strip().strip("'\""), False
            continue
        end, below = _closing(value, quote), at
        parts = [value]
        while end < 0 and below < len(lines):
            end = _closing(lines[below], quote, 0)
            parts.append(lines[below])
            below += 1
        if end < 0:
            unclosed.add(quote)
            yield named["name"], value.strip("'\""), False
            continue
        at = below
        parts[-1] = parts[-1][:end]
        whole = "\n".join(parts)[1:]
        yield named["name"], whole if quote == "'" else _unescaped(whole), quote == "'"


def _closing(text: str, quote: str, at: int = 1) -> int:
    """Where a quote closes that is open before `at`; -1 where it does not."""
    while at < len(text):
        if text[at] == quote:
            return at
        at += 2 if text[at] == "\\" and quote == '"' else 1
    return -1


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)


def _filled(value: str, above: dict[str, str], file: str) -> str:
    def one(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        known = above.get(name, os.environ.get(name))
        if known or (known is not None and not (default or "").startswith(":")):
            return known
        if default is None:
            raise InputError(f"{file}: variable {name} is not set")
        return default.lstrip(":").removeprefix("-")

    return _VARIABLE.sub(one, value)
