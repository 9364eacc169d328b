"""Texts cut along their headings, and long sections at paragraphs, lines, sentences, words."""

import re
from collections.abc import Iterator, Sequence

from ctrag.models.tokens import CountTokens

SMALLEST, LARGEST = 200, 600
"""Tokens of a fragment. A document that is shorter is one fragment."""
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r" {0,3}(=+|--+)\s*$")
"""Below a line that is a heading."""
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FULL_STOP = re.compile(r"(?<=[。！？；…।॥။።؟۔])")
"""The end of a sentence in a script that puts no blank after it."""
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"\s*\|?[ \t:|-]*--[ \t:|-]*$")
"""The line below the heads of a table."""


def sections(text: str, count: CountTokens) -> list[tuple[str, str]]:
    """(headings above, text) of each part, neighbours joined until they hold `SMALLEST` tokens,
    long ones in several parts of at most `LARGEST`."""
    return _joined(list(_sections(text, count)), count)


class Fence:
    """Whether a line is code: a block ends with the signs that it began with, or more of them."""

    def __init__(self) -> None:
        self.opening = ""
        """The line that opened the block; empty outside of one."""
        self._signs = ""

    def read(self, line: str) -> bool:
        """Whether the line belongs to a block of code, its first and last line included."""
        match = _FENCE.match(line)
        if not self.opening:
            if match and not (match[1][0] == "`" and "`" in match[2]):  # `code` within a line
                self.opening, self._signs = line, match[1]
            return bool(self.opening)
        if match and match[1].startswith(self._signs) and not match[2].strip():
            self.opening = ""
        return True

    @property
    def closing(self) -> str:
        """The line that would close the block."""
        return self._signs


def _sections(text: str, count: CountTokens) -> Iterator[tuple[str, str]]:
    """(headings above, text with its own heading) of each section; long ones in several parts."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = Fence()

    def close() -> Iterator[tuple[str, str]]:
        body = "\n".join(lines).strip()
        path = " > ".join(title for _, title in above)
        for part in _split(body, count) if body else ():
            yield path, part

    for line in text.splitlines():
        code = fence.read(line)
        match = None if code else _HEADING.match(line)
        below = None if code or not _may_be_underlined(lines) else _UNDERLINE.match(line)
        if match or below:
            head = [lines.pop()] if below else []
            yield from close()
            lines[:] = head
            level = len(match[1]) if match else 1 + (line.strip()[0] == "-")
            above = [(depth, title) for depth, title in above if depth < level]
            above.append((level, match[2] if match else head[0].strip()))
        lines.append(line)
    yield from close()


def _may_be_underlined(lines: Sequence[str]) -> bool:
    """Whether the last line stands alone, and is no row of a table, item or heading."""
    if not lines or not lines[-1].strip() or (len(lines) > 1 and lines[-2].strip()):
        return False
    return not re.match(r" {4}|\s*[|#>*+-]|\s*\d+[.)]", lines[-1])


def _split(text: str, count: CountTokens) -> list[str]:
    """The text in parts of at most `LARGEST` tokens, cut between its paragraphs, tables and blocks
    of code, else within them."""
    if count(text) <= LARGEST:
        return [text]
    blocks = list(_blocks(text))
    if len(blocks) > 1:
        parts = [part for block in blocks for part in _split_block(block, count)]
        return _packed(parts, "\n\n", count)
    return _split_block(text, count)


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs; a block of code is one, with its blank lines."""
    lines: list[str] = []
    fence = Fence()
    for line in text.splitlines():
        code = fence.read(line)
        if not code and not line.strip():
            if lines:
                yield "\n".join(lines)
            lines = []
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _split_block(text: str, count: CountTokens) -> list[str]:
    """One paragraph in parts: of a table each has its heads, of a block of code each its fence."""
    if count(text) <= LARGEST:
        return [text]
    lines = text.splitlines()
    if len(lines) > 3 and _ROW.match(lines[0]) and _RULE.match(lines[1]):
        return _framed(lines[2:], "\n".join(lines[:2]) + "\n", "", count)
    fence = Fence()
    if fence.read(lines[0]) and len(lines) > 3:
        end = next((at for at, line in enumerate(lines[1:], 1) if not _inside(fence, line)), None)
        if end is None or end == len(lines) - 1:
            return _framed(lines[1:end], lines[0] + "\n", f"\n{fence.closing}", count)
    return _pieces(text, LARGEST, count)


def _inside(fence: Fence, line: str) -> bool:
    """Whether a block of code goes on after a line of it."""
    fence.read(line)
    return bool(fence.opening)


def _framed(lines: Sequence[str], before: str, after: str, count: CountTokens) -> list[str]:
    """Lines in parts, each with what stands before and after all of them."""
    body = "\n".join(lines)
    room = LARGEST - count(before) - count(after) - 2
    if room < SMALLEST:  # a head so long is no head
        return _pieces(before + body + after, LARGEST, count)
    parts = _pieces(body, room, count)
    return [f"{before}{part}{after}" for part in parts]


def _pieces(text: str, most: int, count: CountTokens) -> list[str]:
    """The text in parts of at most so many tokens, cut at blank lines, else between lines, else
    sentences, else words, else letters."""
    if count(text) <= most:
        return [text]
    for pieces, glue in (
        (re.split(r"\n\s*\n", text), "\n\n"),
        (text.splitlines(), "\n"),
        (_SENTENCE.split(text), " "),
        (_FULL_STOP.split(text), ""),
        (text.split(), " "),
    ):
        if len(pieces) > 1:
            parts = [part for piece in pieces for part in _pieces(piece, most, count)]
            return _packed(parts, glue, count, most)
    if len(text) < 2:
        return [text]
    middle = len(text) // 2
    return [*_pieces(text[:middle], most, count), *_pieces(text[middle:], most, count)]


def _packed(pieces: Sequence[str], glue: str, count: CountTokens, most: int = LARGEST) -> list[str]:
    parts: list[str] = []
    for piece in pieces:
        if parts and count(parts[-1] + glue + piece) <= most:
            parts[-1] += glue + piece
        else:
            parts.append(piece)
    return parts


def _joined(sections: Sequence[tuple[str, str]], count: CountTokens) -> list[tuple[str, str]]:
    """Neighbours joined until each has `SMALLEST` tokens, as far as `LARGEST` allows."""
    forward: list[tuple[str, str]] = []
    for heading, text in sections:
        if forward and count(forward[-1][1]) < SMALLEST and _fit(forward[-1][1], text, count):
            forward[-1] = (forward[-1][0], f"{forward[-1][1]}\n\n{text}")
        else:
            forward.append((heading, text))
    joined: list[tuple[str, str]] = []
    for (
        heading,
        text,
    ) in forward:  # a short rest that did not fit the next section joins the previous one
        if joined and count(text) < SMALLEST and _fit(joined[-1][1], text, count):
            joined[-1] = (joined[-1][0], f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((heading, text))
    return joined


def _fit(before: str, after: str, count: CountTokens) -> bool:
    return count(f"{before}\n\n{after}") <= LARGEST
