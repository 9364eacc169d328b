"""A server's process, whose lines are read without trusting their length.

The library's own transport joins a line anew with each piece, so that an answer of 60 MB holds up
everybody for a minute, and a line without an end takes all memory.
"""

import json
import logging
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, jsonrpc_message_adapter

from ctrag.agents.server.messages import readable
from ctrag.errors import InputError

logger = logging.getLogger(__name__)

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of one message; the request whose answer is longer gets an error."""
ENDLESS = 4 * LINE_LIMIT
"""Bytes without a line's end after which the server is given up."""
_PIECE = 256 * 1024
_EDGE = 4_096
"""Bytes kept of both ends of a line that is too long, to find whose answer it is."""
_NAMED = 3
"""Lines that are no messages and are named; further ones of the same process are not."""
_BEGIN, _FINISH = (b"{", b"["), (b"}", b"]")
_GRACE = 1.0
"""Seconds that a process has to end by itself, and again once it is told to: clients give the
gateway two, after which it could stop nothing."""
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')


@asynccontextmanager
async def process_streams(
    started: StdioServerParameters, name: str, errlog: TextIO
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server's process; streams from and to it. It ends with the context.

    Raises:
        OSError: The command cannot be started.
        ValueError: A line of the server has no end.
    """
    process = await anyio.open_process(
        [started.command, *started.args],
        stderr=errlog,
        cwd=started.cwd,
        env=get_default_environment() | (started.env or {}),
        start_new_session=True,
    )
    said, heard = anyio.create_memory_object_stream[SessionMessage](0)
    written, to_write = anyio.create_memory_object_stream[SessionMessage](0)
    with said, heard, written, to_write:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, said, name)
            tasks.start_soon(_write, process, to_write, said)
            try:
                yield heard, written
            finally:
                with anyio.CancelScope(shield=True):
                    heard.close()
                    written.close()
                    await _stop(process)
                tasks.cancel_scope.cancel()


async def _read(process: Process, said: MemoryObjectSendStream[SessionMessage], name: str) -> None:
    unread = 0
    spread = _Spread()
    async with said:
        async for line in _lines(process):
            messages, passed_over = spread.add(line)
            for message in messages:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await said.send(message)  # where nobody listens it is read on, so that it ends
            for one in passed_over:
                unread += 1
                if unread <= _NAMED:
                    start = one[:80].decode("utf-8", "replace").strip()
                    logger.warning("%s: wrote to stdout what is no message: %s", name, start)


class _Spread:
    """Joins the lines of a message that is written with line breaks and indented."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        self._size = 0

    def add(self, line: bytes) -> tuple[list[SessionMessage], list[bytes]]:
        """The messages that end with a line, and the lines that are none."""
        text = line.rstrip()
        if not self._open and text not in _BEGIN:
            messages = _messages(line)
            return messages, [line] if text and not messages else []
        self._open.append(line)
        self._size += len(line)
        if text not in _FINISH:
            if (line[:1].isspace() and self._size <= LINE_LIMIT) or len(self._open) == 1:
                return [], []
            *before, last = self._taken()  # it was something else
            messages, passed_over = self.add(last)
            return messages, [*before[:1], *passed_over]
        lines = self._taken()
        messages = _messages(b"".join(lines))
        return messages, [] if messages else lines[:1]

    def _taken(self) -> list[bytes]:
        lines, self._open, self._size = self._open, [], 0
        return lines


async def _lines(process: Process) -> AsyncIterator[bytes]:
    """The lines of a process; for one that is too long, an error that answers its request."""
    assert process.stdout is not None
    line = _Line()
    while True:
        try:
            piece = await process.stdout.receive(_PIECE)
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        *ended, rest = piece.split(b"\n")
        for one in ended:
            line.add(one)
            yield line.text()
            line = _Line()
        line.add(rest)


class _Line:
    """A line in pieces, of which both ends are kept when it is too long."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._end = b""

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > ENDLESS:
            raise InputError(f"wrote {ENDLESS:,} bytes to stdout without the end of a line")
        if self._size <= LINE_LIMIT:
            self._pieces.append(piece)
        else:
            self._pieces = [b"".join(self._pieces)[:_EDGE]]
            self._end = (self._end + piece)[-_EDGE:]

    def text(self) -> bytes:
        whole = b"".join(self._pieces)
        if self._size <= LINE_LIMIT:
            return whole
        found = _ID.search(whole) or _ID.search(self._end)
        if found is None:
            return whole[:_EDGE]
        why = f"the answer has {self._size:,} bytes; {LINE_LIMIT:,} are read"
        error = {"code": INTERNAL_ERROR, "message": why}
        return json.dumps({"jsonrpc": "2.0", "id": json.loads(found[1]), "error": error}).encode()


def _messages(line: bytes) -> list[SessionMessage]:
    """The message of a line; all of them where it is a batch."""
    text = line.decode("utf-8", "replace")
    with suppress(ValueError):
        return [SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))]
    found: list[SessionMessage] = []
    for one in readable(text):
        with suppress(ValueError):
            found.append(
                SessionMessage(jsonrpc_message_adapter.validate_python(one, by_name=False))
            )
    return found


async def _write(
    process: Process,
    to_write: MemoryObjectReceiveStream[SessionMessage],
    said: MemoryObjectSendStream[SessionMessage],
) -> None:
    assert process.stdin is not None
    try:
        async for message in to_write:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(text.encode() + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        await said.aclose()  # so that nobody waits for an answer


async def _stop(process: Process) -> None:
    """Let the process end; then make it, and all that it has started."""
    assert process.stdin is not None
    with anyio.move_on_after(_GRACE), suppress(OSError, anyio.BrokenResourceError):
        await process.stdin.aclose()
    for sent in (None, signal.SIGTERM, signal.SIGKILL):
        if sent is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sent)
        with anyio.move_on_after(_GRACE):
            await process.wait()
        if process.returncode is not None:
            break
    with suppress(OSError, anyio.BrokenResourceError):
        await process.aclose()
