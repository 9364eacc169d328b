"""The lines of CSV files, put together where a quoted field has several: a quotation mark that
nobody closed takes no other row in."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

_END = "\0"
"""A line behind the last, which no text has: in a field, it says that the field was still open."""
_READ_AGAIN = 10
"""Times the length of a file that may be read again because of quotation marks; then each line is
read by itself, so that hostile files take no longer than others."""
_FEW = 3
"""Separators from which on a line that has as many as the headings is hardly part of a text."""


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one row."""

    line: int
    """Number of its first line in the text, from 1."""
    cells: list[str]
    open: bool = False
    """Whether a quotation mark in it has no end, so that it may hold less than was meant."""


def records(text: str, separator: str) -> Iterator[Record]:
    """The rows of a text without NUL; that of an empty line has no cells."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 2))
    lines = list(io.StringIO(text, newline=""))
    if lines and not lines[-1].endswith(("\r", "\n")):
        lines[-1] += "\n"
    wanted = lines[0].count(separator) if lines else 0
    start, again = 0, _READ_AGAIN * len(lines)
    while start < len(lines):
        record, end = _record(lines, start, len(lines) if again > 0 else start + 1, separator)
        if end - start > 1 and _holds_others(record, lines[start:end], separator, wanted):
            again -= end - start
            cells, end = _record(lines, start, start + 1, separator)[0].cells, start + 1
            record = Record(start + 1, cells, open=True)
        if end - start == 1 and record.open and record.cells:
            # Only the field is open: the separators behind it still part the others.
            *before, rest = record.cells
            record = Record(record.line, [*before, *rest.strip("\r\n").split(separator)], True)
        yield record
        start = end


def _record(lines: Sequence[str], start: int, stop: int, separator: str) -> tuple[Record, int]:
    """The row that begins in the line `start` and ends before `stop`, and the line behind it."""
    rest = chain((lines[place] for place in range(start, stop)), [_END])
    reader = csv.reader(rest, delimiter=separator)
    cells = next(reader)
    is_open = start + reader.line_num > stop
    cells[-1:] = [one.removesuffix(_END) for one in cells[-1:]]
    return Record(start + 1, cells, is_open), min(stop, start + reader.line_num)


def _holds_others(record: Record, lines: Sequence[str], separator: str, wanted: int) -> bool:
    """Whether a row of several lines has taken in other rows, after a quotation mark that was
    never closed or meant inches."""
    counts = [line.count(separator) for line in lines[1:]]
    if record.open or not _well_formed(lines, separator):
        return wanted > 0 and any(count >= wanted for count in counts)
    return wanted >= _FEW and all(count == wanted for count in counts)


def _well_formed(lines: Sequence[str], separator: str) -> bool:
    try:
        list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return False
    return True
