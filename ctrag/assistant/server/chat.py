"""The assistant as a model of OpenAI's chat API: `/v1/models` and `/v1/chat/completions`."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ctrag.assistant.server.problems import Defect, failed, failed_body, misdirected, refused
from ctrag.assistant.server.remembered import Remembered, Reply, Said
from ctrag.assistant.server.side_tasks import side_task
from ctrag.assistant.server.told import failure
from ctrag.errors import CtragError, InputError
from ctrag.text.terminal import message, note

MODEL = "ctrag"
LARGEST = 4_000_000
"""Bytes of a request at most."""
SIGN_OF_LIFE = 10.0
"""Seconds after which a stream that waits shows that it is alive."""
TASK = "### Task:"
"""How Open WebUI begins what it wants of a model for itself, and what it puts files into."""


class _Part(BaseModel):
    type: str
    text: str | None = None


class _Message(BaseModel):
    role: str
    content: str | list[_Part] | None = None

    def text(self) -> str:
        """Its text, without pictures, thoughts and the like."""
        if not isinstance(self.content, list):
            return self.content or ""
        return "\n".join(one.text or "" for one in self.content if one.type == "text")

    def text_alone(self) -> str:
        """Its text; ValueError where there is something else."""
        if isinstance(self.content, list):
            kinds = {one.type for one in self.content} - {"text"}
            if kinds:
                raise InputError(f"messages: content: only text is read, not {min(kinds)!r}")
        return self.text()


class _StreamOptions(BaseModel):
    include_usage: bool | None = None


class _Wanted(BaseModel):
    """A request; what is left out here has no meaning for an assistant and is not read."""

    model: str
    messages: list[_Message]
    n: int | None = None
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    response_format: Any = None
    tool_choice: Any = None
    function_call: Any = None

    def said(self) -> tuple[list[Said], str]:
        """What was said before, and what is said now.

        Raises:
            ValueError: The last message is not the user's, or not text.
        """
        if self.n not in (None, 1):
            raise InputError("n: there is one answer, so it must be 1")
        self._refuse_what_is_no_text()
        talk = [one for one in self.messages if one.role in ("user", "assistant")]
        if not talk or talk[-1].role != "user":
            raise InputError(
                "messages: the last one must be the user's; an answer cannot be continued"
            )
        # Only what is said now: a picture further up was refused when it came, and clients keep it.
        text = talk[-1].text_alone()
        if text.lstrip().startswith(TASK) and "<context>" in text:
            raise InputError(
                "messages: files and web pages that are attached are not read here; take them "
                "out of the conversation (`ctrag import` reads calendars, mails and the like)"
            )
        instructions = [one.text() for one in self.messages if one.role in ("system", "developer")]
        if side_task(instructions, text):
            raise InputError(
                "messages: this is a task of a chat page for itself, and the assistant only does "
                "what its person asks; turn such tasks off, or give them another model"
            )
        return [(one.role, one.text()) for one in talk[:-1]], text

    def _refuse_what_is_no_text(self) -> None:
        """A program that needs JSON or a call could not use the answer, and the act would be done.

        Raises:
            ValueError: Words are no answer to it.
        """
        form = self.response_format
        kind = form.get("type", "text") if isinstance(form, dict) else form
        if kind not in (None, "text"):
            raise InputError(f"response_format: answers are text, not {kind!r}")
        for name in ("tool_choice", "function_call"):
            wanted = getattr(self, name)
            if wanted not in (None, "auto", "none"):
                raise InputError(
                    f"{name}: the assistant calls its own tools alone, so it must be 'auto' or "
                    "'none'"
                )


@dataclass(slots=True)
class ChatEndpoint:
    """The routes of one assistant.

    Args:
        talks: Its conversations.
        security: Which hosts and origins are answered; all when None.
        tokens: Whether a verified bearer token is needed.
    """

    talks: Remembered
    security: TransportSecuritySettings | None = None
    tokens: bool = False
    _one: anyio.Lock = field(default_factory=anyio.Lock)
    _running: "set[asyncio.Task[Reply]]" = field(default_factory=set)

    def routes(self) -> list[Route]:
        """For a Starlette application."""
        return [
            Route("/v1/models", self._models, methods=["GET"]),
            Route("/v1/models/{name:path}", self._model, methods=["GET"]),
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
        ]

    async def _models(self, request: Request) -> Response:
        barred = await self._barred(request)
        return barred or JSONResponse({"object": "list", "data": [_described()]})

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        if not name:  # the list, with a slash
            return await self._models(request)
        barred = await self._barred(request)
        if barred is None and name != MODEL:
            barred = _no_model(name)
        return barred or JSONResponse(_described())

    async def _complete(self, request: Request) -> Response:
        barred = await self._barred(request)
        if barred is not None:
            return barred
        body = await _body(request)
        if body is None:
            return refused(413, f"the request has more than {LARGEST} bytes")
        try:
            wanted = _Wanted.model_validate_json(body)
            history, text = wanted.said()
        except ValidationError as error:
            problem = error.errors(include_input=False)[0]
            where = ".".join(str(one) for one in problem["loc"]) or "body"
            return refused(400, message(f"{where}: {problem['msg']}"))
        except InputError as error:
            return refused(400, failure(error))
        if wanted.model != MODEL:
            return _no_model(wanted.model)
        task = asyncio.create_task(self._answer(history, text))
        # It goes on where the client does not wait: what was asked for is done, and told when the
        # client asks again.
        self._running.add(task)
        task.add_done_callback(self._ended)
        made = _Completion()
        if wanted.stream:
            usage = wanted.stream_options is not None and bool(wanted.stream_options.include_usage)
            # A proxy that waits for more would keep the signs of life back.
            headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
            events = _events(made, task, usage)
            return StreamingResponse(events, media_type="text/event-stream", headers=headers)
        try:
            return JSONResponse(made.whole(await asyncio.shield(task)))
        except (CtragError, OSError) as error:
            return failed(error)

    def _ended(self, task: "asyncio.Task[Reply]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # asyncio would complain of one that no client waited for

    async def _answer(self, history: list[Said], text: str) -> Reply:
        async with self._one:
            try:
                return await run_sync(self.talks.say, history, text)
            except (CtragError, OSError):
                raise
            except Exception as error:  # a defect costs the turn, and is told as one
                said = f"Something is wrong in ctrag: {type(error).__name__}: {failure(error)}"
                note(said)
                raise Defect(said) from error

    async def _barred(self, request: Request) -> Response | None:
        check = TransportSecurityMiddleware(self.security)
        barred = await check.validate_request(request, is_post=request.method == "POST")
        if barred is not None:
            return misdirected(request, barred.status_code)
        if self.tokens and not isinstance(request.user, AuthenticatedUser):
            return refused(401, "a bearer token of --access is needed", "invalid_api_key")
        return None


async def _body(request: Request) -> bytes | None:
    """What was sent; None where it is too large, whatever its headers say."""
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > LARGEST:
            return None
    return bytes(read)


@dataclass(frozen=True, slots=True)
class _Completion:
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, reply: Reply) -> dict[str, Any]:
        said = {"role": "assistant", "content": reply.text, "refusal": None}
        choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], **_beside(reply)}

    def chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice], **more})

    def usage(self) -> str:
        return _event({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage()})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": MODEL}


async def _events(
    made: _Completion, task: "asyncio.Task[Reply]", usage: bool
) -> AsyncIterator[str]:
    more: dict[str, Any] = {"usage": None} if usage else {}  # the last chunk counts
    yield made.chunk({"role": "assistant", "content": ""}, **more)
    while not (await asyncio.wait({task}, timeout=SIGN_OF_LIFE))[0]:
        yield ": working\n\n"
    try:
        reply = task.result()
    except (CtragError, OSError) as error:
        yield _event(failed_body(error))
        return
    yield made.chunk({"content": reply.text}, **more)
    yield made.chunk({}, "stop", **more, ctrag={"asks": reply.asks})
    if usage:
        yield made.usage()
    yield "data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content, ensure_ascii=False)}\n\n"


def _beside(reply: Reply) -> dict[str, Any]:
    return {"usage": _usage(), "ctrag": {"asks": reply.asks}}


def _usage() -> dict[str, int]:
    """Nothing is counted: most turns need no language model."""
    return {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _described() -> dict[str, Any]:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": "ctrag"}


def _no_model(name: str) -> Response:
    said = f"model: {name!r} is not served here; the assistant is the model {MODEL!r}"
    return refused(404, message(said), "model_not_found")
