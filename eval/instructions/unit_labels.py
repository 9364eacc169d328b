"""Recall of the policy units that a step needs, by hand-made labels."""

import json
from collections.abc import Sequence
from importlib.resources import files

from ctrag.agents.prompt.fragments import Fragment
from eval.instructions.figures import bounds
from eval.instructions.steps import DecisionStep

LABELS = "needed-units.jsonl"


def needed_units() -> dict[str, tuple[str, ...]]:
    """Step → ids of the units that it needs; the rule is in the folder beside it."""
    text = files("eval.instructions.labels").joinpath(LABELS).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {row["step"]: tuple(row["units"]) for row in rows}


def needed_recall(
    steps: Sequence[DecisionStep], shown: Sequence[Sequence[Fragment]]
) -> dict[str, float | int | list[float] | None]:
    """Mean share (0-100) of the needed units in a prompt, over the labelled steps.

    Args:
        steps: Those of the experiment.
        shown: Per step the fragments in its prompt.
    """
    needed = needed_units()
    values, whole, episodes = [], [], []
    for step, some in zip(steps, shown, strict=True):
        if step.id in needed:
            ids = {one.id for one in some}
            share = sum(one in ids for one in needed[step.id]) / len(needed[step.id])
            values.append(100 * share)
            whole.append(100.0 * (share == 1))
            episodes.append(step.episode)
    if not values:
        return {"labelled_steps": 0, "recall": None, "all_units": None, "interval": None}
    return {
        "labelled_steps": len(values),
        "recall": round(sum(values) / len(values), 2),
        "all_units": round(sum(whole) / len(whole), 2),
        "interval": bounds(values, episodes),
    }
