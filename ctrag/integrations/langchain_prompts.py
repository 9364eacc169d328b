"""LangChain: an agent's system prompt and tools, chosen anew for each of its model calls."""

from collections.abc import Sequence
from typing import Any

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import SystemMessage
except ImportError as error:
    raise ImportError(f"{error.name} is missing: run `pip install 'ctrag[langchain]'`") from None

from ctrag.prompt.assembly import DISCOVERY, Prompt
from ctrag.prompt.builder import PromptBuilder


class PromptMiddleware(AgentMiddleware[Any, Any, Any]):
    """For `langchain.agents.create_agent(..., middleware=[PromptMiddleware(builder)])`.

    The agent gets all its tools; each model call sees those of the builder's prompt, and those
    that the builder's catalogue does not have. A model that answers with `TOOL_DISCOVERY` is asked
    once more with the prompt of the discovery step.
    """

    def __init__(self, builder: PromptBuilder, budget: int = 2000) -> None:
        """Narrow every model call.

        Args:
            builder: Knows the tools by the names that the agent's tools have.
            budget: Tokens of a prompt.
        """
        super().__init__()
        self._builder = builder
        self._budget = budget
        self._ids = {
            name: tool.id for tool in builder.tools for name in (tool.tool.name, tool.name)
        }

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """The model's answer to the smaller request."""
        calls = [call["name"] for one in request.messages for call in _calls(one)]
        called = [self._ids[name] for name in calls if name in self._ids]
        prompt = self._builder.build(_asked(request.messages), self._budget, history=called)
        answer = handler(self._narrowed(request, prompt))
        if DISCOVERY not in _said(answer) or prompt.discovered or prompt.fallback:
            return answer
        return handler(self._narrowed(request, self._builder.discover(prompt)))

    def _narrowed(self, request: Any, prompt: Prompt) -> Any:
        shown = {name for tool in prompt.exposed for name in (tool.name, tool.tool.name)}
        kept = [one for one in request.tools if _name(one) in shown or _name(one) not in self._ids]
        return request.override(system_message=SystemMessage(prompt.system), tools=kept)


def _asked(messages: Sequence[Any]) -> str:
    """The latest words of the user."""
    said = [str(one.text) for one in messages if one.type == "human"]
    return said[-1] if said else "continue"


def _calls(message: Any) -> Sequence[Any]:
    return getattr(message, "tool_calls", None) or ()


def _said(answer: Any) -> str:
    messages = getattr(answer, "result", None) or [answer]
    return " ".join(str(getattr(one, "text", "")) for one in messages)


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name", ""))
    return str(tool.name)
