"""Input and output of every planner."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ctrag.assistant.planning.call_choice import CallChoice
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.confidence import Confidence, Evidence
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.planner_prompt import PlannerPrompt
from ctrag.assistant.planning.said import SaidChoice
from ctrag.toolbox import Tool


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A planner's input."""

    tools: Sequence[Tool]
    """The exposed tools, best first."""
    grammar: PlanGrammar | None
    """All plans that are possible; None lets a model answer freely, up to a line break."""
    prompt: Callable[[], PlannerPrompt]
    """Makes the model's prompt; called once at most, and only when a model is run."""
    preferences: Mapping[str, float] | None = None
    """Log-scale score of each API and of `none`, from tool retrieval; None leaves the choice of
    the API to the model."""
    sure: float = 0.0
    """Plans of lower confidence come with alternatives."""
    slots: Callable[[Tool], Mapping[str, FilledSlot]] | None = None
    """Reads what the request says of a tool's slots; None leaves texts to the model or to the
    request's own words."""
    sources: ValueSources | None = None
    """Where values come from; needed with `slots`."""
    choice: SaidChoice | None = None
    """Decides between what was said and the ranked values; None takes what was said."""
    plain: float = 1.0
    """Probability, 0 to 1, that the request says its own values."""
    calls: CallChoice | None = None
    """Chooses among composed calls; None takes the best API's."""
    confidence: Confidence | None = None
    """Turns the evidence for a plan into its confidence; None multiplies the probabilities."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A planner's output."""

    plan: Plan | None
    """None when the answer was not a plan; under the grammar that cannot happen."""
    text: str
    """The raw answer."""
    confidence: float
    """Probability, 0 to 1, that the whole call is right: calibrated where the request says how,
    else that of its API (from tool retrieval where it chose, or the model's own) times that of
    its arguments' values."""
    prompt_tokens: int
    """Of the planner's own model, the slot filler's not counted; 0 when it was not run."""
    plan_tokens: int
    seconds: float
    engine: str = ""
    """Engine of the planner's own model; empty when it was not run."""
    alternatives: tuple[Plan, ...] = ()
    """Where `confidence` is below `PlanRequest.sure`: the next best plans, likeliest first, two at
    most. They are other calls, or this one with another value. Empty when there are none, or the
    planner does not rank them."""
    evidence: Evidence | None = None
    """What the confidence was made from, where tool retrieval chose the API."""
    considered: tuple[tuple[Plan, Evidence], ...] = ()
    """The composed calls that were chosen from, likeliest API first."""

    def traced(self) -> dict[str, Any]:
        """Its part of the trace."""
        return {
            "answer": self.text,
            "confidence": self.confidence,
            "prompt_tokens": self.prompt_tokens,
            "plan_tokens": self.plan_tokens,
            "engine": self.engine,
            "others": [str(one) for one in self.alternatives],
        }


class Planner(Protocol):
    """Turns a request into one API call."""

    @property
    def best_only(self) -> bool:
        """Whether each argument gets only its best candidate value."""

    @property
    def brief(self) -> bool:
        """Whether the prompt shows only the signatures of tools."""

    @property
    def writes_text(self) -> bool:
        """Whether it writes free text arguments; otherwise they are the person's own words."""

    @property
    def writes_outward(self) -> bool:
        """Whether it also writes free text that is sent to others."""

    @property
    def described(self) -> Mapping[str, str | None]:
        """Which model it is and how it is run, as an experiment's file says it."""

    @property
    def identity(self) -> str:
        """What its plans depend on besides the request."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text in the planner's own vocabulary."""

    def plan(self, request: PlanRequest) -> Planned:
        """One plan."""
