"""Reading a checkout's files; errors name the file and say what is expected."""

import ast
import json
from pathlib import Path
from typing import Any

from ctrag.errors import InputError, NotFound

Row = dict[str, Any]
"""A value of a file that is written or read as JSON."""


def text_of(checkout: Path, name: str) -> str:
    """A file's text.

    Raises:
        FileNotFoundError: The checkout has no such file: it is of something else.
    """
    path = checkout / name
    if not path.is_file():
        raise NotFound(2, f"no {name} in the checkout; is it one of this source?", str(checkout))
    return path.read_text(encoding="utf-8")


def json_of(checkout: Path, name: str) -> Any:
    """A JSON file's value."""
    return parsed(text_of(checkout, name), checkout / name)


def lines_of(checkout: Path, name: str) -> list[Any]:
    """The values of a file with one a line."""
    rows = text_of(checkout, name).splitlines()
    return [parsed(row, checkout / name) for row in rows if row.strip()]


def module_of(checkout: Path, name: str) -> ast.Module:
    """A Python file, parsed and not run."""
    try:
        return ast.parse(text_of(checkout, name))
    except SyntaxError as error:
        raise InputError(f"{checkout / name}:{error.lineno}: not Python: {error.msg}") from None


def parsed(text: str, place: Path) -> Any:
    """JSON as a value; ValueError with its place where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{place}:{error.lineno}: not JSON: {error.msg}") from None
