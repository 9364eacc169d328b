"""The value of history, clusters and demonstrations (figure 5), and the tools without any."""

from collections.abc import Callable, Sequence
from hashlib import sha256

from pydantic import JsonValue

from ctrag.agents.next_tool import Demonstration, NextTool
from ctrag.agents.next_tool.graph import LENGTH, cluster_centroids
from ctrag.agents.next_tool.memory import Memory
from ctrag.models.encoder import Matrix
from eval.dependency.figures import figures_of
from eval.dependency.new_tools import new_tools
from eval.dependency.run import Fit
from eval.dependency.steps import Steps, rank_steps

LENGTHS = (0, 1, 2, 3, 4, 5)
SHARES = (0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Clusters, as a share of the demonstrations: one, which looks at no request, to one for each; the
paper's default is a tenth."""
COUNTS = (100, 300, 1_000)
Progress = Callable[[str], None]


def ablations(
    kept: Sequence[Demonstration],
    held: Sequence[Demonstration],
    fitted: NextTool,
    fit: Fit,
    progress: Progress,
) -> dict[str, JsonValue]:
    """Top-1 and MRR over all steps of `held`, in percent, under other conditions.

    Args:
        kept: What `fitted` learned from.
        held: What is asked.
        fitted: The model under the usual conditions.
        fit: Fits others.
        progress: Called with progress messages.
    """
    steps = Steps.of(held)
    return {
        "history_length": _history(fitted, steps, progress),
        "clusters": _clusters(fitted, steps, progress),
        "demonstration_count": _counts(kept, fitted, steps, fit, progress),
        "unseen_tools": new_tools(kept, held, fit, progress),
    }


def _history(fitted: NextTool, steps: Steps, progress: Progress) -> JsonValue:
    """Calls that a method gets to see; DTDR-C's graphs are recounted for each length."""
    found: dict[str, JsonValue] = {}
    for length in LENGTHS:
        progress(f"history of {length}")
        graphs = _regraphed(fitted, fitted.memory.graphs.centroids, length)
        shown = Steps(
            steps.owners,
            [history[max(len(history) - length, 0) :] for history in steps.histories],
            steps.wanted,
            steps.others,
        )
        found[str(length)] = {
            "dtdr_c": _both(graphs, steps, "dtdr_c"),
            "dtdr_l": _both(fitted, shown, "dtdr_l"),
            "combined": _both(fitted, shown, "combined"),
        }
    return found


def _clusters(fitted: NextTool, steps: Steps, progress: Progress) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for share in SHARES:
        count = max(1, round(share * len(fitted.memory)))
        progress(f"{count} clusters")
        centroids = cluster_centroids(fitted.memory.vectors, count, fitted.card.seed)
        graphs = _regraphed(fitted, centroids, LENGTH)
        found[str(count)] = {"dtdr_c": _both(graphs, steps, "dtdr_c")}
    return found


def _counts(
    kept: Sequence[Demonstration], fitted: NextTool, steps: Steps, fit: Fit, progress: Progress
) -> JsonValue:
    shuffled = sorted(kept, key=lambda one: sha256(one.chain.encode()).digest()[::-1])
    found: dict[str, JsonValue] = {}
    for count in (*(n for n in COUNTS if n < len(kept)), len(kept)):
        progress(f"{count} demonstrations")
        model = fitted if count == len(kept) else fit(shuffled[:count])
        found[str(count)] = {
            method: _both(model, steps, method) for method in ("dtdr_c", "dtdr_l", "combined")
        }
    return found


def _both(model: NextTool, steps: Steps, method: str) -> JsonValue:
    figures = figures_of(rank_steps(model, steps, method), steps)
    return {name: figures[name] for name in ("mrr", "top1")}


def _regraphed(fitted: NextTool, centroids: Matrix, length: int) -> NextTool:
    """The same demonstrations in other graphs."""
    memory = Memory(fitted.memory.names[1:], fitted.memory.inputs, centroids, length)
    for one, vector in zip(fitted.memory.demonstrations, fitted.memory.vectors, strict=True):
        memory.add(one, vector)
    return NextTool(memory, fitted.fitted, fitted.tools, fitted.texts, fitted.encoder, fitted.card)
