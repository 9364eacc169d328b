"""Planning by any OpenAI-compatible endpoint: same prompt, same checks."""

import math
import re
import time
from collections.abc import Mapping
from typing import Any

from ctrag.assistant.planning.answer_forms import TOLD, AnswerForm, bare, options_of, read_answer
from ctrag.assistant.planning.checks import violations
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.plan import Plan, PlanSyntaxError
from ctrag.errors import InputError
from ctrag.models.endpoint import ChatEndpoint, Completion, EndpointError

__all__ = ["EndpointError", "EndpointPlanner", "bare"]

ATTEMPTS = 2
LONGEST = 200
"""Tokens of an answer at most."""
_NOT_UNDERSTOOD = (400, 415, 422)
"""How servers refuse what they do not know."""
_NAMED = re.compile(r"tool|jinja|grammar|schema|response_format", re.IGNORECASE)
"""What a server's own error says where it is a refusal: llama.cpp refuses tools with 500."""


class EndpointPlanner:
    """Asks a chat-completions endpoint; an answer that breaks a rule is asked again once.

    The model behind it chooses API and values by itself and writes any text.
    """

    best_only = brief = False
    writes_text = writes_outward = True

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        timeout: float = 60.0,
        answers: AnswerForm = "json",
    ) -> None:
        """Nothing is sent before the first request.

        Args:
            base_url, model, api_key, timeout: As for `ChatEndpoint`.
            answers: What the model is held to; where the server refuses that, to nothing.
        """
        self._endpoint = ChatEndpoint(base_url, model, api_key, timeout)
        self._answers = answers
        self._held = True
        self._limit, self._temperature = "max_tokens", {"temperature": 0}

    @property
    def described(self) -> dict[str, str | None]:
        """See `Planner.described`."""
        return {
            "planner_model": self._endpoint.model,
            "engine": self._endpoint.base_url,
            "answers": self._answers,
        }

    @property
    def identity(self) -> str:
        """See `Planner.identity`."""
        return f"{self._endpoint.base_url} {self._endpoint.model} {self._answers}"

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, estimated as a quarter of its characters."""
        return (len(text) + 3) // 4

    def plan(self, request: PlanRequest) -> Planned:
        """One plan; `plan` is None when the endpoint's answers break the rules twice.

        Raises:
            EndpointError: The endpoint cannot be reached or refuses.
            ValueError: The request has no grammar to check the answer by.
        """
        began = time.perf_counter()
        prompt, grammar = request.prompt(), request.grammar
        if grammar is None:
            raise InputError("grammar: an endpoint's answer is checked by one, but it is None")
        messages = [
            {"role": "system", "content": prompt.system},
            {
                "role": "user",
                "content": f"{prompt.user}\n\n{_values(grammar)}\n\n{TOLD[self._answers]}",
            },
        ]
        form = options_of(self._answers, request.tools, grammar)
        used = [0, 0]
        text = ""
        plan: Plan | None = None
        for _ in range(ATTEMPTS):
            answer = self._asked(messages, form)
            used[0] += answer.prompt_tokens or 0
            used[1] += answer.completion_tokens or 0
            text = bare(answer.text) or " ".join(f"{name} {given}" for name, given in answer.calls)
            try:
                plan = read_answer(answer.text, answer.calls, request.tools)
                problems = violations(plan, request.tools, grammar)
            except PlanSyntaxError as error:
                problems = [str(error)]
            if not problems:
                break
            plan = None
            messages += [
                {"role": "assistant", "content": text},
                {"role": "user", "content": f"That cannot run: {'; '.join(problems)}. Again."},
            ]
        confidence = 0.0 if plan is None else _agreement(plan, request.preferences)
        text = text if plan is None else str(plan)
        return Planned(plan, text, confidence, used[0], used[1], time.perf_counter() - began)

    def _asked(self, messages: list[dict[str, str]], form: dict[str, Any]) -> Completion:
        """An answer; what the server refuses to understand is left out from then on."""
        while True:
            options = {**self._temperature, self._limit: LONGEST, **(form if self._held else {})}
            try:
                return self._endpoint.complete(messages, **options)
            except EndpointError as error:
                broken = (error.status or 0) >= 500 and _NAMED.search(str(error))
                if error.status not in _NOT_UNDERSTOOD and not broken:
                    raise
                if "max_completion_tokens" in str(error) and self._limit == "max_tokens":
                    self._limit = "max_completion_tokens"
                elif "temperature" in str(error) and self._temperature:
                    self._temperature = {}
                elif form and self._held:
                    self._held = False
                else:
                    raise


def _agreement(plan: Plan, preferences: Mapping[str, float] | None) -> float:
    """How likely tool retrieval finds the API that was answered, as an endpoint says nothing of
    how sure it is; 1 where there is no retrieval."""
    if preferences is None:
        return 1.0
    top = max(preferences.values(), default=0.0)
    odds = {api: math.exp(score - top) for api, score in preferences.items()}
    return odds.get(plan.api, 0.0) / math.fsum(odds.values())


def _values(grammar: PlanGrammar) -> str:
    lines = ["Values that may be used:"]
    for api, arguments in grammar.candidates.items():
        for name, candidates in arguments.items():
            values = ", ".join(repr(candidate.value) for candidate in candidates[:12])
            lines.append(f"- {api}.{name}: {values or 'free'}")
    return "\n".join(lines)
