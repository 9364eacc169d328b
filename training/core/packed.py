"""Several requests behind the same text as one row of tokens.

Each request sees the shared text and itself, never its neighbours: positions restart after the
shared text, and the attention mask is a tree. So the shared text is computed once for all of them.
"""

from collections.abc import Sequence

import numpy as np

from ctrag.models.lm_tokenizer import LmTokenizer
from training.core.packed_rows import IGNORED, PackedTokens


def row_of(
    tokenizer: LmTokenizer, before: str, asked: Sequence[tuple[str, str]], longest: int
) -> PackedTokens | None:
    """A row of tokens.

    Args:
        tokenizer: The model's.
        before: The shared text, which begins the prompt.
        asked: (text that follows, answer to learn) of each request.
        longest: Maximum tokens; requests that do not fit are left out.

    Returns:
        None when no request fits.
    """
    shared = tokenizer.prompt(before)
    tokens, positions, branches = list(shared), list(range(len(shared))), [0] * len(shared)
    targets = [IGNORED] * len(shared)
    for number, (text, answer) in enumerate(asked, start=1):
        question = tokenizer.encode(text)
        reply = [*tokenizer.encode(answer), *tokenizer.end]
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
