"""Planning by any OpenAI-compatible endpoint: same prompt, same syntax, same checks."""

import re
import time

from ctrag.assistant.planning.checks import violations
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.plan import Plan, PlanSyntaxError
from ctrag.errors import InputError
from ctrag.models.endpoint import ChatEndpoint, EndpointError

__all__ = ["EndpointError", "EndpointPlanner"]

ATTEMPTS = 2


class EndpointPlanner:
    """Asks a chat-completions endpoint; an answer that breaks a rule is asked again once.

    The model behind it chooses API and values by itself and writes any text.
    """

    best_only = brief = False
    writes_text = writes_outward = True

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float = 60.0) -> None:
        self._endpoint = ChatEndpoint(base_url, model, api_key, timeout)

    @property
    def described(self) -> dict[str, str | None]:
        """See `Planner.described`."""
        return {"planner_model": self._endpoint.model, "engine": self._endpoint.base_url}

    @property
    def identity(self) -> str:
        """See `Planner.identity`."""
        return f"{self._endpoint.base_url} {self._endpoint.model}"

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
            {"role": "user", "content": f"{prompt.user}\n\n{_values(grammar)}"},
        ]
        used = [0, 0]
        text = ""
        plan: Plan | None = None
        for _ in range(ATTEMPTS):
            text = self._ask(messages, used)
            try:
                plan = Plan.parse(text)
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
        confidence = 0.0 if plan is None else 1.0
        return Planned(plan, text, confidence, used[0], used[1], time.perf_counter() - began)

    def _ask(self, messages: list[dict[str, str]], used: list[int]) -> str:
        answer = self._endpoint.complete(messages, temperature=0, max_tokens=200)
        used[0] += answer.prompt_tokens or 0
        used[1] += answer.completion_tokens or 0
        return bare(answer.text)


def _values(grammar: PlanGrammar) -> str:
    lines = ["Values that may be used:"]
    for api, arguments in grammar.candidates.items():
        for name, candidates in arguments.items():
            values = ", ".join(repr(candidate.value) for candidate in candidates[:12])
            lines.append(f"- {api}.{name}: {values or 'free'}")
    return "\n".join(lines)


def bare(text: str) -> str:
    """The answer without a code fence around it."""
    lines = text.strip().splitlines()
    if lines and re.fullmatch(r"```\w*", lines[0].strip()):
        lines = lines[1:]
    return "\n".join(lines).strip().strip("`").strip()
