"""Context retrieval: Table 2 of the context-tuning paper."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.assistant.artefacts import load_artefacts
from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.fusion import fuse, rankings
from ctrag.assistant.context.item_text import searched_text
from ctrag.assistant.context.learned_features import tuned_scores
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.packages import ModelMissing
from ctrag.settings import settings
from ctrag.text.words import terms
from eval.context.bm25t import Bm25T
from eval.context.generated_thoughts import Generated, generate
from eval.context.importance import permutation_importance
from eval.context.misses import misses
from eval.core.examples import RankingExample, load_examples
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval, paired_permutation
from eval.core.ranking import RankingScores, evaluate_run, recall_curve
from eval.core.tables import Table, figure
from stores.people.dataset import load_dataset
from synth.reference import split_folder

METHODS = (
    "bm25t",
    "semantic",
    "cot",
    "cot_generated",
    "finetuned",
    "finetuned_cot",
    "lambdamart",
    "lambdamart_rrf",
)
PAPER = {
    "bm25t": (11.35, 13.47, 14.92),
    "semantic": (23.74, 25.38, 26.99),
    "cot": (71.77, 85.61, 94.41),
    "finetuned": (73.48, 88.52, 95.13),
    "finetuned_cot": (73.55, 88.53, 95.17),
    "lambdamart_rrf": (81.27, 92.65, 98.77),
}
"""Recall@3, 5, 10 of the paper's table 2."""
_NAMES = {"cot": "cot (oracle)", "finetuned_cot": "finetuned_cot (oracle)"}
_SEED = 0

Scores = NDArray[np.floating]
Method = Callable[[RankingExample], Scores]


def run_context(
    data: Path,
    *,
    model: Path | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    detail: bool = False,
    thoughts: str = "embedded",
    progress: Callable[[str], None] = lambda _: None,
) -> Experiment:
    """Recall and NDCG of every retriever on a labelled data set.

    Args:
        data: The data set folder.
        model: A ranker's folder; the packaged one when None.
        methods: Names from `METHODS`; all when None.
        limit: Only the first so many requests.
        detail: Also what each signal is worth and which items are still missed.
        thoughts: Who writes those of `cot_generated`: `embedded` or `openai`.
        progress: Called with progress messages.

    Raises:
        ValueError: A method is unknown, the ranker was trained with another encoder, or the data
            set breaks a rule or has no labels.
        EndpointError: The endpoint that should write thoughts does not.
    """
    began = time.perf_counter()
    wanted = _wanted(methods)
    encoder = load_encoder(settings().encoder)
    artefacts = load_artefacts(model)
    ranker, adapter = artefacts.ranker, artefacts.adapter
    retriever = ContextRetriever(encoder, ranker, adapter)  # refuses another encoder's ranker
    examples = load_examples(data, encoder, adapter)[:limit]
    ways = _ways(retriever, examples)
    skipped: dict[str, str] = {}
    if adapter is None:
        untuned = "the ranker's folder holds no adapter: run `ctrag train encoder`"
        skipped |= {name: untuned for name in ("finetuned", "finetuned_cot") if name in wanted}
    if "cot" in wanted and not any(one.labels.chain_of_thought for one in examples):
        nothing = "the data set has no written thoughts"
        skipped |= {name: nothing for name in ("cot", "finetuned_cot") if name in wanted}
    generated: Generated | None = None
    if "cot_generated" in wanted:
        try:
            generated = generate(examples, encoder, thoughts, progress)
            ways["cot_generated"] = generated.scores
        except ModelMissing as missing:
            skipped["cot_generated"] = str(missing)
    scored = {name: _score(examples, ways[name]) for name in wanted if name not in skipped}
    people = _people(examples)
    extra: dict[str, Any] = {
        "by_kind": {name: _by_kind(examples, scores) for name, scores in scored.items()},
        "requests": len(people),
        "people": len(set(people)),
        "paired_tests": _paired(scored, people),
        "curves": {name: recall_curve(*_rankings(examples, ways[name])) for name in scored},
        "ranker_saw_this_data": ranker.card.data_sha256 == data_sha256(data),
    }
    if "bm25t" in scored:
        own = _score(examples, _bm25t_per_person())
        extra["bm25t_per_person"] = _rounded(own.figures)
    if generated is not None:
        mixed = _rounded(_score(examples, generated.mixed).figures)
        extra["cot_generated"] = {**generated.facts, "mean_with_request": mixed}
    if detail:
        extra["ablation"] = ranker.card.ablation
        extra["permutation_importance"] = permutation_importance(examples, ranker, seed=_SEED)
        extra["misses"] = misses(examples, ways["lambdamart_rrf"])
    return Experiment(
        experiment="context",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings={
            "encoder": encoder.name,
            "ranker": ranker.card.command,
            "ranker_data_sha256": ranker.card.data_sha256,
            "limit": limit,
        },
        figures={name: _rounded(scores.figures) for name, scores in scored.items()},
        intervals={name: _intervals(scores, people) for name, scores in scored.items()},
        extra=extra,
        skipped=skipped,
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """Table 2: Recall and NDCG with 95 % intervals at K = 3, the paper's recall beside."""
    rows = []
    for name in METHODS:
        figures: Any = experiment.figures.get(name)
        paper = [figure(value) for value in PAPER.get(name, ())] or ["-"] * 3
        if figures is None:
            if name in experiment.skipped:
                rows.append([_NAMES.get(name, name), *["-"] * 7, *paper])
            continue
        low_high: Any = experiment.intervals[name]
        bounds = low_high.get("recall@3")
        ours = [figure(figures[f"{what}@{k}"]) for what in ("recall", "ndcg") for k in (3, 5, 10)]
        between = "-" if bounds is None else f"{bounds[0]:.1f}..{bounds[1]:.1f}"
        rows.append([_NAMES.get(name, name), *ours, between, *paper])
    notes = [f"{name}: not run, {reason}" for name, reason in experiment.skipped.items()]
    if experiment.extra.get("ranker_saw_this_data"):
        notes.append("The ranker was trained on these people: its figures here say nothing.")
    notes.append(
        f"{experiment.extra['requests']} requests with a relevant item, of "
        f"{experiment.extra['people']} people; R@3 interval: 95 %, bootstrap over people; "
        "paper: Recall of table 2."
    )
    header = ["method", "R@3", "R@5", "R@10", "N@3", "N@5", "N@10", "R@3 interval"]
    return Table([*header, "paper R@3", "R@5", "R@10"], rows, notes)


def _wanted(methods: Sequence[str] | None) -> list[str]:
    for name in methods or ():
        if name not in METHODS:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(METHODS)}")
    return [name for name in METHODS if methods is None or name in methods]


def _ways(retriever: ContextRetriever, examples: Sequence[RankingExample]) -> dict[str, Method]:
    collection = load_dataset(split_folder("train"))
    statistics = Bm25T.fit(
        [terms(searched_text(item)) for persona in collection.personas for item in persona.items]
    )
    thoughts = {
        one.asked.query_id: f"{one.asked.request.text} {one.labels.chain_of_thought or ''}"
        for one in examples
    }
    read = dict(zip(thoughts, retriever.request_encoder.read(list(thoughts.values())), strict=True))
    ranker = retriever.ranker
    learned: dict[str, Scores] = {}

    def lambdamart(example: RankingExample) -> Scores:
        key = example.asked.query_id
        if key not in learned:
            learned[key] = ranker.scores(example.context)
        return learned[key]

    def rrf(example: RankingExample) -> Scores:
        scores = rankings(example.context, lambdamart(example))
        return fuse(scores, ranker.card.fusion_weights, ranker.card.fusion_k)[0]

    return {
        "bm25t": lambda one: statistics.scores(one.context.terms, _documents(one.context)),
        "semantic": lambda one: one.context.cosine,
        "cot": lambda one: one.context.view.vectors @ read[one.asked.query_id][0],
        "finetuned": lambda one: tuned_scores(one.context),
        "finetuned_cot": lambda one: tuned_scores(
            replace(one.context, tuned=read[one.asked.query_id][1])
        ),
        "lambdamart": lambdamart,
        "lambdamart_rrf": rrf,
    }


def _bm25t_per_person() -> Method:
    """BM25T with the statistics of the person's own items."""
    fitted: dict[str, Bm25T] = {}

    def scores(example: RankingExample) -> Scores:
        context, person = example.context, example.asked.person_id
        documents = list(context.view.terms)
        if not any(documents):
            return np.zeros(len(context))
        if person not in fitted:
            fitted[person] = Bm25T.fit(documents)
        return fitted[person].scores(context.terms, _documents(context))

    return scores


def _documents(context: FeatureContext) -> list[list[str]]:
    return [context.view.terms[row] for row in context.rows]


def _score(examples: Sequence[RankingExample], method: Method) -> RankingScores:
    return evaluate_run(*_rankings(examples, method))


def _rankings(
    examples: Sequence[RankingExample], method: Method
) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Per query all ids, best first, and the relevant ones."""
    run: dict[str, list[str]] = {}
    qrels: dict[str, set[str]] = {}
    for example in examples:
        ids = np.array(example.context.view.ids)
        order = np.argsort(-method(example), kind="stable")
        run[example.asked.query_id] = [str(one) for one in ids[order]]
        qrels[example.asked.query_id] = {str(one) for one in ids[example.relevance > 0]}
    return run, qrels


def _people(examples: Sequence[RankingExample]) -> list[str]:
    """The person of each request that is scored, in the order of `RankingScores.per_query`."""
    return [one.asked.person_id for one in examples if one.relevance.any()]


def _intervals(scores: RankingScores, people: Sequence[str]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for name, values in scores.per_query.items():
        interval = bootstrap_interval(list(values.values()), people, seed=_SEED)
        found[name] = (
            None if interval is None else [round(interval.low, 2), round(interval.high, 2)]
        )
    return found


def _by_kind(
    examples: Sequence[RankingExample], scores: RankingScores
) -> dict[str, dict[str, float]]:
    kinds = {one.asked.query_id: one.labels.kind or "unlabelled" for one in examples}
    found: dict[str, dict[str, list[float]]] = {}
    for name in ("recall@3", "recall@10"):
        for query_id, value in scores.per_query[name].items():
            found.setdefault(kinds[query_id], {}).setdefault(name, []).append(value)
    return {
        kind: {name: round(float(np.mean(values)), 2) for name, values in figures.items()}
        for kind, figures in sorted(found.items())
    }


def _paired(scored: dict[str, RankingScores], people: Sequence[str]) -> dict[str, JsonValue]:
    """`lambdamart_rrf` against every other method at Recall@3."""
    found: dict[str, JsonValue] = {}
    best = scored.get("lambdamart_rrf")
    if best is None or len(set(people)) < 2:
        return found
    ours = list(best.per_query["recall@3"].values())
    for name, scores in scored.items():
        if name != "lambdamart_rrf":
            theirs = list(scores.per_query["recall@3"].values())
            difference = paired_permutation(ours, theirs, people, seed=_SEED)
            found[name] = {
                "recall@3_difference": round(difference.mean, 2),
                "p": round(difference.p_value, 4),
            }
    return found


def _rounded(figures: dict[str, float]) -> dict[str, JsonValue]:
    return {name: round(value, 2) for name, value in figures.items()}
