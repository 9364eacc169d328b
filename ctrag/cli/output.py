"""Printing for people and for machines: the one place of the commands that writes to a terminal.

Names, texts and errors come from files and servers of others, so that everything is cleaned here
(`ctrag.text.terminal`); a test forbids writing anywhere else.
"""

import json
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import typer

from ctrag.text.terminal import note as note
from ctrag.text.terminal import visible, visible_json

if TYPE_CHECKING:
    from rich.progress import Progress

_LINE_SECONDS = 10.0
_noted = time.monotonic()


def print_json(value: Any) -> None:
    """One JSON document on stdout; numbers that JSON does not have (NaN) are null."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(value), parse_constant=lambda _: None)
        text = json.dumps(plain, ensure_ascii=False, indent=1)
    print(visible_json(text))


def line(text: str = "", *, bold: bool = False, dim: bool = False) -> None:
    """One line on stdout, whatever the text; styles only on a terminal."""
    _styled(visible(text, one_line=True), bold, dim)


def block(text: str, *, indent: str = "", bold: bool = False, dim: bool = False) -> None:
    """A text of several lines on stdout; those after the first are indented."""
    shown = visible(text).replace("\n", f"\n{indent}")
    _styled(shown, bold, dim)


def _styled(text: str, bold: bool, dim: bool) -> None:
    typer.echo(typer.style(text, bold=bold, dim=dim) if (bold or dim) else text)


def progress(text: str) -> None:
    """A note on long work, on stderr: each on a terminal, elsewhere one in ten seconds at most, the
    first when the command has run for ten."""
    global _noted
    if not sys.stderr.isatty():
        if time.monotonic() - _noted < _LINE_SECONDS:
            return
        _noted = time.monotonic()
    say(text)


def say(text: str) -> None:
    """One line on stderr, whole."""
    print(visible(text, one_line=True), file=sys.stderr, flush=True)


def bar_on_stderr() -> "Progress":
    """A bar of what is done, gone when it ends; its texts are shown as they are."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    shown = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    return Progress(BarColumn(), TaskProgressColumn(), shown, console=console, transient=True)


def in_place(text: str) -> None:
    """A text on stderr over what the line has so far."""
    print(f"\r{visible(text, one_line=True)}", end="", file=sys.stderr, flush=True)


def answered(question: str) -> str:
    """What is answered to a yes or no question on the terminal, on stderr; "" where only Enter."""
    mark = " [y/N]: "
    text = visible(question)
    said = typer.prompt(text, default="", show_default=False, prompt_suffix=mark, err=True)
    return str(said).strip()


def asked(mark: str) -> str:
    """What is typed on the terminal after a mark; EOFError at the end."""
    return input(mark)


def clean_libraries() -> None:
    """What libraries write by themselves is cleaned, too: logs without a handler, warnings, and
    exceptions that nobody catches in a thread or while an object is dropped."""
    import logging
    import threading
    import warnings

    class Cleaned(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return visible(super().format(record))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Cleaned())
    formatted = warnings.formatwarning
    warnings.formatwarning = lambda *given, **named: visible(formatted(*given, **named))
    threading.excepthook = lambda args: _uncaught(args.exc_value)
    sys.unraisablehook = lambda args: _uncaught(args.exc_value)


def _uncaught(error: BaseException | None) -> None:
    if error is not None and not isinstance(error, SystemExit):
        print(visible("".join(traceback.format_exception(error))), file=sys.stderr, end="")


def show_traceback() -> None:
    """The traceback of the exception that is handled, on stderr."""
    print(visible(traceback.format_exc()), file=sys.stderr)
