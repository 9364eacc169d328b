"""Episodes with a need outside the first server: where discovery has something to discover.

In every second episode one step more is taken: the customer asks, at the same time, for something
that a tool of another server does (a request of Seal-Tools whose one tool is in the catalogue).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.prompt.retrieval import Scores
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.sufficiency import (
    OpenWeights,
    RequestFit,
    Sufficiency,
    fit_open_weights,
    open_evidence,
)
from eval.instructions.figures import FOLDS, bounds, cross_validated_gate, fold_of
from eval.instructions.methods import ExperimentContext, ItrRun, ItrStep, TracePriorOf, with_traces
from eval.instructions.steps import DecisionStep

_SMALLER = 2
"""At one in so many steps, what smaller catalogues would say is learned from too."""
EVERY = 2
"""One in so many episodes has a need outside."""
Progress = Callable[[str], None]
_ALONE = "K_B = 2, no signatures"


@dataclass(frozen=True, slots=True)
class _Tried:
    """First prompts of one variant, with the evidence of their sufficiency."""

    found: list[ItrStep]
    evidence: Any
    missed: Any
    closed: Any
    """(steps,): the sufficiency that takes one of the tools for right."""
    smaller: list[tuple[str, tuple[float, ...], bool]]
    """(episode, evidence, whether a right tool is there) of smaller catalogues: all shown."""


def mixed_steps(
    steps: Sequence[DecisionStep], requests: Sequence[tuple[str, str]]
) -> list[DecisionStep]:
    """The steps with one need outside in every `EVERY`-th episode, in the middle of it.

    Args:
        steps: Episode by episode.
        requests: (text, id of its tool).
    """
    episodes: dict[str, list[DecisionStep]] = {}
    for one in steps:
        episodes.setdefault(one.episode, []).append(one)
    order = sorted(requests, key=lambda one: sha256(one[0].encode()).digest())
    found: list[DecisionStep] = []
    for number, (episode, own) in enumerate(episodes.items()):
        at = len(own) // 2
        if number % EVERY or not order:
            found += own
            continue
        text, tool = order[(number // EVERY) % len(order)]
        need = replace(
            own[at],
            id=f"{episode}/outside",
            instruction=f"{own[at].instruction}\nAlso: {text}",
            gold=tool,
            episode_tools=tuple(sorted({*own[at].episode_tools, tool})),
        )
        found += [*own[:at], need, *own[at:]]
    return found


def outside_requests(folder: Path, known: set[str]) -> list[tuple[str, str]]:
    """Requests of Seal-Tools, beside the episodes' folder, that one tool of the catalogue serves.

    Args:
        folder: The episodes folder.
        known: Ids of the catalogue's tools.
    """
    path = folder.parent / "seal-tools" / "queries.jsonl"
    if not path.is_file():
        return []
    by_name = {one.rpartition("/")[2]: one for one in known}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        (row["text"], by_name[row["tools"][0]])
        for row in rows
        if len(row["tools"]) == 1 and row["tools"][0] in by_name
    ]


def run_mixed(
    context: ExperimentContext,
    steps: Sequence[DecisionStep],
    requests: Sequence[tuple[str, str]],
    settings: PromptSettings,
    trace_prior: TracePriorOf,
    progress: Progress,
) -> dict[str, Any]:
    """Misses, discovery and tokens of the mix at the full catalogue, by variant.

    Args:
        context: Catalogue, fragments, encoder and re-ranker from which prompts are built.
        steps: Of the episodes alone.
        requests: As `outside_requests` gives them.
        settings: Of the default.
        trace_prior: Episode → a prior that has not seen it.
        progress: Called with progress messages.
    """
    if not requests:
        return {"skipped": "no request of seal-tools beside the episodes has a tool of the list"}
    mix = mixed_steps(steps, requests)
    alone = replace(settings, signatures=0, whole_share=0.0)
    variants: dict[str, tuple[PromptSettings, TracePriorOf | None]] = {
        "default": (settings, None),
        "traces": (with_traces(settings), trace_prior),
        _ALONE: (alone, None),
        f"{_ALONE}, traces": (with_traces(alone), trace_prior),
    }
    outside = np.array([one.id.endswith("/outside") for one in mix])
    found: dict[str, Any] = {"steps": len(mix), "outside": int(outside.sum())}
    for name, (chosen, prior) in variants.items():
        progress(f"mix: {name}")
        found[name] = _variant(context, mix, outside, chosen, prior)
    return found


def _variant(
    context: ExperimentContext,
    mix: Sequence[DecisionStep],
    outside: Any,
    settings: PromptSettings,
    prior: TracePriorOf | None,
) -> dict[str, Any]:
    tried = _tried(context, mix, settings, prior)
    enough, weights = _cross_fitted(tried, [one.episode for one in mix])
    rows = {
        "closed world": _figures(context, mix, outside, settings, prior, tried, tried.closed),
        "open world": _figures(context, mix, outside, settings, prior, tried, enough),
    }
    return {**rows, "weights": None if weights is None else asdict(weights)}


def _tried(
    context: ExperimentContext,
    mix: Sequence[DecisionStep],
    settings: PromptSettings,
    prior: TracePriorOf | None,
) -> _Tried:
    found, evidence, missed, closed = [], [], [], []
    smaller: list[tuple[str, tuple[float, ...], bool]] = []
    card = context.reranker.card
    shares = Sufficiency(*card.sufficiency)
    for number, step in enumerate(mix):
        builder = _builder(context, settings, prior, step)
        context.encoder.encode(step.instruction)
        scores = builder.scores(step.instruction, step.history)
        first = builder.build(step.instruction, context.budget, history=step.history)
        rows = builder.rows([one.id for one in first.exposed])
        assert scores.request is not None
        if not number % _SMALLER:
            smaller += _smaller(builder, scores, step, number)
        evidence.append(open_evidence(scores.tools, rows, scores.request))
        closed.append(shares.probability(scores.tools, rows))
        missed.append(all(one.id != step.gold for one in first.exposed))
        found.append(ItrStep(first, None, first.exposed[0], 0.0, None))
    return _Tried(found, np.array(evidence), np.array(missed), np.array(closed), smaller)


def _smaller(
    builder: Any, scores: Scores, step: DecisionStep, number: int
) -> list[tuple[str, tuple[float, ...], bool]]:
    """The step's evidence where its agent has one server's tools alone, or a single other tool."""
    home = step.gold.rpartition("/")[0]
    own = [row for row, tool in enumerate(builder.tools) if tool.domain == home]
    others = [row for row, tool in enumerate(builder.tools) if tool.domain != home]
    found: list[tuple[str, tuple[float, ...], bool]] = []
    for rows, right in ((own, True), ([others[number % len(others)]], False)):
        assert scores.request is not None
        fit = RequestFit(scores.request.scores[rows], scores.request.cosine[rows])
        evidence = open_evidence(scores.tools[rows], range(len(rows)), fit)
        found.append((step.episode, evidence, right))
    return found


def _builder(
    context: ExperimentContext,
    settings: PromptSettings,
    prior: TracePriorOf | None,
    step: DecisionStep,
) -> Any:
    own = None if prior is None else prior(step.episode)
    return context.builder(context.fragments, context.catalogue.documents, settings, own)


def _cross_fitted(tried: _Tried, episodes: Sequence[str]) -> tuple[Any, OpenWeights | None]:
    """Chance of each step that a right tool is exposed, fitted on other folds; weights of all."""
    folds = np.array([fold_of(one) for one in episodes])
    more = np.array([fold_of(episode) for episode, _, _ in tried.smaller])
    evidence = np.array([one for _, one, _ in tried.smaller])
    right = np.array([one for _, _, one in tried.smaller])
    enough = tried.closed.copy()

    def fitted(kept: Any, also: Any) -> OpenWeights | None:
        return fit_open_weights(
            tried.evidence[kept], ~tried.missed[kept], evidence[also, 2], right[also]
        )

    for fold in range(FOLDS):
        weights = fitted(folds != fold, more != fold)
        if weights is not None:
            for row in np.flatnonzero(folds == fold):
                enough[row] = weights.chance(tried.evidence[row])
    return enough, fitted(folds >= 0, more >= 0)


def _figures(
    context: ExperimentContext,
    mix: Sequence[DecisionStep],
    outside: Any,
    settings: PromptSettings,
    prior: TracePriorOf | None,
    tried: _Tried,
    enough: Any,
) -> dict[str, Any]:
    """Percent, with intervals over episodes; tokens count discovery steps."""
    episodes = [one.episode for one in mix]
    gate = cross_validated_gate(enough, tried.missed, episodes)
    run = ItrRun(list(tried.found), gate.taus)
    for at in np.flatnonzero(gate.discovered).tolist():
        builder = _builder(context, settings, prior, mix[at])
        run.found[at] = replace(run.found[at], wide=builder.discover(run.found[at].first))
    shown = run.shown(mix)
    still = np.array([not one.exposed for one in shown])
    tokens = [
        one.tokens + (step.first.tokens if step.wide is not None else 0)
        for one, step in zip(shown, run.found, strict=True)
    ]
    values: dict[str, Any] = {
        "tokens_per_step": np.array(tokens, dtype=np.float64),
        "missed_without_discovery": 100.0 * tried.missed,
        "missed": 100.0 * still,
        "discovery_share": 100.0 * gate.discovered,
        "missed_outside": np.where(outside, 100.0 * still, np.nan),
    }
    found: dict[str, Any] = {"intervals": {}}
    for name, row in values.items():
        counted = ~np.isnan(row)
        found[name] = round(float(row[counted].mean()), 1)
        own = [one for one, counts in zip(episodes, counted, strict=True) if counts]
        found["intervals"][name] = bounds(list(row[counted]), own)
    return found
