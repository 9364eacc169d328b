"""LangChain 1.x and LangGraph: a middleware that shows the model only the tools it found.

An agent with any number of tools takes five lines::

    from langchain.agents import create_agent
    from ctrag.agents.integrations.langchain import ToolSearchMiddleware

    agent = create_agent(model, middleware=[ToolSearchMiddleware(tools)])
    agent.invoke({"messages": [("user", "What is the weather in Oslo?")]})
"""

import json
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired

from ctrag.errors import InputError
from ctrag.extras import missing

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.runtime import Runtime
except ImportError as error:
    raise missing("the LangChain middleware", str(error.name), "langchain") from None

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.formats import SEARCH_DESCRIPTION, SEARCH_NAME, SEARCH_PARAMETERS
from ctrag.agents.catalogue.sources import tools_from_langchain
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.integrations.langchain_messages import (
    Answer,
    answer_message,
    called_for_request,
    first_request,
    found_before,
    is_failure,
    noted,
    plain_message,
    with_text,
)
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.surfacing import LIMIT, surface
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.definitions import defined, steps_of
from ctrag.agents.session.events import EventSink, ignore
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.next_tools import offered_next
from ctrag.agents.session.outcomes import ToolRefused
from ctrag.agents.session.sent import search_arguments
from ctrag.agents.session.sent_arguments import tool_arguments
from ctrag.agents.session.sent_names import meant
from ctrag.agents.session.tokens import characters
from ctrag.agents.session.tool_session import ToolSession

MOST = 20
"""The largest number of tools that a search may ask for."""
SESSIONS_KEPT = 1_000
"""Conversations whose sessions are kept; older ones are rebuilt from their messages."""

NEXT = "Tools that usually come next; you can call them now, without a search:"


class ToolSearchState(AgentState[Any]):
    """An agent's state, with the id of its session."""

    tool_session: NotRequired[str]


class ToolSearchMiddleware(AgentMiddleware[ToolSearchState, Any, Any]):
    """Gives the model `search_tools` and what its searches found, instead of all tools.

    The agent's other tools are left unchanged. A conversation resumed from a checkpoint keeps its
    tools, even in another process.

    Args:
        tools: All tools; the agent needs no others.
        index: Their catalogue, with the tools' names as ids; built from the tools when None.
        k: Tools that one search adds at most.
        always: Names of tools that the model always has.
        user: The caller, for a catalogue with access rules.
        binding: How many tools stay bound, and for how long.
        guard: When a repeated call is a loop.
        warm: Tools bound from the start because of the user's affinity, in addition to the
            catalogue's pinned ones.
        preload: Tools bound from the start for the categories of the first message.
        following: Tools at most that a call's result names as usual next ones, callable at once;
            only where the index has a next-tool model. 0 for none.
        window: Maximum tokens of the model's input and output: discovered tools and the history
            passed to the model are cut to it, see `ToolSession.prepare`. None for no limit. The
            conversation's own messages are unchanged.
        output: Tokens of the window reserved for the answer.
        record: Receives every decision as an event.

    Found, used and successful tools are learned for `user`; `index.close()` saves them if the index
    has a store.

    Raises:
        ValueError: A tool is not in the index, or has the name of the search tool.
    """

    state_schema = ToolSearchState

    def __init__(
        self,
        tools: Sequence[BaseTool],
        index: ToolIndex | None = None,
        *,
        k: int = LIMIT,
        always: Sequence[str] = (),
        user: Principal | str | None = None,
        binding: BindingSettings | None = None,
        guard: GuardSettings | None = None,
        warm: int = 3,
        preload: int = 0,
        following: int = 0,
        window: int | None = None,
        output: int = 1024,
        record: EventSink = ignore,
    ) -> None:
        super().__init__()
        self.index = ToolIndex(tools_from_langchain(tools)) if index is None else index
        self._named = {tool.name: tool for tool in tools}
        if SEARCH_NAME in self._named:
            raise InputError(f"tools: {SEARCH_NAME!r} is the name of the search itself")
        held = {tool.id for tool in self.index.tools}
        if missing := [name for name in [*self._named, *always] if name not in held]:
            raise InputError(f"tools: {missing[0]!r} is not in the index")
        self._search = StructuredTool.from_function(
            _only_through_the_middleware,
            name=SEARCH_NAME,
            description=SEARCH_DESCRIPTION,
            args_schema=SEARCH_PARAMETERS,
        )
        self.tools = [self._search, *tools]
        self._k, self._always, self._user = k, tuple(always), user
        self._settings = {"binding": binding, "guard": guard, "record": record}
        self._warm, self._preload, self._following = warm, preload, following
        self._window, self._output = window, output
        self._sessions: OrderedDict[str, ToolSession] = OrderedDict()
        self._lock = threading.Lock()

    def before_agent(self, state: ToolSearchState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Assign the conversation's session an id, once."""
        return None if "tool_session" in state else {"tool_session": uuid.uuid4().hex}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Restrict the model to the tools of its session."""
        return handler(self._narrowed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """See `wrap_model_call`."""
        return await handler(self._narrowed(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Answer searches, refuse tools that were not found, record calls."""
        request = self._read(request)
        call, session = request.tool_call, self._session(request.state)
        if call["name"] == SEARCH_NAME:
            return self._searched(session, call, request.state)
        if call["name"] not in self._named:
            return handler(request)
        try:
            session.check(call["name"])
        except ToolRefused as refused:
            return answer_message(call, str(refused), status="error")
        began = time.perf_counter()
        try:
            result = handler(request)
        except Exception as error:
            self._failed(session, call, error, began)
            raise
        return self._with_next(self._finished(session, call, result, began), session)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """See `wrap_tool_call`."""
        from anyio import to_thread

        request = self._read(request)
        call, session = request.tool_call, self._session(request.state)
        if call["name"] == SEARCH_NAME:
            return await to_thread.run_sync(self._searched, session, call, request.state)
        if call["name"] not in self._named:
            return await handler(request)
        try:
            session.check(call["name"])
        except ToolRefused as refused:
            return answer_message(call, str(refused), status="error")
        began = time.perf_counter()
        try:
            result = await handler(request)
        except Exception as error:
            self._failed(session, call, error, began)
            raise
        finished = self._finished(session, call, result, began)
        return await to_thread.run_sync(self._with_next, finished, session)

    def _failed(
        self, session: ToolSession, call: Mapping[str, Any], error: Exception, began: float
    ) -> None:
        spent = time.perf_counter() - began
        session.finished(call["name"], call["args"], error=type(error).__name__, seconds=spent)
        self._learn(call["name"], succeeded=False)

    def _finished(
        self, session: ToolSession, call: Mapping[str, Any], result: Answer, began: float
    ) -> Answer:
        """The result, with the guard's guidance where the call ends a loop."""
        failed = is_failure(result)
        self._learn(call["name"], succeeded=not failed)
        finished = session.finished(
            call["name"],
            call["args"],
            error="tool_error" if failed else None,
            seconds=time.perf_counter() - began,
            answer=str(result.content) if isinstance(result, ToolMessage) else repr(result),
        )
        return noted(result, finished)

    def _with_next(self, result: Answer, session: ToolSession) -> Answer:
        """The result with the tools that usually come next, which are bound now."""
        if not isinstance(result, ToolMessage) or is_failure(result):
            return result
        offered = offered_next(self.index, session, self._user, self._following, among=self._named)
        lines = [f"{tool.name}: {tool.description}" for tool in offered]
        return with_text(result, "\n".join([NEXT, *lines])) if lines else result

    def _read(self, request: ToolCallRequest) -> ToolCallRequest:
        """The request with the tool's name and arguments as the model meant them."""
        call = request.tool_call
        name = call["name"]
        if name not in self._named and name != SEARCH_NAME:
            spelled = meant(name, [SEARCH_NAME, *self._named])
            name = spelled[0] if len(spelled) == 1 else name
        if name not in self._named:
            return request.override(tool_call={**call, "name": name})
        try:
            arguments = tool_arguments(call["args"], self.index.get(name).parameters)
        except ValueError:  # the tool itself says what is wrong with them
            arguments = call["args"]
        return replace(
            request,
            tool_call={**call, "name": name, "args": arguments},
            tool=request.tool or self._named[name],
        )

    def _narrowed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        session = self._session(request.state)
        others = [
            tool
            for tool in request.tools
            if not isinstance(tool, BaseTool) or tool.name not in self._named
        ]
        if self._window is None:
            found = [self._named[tool.id] for tool in session.tools]
            return request.override(tools=[*others, *found])
        taken = sum(characters(json.dumps(convert_to_openai_tool(tool))) for tool in others)
        first = [] if request.system_message is None else [request.system_message]
        given = [plain_message(one, row) for row, one in enumerate([*first, *request.messages])]
        ready = session.prepare(given, window=self._window - taken, output=self._output)
        left = [
            request.messages[row]
            if one["content"] == given[row + len(first)]["content"]
            else request.messages[row].model_copy(update={"content": one["content"]})
            for one in ready.messages
            if (row := one["row"] - len(first)) >= 0
        ]
        found = [self._named[tool.id] for tool in ready.tools]
        return request.override(tools=[*others, *found], messages=left)

    def _learn(self, name: str, *, succeeded: bool) -> None:
        self.index.learn(self._user, name, "used")
        self.index.learn(self._user, name, "succeeded" if succeeded else "failed")

    def _searched(self, session: ToolSession, call: Mapping[str, Any], state: Any) -> ToolMessage:
        began = time.perf_counter()
        try:
            read = search_arguments(call["args"], MOST)
            query, k = read.arguments["query"], read.arguments.get("limit", self._k)
            called = [one for one in called_for_request(state["messages"]) if one in self._named]
            search = self.index.find(query, k, self._user, called, exclude=self._always)
        except ValueError as error:
            return answer_message(call, str(error), status="error")
        given = surface(search, query, k)
        pairs = [
            (hit, tool)
            for hit, tool in defined(given.hits.values(), self._resolve)
            if tool.id in self._named
        ]
        found = session.found(
            query,
            [tool for _, tool in pairs],
            scores=[hit.probability for hit, _ in pairs],
            seconds=time.perf_counter() - began,
            trace=steps_of(search, given.hits),
        )
        for tool in found.tools:
            self.index.learn(self._user, tool.id, "found")
        lines = [f"{tool.name}: {tool.description}" for tool in found.tools]
        close = ", ".join(hit.tool.name for hit in given.closest[:3])
        lacking = f"No tool surely fits; search for one by its name to use it: {close}"
        summary = "You can call these tools now:\n" + "\n".join(lines) if lines else lacking
        text = "\n".join(filter(None, [summary, given.note, found.note, *read.notes]))
        return answer_message(call, text, artifact=[tool.id for tool in found.tools])

    def _resolve(self, ids: Sequence[str]) -> list[CatalogueTool]:
        return self.index.resolve(ids, self._user)

    def _session(self, state: Any) -> ToolSession:
        """The conversation's session; rebuilt from its messages if it is not kept."""
        name = state.get("tool_session", "")
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                session = self._sessions[name] = self._restored(name, state["messages"])
            self._sessions.move_to_end(name)
            while len(self._sessions) > SESSIONS_KEPT:
                self._sessions.popitem(last=False)
            return session

    def _restored(self, name: str, messages: Sequence[Any]) -> ToolSession:
        session = ToolSession(
            name,
            "",
            always=self.index.resolve(self._always, self._user),
            allowed=lambda tool_id, _: self.index.allowed(tool_id, self._user),
            **self._settings,  # type: ignore[arg-type]
        )
        begin = self.index.warm_start(self._user, self._warm)
        if self._preload and (text := first_request(messages)):
            begin += self.index.preload(text, self._user, self._preload)
        session.preload(tool for tool in begin if tool.id in self._named)
        for ids in found_before(messages):
            known = self.index.resolve(ids, self._user)
            session.preload(tool for tool in known if tool.id in self._named)
        return session


def _only_through_the_middleware(query: str) -> str:
    raise RuntimeError(f"{SEARCH_NAME} is answered by ToolSearchMiddleware")
