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
MOST_COLLECTIONS = 200
"""Of one account; each is a request."""
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
        with http.Server(url, self.user, self.password) as server:
            before, after = meta.get("collections", {}), {}
            for collection, token in self._collections(server, url):
                key = key_of(self.name, httpx.URL(collection).path)
                known = before.get(key)
                # A collection with the token of the last time (RFC 6578) has nothing new; what
                # could not be read then is not among the tags, and is asked for again.
                if known and token and known["token"] == token and tags.keys() >= {*known["keys"]}:
                    keys = set(known["keys"])
                else:
                    keys = self._collect(server, collection, tags, found)
                found.keys |= keys
                after[key] = {"token": token, "keys": sorted(keys)}
        found.meta = {"collections": after}
        return found

    def _collections(self, server: http.Server, url: str) -> list[tuple[str, str]]:
        """Addresses of the collections, found as RFC 6764 says, each with its token if it has
        one."""
        home, kind, _, _ = _WORDS[self.kind]
        space = _SPACES[self.kind]
        wanted = f'{_KIND}<d:current-user-principal/><x:{home} xmlns:x="{space}"/>'
        [own, *_] = [*_propfind(server, url, wanted, 0)] or [(url, ElementTree.Element("none"))]
        if own[1].find(f".//{_DAV}resourcetype/{{{space}}}{kind}") is not None:
            return [(own[0], _token(own[1]))]
        homes = _hrefs(server, own[1], f".//{{{space}}}{home}/{_DAV}href", own[0])
        for principal in _hrefs(
            server, own[1], f".//{_DAV}current-user-principal/{_DAV}href", own[0]
        ):
            for where, props in _propfind(server, principal, wanted, 0) if not homes else ():
                homes += _hrefs(server, props, f".//{{{space}}}{home}/{_DAV}href", where)
        found = [
            (where, _token(props))
            for one in homes or [own[0]]
            for where, props in _propfind(server, one, _KIND, 1)
            if props.find(f".//{_DAV}resourcetype/{{{space}}}{kind}") is not None
        ]
        if not found:
            raise SourceUnavailable(f"{self.name}: {http.shown(url)} has no {kind}")
        if len(set(found)) > MOST_COLLECTIONS:
            raise SourceUnavailable(
                f"{self.name}: {http.shown(url)} has {len(set(found)):,} of {kind}; at most "
                f"{MOST_COLLECTIONS} are read"
            )
        return sorted(set(found))

    def _collect(
        self, server: http.Server, collection: str, tags: Mapping[str, str], found: Fetched
    ) -> set[str]:
        """The keys of what a collection has; what is new of it is added to `found`."""
        keys: set[str] = set()
        changed: dict[str, tuple[str, str]] = {}
        for where, props in _propfind(server, collection, "<d:getetag/><d:resourcetype/>", 1):
            tag = props.findtext(f".//{_DAV}getetag") or ""
            if where.rstrip("/") == collection.rstrip("/") or not tag:
                continue
            key = key_of(self.name, httpx.URL(where).path)
            keys.add(key)
            if tags.get(key) != tag:
                changed[where] = (key, tag)
        places = list(changed)
        for start in range(0, len(places), _AT_ONCE):
            for where, data in self._objects(server, collection, places[start : start + _AT_ONCE]):
                if where in changed:
                    key, tag = changed[where]
                    found.parts.append(Part(key, tag, self.kind, data))
        return keys

    def _objects(
        self, server: http.Server, collection: str, places: Sequence[str]
    ) -> Iterator[tuple[str, bytes]]:
        _, _, report, data = _WORDS[self.kind]
        space = _SPACES[self.kind]
        listed = "".join(f"<d:href>{_escaped(httpx.URL(one).raw_path)}</d:href>" for one in places)
        body = (
            f'<x:{report} xmlns:d="DAV:" xmlns:x="{space}">'
            f"<d:prop><d:getetag/><x:{data}/></d:prop>{listed}</x:{report}>"
        )
        for where, props in _answers(server, "REPORT", collection, body, 1):
            text = props.findtext(f".//{{{space}}}{data}")
            if text:
                yield where, text.encode()


def _token(props: ElementTree.Element) -> str:
    """What changes with every change in a collection; empty where the server has none."""
    found = props.findtext(f".//{_DAV}sync-token") or props.findtext(f".//{{{_TAG}}}getctag")
    return (found or "").strip()


def _propfind(
    server: http.Server, url: str, wanted: str, depth: int
) -> Iterator[tuple[str, ElementTree.Element]]:
    body = f'<d:propfind xmlns:d="DAV:"><d:prop>{wanted}</d:prop></d:propfind>'
    yield from _answers(server, "PROPFIND", url, body, depth)


def _answers(
    server: http.Server, method: str, url: str, body: str, depth: int
) -> Iterator[tuple[str, ElementTree.Element]]:
    """(address, properties) of each response."""
    headers = {"Depth": str(depth), "Content-Type": "application/xml; charset=utf-8"}
    answer = server.request(method, url, content=body, headers=headers)
    host = httpx.URL(answer.url).host
    for where, one in responses(answer):
        # Objects of another host are none of this collection.
        if where.host == host and server.is_own(where):
            yield str(where), one


def responses(answer: http.Answer) -> Iterator[tuple[httpx.URL, ElementTree.Element]]:
    """(address, properties) of each response in an answer; those without an address left out.

    Raises:
        SourceUnavailable: It is no XML, or has a document type: what that defines can become any
            size.
    """
    parser = ElementTree.XMLParser(target=_NoTypes())
    try:
        parser.feed(answer.body)
        tree = parser.close()
    except _DocumentTypeError:
        raise SourceUnavailable(f"{http.shown(answer.url)} sent XML with a document type") from None
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise SourceUnavailable(
            f"{http.shown(answer.url)} sent no WebDAV answer: {error}"
        ) from None
    for one in tree.findall(f"{_DAV}response"):
        where = _joined(answer.url, one.findtext(f"{_DAV}href") or "")
        if where is not None:
            yield where, one


class _DocumentTypeError(Exception):
    """XML has a document type."""


class _NoTypes(ElementTree.TreeBuilder):
    def doctype(self, *_: object) -> None:
        raise _DocumentTypeError


def _joined(base: str, href: str) -> httpx.URL | None:
    """The address that is meant; None where it is none."""
    try:
        return httpx.URL(urljoin(base, href.strip()))
    except (ValueError, httpx.InvalidURL):
        return None


def _hrefs(server: http.Server, props: ElementTree.Element, path: str, base: str) -> list[str]:
    """The addresses at a path, as far as the password may go there."""
    found = [_joined(base, one.text) for one in props.findall(path) if one.text]
    allowed = [str(one) for one in found if one is not None and server.is_own(one)]
    return allowed[:MOST_COLLECTIONS]


def _escaped(path: bytes) -> str:
    return path.decode().replace("&", "&amp;").replace("<", "&lt;")
