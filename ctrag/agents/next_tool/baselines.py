"""The methods that the combined ranker is measured against; none needs a language model."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.texts import ToolTexts

COSINE_SHARPNESS = 20.0
"""Of the softmax that turns cosines into shares."""
_HARDLY = 1e-6


def random_order(memory: Memory, text: str, history: Sequence[int]) -> Probabilities:
    """Chances by lot; the same request and history draw the same."""
    seed = crc32(f"{text}\n{list(history)}".encode("utf-8", "replace"))
    return np.random.default_rng(seed).dirichlet(np.ones(len(memory.names)))


def by_text(
    memory: Memory, texts: ToolTexts, scores: Probabilities, sharpness: float | None
) -> Probabilities:
    """Shares of similarity scores; what has no text, as `end`, stands last.

    Args:
        memory: Knows the numbers.
        texts: Whose scores they are.
        scores: Of the tools that have texts, (tools,).
        sharpness: Softmax with that factor; None for plain shares.
    """
    raw = scores if sharpness is None else np.exp(sharpness * (scores - scores.max(initial=0)))
    found = texts.by_number(raw + _HARDLY, len(memory.names))
    return np.asarray(found / max(float(found.sum()), _HARDLY), dtype=np.float64)


def after_last(memory: Memory, history: Sequence[int]) -> Probabilities:
    """What followed the last call, as often as it did (ToolNet); no smoothing, no request."""
    found = np.full(len(memory.names), _HARDLY)
    for number, count in memory.graphs.whole.followed(history, 1).items():
        found[number] += count
    return np.asarray(found / found.sum(), dtype=np.float64)


def n_gram(memory: Memory, history: Sequence[int], length: int) -> Probabilities:
    """What followed the last `length` calls, smoothed with shorter histories."""
    return memory.graphs.whole.probabilities(history, memory.frequencies(), longest=length)


def restricted_to(found: Probabilities, among: NDArray[np.int64]) -> Probabilities:
    """Chances with nothing for those that are not `among`; the same for all where all have none."""
    kept = np.zeros(len(found))
    kept[among] = found[among] if found[among].any() else 1.0
    return np.asarray(kept / kept.sum(), dtype=np.float64)
