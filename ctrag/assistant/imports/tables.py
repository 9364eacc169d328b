"""CSV files with a line of headings, as applications write them in any language."""

import csv
import io
import re
from collections.abc import Iterator, Mapping

from ctrag.assistant.imports.card_lines import as_utf8
from ctrag.assistant.imports.card_lines import decoded as by_line
from ctrag.assistant.imports.mail.charset import detected
from ctrag.assistant.imports.mail.latin import latin_charset

_SEPARATORS = ",;\t|"
_LONGEST_FIELD = 1_000_000
_REMARKS = re.compile(r"\A[^,;\t|\n]{1,40}:[ \t]*\r?\n(?:[^\n]*[^\s][^\n]*\n){1,9}[ \t]*\r?\n")


def rows(data: bytes) -> Iterator[dict[str, str]]:
    """The rows by `folded` heading; a row that is longer than the headings loses the rest."""
    csv.field_size_limit(_LONGEST_FIELD)
    text = _without_hint(_decoded(data).replace("\0", ""))
    first = _first_line(text)
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        headings = [folded(one) for one in next(reader, [])]
        for row in reader:
            if any(one.strip() for one in row):
                found: dict[str, str] = {}
                for heading, value in zip(headings, row, strict=False):
                    found.setdefault(heading, value.strip())
                yield found
    except csv.Error:
        return  # a field of more than a megabyte, or a quotation mark that never ends


def headings(head: bytes) -> set[str]:
    """The `folded` headings of a file that begins so; the empty set where it is no table."""
    line = _first_line(_without_hint(_decoded(head).lstrip()))
    separator = max(_SEPARATORS, key=line.count)
    if separator not in line:
        return set()
    try:
        return {folded(one) for one in next(csv.reader([line], delimiter=separator), [])}
    except csv.Error:  # a heading of more than a megabyte
        return set()


def _decoded(data: bytes) -> str:
    """The text of a table; one in another script than Latin is told by all its bytes."""
    data = as_utf8(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        whole = error.start > len(data) - 4  # the head of a file, cut inside of a character
        strange = len(re.findall(rb"[\x80-\xff]", data))
        foreign = not whole and strange > len(re.findall(rb"[A-Za-z]", data)) // 3
        charset = (detected(data) or "") if foreign else ""
        return by_line(data, charset, "cp1252" if whole else latin_charset(data))


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text, maxsplit=1)[0]


def _without_hint(text: str) -> str:
    """The table without a first line such as `sep=;`, which Excel reads, and without remarks that
    an empty line parts from it, as LinkedIn writes them."""
    text = re.sub(r"\A\s*\"?sep=.\"?[ \t]*\r?\n", "", text, flags=re.IGNORECASE)
    remarks = _REMARKS.match(text)
    return text[remarks.end() :] if remarks else text


def folded(heading: str) -> str:
    """A heading without case and signs: `E-mail 1 - Value` is `e mail 1 value`."""
    return " ".join(re.findall(r"\w+", heading.casefold()))


def first(row: Mapping[str, str], *names: str) -> str:
    """The first of these columns that says something."""
    return next((row[name] for name in names if row.get(name)), "")
