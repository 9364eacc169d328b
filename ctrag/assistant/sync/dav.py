"""Calendars (CalDAV, RFC 4791) and address books (CardDAV, RFC 6352), read only.

PROPFIND and REPORT over httpx: the `caldav` package would bring `urllib3-future`, which replaces
`urllib3` for everybody in the environment.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urljoin
from xml.etree import ElementTree

import httpx

from ctrag.assistant.sync import http
from ctrag.assistant.sync.source import Fetched, Part, SourceUnavailable, key_of

_DAV = "{DAV:}"
_TAG = "http://calendarserver.org/ns/"
_KIND = f'<d:resourcetype/><d:sync-token/><t:getctag xmlns:t="{_TAG}"/>'
_AT_ONCE = 50
"""Objects of one REPORT."""
_SPACES = {
    "calendar": "urn:ietf:params:xml:ns:caldav",
    "contacts": "urn:ietf:params:xml:ns:carddav",
}
_WORDS = {
    "calendar": ("calendar-home-set", "calendar", "calendar-multiget", "calendar-data"),
    "contacts": ("addressbook-home-set", "addressbook", "addressbook-multiget", "address-data"),
}


@dataclass(frozen=True, slots=True)
class Dav:
    """All calendars, or all address books, of an account; or the one at the address."""

    name: str
    kind: Literal["calendar", "contacts"]
    url: str
    user: str
    password: str

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        """See `Source.fetch`."""
        url = http.checked(self.url, secret=True)
        found = Fetched()
        with http.client(self.user, self.password) as client:
            before, after = meta.get("collections", {}), {}
            for collection, token in self._collections(client, url):
                key = key_of(self.name, httpx.URL(collection).path)
                known = before.get(key)
                # A collection with the token of the last time (RFC 6578) has nothing new; what
                # could not be read then is not among the tags, and is asked for again.
                if known and token and known["token"] == token and tags.keys() >= {*known["keys"]}:
                    keys = set(known["keys"])
                else:
                    keys = self._collect(client, collection, tags, found)
                found.keys |= keys
                after[key] = {"token": token, "keys": sorted(keys)}
        found.meta = {"collections": after}
        return found

    def _collections(self, client: httpx.Client, url: str) -> list[tuple[str, str]]:
        """Addresses of the collections, found as RFC 6764 says, each with its token if it has
        one."""
        home, kind, _, _ = _WORDS[self.kind]
        space = _SPACES[self.kind]
        wanted = f'{_KIND}<d:current-user-principal/><x:{home} xmlns:x="{space}"/>'
        [own, *_] = [*_propfind(client, url, wanted, 0)] or [(url, ElementTree.Element("none"))]
        if own[1].find(f".//{_DAV}resourcetype/{{{space}}}{kind}") is not None:
            return [(own[0], _token(own[1]))]
        homes = _hrefs(own[1], f".//{{{space}}}{home}/{_DAV}href", own[0])
        for principal in _hrefs(own[1], f".//{_DAV}current-user-principal/{_DAV}href", own[0]):
            for where, props in _propfind(client, principal, wanted, 0) if not homes else ():
                homes += _hrefs(props, f".//{{{space}}}{home}/{_DAV}href", where)
        found = [
            (where, _token(props))
            for one in homes or [own[0]]
            for where, props in _propfind(client, one, _KIND, 1)
            if props.find(f".//{_DAV}resourcetype/{{{space}}}{kind}") is not None
        ]
        if not found:
            raise SourceUnavailable(f"{self.name}: {http.shown(url)} has no {kind}")
        return sorted(set(found))

    def _collect(
        self, client: httpx.Client, collection: str, tags: Mapping[str, str], found: Fetched
    ) -> set[str]:
        """The keys of what a collection has; what is new of it is added to `found`."""
        keys: set[str] = set()
        changed: dict[str, tuple[str, str]] = {}
        for where, props in _propfind(client, collection, "<d:getetag/><d:resourcetype/>", 1):
            tag = props.findtext(f".//{_DAV}getetag") or ""
            if where.rstrip("/") == collection.rstrip("/") or not tag:
                continue
            key = key_of(self.name, httpx.URL(where).path)
            keys.add(key)
            if tags.get(key) != tag:
                changed[where] = (key, tag)
        places = list(changed)
        for start in range(0, len(places), _AT_ONCE):
            for where, data in self._objects(client, collection, places[start : start + _AT_ONCE]):
                if where in changed:
                    key, tag = changed[where]
                    found.parts.append(Part(key, tag, self.kind, data))
        return keys

    def _objects(
        self, client: httpx.Client, collection: str, places: Sequence[str]
    ) -> Iterator[tuple[str, bytes]]:
        _, _, report, data = _WORDS[self.kind]
        space = _SPACES[self.kind]
        listed = "".join(f"<d:href>{_escaped(httpx.URL(one).raw_path)}</d:href>" for one in places)
        body = (
            f'<x:{report} xmlns:d="DAV:" xmlns:x="{space}">'
            f"<d:prop><d:getetag/><x:{data}/></d:prop>{listed}</x:{report}>"
        )
        for where, props in _answers(client, "REPORT", collection, body, 1):
            text = props.findtext(f".//{{{space}}}{data}")
            if text:
                yield where, text.encode()


def _token(props: ElementTree.Element) -> str:
    """What changes with every change in a collection; empty where the server has none."""
    found = props.findtext(f".//{_DAV}sync-token") or props.findtext(f".//{{{_TAG}}}getctag")
    return (found or "").strip()


def _propfind(
    client: httpx.Client, url: str, wanted: str, depth: int
) -> Iterator[tuple[str, ElementTree.Element]]:
    body = f'<d:propfind xmlns:d="DAV:"><d:prop>{wanted}</d:prop></d:propfind>'
    yield from _answers(client, "PROPFIND", url, body, depth)


def _answers(
    client: httpx.Client, method: str, url: str, body: str, depth: int
) -> Iterator[tuple[str, ElementTree.Element]]:
    """(address, properties) of each response."""
    headers = {"Depth": str(depth), "Content-Type": "application/xml; charset=utf-8"}
    _, answer, _, final = http.request(client, method, url, content=body, headers=headers)
    if b"<!DOCTYPE" in answer or b"<!ENTITY" in answer:
        raise SourceUnavailable(f"{http.shown(url)} sent XML with a document type")
    try:
        tree = ElementTree.fromstring(answer)
    except ElementTree.ParseError as error:
        raise SourceUnavailable(f"{http.shown(url)} sent no WebDAV answer: {error}") from None
    for one in tree.iter(f"{_DAV}response"):
        href = one.findtext(f"{_DAV}href") or ""
        where = urljoin(final, href)
        if httpx.URL(where).host != httpx.URL(final).host:
            continue  # credentials stay with the host
        yield where, one


def _hrefs(props: ElementTree.Element, path: str, base: str) -> list[str]:
    return [urljoin(base, one.text.strip()) for one in props.findall(path) if one.text]


def _escaped(path: bytes) -> str:
    return path.decode().replace("&", "&amp;").replace("<", "&lt;")
