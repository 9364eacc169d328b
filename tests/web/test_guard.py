"""Who is answered: the one with the token, on this machine, from the page itself."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ctrag.errors import InputError
from ctrag.web.guard import MOST_BYTES, Guard, allowed
from ctrag.web.running import check_host, free_socket

HERE = "http://127.0.0.1:8642"


async def hello(request: Request) -> Response:
    return PlainTextResponse("hello")


def client(guard: Guard, base: str = HERE) -> TestClient:
    app: Any = Starlette(routes=[Route("/{path:path}", hello, methods=["GET", "POST"])])
    return TestClient(guard.protect(app), base_url=base, follow_redirects=False)


@pytest.fixture
def guard() -> Guard:
    return Guard(8642, token="right")


def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(guard: Guard) -> None:
    http = client(guard)
    came = http.get("/p/ada/?token=right&turn=3")
    assert (came.status_code, came.headers["location"]) == (303, "/p/ada/?turn=3")
    cookie = came.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert http.get("/p/ada/").text == "hello"


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/static/pages.css"])
def test_without_the_token_nothing_is_shown(guard: Guard, path: str) -> None:
    assert client(guard).get(path).status_code == 401


def test_two_servers_of_one_machine_do_not_share_a_cookie() -> None:
    assert Guard(1).cookie != Guard(2).cookie
    assert Guard(1).token != Guard(1).token


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "["]
)
def test_a_name_that_was_pointed_at_this_machine_is_refused(guard: Guard, host: str) -> None:
    answer = client(guard).get("/?token=right", headers={"host": host})
    assert answer.status_code == 421
    assert "hello" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:8642", "[::1]:8642", "box.example"])
def test_this_machine_and_allowed_names_are_answered(host: str) -> None:
    guard = Guard(8642, allowed(["BOX.example"]), token="right")
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    assert http.get("/", headers={"host": host}).text == "hello"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_page_changes_nothing(guard: Guard, headers: dict[str, str]) -> None:
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    assert http.post("/p/ada/say", headers=headers).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": HERE}, {"sec-fetch-site": "same-origin"}])
def test_a_form_of_the_page_itself_is_answered(guard: Guard, headers: dict[str, str]) -> None:
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    assert http.post("/p/ada/say", headers=headers).text == "hello"


def test_a_malformed_origin_is_refused(guard: Guard) -> None:
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    assert http.post("/p/ada/say", headers={"origin": "http://[::1"}).status_code == 400


def test_a_form_is_bounded_but_for_files() -> None:
    guard = Guard(8642, uploads=("/bring",), token="right")
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    large = b"a" * (MOST_BYTES + 1)
    headers = {"origin": HERE}
    assert http.post("/bring", content=large, headers=headers).text == "hello"
    assert http.post("/say", content=large[:-1], headers=headers).text == "hello"
    assert http.post("/say", content=large, headers=headers).status_code == 413
    assert http.post("/say", content=iter([b"a"]), headers=headers).status_code == 413


def test_every_answer_forbids_scripts_frames_and_other_places(guard: Guard) -> None:
    http = client(guard)
    http.cookies.set(guard.cookie, "right")
    for answer in (http.get("/"), client(guard).get("/"), http.post("/")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"


def test_two_slashes_lead_to_no_other_host(guard: Guard) -> None:
    came = client(guard).get(HERE + "//evil.example/?token=right")
    assert came.headers["location"] == "/evil.example/"


def test_an_address_that_others_reach_needs_a_name() -> None:
    check_host("127.0.0.1", ())
    check_host("0.0.0.0", ("box.example",))
    with pytest.raises(InputError, match=r"--host: 0\.0\.0\.0 can be reached from outside"):
        check_host("0.0.0.0", ())


def test_a_taken_port_is_said() -> None:
    with free_socket("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(InputError, match="--port: cannot serve at 127"):
            free_socket("127.0.0.1", taken.getsockname()[1])
