"""Pages as text: nothing of an item is markup, and what was recorded is told."""

from html.parser import HTMLParser
from typing import Any

import pytest

from ctrag.agents.session.events import Event
from ctrag.assistant.record import RecordedTurn
from ctrag.web.deeds import deed, summary
from ctrag.web.pages import environment, html, page
from ctrag.web.session_page import session_page

HOSTILE = '</p><script>alert(1)</script><img src=x onerror=alert(1)>"\u202egnp.exe'


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def turn(**more: Any) -> RecordedTurn:
    told: dict[str, Any] = {
        "person": "ada",
        "text": "read me the code",
        "asked_at": "2025-04-17T12:00",
        "items": ["ada-n1"],
        "tools": ["read_note"],
        "plan": 'read_note(title="Gate code")',
        "confidence": 0.9,
        "status": "done",
        "answer": "4711",
        "steps": [{"step": "context.retrieve", "milliseconds": 1500, "outputs": {"n": 3}}],
    }
    return RecordedTurn.model_validate({**told, **more})


EVENTS = [
    Event(
        event="ctrag.session.open",
        at=0,
        session="s1",
        attributes={"ctrag.tokens.listed": 900, "ctrag.catalogue": {"a": 100, "b": 800}},
    ),
    Event(
        event="ctrag.search",
        at=1.0,
        session="s1",
        attributes={
            "gen_ai.retrieval.query.text": "send a mail",
            "gen_ai.retrieval.documents": [{"id": "a", "score": 0.7}],
        },
        seconds=0.012,
    ),
    Event(event="ctrag.tool.bind", at=1.1, session="s1", attributes={"gen_ai.tool.name": "a"}),
    Event(
        event="ctrag.tool.call",
        at=2.0,
        session="s1",
        attributes={"gen_ai.tool.name": "a", "error.type": "timeout"},
        seconds=1.5,
    ),
    Event(
        event="ctrag.tool.refuse",
        at=3.0,
        session="s1",
        attributes={"gen_ai.tool.name": "b", "ctrag.reason": "not_surfaced"},
    ),
]


def test_markup_and_bidi_of_a_text_stay_text() -> None:
    shown = session_page([turn(text=HOSTILE, answer=HOSTILE, items=[HOSTILE])], HOSTILE)
    found = Tags(shown)
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert not [name for name in found.attributes if name.startswith("on")]
    assert "\u202e" not in shown
    assert "\\u202e" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Call דנה בן-דוד (+972 3).", "Call <bdi>דנה בן-דוד</bdi> (+972 3)."),
        ("“اجتماع 3 مع سارة”, مكتب", "“<bdi>اجتماع 3 مع سارة</bdi>”, <bdi>مكتب</bdi>"),
        ("<b>שלום</b>", "&lt;b&gt;<bdi>שלום</bdi>&lt;/b&gt;"),
        ("Tell Zoë", "Tell Zoë"),
    ],
)
def test_names_from_right_to_left_are_isolated(text: str, shown: str) -> None:
    template = environment().from_string("{{ text | isolated }}")
    assert template.render(text=text) == shown


def test_a_recorded_request_is_told_with_its_time() -> None:
    shown = session_page([turn()], "chat.jsonl")
    for text in ("read me the code", "4711", "find your items", "1.5 s", "How sure: 90 %"):
        assert text in shown
    assert "default-src 'none'" in shown
    assert "<script" not in shown


def test_a_recorded_session_is_told_decision_by_decision() -> None:
    shown = session_page(EVENTS, "gateway.jsonl")
    for text in (
        "send a mail",
        "0.700",
        "timeout",
        "this session had not found it",
        "12 ms",
        "1 failed",
    ):
        assert text in shown
    assert "89 %" in shown, "100 of 900 tokens were bound"
    found = summary(EVENTS)
    assert (found.searches, found.calls, found.failed, found.refused) == (1, 1, 1, 1)
    assert found.never_found == ("b",)


@pytest.mark.parametrize(
    ("event", "bad"), [(EVENTS[1], False), (EVENTS[3], True), (EVENTS[4], True)]
)
def test_what_went_wrong_stands_out(event: Event, bad: bool) -> None:
    assert deed(event).bad is bad


def test_an_empty_record_says_so() -> None:
    assert "Nothing is recorded" in session_page([], "empty.jsonl")


def test_a_page_loads_nothing_from_elsewhere_and_has_no_script_of_its_own() -> None:
    text = html("told.html.j2", title="T", lines=["x"], links=[("Begin", "/")])
    assert "http:" not in text
    assert "https:" not in text
    assert "style=" not in text
    assert text.count("<script") == text.count('<script src="/static/') == 2
    assert page("told.html.j2", 409, title="T", lines=[], links=[]).status_code == 409


def test_the_library_is_packaged_with_its_licence() -> None:
    from importlib.resources import files

    static = files("ctrag.web").joinpath("static")
    assert "Zero-Clause BSD" in static.joinpath("htmx-LICENSE.txt").read_text()
    assert static.joinpath("htmx.min.js").read_text().startswith("var htmx")
