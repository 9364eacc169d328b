"""What each method of the instruction experiment shows at a step, and what that costs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.traces import ToolTrace
from ctrag.agents.prompt.assembly import OVERLAY, Prompt, shared_prefix
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.index import VectorStore
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.telemetry import Sink, nowhere
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.agents.search.index import NextToolModel
from ctrag.models.encoder import Matrix
from ctrag.models.tokens import CountTokens
from eval.instructions.figures import cross_validated_gate
from eval.instructions.steps import DecisionStep, ExperimentCatalogue

WITH_ONE_POLICY = ("8", "40")
"""Sizes at which the baselines get their own domain's policy alone, so that they fit a window of
8,192 tokens. ITR retrieves from all policies at every size."""
TRACE_PRIOR_WEIGHT, REQUEST_WEIGHT = 1.0, 0.33
"""With a trace prior, which counts as a log probability does: its weight and the request's."""

TracePriorOf = Callable[[str], NextToolModel | None]
"""Episode → a prior that has not seen it; None where there is nothing else to learn from."""
TracesOf = Callable[[str], Sequence[ToolTrace]]
"""Episode → the traces of other episodes."""


class CachedPassageEncoder:
    """A encoder that reads each text once, and some of them in an earlier run."""

    def __init__(
        self, encoder: PassageEncoder, texts: Sequence[str] = (), path: Path | None = None
    ) -> None:
        """Read `texts` at once, from `path` where they are stored there."""
        self.name = encoder.name
        self._encoder = encoder
        ahead = list(dict.fromkeys(texts))
        found = VectorStore(encoder, path).vectors(ahead) if ahead else []
        self._known = dict(zip(ahead, found, strict=True))

    def encode(self, text: str) -> Matrix:
        """See `PassageEncoder.encode`."""
        if text not in self._known:
            self._known[text] = self._encoder.encode(text)
        return self._known[text]


class CachedReranker(Reranker):
    """A re-ranker that reads each pair once."""

    def __init__(self, reranker: Reranker) -> None:
        super().__init__(reranker.card, reranker.model)
        object.__setattr__(self, "_known", {})

    def scores(self, query: str, units: Sequence[str]) -> NDArray[np.float64]:
        """See `Reranker.scores`."""
        known: dict[tuple[str, str], float] = self._known  # type: ignore[attr-defined]
        missing = [one for one in units if (query, one) not in known]
        fresh = super().scores(query, missing)
        known.update(((query, one), score) for one, score in zip(missing, fresh, strict=True))
        return np.array([known[query, one] for one in units])


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """What one method shows at one step."""

    tokens: int
    """System text and tools."""
    tools: dict[str, str]
    """Name → id of the exposed tools, in the order of the text."""
    exposed: bool
    """Whether the step's own tool is among them."""
    text: str = field(repr=False)
    fragments: tuple[str, ...] = ()
    """Ids."""
    whole: bool = False
    """Whether the step's own tool is there with its whole document."""


@dataclass(frozen=True, slots=True)
class ItrStep:
    """ITR at one step: its first prompt, the prompt of a discovery step, and the best tool."""

    first: Prompt
    wide: Prompt | None
    """None where no discovery step runs."""
    top: ToolDocument
    milliseconds: float
    """Retrieval, selection and assembly of the first prompt; readings were there."""
    before: Prompt | None
    """First prompt of the step before in the same episode."""

    def shared(self, count: CountTokens) -> int:
        """Tokens with which the first prompt and that of the step before begin alike."""
        if self.before is None:
            return 0
        return shared_prefix(self.before.text, self.first.text, count)

    @property
    def last(self) -> Prompt:
        """What the model gets: that of the discovery step where there is one."""
        return self.wide or self.first

    def shown(self, gold: str, *, discovery: bool = True) -> ShownPrompt:
        """The last prompt, or the first one for a run without discovery."""
        prompt = self.last if discovery else self.first
        return ShownPrompt(
            prompt.tokens,
            {tool.name: tool.id for tool in prompt.exposed},
            any(tool.id == gold for tool in prompt.exposed),
            prompt.text,
            tuple(one.id for one in prompt.fragments),
            any(tool.id == gold for tool in prompt.tools),
        )


@dataclass(frozen=True)
class ExperimentContext:
    """What all methods are made of."""

    fragments: tuple[Fragment, ...]
    policies: dict[str, str]
    """File stem → text."""
    catalogue: ExperimentCatalogue
    encoder: PassageEncoder
    reranker: Reranker
    count: CountTokens
    budget: int
    pinned: tuple[str, ...] = ()
    """Names of tools that are in wherever the request belongs to their domain."""
    sink: Sink = nowhere

    def whole_policy(self, size: str, domain: str) -> str:
        """The instructions of a method that retrieves none."""
        if size in WITH_ONE_POLICY:
            return self.policies[domain]
        return "\n\n".join(self.policies.values())

    def own_fragments(self, size: str, domain: str) -> tuple[Fragment, ...]:
        """Fragments of what `whole_policy` gives."""
        if size not in WITH_ONE_POLICY:
            return self.fragments
        return tuple(one for one in self.fragments if one.id.startswith(f"{domain}#"))

    @cached_property
    def builders(self) -> dict[object, PromptBuilder]:
        """Builders made so far."""
        return {}

    def builder(
        self,
        fragments: tuple[Fragment, ...],
        tools: tuple[ToolDocument, ...],
        settings: PromptSettings,
        trace_prior: NextToolModel | None = None,
        reranker: Reranker | None = None,
    ) -> PromptBuilder:
        """A builder over these units, made once."""
        key = (
            tuple(one.id for one in fragments),
            tuple(one.id for one in tools),
            settings,
            id(trace_prior),
            id(reranker),
        )
        if key not in self.builders:
            self.builders[key] = PromptBuilder(
                fragments,
                tools,
                settings=settings,
                encoder=self.encoder,
                reranker=reranker or self.reranker,
                count=self.count,
                next_tool=trace_prior,
                pinned=self._pins(tools),
                sink=self.sink,
            )
        return self.builders[key]

    def _pins(self, tools: Sequence[ToolDocument]) -> dict[str, list[str]]:
        """By domain the pinned tools that this catalogue has."""
        found: dict[str, list[str]] = {}
        for tool in tools:
            if tool.tool.name in self.pinned:
                found.setdefault(tool.domain, []).append(tool.id)
        return found

    def baseline(self, method: str, size: str, step: DecisionStep, first: Prompt) -> ShownPrompt:
        """B0, B1 and B2; `first` is what retrieval alone returns, of which B1 takes the tools.

        Tools that are not retrieved are shown without exemplars, which is what an agent without
        tool documents pays.
        """
        tools = self.catalogue.sized(size, step)
        policy = self.whole_policy(size, step.domain)
        bare = "\n".join(tool.bare_line for tool in tools)
        if method == "router_only":
            lines = [
                *(one.signature for one in first.signatures),
                *(one.line for one in first.tools),
            ]
            return self._shown([policy, "\n".join(lines)], first.exposed, step)
        if method == "monolithic":
            return self._shown([bare, policy], tools, step)
        chosen = self._fragments_for(size, step)
        shown = self._shown([bare, *(one.text for one in chosen)], tools, step)
        return replace(shown, fragments=tuple(one.id for one in chosen))

    def _fragments_for(self, size: str, step: DecisionStep) -> tuple[Fragment, ...]:
        own = self.own_fragments(size, step.domain)
        settings = PromptSettings(tools=0, discovery="off", rerank=False)
        builder = self.builder(own, self.catalogue.documents[:1], settings)
        return builder.build(step.instruction, 10_000, history=step.history).fragments

    def _shown(
        self, parts: Sequence[str], tools: Sequence[ToolDocument], step: DecisionStep
    ) -> ShownPrompt:
        """What changes least comes first, so that a prompt cache keeps it.

        Tokens are those of the parts, of which whole policies and catalogues are counted once.
        """
        whole = (OVERLAY, *parts)
        return ShownPrompt(
            sum(self.count(part) + 1 for part in whole),
            {tool.name: tool.id for tool in tools},
            any(one.id == step.gold for one in tools),
            "\n\n".join(whole),
        )


def with_traces(settings: PromptSettings) -> PromptSettings:
    """The same settings beside a trace prior."""
    return replace(settings, next_tool_weight=TRACE_PRIOR_WEIGHT, request_weight=REQUEST_WEIGHT)


@dataclass(frozen=True, slots=True)
class ItrRun:
    """ITR at every step of one catalogue size."""

    found: list[ItrStep]
    taus: tuple[float, ...]
    """Of each fold."""

    def shown(self, steps: Sequence[DecisionStep]) -> list[ShownPrompt]:
        """What the model gets at each step."""
        return [one.shown(step.gold) for one, step in zip(self.found, steps, strict=True)]


def run_itr(
    context: ExperimentContext,
    size: str,
    steps: Sequence[DecisionStep],
    settings: PromptSettings,
    *,
    trace_prior: TracePriorOf | None = None,
    reranker: Reranker | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ItrRun:
    """ITR at every step, each prompt in the order that the one before began.

    The threshold below which a discovery step runs is cross-validated by episode, once all first
    prompts are there.

    Args:
        context: Catalogue, fragments, encoder and re-ranker from which prompts are built.
        size: Of the catalogue.
        steps: In order, episode by episode.
        settings: With a `tau` of 0: thresholds are found here.
        trace_prior: Episode → a prior that has not seen it.
        reranker: Replaces the context's re-ranker.
        progress: Called with progress messages.
    """
    found: list[ItrStep] = []
    makers: list[PromptBuilder] = []
    previous: Prompt | None = None
    episode = ""
    for number, step in enumerate(steps, start=1):
        if step.episode != episode:
            previous, episode = None, step.episode
        builder = context.builder(
            context.fragments,
            context.catalogue.sized(size, step),
            settings,
            None if trace_prior is None else trace_prior(step.episode),
            reranker,
        )
        context.encoder.encode(step.instruction)  # encoding is not part of the time
        began = time.perf_counter()
        first = builder.build(
            step.instruction, context.budget, history=step.history, previous=previous
        )
        spent = 1000 * (time.perf_counter() - began)
        top = builder.ranked(step.instruction, step.history)[0]
        found.append(ItrStep(first, None, top, spent, previous))
        makers.append(builder)
        previous = first
        if number % 50 == 0:
            progress(f"size {size}: {number} of {len(steps)} steps retrieved")
    enough = np.array([one.first.sufficiency or 0.0 for one in found])
    missed = np.array(
        [
            not one.shown(step.gold, discovery=False).exposed
            for one, step in zip(found, steps, strict=True)
        ]
    )
    gate = cross_validated_gate(enough, missed, [one.episode for one in steps])
    for at in np.flatnonzero(gate.discovered):
        found[at] = replace(found[at], wide=makers[at].discover(found[at].first))
    return ItrRun(found, gate.taus)


def load_policies(folder: Path) -> dict[str, str]:
    """Text of each policy by file stem.

    Raises:
        FileNotFoundError: There is no such folder.
    """
    return {path.stem: path.read_text(encoding="utf-8-sig") for path in sorted(folder.glob("*.md"))}
