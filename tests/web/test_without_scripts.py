"""The pages' forms as a browser without scripts sends them, and requests that nobody should make."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from ctrag.errors import ModelMissing
from ctrag.web.assistant_app import assistant_app
from tests.web.conftest import MAIL, REMIND, Served, ada_circle, serving_pages

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant


@pytest.fixture
def http(pages: Served) -> Iterator[httpx.Client]:
    own = {"origin": pages.url}
    with httpx.Client(base_url=pages.url, headers=own, follow_redirects=True) as client:
        client.get(pages.address)
        end = time.monotonic() + 60
        while "Your request" not in client.get("/p/ada/").text:
            assert time.monotonic() < end
            time.sleep(0.02)
        yield client


def shown(http: httpx.Client, text: str) -> str:
    """The conversation's page once it has the text."""
    end = time.monotonic() + 60
    while text not in (page := http.get("/p/ada/").text):
        assert time.monotonic() < end, page
        time.sleep(0.02)
    return page


def test_a_request_is_answered_agreed_to_and_undone(http: httpx.Client) -> None:
    assert http.post("/p/ada/say", data={"text": REMIND}).status_code == 200
    shown(http, "Created the reminder")
    http.post("/p/ada/undo", data={"turn": "1"})
    assert "Taken back" in http.get("/p/ada/").text
    http.post("/p/ada/say", data={"text": MAIL, "at": "2025-04-17T13:00", "place": "work"})
    page = shown(http, "Shall I do this?")
    assert "Thu 17 Apr 2025, 13:00, work" in page
    http.post("/p/ada/decide", data={"turn": "2", "question": "1", "agreed": "no"})
    shown(http, "Nothing was done.")


@pytest.mark.parametrize(
    ("path", "data", "said"),
    [
        ("say", {"text": " "}, "the request is empty"),
        ("say", {"text": "x" * 1001}, "at most 1000 characters"),
        ("say", {"text": "hello", "at": "soon"}, "at: "),
        ("say", {"choice": "1", "turn": "1"}, "answered already"),
        ("export", {}, "confirm it"),
        ("forget", {}, "confirm it"),
        ("reset", {}, "one by one"),
    ],
)
def test_what_cannot_be_done_is_said(
    http: httpx.Client, path: str, data: dict[str, str], said: str
) -> None:
    answer = http.post(f"/p/ada/{path}", data=data)
    assert answer.status_code == 409
    assert said in answer.text


@pytest.mark.parametrize("path", ["/p/nobody/", "/p/ada/why/99", "/jobs/x", "/static/../guard.py"])
def test_what_is_not_there_is_said(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_an_import_without_files_or_with_a_wrong_name_is_refused(http: httpx.Client) -> None:
    file = {"files": ("a.ics", b"BEGIN:VCALENDAR\nEND:VCALENDAR\n")}
    wrong = http.post("/bring", data={"person": "../ada"}, files=file)
    assert (wrong.status_code, "letters, digits" in wrong.text) == (409, True)
    none = http.post("/bring", data={"person": "ada"})
    assert "none was chosen" in none.text


def test_an_assistant_that_cannot_be_opened_says_why_and_may_be_tried_again(
    ada_stores: Path,
) -> None:
    tries: list[str] = []

    def cannot(folder: Path, person: str) -> "Assistant":
        tries.append(person)
        raise ModelMissing("the encoder is not installed")

    circle = ada_circle(ada_stores)
    with (
        serving_pages(lambda guard: assistant_app([circle], cannot, guard)) as served,
        httpx.Client(follow_redirects=True) as client,
    ):
        client.get(served.address)
        for number in (1, 2):
            end = time.monotonic() + 20
            while "the encoder is not installed" not in client.get(f"{served.url}/p/ada/").text:
                assert time.monotonic() < end
                time.sleep(0.02)
            assert len(tries) >= number
