"""Questions to the model: cached, within the budget, repaired when the answer is invalid."""

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
"""How often an invalid answer is sent back with its errors."""
UNREADABLE = 3
"""How often a question is sent when the reply is no chat completion at all."""
PROBLEMS = 12
"""The most problems quoted in a repair."""
_NOT_UNDERSTOOD = (400, 422)
"""Status codes of servers that do not support a part of the request."""
_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"
"""The maximum answer length, as most servers name it, and as reasoning models require."""
_SEEDS = 2**31
"""Endpoints take smaller seeds; the cache distinguishes larger ones."""
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Form(Generic[_Answer]):
    """The required form of an answer."""

    name: str
    schema: dict[str, Any]
    """JSON Schema of the answer, an object."""
    read: Callable[[Any], _Answer]
    """From parsed JSON to the answer; ValueError with one problem per line."""
    longest: int = 4000
    """Maximum tokens of the answer."""
    salvage: Callable[[Any], _Answer] | None = None
    """The valid part of an answer that is invalid after all repairs; ValueError if there is none.
    None when only a complete answer is useful."""


class Asker:
    """Sends questions to an endpoint; safe to use from several threads."""

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

        An invalid answer is sent back with the errors quoted, up to `REPAIRS` times; then whatever
        the form can salvage from the last one is returned. All are cached, so a rerun takes the
        same path at no cost.

        Args:
            prompt: The rendered template.
            form: The required form of the answer.
            seed: Sent to the model; another seed is another question.

        Raises:
            Unusable: No answer matched the form.
            BudgetSpent: The question could exceed the limit.
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
                    # Older servers reject unknown parameters; the prompt has the schema too.
                    self._formats = [one for one in self._formats if one != kind]
                    continue
                unreadable += 1
                if error.status is not None or not error.unreadable or unreadable == UNREADABLE:
                    raise ProviderError(str(error)) from error


def _parsed(text: str, cut: bool) -> Any:
    try:
        return json.loads(bare(text))
    except (ValueError, RecursionError) as error:
        if not cut and (found := _within(text)) is not None:
            return found
        reason = "it was too long and is cut off: answer shorter" if cut else str(error)
        raise InputError(f"the answer is not JSON: {reason}") from None


def _within(text: str) -> Any:
    """The longest JSON object in a text with prose before or after it; None without one."""
    decoder, longest, size, place = json.JSONDecoder(), None, 0, text.find("{")
    while place >= 0:
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if end - place > size:
                longest, size = found, end - place
        place = text.find("{", end)
    return longest


def _most_tokens(text: str) -> int:
    """An upper bound on the tokens of a text in Latin script, for any usual vocabulary."""
    return len(text.encode()) // 2 + 16


def _response_format(kind: str, form: Form[Any]) -> dict[str, Any]:
    if kind == "json_schema":
        schema = {"name": form.name, "schema": form.schema, "strict": False}
        return {"response_format": {"type": kind, "json_schema": schema}}
    return {"response_format": {"type": kind}} if kind == "json_object" else {}
