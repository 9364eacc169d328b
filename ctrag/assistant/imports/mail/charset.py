"""Bytes as text: by the charset that they are said to have where that fits, else by what they
look like."""

import codecs
import re

from ctrag.assistant.imports.mail.latin import is_latin, latin_charset

_NOT_FOR_MAIL = {
    *("charmap", "idna", "mbcs", "oem", "palmos", "punycode"),
    *("raw-unicode-escape", "undefined", "unicode-escape", "unicode-internal"),
}
"""Codecs of the interpreter that are no charset of a mail: they fail on any input, or run it."""
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "cp1252": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "big5": "cp950",
}
"""Charset → the larger one that senders mean by it (as browsers read it)."""
_ALIASES = {
    "cp-850": "cp850",
    "ks_c_5601-1987": "cp949",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "unicode-1-1-utf-7": "utf-7",
    "utf8mb4": "utf-8",
    "windows-874": "cp874",
    "x-mac-roman": "mac-roman",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
}
_IN_ASCII = ("utf-7", "utf-16", "utf-32", "iso2022", "hz")
"""Charsets, or families of them, whose bytes may all be ASCII and mean something else."""
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HALVES = re.compile(rb"(?:\xed[\xa0-\xbf][\x80-\xbf])+")
"""Surrogates as UTF-8 would spell them, if it had them."""
_DETECTED_FROM = 32
"""Bytes that are not ASCII, from which on a detected charset is more than a guess; of a text with
hardly a Latin letter, `_FOREIGN_FROM` are enough."""
_FOREIGN_FROM = 4
_CYRILLIC = re.compile("[А-ЯЁЄІЇҐ]?[а-яёєіїґ]+|[А-ЯЁЄІЇҐ]+")
_VOWELS = frozenset("аеёиоуыэюяіїє")
_HEBREW = re.compile(rb"[\x00-\x7f\xe0-\xfa]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000


def decoded(data: bytes, charset: str | None = None) -> str:
    """The text; bytes that no charset explains become U+FFFD.

    Args:
        data: The bytes, of any origin.
        charset: The charset that the sender named, if any; it may be unknown or wrong.
    """
    if data.startswith(codecs.BOM_UTF8):
        return clean(data.decode("utf-8-sig", "replace"))
    name = _known(charset)
    if data.isascii() and not (name or "").startswith(_IN_ASCII):
        return clean(data.decode("ascii"))
    return clean(_decoded(data, name))


def clean(text: str) -> str:
    """The text without control characters and halves of characters, which no store keeps."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROLS.sub("", text)


def _decoded(data: bytes, name: str | None) -> str:
    if name is None:
        return _guessed(data)
    if (
        _wide(name)
        and b"\x00" not in data[:200]
        and not data.startswith((b"\xff\xfe", b"\xfe\xff"))
    ):
        return _guessed(data)  # said of a page that was UTF-16 before it was sent
    if name in ("cp1252", "utf-8"):
        return _guessed(data)
    try:
        return data.decode(name)
    except (UnicodeError, ValueError, LookupError):
        pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode(name, "replace")
    except (UnicodeError, ValueError, LookupError):
        return _guessed(data)


def _guessed(data: bytes) -> str:
    text = utf8_text(data)
    return data.decode(likeliest(data), "replace") if text is None else text


def utf8_text(data: bytes) -> str | None:
    """The text of bytes in UTF-8, also where a few of them are lost, or where signs are written as
    pairs of surrogates as Java does; None where they look like another charset."""
    for tried in (data, _HALVES.sub(_whole, data)):
        try:
            return tried.decode("utf-8")
        except UnicodeDecodeError:
            continue
    text = data.decode("utf-8", "replace")
    sample = text[:_SAMPLE]
    lost = sample.count("\ufffd")
    return text if sum(one > "\x7f" for one in sample) >= 2 * lost else None


def _whole(found: re.Match[bytes]) -> bytes:
    pair = found[0].decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
    return pair.decode("utf-16-le", "replace").encode()


def likeliest(data: bytes) -> str:
    """The charset of bytes that are not UTF-8, whatever script they are written in."""
    return (None if is_latin(data) else detected(data)) or latin_charset(data)


def detected(data: bytes) -> str | None:
    """The charset that bytes look like, where there are enough that are not ASCII to tell."""
    sample = data[:_SAMPLE]
    strange = len(sample) - len(sample.decode("ascii", "ignore"))
    foreign = strange >= _FOREIGN_FROM and strange > len(re.findall(rb"[A-Za-z]", sample))
    if strange < _DETECTED_FROM and not foreign:
        return None
    if foreign and (name := _foreign(sample)):
        return name
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None:
        return None
    name = codecs.lookup(best.encoding).name
    if foreign and name != "cp1251" and _HEBREW.fullmatch(sample):
        return "cp1255"
    return None if name in _NOT_FOR_MAIL or _wide(name) else _MEANT.get(name, name)


def _foreign(data: bytes) -> str | None:
    """The charset of a text with few Latin letters, where its bytes alone tell it."""
    cyrillic = max(("cp1251", "koi8-r"), key=lambda name: _cyrillic(data, name))
    if _cyrillic(data, cyrillic):
        return cyrillic
    runs = re.findall(rb"[\x80-\xff]+", data)
    if any(len(run) % 2 or min(run) < 0xA1 for run in runs):
        return None  # else two bytes a character, both beyond 0xa0
    rows = [row for run in runs for row in run[::2]]
    if sum(row in (0xA4, 0xA5) for row in rows) * 5 >= len(rows):  # kana
        return "euc_jp"
    # Korean words are of the rows 0xb0 to 0xc8; of Chinese ones two in five are beyond.
    words = [row for row in rows if row >= 0xB0]
    return "gb18030" if words and 0xC8 < max(words) < 0xF8 else None


def _cyrillic(data: bytes, charset: str) -> int:
    """How many small Cyrillic letters the text has; 0 where it is not made of Cyrillic words."""
    text = data.decode(charset, "replace")
    strange = [one for one in text if not one.isascii()]
    words = [one for one in _LETTERS.findall(text) if not one.isascii()]
    if sum(map(str.isalpha, strange)) * 10 < 9 * len(strange):
        return 0
    if sum(_CYRILLIC.fullmatch(one) is not None for one in words) * 5 < 4 * len(words):
        return 0
    if sum(one in _VOWELS for one in text.casefold()) < 0.27 * len(strange):
        return 0  # Greek and Hebrew in Cyrillic letters have hardly any
    return sum(map(str.islower, strange))


def _wide(name: str | None) -> bool:
    return name is not None and name.startswith(("utf-16", "utf-32"))


def _known(charset: str | None) -> str | None:
    """The interpreter's name of the charset that is meant; None where there is none."""
    if not charset or len(charset) > 40 or not charset.isprintable():
        return None
    plain = charset.strip(" \t'\"").casefold()
    try:
        found = codecs.lookup(_ALIASES.get(plain, plain))
        b"".decode(found.name)  # not all codecs are charsets
    except (LookupError, UnicodeError, ValueError):
        return None
    if found.name in _NOT_FOR_MAIL:
        return None
    return _MEANT.get(found.name, found.name)
