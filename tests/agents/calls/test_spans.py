"""Claims about which runs of words a value may be."""

import pytest

from ctrag.agents.calls.spans import TAKEN, names, quoted, spans


def test_runs_begin_and_end_with_a_word_that_says_something() -> None:
    assert spans("show me the weather in Paris") == ["weather", "weather in Paris", "Paris"]


def test_what_is_quoted_is_a_value_as_a_whole() -> None:
    text = 'play "Let It Be" by The Beatles'
    assert quoted(text) == ["Let It Be"]
    assert spans(text) == ["play", "Beatles", "Let It Be"]


def test_an_apostrophe_quotes_nothing() -> None:
    assert quoted("Luigi's place and Anna's") == []
    assert quoted("the app 'my app' and Anna's") == ["my app"]


def test_no_run_goes_across_what_is_taken() -> None:
    assert spans(f"fly Oslo {TAKEN} Rome") == ["fly", "fly Oslo", "Oslo", "Rome"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("find flights to New York", ["New", "New York", "York"]),
        ("Weather tomorrow", []),
        ("order A-17 and mail bo@x.org", ["A-17", "bo@x.org"]),
        ('the label "type here"', ["type here"]),
    ],
)
def test_a_name_is_quoted_capitalised_or_has_a_digit(text: str, found: list[str]) -> None:
    assert [one for one in names(text) if "and" not in one] == found


def test_a_long_text_has_shorter_runs_and_not_very_many() -> None:
    assert len(spans("word " * 400)) <= 4
    assert len(spans(" ".join(f"w{place}" for place in range(400)))) <= 1600
