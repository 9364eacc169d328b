"""Claims about tables for people."""

import pytest

from eval.core.tables import Table, figure


def test_the_first_column_stands_left_and_the_others_right() -> None:
    table = Table(["method", "R@3"], [["bm25", "9.5"], ["semantic search", "100.0"]], ["a note"])
    assert table.lines() == [
        "method             R@3",
        "----------------------",
        "bm25               9.5",
        "semantic search  100.0",
        "a note",
    ]


def test_a_table_without_rows_is_its_header() -> None:
    assert Table(["method", "R@3"], []).lines() == ["method  R@3", "-----------"]


def test_a_row_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than"):
        Table(["method"], [["bm25", "9.5"]]).lines()


@pytest.mark.parametrize(
    ("value", "text"), [(81.27, "81.3"), (0, "0.0"), (100.0, "100.0"), (None, "-"), ("x", "-")]
)
def test_a_figure_has_one_decimal_and_what_was_not_measured_a_dash(
    value: object, text: str
) -> None:
    assert figure(value) == text
