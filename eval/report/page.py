"""A page about one experiment: sections of text, tables and plots in one HTML file.

The page needs no network and no JavaScript. `report_tables` and `plots` make the parts, a module
per experiment (`context_report`) chooses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from ctrag.errors import InputError
from ctrag.web.pages import static
from stores.files import write_text

if TYPE_CHECKING:
    from markupsafe import Markup

    from eval.core.experiment import Experiment

Align = Literal["number", "word", "text"]
"""How a column is set: right aligned, left aligned on one line, left aligned and wrapped."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Content of one field of a table."""

    text: str
    span: int = 1
    """Columns that it takes."""
    below: str = ""
    """Set small under the text."""
    shade: float | None = None
    """0-1: how strongly its ground is tinted; None for not at all."""
    bar: float | None = None
    """0-1: length of a bar behind the text; None for no bar."""
    remark: bool = False
    """Words in place of figures, set small."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head; the first column of a table heads the rows."""

    label: str
    align: Align = "number"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row's head and its cells, whose spans add up to the columns after the first."""

    head: str
    cells: Sequence[Cell]
    strong: bool = False
    """Whether it is the row to look at."""


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """Rows under column heads, with a caption; wide ones scroll inside their own frame."""

    kind: ClassVar = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    groups: Sequence[tuple[str, int]] = ()
    """Heads above the column heads: text ("" for none) and columns that it spans."""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with the words that stand for it where it cannot be seen."""

    kind: ClassVar = "plot"
    svg: Markup
    """From `plots`: the only part of a page that is not escaped."""
    caption: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar = "text"
    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that are shown on request."""

    kind: ClassVar = "folded"
    summary: str
    parts: Sequence[Part]


Part = HtmlTable | Plot | Text | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the content under it."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page."""

    title: str
    lead: str
    """One or two sentences that say what came out."""
    sections: Sequence[Section] = field(default_factory=tuple)


def render(report: ReportPage) -> str:
    """The page as HTML; whatever text the parts hold is escaped.

    Raises:
        ValueError: The cells of a row do not fill the columns of its table.
    """
    for section in report.sections:
        _check(section.parts)
    # A line of the template that holds only a statement leaves no line on the page.
    environment = Environment(
        loader=PackageLoader("eval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    return template.render(report=report, colours=static("colours.css")) + "\n"


def write_report(
    experiment: Experiment, page: Callable[[Experiment], ReportPage], folder: Path
) -> Path:
    """Write NAME.json, the experiment, and NAME.html, each whole or not at all; give the page.

    Args:
        experiment: NAME is its own. It is written first: a page can be made again.
        page: Makes the page of it.
        folder: Made where it is missing.

    Raises:
        OSError: The folder cannot be made or written.
        ValueError: A figure is infinite or not a number, or a table is not rectangular.
    """
    folder.mkdir(parents=True, exist_ok=True)
    experiment.write(folder / f"{experiment.experiment}.json")
    path = folder / f"{experiment.experiment}.html"
    write_text(path, render(page(experiment)))
    return path


def _check(parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, Folded):
            _check(part.parts)
        elif isinstance(part, HtmlTable):
            wanted = len(part.columns) - 1
            for row in part.rows:
                given = sum(cell.span for cell in row.cells)
                if given != wanted:
                    raise InputError(
                        f"{part.caption}: row {row.head!r} fills {given} columns, not {wanted}"
                    )
