"""Claims about the tables and plots of a page: values as words, JSON of any shape, labels."""

from itertools import pairwise

import pytest

from eval.report.page import Cell, Column, Folded, HtmlTable, ReportPage, Section, TableRow, render
from eval.report.plots import curves, spread
from eval.report.tables import any_tables, said


def test_labels_of_lines_do_not_overlap_and_stay_on_the_plot() -> None:
    ends = [99.5, 99.2, 100.0, 96.2, 65.8, 0.0]
    places = spread(ends, gap=5, low=0, high=100)
    assert sorted(places) == [places[ends.index(end)] for end in sorted(ends)]
    ordered = sorted(places)
    gaps = [upper - lower for lower, upper in pairwise(ordered)]
    assert min(gaps) >= 5 - 1e-9
    assert 0 <= min(places) <= max(places) <= 100
    assert places[4:] == [65.8, 0.0]


def test_a_plot_of_more_lines_than_colours_names_each() -> None:
    lines = {f"method {number}": [number, 5.0 * number] for number in range(12)}
    svg = curves(lines, name="x", title="t", description="d", x_label="k", y_label="y")
    for line in lines:
        assert f">{line}</text>" in svg


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (True, "yes"),
        (7, "7"),
        (12.0, "12.00"),
        (-0.5, "−0.50"),
        (0.0446, "0.045"),
        (0.0, "0.00"),
        ([], "–"),
        ([1, "a"], "1, a"),
        ({"a": [1]}, "a: 1"),
    ],
)
def test_values_are_said_so_that_people_can_read_them(value: object, words: str) -> None:
    assert said(value) == words


def test_json_of_any_shape_becomes_tables_that_hold_all_of_it() -> None:
    value = {
        "ast": 39.62,
        "rows": [{"a": 1, "b": "x"}, {"a": 2, "c": [3, 4]}],
        "8": {"itr": {"tokens": 512.0}, "all": {"tokens": 900.0}},
        "empty": {},
        "none": [],
        "blank": [{}],
    }
    tables = {table.caption: table for table in any_tables("extra", value)}
    assert list(tables) == ["extra", "extra: rows", "extra: 8"]
    assert [(row.head, row.cells[0].text) for row in tables["extra"].rows] == [
        ("ast", "39.62"),
        ("none", "–"),
        ("blank", ""),
    ]
    assert [cell.text for cell in tables["extra: rows"].rows[1].cells] == ["–", "3, 4"]
    assert [row.head for row in tables["extra: 8"].rows] == ["itr", "all"]


def test_a_row_that_does_not_fill_its_table_is_refused() -> None:
    table = HtmlTable("t", [Column("a"), Column("b"), Column("c")], [TableRow("x", [Cell("1")])])
    with pytest.raises(ValueError, match="t: row 'x' fills 1 columns, not 2"):
        render(ReportPage("r", "", [Section("s", [Folded("f", [table])])]))
