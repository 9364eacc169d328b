"""What servers' processes write to stderr, line by line under their names."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ctrag.text.terminal import visible

LINE_LIMIT = 2_000
"""Bytes of a line; longer ones are broken."""


@contextmanager
def named_stderr(name: str) -> Iterator[TextIO]:
    """A file for a process to write to, whose lines come out on our stderr as `[name] …`.

    The thread that copies them ends with the last process that holds the file.
    """
    read, write = os.pipe()
    thread = threading.Thread(target=_copy, args=(read, name), daemon=True)
    thread.start()
    file = os.fdopen(write, "w", encoding="utf-8")
    try:
        yield file
    finally:
        file.close()


def _copy(read: int, name: str) -> None:
    with os.fdopen(read, "rb", buffering=0) as lines:
        rest = b""
        while chunk := lines.read(LINE_LIMIT):
            *whole, rest = (rest + chunk).split(b"\n")
            if len(rest) >= LINE_LIMIT:
                whole, rest = [*whole, rest], b""
            _say(name, whole)
        _say(name, [rest] if rest else [])


def _say(name: str, lines: list[bytes]) -> None:
    text = "".join(
        f"[{visible(name, one_line=True)}] {_shown(one)}\n" for one in lines if one.strip()
    )
    out = sys.__stderr__ or sys.stderr
    if text and out is not None:
        out.write(text)
        out.flush()


def _shown(line: bytes) -> str:
    return visible(line.decode("utf-8", "replace").rstrip(), one_line=True)
