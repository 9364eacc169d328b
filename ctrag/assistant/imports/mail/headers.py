"""Header lines as text, and the people they name. A header is taken apart before its encoded
words are decoded: what is decoded may have commas and brackets that divide nothing."""

import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import getaddresses

from ctrag.assistant.imports.mail.charset import clean, decoded

LONGEST_BLOCK = 1_000_000
"""Bytes of one mail's headers that are read."""
_LONGEST_VALUE = 200_000
_LONGEST_LIST = 100_000
"""Characters of one header's list of people: a few thousand."""
_LONGEST_NAME = 200
_DEEPEST = 50
"""Brackets that one list of people may open."""
_END = re.compile(
    rb"(?:\n|\A)(?:\n|[ \t]+\n(?!(?:[ \t]+\S[^\n]*\n|[ \t]*\n){0,20}"
    rb"(?:MIME-Version|Content-Type|Message-ID|Date|To|From|Subject)[ \t]*:))",
    re.IGNORECASE,
)
"""An empty line; one of spaces only, unless headers that mails have go on behind it."""
_FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bq])\?([^?\n]*)\?=", re.IGNORECASE)
_WORDS = re.compile(rf"{_WORD.pattern}(?:[ \t]*{_WORD.pattern})*", re.IGNORECASE)
_MARK = re.compile("\ue000(\\d+)\ue001")
_MARKS = re.compile("[\ue000\ue001]")
_ALONE = re.compile(r"\s*((?:[^<>\",@(]|,(?![^<]*,)|@(?![^<]*,))*)<([^<>]*)>?\s*")
"""One person and no quotes, as most headers are: a comma and an @ in the name divide nothing."""
_SIGNS = "()<>[]\",.;:\\' @"
"""What is left of a header that names nobody."""
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,100}@\w[\w.-]{0,200}")


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of one mail or of one of its parts, in order, not yet decoded."""

    fields: tuple[tuple[str, bytes], ...]
    """(name in small letters, value without line breaks)."""
    charset: str | None = None
    """What bytes that are not ASCII probably are, where they are not UTF-8."""

    def all(self, name: str) -> list[str]:
        """The values of every header of that name, as they stand: encoded words and all."""
        return [
            _MARKS.sub("", decoded(value[:_LONGEST_VALUE], self._charset_of(value)))
            for key, value in self.fields
            if key == name
        ]

    def _charset_of(self, value: bytes) -> str | None:
        return self.charset if b"\x1b" in value or not value.isascii() else None

    def raw(self, name: str) -> str:
        """The value of the first header of that name; "" without one."""
        return next(iter(self.all(name)), "")

    def text(self, name: str) -> str:
        """The first header of that name, decoded, on one line; "" without one."""
        return one_line(decoded_words(self.raw(name)))


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Somebody whom a header names."""

    name: str
    address: str

    @property
    def shown(self) -> str:
        """What people call them."""
        return (self.name or self.address)[:_LONGEST_NAME]


def split_headers(data: bytes) -> tuple[bytes, bytes]:
    """Headers and body of a mail or part whose lines end with `\\n`."""
    found = _END.search(data, 0, LONGEST_BLOCK)
    if found is None:
        return (data[:LONGEST_BLOCK], b"") if _FIELD.match(data) else (b"", data)
    return data[: found.start()], data[found.end() :]


def parse_headers(block: bytes) -> tuple[Headers, bytes]:
    """The headers of a block, and what follows them there that is none (no empty line ended them).

    A carriage return inside of a header begins no new one.
    """
    fields: list[tuple[str, list[bytes]]] = []
    lines = block.split(b"\n")
    rest = b""
    for number, line in enumerate(lines):
        line = line.replace(b"\r", b" ")
        if line[:1] in (b" ", b"\t"):
            if fields:
                fields[-1][1].append(line)
        elif _FIELD.match(line):
            name, _, value = line.partition(b":")
            fields.append((name.strip().decode("ascii", "replace").casefold(), [value]))
        elif not line or line.startswith((b"From ", b">From ")):
            continue
        elif fields and number + 1 < len(lines) and _FIELD.match(lines[number + 1]):
            fields[-1][1].append(b" " + line)  # a header that was folded without the space
        else:
            rest = b"\n".join(lines[number:])
            break
    return Headers(tuple((name, b"".join(parts)) for name, parts in fields)), rest


def decoded_words(text: str) -> str:
    """The text with its encoded words (RFC 2047) decoded; those that cannot be stay as they are."""
    return _WORDS.sub(lambda found: _decoded_run(found[0]), text)


def one_line(text: str) -> str:
    """The text without control characters, line breaks and outer spaces."""
    return " ".join(clean(text).split())


def people(headers: Headers, *names: str) -> list[Mailbox]:
    """Everybody whom the headers of these names list, in order, each once."""
    found = dict.fromkeys(
        one for name in names for value in headers.all(name) for one in _people(value)
    )
    return list(found)


def _people(value: str) -> Iterator[Mailbox]:
    runs: list[str] = []

    def keep(found: re.Match[str]) -> str:
        runs.append(_decoded_run(found[0]))
        return f"\ue000{len(runs) - 1}\ue001"

    marked = _WORDS.sub(keep, value[:_LONGEST_LIST])
    if '"' not in marked and ":" not in marked:
        marked = marked.replace(";", ",")  # as Outlook divides people
    for name, address in _pairs(marked):
        shown = one_line(_MARK.sub(lambda found: runs[int(found[1])], name))
        bare = one_line(_MARK.sub(lambda found: runs[int(found[1])], address))
        bare = bare.removeprefix("mailto:")
        if len(shown) > 1 and shown[0] == shown[-1] and shown[0] in "'\"":
            shown = shown[1:-1].strip()
        if not shown.strip(_SIGNS):
            shown = ""
        if shown or "@" in bare:
            yield Mailbox(shown, bare)


def _pairs(value: str) -> list[tuple[str, str]]:
    """(name, address) of each person in a list."""
    alone = _ALONE.fullmatch(value)
    if alone is not None:
        return [(alone[1], alone[2])]
    if not re.search(r"[@<:;]", value):
        return [(value, "")]
    if max(value.count(one) for one in '(["<\\') > _DEEPEST and not _orderly(value):
        return [("", address) for address in _ADDRESS.findall(value)]
    return _joined(getaddresses([value]))


def _orderly(value: str) -> bool:
    """Whether a long list is one of many people, rather than of brackets."""
    return value.count("(") <= _DEEPEST and value.count("@") >= max(
        value.count("<"), value.count('"') // 2
    )


def _joined(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The list with `Berg, Ole <ole@example.org>`, which ought to have quotes, as one person."""
    joined: list[tuple[str, str]] = []
    surname = ""
    for name, address in pairs:
        if not name and address and "@" not in address:
            surname = f"{surname}{address}, "
        else:
            joined.append((surname + name, address) if name else (surname.rstrip(", "), address))
            surname = ""
    return [*joined, (surname.rstrip(", "), "")] if surname else joined


def _decoded_run(run: str) -> str:
    """Neighbouring encoded words: parts of one character may stand in two of them."""
    text = ""
    held: tuple[str, bytes] | None = None
    for charset, how, content in _WORD.findall(run):
        data = _bytes(how, content)
        if data is None:
            text += _text(held) + f"=?{charset}?{how}?{content}?="
            held = None
        elif held is not None and held[0].casefold() == charset.casefold():
            held = (held[0], held[1] + data)
        else:
            text += _text(held)
            held = (charset, data)
    return text + _text(held)


def _text(word: tuple[str, bytes] | None) -> str:
    return "" if word is None else decoded(word[1], word[0].partition("*")[0])


def _bytes(how: str, content: str) -> bytes | None:
    try:
        raw = content.encode("ascii")
    except UnicodeEncodeError:
        raw = content.encode()
    if how in "qQ":
        return quopri.decodestring(raw.replace(b"_", b" ").replace(b"\n", b""), header=False)
    return base64_bytes(raw)


def base64_bytes(raw: bytes) -> bytes | None:
    """What base64 means, also where padding is missing or other signs stand between; None where
    nothing does."""
    kept = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    if len(kept) % 4 == 1:
        kept = kept[:-1]
    try:
        found = binascii.a2b_base64(kept + b"=" * (-len(kept) % 4))
    except binascii.Error:
        return None
    return found if found or not raw.strip() else None
