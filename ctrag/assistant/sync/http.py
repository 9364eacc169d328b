"""Requests to a source over HTTP, with limits on time and size."""

import time
from urllib.parse import urlsplit

import httpx

from ctrag.assistant.sync.source import SourceUnavailable

LONGEST = 120.0
"""Seconds that one answer may take."""
LARGEST = 64 * 2**20
"""Bytes of one answer."""
_HERE = ("localhost", "127.0.0.1", "::1")


def client(user: str | None = None, password: str | None = None) -> httpx.Client:
    """A client; credentials are sent to the host of the address only."""
    auth = httpx.BasicAuth(user, password or "") if user else None
    return httpx.Client(auth=auth, timeout=30.0, follow_redirects=True, max_redirects=5)


def checked(address: str, *, secret: bool) -> str:
    """The address as https where it was webcal.

    Raises:
        SourceUnavailable: It is no address on the web, or would send a password unencrypted.
    """
    url = address
    if url.lower().startswith(("webcal://", "webcals://")):
        url = "https://" + url.split("://", 1)[1]
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SourceUnavailable(f"url: must begin with https:// or webcal://, not {shown(address)}")
    if secret and parts.scheme == "http" and parts.hostname not in _HERE:
        raise SourceUnavailable(f"url: a password goes over https only, not to {shown(address)}")
    return url


def shown(address: str) -> str:
    """An address for messages: host alone, as paths and queries may hold secrets."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}/…" if parts.scheme else repr(address[:40])


def request(
    http: httpx.Client,
    method: str,
    url: str,
    *,
    content: str | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes, httpx.Headers, str]:
    """Status, body, headers and final address.

    Raises:
        SourceUnavailable: No answer in time, one that is too large, or an error status.
    """
    began = time.monotonic()
    try:
        with http.stream(
            method, url, content=content.encode() if content else None, headers=headers
        ) as answer:
            body = bytearray()
            for part in answer.iter_bytes():
                body += part
                if len(body) > LARGEST:
                    raise SourceUnavailable(f"{shown(url)} sent more than {LARGEST >> 20} MiB")
                if time.monotonic() - began > LONGEST:
                    raise SourceUnavailable(f"{shown(url)} took more than {LONGEST:g} s")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceUnavailable(f"{shown(url)} does not answer: {type(error).__name__}") from None
    if answer.status_code in (401, 403):
        raise SourceUnavailable(f"{shown(url)} refuses user and password ({answer.status_code})")
    if answer.status_code >= 400:
        raise SourceUnavailable(f"{shown(url)} answers {answer.status_code}")
    return answer.status_code, bytes(body), answer.headers, str(answer.url)
