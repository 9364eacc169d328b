"""Connections of clients that say nothing, or say it byte by byte, are closed."""

import asyncio
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds between two looks at a connection."""
SLOWEST = 100
"""Bytes a second of a request's body at least."""


class PatientProtocol(H11Protocol):
    """Closes a connection whose request does not become whole: uvicorn itself waits for ever, so
    that some thousand connections without a token would take all of a server's files."""

    _look: asyncio.TimerHandle | None = None
    _received = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self._look = self.loop.call_later(PATIENCE, self._looked, None, True)

    def connection_lost(self, exc: Exception | None) -> None:
        """End looking."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._received += len(data)
        super().data_received(data)

    def _looked(self, before: Any, waited: bool) -> None:
        waits = self.cycle is None or bool(self.cycle.response_complete)
        body = not waits and self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        slow = body and self._received < SLOWEST * PATIENCE
        if before is self.cycle and waited and (waits or slow):
            self.transport.close()
            return
        self._received = 0
        self._look = self.loop.call_later(PATIENCE, self._looked, self.cycle, waits or body)


def patient(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """How an application is served at an address, until its open requests have had 3 s to end."""
    return uvicorn.Config(
        app,
        host,
        port,
        http=PatientProtocol,
        log_level="warning",
        timeout_graceful_shutdown=3,
        lifespan="on",
    )
