"""A calendar by its address, as calendars are subscribed to."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ctrag.assistant.sync import http
from ctrag.assistant.sync.source import Fetched, Part, SourceUnavailable, is_whole, key_of


@dataclass(frozen=True, slots=True)
class Address:
    """One calendar file on the web, read whole whenever it changed."""

    url: str
    """`https://` or `webcal://`."""
    user: str | None = None
    password: str | None = None

    @property
    def name(self) -> str:
        """The source's name: the address, hashed, as it may be secret."""
        return f"url-{key_of(self.url)}"

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        """See `Source.fetch`."""
        url = http.checked(self.url, secret=self.password is not None)
        headers = {"Accept": "text/calendar, */*;q=0.1"}
        if tags:
            known = {"etag": "If-None-Match", "modified": "If-Modified-Since"}
            headers |= {known[name]: meta[name] for name in known if meta.get(name)}
        with http.Server(url, self.user, self.password) as server:
            answer = server.request("GET", url, headers=headers)
        if answer.status == 304:
            return Fetched(unchanged=True)
        body = answer.body
        if b"BEGIN:VCALENDAR" not in body.replace(b"\0", b"").upper():
            raise SourceUnavailable(f"{http.shown(url)}: what it sent is no calendar")
        if not is_whole("calendar", body):
            raise SourceUnavailable(
                f"{http.shown(url)}: what it sent does not end as a calendar does; nothing was "
                "changed"
            )
        tag = sha256(body).hexdigest()[:20]
        told = {"etag": "etag", "modified": "last-modified"}
        found = {name: _sendable(answer.headers.get(header, "")) for name, header in told.items()}
        if tags.get("whole") == tag:
            return Fetched(unchanged=True)
        return Fetched([Part("whole", tag, "calendar", body)], {"whole"}, found)


def _sendable(header: str) -> str:
    """A header that can be sent back as it came; empty where it could not be."""
    return header if header.isascii() and header.isprintable() and len(header) <= 500 else ""
