"""The hybrid score of fragments and tools (paper, equation 3), plus a next-tool model's share."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool import END
from ctrag.agents.prompt.domains import Domains
from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.agents.prompt.fragments import ON_DEMAND, Fragment
from ctrag.agents.prompt.index import CorpusIndex, CorpusMatches, VectorStore
from ctrag.agents.prompt.on_demand import OnDemand
from ctrag.agents.prompt.reranker import HybridWeights, Reranker, query_text
from ctrag.agents.prompt.settings import FLOOR, PromptSettings
from ctrag.agents.prompt.sufficiency import RequestFit
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.agents.search.index import NextToolModel
from ctrag.models.encoder import Matrix

Floats = NDArray[np.float64]
_LIKELY_DOMAIN = 0.5
"""Least probability of a domain of tools for all of its fragments to matter."""
_LEAST_SHARE = 1e-12
_UNLIKELY = 1e-3
"""The least chance a next-tool model gives: it may push a tool down but not out."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Log odds of every unit, up to a constant for each corpus."""

    instructions: Floats
    """(fragments,)."""
    tools: Floats
    """(tools,)."""
    domains: Mapping[str, float]
    """Probability of each domain, the mean over both corpora."""
    predicted: bool = False
    """Whether the next-tool model ranked any of the tools, and did not put the end first."""
    matter: tuple[bool, ...] | None = None
    """Per fragment, whether it may be shown; None: all may."""
    request: RequestFit | None = None
    """What the request's last paragraph alone says of the tools."""

    @property
    def wide(self) -> "Scores":
        """For a discovery step: a tool is as likely as the step or the request alone has it, as
        what is needed may be of another server than what was called so far."""
        if self.request is None:
            return self
        either = np.maximum(shares(self.tools), shares(self.request.scores))
        return replace(self, tools=np.log(np.maximum(either, _LEAST_SHARE)))


def shares(scores: Floats) -> Floats:
    """Log odds as probabilities that sum to 1; empty for none."""
    if not len(scores):
        return np.empty(0)
    found = np.exp(scores - scores.max())
    return np.asarray(found / found.sum())


def _newest(text: str) -> str:
    """What is asked now: the last paragraph, where a request says more than one thing."""
    return text.rstrip().rpartition("\n")[2].strip() or text


class HybridRetriever:
    """Scores a fixed set of fragments and tools."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        tools: Sequence[ToolDocument],
        encoder: PassageEncoder,
        *,
        weights: HybridWeights,
        settings: PromptSettings,
        instruction_weights: HybridWeights | None = None,
        reranker: Reranker | None = None,
        next_tool: NextToolModel | None = None,
        folder: Path | None = None,
        tool_vectors: Sequence[Matrix] | None = None,
    ) -> None:
        """Index both corpora; `folder` keeps vectors, so only texts that changed are encoded again.

        Args:
            fragments: May be empty.
            tools: At least one.
            encoder: The encoder.
            weights: Factors of the score of tools; `cross` needs the re-ranker.
            settings: How many candidates are re-ranked, and what domain and next tool count for.
            instruction_weights: Those of fragments; by default those of tools without the
                re-ranker, which was trained on tools only.
            reranker: None scores without one.
            next_tool: Tools by the calls so far.
            folder: Where vectors are kept; None keeps them in memory.
            tool_vectors: Of `encoder`'s encoder, one a tool; None encodes the tools.
        """
        self._encoder = encoder
        self._weights = weights
        self._settings = settings
        self._instruction_weights = instruction_weights or weights.model_copy(update={"cross": 0.0})
        self._reranker = reranker
        self._next_tool = next_tool
        self._rows = {tool.id: row for row, tool in enumerate(tools)}
        self._domain_of = {tool.id: tool.domain for tool in tools if tool.domain}
        self._domains = Domains([one.domain for one in fragments], [one.domain for one in tools])
        self._units = tuple(fragments)
        self._on_demand = OnDemand(fragments, tools)
        self._tool_domains = frozenset(self._domain_of.values())
        self._opening = settings.opening * np.array([one.place == 0 for one in fragments])
        self._tools = (
            _index(tools, encoder, folder, "tools.npz")
            if tool_vectors is None
            else CorpusIndex([one.searched for one in tools], tool_vectors)
        )
        self._fragments = (
            _index(fragments, encoder, folder, "instructions.npz") if fragments else None
        )
        self._encode = lru_cache(maxsize=64)(encoder.encode)
        self._evidence = lru_cache(maxsize=64)(self._met)

    def scores(self, text: str, history: Sequence[str] = (), domain: str = "") -> Scores:
        """Scores of all units for a step.

        Args:
            text: The request, with any task state in it.
            history: Ids of the tools called so far, oldest first.
            domain: The task's domain; empty if unknown.
        """
        of_tools = self._request(True, text)
        of_fragments = np.empty(0) if self._fragments is None else self._request(False, text)
        called = {self._domain_of[one] for one in history if one in self._domain_of}
        fragment_domains, tool_domains = self._domains.added(
            self._domains.shares(shares(of_fragments), shares(of_tools)),
            {domain} if domain else called,
            self._settings.domain_weight,
            self._settings.called_domain,
        )
        speaking, spoken_of = self._spoken(text, history, of_fragments, of_tools)
        log_chances, predicted = self._known(text, history)
        known = tool_domains + log_chances + spoken_of
        tools = self._reranked(self._tools, self._weights, text, history, of_tools, known)
        if self._fragments is not None:
            known = fragment_domains + self._opening + speaking
            own = self._instruction_weights
            of_fragments = self._reranked(self._fragments, own, text, history, of_fragments, known)
        found = self._domains.shares(shares(of_fragments), shares(tools))
        domains = dict(zip(["", *self._domains.names], found, strict=True))
        rows = {self._rows[one] for one in history if one in self._rows}
        matter = self._matter(text, {domain} if domain else called, domains, rows)
        newest = _newest(text)
        request = RequestFit(self._request(True, newest), self._evidence(True, newest).cosine)
        return Scores(of_fragments, tools, domains, predicted, matter, request)

    def _spoken(
        self, text: str, history: Sequence[str], of_fragments: Floats, of_tools: Floats
    ) -> tuple[Floats, Floats]:
        """What skills, rules and the tools that they speak of say for each other."""
        if self._fragments is None or not self._on_demand.mentions:
            return np.zeros(len(of_fragments)), np.zeros(len(of_tools))
        near = self._on_demand.near(self._evidence(False, text), FLOOR, text)
        rows = {self._rows[one] for one in history if one in self._rows}
        chances = shares(of_fragments), shares(of_tools)
        return self._on_demand.added(near, *chances, rows, self._settings.spoken_of)

    def _matter(
        self, text: str, known: Set[str], domains: Mapping[str, float], called: Set[int]
    ) -> tuple[bool, ...] | None:
        """Which fragments have to do with the request: see `PromptSettings.floor`."""
        floor = self._settings.floor
        if self._fragments is None or not floor:
            return None
        near = self._on_demand.near(self._evidence(False, text), floor, text)
        likely = {one for one in self._tool_domains if domains.get(one, 0.0) >= _LIKELY_DOMAIN}
        opened = {one.document for one, is_near in zip(self._units, near, strict=True) if is_near}
        opened -= {
            one.document
            for one, always in zip(self._units, self._on_demand.always, strict=True)
            if always
        }
        speaks = np.atleast_1d(self._on_demand.speaks[:, sorted(called)].any(axis=1))
        return tuple(
            bool(is_near or spoken)
            or one.domain in known
            or (one.domain in likely and not one.globs)
            or (one.place == 0 and one.document in opened)
            or (one.place == 0 and not opened and one.kind not in ON_DEMAND)
            for one, is_near, spoken in zip(self._units, near, speaks, strict=True)
        )

    def _known(self, text: str, history: Sequence[str]) -> tuple[Floats, bool]:
        """The next-tool model's weighted log chances, and whether it predicts one; see `Scores`."""
        weight = self._settings.next_tool_weight
        known = np.zeros(len(self._tools))
        if self._next_tool is None or not weight:
            return known, False
        known[:] = math.log(_UNLIKELY)
        ranked = self._next_tool.rank(text, history)
        own = [(self._rows[name], chance) for name, chance in ranked if name in self._rows]
        for row, chance in own:
            known[row] = math.log(max(chance, _UNLIKELY))
        return known * weight, bool(own) and ranked[0][0] != END

    def _met(self, tools: bool, text: str) -> CorpusMatches:
        """Cached, because the steps of an episode repeat the same query."""
        index = self._tools if tools else self._fragments
        assert index is not None
        return index.evidence(self._encode(text), text)

    def _request(self, tools: bool, text: str) -> Floats:
        """Weighted sum of cosine and BM25."""
        found = self._evidence(tools, text)
        weights = self._weights if tools else self._instruction_weights
        return weights.cosine * found.cosine + weights.lexical * found.lexical

    def _reranked(
        self,
        index: CorpusIndex,
        weights: HybridWeights,
        text: str,
        history: Sequence[str],
        request: Floats,
        known: Floats,
    ) -> Floats:
        """The request's score, re-ranked if enabled, plus `known`."""
        says = self._settings.request_weight if index is self._tools else 1.0
        scores = says * request + known
        if self._reranker is None or not weights.cross:
            return np.asarray(scores)
        found = self._evidence(index is self._tools, text)
        best = np.argsort(-scores, kind="stable")[: self._settings.candidates]
        nearest = [index.best_passage(found, int(row)) for row in best]
        cross = self._reranker.scores(query_text(text, history), nearest)
        added = np.full(
            len(scores), float(cross.min())
        )  # candidates not re-ranked get the lowest score
        added[best] = cross
        return np.asarray(scores + says * weights.cross * added)


def _index(
    units: Sequence[Fragment] | Sequence[ToolDocument],
    encoder: PassageEncoder,
    folder: Path | None,
    name: str,
) -> CorpusIndex:
    store = VectorStore(encoder, None if folder is None else folder / name)
    return CorpusIndex([one.searched for one in units], store)
