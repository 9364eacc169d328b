"""The lines of vCards: cards apart, folded lines joined, values decoded."""

import base64
import binascii
import codecs
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctrag.assistant.imports.mail.charset import detected, utf8_text
from ctrag.assistant.imports.mail.latin import latin_charset

_PROPERTY = re.compile(rb"\s*(?:([\w-]+)\.)?([A-Za-z][\w-]*)[ \t]*([;:])")
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN\s*:\s*VCARD\s*$", re.IGNORECASE)
_END = re.compile(rb"\s*END\s*:\s*VCARD\s*$", re.IGNORECASE)
_JOINED = re.compile(rb"(END:VCARD)(?=BEGIN:VCARD)", re.IGNORECASE)
"""Books that were put together without a line's end."""
_AGENT = re.compile(rb"\s*AGENT\b[^:]*:\s*$", re.IGNORECASE)
_SOFT_BREAK = re.compile(rb"[^:]*;[^:]*QUOTED-PRINTABLE", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff]")
_WORDS = re.compile(rb"^(?:FN|N|ORG|NOTE|ADR|TITLE)\b[^:\n]*:(.*)", re.MULTILINE | re.IGNORECASE)
"""Values that are words of the person who wrote them."""
_TEXTS = {"ADR", "FN", "LABEL", "N", "NOTE", "ORG", "ROLE", "TITLE"}
"""Properties whose values may have lines that were not folded."""
_BINARY = {"PHOTO", "LOGO", "SOUND", "KEY"}
_NAMES = frozenset(
    """ADR AGENT ANNIVERSARY BDAY CALADRURI CALURI CATEGORIES CLASS CLIENTPIDMAP CREATED EMAIL FBURL
    FN GENDER GEO GRAMGENDER IMPP KEY KIND LABEL LANG LANGUAGE LOGO MAILER MEMBER N NAME NICKNAME
    NOTE ORG PHOTO PRODID PRONOUNS PROFILE RELATED REV ROLE SOCIALPROFILE SORT-STRING SOUND SOURCE
    TEL TITLE TZ UID URL VERSION XML""".split()
)
"""Properties of versions 2.1 to 4; others begin with `X-`."""


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a card."""

    group: str
    name: str
    parameters: dict[str, list[str]]
    """Upper-case name → upper-case values; bare ones, as version 2.1 has them, under `TYPE`. The
    value of LABEL is text, and as it is written."""
    value: str
    """Decoded; backslashes as they are."""

    def types(self) -> set[str]:
        """Values of TYPE, such as `CELL`."""
        return set(self.parameters.get("TYPE", ()))

    def preference(self) -> int:
        """How far the value stands behind: 1 is preferred, 101 says nothing."""
        given = (self.parameters.get("PREF") or [""])[0]
        if given.isascii() and given.isdigit() and len(given) < 4:
            return int(given)
        return 1 if "PREF" in self.types() or "PREF" in self.parameters else 101

    def text(self) -> str:
        """The value without escapes."""
        return unescaped(self.value)

    def parts(self, separator: str = ";") -> list[str]:
        """The parts of a value between separators that are not escaped."""
        found, start, place = [], 0, 0
        while place < len(self.value):
            if self.value[place] == "\\":
                place += 1
            elif self.value[place] == separator:
                found.append(self.value[start:place])
                start = place + 1
            place += 1
        return [unescaped(one) for one in (*found, self.value[start:])]


@dataclass(slots=True)
class Card:
    """The lines of one card."""

    lines: list[bytes] = field(default_factory=list)
    ended: bool = False
    """Whether its END:VCARD is there."""
    charset: str = "cp1252"
    """What values are written in that name none and are not UTF-8."""


def as_utf8(data: bytes) -> bytes:
    """UTF-8, UTF-16 or UTF-32 by its mark, or UTF-16 by its zero bytes, as UTF-8 without a mark;
    anything else as it is."""
    for mark, charset in (
        (codecs.BOM_UTF8, ""),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            if not charset:
                return data[len(mark) :]
            return data.decode(charset, "replace").encode("utf-8", "replace")
    start = data[:64]
    if len(start) > 3 and start.count(0) * 3 > len(start):
        charset = "utf-16-be" if start[0] == 0 else "utf-16-le"
        return data.decode(charset, "replace").encode("utf-8", "replace")
    return data


def decoded(raw: bytes, charset: str = "", otherwise: str = "cp1252") -> str:
    """Text in the charset that is named, else UTF-8, else in `otherwise`."""
    if charset and charset.upper() not in ("UTF-8", "UTF8"):
        try:
            return raw.decode(charset)
        except (LookupError, ValueError):
            pass
    text = utf8_text(raw)
    return raw.decode(otherwise, "replace") if text is None else text


def _in_one_charset(data: bytes) -> bytes:
    """A file that names no charset and is not written in Latin letters, such as a Russian one, as
    UTF-8; any other as it is, as its lines may differ."""
    if data.isascii() or re.search(rb";CHARSET=", data, re.IGNORECASE):
        return data
    unfolded = re.sub(rb"\r?\n[ \t]", b"", data)  # lines may be folded inside a character
    if utf8_text(unfolded) is None:
        values = b"\n".join(_WORDS.findall(data))
        if len(re.findall(rb"[\x80-\xff]", values)) > len(re.findall(rb"[A-Za-z]", values)):
            charset = detected(values)
            if charset is not None:
                return data.decode(charset, "replace").encode("utf-8", "replace")
    return data


def _otherwise(data: bytes) -> str:
    """The charset of the values that are not UTF-8, told by all of them."""
    return latin_charset(b"\n".join(one for one in _WORDS.findall(data) if not _is_utf8(one)))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def cards(data: bytes) -> Iterator[Card]:
    """The cards of a file, each with its lines; one inside another (AGENT) is passed over."""
    card: Card | None = None
    inner = 0
    text = _JOINED.sub(rb"\1\n", _in_one_charset(as_utf8(data)))
    charset = _otherwise(text)
    for line in text.splitlines():
        if _BEGIN.match(line):
            if card is not None and (inner or (card.lines and _AGENT.match(card.lines[-1]))):
                inner += 1
                continue
            if card is not None:
                yield card
            card = Card(charset=charset)
        elif card is None:
            continue
        elif _END.match(line):
            if inner:
                inner -= 1
                continue
            card.ended = True
            yield card
            card = None
        elif not inner:
            card.lines.append(line)
    if card is not None:
        yield card


def properties(card: Card) -> tuple[list[Property], list[str]]:
    """The properties of a card, and the lines that are none.

    A line that is neither a property nor folded is part of the text before it, if there is one.
    """
    found: list[tuple[re.Match[bytes], bytearray]] = []
    strays: list[str] = []
    old = any(re.match(rb"\s*VERSION\s*:\s*2", line, re.IGNORECASE) for line in card.lines[:9])
    soft = False
    for line in card.lines:
        begun = _PROPERTY.match(line)
        if soft and found:
            found[-1][1].extend(line)
        elif line[:1] in (b" ", b"\t") and found:
            # Version 2.1 folds where there is a space already.
            found[-1][1].extend(line if old and not _binary(found[-1][0]) else line[1:])
        elif begun is None or not _is_name(begun):
            if line.strip() and found and not _binary(found[-1][0]):
                if found[-1][0][2].decode().upper() in _TEXTS:
                    found[-1][1].extend(b"\\n" + line)
                strays.append(decoded(line).strip())
        else:
            found.append((begun, bytearray(line)))
        soft = bool(found) and found[-1][1].endswith(b"=") and _is_quoted(found[-1][1])
        if soft:
            del found[-1][1][-1:]
    values = [one for one in found if not _binary(one[0])]
    read = [_property(start, bytes(line), card.charset) for start, line in values]
    return read, strays


def unescaped(text: str) -> str:
    """Text without backslashes before signs, without control characters and outer spaces."""
    plain = _ESCAPED.sub(lambda one: "\n" if one[1] in "nN" else one[1], text)
    return _CONTROLS.sub("", plain).strip()


def _is_name(start: re.Match[bytes]) -> bool:
    name = start[2].decode().upper()
    return name in _NAMES or name.startswith("X-")


def _binary(start: re.Match[bytes]) -> bool:
    return start[2].decode().upper() in _BINARY


def _is_quoted(line: bytearray) -> bool:
    return _SOFT_BREAK.match(bytes(line[:300])) is not None


def _property(start: re.Match[bytes], line: bytes, otherwise: str) -> Property:
    colon = _colon(line, start.end() - 1)
    parameters: dict[str, list[str]] = {}
    for part in re.findall(r'(?:"[^"]*"|[^;"])+', decoded(line[start.end() - 1 : colon])):
        name, equals, value = part.partition("=")
        name = name.strip().upper()
        if name == "LABEL":
            parameters[name] = [value.strip(' "')]
        elif equals:
            values = [one.strip(' "') for one in value.replace('"', "").split(",")]
            parameters.setdefault(name, []).extend(one.upper() for one in values)
        elif name:
            parameters.setdefault("TYPE", []).append(name)
    raw = line[colon + 1 :]
    encodings = {*parameters.get("ENCODING", ()), *parameters.get("TYPE", ())}
    if "QUOTED-PRINTABLE" in encodings:
        raw = quopri.decodestring(raw)
    elif encodings & {"B", "BASE64"}:
        raw = _from_base64(raw)
    charset = (parameters.get("CHARSET") or [""])[0]
    group = (start[1] or b"").decode().upper()
    text = decoded(raw, charset, otherwise)
    return Property(group, start[2].decode().upper(), parameters, text)


def _colon(line: bytes, start: int) -> int:
    """Where the value begins: the first colon outside quotation marks, else the first."""
    first = line.find(b":", start)
    place, quotes, counted = first, 0, start
    while place >= 0:
        quotes += line.count(b'"', counted, place)
        if quotes % 2 == 0:
            return place
        counted, place = place, line.find(b":", place + 1)
    return first if first >= 0 else len(line)


def _from_base64(raw: bytes) -> bytes:
    try:
        return base64.b64decode(b"".join(raw.split()), validate=True)
    except (binascii.Error, ValueError):
        return raw
