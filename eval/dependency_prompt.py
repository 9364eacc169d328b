"""Predicted tools in a small model's prompt: masking strategies, figures 3 and 4 of the DTDR paper.

The embedded language model, as it comes, names the next tool; only exposed names can be said. What
it is shown first (guidance, one demonstration, all tools) is the same for every step and read once.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ctrag.planner.weights import load, planner_folder
from ctrag.prompt.chat import closing, opening, plain
from ctrag.tools.dependency import END, Demonstration, NextTool
from eval.dependency import Steps

STRATEGIES = ("none", "raw_demonstrations", "soft_mask", "hard_mask", "weighted_hard_mask")
THRESHOLD = 0.02
"""Tools that are less likely are not retrieved (alpha of section 4.1)."""
MOST, DEMONSTRATIONS = 8, 5
_GUIDE = (
    "You carry out a request step by step. Answer with the name of the next tool only, "
    f"or with {END} when nothing is left to do."
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model reads, and what it may say."""

    constant: str
    """The same for every step."""
    variable: str
    exposed: Sequence[str]


def run_prompts(
    model: NextTool,
    steps: Steps,
    count: int,
    progress: Callable[[str], None],
    method: str = "combined",
) -> dict[str, JsonValue]:
    """Function-selection accuracy and prompt tokens of each strategy.

    Args:
        model: Retrieves the tools.
        steps: What is asked.
        count: So many of the steps, evenly spread.
        progress: Told how far it is.
        method: Which of the model's methods retrieves.
    """
    chooser = Chooser(planner_folder())
    rows = np.unique(np.linspace(0, len(steps.wanted) - 1, count).astype(int))
    right, top = dict.fromkeys(STRATEGIES, 0), 0
    tokens = {name: np.zeros(2) for name in STRATEGIES}
    for done, row in enumerate(rows):
        progress(f"asking the model: step {done + 1} of {len(rows)}")
        one, history = steps.owners[row], steps.histories[row]
        ranked = ranked_names(model, one.text, history, method)
        top += ranked[0][0] == steps.wanted[row]
        for name in STRATEGIES:
            prompt = prompt_of(name, model, one, history, ranked)
            chosen, used = chooser.choose(prompt)
            right[name] += chosen == steps.wanted[row]
            tokens[name] += used
    found: dict[str, JsonValue] = {}
    for name in STRATEGIES:
        constant, variable = tokens[name] / len(rows)
        found[name] = {
            "accuracy": round(100 * right[name] / len(rows), 1),
            "constant_tokens": round(float(constant), 1),
            "variable_tokens": round(float(variable), 1),
        }
    return {
        "steps": len(rows),
        "retriever": method,
        "retriever_top1": round(100 * top / len(rows), 1),
        "strategies": found,
    }


def ranked_names(
    model: NextTool, text: str, history: Sequence[str], method: str
) -> list[tuple[str, float]]:
    """Tools by the names that demonstrations call them, and `end`, best first."""
    chances = model.chances(text, tuple(history), method)
    order = np.argsort(-chances, kind="stable")
    return [(model.memory.names[place], float(chances[place])) for place in order]


def prompt_of(
    strategy: str,
    model: NextTool,
    one: Demonstration,
    history: Sequence[str],
    ranked: Sequence[tuple[str, float]],
) -> Prompt:
    """The prompt of one step.

    Args:
        strategy: One of `STRATEGIES`.
        model: Knows the tools and the demonstrations.
        one: What is asked.
        history: Calls so far.
        ranked: Tools with their probabilities, best first.

    Raises:
        ValueError: The strategy is unknown.
    """
    retrieved = [pair for pair in ranked[:MOST] if pair[1] > THRESHOLD] or list(ranked[:1])
    names = [name for name, _ in retrieved]
    everything = [*model.memory.names[1:], END]
    example = shown(model.memory.demonstrations[0])
    task = f"Request: {one.text}\nCalled so far: {', '.join(history) or 'nothing'}\nNext tool:"
    full = f"Tools: {', '.join(everything)}\n\nExample:\n{example}\n\n"
    short = f"Example:\n{example}\n\n"
    match strategy:
        case "none":
            return Prompt(full, task, everything)
        case "raw_demonstrations":
            like = demonstrations_with(model, names)
            examples = "\n\n".join(map(shown, like))
            return Prompt(full, f"Similar examples:\n{examples}\n\n{task}", everything)
        case "soft_mask":
            preferred = f"In general prefer one of: {', '.join(names)}\n{task}"
            return Prompt(full, preferred, everything)
        case "hard_mask":
            return Prompt(short, f"Tools: {', '.join(names)}\n{task}", names)
        case "weighted_hard_mask":
            weighed = ", ".join(f"{name} ({chance:.2f})" for name, chance in retrieved)
            told = f"Tools with their probabilities: {weighed}\n{task}"
            return Prompt(short, told, names)
    raise ValueError(f"strategy: {strategy!r} is unknown; known: {', '.join(STRATEGIES)}")


def demonstrations_with(model: NextTool, names: Sequence[str]) -> list[Demonstration]:
    """The first demonstrations that call most of the predicted tools, best first."""
    wanted = set(names) - {END}
    order = sorted(
        range(len(model.memory)),
        key=lambda row: -len(wanted.intersection(model.memory.demonstrations[row].tools)),
    )
    return [model.memory.demonstrations[row] for row in order[:DEMONSTRATIONS]]


def shown(one: Demonstration) -> str:
    """A demonstration as text."""
    return f"Request: {one.text}\nTools in order: {', '.join((*one.tools, END))}"


class Chooser:
    """A causal language model that says one of the exposed names, the likeliest word by word."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._read: dict[str, tuple[int, Any]] = {}

    def choose(self, prompt: Prompt) -> tuple[str, tuple[int, int]]:
        """The name that is said, and the tokens of the prompt's constant and variable part."""
        constant, cache = self._prefix(prompt.constant)
        fresh = self._ids(closing(prompt.variable))
        used = (constant, len(fresh))
        cache = copy.deepcopy(cache)
        left = {name: self._ids(f"{name}\n") for name in dict.fromkeys(prompt.exposed)}
        said = 0
        while len(left) > 1:
            options = sorted({ids[said] for ids in left.values()})
            best = options[0]
            if len(options) > 1:
                logits, cache = self._forward(fresh, cache)
                best = max(options, key=lambda token: float(logits[token]))
                fresh = []
            fresh = [*fresh, best]
            left = {name: ids for name, ids in left.items() if ids[said] == best}
            said += 1
        [name] = left
        return name, used

    def _prefix(self, constant: str) -> tuple[int, Any]:
        if constant not in self._read:
            ids = self._ids(opening(_GUIDE) + plain(constant))
            self._read[constant] = (len(ids), self._forward(ids, None)[1])
        return self._read[constant]

    def _ids(self, text: str) -> list[int]:
        return list(self._loaded[1].encode(text, add_special_tokens=False))

    def _forward(self, tokens: list[int], cache: Any) -> tuple[Any, Any]:
        import torch

        with torch.inference_mode():
            output = self._loaded[0](
                input_ids=torch.tensor([tokens]),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        return output.logits[0, -1].numpy(), output.past_key_values

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load(self._folder, self._threads)
