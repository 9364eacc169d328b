"""The text of HTML mails: what a reader sees, and nothing else."""

import time

import pytest

from ctrag.assistant.imports.mail.html import html_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Table for <b>four</b> at 19:30.</p>", "Table for four at 19:30."),
        ("<html><head><title>T</title><style>p{}</style></head><body>ok</body></html>", "ok"),
        ("<script>alert(1)</script>ok", "ok"),
        ("<p>one<br>two</p>", "one\ntwo"),
        ("<ul><li>one<li>two</ul>", "* one\n* two"),
        ("<tr><td>Gate</td><td>B7</td></tr>", "GateB7"),
        ("<table><tr><td>Gate</td><td>B7</td></tr></table>", "Gate B7"),
        ("Gr&uuml;n &lt;3 &#x1F6A2;", "Grün <3 🚢"),
        ('<?xml version="1.0" encoding="utf-8"?><html><body>ok</body></html>', "ok"),
        ("<!--[if mso]>office<![endif]-->all", "all"),
        ("no tags at all", "no tags at all"),
        ("", ""),
        ("<img width=1 height=1 alt=counted src=x>", ""),
        ("<img alt='Half price today' src=x>", "Half price today"),
    ],
)
def test_the_words_stay(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<div style='display:none'>preview</div>",
        "<div style='DISPLAY : NONE !important'>preview</div>",
        "<span style='font-size:0px;line-height:0'>preview</span>",
        "<span style='opacity:0'>preview</span>",
        "<span style='visibility:hidden'>preview</span>",
        "<div style='max-height:0;overflow:hidden'>preview</div>",
        "<p hidden>preview</p>",
        "<p class='a pre'>preview</p>",
        "<p id=pre>preview</p>",
        "\u200c\u00ad\u034f",
    ],
)
def test_what_the_sender_hides_is_not_text(hidden: str) -> None:
    page = f"<style>.pre, #pre {{display:none}} .x {{}}</style>{hidden}<p>seen</p>"
    assert html_text(page) == "seen"


def test_what_is_only_hidden_on_some_screens_is_text() -> None:
    page = "<style>@media print {.wide {display:none}}</style><p class=wide>seen</p>"
    assert html_text(page) == "seen"
    assert html_text("<p style='opacity:0.9;font-size:10px'>seen</p>") == "seen"


@pytest.mark.parametrize(
    ("href", "text"),
    [
        ("https://x.example/book/7?utm_source=m&id=3", "Change <https://x.example/book/7?id=3>"),
        ("https://x.example/t?d=" + "a" * 300, "Change <https://x.example/t>"),
        ("https://x.example/" + "a" * 300, "Change"),
        ("tel:+47555", "Change <+47555>"),
        ("mailto:a@x.no?subject=b", "Change <a@x.no>"),
        ("javascript:alert(1)", "Change"),
        ("#top", "Change"),
    ],
)
def test_a_link_keeps_an_address_that_a_person_can_use(href: str, text: str) -> None:
    assert html_text(f'<a href="{href}">Change</a>') == text


def test_a_link_that_shows_its_address_shows_it_once() -> None:
    assert html_text('<a href="https://www.x.example/">x.example</a>') == "x.example"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "deep",
        "<table><tr><td>" * 5_000 + "deep",
        "<blockquote><ul><li>" * 3_000 + "deep",
        "<style>" + "@a{" * 50_000 + "</style>deep",
        "<!--[if " * 50_000 + "--> deep",
        "<p style='" + "font-size:0" * 20_000 + "0px'>deep",
    ],
    ids=["div", "table", "list", "style", "comments", "inline style"],
)
def test_a_hostile_page_takes_no_time_and_keeps_its_words(page: str) -> None:
    started = time.process_time()
    assert html_text(page).split()[-1] == "deep"
    assert time.process_time() - started < 5
