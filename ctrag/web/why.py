"""What led to an answer, as a page shows it: items, tools, calls, the prompt, each step's time.

`explained` reads an answer; nothing here touches stores or models.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ctrag.assistant.api_choice.retrieve import purpose
from ctrag.assistant.context.item_line import item_words
from ctrag.web.origins import Origin, origins
from ctrag.web.steps import ShownStep, timed

if TYPE_CHECKING:
    from ctrag.assistant.answer import Answer
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.context.retrieve import FoundItem
    from ctrag.assistant.trace import TraceStep
    from stores.people.items import Item, Person

PARTS = {"lambdamart": "trained ranking", "dense": "meaning", "bm25": "shared words"}
"""The rankings that are fused, as a page calls them."""
_PLAIN = (
    (
        r"(?:over )?(.*) % likely by the tuned encoder",
        r"\1 % likely to be meant, by the trained encoder",
    ),
    (
        r"[\d.]+ standard deviations from the mean in meaning",
        "nearer in meaning than most of your items",
    ),
    (
        r"#(\d+) of its application by what such requests needed",
        r"number \1 of its application for requests like this one",
    ),
    (r"people whom you may mean in its words: \d+", "names somebody whom you may mean"),
    (
        r"cosine [\d.]+ with what such requests needed",
        "like what such requests need",
    ),
)
"""Wordings of `--explain` that are said more plainly here."""
_BEHIND = {
    "the item is behind the best one by the tuned encoder": (
        "the likeliest to be meant, by the trained encoder",
        "nearly the likeliest to be meant, by the trained encoder",
        "less likely to be meant than another, by the trained encoder",
    ),
    "the kind is behind the likeliest kind that the person has": (
        "of the kind that such requests mean most",
        "of a kind that such requests mean often",
        "of a kind that such requests mean less than another",
    ),
    "the cosine is behind the person's best item": (
        "the nearest in meaning of all your items",
        "nearly the nearest in meaning of all your items",
        "another item is nearer in meaning",
    ),
}
"""What is measured against the best → said of the best itself, for an item near it, against one."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a score."""

    name: str
    share: float
    """Of the best item's score, 0 to 1."""
    rank: int


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item that was found."""

    id: str
    app: str
    line: str
    parts: tuple[Part, ...]
    lifts: tuple[str, ...]
    """Reasons for it."""
    lowers: tuple[str, ...]
    """Reasons against it."""
    signals: tuple[tuple[str, float, float], ...]
    """(name, contribution, its share of the strongest one, -1 to 1)."""


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool that was considered."""

    api: str
    signature: str
    purpose: str
    probability: float
    """Among those that were considered and "none of them", 0 to 1."""
    chosen: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model read."""

    text: str
    tokens: int
    cut: tuple[str, ...]
    read: bool
    """Whether a model read it: it is written only where one is needed."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One call's explanation."""

    request: str
    items: tuple[ShownItem, ...]
    tools: tuple[ShownTool, ...]
    none: float | None
    """Probability that no tool fits; None where that was not asked."""
    call: str
    """The whole call; empty where there is none."""
    values: tuple[Origin, ...]
    confidence: float
    other: str
    status: str
    prompt: Prompt | None
    filled: tuple[tuple[str, str, float], ...]
    """(argument, what the request says of it, probability), as the small model read it."""
    steps: tuple[ShownStep, ...]
    total: float
    """Milliseconds of all steps."""
    candidates: int
    """How many items were ranked."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to explain: the assistant only said something."""
        return not self.steps


def explained(
    answer: "Answer", assistant: "Assistant", asked: "Answer | None" = None
) -> list[Explained]:
    """The explanation of each call of an answer, in order.

    Args:
        answer: The answer.
        assistant: Whose it is.
        asked: The answer before it, whose question it may have settled: there it was planned.
    """
    view = assistant.view()
    items = {one.id: one for one in view.items}
    before = () if asked is None else asked.parts
    return [_explained(one, assistant, items, before) for one in answer.parts]


def _explained(
    answer: "Answer",
    assistant: "Assistant",
    items: Mapping[str, "Item"],
    before: Sequence["Answer"],
) -> Explained:
    planned = next(
        (
            replace(one, plan=answer.plan)
            for one in before
            if one.question is not None and answer.plan in (one.plan, *one.others)
        ),
        answer,
    )
    tool = assistant.toolbox.get(answer.plan.api)
    outputs = {one.name: one.outputs for one in answer.trace.steps}
    tools, none = _tools(answer, outputs.get("tools.search", {}))
    steps, total = timed(
        [(one.name, one.milliseconds) for one in answer.trace.steps],
    )
    return Explained(
        answer.request.text,
        tuple(_item(one, answer, assistant.person) for one in answer.items),
        tools,
        none,
        "" if answer.plan.is_none else str(answer.plan),
        tuple(origins(planned, tool, assistant.person, items)),
        answer.confidence,
        "" if answer.other is None else str(answer.other),
        "" if answer.result is None else answer.result.status,
        _prompt(answer.trace.steps),
        _filled(answer.trace.steps),
        steps,
        total,
        int(outputs.get("context.retrieve", {}).get("candidates", 0)),
    )


def plain(reason: str, *, lifts: bool = True) -> str:
    """A reason of `--explain` without the terms that only its makers know.

    Args:
        reason: As it stands there, without "but".
        lifts: Whether it speaks for the item.
    """
    kind = re.fullmatch("its kind is (“.*”)", reason)
    if kind:
        return f"{kind[1]} is {'often' if lifts else 'seldom'} what such requests mean"
    behind = re.fullmatch(r"how far (.*): -?(\d+\.\d+)", reason)
    if behind and behind[1] in _BEHIND:
        best, near, far = _BEHIND[behind[1]]
        return far if not lifts else near if float(behind[2]) else best
    for pattern, words in _PLAIN:
        if re.fullmatch(pattern, reason):
            return re.sub(pattern, words, reason)
    return reason


def _item(found: "FoundItem", answer: "Answer", person: "Person") -> ShownItem:
    best = max((one.score for one in answer.items), default=1.0) or 1.0
    lowers = [one for one in found.because if one.startswith("but ")]
    strongest = max((abs(value) for _, value in found.reasons), default=1.0) or 1.0
    return ShownItem(
        found.item.id,
        found.item.app,
        item_words(found.item, person, answer.request.asked_at, 160),
        tuple(
            Part(PARTS.get(name, name), part / best, found.ranks.get(name, 0))
            for name, part in found.parts.items()
        ),
        tuple(plain(one) for one in found.because if one not in lowers),
        tuple(plain(one.removeprefix("but "), lifts=False) for one in lowers),
        tuple(
            (name.replace("_", " "), value, value / strongest) for name, value in found.reasons[:12]
        ),
    )


def _tools(
    answer: "Answer", outputs: Mapping[str, Any]
) -> tuple[tuple[ShownTool, ...], float | None]:
    none = outputs.get("none")
    scores = [one.score for one in answer.tools]
    every = [*scores, *([float(none)] if none is not None else [])]
    top = max(every, default=0.0)
    total = sum(math.exp(one - top) for one in every) or 1.0
    tools = tuple(
        ShownTool(
            one.tool.api,
            one.tool.signature,
            purpose(one.tool),
            math.exp(one.score - top) / total,
            one.tool.api == answer.plan.api,
        )
        for one in answer.tools
    )
    return tools, None if none is None else math.exp(float(none) - top) / total


def _prompt(steps: Sequence["TraceStep"]) -> Prompt | None:
    made = next((one.outputs for one in steps if one.name == "prompt.assemble"), None)
    if not made:
        return None
    planned = next((one.outputs for one in steps if one.name == "planner.plan"), {})
    read = bool(planned.get("prompt_tokens") or planned.get("plan_tokens"))
    cut = tuple(str(one) for one in made.get("cut", ()))
    return Prompt(str(made.get("prompt", "")), int(made.get("tokens", 0)), cut, read)


def _filled(steps: Sequence["TraceStep"]) -> tuple[tuple[str, str, float], ...]:
    last = next((one.outputs for one in reversed(steps) if one.name == "slots.fill"), {})
    return tuple(
        (name, str(one["value"]) if one["value"] is not None else "", float(one["probability"]))
        for name, one in last.items()
    )
