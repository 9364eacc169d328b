"""Plain-text tables: aligned columns, the paper's figures next to ours."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a header, with notes below."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)

    def lines(self) -> list[str]:
        """The table as lines: first column left, the others right aligned."""
        columns = zip(self.header, *self.rows, strict=True)
        widths = [max(len(cell) for cell in column) for column in columns]
        lines = []
        for row in [self.header, *self.rows]:
            first = row[0].ljust(widths[0])
            rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join([first, *rest]).rstrip())
        lines.insert(1, "-" * len(lines[0]))
        return [*lines, *self.notes]


def figure(value: object) -> str:
    """A percentage with one decimal; a dash for what was not measured."""
    return f"{value:.1f}" if isinstance(value, float | int) else "-"
