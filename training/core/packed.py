"""Several requests behind the same text as one row of tokens.

Each request sees the shared text and itself, never its neighbours: positions restart after the
shared text, and the attention mask is a tree. So the shared text is computed once for all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[str], list[int]]
"""Text to token ids; special tokens are recognised."""
IGNORED = -100


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """A pack as tokens."""

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


def row_of(
    encode: Encode, before: str, asked: Sequence[tuple[str, str]], end: str, longest: int
) -> PackedTokens | None:
    """A row of tokens.

    Args:
        encode: The tokenizer.
        before: The shared text.
        asked: (text that follows, answer to learn) of each request.
        end: Text that ends an answer.
        longest: Maximum tokens; requests that do not fit are left out.

    Returns:
        None when no request fits.
    """
    shared = encode(before)
    tokens, positions, branches = list(shared), list(range(len(shared))), [0] * len(shared)
    targets = [IGNORED] * len(shared)
    for number, (text, answer) in enumerate(asked, start=1):
        question, reply = encode(text), encode(answer + end)
        own = question + reply
        if len(tokens) + len(own) > longest:
            continue
        tokens += own
        positions += range(len(shared), len(shared) + len(own))
        branches += [number] * len(own)
        # The last token of the question predicts the first of the reply.
        targets += [IGNORED] * (len(question) - 1) + reply + [IGNORED]
    if len(tokens) == len(shared):
        return None
    return PackedTokens(
        *(np.array(part, dtype=np.int64) for part in (tokens, positions, branches, targets))
    )
