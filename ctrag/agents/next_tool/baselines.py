"""Baselines for the combined ranker; none needs a language model."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.texts import ToolTexts

COSINE_SHARPNESS = 20.0
"""Inverse temperature of the softmax over cosines."""
_EPSILON = 1e-6


def random_order(memory: Memory, text: str, history: Sequence[int]) -> Probabilities:
    """Random probabilities, seeded by request and history."""
    seed = crc32(f"{text}\n{list(history)}".encode("utf-8", "replace"))
    return np.random.default_rng(seed).dirichlet(np.ones(len(memory.names)))


def by_text(
    memory: Memory, texts: ToolTexts, scores: Probabilities, sharpness: float | None
) -> Probabilities:
    """Similarity scores as probabilities; what has no text, such as `end`, ranks last.

    Args:
        memory: Maps tools to numbers.
        texts: The tools that were scored.
        scores: Of the tools that have texts, (tools,).
        sharpness: Inverse temperature of a softmax; None to normalise the plain scores.
    """
    raw = scores if sharpness is None else np.exp(sharpness * (scores - scores.max(initial=0)))
    found = texts.by_number(raw + _EPSILON, len(memory.names))
    return np.asarray(found / max(float(found.sum()), _EPSILON), dtype=np.float64)


def after_last(memory: Memory, history: Sequence[int]) -> Probabilities:
    """Frequencies of what followed the last call (ToolNet); no smoothing, no request."""
    found = np.full(len(memory.names), _EPSILON)
    for number, count in memory.graphs.whole.followed(history, 1).items():
        found[number] += count
    return np.asarray(found / found.sum(), dtype=np.float64)


def n_gram(memory: Memory, history: Sequence[int], length: int) -> Probabilities:
    """What followed the last `length` calls, smoothed with shorter histories."""
    return memory.graphs.whole.probabilities(history, memory.frequencies(), longest=length)


def restricted_to(found: Probabilities, among: NDArray[np.int64]) -> Probabilities:
    """Probabilities renormalised over `among`, 0 elsewhere; uniform where all of them are 0."""
    kept = np.zeros(len(found))
    kept[among] = found[among] if found[among].any() else 1.0
    return np.asarray(kept / kept.sum(), dtype=np.float64)
