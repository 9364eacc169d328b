"""Steps of other agents, whose tools are in the same catalogue: BFCL's multi-turn requests.

No weight is fitted on them, but trials on them were in view when measures were kept or left out
(docs/log.md). A turn's message is the request, all calls before are the history; there are no
policies.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ctrag.agents.prompt.settings import FLOOR, PromptSettings
from eval.instructions.ablations import step_figures
from eval.instructions.methods import ExperimentContext, run_itr
from eval.instructions.steps import BFCL_CLASSES, DecisionStep, bfcl_folder

_FILE = "BFCL_v4_multi_turn_base.json"
_EPISODES = 60
"""So many are run, those first in the file."""


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
    episodes = len({one.episode for one in steps})
    found: dict[str, Any] = {"steps": len(steps), "episodes": episodes}
    for name, settings in variants.items():
        progress(f"BFCL multi-turn: {name}")
        found[name] = step_figures(run_itr(bare, "full", steps, settings), steps)
    return found


def load_turns(folder: Path, known: set[str], limit: int) -> list[DecisionStep]:
    """The steps of the first episodes whose tools are all in a catalogue.

    Args:
        folder: With the questions and `possible_answer/`.
        known: Ids of the catalogue's tools.
        limit: Episodes at most.
    """
    answers = {row["id"]: row["ground_truth"] for row in _rows(folder / "possible_answer" / _FILE)}
    steps: list[DecisionStep] = []
    taken = 0
    for row in _rows(folder / _FILE):
        made = _episode(row, answers[row["id"]], known)
        if made and taken < limit:
            steps += made
            taken += 1
    return steps


def _rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _episode(row: Any, answers: Sequence[Sequence[str]], known: set[str]) -> list[DecisionStep]:
    """No step at all where a call names a tool that the catalogue lacks."""
    servers = [BFCL_CLASSES[one] for one in row["involved_classes"] if one in BFCL_CLASSES]
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
