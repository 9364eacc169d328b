"""What a language model costs: tokens and money so far, and a limit that is never passed."""

import threading
from dataclasses import dataclass, field
from typing import Any

from ctrag.errors import InputError
from synth.provider import BudgetSpent

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens, in any currency."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Money for so many tokens."""
        money = prompt_tokens * self.prompt + completion_tokens * self.completion
        return money / _MILLION


@dataclass(slots=True)
class CostBudget:
    """Counts what is spent; several threads may pay from it.

    A question reserves the most that it can cost before it is sent, so that the limit holds
    whatever comes back.
    """

    prices: Prices | None = None
    """None when unknown; then only tokens are counted."""
    limit: float | None = None
    """Money to spend at most."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    questions: int = 0
    """Questions that were sent."""
    kept: int = 0
    """Questions whose answer was known from before, which cost nothing."""
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
        """Set aside the most that a question can cost; waits for questions in flight if only their
        reservations exceed the limit.

        Returns:
            What was set aside, for `settle`.

        Raises:
            BudgetSpent: The question could pass the limit.
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
        """Give back what was set aside, and count what was used (nothing for a failure)."""
        with self._changed:
            self._reserved -= reserved
            self._open -= 1
            self.prompt_tokens += prompt_tokens
            self.completion_tokens += completion_tokens
            self.questions += bool(prompt_tokens or completion_tokens)
            self._changed.notify_all()

    def keep(self) -> None:
        """Count a question whose answer was known."""
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
