"""Cache of selections by task signature and domain (paper, 3.8); content changes expire it."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import Generic, TypeVar

T = TypeVar("T")


def signature(text: str, domain: str, history: Sequence[str], *more: object) -> str:
    """A key that is equal for requests with the same words after the same calls.

    Case, whitespace and the final punctuation are ignored; no word is, because "do not cancel it"
    is not "do cancel it".

    Args:
        text: The request.
        domain: Its domain; empty for any.
        history: Ids of the calls so far.
        more: Anything else that affects the selection: budget, limits.
    """
    plain = " ".join(text.casefold().split())
    request = plain.rstrip(" .!?") or plain
    content = "\0".join([request, domain, *history, *(repr(one) for one in more)])
    return sha256(content.encode()).hexdigest()[:32]


class SelectionCache(Generic[T]):
    """The most recently used selections for one version of the corpora. Safe for many threads."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._content = ""
        self._kept: OrderedDict[str, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str, content: str) -> T | None:
        """The cached selection for this key and content, or None.

        Args:
            key: See `signature`.
            content: Hash of the corpora; a new one expires everything.
        """
        with self._lock:
            self._expire(content)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, content: str, value: T) -> None:
        """Add a selection, evicting the least recently used when full."""
        with self._lock:
            self._expire(content)
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def _expire(self, content: str) -> None:
        if content != self._content:
            self._kept.clear()
            self._content = content
