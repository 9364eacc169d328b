"""Text of others on a terminal: what would steer it is shown as an escape, not sent."""

import re
import sys
import unicodedata
from collections.abc import Callable

LONGEST_MESSAGE = 300
"""Characters of an error message at most."""
_TAIL = 90
"""Characters of a cut message's end that are kept: what to do stands there."""
MOST_MARKS = 8
"""Combining marks on one letter at most; no language stacks as many, and hundreds cover the lines
above and below."""
# Everything that is not plain text to a terminal is in these ranges; the regex finds the few runs
# worth looking up.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0300-\u036f\u0483-\u0489\u0591-\U0010ffff]+"
)
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me"})
# What no category tells: Unicode's Default_Ignorable_Code_Point, but for U+FE0E and U+FE0F (whether
# an emoji is coloured), its noncharacters, and the blank of Braille.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufff8"
    "\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)


def visible(text: str, *, one_line: bool = False) -> str:
    r"""The text with what a terminal obeys or does not show as escapes: `\x1b`, `\u202e`.

    These are control, format and bidi characters, lone surrogates, invisible letters, and combining
    marks beyond `MOST_MARKS` on one letter.

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
    return _shown(found[0], _escape)


def _json_escaped(found: re.Match[str]) -> str:
    return _shown(found[0], _json_escape)


def _shown(run: str, escape: Callable[[str], str]) -> str:
    """A run of suspect characters, with those that may not be sent as escapes."""
    shown: list[str] = []
    marks = 0
    for char in run:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        hidden = category in _UNSEEN or marks > MOST_MARKS or _is_invisible(char)
        shown.append(escape(char) if hidden else char)
    return "".join(shown)


def _is_invisible(char: str) -> bool:
    return ord(char) & 0xFFFE == 0xFFFE or _INVISIBLE.match(char) is not None


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
