"""The messages of an mbox file, one after the other, in little memory.

A line that begins with `From ` divides two messages only after an empty line, with a date in it,
before a header, and outside of the length that `Content-Length` states truly.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LARGEST = 8_000_000
"""Bytes that are read of one message, attachments in base64 not counted."""
_PLENTY = 1_000_000
"""Bytes of a message from which on attachments in base64 are skipped, but for their beginning."""
_BEGINNING = 200_000
MMDF = b"\x01\x01\x01\x01"
"""The line before and after each message of an MMDF file."""
_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20
_LONGEST_LINE = 1 << 16
_MOST_LIES = 100
"""Wrong lengths after which a file's `Content-Length` is not looked at any more."""

_DAY = _MONTH = rb"[A-Za-z\x80-\xff]{2,9}\.?"
"""A word: programs write the person's language here."""
_CLOCK = rb"\d{1,2}:\d\d(?::\d\d)?"
_ZONE = rb"(?:[+-]\d{4}|[A-Z]{1,5}(?:[+-]\d{1,4})?)"
_SEPARATOR = re.compile(
    rb"From (?P<sender>\"[^\"\n]{0,200}\"(?: <)?\S{0,200} +|\S{1,200} at \S{1,200} +|\S{1,400} +)?"
    rb" *(?P<date>"
    rb"%(day)s,? +%(month)s +\d{1,2},? +%(clock)s(?: +%(zone)s){0,2} +\d{4}(?: +%(zone)s)?"
    rb"|%(day)s,? +\d{1,2} +%(month)s +\d{4} +%(clock)s(?: +%(zone)s)?"
    rb"|\d{4}-\d\d-\d\d[T ]%(clock)s(?:\.\d+)?(?: ?%(zone)s|[+-]\d\d:\d\d)?"
    rb")(?: +remote from \S+)?[ \t]*\r?\n?"
    % {b"day": _DAY, b"month": _MONTH, b"clock": _CLOCK, b"zone": _ZONE}
)
_BARE = re.compile(rb"From \S{1,400}[ \t]*\r?\n?")
_ANY = re.compile(rb"From [^\n]{1,400}\n?")
"""Of files whose first line is of no known form."""
_HEADER = re.compile(rb"[!-9;-~]{1,100}[ \t]*:|>From ")
_OF_MAILS = re.compile(
    rb"(?:From|Return-Path|Received|Delivered-To|Message-ID|Date|Subject|To|MIME-Version|Sender|"
    rb"X-(?:Mozilla|Gmail|GM|Account|UIDL|Original)[!-9;-~]*|DKIM-Signature|ARC-[!-9;-~]+)[ \t]*:",
    re.IGNORECASE,
)
_ESCAPED = re.compile(rb">+From ")
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})\s*", re.IGNORECASE)
_CODED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}\r?\n?")


@dataclass(frozen=True, slots=True)
class RawMail:
    """One message as it was found."""

    data: bytes
    stamp: str = ""
    """The date of the line before it."""
    cut: bool = False
    """Whether it is so large that not all of it was read."""


class _Message:
    """Collects the lines of one message; of large attachments only the beginning."""

    def __init__(self, stamp: str = "", escaped: bool = False) -> None:
        self._stamp = stamp
        self._escaped = escaped
        self._lines: list[bytes] = []
        self._size = 0
        self._run = 0
        self._cut = False
        self.in_headers = True
        self.length: int | None = None

    def add(self, line: bytes) -> None:
        if self.in_headers:
            if not line.strip():
                self.in_headers = False
            elif found := _LENGTH.fullmatch(line):
                self.length = int(found[1])
        elif self._escaped and line.startswith(b">") and _ESCAPED.match(line):
            line = line[1:]
        if self._size > _PLENTY and not self._fits(line):
            return
        self._size += len(line)
        self._lines.append(line)

    def _fits(self, line: bytes) -> bool:
        if _CODED.fullmatch(line):
            self._run += len(line)
            return self._run <= _BEGINNING and self._size <= LARGEST
        self._run = 0
        if self._size > LARGEST:
            self._cut = True
            return False
        return True

    def raw(self) -> RawMail:
        return RawMail(b"".join(self._lines), self._stamp, self._cut)


def is_separator(line: bytes) -> bool:
    """Whether a line may stand between two messages."""
    return _SEPARATOR.fullmatch(line) is not None


def one_message(file: BinaryIO) -> RawMail:
    """The one message that a file is."""
    message = _Message()
    for _, line in _lines(file):
        message.add(line)
    return message.raw()


def messages(file: BinaryIO) -> Iterator[RawMail]:
    """The messages of an mbox file; none where it does not begin with a `From ` line."""
    reader = _Mbox(file)
    return reader.messages()


def mmdf_messages(file: BinaryIO) -> Iterator[RawMail]:
    """The messages of an MMDF file, each between lines of four control signs."""
    message = _Message()
    empty = True
    for _, line in _lines(file):
        if line.rstrip(b"\r\n") != MMDF:
            empty = empty and not line.strip()
            message.add(line)
            continue
        if not empty:
            yield message.raw()
        message, empty = _Message(), True
    if not empty:
        yield message.raw()


class _Mbox:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lies = 0
        self._separator = _SEPARATOR

    def messages(self) -> Iterator[RawMail]:
        message: _Message | None = None
        held: tuple[int, bytes] | None = None  # may be a separator: the next line decides
        after_empty, at_start, sure = True, True, True
        body = 0
        believed = 0
        for offset, line in _lines(self._file):
            if held is not None:
                stamp, held_line, held = self._stamp(held[1]), held[1], None
                if (_HEADER if sure else _OF_MAILS).match(line):
                    if message is not None:
                        yield message.raw()
                    message = _Message(stamp, escaped=True)
                elif message is not None:
                    message.add(held_line)
            if message is None and self._begins(line):
                held = offset, line
            elif message is None:
                if line.strip():
                    return  # it is no mbox
                continue
            elif at_start and self._divides(line, sure=after_empty):
                sure = after_empty and self._separator is not _ANY
                if message.length is not None and not message.in_headers and offset >= believed:
                    believed = self._end_of(message, body, offset)
                if offset >= believed:
                    held = offset, line
            if held is None and message is not None:
                in_headers = message.in_headers
                message.add(line)
                if in_headers and not message.in_headers:
                    body = offset + len(line)
            after_empty = at_start and not line.strip()
            at_start = line.endswith(b"\n")
        if message is not None:
            if held is not None:
                message.add(held[1])
            yield message.raw()

    def _begins(self, line: bytes) -> bool:
        """Whether the file's first line is one between messages; it sets their form."""
        if not line.startswith(b"From "):
            return False
        if not _SEPARATOR.fullmatch(line):
            # Written by a program that knows no date there, or has a form of its own for it.
            self._separator = _BARE if _BARE.fullmatch(line) else _ANY
        return True

    def _divides(self, line: bytes, *, sure: bool = True) -> bool:
        """Whether a line may stand between two messages; without an empty line before it (`sure`
        unset), only one with a date, which a header of every mail has to follow."""
        if not line.startswith(b"From "):
            return False
        return (self._separator if sure else _SEPARATOR).fullmatch(line) is not None

    @staticmethod
    def _stamp(line: bytes) -> str:
        found = _SEPARATOR.fullmatch(line)
        return found["date"].decode("ascii", "replace") if found else ""

    def _end_of(self, message: _Message, body: int, offset: int) -> int:
        """Where the message ends by its `Content-Length`, if a message or nothing begins there;
        else `offset`, where another may begin."""
        end = body + (message.length or 0)
        if end <= offset or self._lies >= _MOST_LIES or not self._file.seekable():
            return offset
        here = self._file.tell()
        try:
            self._file.seek(end)
            after = self._file.read(600)
        finally:
            self._file.seek(here)
        left = after.lstrip(b"\r\n")
        at_end = not left and (after or self._file_ends_at(end, here))
        if at_end or (len(after) - len(left) <= 4 and self._divides(_first_line(left))):
            return end
        self._lies += 1
        return offset

    def _file_ends_at(self, end: int, here: int) -> bool:
        size = self._file.seek(0, 2)
        self._file.seek(here)
        return end == size


def _first_line(data: bytes) -> bytes:
    return data.partition(b"\n")[0] + b"\n"


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of a file, line ends kept; a very long line comes in pieces.

    Line ends of old Macintoshes become usual ones.
    """
    offset = 0
    rest = b""
    old: bool | None = None
    while chunk := file.read(_CHUNK):
        if old is None:
            old = b"\r" in chunk and b"\n" not in chunk
            if chunk.startswith(_BOM):
                chunk = chunk.removeprefix(_BOM)
                offset = len(_BOM)
        if old:
            chunk = chunk.replace(b"\r", b"\n")
        *lines, rest = (rest + chunk).split(b"\n")
        lines = [line + b"\n" for line in lines]
        for line in lines:
            yield from _in_pieces(offset, line)
            offset += len(line)
        if len(rest) >= _LONGEST_LINE:
            yield from _in_pieces(offset, rest)
            offset += len(rest)
            rest = b""
    if rest:
        yield from _in_pieces(offset, rest)


def _in_pieces(offset: int, line: bytes) -> Iterator[tuple[int, bytes]]:
    if len(line) <= _LONGEST_LINE:
        yield offset, line
        return
    for begin in range(0, len(line), _LONGEST_LINE):
        yield offset + begin, line[begin : begin + _LONGEST_LINE]
