"""Text of others on a terminal: what would steer it is shown as an escape, not sent."""

import re
import sys
import unicodedata

LONGEST_MESSAGE = 300
"""Characters of an error message at most."""
_TAIL = 90
"""Characters of a cut message's end that are kept: what to do stands there."""
# Everything that is not plain text to a terminal is in these ranges or has the category Cf or Co;
# the regex finds the few characters worth looking up.
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\uffff\U00010000-\U0010ffff]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str, *, one_line: bool = False) -> str:
    r"""The text with control, format and bidi characters and lone surrogates as escapes: `\x1b`.

    Args:
        text: Anything.
        one_line: Show line breaks and tabs as escapes, too; for places where a new line would pass
            as one of ctrag's own.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _SUSPECT.sub(_escaped, text.replace("\r\n", "\n"))
    return shown.replace("\n", "\\n").replace("\t", "\\t") if one_line else shown


def visible_json(text: str) -> str:
    r"""A JSON document that means the same, with what would steer a terminal as `\uXXXX`."""
    return _SUSPECT.sub(_json_escaped, text)


def message(text: str) -> str:
    """An error or a note as one visible line of at most `LONGEST_MESSAGE` characters."""
    # The first thousands are enough to cut from, whatever the length of what was quoted.
    flat = visible(" ".join(text[:4000].split()), one_line=True)
    if len(text) > 4000:
        flat += " … " + visible(" ".join(text[-200:].split()), one_line=True)
    if len(flat) <= LONGEST_MESSAGE:
        return flat
    return f"{flat[: LONGEST_MESSAGE - _TAIL - 3]} … {flat[-_TAIL:]}"


def note(text: str) -> None:
    """`ctrag: …` on stderr, cleaned and cut as `message` does it."""
    print(f"ctrag: {message(text)}", file=sys.stderr, flush=True)


def _escaped(found: re.Match[str]) -> str:
    sign = found[0]
    if unicodedata.category(sign) not in _UNSEEN:
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else _four_or_eight(code)


def _four_or_eight(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escaped(found: re.Match[str]) -> str:
    sign = found[0]
    if unicodedata.category(sign) not in _UNSEEN:
        return sign
    code = ord(sign)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
