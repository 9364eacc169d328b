"""LangChain: an agent's system prompt and tools, chosen for each model call."""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired

from ctrag.extras import missing

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.messages import SystemMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.runtime import Runtime
except ImportError as error:
    raise missing("the LangChain middleware", str(error.name), "langchain") from None

from ctrag.agents.prompt.assembly import DISCOVERY, Prompt
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.settings import BUDGET
from ctrag.agents.prompt.signatures import bare_parameters
from ctrag.agents.prompt.tool_documents import ToolDocument

CONVERSATIONS_KEPT = 1_000
"""Conversations whose last prompt is kept, and with it the order of its units."""


class PromptState(AgentState[Any]):
    """An agent's state, with the id of its conversation."""

    prompt_conversation: NotRequired[str]


class PromptMiddleware(AgentMiddleware[PromptState, Any, Any]):
    """For `langchain.agents.create_agent(..., middleware=[PromptMiddleware(builder)])`.

    The agent gets all its tools; each model call sees those of the builder's prompt, in the form
    they have there, and those missing from the builder's catalogue. The agent's own
    system prompt stays, after the overlay. A model that answers with `TOOL_DISCOVERY` is called
    again with the prompt of the discovery step, unless `PromptSettings.discovery` is off.

    The model's calls are the builder's feedback (`PromptBuilder.learn`; save it with
    `builder.gains.save`). Calls of hidden tools, and tools still lacking after the discovery step,
    are logged as misses.
    """

    state_schema = PromptState

    def __init__(self, builder: PromptBuilder, budget: int = BUDGET) -> None:
        """Narrow every model call.

        Args:
            builder: Its tools must have the same names as the agent's.
            budget: Tokens of the builder's part, in the form of `Prompt.openai`; the agent's own
                system prompt and tools missing from the catalogue are not counted.
        """
        super().__init__()
        self._builder = builder
        self._budget = budget
        self._ids = {tool.tool.name: tool.id for tool in builder.tools}
        self._ids |= {tool.name: tool.id for tool in builder.tools}
        self._last: OrderedDict[str, Prompt] = OrderedDict()
        self._lock = threading.Lock()

    def before_agent(self, state: PromptState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Assign the conversation an id, once."""
        if "prompt_conversation" in state:
            return None
        return {"prompt_conversation": uuid.uuid4().hex}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """The model's answer to the smaller request."""
        prompt = self._built(request)
        answer = handler(self._narrowed(request, prompt))
        if self._wants_more(prompt, answer):
            prompt = self._widened(request, prompt)
            answer = handler(self._narrowed(request, prompt))
        self._learn(prompt, answer)
        return answer

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """See `wrap_model_call`."""
        from anyio import to_thread

        prompt = await to_thread.run_sync(self._built, request)
        answer = await handler(self._narrowed(request, prompt))
        if self._wants_more(prompt, answer):
            prompt = await to_thread.run_sync(self._widened, request, prompt)
            answer = await handler(self._narrowed(request, prompt))
        self._learn(prompt, answer)
        return answer

    def _built(self, request: ModelRequest[Any]) -> Prompt:
        """The prompt of this step, in the order of the previous one."""
        calls = [call["name"] for one in request.messages for call in _calls(one)]
        with self._lock:  # a builder's caches are not thread-safe
            prompt = self._builder.build(
                _asked(request.messages),
                self._budget,
                history=[self._ids[name] for name in calls if name in self._ids],
                previous=self._last.get(_conversation(request)),
                form="openai",
            )
            self._keep(request, prompt)
        return prompt

    def _widened(self, request: ModelRequest[Any], prompt: Prompt) -> Prompt:
        with self._lock:
            wide = self._builder.discover(prompt)
            self._keep(request, wide)
        return wide

    def _wants_more(self, prompt: Prompt, answer: Any) -> bool:
        """Whether the model asks for a discovery step that is still possible."""
        hides = not prompt.discovered and not prompt.fallback
        return hides and self._builder.settings.discovery != "off" and DISCOVERY in _text(answer)

    def _learn(self, prompt: Prompt, answer: Any) -> None:
        """Give the builder the model's calls, or the tool it still lacks."""
        calls = [call["name"] for one in _messages(answer) for call in _calls(one)]
        with self._lock:
            self._builder.learn(prompt, [self._ids[name] for name in calls if name in self._ids])
            text = _text(answer)
            if DISCOVERY in text and not calls:
                self._builder.miss(prompt, text.partition(DISCOVERY)[2].lstrip(": ").strip())

    def _keep(self, request: ModelRequest[Any], prompt: Prompt) -> None:
        name = _conversation(request)
        if name:
            self._last[name] = prompt
            self._last.move_to_end(name)
        while len(self._last) > CONVERSATIONS_KEPT:
            self._last.popitem(last=False)

    def _narrowed(self, request: ModelRequest[Any], prompt: Prompt) -> ModelRequest[Any]:
        held = {self._ids[_name(one)]: one for one in request.tools if _name(one) in self._ids}
        own = [one for one in request.tools if _name(one) not in self._ids]
        made = [one["function"] for one in prompt.openai().get("tools", ())]
        shown = [
            _function(function, tool, held[tool.id], whole=tool in prompt.tools)
            for tool, function in zip(prompt.exposed, made, strict=True)
            if tool.id in held
        ]
        message = _system(_as_agent_names(prompt, held), request.system_message)
        return request.override(system_message=message, tools=[*own, *shown])


def _function(
    made: dict[str, Any], document: ToolDocument, tool: Any, *, whole: bool
) -> dict[str, Any]:
    """A tool in the form of the prompt, under the agent's name for it.

    Parameters missing from the catalogue are taken from the agent's tool.
    """
    parameters = made["parameters"]
    if not document.tool.parameters:
        own = convert_to_openai_tool(tool)["function"].get("parameters", parameters)
        parameters = own if whole else bare_parameters(own)
    return {"type": "function", "function": {**made, "name": _name(tool), "parameters": parameters}}


def _as_agent_names(prompt: Prompt, held: Mapping[str, Any]) -> Prompt:
    """The prompt with the agent's name of the likely tool; without it if the agent lacks it."""
    if prompt.likely is None:
        return prompt
    own = held.get(prompt.likely.id)
    likely = None if own is None else replace(prompt.likely, name=_name(own))
    return replace(prompt, likely=likely)


def _system(prompt: Prompt, own: SystemMessage | None) -> SystemMessage:
    """The overlay, the agent's own system prompt, and the rest of the prompt."""
    if own is None:
        return SystemMessage(prompt.system)
    rest = prompt.system.removeprefix(prompt.overlay).lstrip()
    if isinstance(own.content, str):
        content: Any = "\n\n".join([prompt.overlay, own.content, rest])
    else:
        texts = (f"{prompt.overlay}\n\n", f"\n\n{rest}")
        before, after = ({"type": "text", "text": text} for text in texts)
        content = [before, *own.content, after]
    return own.model_copy(update={"content": content})


def _conversation(request: ModelRequest[Any]) -> str:
    """Its id; empty if the call is not an agent's."""
    return str(request.state.get("prompt_conversation", ""))


def _asked(messages: Sequence[Any]) -> str:
    """The user's latest message with text."""
    texts = [str(one.text) for one in messages if one.type == "human"]
    return next((text for text in reversed(texts) if text.strip()), "continue")


def _calls(message: Any) -> Sequence[Any]:
    return getattr(message, "tool_calls", None) or ()


def _text(answer: Any) -> str:
    return " ".join(str(getattr(one, "text", "")) for one in _messages(answer))


def _messages(answer: Any) -> Sequence[Any]:
    return getattr(answer, "result", None) or [answer]


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name", ""))
    return str(tool.name)
