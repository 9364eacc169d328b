"""Files that are read again when they change, without ending a session.

A file that cannot be read as a whole changes nothing, and why is said.
"""

import signal
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from ctrag.agents.server.config import Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.principals import AccessFile, BearerTokens
from ctrag.errors import InputError
from ctrag.text.terminal import note
from stores.database import StoreUnavailable

SECONDS = 1.0
"""Between two looks at the files."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A file, and what is done when it has changed."""

    path: Path
    reread: Callable[[], Awaitable[Sequence[str]]]
    """Returns what has changed; ValueError or OSError when the file cannot be used."""
    silent: bool = False
    """Whether nothing is said where nothing has changed, as of a file that this process writes."""


def servers_of(gateway: Gateway, path: Path) -> Watched:
    """The file of `--upstream`."""

    async def reread() -> list[str]:
        new = await run_sync(Upstreams.from_file, path)
        said = await gateway.reconfigure(new)
        left_out = [f"{name} stays as it was: {why}" for name, why in new.problems.items()]
        return [*said, *left_out, *new.notes]

    return Watched(path, reread)


def access_of(
    gateway: Gateway, path: Path, held: AccessFile, tokens: BearerTokens | None
) -> Watched:
    """The file of `--access`: users, their tokens and grants.

    Args:
        gateway: Whose callers it governs.
        path: The file.
        held: As it was read at the start.
        tokens: Verifies callers by it; None where nobody is asked for a token.
    """
    governed = held.rules is not None

    async def reread() -> list[str]:
        new = await run_sync(AccessFile.from_file, path)
        if governed and new.rules is None:
            raise InputError("grants are missing, and without them every tool is open to everybody")
        if tokens is not None:
            tokens.change(new)
        if new.rules is not None:
            await run_sync(gateway.change_access, new.rules)
        return ["users, tokens and grants are read again"]

    return Watched(path, reread)


async def watch(files: Sequence[Watched], seconds: float = SECONDS) -> None:
    """Read files again when they have changed, and all of them on SIGHUP, until cancelled."""
    if not files:
        return
    async with anyio.create_task_group() as tasks:
        lock = anyio.Lock()
        for file in files:
            tasks.start_soon(_look, file, seconds, lock)
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            tasks.start_soon(_on_signal, files, lock)


async def _look(file: Watched, seconds: float, lock: anyio.Lock) -> None:
    seen = await run_sync(_state, file.path)
    while True:
        await anyio.sleep(seconds)
        now = await run_sync(_state, file.path)
        if now == seen:
            continue
        seen = now
        await _again(file, lock)


async def _on_signal(files: Sequence[Watched], lock: anyio.Lock) -> None:
    with anyio.open_signal_receiver(signal.SIGHUP) as received:
        async for _ in received:
            for file in files:
                await _again(file, lock)


async def _again(file: Watched, lock: anyio.Lock) -> None:
    async with lock:
        try:
            said = await file.reread()
        except (ValueError, OSError, StoreUnavailable) as error:
            note(f"{file.path.name} is not taken over, all stays as it was: {error}")
            return
    for one in said or ([] if file.silent else ["nothing has changed"]):
        note(f"{file.path.name}: {one}")


def _state(path: Path) -> tuple[int, int, int] | None:
    """What differs after a change, one that replaced the file included."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
