"""Predicted tools in the prompt of a function-calling model (DTDR paper, section 5 and figure 3).

A hard mask shows the likely tools alone, a soft one all tools and those to prefer, a weighted one
says how likely each is; raw demonstrations are earlier requests that took the likely tools. A small
model needs a hard mask; a large one may do better with all tools in view
(docs/tool-dependencies.md).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from ctrag.agents.next_tool import END, Demonstration
from ctrag.errors import InputError

STRATEGIES = (
    "none",
    "raw_demonstrations",
    "soft_mask",
    "weighted_soft_mask",
    "hard_mask",
    "weighted_hard_mask",
)
THRESHOLD = 0.02
"""Tools that are less likely are not retrieved (alpha of section 4.1)."""
MOST, DEMONSTRATIONS = 8, 5
GUIDE = (
    "You carry out a request step by step. Answer with the name of the next tool only, "
    f"or with {END} when nothing is left to do."
)
"""The system's turn of a prompt that asks for the next tool."""


class Predicts(Protocol):
    """A next-tool model, such as `NextTool`."""

    def rank(
        self, text: str, history: Sequence[str], *, tools: Sequence[str] | None = None
    ) -> Sequence[tuple[str, float]]:
        """(tool, probability) of all tools that can be called and `end`, best first."""
        ...


@dataclass(frozen=True, slots=True)
class MaskedPrompt:
    """What the model reads, and what it may say."""

    constant: str
    """The same for every step."""
    variable: str
    exposed: Sequence[str]


def masked_prompt(
    model: Predicts,
    text: str,
    history: Sequence[str] = (),
    *,
    strategy: str = "weighted_hard_mask",
    tools: Sequence[str] | None = None,
    demonstrations: Sequence[Demonstration] = (),
) -> MaskedPrompt:
    """The prompt that asks a model for the next tool; `GUIDE` is its system's turn.

    Example::

        prompt = masked_prompt(NextTool.load("runs/dependency"), "cancel my flight")
        chat(system=GUIDE, user=prompt.constant + prompt.variable)  # one of prompt.exposed

    Args:
        model: Ranks the tools.
        text: The request.
        history: Tools called so far, oldest first.
        strategy: One of `STRATEGIES`.
        tools: Those that can be called; None for all that the model knows.
        demonstrations: Earlier requests with their tools; the first is the example of every
            prompt, and raw demonstrations are taken from them.

    Raises:
        ValueError: The strategy is unknown.
    """
    ranked = model.rank(text, history, tools=tools)
    return prompt_of(strategy, ranked, text, history, demonstrations)


def prompt_of(
    strategy: str,
    ranked: Sequence[tuple[str, float]],
    text: str,
    history: Sequence[str],
    demonstrations: Sequence[Demonstration],
    order: Sequence[str] | None = None,
) -> MaskedPrompt:
    """The prompt of one step for tools that were ranked already.

    Args:
        strategy: One of `STRATEGIES`.
        ranked: Tools that can be called, and `end`, with their probabilities, best first.
        text: The request.
        history: Calls so far.
        demonstrations: See `masked_prompt`.
        order: In which all tools are listed; by name when None.

    Raises:
        ValueError: The strategy is unknown.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"strategy: {strategy!r} is unknown; known: {', '.join(STRATEGIES)}")
    retrieved = [pair for pair in ranked[:MOST] if pair[1] > THRESHOLD] or list(ranked[:1])
    names = [name for name, _ in retrieved]
    known = {name for name, _ in ranked} - {END}
    everything = [*(one for one in order or sorted(known) if one in known), END]
    task = f"Request: {text}\nCalled so far: {', '.join(history) or 'nothing'}\nNext tool:"
    example = f"Example:\n{shown(demonstrations[0])}\n\n" if demonstrations else ""
    full = f"Tools: {', '.join(everything)}\n\n{example}"
    weighed = ", ".join(f"{name} ({chance:.2f})" for name, chance in retrieved)
    match strategy:
        case "none":
            return MaskedPrompt(full, task, everything)
        case "raw_demonstrations":
            like = demonstrations_with(demonstrations, names)
            examples = "\n\n".join(map(shown, like))
            return MaskedPrompt(full, f"Similar examples:\n{examples}\n\n{task}", everything)
        case "soft_mask":
            preferred = f"In general prefer one of: {', '.join(names)}\n{task}"
            return MaskedPrompt(full, preferred, everything)
        case "weighted_soft_mask":
            preferred = f"In general prefer one of, by their probabilities: {weighed}\n{task}"
            return MaskedPrompt(full, preferred, everything)
        case "hard_mask":
            return MaskedPrompt(example, f"Tools: {', '.join(names)}\n{task}", names)
    weighted = f"Tools with their probabilities: {weighed}\n{task}"
    return MaskedPrompt(example, weighted, names)


def demonstrations_with(
    demonstrations: Sequence[Demonstration], names: Collection[str]
) -> list[Demonstration]:
    """The first demonstrations that call most of the predicted tools, best first."""
    wanted = set(names) - {END}
    return sorted(demonstrations, key=lambda one: -len(wanted.intersection(one.tools)))[
        :DEMONSTRATIONS
    ]


def shown(one: Demonstration) -> str:
    """A demonstration as text."""
    return f"Request: {one.text}\nTools in order: {', '.join((*one.tools, END))}"
