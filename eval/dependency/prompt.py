"""Predicted tools in a model's prompt: masking strategies, figures 3 and 4 of the DTDR paper.

The embedded language model, as it comes, names the next tool: the exposed name that is likeliest as
a whole; a model behind an endpoint says it. What the model is shown first (guidance, one
demonstration, all tools) is the same for every step and read once.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ctrag.agents.next_tool import NextTool
from ctrag.agents.prompt.masks import GUIDE, STRATEGIES, prompt_of
from ctrag.errors import InputError
from ctrag.models.tokens import token_counter
from ctrag.settings import settings
from eval.dependency.steps import Steps
from eval.instructions.tool_choice import EmbeddedChooser, EndpointChooser, ToolChooser


def chooser_of(planner: str = "embedded") -> ToolChooser:
    """Who chooses: the embedded model, or the endpoint of the settings (`openai`).

    Raises:
        ValueError: There is no such planner.
    """
    if planner == "embedded":
        return EmbeddedChooser(threads=1)
    if planner != "openai":
        raise InputError(f"--planner: must be embedded or openai, not {planner!r}")
    options = settings()
    return EndpointChooser(
        options.openai_base_url,
        options.openai_model,
        options.openai_api_key.get_secret_value(),
        options.openai_timeout,
    )


def run_prompts(
    model: NextTool,
    steps: Steps,
    count: int,
    among: NDArray[np.int64],
    progress: Callable[[str], None],
    method: str = "combined",
    chooser: ToolChooser | None = None,
) -> dict[str, JsonValue]:
    """Function-selection accuracy and prompt tokens of each strategy.

    Args:
        model: Retrieves the tools.
        steps: What is asked.
        count: So many of the steps, evenly spread.
        among: Numbers of `end` and of the tools that are ranked and exposed.
        progress: Called with progress messages.
        method: Which of the model's methods retrieves.
        chooser: Who chooses; the embedded model when None.
    """
    chooser = chooser or chooser_of()
    demonstrations, names = model.memory.demonstrations, model.memory.names[1:]
    rows = np.unique(np.linspace(0, len(steps.wanted) - 1, count).astype(int))
    asked = [(steps.owners[row], steps.histories[row], steps.wanted[row]) for row in rows.tolist()]
    ranked = [ranked_names(model, one.text, history, method, among) for one, history, _ in asked]
    top = sum(order[0][0] == wanted for order, (_, _, wanted) in zip(ranked, asked, strict=True))
    right, tokens = dict.fromkeys(STRATEGIES, 0), {name: np.zeros(2) for name in STRATEGIES}
    for name in STRATEGIES:
        for done, (order, (one, history, wanted)) in enumerate(zip(ranked, asked, strict=True), 1):
            progress(f"asking the model by {name}: step {done} of {len(rows)}")
            prompt = prompt_of(name, order, one.text, history, demonstrations, names)
            chosen = chooser.choose(GUIDE, prompt.constant + prompt.variable, prompt.exposed)
            right[name] += chosen.name == wanted
            constant = _opening(chooser, prompt.constant)
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
        "chooser": chooser.model,
        "retriever": method,
        "retriever_top1": round(100 * top / len(rows), 1),
        "strategies": found,
    }


def _opening(chooser: ToolChooser, constant: str) -> int:
    """Tokens of what all prompts of a strategy begin with."""
    if isinstance(chooser, EmbeddedChooser):
        return chooser.opening_tokens(GUIDE, constant)
    return token_counter()(f"{GUIDE}\n{constant}")


def ranked_names(
    model: NextTool, text: str, history: Sequence[str], method: str, among: NDArray[np.int64]
) -> list[tuple[str, float]]:
    """Tools by the names that demonstrations call them, and `end`, best first."""
    chances = model.chances(text, tuple(history), method, among)
    order = among[np.argsort(-chances[among], kind="stable")]
    return [(model.memory.names[place], float(chances[place])) for place in order]
