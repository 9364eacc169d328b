"""A calendar by its address, from a real server on this machine."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ctrag.assistant.imports.calendars import read_calendar
from ctrag.assistant.imports.files import new_person, owner_of
from ctrag.assistant.sync import http
from ctrag.assistant.sync.address import Address
from ctrag.assistant.sync.engine import Synced, synchronize
from ctrag.assistant.sync.source import Source, SourceUnavailable
from stores.people.dataset import Persona
from stores.people.stores import Stores
from tests.assistant.sync.conftest import calendar, encode, event, titles

Sync = Callable[[Source], Synced]


class Web:
    """A web server with one calendar."""

    def __init__(self) -> None:
        self.body = calendar(event("1", "Dentist"), event("2", "Choir")).encode()
        self.status = 200
        self.etags = True
        self.answers: list[int] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                tag = f'"{hash(web.body)}"'
                status = web.status
                if web.etags and self.headers.get("If-None-Match") == tag:
                    status = 304
                web.answers.append(status)
                self.send_response(status)
                self.send_header("ETag", tag if web.etags else "")
                self.end_headers()
                if status == 200:
                    self.wfile.write(web.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/secret-path/c.ics"


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_what_vanished_there_vanishes_here_and_undo_brings_it_back(
    web: Web, sync: Sync, stores: Stores
) -> None:
    assert sync(Address(web.url)).report.stored.added == 2
    web.body = calendar(event("2", "Choir practice"), event("3", "Sauna")).encode()
    done = sync(Address(web.url))
    assert (done.report.stored.added, done.report.stored.changed, done.gone) == (1, 1, 1)
    assert titles(stores) == ["Choir practice", "Sauna"]
    stores.undo("me")
    assert titles(stores) == ["Choir", "Dentist"]
    sync(Address(web.url))  # what was noted of the source was undone, too
    assert titles(stores) == ["Choir practice", "Sauna"]


def test_an_unchanged_calendar_is_not_sent_again_and_changes_nothing(
    web: Web, sync: Sync, stores: Stores
) -> None:
    sync(Address(web.url))
    before = stores.signature()
    assert sync(Address(web.url)).unchanged
    assert web.answers == [200, 304]
    web.etags = False
    assert sync(Address(web.url)).unchanged
    assert stores.signature() == before


def test_an_item_goes_when_the_last_source_that_has_it_lost_it(
    web: Web, sync: Sync, stores: Stores
) -> None:
    sync(Address(web.url))
    sync(Address(web.url + "?second"))  # the same calendar by another address
    web.body = calendar(event("2", "Choir")).encode()
    sync(Address(web.url))
    assert titles(stores) == ["Choir", "Dentist"]
    sync(Address(web.url + "?second"))
    assert titles(stores) == ["Choir"]


def test_what_the_person_had_before_stays_when_it_vanishes_there(
    web: Web, sync: Sync, stores: Stores
) -> None:
    file = read_calendar(web.body, owner_of(new_person("me", "Me", "Europe/Oslo")))
    person = new_person("me", "Me", "Europe/Oslo")
    stores.import_personas([Persona(person, tuple(file.items[:1]))], encode, "any")
    sync(Address(web.url))
    web.body = calendar(event("9", "Sauna")).encode()
    assert sync(Address(web.url)).gone == 1
    assert titles(stores) == ["Dentist", "Sauna"]
    assert stores.undo("me").summary.startswith("synchronization with url-")
    assert titles(stores) == ["Choir", "Dentist"]


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (b"<html>log in</html>", 200, "what it sent is no calendar"),
        (b"", 404, "answers 404"),
        (b"", 401, "refuses user and password"),
    ],
)
def test_a_source_that_fails_changes_nothing_and_shows_no_secret(
    web: Web, sync: Sync, stores: Stores, body: bytes, status: int, problem: str
) -> None:
    sync(Address(web.url))
    before = stores.signature()
    web.body, web.status = body, status
    with pytest.raises(SourceUnavailable, match=problem) as caught:
        sync(Address(web.url))
    assert "secret-path" not in str(caught.value)
    assert stores.signature() == before


def test_an_answer_without_end_is_cut_off(
    web: Web, sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LARGEST", 100)
    with pytest.raises(SourceUnavailable, match="sent more than 0 MiB"):
        sync(Address(web.url))


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///etc/passwd", "must begin with https"),
        ("ftp://x/y", "must begin with https"),
        ("nothing", "must begin with https"),
        ("http://example.org/c.ics", "a password goes over https only"),
    ],
)
def test_addresses_are_checked_before_anything_is_sent(url: str, problem: str) -> None:
    with pytest.raises(SourceUnavailable, match=problem):
        Address(url, "me", "pw").fetch({}, {})


def test_webcal_is_https() -> None:
    assert http.checked("webcal://x.example/c.ics", secret=True) == "https://x.example/c.ics"


def test_forgetting_the_person_leaves_nothing_of_the_source(
    web: Web, sync: Sync, stores: Stores, tmp_path: Path
) -> None:
    sync(Address(web.url))
    stores.forget("me")
    synchronize(stores, new_person("you", "You", "UTC"), Address(web.url), encode, "any")
    assert stores.sources("me") == {}
    assert len(stores.sources("you")) == 1
