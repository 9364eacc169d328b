"""A calendar by its address, as calendars are subscribed to."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ctrag.assistant.sync import http
from ctrag.assistant.sync.source import Fetched, Part, SourceUnavailable, key_of


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
        with http.client(self.user, self.password) as client:
            status, body, told, _ = http.request(client, "GET", url, headers=headers)
        if status == 304:
            return Fetched(unchanged=True)
        if b"BEGIN:VCALENDAR" not in body.replace(b"\0", b"").upper():
            raise SourceUnavailable(f"{http.shown(url)}: what it sent is no calendar")
        tag = sha256(body).hexdigest()[:20]
        found = {"etag": told.get("etag", ""), "modified": told.get("last-modified", "")}
        if tags.get("whole") == tag:
            return Fetched(unchanged=True)
        return Fetched([Part("whole", tag, "calendar", body)], {"whole"}, found)
