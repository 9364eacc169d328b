"""Slow clients of a server."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs the extra mcp or web")

import uvicorn

from ctrag.serving.patience import PatientProtocol

HEADERS = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 8\r\n"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
        if part["type"] == "http.disconnect":
            return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr("ctrag.serving.patience.PATIENCE", 0.2)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(echo, http=PatientProtocol, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.005)
        yield int(listening.getsockname()[1])
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    "said", [b"", HEADERS, HEADERS + b"\r\nfour"], ids=["nothing", "half a head", "half a body"]
)
def test_a_request_that_does_not_become_whole_is_not_waited_for(port: int, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(said)
        assert client.recv(100) == b""


def test_a_request_in_two_halves_is_answered(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(HEADERS + b"\r\nfour")
        time.sleep(0.02)
        client.sendall(b"more")
        assert client.recv(4000).startswith(b"HTTP/1.1 200 OK")
