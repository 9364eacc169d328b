"""A message taken apart: each part with its headers and its bytes.

Whatever a message consists of, each level of nesting reads its bytes once, and levels are
counted; the standard library's parser keeps a line a list entry, which costs a mail with a large
attachment thirteen times its size, and it fails or takes quadratic time on deep nesting.
"""

import binascii
import quopri
import re
from dataclasses import dataclass
from email.message import Message
from functools import cached_property

from ctrag.assistant.imports.mail.charset import decoded
from ctrag.assistant.imports.mail.headers import (
    Headers,
    base64_bytes,
    decoded_words,
    one_line,
    parse_headers,
    split_headers,
)

MOST_PARTS = 1_000
"""Parts that are read of one mail."""
_LONGEST_FIELD = 4_000
_SNIFFED = re.compile(rb"\A\s*--(\S{1,100})[ \t]*\n(?=[Cc]ontent-|\n)")
_UU_BEGIN = re.compile(rb"^begin [0-7]{3,4} [^\n]*\n", re.MULTILINE)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A message or one of its parts."""

    headers: Headers
    body: bytes
    """As it was sent: in its transfer encoding."""
    default: str = "text/plain"
    """Its type where it does not say one."""

    @cached_property
    def _field(self) -> Message:
        """The standard library's reader of a header's parameters."""
        made = Message()
        for name in ("content-type", "content-disposition"):
            value = self.headers.raw(name)
            if value:
                made[name] = one_line(value[:_LONGEST_FIELD])
        return made

    @cached_property
    def type(self) -> str:
        """Like `text/plain`, in small letters."""
        said = self.headers.raw("content-type").partition(";")[0].strip().strip('"').casefold()
        if re.fullmatch(r"[\w.+-]+/[\w.+*-]+", said):
            return said
        return "text/plain" if said.startswith("text") or not said else self.default

    @property
    def main_type(self) -> str:
        """Like `text`."""
        return self.type.partition("/")[0]

    @cached_property
    def attached(self) -> bool:
        """Whether the sender meant it to be saved rather than shown."""
        said = self.headers.raw("content-disposition").partition(";")[0]
        return said.strip().casefold() == "attachment"

    @cached_property
    def name(self) -> str:
        """Name of the file that it is, without a folder; "" where it is none."""
        for field, parameter in (
            ("content-disposition", "filename"),
            ("content-type", "name"),
        ):
            if name := self.parameter(parameter, field):
                return one_line(re.split(r"[/\\]", decoded_words(name))[-1])[:200]
        return ""

    def parameter(self, name: str, field: str = "content-type") -> str:
        """A parameter of a header; "" where it has none."""
        try:
            value = self._field.get_param(name, None, field)
        except (ValueError, LookupError, IndexError, AttributeError, TypeError):
            return ""
        if isinstance(value, tuple):  # RFC 2231: charset, language, text
            charset, _, text = value
            return decoded(text.encode("latin-1", "replace"), charset)
        return (value or "").strip()

    @cached_property
    def content(self) -> bytes:
        """The bytes that were meant, out of their transfer encoding."""
        how = self.headers.raw("content-transfer-encoding").partition(";")[0]
        how = how.strip().strip("'\"").casefold()
        if how == "base64":
            coded, _, footer = self.body.strip().partition(b"\n\n")
            if b" " not in footer:
                coded, footer = self.body, b""
            found = base64_bytes(coded)
            # A mailing list's footer stands behind it as it is.
            return self.body if found is None else b"\n".join(filter(None, (found, footer)))
        if how == "quoted-printable":
            return quopri.decodestring(self.body)
        if how in ("x-uuencode", "uuencode", "uue", "x-uue"):
            return _uudecoded(self.body)
        return self.body

    @cached_property
    def text(self) -> str:
        """The content as text."""
        charset = self.parameter("charset")
        data = self.content
        if self.type == "text/html" and not charset:
            found = _META.search(data[:2000])
            charset = found[1].decode("ascii") if found else ""
        return decoded(data, charset).replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def children(self) -> tuple["Part", ...]:
        """The parts of a multipart, at most `MOST_PARTS`; itself as text where it cannot be
        divided."""
        boundary = self.parameter("boundary").encode("utf-8", "surrogateescape")
        default = "message/rfc822" if self.type == "multipart/digest" else "text/plain"
        pieces = _pieces(self.body, boundary) if boundary else []
        if not pieces:
            sniffed = _SNIFFED.search(self.body)
            pieces = _pieces(self.body, sniffed[1]) if sniffed else []
        if not pieces:
            return (Part(Headers((), self.headers.charset), self.body),)
        return tuple(part_of(piece, self.headers.charset, default) for piece in pieces)

    def embedded(self) -> "Part":
        """The message that a part of type message/rfc822 is."""
        return part_of(self.content.replace(b"\r\n", b"\n").lstrip(b"\n"), self.headers.charset)


def part_of(data: bytes, charset: str | None = None, default: str = "text/plain") -> Part:
    """A message, or the part of one.

    Args:
        data: Its bytes, lines ending with `\\n`.
        charset: What its raw headers probably are written in, where it does not say.
        default: Its type where it says none.
    """
    block, body = split_headers(data)
    headers, rest = parse_headers(block)
    part = Part(headers, rest + b"\n\n" + body if rest else body, default)
    said = part.parameter("charset") or charset
    if said:
        part = Part(Headers(headers.fields, said), part.body, default)
    return part


def with_plain_line_ends(data: bytes) -> bytes:
    """The message with lines that end with `\\n`, whatever they ended with."""
    if b"\r" in data:
        data = data.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
        if b"\n" not in data[:LINES_LOOKED_AT]:
            data = data.replace(b"\r", b"\n")  # as old Macintoshes wrote
    return data


LINES_LOOKED_AT = 4_000
"""Bytes in which a mail has a line's end."""


def _pieces(body: bytes, boundary: bytes) -> list[bytes]:
    """What stands between the lines of the boundary; what is before the first is for nobody."""
    line = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*$\n?", re.MULTILINE)
    pieces: list[bytes] = []
    begin: int | None = None
    for found in line.finditer(body):
        if len(pieces) > MOST_PARTS:
            return pieces
        if begin is not None:
            pieces.append(body[begin : max(begin, found.start() - 1)])
        begin = None if found[1] else found.end()
    if begin is not None:
        pieces.append(body[begin:])  # cut off, or never ended
    return pieces


def _uudecoded(body: bytes) -> bytes:
    begun = _UU_BEGIN.search(body)
    if begun is None:
        return body
    lines = []
    for line in body[begun.end() :].split(b"\n"):
        if line.strip() == b"end":
            break
        try:
            lines.append(binascii.a2b_uu(line))
        except binascii.Error:
            continue
    return b"".join(lines)
