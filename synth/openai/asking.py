"""One question to the model: cached, within the budget, asked again where the answer is wrong."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ctrag.assistant.planning.endpoint import bare
from ctrag.errors import InputError
from ctrag.errors import Unusable as Unusable
from ctrag.models.endpoint import ChatEndpoint, Completion, EndpointError
from synth.openai.answers import Answers, key_of
from synth.openai.cost_budget import CostBudget
from synth.openai.prompts import Prompts
from synth.provider import ProviderError

REPAIRS = 2
"""Times that a wrong answer is sent back with what is wrong."""
UNREADABLE = 3
"""Times that a question is sent whose answer is no chat completion at all."""
PROBLEMS = 12
"""Problems that a repair quotes at most."""
_NOT_UNDERSTOOD = (400, 422)
"""What servers answer to a part of a question that they do not know."""
_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"
"""The answer's length, as most servers call it, and as those of reasoning models insist on."""
_SEEDS = 2**31
"""Endpoints take seeds below it; the cache tells larger ones apart."""
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Form(Generic[_Answer]):
    """What an answer must look like."""

    name: str
    schema: dict[str, Any]
    """JSON Schema of the answer, an object."""
    read: Callable[[Any], _Answer]
    """From parsed JSON to the answer; ValueError with one problem a line."""
    longest: int = 4000
    """Tokens of the answer at most."""
    salvage: Callable[[Any], _Answer] | None = None
    """What is right in an answer that is wrong after all repairs; ValueError when nothing is.
    None where only a whole answer is of use."""


class Asker:
    """Puts questions to an endpoint; several threads may ask at once."""

    def __init__(
        self,
        endpoint: ChatEndpoint,
        answers: Answers,
        budget: CostBudget,
        prompts: Prompts,
        *,
        workers: int = 8,
        temperature: float = 1.0,
    ) -> None:
        self.answers = answers
        self.budget = budget
        self.prompts = prompts
        self._endpoint = endpoint
        self._temperature = temperature
        self._places = threading.Semaphore(workers)
        self._formats = ["json_schema", "json_object", "text"]
        self._limit = _LIMIT

    def ask(self, prompt: str, form: Form[_Answer], seed: int) -> _Answer:
        """The answer to a question.

        An answer that breaks the form is sent back with the errors quoted, `REPAIRS` times; then
        what the form can salvage from the last one is the answer. All are kept, so that a rerun
        comes the same way for nothing.

        Args:
            prompt: The filled template.
            form: What the answer must look like.
            seed: Told to the model; another seed is another question.

        Raises:
            Unusable: No answer kept to the form.
            BudgetSpent: The question could pass what may be spent.
            ProviderError: The endpoint does not answer, or not with chat completions.
        """
        messages = [
            {"role": "system", "content": self.prompts.text("system")},
            {"role": "user", "content": prompt},
        ]
        keys: list[str] = []
        problems, text, cut = "", "", False
        for _ in range(1 + REPAIRS):
            keys.append(key_of(self._endpoint.base_url, self._endpoint.model, messages, seed))
            text, cut = self._answer(keys[-1], messages, form, seed)
            try:
                return form.read(_parsed(text, cut))
            except ValueError as error:
                problems = str(error)
            quoted = problems.splitlines()[:PROBLEMS]
            repair = self.prompts.text("repair", problems=quoted, name=form.name)
            messages = [
                *messages,
                {"role": "assistant", "content": text},
                {"role": "user", "content": repair},
            ]
        if form.salvage is not None:
            with suppress(ValueError):
                return form.salvage(_parsed(text, cut))
        first = problems.splitlines()[0] if problems else ""
        raise Unusable(f"{self._endpoint.base_url}: {form.name}: no usable answer: {first}", keys)

    def _answer(
        self, key: str, messages: list[dict[str, str]], form: Form[Any], seed: int
    ) -> tuple[str, bool]:
        known = self.answers.get(key)
        if known is not None:
            self.budget.keep()
            return known
        with self._places:
            answer = self._paid(key, messages, form, seed)
        return answer.text, answer.cut

    def _paid(
        self, key: str, messages: list[dict[str, str]], form: Form[Any], seed: int
    ) -> Completion:
        asked = sum(_most_tokens(one["content"]) for one in messages)
        reserved = self.budget.reserve(asked, form.longest)
        used = (0, 0)
        try:
            answer = self._sent(messages, form, seed)
            used = (
                asked if answer.prompt_tokens is None else answer.prompt_tokens,
                _most_tokens(answer.text)
                if answer.completion_tokens is None
                else answer.completion_tokens,
            )
            self.answers.put(key, answer.text, answer.cut, *used)
            return answer
        finally:
            self.budget.settle(reserved, *used)

    def _sent(self, messages: list[dict[str, str]], form: Form[Any], seed: int) -> Completion:
        unreadable = 0
        while True:
            kind, limit = self._formats[0], self._limit
            options = {limit: form.longest, **_response_format(kind, form)}
            try:
                return self._endpoint.complete(
                    messages, temperature=self._temperature, seed=seed % _SEEDS, **options
                )
            except EndpointError as error:
                refused = error.status in _NOT_UNDERSTOOD
                if refused and limit == _LIMIT and _NEWER_LIMIT in str(error):
                    self._limit = _NEWER_LIMIT
                    continue
                if refused and kind != "text":
                    # Older servers refuse what they do not know; the prompt has the schema too.
                    self._formats = [one for one in self._formats if one != kind]
                    continue
                unreadable += 1
                if error.status is not None or not error.unreadable or unreadable == UNREADABLE:
                    raise ProviderError(str(error)) from error


def _parsed(text: str, cut: bool) -> Any:
    try:
        return json.loads(bare(text))
    except (ValueError, RecursionError) as error:
        reason = "it was too long and is cut off: answer shorter" if cut else str(error)
        raise InputError(f"the answer is not JSON: {reason}") from None


def _most_tokens(text: str) -> int:
    """More tokens than the text has in any usual vocabulary of a language in Latin letters."""
    return len(text.encode()) // 2 + 16


def _response_format(kind: str, form: Form[Any]) -> dict[str, Any]:
    if kind == "json_schema":
        schema = {"name": form.name, "schema": form.schema, "strict": False}
        return {"response_format": {"type": kind, "json_schema": schema}}
    return {"response_format": {"type": kind}} if kind == "json_object" else {}
