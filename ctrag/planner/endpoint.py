"""Planning by any OpenAI-compatible endpoint: same prompt, same syntax, same checks."""

import re
import time
from collections.abc import Sequence
from typing import Any

from ctrag.apps.toolbox import Tool
from ctrag.planner.embedded import Planned
from ctrag.planner.grammar import PlanGrammar
from ctrag.planner.grounding import violations
from ctrag.planner.plan import Plan, PlanSyntaxError
from ctrag.prompt.planner import PlannerPrompt

ATTEMPTS = 2


class EndpointError(RuntimeError):
    """The endpoint did not answer as an endpoint should; the message is one line."""


class EndpointPlanner:
    """Asks a chat-completions endpoint; an answer that breaks a rule is asked again once."""

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float = 60.0) -> None:
        if not model:
            raise ValueError("model: the endpoint needs a model name; set CTRAG_OPENAI_MODEL")
        self._base_url = base_url
        self._model = model
        self._api_key = api_key
        self._timeout = timeout

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, estimated as a quarter of its characters."""
        return (len(text) + 3) // 4

    def plan(self, prompt: PlannerPrompt, grammar: PlanGrammar, tools: Sequence[Tool]) -> Planned:
        """One plan; `plan` is None when the endpoint's answers break the rules twice.

        Raises:
            EndpointError: The endpoint cannot be reached or refuses.
        """
        began = time.perf_counter()
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
                problems = violations(plan, tools, grammar)
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
        import openai

        chat: Any = messages
        with openai.OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout,
            max_retries=3,
        ) as client:
            try:
                answer: Any = client.chat.completions.create(
                    model=self._model, messages=chat, temperature=0, max_tokens=200
                )
            except openai.OpenAIError as error:
                raise self._error(f"{type(error).__name__}: {error}") from error
            except ValueError as error:  # what is called JSON does not parse
                raise self._error(f"no chat completion came back: {error}") from error
        # Anything may answer at an address: the client hands on what it cannot read.
        choices = getattr(answer, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(first, "message", None)
        content = getattr(message, "content", None)
        if message is None or not isinstance(content, str | None):
            raise self._error("no chat completion came back")
        for position, name in enumerate(("prompt_tokens", "completion_tokens")):
            count = getattr(getattr(answer, "usage", None), name, None)
            used[position] += count if isinstance(count, int) else 0
        return _bare(content or "")

    def _error(self, reason: str) -> EndpointError:
        """One line, without the key: servers quote what they refuse."""
        line = " ".join(f"{self._base_url}: {reason}".split())
        return EndpointError(line.replace(self._api_key, "***") if self._api_key else line)


def _values(grammar: PlanGrammar) -> str:
    lines = ["Values that may be used:"]
    for api, arguments in grammar.offers.items():
        for name, offers in arguments.items():
            values = ", ".join(repr(offer.value) for offer in offers[:12])
            lines.append(f"- {api}.{name}: {values or 'free'}")
    return "\n".join(lines)


def _bare(text: str) -> str:
    """The answer without a code fence around it."""
    lines = text.strip().splitlines()
    if lines and re.fullmatch(r"```\w*", lines[0].strip()):
        lines = lines[1:]
    return "\n".join(lines).strip().strip("`").strip()
