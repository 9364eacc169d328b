"""Calls of a session's tools, from the arguments that a model sent to the answer that it reads."""

import time
from collections.abc import Callable
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp import MCPError
from mcp.types import CallToolResult, TextResourceContents

from ctrag.agents.catalogue.access import Principal
from ctrag.agents.catalogue.effects import effect_of
from ctrag.agents.catalogue.formats import object_schema
from ctrag.agents.catalogue.schemas import original_arguments
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.answers import CALL_CHANGING, CallAnswer, refusal, with_next, with_note
from ctrag.agents.server.channel import Channel
from ctrag.agents.server.held_tools import HeldTools
from ctrag.agents.server.principals import caller_key
from ctrag.agents.server.remote import RemoteHit
from ctrag.agents.server.resources import Resources
from ctrag.agents.server.results import READ, Results, links, page, passed_on
from ctrag.agents.server.servers import Servers
from ctrag.agents.server.upstream import UpstreamError
from ctrag.agents.session.next_tools import offered_next
from ctrag.agents.session.registry import SessionRegistry
from ctrag.agents.session.sent import read_arguments
from ctrag.agents.session.sent_arguments import tool_arguments
from ctrag.agents.session.sent_names import meant
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError


class Calls:
    """Makes the calls of one gateway.

    Args:
        index: Learns which tools are used, and knows which come next.
        servers: Run the tools.
        held: Which tool of a session a name means.
        sessions: Record the calls.
        resources: What the servers have beside tools.
        results: Keeps what is too long to be sent at once.
        result_limit: Characters of a result at most, where its server sets none.
        following: Usual next tools that a result names at most.
        shown: A tool as the model reads it.
    """

    def __init__(
        self,
        index: ToolIndex,
        servers: Servers,
        held: HeldTools,
        sessions: SessionRegistry,
        resources: Resources,
        results: Results,
        *,
        result_limit: int,
        following: int,
        shown: Callable[[RemoteHit], dict[str, Any]],
    ) -> None:
        self._index, self._servers, self._held, self._sessions = index, servers, held, sessions
        self._resources, self._results, self._result_limit = resources, results, result_limit
        self._following, self._shown = following, shown

    async def call(
        self,
        who: Principal | None,
        handle: str,
        name: str,
        arguments: dict[str, Any],
        channel: Channel,
        *,
        structured: bool,
        listed: bool,
        only_reads: bool,
    ) -> CallAnswer:
        """See `Gateway.call`."""
        own = name in {READ, READ.replace("/", "__")}
        if own or (meant(name, [READ]) and not await run_sync(self._held.has, who, handle, name)):
            return await self._read(who, handle, arguments)
        try:
            session, tool = await run_sync(self._held.callable_tool, who, handle, name, listed)
            if await self._servers.awake(tool.server):  # its list may not be what was stored
                session, tool = await run_sync(self._held.callable_tool, who, handle, name, listed)
            if only_reads and effect_of(tool) != "reads":
                raise InputError(f"{tool.id} may change something: call it with {CALL_CHANGING}.")
            sent = tool_arguments(arguments, object_schema(tool))
            arguments = original_arguments(tool.parameters, sent)
        except ValueError as error:
            return CallAnswer(refusal(str(error)))
        began = time.perf_counter()
        error_type: str | None = None
        answer: str | None = None
        try:
            user = "" if who is None else who.user
            result = await self._servers.call(session.id, tool, arguments, channel, user)
            error_type = "tool_error" if result.is_error else None
            answer = result.model_dump_json(include={"content", "structured_content"})
        except UpstreamError as error:
            result, error_type = refusal(str(error)), "upstream"
        except anyio.get_cancelled_exc_class():
            session.finished(tool.id, arguments, error="cancelled")
            raise
        except MCPError:
            session.finished(tool.id, arguments, error="url")
            raise
        else:
            checked = structured and bool(tool.mcp.get("outputSchema"))
            result = self._passed_on(who, tool.server, result, checked)
        spent = time.perf_counter() - began
        finished = session.finished(
            tool.id, arguments, error=error_type, seconds=spent, answer=answer
        )
        self._index.learn(who, tool.id, "used")
        self._index.learn(who, tool.id, "failed" if error_type else "succeeded")
        if finished.note:
            result = with_note(result, finished.note, finished.loop_detected)
        following = [] if error_type else await run_sync(self._next, who, session)
        if following:
            result = with_next(result, following)
        return CallAnswer(result, changed=finished.evicted is not None or bool(following))

    def _next(self, who: Principal | None, session: ToolSession) -> list[dict[str, Any]]:
        """The tools that usually come next, bound now, as shown to the model."""
        offered = offered_next(self._index, session, who, self._following)
        return [self._shown(RemoteHit(tool, 1.0)) for tool in offered]

    def _passed_on(
        self, who: Principal | None, server: str, result: CallToolResult, structured: bool
    ) -> CallToolResult:
        named = passed_on(result, server)
        self._resources.given(who, links(named))
        upstream = self._servers.upstreams.get(server)
        limit = upstream.spec.result_limit if upstream is not None else None
        limit = limit or self._result_limit
        return self._results.capped(named, caller_key(who), limit, structured=structured)

    async def _read(
        self, who: Principal | None, handle: str, arguments: dict[str, Any]
    ) -> CallAnswer:
        """What `ctrag/read` answers: a page of a kept result or of a resource."""
        try:
            session = self._sessions.get(handle, caller_key(who))
            try:
                uri, offset = read_arguments(arguments)
            except ValueError as error:
                raise InputError(f"{READ}: {error}") from None
            read = await self._resources.read(who, uri, session.id)
            texts = [one.text for one in read.contents if isinstance(one, TextResourceContents)]
            if not texts:
                kind = read.contents[0].mime_type if read.contents else None
                raise InputError(f"{uri} is no text but {kind or 'empty'}")
            return CallAnswer(page("\n".join(texts), uri, offset, self._result_limit))
        except (ValueError, MCPError) as error:
            return CallAnswer(refusal(str(error)))
