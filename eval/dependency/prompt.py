"""Predicted tools in a small model's prompt: masking strategies, figures 3 and 4 of the DTDR paper.

The embedded language model, as it comes, names the next tool: the exposed name that is likeliest as
a whole. What the model is shown first (guidance, one demonstration, all tools) is the same for
every step and read once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.agents.next_tool import END, Demonstration, NextTool
from ctrag.errors import InputError
from eval.dependency.steps import Steps
from eval.instructions.tool_choice import EmbeddedChooser

STRATEGIES = ("none", "raw_demonstrations", "soft_mask", "hard_mask", "weighted_hard_mask")
THRESHOLD = 0.02
"""Tools that are less likely are not retrieved (alpha of section 4.1)."""
MOST, DEMONSTRATIONS = 8, 5
_GUIDE = (
    "You carry out a request step by step. Answer with the name of the next tool only, "
    f"or with {END} when nothing is left to do."
)


@dataclass(frozen=True, slots=True)
class MaskedPrompt:
    """What the model reads, and what it may say."""

    constant: str
    """The same for every step."""
    variable: str
    exposed: Sequence[str]


def run_prompts(
    model: NextTool,
    steps: Steps,
    count: int,
    among: NDArray[np.int64],
    progress: Callable[[str], None],
    method: str = "combined",
) -> dict[str, JsonValue]:
    """Function-selection accuracy and prompt tokens of each strategy.

    Args:
        model: Retrieves the tools.
        steps: What is asked.
        count: So many of the steps, evenly spread.
        among: Numbers of `end` and of the tools that are ranked and exposed.
        progress: Called with progress messages.
        method: Which of the model's methods retrieves.
    """
    chooser = EmbeddedChooser(threads=1)
    rows = np.unique(np.linspace(0, len(steps.wanted) - 1, count).astype(int))
    asked = [(steps.owners[row], steps.histories[row], steps.wanted[row]) for row in rows.tolist()]
    ranked = [ranked_names(model, one.text, history, method, among) for one, history, _ in asked]
    top = sum(order[0][0] == wanted for order, (_, _, wanted) in zip(ranked, asked, strict=True))
    right, tokens = dict.fromkeys(STRATEGIES, 0), {name: np.zeros(2) for name in STRATEGIES}
    for name in STRATEGIES:
        for done, (order, (one, history, wanted)) in enumerate(zip(ranked, asked, strict=True), 1):
            progress(f"asking the model by {name}: step {done} of {len(rows)}")
            prompt = prompt_of(name, model, one, history, order)
            chosen = chooser.choose(_GUIDE, prompt.constant + prompt.variable, prompt.exposed)
            right[name] += chosen.name == wanted
            constant = chooser.opening_tokens(_GUIDE, prompt.constant)
            tokens[name] += constant, chosen.prompt_tokens - constant
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
    model: NextTool, text: str, history: Sequence[str], method: str, among: NDArray[np.int64]
) -> list[tuple[str, float]]:
    """Tools by the names that demonstrations call them, and `end`, best first."""
    chances = model.chances(text, tuple(history), method, among)
    order = among[np.argsort(-chances[among], kind="stable")]
    return [(model.memory.names[place], float(chances[place])) for place in order]


def prompt_of(
    strategy: str,
    model: NextTool,
    one: Demonstration,
    history: Sequence[str],
    ranked: Sequence[tuple[str, float]],
) -> MaskedPrompt:
    """The prompt of one step.

    Args:
        strategy: One of `STRATEGIES`.
        model: Knows the tools and the demonstrations.
        one: What is asked.
        history: Calls so far.
        ranked: Tools that can be called, and `end`, with their probabilities, best first.

    Raises:
        ValueError: The strategy is unknown.
    """
    retrieved = [pair for pair in ranked[:MOST] if pair[1] > THRESHOLD] or list(ranked[:1])
    names = [name for name, _ in retrieved]
    known = {name for name, _ in ranked}
    everything = [*(name for name in model.memory.names[1:] if name in known), END]
    example = shown(model.memory.demonstrations[0])
    task = f"Request: {one.text}\nCalled so far: {', '.join(history) or 'nothing'}\nNext tool:"
    full = f"Tools: {', '.join(everything)}\n\nExample:\n{example}\n\n"
    short = f"Example:\n{example}\n\n"
    match strategy:
        case "none":
            return MaskedPrompt(full, task, everything)
        case "raw_demonstrations":
            like = demonstrations_with(model, names)
            examples = "\n\n".join(map(shown, like))
            return MaskedPrompt(full, f"Similar examples:\n{examples}\n\n{task}", everything)
        case "soft_mask":
            preferred = f"In general prefer one of: {', '.join(names)}\n{task}"
            return MaskedPrompt(full, preferred, everything)
        case "hard_mask":
            return MaskedPrompt(short, f"Tools: {', '.join(names)}\n{task}", names)
        case "weighted_hard_mask":
            weighed = ", ".join(f"{name} ({chance:.2f})" for name, chance in retrieved)
            weighted = f"Tools with their probabilities: {weighed}\n{task}"
            return MaskedPrompt(short, weighted, names)
    raise InputError(f"strategy: {strategy!r} is unknown; known: {', '.join(STRATEGIES)}")


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
