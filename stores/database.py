"""Opening a DuckDB file briefly, concurrently with other processes that do the same.

A DuckDB file has one writing process, and while it writes no other process can open the file.
So nothing here stays open: readers attach read-only for one read, writers open for one
transaction, and both wait for each other up to a timeout.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import duckdb

from stores.errors import InputError
from stores.errors import StoreUnavailable as StoreUnavailable

READ_TIMEOUT = 2.0
"""Seconds that a reader waits for a writer to finish."""
WRITE_TIMEOUT = 5.0
"""Seconds that a writer waits for readers and other writers."""

# Another process holds the file, or this process has it open in the other mode.
_BUSY = (
    "Could not set lock",
    "different configuration",
    "already attached",
    "being attached",
    "file handle conflict",
)
_REFUSED = ("Permission denied", "Read-only", "No space left", "Operation not permitted")
# The caller's values do not fit the tables; the file is intact.
_BAD_VALUES = (duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException)

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "async_threads": 0,
    "temp_directory": "",
}

ROWS_TOGETHER = 2048
"""Rows of a group, the fewest there can be. Every write reads and writes the last group again: with
DuckDB's 122,880 that is all of a person's mails, and memory grows with them."""

_Result = TypeVar("_Result")


def first_line(error: Exception) -> str:
    """A database error in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


@contextmanager
def reading(
    path: Path, name: str, timeout: float = READ_TIMEOUT
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to `path`; one at a time in each thread.

    Raises:
        StoreUnavailable: The file is missing, damaged, or locked for longer than `timeout`.
    """
    _must_exist(path, name)
    connection = _reader.connection()
    try:
        _retrying(
            lambda: connection.execute(f"{_attaching(path)} (READ_ONLY)"),
            name,
            timeout,
            refused="not readable",
        )
        connection.execute("USE store")
        yield connection
    except duckdb.Error as error:
        raise StoreUnavailable(name, f"damaged ({first_line(error)})") from error
    finally:
        _reader.detach()


@contextmanager
def writing(
    path: Path, name: str, timeout: float = WRITE_TIMEOUT, *, create: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection inside one transaction: committed at the end, rolled back on any error.

    One at a time in each thread; the thread may read at the same time.

    Args:
        path: The file.
        name: Name of the store in messages.
        timeout: Seconds to wait while others have the file open.
        create: Make the file when it does not exist.

    Raises:
        StoreUnavailable: The file is missing, damaged, cannot be written, or stays locked.
        ValueError: A value does not fit its column.
        RuntimeError: The thread is writing already.
    """
    if _writer.attached:
        raise RuntimeError(f"{name}: this thread is writing another store; end that first")
    if not create:
        _must_exist(path, name)
    connection = _writer.connection()
    _writer.attached = True
    try:
        _retrying(
            lambda: connection.execute(f"{_attaching(path)} (ROW_GROUP_SIZE {ROWS_TOGETHER})"),
            name,
            timeout,
            refused="not writable",
        )
        connection.execute("USE store")
        connection.begin()
        try:
            yield connection
            connection.commit()
        except BaseException:
            _roll_back(connection)
            _writer.close()
            raise
    except _BAD_VALUES as error:
        raise InputError(f"{name}: {first_line(error)}") from error
    except duckdb.Error as error:
        raise StoreUnavailable(name, f"not writable ({first_line(error)})") from error
    finally:
        _writer.detach()


def _attaching(path: Path) -> str:
    quoted = str(path).replace("'", "''")
    return f"ATTACH '{quoted}' AS store"


class _Instance(threading.local):
    """A thread's own DuckDB instance: creating one costs several times as much as a write.

    It has no threads of its own, which a forked process would wait for, and keeps nothing outside
    the files.
    """

    def __init__(self) -> None:
        self.attached = False
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._process = 0

    def connection(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None or self._process != os.getpid():
            self._connection = duckdb.connect(config=_SETTINGS)
            self._process = os.getpid()
        return self._connection

    def detach(self) -> None:
        """Release the file, whatever state the instance is in and even when interrupted."""
        self.attached = False
        if self._connection is None:
            return
        try:
            self._connection.execute("USE memory")
            self._connection.execute("DETACH DATABASE IF EXISTS store")
        except duckdb.Error:
            self.close()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the instance and all that is attached; the next use opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_reader, _writer = _Instance(), _Instance()


def _must_exist(path: Path, name: str) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        raise StoreUnavailable(name, "missing") from None
    except OSError as error:
        raise StoreUnavailable(name, f"not readable ({error.strerror})") from error


def _retrying(attempt: Callable[[], _Result], name: str, timeout: float, refused: str) -> _Result:
    deadline = time.monotonic() + timeout
    pause = 0.002
    while True:
        try:
            return attempt()
        except duckdb.Error as error:
            message = str(error)
            if not any(part in message for part in _BUSY):
                kind = refused if any(part in message for part in _REFUSED) else "damaged"
                raise StoreUnavailable(name, f"{kind} ({first_line(error)})") from error
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    name, f"locked: others have it open for more than {timeout:g} s"
                ) from error
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    with suppress(duckdb.Error):  # gone already, for instance when the disk is full
        connection.rollback()
