"""What a call may say to the client that made it: progress, log messages, questions."""

import logging
import secrets
from collections.abc import Mapping
from typing import Any, get_args

from mcp import MCPError
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    INVALID_REQUEST,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitCompleteNotification,
    ElicitCompleteNotificationParams,
    ElicitRequest,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    ListRootsRequest,
    ListRootsResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
)

logger = logging.getLogger(__name__)

Question = CreateMessageRequest | ElicitRequest | ListRootsRequest
"""What a server may ask of a client."""
Answer = (
    CreateMessageResult | CreateMessageResultWithTools | ElicitResult | ListRootsResult | ErrorData
)

SAMPLING, SAMPLING_TOOLS = "sampling", "sampling.tools"
ELICITATION, ELICITATION_URL = "elicitation", "elicitation.url"
ROOTS = "roots"

LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""From `debug` to `emergency`."""
_OURS = "io.modelcontextprotocol/"
"""Keys of `_meta` that belong to one connection."""


class Channel:
    """A client that is told nothing and asked nothing; see `ClientChannel` for a real one."""

    offers: frozenset[str] = frozenset()
    """What the client can be asked for."""
    meta: Mapping[str, Any] = {}
    """Its `_meta` of the request, to pass on to the server."""
    level: LoggingLevel | None = None
    """The lowest level of log messages that it has asked for; None if it has not said."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Tell how far the call is."""

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """Pass a log message on, if the client wants messages of this level."""

    async def elicited(self, elicitation_id: str) -> None:
        """Tell that what a URL was opened for has been done."""

    async def ask(self, question: Question) -> Answer:
        """The client's answer, or an error where it cannot be asked."""
        return _not_offered(needed(question))


SILENT = Channel()


class ClientChannel(Channel):
    """The client of one request.

    Args:
        ctx: The request.
        level: What the client has set with `logging/setLevel`; None if it has not.
    """

    def __init__(self, ctx: "ServerRequestContext[Any]", level: LoggingLevel | None = None) -> None:
        self._ctx = ctx
        self.offers = offers_of(ctx.session.client_capabilities)
        self.meta = passed_meta(ctx.meta)
        self.level = level or (ctx.meta or {}).get(f"{_OURS}logLevel")  # type: ignore[assignment]
        self._over = False

    def over(self) -> None:
        """The request has been answered: what comes now goes out beside it, where there is a way"""
        self._over = True

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """See `Channel`."""
        if not self._over:
            await self._told(self._ctx.session.report_progress(done, total, message))

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """See `Channel`."""
        ctx = self._ctx
        if params.level not in allowed_log_levels(ctx.protocol_version, ctx.meta):
            return
        if self.level is not None and LEVELS.index(params.level) < LEVELS.index(self.level):
            return
        message = LoggingMessageNotification(params=params)
        await self._told(ctx.session.send_notification(message, self._related))

    async def elicited(self, elicitation_id: str) -> None:
        """See `Channel`."""
        params = ElicitCompleteNotificationParams(elicitation_id=elicitation_id)
        message = ElicitCompleteNotification(params=params)
        await self._told(self._ctx.session.send_notification(message, self._related))

    async def ask(self, question: Question) -> Answer:
        """See `Channel`."""
        if (need := needed(question)) not in self.offers:
            return _not_offered(need)
        try:
            return await self._asked(question)
        except MCPError as error:
            return error.error
        except Exception as error:  # another program's answer may be broken in any way
            logger.warning("a client's answer to %s: %s", question.method, error)
            return ErrorData(code=INVALID_REQUEST, message="the client's answer cannot be read")

    async def _asked(self, question: Question) -> Answer:
        related = ServerMessageMetadata(related_request_id=self._related)
        kind: type[Any] = ListRootsResult
        if isinstance(question, ElicitRequest):
            kind = ElicitResult
            question = _identified(question)
        elif isinstance(question, CreateMessageRequest):
            tools = needed(question) == SAMPLING_TOOLS
            kind = CreateMessageResultWithTools if tools else CreateMessageResult
        answer: Answer = await self._ctx.session.send_request(question, kind, metadata=related)
        return answer

    @property
    def _related(self) -> Any:
        return None if self._over else self._ctx.request_id

    async def _told(self, sending: Any) -> None:
        """What a client is told is worth no call: one that has gone costs nothing."""
        try:
            await sending
        except Exception as error:
            logger.debug("a client was not told: %s", error)


def offers_of(capabilities: ClientCapabilities | None) -> frozenset[str]:
    """What a client with these capabilities can be asked for."""
    if capabilities is None:
        return frozenset()
    found = set()
    if capabilities.sampling is not None:
        found.add(SAMPLING)
        if capabilities.sampling.tools is not None:
            found.add(SAMPLING_TOOLS)
    if capabilities.elicitation is not None:
        if capabilities.elicitation.url is not None:
            found.add(ELICITATION_URL)
        if capabilities.elicitation.form is not None or ELICITATION_URL not in found:
            found.add(ELICITATION)  # an empty capability stands for forms
    if capabilities.roots is not None:
        found.add(ROOTS)
    return frozenset(found)


def needed(question: Question) -> str:
    """What a client must offer to be asked this."""
    if isinstance(question, ListRootsRequest):
        return ROOTS
    if isinstance(question, ElicitRequest):
        return ELICITATION_URL if getattr(question.params, "mode", "form") == "url" else ELICITATION
    tools = question.params.tools is not None or question.params.tool_choice is not None
    return SAMPLING_TOOLS if tools else SAMPLING


def passed_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """A request's or result's `_meta` but what belongs to its own connection."""
    own = {"progressToken", "progress_token"}
    return {
        key: value
        for key, value in (meta or {}).items()
        if key not in own and not key.startswith(_OURS)
    }


def _identified(question: ElicitRequest) -> ElicitRequest:
    """With the identity that the 2025 revision asks of a URL and the next one dropped."""
    params = question.params
    if not isinstance(params, ElicitRequestURLParams) or params.elicitation_id is not None:
        return question
    return ElicitRequest(params=params.model_copy(update={"elicitation_id": secrets.token_hex(8)}))


def _not_offered(what: str) -> ErrorData:
    return ErrorData(
        code=INVALID_REQUEST, message=f"the client that made this call does not offer {what}"
    )
