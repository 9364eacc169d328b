"""Episodes with a need outside the first server: where discovery has something to discover.

In every second episode one step more is taken: the customer asks, at the same time, for something
that a tool of another server does (a request of Seal-Tools whose one tool is in the catalogue).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.sufficiency import (
    OpenWeights,
    Sufficiency,
    fit_open_weights,
    open_evidence,
)
from eval.instructions.figures import FOLDS, bounds, cross_validated_gate, fold_of
from eval.instructions.methods import ExperimentContext, ItrRun, ItrStep, TracePriorOf, with_traces
from eval.instructions.steps import DecisionStep

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
    return {**rows, "weights": None if weights is None else list(_numbers(weights))}


def _numbers(one: OpenWeights) -> tuple[float, ...]:
    return (one.shown, one.asked, one.nearest, one.ahead, one.intercept)


def _tried(
    context: ExperimentContext,
    mix: Sequence[DecisionStep],
    settings: PromptSettings,
    prior: TracePriorOf | None,
) -> _Tried:
    found, evidence, missed, closed = [], [], [], []
    card = context.reranker.card
    shares = Sufficiency(*card.sufficiency)
    for step in mix:
        builder = _builder(context, settings, prior, step)
        context.encoder.encode(step.instruction)
        scores = builder.scores(step.instruction, step.history)
        first = builder.build(step.instruction, context.budget, history=step.history)
        rows = builder.rows([one.id for one in first.exposed])
        assert scores.request is not None
        evidence.append(open_evidence(scores.tools, rows, scores.request))
        closed.append(shares.probability(scores.tools, rows))
        missed.append(all(one.id != step.gold for one in first.exposed))
        found.append(ItrStep(first, None, first.exposed[0], 0.0, None))
    return _Tried(found, np.array(evidence), np.array(missed), np.array(closed))


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
    enough = tried.closed.copy()
    for fold in range(FOLDS):
        other = folds != fold
        weights = fit_open_weights(tried.evidence[other], ~tried.missed[other])
        if weights is not None:
            for row in np.flatnonzero(folds == fold):
                enough[row] = 1 / (1 + np.exp(-weights.odds(tried.evidence[row])))
    return enough, fit_open_weights(tried.evidence, ~tried.missed)


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
    for at in np.flatnonzero(gate.discovered):
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
