"""Requests to a source over HTTP, with limits on time, on size and on where they may be sent.

What a server answers with (redirects, addresses in WebDAV) is its word only: it gets no password
sent to another site or unencrypted, and leads into no network that its own address is not in.
"""

import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from ctrag.assistant.sync.places import is_inside, same_site
from ctrag.assistant.sync.source import SourceUnavailable

LONGEST = 120.0
"""Seconds that one answer may take, with all addresses that it leads to."""
LARGEST = 64 * 2**20
"""Bytes of one answer."""
MOST_REDIRECTS = 5
_BLOCK = 1 << 20
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent."""

    status: int
    body: bytes
    headers: httpx.Headers
    url: str
    """Where it came from in the end."""


class Server:
    """The server at an address, and what it may lead to.

    Args:
        url: The address, as `checked` gives it.
        user: Whom to log in as; nobody when None.
        password: The user's.
    """

    def __init__(self, url: str, user: str | None = None, password: str | None = None) -> None:
        self._home = httpx.URL(url)
        self._auth = httpx.BasicAuth(user, password or "") if user else None
        # Of several encodings one inside the other, a small answer could become any size.
        self._http = httpx.Client(timeout=30.0, headers={"Accept-Encoding": "gzip"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def is_own(self, url: httpx.URL) -> bool:
        """Whether an address is of this site, and as safe as the one that was given."""
        if url.scheme != "https" and (url.scheme, url.netloc) != ("http", self._home.netloc):
            return False
        if url.scheme != self._home.scheme and self._home.scheme == "https":
            return False
        return same_site(url.host, self._home.host)

    def request(
        self,
        method: str,
        url: str,
        *,
        content: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """The answer to a request, after redirects.

        Raises:
            SourceUnavailable: No answer in time, one that is too large, an error status, or a
                redirect that is not followed.
        """
        where = shown(url)

        def asked() -> Answer:
            body = None if content is None else content.encode()
            request = self._http.build_request(method, url, content=body, headers=headers)
            for _ in range(MOST_REDIRECTS + 1):
                answer, following = self._answered(request, where)
                if following is None:
                    return answer
                self._check(request.url, following.url, where)
                request = following
            raise SourceUnavailable(f"{where} leads on and on")

        try:
            return _in_time(asked, where)
        except httpx.HTTPError as error:
            raise SourceUnavailable(f"{where} does not answer: {type(error).__name__}") from None
        except (httpx.InvalidURL, UnicodeError, ValueError):
            raise SourceUnavailable(f"{where}: is no address, or leads to none") from None

    def _answered(self, request: httpx.Request, where: str) -> tuple[Answer, httpx.Request | None]:
        auth = self._auth if self.is_own(request.url) else None
        sent = self._http.send(request, stream=True, auth=auth, follow_redirects=False)
        try:
            if sent.next_request is not None:
                return Answer(sent.status_code, b"", sent.headers, str(sent.url)), sent.next_request
            body = b"".join(_bounded(_unpacked(sent, where), where))
        finally:
            sent.close()
        if sent.status_code in (401, 403):
            raise SourceUnavailable(f"{where} refuses user and password ({sent.status_code})")
        if not 200 <= sent.status_code < 300 and sent.status_code != 304:
            raise SourceUnavailable(f"{where} answers {sent.status_code}")
        return Answer(sent.status_code, body, sent.headers, str(sent.url)), None

    def _check(self, source: httpx.URL, target: httpx.URL, where: str) -> None:
        """Refuse a redirect that nobody would have written down."""
        if target.scheme not in ("http", "https") or not target.host:
            raise SourceUnavailable(f"{where} leads to {target.scheme}:, which is not the web")
        if source.scheme == "https" and target.scheme == "http":
            raise SourceUnavailable(f"{where} leads from https to http")
        if target.host == self._home.host or not is_inside(target.host):
            return
        if not is_inside(self._home.host):
            raise SourceUnavailable(f"{where} leads into this machine's own network")


def checked(address: str, *, secret: bool) -> str:
    """The address as https where it was webcal.

    Raises:
        SourceUnavailable: It is no address on the web, or would send a password unencrypted.
    """
    url = address
    if url.lower().startswith(("webcal://", "webcals://")):
        url = "https://" + url.split("://", 1)[1]
    try:
        parts = urlsplit(url)
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise SourceUnavailable(f"url: {shown(address)} is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SourceUnavailable(f"url: must begin with https:// or webcal://, not {shown(address)}")
    secret = secret or parts.username is not None
    if secret and parts.scheme == "http" and parts.hostname not in _HERE:
        raise SourceUnavailable(f"url: a password goes over https only, not to {shown(address)}")
    return url


def shown(address: str) -> str:
    """An address for messages: host alone, as paths and queries may hold secrets."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "what was given"
    return f"{parts.scheme}://{parts.hostname or ''}/…" if parts.scheme else repr(address[:40])


def _in_time(work: Callable[[], Answer], where: str) -> Answer:
    """The answer; a server that sends a byte now and then is not waited for."""
    found: list[Answer] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised where it is waited for
            failed.append(error)

    thread = threading.Thread(target=run, name="request", daemon=True)
    thread.start()
    thread.join(LONGEST)
    if failed:
        raise failed[0]
    if not found:
        raise SourceUnavailable(f"{where} took more than {LONGEST:g} s")
    return found[0]


def _unpacked(sent: httpx.Response, where: str) -> Iterator[bytes]:
    """The body in blocks of a bounded size, whatever it was packed to."""
    packing = sent.headers.get("content-encoding", "").strip().lower()
    if packing in ("", "identity"):
        yield from sent.iter_raw()
        return
    if packing not in ("gzip", "x-gzip"):
        raise SourceUnavailable(f"{where} sent it packed as {packing[:40]!r}, not as asked")
    unpack, whole = zlib.decompressobj(31), True
    try:
        for part in sent.iter_raw():
            while part:
                yield unpack.decompress(part, _BLOCK)
                part, whole = unpack.unconsumed_tail, unpack.eof
                if whole:
                    part, unpack = unpack.unused_data, zlib.decompressobj(31)
    except zlib.error:
        whole = False
    if not whole:
        raise SourceUnavailable(f"{where} sent damaged or incomplete data")


def _bounded(parts: Iterable[bytes], where: str) -> Iterator[bytes]:
    size, ends = 0, time.monotonic() + LONGEST
    for part in parts:
        size += len(part)
        if size > LARGEST:
            raise SourceUnavailable(f"{where} sent more than {LARGEST >> 20} MiB")
        if time.monotonic() > ends:
            raise SourceUnavailable(f"{where} took more than {LONGEST:g} s")
        yield part
