"""Instruction and tool retrieval against whole prompts: the tables of the ITR paper."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctrag.agents.prompt.encoders import PassageEncoder
from ctrag.agents.prompt.settings import BUDGET, FLOOR, PromptSettings
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.twins import groups
from eval.instructions.ablations import greedy_against_exact, run_ablations, step_figures
from eval.instructions.experiment_context import PINNED, open_context, other_traces, trace_priors
from eval.instructions.figures import ANSWER_TOKENS, PRICES
from eval.instructions.methods import (
    REQUEST_WEIGHT,
    TRACE_PRIOR_WEIGHT,
    WITH_ONE_POLICY,
    ExperimentContext,
    ItrRun,
    ShownPrompt,
    run_itr,
    with_traces,
)
from eval.instructions.mixed import outside_requests, run_mixed
from eval.instructions.other_agents import run_elsewhere
from eval.instructions.steps import SIZES, DecisionStep, load_steps
from eval.instructions.sufficiency import by_half, sufficiency_figures
from eval.instructions.summary import Summary
from eval.instructions.tool_choice import ToolChooser, WindowExceeded, asking, whole_prompt
from eval.instructions.tool_choice_rows import ChoiceRows
from eval.instructions.unit_labels import needed_recall

BASELINES = ("monolithic", "router_only", "prompt_rag")
METHODS = (*BASELINES, "itr", "retriever_top1")
_SEED = 0
TRACED = "itr_traces"
"""ITR with a prior of the other folds' traces: a row of its own, under `extra`."""

Progress = Callable[[str], None]


def run_instructions(
    data: Path,
    *,
    model: Path | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    sizes: Sequence[str] = SIZES,
    scored: int = 0,
    chooser: ToolChooser | None = None,
    everywhere: bool = False,
    budget: int = BUDGET,
    floor: float = FLOOR,
    ablations: bool = True,
    mix: bool = True,
    resume: Path | None = None,
    listed: Path | None = None,
    encoder: PassageEncoder | None = None,
    count: CountTokens | None = None,
    progress: Progress = lambda _: None,
) -> Experiment:
    """Tokens, exposure and right calls of every method at every catalogue size.

    Args:
        data: An episodes folder: `episodes.jsonl`, `tools.json`, `policies/`.
        model: Folder of a re-ranker; the packaged one when None.
        methods: Names from `METHODS`; all when None.
        limit: Only the first so many episodes.
        sizes: Names from `SIZES`.
        scored: Steps, drawn by episode, at which a model chooses a tool; 0 for none.
        chooser: The model; needed when `scored` is above 0.
        everywhere: The chooser's window holds every prompt: score all sizes, not only those with
            one policy.
        budget: Tokens of an ITR prompt.
        floor: `PromptSettings.floor` of the ITR prompts.
        ablations: Also K_A, K_B, re-ranker, hybrid and the trace prior.
        mix: Also episodes with a need outside the first server.
        resume: File of choices made so far; it is read first and appended to.
        listed: List of the catalogue's tools, a source and an id a line; the committed one when
            None.
        encoder: The encoder; MiniLM when None.
        count: Tokens of a text; in the embedded planner's vocabulary when None.
        progress: Called with progress messages.

    Raises:
        ValueError: A method or size is unknown, a file breaks a rule, or a chooser is missing.
    """
    began = time.perf_counter()
    _known("--methods", methods or (), METHODS)
    _known("--sizes", sizes, SIZES)
    if scored and chooser is None:
        raise InputError("chooser: a model is needed to score choices")
    steps = load_steps(data, limit)
    context = open_context(
        data, steps, model=model, budget=budget, listed=listed, encoder=encoder, count=count
    )
    trace_prior = trace_priors(other_traces(steps), context.encoder)
    plain = PromptSettings(discovery="widen", tau=0.0, floor=floor)
    retrieved = {size: run_itr(context, size, steps, plain, progress=progress) for size in sizes}
    informed = with_traces(plain)
    traced = {
        size: run_itr(context, size, steps, informed, trace_prior=trace_prior, progress=progress)
        for size in sizes
    }
    lone_prior = trace_priors(other_traces(steps, twins=False), context.encoder)
    lone = {
        size: run_itr(context, size, steps, informed, trace_prior=lone_prior, progress=progress)
        for size in sizes[-1:]
    }
    wanted = [one for one in METHODS if methods is None or one in methods]
    shown = {size: _all_shown(context, size, run, steps, wanted) for size, run in retrieved.items()}
    shown_traced = {size: {"itr": run.shown(steps)} for size, run in traced.items()}
    rows = ChoiceRows(resume, "" if chooser is None else chooser.model)
    drawn = _drawn(steps, scored)
    if chooser is not None and drawn:
        for size in sizes if everywhere else [one for one in sizes if one in WITH_ONE_POLICY]:
            for name, some in shown[size].items():
                _score(chooser, rows, size, name, some, steps, drawn, progress)
            every = shown_traced[size]["itr"]
            _score(chooser, rows, size, TRACED, every, steps, drawn, progress)
    summary = Summary(steps, rows, drawn, context.count)
    figures, intervals = summary.figures(shown, retrieved)
    traced_figures, traced_intervals = summary.figures(shown_traced, traced, TRACED)
    extra: dict[str, Any] = {
        "steps": len(steps),
        "episodes": len({one.episode for one in steps}),
        "scored_steps": len(drawn),
        "catalogue_sha256": context.catalogue.sha256,
        "fragments": len(context.fragments),
        "with_traces": {"figures": traced_figures, "intervals": traced_intervals},
        "traces_first_tool": {
            "with twins": step_figures(traced[sizes[-1]], steps),
            "without twins": without_twins(lone[sizes[-1]], steps),
        },
        "halves": {
            "itr": by_half(steps, retrieved[sizes[-1]]),
            TRACED: by_half(steps, traced[sizes[-1]]),
        },
        "sufficiency": {
            "itr": sufficiency_figures(steps, retrieved[sizes[-1]]),
            TRACED: sufficiency_figures(steps, traced[sizes[-1]]),
        },
        "taus": {size: list(run.taus) for size, run in retrieved.items()},
        "taus_with_traces": {size: list(run.taus) for size, run in traced.items()},
        "windows": summary.windows(shown),
        "needed_units": {
            size: needed_recall(steps, [one.first.fragments for one in run.found])
            for size, run in retrieved.items()
        },
        **summary.extras(shown, retrieved, figures),
    }
    if mix:
        found = outside_requests(data, {one.id for one in context.catalogue.documents})
        extra["mix"] = run_mixed(context, steps, found, plain, trace_prior, progress)
    if ablations:
        size = sizes[-1]
        extra["ablations"] = {
            "size": size,
            **run_ablations(
                context,
                size,
                steps,
                trace_prior,
                {"default": retrieved[size], "traces": traced[size]},
                progress,
            ),
        }
        extra["elsewhere"] = run_elsewhere(context, progress)
        extra["greedy_against_exact"] = greedy_against_exact(context, steps)
    return Experiment(
        experiment="instructions",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={
            "budget": budget,
            "floor": floor,
            "K_A": plain.instructions,
            "K_B": plain.tools,
            "discovery_tools": plain.discovery_tools,
            "pinned": list(PINNED),
            "reranked": context.reranker.trained,
            "signatures": plain.signatures,
            "whole_share": plain.whole_share,
            "domain_weight": plain.domain_weight,
            "called_domain": plain.called_domain,
            "opening": plain.opening,
            "prior_weight": TRACE_PRIOR_WEIGHT,
            "request_weight_with_traces": REQUEST_WEIGHT,
            "limit": limit,
            "scored": scored,
            "reranker": context.reranker.card.command,
            "prices": dict(PRICES),
            "answer_tokens": ANSWER_TOKENS,
        },
        figures=figures,
        intervals=intervals,
        extra=extra,
        skipped=_skipped(sizes, drawn, everywhere),
        seconds=round(time.perf_counter() - began, 2),
    )


def without_twins(run: ItrRun, steps: Sequence[DecisionStep]) -> dict[str, Any]:
    """ITR with traces of episodes that neither say nearly the same nor call the same tools."""
    texts = {one.episode: one.instruction for one in steps}
    chains: dict[str, list[str]] = {}
    for step in steps:
        chains.setdefault(step.episode, []).append(step.gold)
    names = list(texts)
    groups_of = groups([texts[one] for one in names], [tuple(chains[one]) for one in names])
    return {"groups": len(set(groups_of)), **step_figures(run, steps)}


def _known(option: str, given: Sequence[str], names: Sequence[str]) -> None:
    for one in given:
        if one not in names:
            raise InputError(f"{option}: {one!r} is unknown; known: {', '.join(names)}")


def _all_shown(
    context: ExperimentContext,
    size: str,
    run: ItrRun,
    steps: Sequence[DecisionStep],
    wanted: Sequence[str],
) -> dict[str, list[ShownPrompt]]:
    found = {
        name: [
            context.baseline(name, size, step, one.first)
            for step, one in zip(steps, run.found, strict=True)
        ]
        for name in BASELINES
        if name in wanted
    }
    if "itr" in wanted:
        found["itr"] = run.shown(steps)
    return found


def _drawn(steps: Sequence[DecisionStep], scored: int) -> list[int]:
    """Places of the steps that a model scores: whole episodes, by hash, until there are enough."""
    order = sorted(
        {one.episode for one in steps}, key=lambda one: sha256(f"scored:{one}".encode()).hexdigest()
    )
    taken: list[int] = []
    for episode in order:
        if len(taken) >= scored:
            break
        taken += [at for at, one in enumerate(steps) if one.episode == episode]
    return sorted(taken[:scored])


def _score(
    chooser: ToolChooser,
    rows: ChoiceRows,
    size: str,
    method: str,
    shown: Sequence[ShownPrompt],
    steps: Sequence[DecisionStep],
    drawn: Sequence[int],
    progress: Progress,
) -> None:
    # Neighbours share most of their prompt, of which the chooser reads the rest alone.
    for number, at in enumerate(sorted(drawn, key=lambda at: (steps[at].domain, at)), start=1):
        step, one = steps[at], shown[at]
        user = asking(step.instruction, step.calls)
        prompt = whole_prompt(one.text, user)
        if rows.get(size, method, step.id, prompt) is not None or not one.tools:
            continue
        try:
            chosen = chooser.choose(one.text, user, list(one.tools))
        except WindowExceeded:
            continue  # `windows` tells where
        rows.add(size, method, step.id, prompt, chosen)
        progress(f"size {size}, {method}: {number} of {len(drawn)} choices")


def _skipped(sizes: Sequence[str], drawn: Sequence[int], everywhere: bool) -> dict[str, str]:
    if not drawn:
        return {"tools_correct": "no step was scored by a model: give --scored N"}
    if everywhere:
        return {}
    return {
        f"tools_correct at {size}": "whole prompts do not fit the embedded model's window"
        for size in sizes
        if size not in WITH_ONE_POLICY
    }
