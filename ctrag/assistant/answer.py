"""The assistant's answer: what it found, planned and did; also as JSON."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ctrag.assistant.api_choice.retrieve import RankedTool
from ctrag.assistant.apps.execute import Result
from ctrag.assistant.context.retrieve import FoundItem
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.trace import Trace
from stores.people.items import Request
from stores.people.local_time import format_local_time
from stores.people.usage import RankedItem


@dataclass(frozen=True, slots=True)
class Question:
    """What the assistant asks, and what may be answered."""

    text: str
    """One sentence: "Which Anna?"."""
    choices: tuple[str, ...] = ()
    """In the order of their numbers, from 1; empty where words are wanted."""
    confirms: bool = False
    """Whether it asks to agree to the very act that it names."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the assistant found, planned and did."""

    items: tuple[FoundItem, ...]
    """The person's items that matter, best first."""
    tools: tuple[RankedTool, ...]
    """The tools that the planner saw, best first."""
    plan: Plan
    """`none()` when no API can do it."""
    confidence: float
    """0 to 1; see `Planned.confidence`."""
    result: Result | None
    """What running the plan did; None when it was not run."""
    trace: Trace
    request: Request
    """What was asked, with the time and place that were assumed."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Application → why its store did not answer."""
    others: tuple[Plan, ...] = ()
    """The next best plans, where the confidence of the first is below the setting `sure`; two at
    most, likeliest first."""
    question: "Question | None" = None
    """What the assistant asks in place of acting; the next thing that is said may answer it."""
    further: tuple["Answer", ...] = ()
    """Where the request was for several calls: the answers to the later ones, in order."""
    said: str = ""
    """What the assistant says where no call is made: to thanks, or to "what can you do"."""
    ranked: tuple[RankedItem, ...] = ()
    """The best items of the packaged ranker, best first, for a record of use; empty where none is
    kept, and where a conversation leans on what was said before."""

    @property
    def parts(self) -> tuple["Answer", ...]:
        """This answer and the further ones."""
        return (self, *self.further)

    @property
    def other(self) -> Plan | None:
        """The first of `others`."""
        return self.others[0] if self.others else None

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The calls in order; `plan` is the first."""
        return tuple(one.plan for one in self.parts)


def in_words(request: Request, words: str) -> Answer:
    """An answer in words, without a call."""
    return Answer((), (), NONE, 1.0, None, Trace(), request, said=words)


def answer_json(request_at: datetime, text: str, answer: Answer) -> dict[str, Any]:
    """An answer as JSON values, for `--json` and session files."""
    return {
        "text": text,
        "asked_at": format_local_time(request_at),
        "items": [
            {
                "id": one.item.id,
                "app": one.item.app,
                "score": round(one.score, 5),
                "ranks": one.ranks,
                "parts": {name: round(part, 5) for name, part in one.parts.items()},
                "reasons": [[name, round(value, 3)] for name, value in one.reasons],
                "because": list(one.because),
            }
            for one in answer.items
        ],
        "tools": [
            {
                "api": one.tool.api,
                "score": round(one.score, 4),
                "cosine": round(one.cosine, 4),
                "prior": round(one.log_probability, 4),
                "context": round(one.context, 4),
            }
            for one in answer.tools
        ],
        "plan": {
            "text": str(answer.plan),
            "api": answer.plan.api,
            "arguments": answer.plan.arguments,
        },
        "confidence": round(answer.confidence, 4),
        "other": None if answer.other is None else str(answer.other),
        "others": [str(one) for one in answer.others],
        "question": None
        if answer.question is None
        else {"text": answer.question.text, "choices": list(answer.question.choices)},
        "said": answer.said,
        "plans": [str(one) for one in answer.plans],
        "further": [answer_json(request_at, one.request.text, one) for one in answer.further],
        "result": None
        if answer.result is None
        else {"status": answer.result.status, "answer": answer.result.answer},
        "unavailable": answer.unavailable,
        "trace": [
            {
                "step": step.name,
                "inputs": step.inputs,
                "outputs": step.outputs,
                "milliseconds": step.milliseconds,
            }
            for step in answer.trace.steps
        ],
    }
