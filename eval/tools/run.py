"""Tool retrieval with and without context: Figure 2 of the context-tuning paper."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ctrag.assistant.api_choice.retrieve import ToolRetriever
from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.assistant.open import toolbox_of
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from eval.core.examples import RankingExample, load_examples
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval
from eval.core.ranking import RankingScores, evaluate_run
from eval.core.tables import Table, figure
from stores.people.items import Item

METHODS = ("query_only", "with_context", "with_true_context")
KS = (1, 3, 5, 10)
_SEED = 0


def run_tools(
    data: Path,
    *,
    model: Path | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
) -> Experiment:
    """Recall of the best API, and of all three labelled ones, among the first K.

    Args:
        data: The data set folder.
        model: A ranker's folder; the packaged one when None.
        methods: Names from `METHODS`; all when None.
        limit: Only the first so many requests.

    Raises:
        ValueError: A method is unknown, or the data set breaks a rule or has no labels.
    """
    began = time.perf_counter()
    for name in methods or ():
        if name not in METHODS:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(METHODS)}")
    encoder = load_encoder(settings().encoder)
    artefacts = load_artefacts(model)
    ranker = artefacts.ranker
    toolbox = toolbox_of(data)
    retriever = ContextRetriever(encoder, ranker, artefacts.adapter)
    ways = {
        "shipped": ToolRetriever(toolbox, encoder, artefacts.classifier),
        "dense": ToolRetriever(toolbox, encoder),
    }
    examples = [
        one for one in load_examples(data, encoder, artefacts.adapter)[:limit] if one.labels.tools
    ]
    if not examples:
        raise InputError(f"{data}: no request says which tools fit")
    people = [one.asked.person_id for one in examples]
    figures: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    every: dict[str, JsonValue] = {}
    dense: dict[str, JsonValue] = {}
    for name in METHODS:
        if methods is not None and name not in methods:
            continue
        contexts = [_context(name, one, retriever) for one in examples]
        best, all_three = _scores(ways["shipped"], examples, contexts)
        figures[name] = _rounded(best)
        intervals[name] = _intervals(best.per_query, people)
        every[name] = _rounded(all_three)
        dense[name] = _rounded(_scores(ways["dense"], examples, contexts)[0])
    extra: dict[str, JsonValue] = {
        "dense_alone": dense,
        "all_labelled_tools": every,
        "requests": len(examples),
        "people": len(set(people)),
        "ranker_saw_this_data": ranker.card.data_sha256 == data_sha256(data),
    }
    return Experiment(
        experiment="tools",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={"encoder": encoder.name, "items": settings().items, "limit": limit},
        figures=figures,
        intervals=intervals,
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """Figure 2 as a table, with the gain that context brings."""
    rows = []
    notes = []
    dense: Any = experiment.extra["dense_alone"]
    shipped: Any = experiment.figures
    for way, found in (("dense alone", dense), ("shipped", shipped)):
        for name, figures in found.items():
            rows.append([way, name, *(figure(figures[f"recall@{k}"]) for k in KS)])
        if "query_only" in found and "with_context" in found:
            gains = ", ".join(
                f"@{k} {found['with_context'][f'recall@{k}'] / max(alone, 1e-9):.2f}"
                for k in KS
                for alone in [found["query_only"][f"recall@{k}"]]
            )
            notes.append(f"gain with context, {way}: {gains} (the paper reports 1.5)")
    notes.append(f"{experiment.extra['requests']} requests of {experiment.extra['people']} people")
    if experiment.extra.get("ranker_saw_this_data"):
        notes.append("The ranker was trained on these people: with_context says nothing here.")
    return Table(["retrieval", "context", *(f"Recall@{k}" for k in KS)], rows, notes)


def _context(
    method: str, example: RankingExample, retriever: ContextRetriever
) -> tuple[list[Item], Floats | None]:
    """Items, and the relevance of each where it is known."""
    context = example.context
    if method == "query_only":
        return [], None
    if method == "with_true_context":
        return example.relevant_items, None
    found = retriever.retrieve(
        context.view, context.request, settings().items, encoded=(context.vector, context.tuned)
    )
    return [one.item for one in found.items], found.relevance


def _scores(
    tools: ToolRetriever,
    examples: Sequence[RankingExample],
    contexts: Sequence[tuple[list[Item], Floats | None]],
) -> tuple[RankingScores, RankingScores]:
    """Scores by the best API, and by all labelled ones."""
    run = {}
    for example, (items, relevance) in zip(examples, contexts, strict=True):
        context = example.context
        found = tools.search(
            context.request, items, len(tools.toolbox), relevance=relevance, context=context
        )
        run[example.asked.query_id] = [one.tool.api for one in found.tools]
    best = {one.asked.query_id: set((one.labels.tools or ())[:1]) for one in examples}
    labelled = {one.asked.query_id: set(one.labels.tools or ()) for one in examples}
    return (
        evaluate_run(run, best, ks=KS, measures=("recall",)),
        evaluate_run(run, labelled, ks=KS, measures=("recall",)),
    )


def _rounded(scores: RankingScores) -> dict[str, JsonValue]:
    return {name: round(value, 2) for name, value in scores.figures.items()}


def _intervals(per_query: dict[str, dict[str, float]], people: Sequence[str]) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for name, values in per_query.items():
        interval = bootstrap_interval(list(values.values()), people, seed=_SEED)
        found[name] = (
            None if interval is None else [round(interval.low, 2), round(interval.high, 2)]
        )
    return found
