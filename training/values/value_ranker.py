"""Training the ranker of argument values on labelled plans."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.api_choice.classifier_features import ITEMS
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.retrieve import FURTHER
from ctrag.assistant.planning.candidate_values import CandidateValue, ValueSources
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.value_ranker import (
    CATEGORIES,
    FEATURES,
    Numbers,
    ValueRanker,
    ValueRankerCard,
    features,
    with_absent,
)
from ctrag.errors import InputError
from ctrag.toolbox import Argument, Tool, Toolbox
from eval.core.examples import RankingExample
from eval.core.plans import score


@dataclass(frozen=True, slots=True)
class ValueRankerSettings:
    """How the ranker of values is trained."""

    rounds: int = 300
    learning_rate: float = 0.05
    leaves: int = 15
    fewest_in_leaf: int = 20
    penalty: float = 20.0
    columns: float = 0.5
    rows: float = 0.8
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ArgumentExample:
    """One argument of one labelled plan: its candidates, and which of them are correct."""

    query_id: str
    argument: str
    table: Floats
    right: NDArray[np.float32]


def choices(examples: Sequence[RankingExample], scores: Sequence[Floats]) -> list[ArgumentExample]:
    """Every argument that is scored by value, of every labelled plan.

    Args:
        examples: Labelled requests.
        scores: Relevance of each example's candidates, by a ranker that never saw its person.
    """
    toolbox = Toolbox.packaged()
    numbers = packaged_numbers(toolbox)
    found = []
    for example, score_of in zip(examples, scores, strict=True):
        gold = example.labels.plan
        tool = None if gold is None else toolbox.get(gold.api)
        if gold is None or tool is None:
            continue
        best = np.argsort(-score_of, kind="stable")[: ITEMS + FURTHER]
        context = example.context
        ranked = [context.view.items[row] for row in context.rows[best]]
        sources = ValueSources.of(
            context.request,
            context.view.person,
            ranked[:ITEMS],
            score_of[best],
            context.view.items,
            ranked[ITEMS:],
        )
        for argument in tool.arguments:
            if argument.match != "value":
                continue
            candidates = with_absent(argument, sources.candidates(tool, argument))
            if not candidates:
                continue
            wanted = gold.arguments.get(argument.name)
            right = [_right(tool, argument, candidate, wanted, toolbox) for candidate in candidates]
            found.append(
                ArgumentExample(
                    example.asked.query_id,
                    f"{tool.api}.{argument.name}",
                    features(sources, tool, argument, candidates, numbers),
                    np.array(right, dtype=np.float32),
                )
            )
    return found


def train_arguments(
    learned: Sequence[ArgumentExample],
    held_out: Sequence[ArgumentExample],
    settings: ValueRankerSettings,
    card: dict[str, Any],
    start: ValueRanker | None = None,
) -> ValueRanker:
    """A ranker of values, with figures of the held-out choices in its card.

    Args:
        learned: The training data.
        held_out: Choices of other people; may be empty.
        settings: See `ValueRankerSettings`.
        card: The fields `command`, `data`, `data_sha256`, `seed` and `versions`.
        start: A ranker to which trees are added; None starts without any.

    Raises:
        ValueError: There is nothing to learn from.
    """
    import lightgbm

    useful = [one for one in learned if one.right.sum() > 0 and len(one.right) > 1]
    if not useful:
        raise InputError("data: no labelled plan has an argument to choose a value for")
    toolbox = Toolbox.packaged()
    numbers = packaged_numbers(toolbox)
    dataset = lightgbm.Dataset(
        np.vstack([one.table for one in useful]),
        np.concatenate([one.right for one in useful]),
        group=[len(one.right) for one in useful],
        feature_name=list(FEATURES),
        categorical_feature=list(CATEGORIES),
    )
    parameters = {
        "objective": "lambdarank",
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.leaves,
        "min_data_in_leaf": settings.fewest_in_leaf,
        "lambda_l2": settings.penalty,
        "feature_fraction": settings.columns,
        "bagging_fraction": settings.rows,
        "bagging_freq": 1,
        "cat_smooth": 5,
        "num_threads": settings.threads,
        "seed": settings.seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    before = None if start is None else lightgbm.Booster(model_str=start.model)
    model = lightgbm.train(parameters, dataset, settings.rounds, init_model=before)
    figures = {}
    if held_out:
        hits = [
            float(one.right[int(np.argmax(model.predict(one.table, num_threads=1)))])
            for one in held_out
        ]
        firsts = [float(one.right[0]) for one in held_out]
        offered = [float(one.right.max()) for one in held_out]
        figures["held_out"] = {
            "ranked_first_right": round(100 * float(np.mean(hits)), 2),
            "first_offer_right": round(100 * float(np.mean(firsts)), 2),
            "offered": round(100 * float(np.mean(offered)), 2),
            "choices": float(len(held_out)),
        }
    return ValueRanker(
        str(model.model_to_string()),
        ValueRankerCard(
            features=list(FEATURES),
            arguments=list(numbers.arguments),
            names=list(numbers.names),
            settings=asdict(settings),
            figures=figures,
            **card,
        ),
    )


def packaged_numbers(toolbox: Toolbox) -> Numbers:
    """Numbers of all arguments of a toolbox, by the alphabet."""
    pairs = [(tool.api, argument.name) for tool in toolbox for argument in tool.arguments]
    arguments = sorted({f"{api}.{name}" for api, name in pairs})
    names = sorted({name for _, name in pairs})
    return Numbers(
        {name: at for at, name in enumerate(arguments)}, {name: at for at, name in enumerate(names)}
    )


def _right(
    tool: Tool, argument: Argument, candidate: CandidateValue, wanted: Any, toolbox: Toolbox
) -> bool:
    """Whether the candidate makes this argument of the plan correct."""
    if candidate.how == "absent" or wanted is None:
        return candidate.how == "absent" and wanted is None
    value = [candidate.value] if argument.type == "contacts" else candidate.value
    offered = Plan(tool.api, {argument.name: value})
    gold = Plan(tool.api, {argument.name: wanted})
    return score(offered, gold, [], toolbox=toolbox, ungrounded=False).ast_match
