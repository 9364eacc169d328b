"""Steps of other agents, whose tools are in the same catalogue: BFCL's multi-turn requests.

No weight is fitted on them, but trials on them were in view when measures were kept or left out
(docs/log.md). A turn's message is the request, all calls before are the history; there are no
policies. The tools are simulated, so that the state is known which calls leave.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ctrag.agents.prompt.settings import FLOOR, PromptSettings
from ctrag.errors import MissingExtra
from eval.instructions.ablations import step_figures
from eval.instructions.figures import bounds
from eval.instructions.methods import ExperimentContext, run_itr
from eval.instructions.steps import DecisionStep, bfcl_folder
from eval.replay.conversations import (
    FILE,
    SimulatedConversation,
    load_conversations,
    rows_of,
)
from eval.replay.simulators import SIMULATORS

_EPISODES = 60
"""So many are run, those first in the file."""
END_STATE = "end_state"
"""Conversations whose calls leave the right state where only exposed tools can be called."""


def run_elsewhere(context: ExperimentContext, progress: Callable[[str], None]) -> dict[str, Any]:
    """Figures per variant, or the reason why there are none."""
    folder = bfcl_folder()
    if folder is None:
        return {"skipped": "bfcl-eval is not installed"}
    known = {one.id for one in context.catalogue.documents}
    steps = load_turns(folder, known, _EPISODES)
    if not steps:
        return {"skipped": "the catalogue has the tools of no conversation"}
    bare = replace(context, fragments=(), pinned=())
    base = PromptSettings(tau=0.0, floor=FLOOR)
    alone = replace(base, signatures=0, whole_share=0)
    variants = {
        "default": base,
        "without domains": replace(base, domain_weight=0, called_domain=0),
        "signatures = 0": alone,
        "signatures = 0, without domains": replace(alone, domain_weight=0, called_domain=0),
    }
    if context.reranker.trained:
        variants["without re-ranking"] = replace(base, rerank=False)
    made = _made(steps, [False] * len(steps))
    found: dict[str, Any] = {"steps": len(steps), "episodes": len(made)}
    known_ends = load_conversations(folder)
    try:
        found["left_as_it_was"] = sum(end_states(known_ends, made))
    except MissingExtra as error:
        known_ends = {}
        found["end_states"] = f"skipped: {error}"
    for name, settings in variants.items():
        progress(f"BFCL multi-turn: {name}")
        run = run_itr(bare, "full", steps, settings)
        found[name] = step_figures(run, steps)
        if known_ends:
            made = _made(steps, [one.exposed for one in run.shown(steps)])
            reached = [100.0 * one for one in end_states(known_ends, made)]
            found[name][END_STATE] = round(fmean(reached), 2)
            found[name]["intervals"][END_STATE] = bounds(reached, list(made))
    return found


def end_states(
    conversations: Mapping[str, SimulatedConversation], made: Mapping[str, Sequence[bool]]
) -> list[bool]:
    """Per conversation, whether the right end state is reached by the calls that are made.

    Args:
        conversations: By id.
        made: Id → of each call in order, whether it is made.
    """
    return [conversations[name].ends_right(flags) for name, flags in made.items()]


def _made(steps: Sequence[DecisionStep], flags: Sequence[bool]) -> dict[str, list[bool]]:
    """Flags of steps by episode."""
    found: dict[str, list[bool]] = {}
    for step, flag in zip(steps, flags, strict=True):
        found.setdefault(step.episode, []).append(flag)
    return found


def load_turns(folder: Path, known: set[str], limit: int) -> list[DecisionStep]:
    """The steps of the first episodes whose tools are all in a catalogue.

    Args:
        folder: With the questions and `possible_answer/`.
        known: Ids of the catalogue's tools.
        limit: Episodes at most.
    """
    answers = {row["id"]: row["ground_truth"] for row in rows_of(folder / "possible_answer" / FILE)}
    steps: list[DecisionStep] = []
    taken = 0
    for row in rows_of(folder / FILE):
        made = _episode(row, answers[row["id"]], known)
        if made and taken < limit:
            steps += made
            taken += 1
    return steps


def _episode(row: Any, answers: Sequence[Sequence[str]], known: set[str]) -> list[DecisionStep]:
    """No step at all where a call names a tool that the catalogue lacks."""
    servers = [SIMULATORS[one] for one in row["involved_classes"] if one in SIMULATORS]
    texts, ids, calls = [], [], []
    for turn, turn_calls in zip(row["question"], answers, strict=True):
        text = " ".join(one["content"] for one in turn)
        for call in turn_calls:
            name = re.match(r"\w+", call)
            places = [f"{one}/{name[0]}" for one in servers if name and f"{one}/{name[0]}" in known]
            if not places or not text.strip():
                return []
            texts.append(text)
            ids.append(places[0])
            calls.append(call)
    used = tuple(sorted(set(ids)))
    return [
        DecisionStep(
            f"{row['id']}/{at + 1}",
            row["id"],
            ids[at].partition("/")[0],
            texts[at],
            tuple(ids[:at]),
            tuple(calls[:at]),
            ids[at],
            used,
        )
        for at in range(len(ids))
    ]
