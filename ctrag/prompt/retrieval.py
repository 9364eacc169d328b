"""The hybrid score of fragments and tools (paper, equation 3), and what a prior adds to it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.prompt.fragments import Fragment
from ctrag.prompt.index import CorpusIndex, Evidence, ReadingStore
from ctrag.prompt.reading import Reader
from ctrag.prompt.reranker import HybridWeights, Reranker, query_text
from ctrag.prompt.tool_documents import ToolDocument
from ctrag.tools.index import NextToolPrior

Floats = NDArray[np.float64]
_UNLIKELY = 1e-3
"""What a prior gives at least: it may push a tool down and not out."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Log odds of every unit, up to a constant for each corpus."""

    instructions: Floats
    """(fragments,)."""
    tools: Floats
    """(tools,)."""

    def domain_shares(
        self, fragments: Sequence[Fragment], tools: Sequence[ToolDocument]
    ) -> dict[str, float]:
        """How likely the request belongs to each domain: mean of what both corpora say."""
        found: dict[str, float] = {}
        said = zip(shares(self.instructions), (one.domain for one in fragments), strict=True)
        told = zip(shares(self.tools), (one.domain for one in tools), strict=True)
        for share, domain in (*said, *told):
            found[domain] = found.get(domain, 0.0) + float(share) / (2 if fragments else 1)
        return found


def shares(scores: Floats) -> Floats:
    """Log odds as chances that sum to 1; empty for none."""
    if not len(scores):
        return np.empty(0)
    found = np.exp(scores - scores.max())
    return np.asarray(found / found.sum())


class HybridRetriever:
    """Scores the fragments and tools that it was made with."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        reader: Reader,
        *,
        weights: HybridWeights,
        instruction_weights: HybridWeights | None = None,
        reranker: Reranker | None = None,
        candidates: int = 20,
        prior: NextToolPrior | None = None,
        prior_weight: float = 0.0,
        folder: Path | None = None,
    ) -> None:
        """Index both corpora; what an earlier index in `folder` has read is not read again.

        Args:
            fragments: May be empty.
            tools: At least one.
            reader: The encoder.
            weights: Factors of the score of tools; `cross` needs the re-ranker.
            instruction_weights: Those of fragments; by default those of tools without the
                re-ranker, which has learned from tools alone.
            reranker: None leaves its part out.
            candidates: How many of each corpus are re-ranked.
            prior: Tools by the calls so far.
            prior_weight: Factor of its log probability; 0 turns it off.
            folder: Where readings are kept; None keeps them in memory.
        """
        self._reader = reader
        self._weights = weights
        self._instruction_weights = instruction_weights or weights.model_copy(update={"cross": 0.0})
        self._reranker = reranker
        self._candidates = candidates
        self._prior = prior
        self._prior_weight = prior_weight
        self._rows = {tool.id: row for row, tool in enumerate(tools)}
        self._tools = _index(tools, reader, folder, "tools.npz")
        self._fragments = (
            _index(fragments, reader, folder, "instructions.npz") if fragments else None
        )
        self._read = lru_cache(maxsize=64)(reader.read)
        self._evidence = lru_cache(maxsize=64)(self._met)

    def scores(self, text: str, history: Sequence[str] = ()) -> Scores:
        """Scores of all units for a step.

        Args:
            text: The request, and whatever of the task's state it says.
            history: Ids of the tools called so far, oldest first.
        """
        known = np.zeros(len(self._tools))
        if self._prior is not None and self._prior_weight:
            known[:] = math.log(_UNLIKELY)
            for name, chance in self._prior.rank(text, history):
                if name in self._rows:
                    known[self._rows[name]] = math.log(max(chance, _UNLIKELY))
            known *= self._prior_weight
        tools = self._scored(self._tools, self._weights, text, history, known)
        if self._fragments is None:
            return Scores(np.empty(0), tools)
        nothing = np.zeros(len(self._fragments))
        own = self._instruction_weights
        return Scores(self._scored(self._fragments, own, text, history, nothing), tools)

    def _met(self, tools: bool, text: str) -> Evidence:
        """The steps of an episode ask the same of the index again and again."""
        index = self._tools if tools else self._fragments
        assert index is not None
        return index.evidence(self._read(text).vector, text)

    def _scored(
        self,
        index: CorpusIndex,
        weights: HybridWeights,
        text: str,
        history: Sequence[str],
        known: Floats,
    ) -> Floats:
        found = self._evidence(index is self._tools, text)
        scores = weights.cosine * found.cosine + weights.lexical * found.lexical + known
        if self._reranker is None or not weights.cross:
            return np.asarray(scores)
        best = np.argsort(-scores, kind="stable")[: self._candidates]
        query = self._read(query_text(text, history)).states
        nearest = [index.best_passage(found, int(row)).states for row in best]
        cross = self._reranker.scores(query, nearest)
        added = np.full(len(scores), float(cross.min()))  # what was not read is no better
        added[best] = cross
        return np.asarray(scores + weights.cross * added)


def _index(
    units: Sequence[Fragment] | Sequence[ToolDocument],
    reader: Reader,
    folder: Path | None,
    name: str,
) -> CorpusIndex:
    store = ReadingStore(reader, None if folder is None else folder / name)
    return CorpusIndex([one.searched for one in units], store)
