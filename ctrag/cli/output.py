"""Printing for people and for machines."""

import json
import sys
from typing import Any

import typer


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def line(text: str = "", *, bold: bool = False, dim: bool = False) -> None:
    """One line on stdout; styles only on a terminal."""
    typer.echo(typer.style(text, bold=bold, dim=dim) if (bold or dim) else text)


def progress(text: str) -> None:
    """A note on long work: on a terminal only, on stderr."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)
