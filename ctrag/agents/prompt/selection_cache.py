"""Selections kept by task signature and domain (paper, 3.8); content changes expire them."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import Generic, TypeVar

T = TypeVar("T")


def signature(text: str, domain: str, history: Sequence[str], *more: object) -> str:
    """The same for requests of the same words after the same calls.

    Capitals, blanks and the last sentence's end make no difference; every word does, because "do
    not cancel it" is not "do cancel it".

    Args:
        text: The request.
        domain: Where it belongs; empty for anywhere.
        history: Ids of the calls so far.
        more: Whatever else decides what is selected: budget, limits.
    """
    plain = " ".join(text.casefold().split())
    said = plain.rstrip(" .!?") or plain
    content = "\0".join([said, domain, *history, *(repr(one) for one in more)])
    return sha256(content.encode()).hexdigest()[:32]


class SelectionCache(Generic[T]):
    """The latest selections; one content at a time."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._content = ""
        self._kept: OrderedDict[str, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str, content: str) -> T | None:
        """What was put under this key for this content, or None.

        Args:
            key: See `signature`.
            content: Hash of the corpora; another than before expires everything.
        """
        self._expire(content)
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: str, content: str, value: T) -> None:
        """Keep a selection; the one that was used longest ago goes when there are too many."""
        self._expire(content)
        self._kept[key] = value
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def _expire(self, content: str) -> None:
        if content != self._content:
            self._kept.clear()
            self._content = content
