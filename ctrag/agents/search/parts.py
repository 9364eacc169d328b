"""Splitting a request with several needs into parts."""

import re

MOST_PARTS = 8
_SHORTEST = 3
"""Least words of a part; shorter ones stay with the part before."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|(?<!\w)'[^']*'(?!\w)")
_HIDDEN = re.compile("\x00(\\d+)\x00")
_STOP = re.compile(r"(?<=[.!?;\n])\s+|\n+")
_JOINED = re.compile(
    r",?\s+(?:and\s+then|and\s+also|as\s+well\s+as|after\s+that|followed\s+by|then|and|also|plus)\s+"
    r"|,\s+(?=(?:and|then|also|finally|next)\b)|;\s*",
    re.IGNORECASE,
)
_BEGINNING = re.compile(
    r"^(?:(?:and|also|then|next|after that|afterwards|lastly|finally|additionally|furthermore"
    r"|moreover|first|firstly|second|secondly|third|thirdly|please|kindly)\b[\s,]*)+",
    re.IGNORECASE,
)


def parts_of(text: str) -> list[str]:
    """The parts of a request, in order; the whole text alone when it asks for one thing.

    Parts are sentences, and clauses joined by `and`, `then`, `also` and the like. Nothing inside
    quotation marks is split. Short pieces stay with the part before them.
    """
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match.group())
        return f"\x00{len(quotes) - 1}\x00"

    # Lines with single spaces: long runs of spaces would be tried again and again.
    hidden = _QUOTED.sub(hide, text.replace("\x00", " "))
    hidden = "\n".join(" ".join(line.split()) for line in hidden.split("\n"))
    pieces: list[str] = []
    for sentence in _STOP.split(hidden):
        first = len(pieces)
        for piece in _JOINED.split(sentence):
            if len(pieces) > first and len(piece.split()) < _SHORTEST:
                pieces[-1] += f" and {piece}"
            else:
                pieces.append(piece)
    if quotes:
        pieces = [_HIDDEN.sub(lambda found: quotes[int(found[1])], piece) for piece in pieces]
    kept = [piece for piece in (_BEGINNING.sub("", one.strip()) for one in pieces) if piece]
    kept = [one for one in kept if len(one.split()) >= _SHORTEST] or [text]
    return kept[:MOST_PARTS]
