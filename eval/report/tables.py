"""Tables that any experiment's page can use: intervals, JSON of any shape, where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval.core.experiment import Experiment
from eval.core.tables import figure
from eval.report.page import Align, Cell, Column, HtmlTable, Section, TableRow

DASH = "–"
_LONG = 32
"""Letters from which on a text is wrapped."""


def ours(value: object) -> str:
    """A percentage with one decimal, as `tables.figure`, with a dash for nothing."""
    return DASH if value is None else figure(value)


def left_out(experiment: Experiment, method: str, span: int, *, why: bool = False) -> Cell:
    """What replaces the figures of a method that did not run, with the reason or not."""
    reason = experiment.skipped.get(method)
    if reason is None:
        return Cell("not asked for", span, remark=True)
    return Cell(f"not run: {reason}" if why else "not run", span, remark=True)


def interval_table(
    experiment: Experiment, labels: Mapping[str, str], measures: Mapping[str, str], caption: str
) -> HtmlTable:
    """Per method and measure the figure, and its bounds below.

    Args:
        experiment: Its `figures` and `intervals` go by method, then measure.
        labels: What the methods are called, in the order of the rows.
        measures: What the measures are called, in the order of the columns.
        caption: The table's.
    """
    rows = []
    for method, label in labels.items():
        figures: Any = experiment.figures.get(method)
        bounds: Any = experiment.intervals.get(method) or {}
        if figures is None:
            rows.append(TableRow(label, [left_out(experiment, method, len(measures))]))
            continue
        rows.append(
            TableRow(label, [_with_bounds(figures.get(x), bounds.get(x)) for x in measures])
        )
    return HtmlTable(caption, [Column("method"), *map(Column, measures.values())], rows)


def bar_table(caption: str, values: Mapping[str, float], heads: tuple[str, str]) -> HtmlTable:
    """A row per name with its value as a bar, the largest first."""
    most = max([*values.values(), 0.0]) or 1.0
    ordered = sorted(values.items(), key=lambda one: -one[1])
    rows = [
        TableRow(name, [Cell(said(value), bar=max(value / most, 0.0))]) for name, value in ordered
    ]
    return HtmlTable(caption, [Column(heads[0]), Column(heads[1])], rows)


def any_tables(name: str, value: object, *, head: str = "name") -> list[HtmlTable]:
    """JSON of any shape as tables that show all of it.

    A list of objects gets a row per object, an object of objects a row per key; what lies deeper
    gets tables of its own.

    Args:
        name: Caption; that of a deeper table goes on with its keys.
        value: As `json.loads` gives it.
        head: What the keys are that head the rows of an object of objects.
    """
    if _structured(value) and isinstance(value, list):
        return [_records(name, value)]
    if not isinstance(value, dict):
        return [fact_table(name, {name: value})]
    leaves = {key: one for key, one in value.items() if not _structured(one)}
    rows = {
        key: one
        for key, one in value.items()
        if isinstance(one, dict) and one and not any(map(_structured, one.values()))
    }
    found = [fact_table(name, leaves)] if leaves else []
    found += [_keyed(name, rows, head)] if rows else []
    for key, one in value.items():
        if key not in leaves and key not in rows:
            found += any_tables(f"{name}: {key}", one)
    return found


def fact_table(caption: str, values: Mapping[str, object]) -> HtmlTable:
    """A row per name, with its value."""
    columns = [Column("name"), Column("value", _align(values.values()))]
    return HtmlTable(caption, columns, [TableRow(k, [Cell(said(v))]) for k, v in values.items()])


def provenance(experiment: Experiment) -> Section:
    """What one needs to get the same figures again."""
    run = experiment.model_dump(include={"experiment", "data", "data_sha256", "seed", "seconds"})
    tables = [
        fact_table("The run", run),
        *any_tables("Settings", experiment.settings),
        fact_table("Versions of what can change a figure", experiment.versions),
    ]
    return Section("Settings and versions", tables)


def said(value: object) -> str:
    """A value of JSON in words; numbers with two decimals, those below 0.1 with two digits."""
    if value is None or value == []:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"
        return text.replace("-", "−", 1) if value < 0 else text
    if isinstance(value, dict):
        return ", ".join(f"{key}: {said(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(said, value))
    return str(value)


def _with_bounds(value: object, bounds: Sequence[float] | None) -> Cell:
    below = "" if bounds is None else f"{ours(bounds[0])}{DASH}{ours(bounds[1])}"
    return Cell(ours(value), below=below)


def _structured(value: object) -> bool:
    """Whether it needs rows of its own: an object, or a list of objects."""
    if isinstance(value, list):
        return any(value) and all(isinstance(one, dict) for one in value)
    return isinstance(value, dict)


def _keyed(caption: str, rows: Mapping[str, Mapping[str, object]], head: str) -> HtmlTable:
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    return HtmlTable(
        caption,
        [Column(head), *_columns(names, rows.values())],
        [TableRow(key, [Cell(said(row.get(name))) for name in names]) for key, row in rows.items()],
    )


def _records(caption: str, records: Sequence[Mapping[str, object]]) -> HtmlTable:
    """The first key heads the rows."""
    first, *names = dict.fromkeys(name for one in records for name in one)
    return HtmlTable(
        caption,
        [Column(first), *_columns(names, records)],
        [
            TableRow(said(one.get(first)), [Cell(said(one.get(name))) for name in names])
            for one in records
        ],
    )


def _columns(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> list[Column]:
    kept = list(rows)
    return [Column(name, _align(row.get(name) for row in kept)) for name in names]


def _align(values: Iterable[object]) -> Align:
    kept = [one for one in values if one is not None]
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in kept):
        return "number"
    return "text" if any(len(said(one)) > _LONG for one in kept) else "word"
