"""How tools are found that no demonstration calls, and what that costs the others."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.agents.next_tool import Demonstration
from eval.core.tables import Table, figure
from eval.dependency.figures import figures_of
from eval.dependency.run import Fit
from eval.dependency.steps import Steps, rank_steps

METHODS = ("bm25", "qts", "bigram", "dtdr_c", "combined")
_UNSEEN, _FEWEST, _MOST = 20, 3, 40
_SHOWN = ("mrr", "top1", "top5")


def new_tools(
    kept: Sequence[Demonstration],
    held: Sequence[Demonstration],
    fit: Fit,
    progress: Callable[[str], None],
) -> dict[str, JsonValue]:
    """Figures of the steps that need a new tool, and of requests that need none.

    Tools with few demonstrations, a tenth of all at most, are drawn by the hash of their names,
    and all demonstrations that call one are left out; empty where no held-out request needs one.
    """
    progress("leaving tools out")
    counts: dict[str, int] = {}
    for one in kept:
        for name in set(one.tools):
            counts[name] = counts.get(name, 0) + 1
    asked = {name for one in held for name in one.tools}
    rare = [name for name, n in counts.items() if _FEWEST <= n <= _MOST and name in asked]
    most = min(_UNSEEN, max(1, len(counts) // 10))
    out = set(sorted(rare, key=lambda name: sha256(name.encode()).digest())[:most])
    if not out:
        return {}
    rest = [one for one in kept if out.isdisjoint((*one.before, *one.tools))]
    model = fit(rest, linear=False)
    steps = Steps.of(held)
    needing = np.array([name in out for name in steps.wanted])
    others = np.array([out.isdisjoint((*one.before, *one.tools)) for one in steps.owners])
    found: dict[str, JsonValue] = {"tools": len(out), "steps": int(needing.sum())}
    for key, chosen in (("figures", needing), ("others", others)):
        figures: dict[str, JsonValue] = {}
        fewer = steps.only(chosen)
        for method in METHODS if chosen.any() else ():
            progress(f"ranking by {method} without them")
            values = figures_of(rank_steps(model, fewer, method), fewer)
            figures[method] = {name: values[name] for name in _SHOWN}
        found[key] = figures
    return found


def new_tools_lines(found: Any) -> list[str]:
    """The figures as a table of text; none where nothing was measured."""
    if not found:
        return []
    rows = [
        [
            method,
            *(figure(values[name]) for name in _SHOWN),
            *(figure(found["others"].get(method, {}).get(name)) for name in _SHOWN),
        ]
        for method, values in found["figures"].items()
    ]
    head = ["method", *("MRR", "top-1", "top-5"), *("others MRR", "top-1", "top-5")]
    said = (
        f"{found['tools']} tools without a demonstration: {found['steps']} steps need one; others "
        "are all steps of requests that need none, by the same model"
    )
    return [*Table(head, rows).lines(), said]
