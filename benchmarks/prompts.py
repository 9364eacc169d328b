"""How long prompts take: retrieval and selection, with and without re-ranking, and indexing.

`python -m benchmarks.prompts --episodes ../shared/data/external/tau2-episodes
--tools ../shared/data/external/seal-tools/tools.json`

Encoding a request is not part of a prompt's time. Each request is asked for the first time:
neither selection nor counted texts are at hand. The re-ranker has learned nothing, which takes as
long as a trained one. Times are by the clock and, beside it, of this process's own
work: on a machine that does other things the second one says more.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import Timing, timing
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.encoders import MiniLMPassageEncoder
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.reranker import Reranker, load_cross_encoder
from ctrag.agents.prompt.tool_documents import make_documents
from ctrag.models import packages
from ctrag.models.tokens import token_counter
from eval.core.experiment import versions
from eval.instructions.methods import CachedPassageEncoder
from eval.instructions.steps import load_experiment_catalogue, load_steps

LIMITS = {"prompt": 10.0, "prompt, 20 candidates re-ranked": 60.0, "index of 1,000 tools": 30_000.0}
"""Milliseconds at the median."""
_BUDGET = 2400


def main() -> None:
    """Measure, print a table and, as the last line, JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--episodes", type=Path, required=True)
    options.add_argument("--tools", type=Path, required=True)
    options.add_argument("--requests", type=int, default=60)
    options.add_argument("--index", type=int, default=1000, help="tools that are indexed")
    given = options.parse_args()
    rows = [
        *_prompts(given.episodes, given.requests),
        *_indexing(given.tools, given.index),
    ]
    for row in rows:
        print(
            f"{row.what:<44} {row.runs:>4} runs  p50 {row.p50:>9} ms  p95 {row.p95:>9}", _kept(row)
        )
    found = {
        row.what: {"runs": row.runs, "p50": row.p50, "p95": row.p95, "unit": row.unit}
        for row in rows
    }
    print(json.dumps({"rows": found, "versions": versions()}))


def _kept(row: Timing) -> str:
    limit = LIMITS.get(row.what.removesuffix(", own work"))
    if limit is None:
        return ""
    return f"limit {limit:.0f}: {'kept' if row.p50 <= limit else 'broken'}"


def _prompts(folder: Path, requests: int) -> list[Timing]:
    """Steps of different requests, with the 400 tools and the policies of the experiment."""
    count = token_counter()
    fragments = cut_folder(folder / "policies", count).fragments
    tools = load_experiment_catalogue(folder, count).documents
    steps = list({one.instruction: one for one in load_steps(folder)}.values())[:requests]
    encoder = CachedPassageEncoder(MiniLMPassageEncoder())
    for step in steps:
        encoder.encode(step.instruction)
    found = []
    for what, reranker in (("prompt", None), ("prompt, 20 candidates re-ranked", _untrained())):
        builder = PromptBuilder(fragments, tools, encoder=encoder, reranker=reranker, count=count)
        builder.build("warm up, please", _BUDGET)
        calls = [
            partial(builder.build, one.instruction, _BUDGET, history=one.history) for one in steps
        ]
        found += _timed(what, calls)
    return found


def _indexing(catalogue: Path, count: int) -> list[Timing]:
    """The first tools of a catalogue, read and written to disk, from nothing."""
    tools = load_catalogue(catalogue)[:count]
    with TemporaryDirectory() as folder:
        return _timed(f"index of {len(tools):,} tools", [partial(_index, tools, Path(folder))])


def _index(tools: Sequence[CatalogueTool], folder: Path) -> None:
    count = token_counter()
    PromptBuilder([], make_documents(tools, {}, count), count=count, folder=folder)


def _untrained() -> Reranker:
    """The packaged weights of cosine and words, and a network that nothing has changed."""
    card = Reranker.packaged().card
    weights = card.with_cross.model_copy(update={"cross": 1.0})
    changed = card.model_copy(update={"with_cross": weights})
    return Reranker(changed, load_cross_encoder(packages.ENCODER))


def _timed(what: str, calls: Sequence[Callable[[], object]]) -> list[Timing]:
    """By the clock, and this process's own work."""
    clock, work = [], []
    for call in calls:
        began, worked = time.perf_counter(), time.process_time()
        call()
        clock.append(1000 * (time.perf_counter() - began))
        work.append(1000 * (time.process_time() - worked))
    return [timing(what, clock), timing(f"{what}, own work", work)]


if __name__ == "__main__":
    main()
