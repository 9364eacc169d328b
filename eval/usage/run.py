"""Simulated use: each person's first requests are recorded, and the later ones asked."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.assistant.artefacts import load_context_artefacts
from ctrag.assistant.context.feature_context import Doubles
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.context.learned_features import kinds_of
from ctrag.assistant.context.personal_ranker import NEWEST, PersonalRanker
from ctrag.assistant.context.use_history import FEATURES
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix, load_encoder
from ctrag.settings import settings
from eval.core.examples import RankingExample, load_examples
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval
from eval.core.tables import Table, figure
from stores.people.local_time import format_local_time
from stores.people.usage import RankedItem, Use

RANKED = 15
"""Items that a record of use keeps of a ranking."""
SEEN = 5
"""A request is recorded where one of the first so many items is right: otherwise the person got no
right answer."""
MEASURES = ("recall@1", "recall@3", "recall@5")


def run_usage(
    data: Path,
    *,
    more: Sequence[Path] = (),
    after: int = 50,
    model: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Experiment:
    """Recall of later requests before and after learning from the first ones.

    Args:
        data: A labelled data set whose people the ranker never saw.
        more: Further requests of the same people.
        after: How many requests about items are recorded before.
        model: A ranker's folder; the packaged one when None.
        progress: Called with progress messages.

    Raises:
        ValueError: Nobody has more than `after` requests, or a data set breaks a rule.
    """
    began = time.perf_counter()
    encoder = load_encoder(settings().encoder)
    ranker, adapter = load_context_artefacts(model)
    progress("encoding items and requests")
    examples = [
        one
        for folder in (data, *more)
        for one in load_examples(folder, encoder, adapter)
        if one.relevance.any()
    ]
    by_person: dict[str, list[RankingExample]] = {}
    for one in sorted(examples, key=lambda one: one.asked.request.asked_at):
        by_person.setdefault(one.asked.person_id, []).append(one)
    progress("asking")
    people: list[str] = []
    before: list[Floats] = []
    later: list[RankingExample] = []
    learned: list[Floats] = []
    short = 0
    weights: list[Doubles] = []
    for person, own in by_person.items():
        personal, rest = _learn(own, ranker, encoder.name, after)
        if personal is None or not rest:
            short += 1
            continue
        weights.append(personal.weights)
        for one in rest:
            scores = ranker.scores(one.context)
            people.append(person)
            later.append(one)
            before.append(scores)
            learned.append(personal.corrected(one.context, scores))
    if not later:
        raise InputError(f"--after: nobody has more than {after} requests that can be recorded")
    values = {
        "before": [_recalls(one, scores) for one, scores in zip(later, before, strict=True)],
        "after": [_recalls(one, scores) for one, scores in zip(later, learned, strict=True)],
    }
    values["gain"] = [
        [new - old for new, old in zip(*pair, strict=True)]
        for pair in zip(values["after"], values["before"], strict=True)
    ]
    return Experiment(
        experiment="usage",
        data=str(data),
        data_sha256=data_sha256(data),
        seed=0,
        versions=versions(),
        settings={
            "more": [str(one) for one in more],
            "after": after,
            "encoder": encoder.name,
            "ranker": ranker.card.command,
        },
        figures={name: _means(rows) for name, rows in values.items()},
        intervals={name: _bounds(rows, people) for name, rows in values.items()},
        extra={
            "people": len(weights),
            "requests": len(later),
            "too_few_requests": short,
            "mean_weights": dict(zip(FEATURES, np.mean(weights, axis=0).round(2), strict=True)),
            "unchanged_people": int(sum(not one.any() for one in weights)),
        },
        seconds=round(time.perf_counter() - began, 2),
    )


def table(experiment: Experiment) -> Table:
    """Recall before and after, and the gain with its interval over people."""
    rows = []
    for name in experiment.figures:
        figures: Any = experiment.figures[name]
        bounds: Any = experiment.intervals[name]
        low_high = bounds["recall@3"]
        between = "-" if low_high is None else f"{low_high[0]:.1f}..{low_high[1]:.1f}"
        rows.append([name, *(figure(figures[one]) for one in MEASURES), between])
    extra = experiment.extra
    mean_weights: Any = extra["mean_weights"]
    notes = [
        f"{extra['requests']} later requests of {extra['people']} people, in words that were not "
        f"recorded, each after {experiment.settings['after']} recorded ones; "
        f"{extra['too_few_requests']} people have fewer; interval: 95 %, bootstrap over people",
        f"people whose ranker stays as it was: {extra['unchanged_people']}; mean weights: "
        + ", ".join(f"{name} {weight}" for name, weight in mean_weights.items()),
    ]
    return Table(("", "R@1", "R@3", "R@5", "R@3 interval"), rows, notes)


def _learn(
    own: Sequence[RankingExample], ranker: Ranker, encoder: str, after: int
) -> tuple[PersonalRanker | None, Sequence[RankingExample]]:
    """What is learned from a person's first requests, and the later ones in other words."""
    uses: list[Use] = []
    vectors: list[Matrix] = []
    for place, one in enumerate(own):
        if len(uses) == after:
            fitted = PersonalRanker.fit(uses[-NEWEST:], np.stack(vectors)[-NEWEST:], encoder)
            said = {use.text.casefold() for use in uses}
            later = [one for one in own[place:] if _text(one).casefold() not in said]
            return fitted, later
        use = _use(one, ranker.scores(one.context))
        if use is not None:
            uses.append(use)
            vectors.append(one.context.vector)
    return None, ()


def _use(example: RankingExample, scores: Floats) -> Use | None:
    """The line that a record of use would hold; None where the answer could not be right."""
    order = np.argsort(-scores, kind="stable")[:RANKED]
    if not example.relevance[order[:SEEN]].any():
        return None
    context = example.context
    kinds = kinds_of(context)
    request = example.asked.request
    return Use(
        text=_text(example),
        asked_at=format_local_time(request.asked_at),
        place=request.place,
        api="" if example.labels.plan is None else example.labels.plan.api,
        items=tuple(str(item.id) for item in example.relevant_items),
        ranked=tuple(
            RankedItem(
                id=str(context.view.ids[context.rows[row]]),
                kind=int(kinds[row]),
                score=float(scores[row]),
            )
            for row in order
        ),
        outcome="done",
    )


def _text(example: RankingExample) -> str:
    return example.asked.request.text


def _recalls(example: RankingExample, scores: Floats) -> list[float]:
    order = np.argsort(-scores, kind="stable")
    relevance = example.relevance
    return [
        100 * float(relevance[order[: int(name.split("@")[1])]].sum() / relevance.sum())
        for name in MEASURES
    ]


def _means(rows: Sequence[Sequence[float]]) -> dict[str, Any]:
    means = np.mean(np.array(rows), axis=0)
    return {name: round(float(mean), 2) for name, mean in zip(MEASURES, means, strict=True)}


def _bounds(rows: Sequence[Sequence[float]], people: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column in zip(MEASURES, np.array(rows).T, strict=True):
        interval = bootstrap_interval(column, people)
        found[name] = (
            None if interval is None else [round(interval.low, 2), round(interval.high, 2)]
        )
    return found
