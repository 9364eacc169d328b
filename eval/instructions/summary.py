"""From what was shown and chosen to the figures of the instruction experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ctrag.models.tokens import CountTokens
from eval.instructions.figures import bounds, episode_costs, fit_hazard, hazard, most_loops
from eval.instructions.methods import ItrRun, ShownPrompt
from eval.instructions.steps import DecisionStep
from eval.instructions.tool_choice import asking, whole_prompt
from eval.instructions.tool_choice_rows import ChoiceRow, ChoiceRows

WINDOW = 8192
"""Tokens that the embedded model reads."""
_LOOPS = (1, 5, 10, 15, 20)
_ANSWER = 40
"""Room for a name and the chat marks when a prompt is held against the window."""

Methods = Mapping[str, Sequence[ShownPrompt]]


@dataclass(frozen=True)
class Summary:
    """Figures over one list of steps."""

    steps: Sequence[DecisionStep]
    rows: ChoiceRows
    drawn: Sequence[int]
    """Places of the steps that a model has scored."""
    count: CountTokens

    def figures(
        self,
        shown: Mapping[str, Methods],
        runs: Mapping[str, ItrRun],
        scored_as: str | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Figures and intervals by size and method, and the miss rate at the last size.

        Args:
            shown: Size → method → what it shows at each step.
            runs: Size → ITR.
            scored_as: The name under which choices were kept, if it is not the method's.
        """
        figures: dict[str, Any] = {}
        intervals: dict[str, Any] = {}
        for size, methods in shown.items():
            figures[size], intervals[size] = {}, {}
            for name, some in methods.items():
                found = self._summary(size, scored_as or name, some)
                figures[size][name], intervals[size][name] = found
            top = [
                100.0 * (one.top.id == step.gold)
                for one, step in zip(runs[size].found, self.steps, strict=True)
            ]
            figures[size]["retriever_top1"] = {
                "tokens_per_step": None,
                "tools_correct": mean(top),
                "gold_exposed": mean(top),
            }
            intervals[size]["retriever_top1"] = {
                "tools_correct": self._interval(top, range(len(top)))
            }
        figures["miss_rate"], intervals["miss_rate"] = self.misses(runs[list(runs)[-1]])
        return figures, intervals

    def misses(self, run: ItrRun) -> tuple[dict[str, Any], dict[str, Any]]:
        """Steps, in percent, whose tool was never exposed: without discovery, with it."""
        every = range(len(self.steps))
        without = [
            100.0 * (not one.shown(step.gold, discovery=False).exposed)
            for one, step in zip(run.found, self.steps, strict=True)
        ]
        with_it = [100.0 * (not one.exposed) for one in run.shown(self.steps)]
        taken = [100.0 * (one.wide is not None) for one in run.found]
        figures = {
            "no_discovery": mean(without),
            "discovery": mean(with_it),
            "discovery_share": mean(taken),
        }
        intervals = {
            "no_discovery": self._interval(without, every),
            "discovery": self._interval(with_it, every),
        }
        return figures, intervals

    def windows(self, shown: Mapping[str, Methods]) -> dict[str, Any]:
        """Longest prompt of each method with its user turn, against the model's window."""
        asked = [self.count(asking(one.instruction, one.calls)) + _ANSWER for one in self.steps]
        found: dict[str, Any] = {"window": WINDOW}
        for size, methods in shown.items():
            for name, some in methods.items():
                longest = max(one.tokens + own for one, own in zip(some, asked, strict=True))
                found[f"{name}@{size}"] = {"longest": longest, "fits": longest <= WINDOW}
        return found

    def extras(
        self, shown: Mapping[str, Methods], runs: Mapping[str, ItrRun], figures: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Costs, latency, shared prefixes, growth, the hazard model, what scoring took."""
        others = [self.count(asking(one.instruction, one.calls)) for one in self.steps]
        episodes = [one.episode for one in self.steps]
        costs = {
            size: {
                name: {
                    "mean": round(fmean(money), 5),
                    "p50": round(float(np.median(money)), 5),
                }
                for name, some in methods.items()
                for money in [episode_costs([one.tokens for one in some], others, episodes)]
            }
            for size, methods in shown.items()
        }
        return {
            "history_tokens_per_step": mean([float(one) for one in others]),
            "dollars_per_episode": costs,
            "latency_ms": {
                size: latency([one.milliseconds for one in run.found], episodes)
                for size, run in runs.items()
            },
            "shared_prefix": {size: self._shared(run) for size, run in runs.items()},
            "growth": self._growth(shown),
            "hazard": hazard_model(shown, figures),
            "scoring_tokens": self.rows.costs(),
            "transcript": self._transcript(runs),
        }

    def _summary(
        self, size: str, name: str, some: Sequence[ShownPrompt]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        every = range(len(some))
        tokens = [float(one.tokens) for one in some]
        exposed = [100.0 * one.exposed for one in some]
        chosen = self._chosen(size, name, some)
        right = [self._right(some, at, row.name) for at, row in chosen.items()]
        figures = {
            "tokens_per_step": mean(tokens),
            "tools_correct": mean(right) if right else None,
            "gold_exposed": mean(exposed),
        }
        intervals = {
            "tokens_per_step": self._interval(tokens, every),
            "tools_correct": self._interval(right, list(chosen)) if right else None,
            "gold_exposed": self._interval(exposed, every),
        }
        return figures, intervals

    def _chosen(self, size: str, name: str, some: Sequence[ShownPrompt]) -> dict[int, ChoiceRow]:
        """What a model chose, by place of the step."""
        found = {}
        for at in self.drawn:
            step = self.steps[at]
            prompt = whole_prompt(some[at].text, asking(step.instruction, step.calls))
            row = self.rows.get(size, name, step.id, prompt)
            if row is not None:
                found[at] = row
        return found

    def _right(self, some: Sequence[ShownPrompt], at: int, name: str) -> float:
        return 100.0 * (some[at].tools.get(name) == self.steps[at].gold)

    def _interval(self, values: Sequence[float], places: Sequence[int]) -> list[float] | None:
        return bounds(values, [self.steps[at].episode for at in places])

    def _shared(self, run: ItrRun) -> dict[str, float | None]:
        """Between a step's first prompt and the one before, steps after an episode's first."""
        later = [
            (one.shared(self.count), one.first.tokens)
            for one, step in zip(run.found, self.steps, strict=True)
            if step.history
        ]
        if not later:
            return {"tokens": None, "share": None}
        return {
            "tokens": mean([float(shared) for shared, _ in later]),
            "share": mean([100.0 * shared / tokens for shared, tokens in later]),
        }

    def _growth(self, shown: Mapping[str, Methods]) -> dict[str, Any]:
        """Tokens of a step after L loops, with the history that these episodes grow by a loop."""
        grown = [self.count(step.calls[-1]) for step in self.steps if step.calls]
        growth = mean([float(one) for one in grown]) if grown else 0.0
        found: dict[str, Any] = {"history_tokens_per_loop": growth}
        for size, methods in shown.items():
            for name, some in methods.items():
                static = fmean(one.tokens for one in some)
                found[f"{name}@{size}"] = {
                    "tokens_at_loop": {str(at): round(static + growth * at) for at in _LOOPS},
                    "loops_in_1M_at_2000_a_loop": most_loops(static, 2000),
                }
        return found

    def _transcript(self, runs: Mapping[str, ItrRun]) -> list[dict[str, Any]]:
        """The first episode of five steps or more, at the largest size."""
        run = runs[list(runs)[-1]]
        longest = {one.episode: len(one.history) + 1 for one in self.steps}
        chosen = next((name for name, length in longest.items() if length >= 5), None)
        return [
            {
                "step": step.id,
                "tokens": one.last.tokens,
                "shared_with_step_before": one.shared(self.count),
                "fragments": [unit.id for unit in one.last.fragments],
                "tools": [tool.id for tool in one.last.tools],
                "signatures": len(one.last.signatures),
                "sufficiency": round(one.first.sufficiency or 0.0, 3),
                "discovered": one.wide is not None,
                "called": step.gold,
            }
            for one, step in zip(run.found, self.steps, strict=True)
            if step.episode == chosen
        ]


def hazard_model(shown: Mapping[str, Methods], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Equation 5 fitted on whole prompts, and what it says of ITR by equation 6.

    Equation 6's m is the mean number of tools that ITR exposes, with document or signature, and its
    recall the share of steps whose own tool is among these.

    Args:
        shown: Size → method → what it shows at each step.
        figures: As `Summary.figures` gives them.
    """
    sizes = [
        size
        for size in figures
        if size.isdigit() and figures[size].get("monolithic", {}).get("tools_correct") is not None
    ]
    if not sizes:
        return {"fitted_on": [], "reason": "no whole prompt was scored by a model"}
    right = [figures[size]["monolithic"]["tools_correct"] / 100 for size in sizes]
    ratio = fit_hazard([int(size) for size in sizes], right)
    found: dict[str, Any] = {
        "fitted_on": sizes,
        "beta_over_alpha": float(f"{ratio:.4g}"),
        "fitted": {size: round(100 * float(hazard(ratio, int(size))), 2) for size in sizes},
    }
    for size in sizes:
        itr = figures[size].get("itr")
        if itr is not None:
            exposed = fmean(len(one.tools) for one in shown[size]["itr"])
            recall = itr["gold_exposed"] / 100
            found[f"itr@{size}"] = {
                "exposed_tools": round(exposed, 2),
                "predicted": round(100 * float(hazard(ratio, exposed, recall)), 2),
                "measured": itr["tools_correct"],
            }
    return found


def latency(spent: Sequence[float], episodes: Sequence[str]) -> dict[str, float]:
    """Milliseconds of a prompt, and of all prompts of an episode together.

    Args:
        spent: Of each step.
        episodes: Whose it is.
    """
    wholes: dict[str, float] = {}
    for episode, one in zip(episodes, spent, strict=True):
        wholes[episode] = wholes.get(episode, 0.0) + one
    whole = list(wholes.values())
    return {
        "p50": round(float(np.median(spent)), 2),
        "p95": round(float(np.quantile(spent, 0.95)), 2),
        "episode_p50": round(float(np.median(whole)), 2),
        "episode_p95": round(float(np.quantile(whole, 0.95)), 2),
    }


def mean(values: Sequence[float]) -> float:
    """Mean with two decimals."""
    return round(fmean(values), 2)
