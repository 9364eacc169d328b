"""The cost of a language model: tokens and money spent, and a hard limit."""

import threading
from dataclasses import dataclass, field
from typing import Any

from ctrag.errors import InputError
from synth.provider import BudgetSpent

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of a million tokens, in any currency."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Price of these tokens."""
        money = prompt_tokens * self.prompt + completion_tokens * self.completion
        return money / _MILLION


@dataclass(slots=True)
class CostBudget:
    """Tracks spending; safe to use from several threads.

    A question reserves its maximum cost before it is sent, so the limit always holds.
    """

    prices: Prices | None = None
    """None when unknown; then only tokens are counted."""
    limit: float | None = None
    """The most money to spend."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    questions: int = 0
    """Questions that were sent."""
    kept: int = 0
    """Questions answered from the cache, which cost nothing."""
    _reserved: float = field(default=0.0, repr=False)
    _open: int = field(default=0, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def __post_init__(self) -> None:
        if self.limit is not None and self.prices is None:
            raise InputError(
                "max_cost: the price of the model is unknown; set CTRAG_OPENAI_PRICE_PROMPT and "
                "CTRAG_OPENAI_PRICE_COMPLETION (money for a million tokens)"
            )

    @property
    def cost(self) -> float | None:
        """Money spent; None when prices are unknown."""
        if self.prices is None:
            return None
        return self.prices.of(self.prompt_tokens, self.completion_tokens)

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Reserve the maximum cost of a question; waits for questions in flight if only their
        reservations exceed the limit.

        Returns:
            The amount reserved, for `settle`.

        Raises:
            BudgetSpent: The question could exceed the limit.
        """
        most = 0.0 if self.prices is None else self.prices.of(prompt_tokens, completion_tokens)
        with self._changed:
            while self._passes(most):
                if not self._open:
                    raise BudgetSpent(
                        f"stopped before passing --max-cost {self.limit:g}: {self.summary()}; "
                        "run the same command again to go on"
                    )
                self._changed.wait()
            self._reserved += most
            self._open += 1
        return most

    def settle(self, reserved: float, prompt_tokens: int, completion_tokens: int) -> None:
        """Release a reservation and count what was used (nothing for a failure)."""
        with self._changed:
            self._reserved -= reserved
            self._open -= 1
            self.prompt_tokens += prompt_tokens
            self.completion_tokens += completion_tokens
            self.questions += bool(prompt_tokens or completion_tokens)
            self._changed.notify_all()

    def keep(self) -> None:
        """Count a question answered from the cache."""
        with self._changed:
            self.kept += 1

    def _passes(self, most: float) -> bool:
        committed = (self.cost or 0.0) + self._reserved + most
        return self.limit is not None and committed > self.limit

    def summary(self) -> str:
        """What was spent, as a line of text."""
        money = "" if self.cost is None else f", {self.cost:.4f} spent"
        return (
            f"{self.questions} questions ({self.kept} more answered from the cache), "
            f"{self.prompt_tokens} + {self.completion_tokens} tokens{money}"
        )

    def as_json(self) -> dict[str, Any]:
        """What was spent, as JSON values."""
        return {
            "questions": self.questions,
            "from_cache": self.kept,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": self.cost,
        }
