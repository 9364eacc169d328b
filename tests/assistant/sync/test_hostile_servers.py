"""Servers that lead elsewhere, send without end, or send what no server should: one line each."""

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from ctrag.assistant.sync import dav, http
from ctrag.assistant.sync.address import Address
from ctrag.assistant.sync.dav import Dav
from ctrag.assistant.sync.http import Answer, Server
from ctrag.assistant.sync.imap import Imap
from ctrag.assistant.sync.places import is_inside, same_site
from ctrag.assistant.sync.source import SourceUnavailable
from tests.assistant.sync.conftest import calendar, event

CALENDAR = calendar(event("1", "Dentist")).encode()
Said = tuple[int, dict[str, str], bytes]


class Hostile:
    """A web server that says at each path what a test wants, and keeps what it was sent."""

    def __init__(self) -> None:
        self.says: dict[str, Said] = {}
        self.slowly = 0.0
        self.passwords: list[tuple[str, str | None]] = []
        hostile = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hostile.passwords.append((self.path, self.headers.get("Authorization")))
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                status, headers, body = hostile.says.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                if hostile.slowly:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                    for _ in range(20):
                        time.sleep(hostile.slowly)
                        self.wfile.write(b"X-Wait: 1\r\n")
                self.end_headers()
                self.wfile.write(body)

            do_PROPFIND = do_REPORT = do_GET  # noqa: N815  # http.server looks these up

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_port}"

    def fetch(self, *said: Said) -> Address:
        """A calendar whose addresses say this, each leading to the next where it redirects."""
        self.says = {f"/{number}": one for number, one in enumerate(said)}
        return Address(f"{self.root}/0")


@pytest.fixture
def web() -> Iterator[Hostile]:
    made = Hostile()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def to(place: str) -> Said:
    return 302, {"Location": place}, b""


def test_a_redirect_is_followed(web: Hostile) -> None:
    fetched = web.fetch(to("/1"), (200, {}, CALENDAR)).fetch({}, {})
    assert [one.data for one in fetched.parts] == [CALENDAR]


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("file:///etc/passwd", "leads to file:, which is not the web"),
        ("/0", "leads on and on"),
        ("http://[::1", "does not answer: RemoteProtocolError"),
        ("ftp://127.0.0.1/c.ics", "leads to ftp:"),
    ],
)
def test_where_no_calendar_is_nobody_is_led(web: Hostile, place: str, problem: str) -> None:
    with pytest.raises(SourceUnavailable, match=problem):
        web.fetch(to(place)).fetch({}, {})


@pytest.mark.parametrize(
    "inner",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1",
     "192.168.1.1", "2130706433", "0.0.0.0"],
)  # fmt: skip
def test_a_public_server_leads_into_no_private_network(inner: str) -> None:
    server = Server("https://93.184.215.14/c.ics")
    source, target = httpx.URL("https://93.184.215.14/c.ics"), httpx.URL(f"https://{inner}/c.ics")
    with pytest.raises(SourceUnavailable, match="leads into this machine's own network"):
        server._check(source, target, "it")
    assert is_inside(target.host)


def test_a_server_at_home_may_lead_to_another_at_home() -> None:
    source = httpx.URL("http://10.0.0.1/c.ics")
    Server(str(source))._check(source, httpx.URL("http://10.0.0.2/c.ics"), "it")


def test_nothing_is_led_from_https_to_http() -> None:
    source = httpx.URL("https://93.184.215.14/")
    with pytest.raises(SourceUnavailable, match="leads from https to http"):
        Server(str(source))._check(source, httpx.URL("http://93.184.215.14/"), "it")


@pytest.mark.parametrize(
    ("host", "home", "same"),
    [
        ("caldav.icloud.com", "caldav.icloud.com", True),
        ("p34-caldav.icloud.com", "caldav.icloud.com", True),
        ("evil.example", "caldav.icloud.com", False),
        ("evil-icloud.com", "caldav.icloud.com", False),
        ("icloud.com.evil.example", "caldav.icloud.com", False),
        ("evil.co.uk", "mine.co.uk", False),
        ("dav.mine.co.uk", "mine.co.uk", True),
        ("evil.com", "mine.com", False),
        ("127.0.0.2", "127.0.0.1", False),
        ("9.127.0.0.1", "8.127.0.0.1", False),
    ],
)
def test_a_password_stays_with_its_site(host: str, home: str, same: bool) -> None:
    assert same_site(host, home) is same
    server = Server(f"https://{home}/", "me", "pa55")
    assert server.is_own(httpx.URL(f"https://{host}/")) is same
    assert not server.is_own(httpx.URL(f"http://{host}/"))


def multistatus(href: str, props: str) -> bytes:
    return (
        f'<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response>'
        f"<d:href>{href}</d:href><d:propstat><d:prop>{props}</d:prop></d:propstat></d:response>"
        "</d:multistatus>"
    ).encode()


@pytest.mark.parametrize("kind", ["current-user-principal", "calendar-home-set"])
@pytest.mark.parametrize("place", ["http://localhost:{port}/stolen", "http://[", "file:///etc"])
def test_a_calendar_server_names_nobody_else_who_gets_the_password(
    web: Hostile, kind: str, place: str
) -> None:
    named = place.format(port=web.server.server_port)
    space = "d" if kind.startswith("current") else "c"
    props = f"<{space}:{kind}><d:href>{named}</d:href></{space}:{kind}>"
    web.says["/"] = (207, {}, multistatus("/", props))
    with pytest.raises(SourceUnavailable, match="has no calendar"):
        Dav("home", "calendar", f"{web.root}/", "me", "pa55").fetch({}, {})
    assert {path for path, _ in web.passwords} == {"/"}


def test_a_redirect_to_another_host_has_no_password(web: Hostile) -> None:
    other = web.root.replace("127.0.0.1", "localhost")
    web.says = {"/0": to(f"{other}/1"), "/1": (200, {}, CALENDAR)}
    Address(f"{web.root}/0", "me", "pa55").fetch({}, {})
    assert [(path, bool(sent)) for path, sent in web.passwords] == [("/0", True), ("/1", False)]


@pytest.mark.parametrize(
    "url", ["http://me:pa55@cal.example/c.ics", "http://[::1/c", "http://a:x/"]
)
def test_an_address_with_a_password_or_a_slip_is_refused_without_it(url: str) -> None:
    with pytest.raises(SourceUnavailable, match=r"^url: ") as caught:
        Address(url).fetch({}, {})
    assert "pa55" not in str(caught.value)


def test_a_packed_calendar_is_read_and_a_bomb_is_cut_off(web: Hostile) -> None:
    packed = {"Content-Encoding": "gzip"}
    assert web.fetch((200, packed, gzip.compress(CALENDAR))).fetch({}, {}).parts
    bomb = gzip.compress(bytes(http.LARGEST + 1))
    with pytest.raises(SourceUnavailable, match="sent more than 64 MiB"):
        web.fetch((200, packed, bomb)).fetch({}, {})


@pytest.mark.parametrize(
    ("packing", "body", "problem"),
    [
        ("gzip, gzip", gzip.compress(gzip.compress(CALENDAR)), "packed as 'gzip, gzip', not as"),
        ("br", b"x", "packed as 'br', not as asked"),
        ("gzip", CALENDAR, "sent damaged or incomplete data"),
        ("gzip", gzip.compress(CALENDAR)[:-9], "sent damaged or incomplete data"),
        ("", CALENDAR[:-20], "does not end as a calendar does; nothing was changed"),
    ],
)
def test_what_cannot_be_whole_changes_nothing(
    web: Hostile, packing: str, body: bytes, problem: str
) -> None:
    headers = {"Content-Encoding": packing} if packing else {}
    with pytest.raises(SourceUnavailable, match=problem):
        web.fetch((200, headers, body)).fetch({}, {})


def test_a_server_that_sends_a_header_now_and_then_is_not_waited_for(
    web: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LONGEST", 0.3)
    web.slowly = 0.05
    began = time.monotonic()
    with pytest.raises(SourceUnavailable, match=r"took more than 0\.3 s"):
        web.fetch((200, {}, CALENDAR)).fetch({}, {})
    assert time.monotonic() - began < 0.8


def test_a_tag_that_cannot_be_sent_back_is_not_kept(web: Hostile) -> None:
    source = web.fetch((200, {"ETag": '"\xe9"', "Last-Modified": "x" * 9000}, CALENDAR))
    fetched = source.fetch({}, {})
    assert fetched.meta == {"etag": "", "modified": ""}
    assert source.fetch({"whole": "older"}, fetched.meta).parts


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<!DOCTYPE a><a/>", "XML with a document type"),
        (
            '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a><a/>'.encode("utf-16"),
            "document type",
        ),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "sent no WebDAV answer"),
        (b"<a>", "sent no WebDAV answer"),
        (b"", "sent no WebDAV answer"),
    ],
)
def test_what_is_no_answer_of_a_calendar_server_is_refused(body: bytes, problem: str) -> None:
    with pytest.raises(SourceUnavailable, match=problem):
        list(dav.responses(Answer(207, body, httpx.Headers(), "https://cal.example/")))


def test_an_object_without_an_address_is_left_out() -> None:
    answer = Answer(207, multistatus("http://[", ""), httpx.Headers(), "https://cal.example/")
    assert list(dav.responses(answer)) == []


def test_more_calendars_than_anybody_has_are_refused(
    web: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dav, "MOST_COLLECTIONS", 1)
    kind = "<d:resourcetype><c:calendar/></d:resourcetype>"
    one, other = multistatus("/a/", kind), multistatus("/b/", kind)
    both = one.replace(b"<d:response>", other[other.index(b"<d:response>") : -16] + b"<d:response>")
    # The server's own address is no calendar; those below it are.
    web.says["/"] = (207, {}, multistatus("/", "")[:-16] + both[both.index(b"<d:response>") :])
    with pytest.raises(SourceUnavailable, match="has 2 of calendar; at most 1 are read"):
        Dav("home", "calendar", f"{web.root}/", "me", "pa55").fetch({}, {})


def test_a_host_without_an_address_is_in_no_network() -> None:
    assert not is_inside("a" * 300)


HEAD = b"Subject: s\r\n\r\n"
FETCHED = b"* 1 FETCH (UID 1 FLAGS () RFC822.SIZE 20 BODY[HEADER] {14}\r\n" + HEAD + b")\r\n"
STATUS = b'* STATUS "INBOX" (UIDVALIDITY 1)\r\n'


def mailbox(fetched: bytes, status: bytes) -> int:
    """The port of a server that answers one client like a mailbox, but for this."""
    listening = socket.create_server(("127.0.0.1", 0))
    says = {b"STATUS": status, b"SEARCH": b"* SEARCH 1\r\n", b"FETCH": fetched}

    def answer() -> None:
        with listening, listening.accept()[0] as client, client.makefile("rwb") as file:
            file.write(b"* OK hello\r\n")
            file.flush()
            while asked := file.readline().upper():
                file.write(b"* CAPABILITY IMAP4rev1\r\n" if b"CAPAB" in asked else b"")
                file.write(next((said for word, said in says.items() if word in asked), b""))
                if b"LOGOUT" in asked:
                    file.write(b"* BYE\r\n")
                file.write(asked.split()[0] + b" OK done\r\n")
                file.flush()

    threading.Thread(target=answer, daemon=True).start()
    return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("fetched", "status", "problem"),
    [
        (FETCHED.replace(b"UID 1 ", b""), STATUS, "its answer cannot be read"),
        (
            FETCHED.replace(b"{14}", b"{99999999999999}"),
            STATUS,
            "announces 99,999,999,999,999 bytes",
        ),
        (FETCHED.replace(b"{14}", b"{" + b"9" * 5000 + b"}"), STATUS, "its answer cannot be read"),
        (FETCHED.replace(b"FLAGS ()", b"FLAGS (\\\xff)"), STATUS, "its answer cannot be read"),
        (FETCHED, b"", "its answer cannot be read"),
        (FETCHED, STATUS.replace(b"1", b"x"), "its answer cannot be read"),
    ],
)
def test_a_mailbox_that_breaks_the_protocol_is_told_in_one_line(
    fetched: bytes, status: bytes, problem: str
) -> None:
    pytest.importorskip("imap_tools")
    source = Imap("box", "127.0.0.1", "me", "pa55", mailbox(fetched, status), tls=False)
    with pytest.raises(SourceUnavailable, match=rf"^box: 127\.0\.0\.1: .*{problem}"):
        source.fetch({}, {})
