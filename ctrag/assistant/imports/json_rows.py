"""The entries of a long JSON list one by one: what is read is not kept."""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

_PIECE = 1 << 20
_LONGEST = 20 * _PIECE
"""Characters of one entry."""


class BrokenJsonError(ValueError):
    """The list cannot be read further."""


def halves_in(text: str) -> bool:
    """Whether JSON may hold halves of surrogate pairs, which are no text."""
    return "\\ud" in text or "\\uD" in text


def without_halves(value: Any) -> Any:
    """The value with `?` for each half of a surrogate pair."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def rows(file: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """The objects in a file's list, or one on each line.

    Raises:
        BrokenJsonError: It is no list, or no JSON from some entry on.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
    decoder = json.JSONDecoder()
    buffer, ended, number = text.read(_PIECE).lstrip(), False, 0
    listed = buffer.startswith("[")
    if not listed and not buffer.startswith("{"):
        raise BrokenJsonError("it is no list")
    buffer = buffer[1:] if listed else buffer
    while True:
        buffer = buffer.lstrip(" \t\r\n,")
        if buffer.startswith("]") or (not listed and ended and not buffer):
            return
        try:
            row, end = decoder.raw_decode(buffer)
        except RecursionError:
            raise BrokenJsonError(f"entry {number + 1} is nested too deep") from None
        except ValueError as error:
            more = "" if ended or len(buffer) > _LONGEST else text.read(_PIECE)
            if not more:
                raise BrokenJsonError(f"entry {number + 1}: {error}") from None
            buffer += more
            continue
        number += 1
        if halves_in(buffer[:end]):
            row = without_halves(row)
        buffer = buffer[end:]
        if isinstance(row, dict):
            yield row
        if len(buffer) < _PIECE and not ended:
            more = text.read(_PIECE)
            ended = not more
            buffer += more
