"""Reading an episodes folder and a catalogue's list into what all methods are made of."""

from collections.abc import Sequence
from pathlib import Path

from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.agents.prompt.encoders import MiniLMPassageEncoder, PassageEncoder
from ctrag.agents.prompt.index import passages
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.search.index import NextToolModel
from ctrag.models.tokens import CountTokens, token_counter
from ctrag.settings import cache_folder
from eval.core.twins import groups
from eval.instructions.figures import FOLDS, fold_of
from eval.instructions.methods import (
    CachedPassageEncoder,
    CachedReranker,
    ExperimentContext,
    TracePriorOf,
    TracesOf,
    load_policies,
)
from eval.instructions.steps import DecisionStep, load_experiment_catalogue

PINNED = ("transfer_to_human_agents",)
"""Rare and critical: every policy says when it has to be called."""


def open_context(
    data: Path,
    steps: Sequence[DecisionStep],
    *,
    model: Path | None = None,
    budget: int,
    listed: Path | None = None,
    encoder: PassageEncoder | None = None,
    count: CountTokens | None = None,
) -> ExperimentContext:
    """Policies and tools, with all that is known to be read read ahead.

    Args:
        data: An episodes folder.
        steps: Its steps.
        model: Folder of a re-ranker; the packaged one when None.
        budget: Tokens of an ITR prompt.
        listed: List of the catalogue's tools; the committed one when None.
        encoder: The encoder; MiniLM when None.
        count: Tokens of a text; in the embedded planner's vocabulary when None.

    Raises:
        ValueError: A file breaks a rule.
        FileNotFoundError: A file or folder is missing.
    """
    count = count or token_counter()
    fragments = cut_folder(data / "policies", count).fragments
    catalogue = load_experiment_catalogue(data, count, listed)
    reranker = Reranker.packaged() if model is None else Reranker.load(model)
    searched = [one.searched for one in fragments] + [one.searched for one in catalogue.documents]
    texts = [part for text in searched for part in passages(text)]
    texts += [one.instruction for one in steps]
    vectors = cache_folder() / "prompts" / "instructions-experiment.npz"
    return ExperimentContext(
        fragments,
        load_policies(data / "policies"),
        catalogue,
        CachedPassageEncoder(encoder or MiniLMPassageEncoder(), texts, vectors),
        CachedReranker(reranker),
        count,
        budget,
        PINNED,
    )


def other_traces(steps: Sequence[DecisionStep], *, twins: bool = True) -> TracesOf:
    """Episode → the traces of the other folds' episodes, the same object for a whole fold.

    Args:
        steps: Of all episodes.
        twins: Leave in what says nearly the same or calls the same tools; without them a fold
            is made of whole groups of such episodes.
    """
    chains: dict[str, list[str]] = {}
    texts = {}
    for step in steps:
        chains.setdefault(step.episode, []).append(step.gold)
        texts[step.episode] = step.instruction
    traces = {one: ToolTrace(texts[one], tuple(tools)) for one, tools in chains.items()}
    folds = {one: fold_of(one) for one in traces}
    if not twins:
        names = list(traces)
        grouped = groups([texts[one] for one in names], [traces[one].tools for one in names])
        folds = {one: fold_of(names[group]) for one, group in zip(names, grouped, strict=True)}
    others = [
        tuple(trace for one, trace in traces.items() if folds[one] != fold) for fold in range(FOLDS)
    ]
    return lambda episode: others[folds[episode]]


def trace_priors(traces: TracesOf, encoder: PassageEncoder) -> TracePriorOf:
    """Episode → a prior from the traces outside its fold."""
    fitted: dict[int, NextToolModel | None] = {}

    def trace_prior(episode: str) -> NextToolModel | None:
        others = traces(episode)
        if id(others) not in fitted:
            fitted[id(others)] = TracePrior(others, encoder) if others else None
        return fitted[id(others)]

    return trace_prior
