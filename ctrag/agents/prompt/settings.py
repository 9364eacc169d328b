"""How prompts are chosen."""

from dataclasses import dataclass, replace
from math import isfinite

from ctrag.errors import InputError

BUDGET = 2400
"""Default tokens of a prompt: the budget of the experiment."""
FLOOR = 0.2
"""`PromptSettings.floor` of `ctrag prompt`."""
REQUEST_WEIGHT = 0.33
"""`PromptSettings.request_weight` beside a next-tool model."""


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """How prompts are chosen; K_A, K_B and the order of parts follow the paper."""

    instructions: int = 4
    """K_A: fragments at most."""
    tools: int = 2
    """K_B: tools with their whole document at most."""
    whole_share: float = 0.2
    """Least probability for a tool after the first to be shown whole: below it the tokens are
    better spent on a fragment."""
    signatures: int = 14
    """Tools after those that are shown in one line each: name, arguments, first sentence."""
    candidates: int = 20
    """M_A and M_B: units per corpus that are re-ranked and may be chosen whole."""
    rerank: bool = True
    tau: float = 0.5
    """Below this probability that a right tool is exposed, one discovery step is taken."""
    discovery: str = "widen"
    """widen: more tools; summary: one line for each hidden tool; off."""
    discovery_tools: int = 40
    """Tools that a discovery step shows, those beyond K_B as signatures."""
    request_weight: float = 1.0
    """Factor of the hybrid score of tools. `REQUEST_WEIGHT` beside a model of the agent's own
    sequences of calls: the request names the goal of an episode, and most steps only lead up to
    it."""
    domain_weight: float = 1.0
    """Weight of the log probability of a unit's domain, while no call has shown it."""
    called_domain: float = 3.0
    """Added to the score of units of a domain whose tools were called before."""
    spoken_of: float = 3.0
    """Added, in full where it is sure, to the score of tools that a fitting skill or rule speaks
    of, and to that of skills and rules that speak of likely tools."""
    opening: float = 1.0
    """Added to the score of a document's first fragment, which usually has general rules."""
    floor: float = 0.0
    """Cosine to the request below which a fragment is left out (half of it for the one with the
    most words in common); not where a tool of its domain is likely or was called, nor a document's
    first fragment beside another of it. Where no fragment reaches it, the first fragments of all
    documents but skills and rules stay. 0 leaves nothing out, as in the experiments; `ctrag prompt`
    takes `FLOOR`."""
    next_tool_weight: float = 0.0
    """Weight of the next-tool model's log probability; 0 turns it off."""
    likely: bool = True
    """Name the likeliest tool after the routing note where a next-tool model ranks some of these
    tools and not the end first; without one the first tool is seldom the right one."""
    window: int | None = None
    """Tokens of the full prompt that the circuit breaker falls back to; None for no bound."""

    def __post_init__(self) -> None:
        for name in ("instructions", "tools", "signatures", "discovery_tools"):
            if getattr(self, name) < 0:
                raise InputError(f"{name}: must not be negative, is {getattr(self, name)}")
        for name in (
            "whole_share",
            "request_weight",
            "domain_weight",
            "called_domain",
            "spoken_of",
            "opening",
            "next_tool_weight",
        ):
            if not isfinite(getattr(self, name)):
                raise InputError(f"{name}: must be a finite number, not {getattr(self, name)}")
        if not 0 <= self.floor < 1:
            raise InputError(f"floor: must be from 0 to below 1, not {self.floor}")
        if self.candidates < 1:
            raise InputError(f"candidates: must be at least 1, not {self.candidates}")
        if self.discovery not in ("widen", "summary", "off"):
            raise InputError(f"discovery: must be widen, summary or off, not {self.discovery!r}")
        if not 0 <= self.tau <= 1:
            raise InputError(f"tau: must lie between 0 and 1, not {self.tau}")


def weighed(
    settings: PromptSettings, *, predicted: bool, request_weight: float | None = None
) -> PromptSettings:
    """The same settings with the weights that the process settings give request and next tool.

    Args:
        settings: Whose other fields stay.
        predicted: Whether there is a next-tool model.
        request_weight: In place of that of the process settings.
    """
    from ctrag.settings import settings as process_settings  # not for `ctrag --help`

    given = process_settings()
    weight = given.request_weight if request_weight is None else request_weight
    if weight is None:
        used = predicted and given.dependency_prompt_weight > 0
        weight = REQUEST_WEIGHT if used else settings.request_weight
    return replace(
        settings,
        next_tool_weight=given.dependency_prompt_weight,
        request_weight=weight,
    )
