"""A running gateway to look at: its servers, its searches as they come, who may look."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import httpx2
import uvicorn

from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.config import Upstreams
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.serve import HttpOptions, http_app
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.events import ERROR, QUERY, REASON, TOOL, Event
from ctrag.web.deeds import folded, summary
from ctrag.web.gateway_page import Watched, gateway_pages, servers
from ctrag.web.guard import Guard
from ctrag.web.running import free_socket
from tests.agents.server.conftest import Topics, tool

TOOLS = [
    tool("send", "Send a mail <script>alert(1)</script>", "mail"),
    tool("print", "Print a page", "printer"),
]


@contextmanager
def looked_at() -> Iterator[tuple[Gateway, Guard]]:
    """A gateway with its page at a port of this machine."""
    watched = Watched()
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics()), Upstreams(), record=watched)
    listening = free_socket("127.0.0.1", 0)
    guard = Guard(listening.getsockname()[1])
    options = HttpOptions(pages=(gateway_pages(gateway, watched, guard),))
    app = http_app(gateway, "127.0.0.1", guard.port, None, options)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))

    async def run() -> None:
        async with gateway.running():
            await server.serve([listening])

    thread = threading.Thread(target=anyio.run, args=(run,))
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    yield gateway, guard
    server.should_exit = True
    thread.join()
    listening.close()


def test_what_is_searched_stands_on_the_page_of_who_has_the_token() -> None:
    with looked_at() as (gateway, guard), httpx2.Client(follow_redirects=True) as http:
        root = f"http://127.0.0.1:{guard.port}/page/"
        assert http.get(root).status_code == 401
        first = http.get(guard.address("127.0.0.1", "/page/"))
        assert "2 tools, 0 open sessions" in first.text
        assert "Nothing was searched or called yet" in first.text
        assert 'src="/page/static/htmx.min.js"' in first.text
        assert http.get(f"{root}static/pages.css").status_code == 200
        [mark] = [part.split('"')[0] for part in first.text.split("state?count=")[1:]]
        assert http.get(f"{root}state?count={mark}").status_code == 204, "nothing is new"

        anyio.run(gateway.search, None, "send <b>mail</b>")
        fresh = http.get(f"{root}state?count={mark}").text
        assert "send &lt;b&gt;mail&lt;/b&gt;" in fresh
        assert "mail/send" in fresh
        assert "1 open session" in fresh
        assert "printer/print" in fresh, "among the tools that nobody found"
        assert http.get(f"http://127.0.0.1:{guard.port}/healthz").json() == {"status": "ok"}


def test_what_a_search_gave_and_took_is_told_with_it_and_reasons_in_words() -> None:
    def event(kind: str, session: str, **attributes: Any) -> Event:
        return Event(event=f"ctrag.{kind}", at=0, session=session, attributes=attributes)

    recorded = [
        event("search", "a", **{QUERY: "send a mail"}),
        event("search", "b", **{QUERY: "print"}),
        event("tool.bind", "a", **{TOOL: "mail/send"}),
        event("tool.evict", "a", **{TOOL: "web/get", REASON: "lru"}),
        event("tool.call", "a", **{TOOL: "mail/send", ERROR: "tool_error"}),
        event("tool.evict", "a", **{TOOL: "mail/send", REASON: "loop"}),
    ]
    mail, page, call, loop = folded(enumerate(recorded, start=7))
    assert (mail.given, mail.taken, mail.number) == (("mail/send",), ("web/get",), 7)
    assert page.given == ()
    assert (call.why, call.bad) == ("the tool answered with an error", True)
    assert (loop.words, loop.why) == ("taken away", "called in a loop")
    assert summary(recorded).failing == (("mail/send", 1),)


def test_a_server_that_is_left_out_is_told_with_its_reason() -> None:
    upstreams = Upstreams(problems={"crm": "has no command and no url"})
    gateway = Gateway(ToolIndex([SELF, *TOOLS], Topics()), upstreams)
    [one] = servers(gateway)
    assert (one.name, one.state, one.why) == ("crm", "left out", "has no command and no url")


def test_only_the_latest_events_are_kept() -> None:
    watched = Watched(kept=2)
    for number in range(3):
        watched(Event(event="ctrag.session.open", at=number))
    kept: list[Any] = [one.at for one in watched.events()]
    assert (kept, watched.count) == ([1, 2], 3)
