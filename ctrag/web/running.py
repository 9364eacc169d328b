"""Serving pages until stopped."""

import logging
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from ctrag.errors import InputError
from ctrag.serving.patience import PatientProtocol
from ctrag.web.guard import LOOPBACK


def free_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 takes any that is free.

    Raises:
        ValueError: The port is taken, or the host is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise InputError(
            f"--port: cannot serve at {host}, port {port} ({error}); --port names another one, 0 "
            "any that is free"
        ) from None
    return made


def check_host(host: str, allowed: tuple[str, ...]) -> None:
    """Whether serving at a host is safe as it is.

    Raises:
        ValueError: Others can reach it, and no name is given by which they may.
    """
    if host not in LOOPBACK and not allowed:
        raise InputError(
            f"--host: {host} can be reached from outside, where the page is not encrypted; "
            "--allow-host NAME says by which name it may be opened"
        )


def serve(app: ASGIApp, listening: socket.socket, started: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        app: What is served.
        listening: From `free_socket`.
        started: Called once it answers.
    """
    # What is wrong with a form is told to who sent it, not on the terminal.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        log_level="warning",
        timeout_graceful_shutdown=2,
        lifespan="on",
        server_header=False,
    )
    server = _Server(config, started)
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        threading.Thread(target=self._told, daemon=True).start()
