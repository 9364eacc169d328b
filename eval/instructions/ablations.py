"""Ablations of ITR: K_A, K_B, re-ranker, hybrid, traces, and greedy selection."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from ctrag.agents.prompt.choosing import INSTRUCTION, TOOL
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.prompt.retrieval import HybridRetriever, shares
from ctrag.agents.prompt.selection import SelectionCandidate, exact, greedy, total_gain
from ctrag.agents.prompt.settings import FLOOR, PromptSettings
from eval.instructions.figures import bounds
from eval.instructions.methods import ExperimentContext, ItrRun, TracePriorOf, run_itr, with_traces
from eval.instructions.steps import DecisionStep
from eval.instructions.unit_labels import needed_recall

_EVERY = 20
"""Every so many steps the greedy choice is held against the exact one."""
_BUDGETS = (600, 1000, 1500, 2400)


def run_ablations(
    context: ExperimentContext,
    size: str,
    steps: Sequence[DecisionStep],
    trace_prior: TracePriorOf,
    runs: Mapping[str, ItrRun],
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Per variant what `step_figures` says, those of `runs` first.

    Args:
        context: Catalogue, fragments, encoder and re-ranker from which prompts are built.
        size: Of the catalogue.
        steps: Those of the experiment.
        trace_prior: Episode → a prior that has not seen it.
        runs: Name → a run at this size that was made already.
        progress: Called with progress messages.
    """
    base = PromptSettings(tau=0.0, floor=FLOOR)
    traced = with_traces(base)
    weights = context.reranker.card.without_cross
    dense_card = context.reranker.card.model_copy(
        update={"without_cross": weights.model_copy(update={"lexical": 0.0})}
    )
    dense = Reranker(dense_card)
    variants: dict[str, tuple[PromptSettings, Reranker | None, TracePriorOf | None]] = {
        "dense only": (replace(base, rerank=False), dense, None),
        "without domains": (replace(base, domain_weight=0, called_domain=0), None, None),
        "without openings": (replace(base, opening=0), None, None),
        "second tool always whole": (replace(base, whole_share=0), None, None),
        **{f"signatures = {k}": (replace(base, signatures=k), None, None) for k in (0, 6)},
        "K_A = 1": (replace(base, instructions=1), None, None),
        "K_B = 1": (replace(base, tools=1), None, None),
        **{
            f"traces, signatures = {k}": (replace(traced, signatures=k), None, trace_prior)
            for k in (0, 6)
        },
        "traces, request as loud": (replace(traced, request_weight=1.0), None, trace_prior),
        "traces, K_B = 1": (replace(traced, tools=1), None, trace_prior),
    }
    if context.reranker.trained:
        variants["without re-ranking"] = (replace(base, rerank=False), None, None)
        variants["traces, without re-ranking"] = (replace(traced, rerank=False), None, trace_prior)
    found = {name: step_figures(run, steps) for name, run in runs.items()}
    for name, (settings, reranker, variant_prior) in variants.items():
        progress(f"ablation: {name}")
        run = run_itr(context, size, steps, settings, trace_prior=variant_prior, reranker=reranker)
        found[name] = step_figures(run, steps)
    return found


def step_figures(run: ItrRun, steps: Sequence[DecisionStep]) -> dict[str, Any]:
    """What one run shows and what that costs: means over its steps, and their `intervals`."""
    pairs = list(zip(run.found, steps, strict=True))
    first = [one.shown(step.gold, discovery=False) for one, step in pairs]
    shown = run.shown(steps)
    values: dict[str, list[float]] = {
        "tokens_per_step": [one.tokens for one in shown],
        "tokens_without_discovery": [one.tokens for one in first],
        "top1": [100.0 * (one.top.id == step.gold) for one, step in pairs],
        "gold_exposed_without_discovery": [100.0 * one.exposed for one in first],
        "gold_whole": [100.0 * one.whole for one in first],
        "gold_exposed": [100.0 * one.exposed for one in shown],
        "discovery_share": [100.0 * (one.wide is not None) for one in run.found],
    }
    episodes = [one.episode for one in steps]
    needed = needed_recall(steps, [one.first.fragments for one in run.found])
    return {
        **{name: round(fmean(some), 2) for name, some in values.items()},
        "needed_units": needed["recall"],
        "intervals": {
            **{name: bounds(some, episodes) for name, some in values.items()},
            "needed_units": needed["interval"],
        },
    }


def greedy_against_exact(
    context: ExperimentContext, steps: Sequence[DecisionStep]
) -> dict[str, Any]:
    """Gain of the greedy choice as a share of the best one, at several budgets for units."""
    asked = steps[::_EVERY]
    tools = context.catalogue.documents
    card = context.reranker.card
    retriever = HybridRetriever(
        context.fragments,
        tools,
        context.encoder,
        weights=card.with_cross,
        settings=PromptSettings(),
        instruction_weights=card.without_cross,
        reranker=context.reranker,
    )
    limits = {TOOL: 2, INSTRUCTION: 4}
    sizes = [one.tokens for one in context.fragments]
    costs = [context.count(one.line) for one in tools]
    ratios: dict[int, list[float]] = {budget: [] for budget in _BUDGETS}
    for step in asked:
        scores = retriever.scores(step.instruction, step.history)
        options = [
            *_options(TOOL, shares(scores.tools), costs),
            *_options(INSTRUCTION, shares(scores.instructions), sizes),
        ]
        for budget in _BUDGETS:
            best = total_gain(options, exact(options, budget, limits))
            gain = total_gain(options, greedy(options, budget, limits))
            ratios[budget].append(100 * gain / best)
    return {
        str(budget): {
            "steps": len(some),
            "mean": round(fmean(some), 2),
            "interval": bounds(some, [one.episode for one in asked]),
            "worst": round(min(some), 2),
            "optimal": round(100 * fmean(one > 100 - 1e-7 for one in some), 2),
        }
        for budget, some in ratios.items()
    }


def _options(kind: str, chances: Any, costs: Sequence[int]) -> list[SelectionCandidate]:
    best = np.argsort(-chances, kind="stable")[:20]
    return [SelectionCandidate(str(row), kind, float(chances[row]), costs[row]) for row in best]
