"""Claims about what the scale benchmark prints and keeps."""

from pathlib import Path

import pytest

from benchmarks import scale_report
from benchmarks.scale_bench import quantiles

COST = [
    {"items": 100, "p50 ms": 10.0, "p95 ms": 12.0, "again p50 ms": 9.0},
    {"items": 100_000, "p50 ms": 61.0, "p95 ms": 80.0, "again p50 ms": 40.0},
]


def test_parts_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    file = tmp_path / "scale.json"
    assert scale_report.load(file) == {}
    parts = {"cost": {"seed": 0, "rows": COST}}
    scale_report.save(file, parts)
    assert scale_report.load(file) == parts


def test_a_table_has_a_line_for_each_row_and_numbers_to_the_right() -> None:
    rows = [{"what": "load", "runs": 20, "p50": 1.0}, {"what": "ask", "runs": 1_000, "p50": 12.345}]
    assert scale_report.table(rows).splitlines() == [
        "what   runs    p50",
        "load     20   1.00",
        "ask   1,000  12.35",
    ]


@pytest.mark.parametrize(
    ("p50", "difference", "said"),
    [
        (60.0, -0.5, ["all that was measured is within the limits"]),
        (60.5, 3.0, ["over 60 ms at 1,000 items: 60.5 ms"]),
        (10.0, -0.51, ["loses 0.51 points at 1,000 items"]),
    ],
)
def test_limits_that_are_broken_are_named(p50: float, difference: float, said: list[str]) -> None:
    parts = {
        "cost": {"rows": [{"items": 1_000, "p50 ms": p50}]},
        "recall": {"rows": [{"items": 1_000, "difference": difference}]},
    }
    assert scale_report.verdicts(parts) == said


def test_the_drawing_is_the_same_each_time_and_has_words(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    assert scale_report.draw_cost(COST, first)
    assert scale_report.draw_cost(COST, second)
    assert first.read_bytes() == second.read_bytes()
    assert "items of the person" in first.read_text(encoding="utf-8")


def test_quantiles_are_the_median_and_the_95th_percentile() -> None:
    assert quantiles(range(101)) == (50, 95)
