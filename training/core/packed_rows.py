"""Rows of tokens with several answers each, and files of them.

Needs numpy alone: packed training jobs carry this module.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

IGNORED = -100


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Several requests behind the same text."""

    tokens: NDArray[np.int64]
    positions: NDArray[np.int64]
    branches: NDArray[np.int64]
    """0 for the shared text, else the request's number, from 1."""
    targets: NDArray[np.int64]
    """The next token where it belongs to an answer, else `IGNORED`."""

    def sees(self) -> NDArray[np.bool_]:
        """(tokens, tokens): which tokens each token attends to, itself included."""
        same = self.branches[:, None] == self.branches[None, :]
        shared = self.branches[None, :] == 0
        seen: NDArray[np.bool_] = np.tril(np.ones((len(self.tokens),) * 2, dtype=bool))
        found: NDArray[np.bool_] = np.logical_and(seen, same | shared)
        return found


_PARTS = ("tokens", "positions", "branches", "targets")


def arrays_of(rows: Sequence[PackedTokens]) -> dict[str, NDArray[np.int32]]:
    """Rows as a few arrays."""
    found = {
        part: np.concatenate([getattr(row, part) for row in rows]).astype(np.int32)
        for part in _PARTS
    }
    return found | {"lengths": np.array([len(row.tokens) for row in rows], np.int32)}


def rows_in(arrays: Any) -> list[PackedTokens]:
    """The rows that `arrays_of` made arrays of."""
    cuts = np.cumsum(arrays["lengths"])[:-1]
    parts = [np.split(np.asarray(arrays[part]).astype(np.int64), cuts) for part in _PARTS]
    return [PackedTokens(*one) for one in zip(*parts, strict=True)]
