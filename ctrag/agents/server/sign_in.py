"""Servers that want a person to sign in (OAuth 2.1's authorisation code): once, with
`ctrag serve login`; what the tokens' file holds is used, and renewed, from then on."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from anyio.abc import SocketStream
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ConfigDict, ValidationError

from ctrag.agents.server.config import ServerSpec, SignInSpec
from ctrag.errors import InputError
from ctrag.version import __version__
from stores.files import write_text

Redirect = Callable[[str], Awaitable[None]]
Callback = Callable[[], Awaitable[AuthorizationCodeResult]]
PERSON = 300.0
"""Seconds that `login` waits for the person."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "ctrag", "version": __version__},
    },
}
_DONE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"You may close this page and go back to ctrag.\n"
)


class _Kept(BaseModel):
    """What the file of tokens holds."""

    model_config = ConfigDict(extra="forbid")
    url: str
    """The server that the tokens are for; they are sent to no other."""
    tokens: OAuthToken | None = None
    until: float | None = None
    """When the access token ends, in seconds of the epoch."""
    client: OAuthClientInformationFull | None = None
    authorisation: OAuthMetadata | None = None
    """The authorisation server, where tokens are renewed."""


class _File:
    """Tokens in a file that only its owner may read."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self.kept = self._read(url)

    def _read(self, url: str) -> _Kept:
        try:
            kept = _Kept.model_validate_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _Kept(url=url)
        except (ValidationError, UnicodeDecodeError):
            raise InputError(
                f"{self._path}: holds no tokens of `ctrag serve login`; name another file"
            ) from None
        return kept if kept.url == url else _Kept(url=url)

    async def get_tokens(self) -> OAuthToken | None:
        return self.kept.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.kept.tokens = tokens
        ends = tokens.expires_in
        self.kept.until = None if ends is None else time.time() + ends
        self._write()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.kept.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.kept.client = client_info
        self._write()

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, self.kept.model_dump_json(exclude_none=True), private=True)


class _SignedIn(OAuthClientProvider):
    """Knows after a restart when its token ends and who renews it, which the library forgets."""

    def __init__(
        self,
        url: str,
        metadata: OAuthClientMetadata,
        file: _File,
        redirect: Redirect,
        callback: Callback,
    ) -> None:
        super().__init__(url, metadata, file, redirect, callback)
        self._file = file

    async def _initialize(self) -> None:
        await super()._initialize()
        self.context.token_expiry_time = self._file.kept.until
        self.context.oauth_metadata = self._file.kept.authorisation

    @property
    def known(self) -> bool:
        """Whether somebody has signed in."""
        return self._file.kept.tokens is not None

    def remember(self) -> None:
        """Keep who has given the tokens."""
        self._file.kept.authorisation = self.context.oauth_metadata
        self._file._write()


def signed_in(spec: ServerSpec, name: str = "") -> httpx2.Auth | None:
    """Authentication with the kept tokens; None where the server wants none.

    Raises:
        ValueError: Nobody has signed in yet.
    """
    if spec.sign_in is None:
        return None
    which = f" {name}" if name else ""
    lacking = InputError(f"a person has to sign in: ctrag serve login --upstream FILE{which}")

    async def again(url: str) -> None:
        raise lacking

    async def never() -> AuthorizationCodeResult:
        raise lacking

    provider = _provider(spec.url, spec.sign_in, again, never)
    if not provider.known:
        raise lacking
    return provider


def _provider(url: str, wanted: SignInSpec, redirect: Redirect, callback: Callback) -> _SignedIn:
    file = _File(wanted.tokens, url)
    back = AnyUrl(f"http://127.0.0.1:{wanted.port}/callback")
    if wanted.client_id and file.kept.client is None:
        file.kept.client = OAuthClientInformationFull(
            client_id=wanted.client_id,
            client_secret=wanted.client_secret,
            redirect_uris=[back],
            scope=wanted.scope,
        )
    metadata = OAuthClientMetadata(
        client_name="ctrag",
        redirect_uris=[back],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=wanted.scope,
    )
    return _SignedIn(url, metadata, file, redirect, callback)


async def login(spec: ServerSpec, show: Callable[[str], None], wait: float = PERSON) -> Path:
    """Have a person sign in to a server; returns the file that holds the tokens now.

    Args:
        spec: The server, with `sign_in`.
        show: Is given the address that the person has to open.
        wait: Seconds until it is given up.

    Raises:
        ValueError: The server wants no such sign-in, or none came about in time.
    """
    spec = spec.resolved()
    if spec.sign_in is None or not spec.url:
        raise InputError("sign_in: the server's entry needs a url and sign_in with tokens, a file")
    send, receive = anyio.create_memory_object_stream[AuthorizationCodeResult](1)

    async def answered(stream: SocketStream) -> None:
        async with stream:
            result = _result(await stream.receive(8_192))
            if result is None:
                await stream.send(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n")
                return
            await stream.send(_DONE)
            await send.send(result)

    async def redirect(url: str) -> None:
        show(url)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=spec.sign_in.port)
    provider = _provider(spec.url, spec.sign_in, redirect, receive.receive)
    try:
        with anyio.fail_after(wait):
            async with listener, anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, answered)
                await _hello(spec, provider)
                tasks.cancel_scope.cancel()
    except TimeoutError:
        raise InputError(f"nobody signed in within {wait:g} s; try again") from None
    finally:
        send.close()
        receive.close()
    provider.remember()
    return spec.sign_in.tokens


async def _hello(spec: ServerSpec, provider: httpx2.Auth) -> None:
    """A first request, which the server answers only to who is signed in."""
    accept = {"Accept": "application/json, text/event-stream", **spec.headers}
    async with (
        httpx2.AsyncClient(auth=provider, headers=accept, timeout=None) as client,
        client.stream("POST", spec.url, json=_HELLO) as answer,
    ):
        if answer.status_code in (401, 403):
            raise InputError(f"{spec.url}: refuses who has signed in ({answer.status_code})")


def _result(request: bytes) -> AuthorizationCodeResult | None:
    """What the browser brings back; None for any other request."""
    target = request.split(b"\r\n", 1)[0].split(b" ")
    if len(target) != 3 or target[0] != b"GET":
        return None
    parts = urlsplit(target[1].decode("ascii", "replace"))
    given = {key: values[0] for key, values in parse_qs(parts.query).items()}
    if parts.path != "/callback" or "state" not in given:
        return None
    return AuthorizationCodeResult(
        code=given.get("code", ""), state=given["state"], iss=given.get("iss")
    )
