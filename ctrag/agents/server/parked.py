"""Calls of clients of the 2026 revision that wait for an answer of the client.

That revision has no requests from server to client. A call that needs an answer ends with the
question and a state; the client makes it again with both. Meanwhile the call runs on here.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.types import INVALID_REQUEST, ErrorData, InputRequiredResult

from ctrag.agents.server.answers import CallAnswer
from ctrag.agents.server.channel import Answer, Channel, ClientChannel, Question, needed
from ctrag.errors import InputError

PATIENCE = 900.0
"""Seconds that a question waits for the client."""

Work = Callable[[Channel], Awaitable[CallAnswer]]


class ParkedCalls:
    """The calls that wait, by their state."""

    def __init__(self) -> None:
        self._calls: dict[str, _Parked] = {}

    async def start(
        self, tasks: TaskGroup, ctx: "ServerRequestContext[Any]", owner: str, work: Work
    ) -> CallAnswer | InputRequiredResult:
        """Run a call until it has its answer, or a question for the client.

        Args:
            tasks: Where the call goes on while the client is asked.
            ctx: The request.
            owner: Who may go on with it.
            work: Makes the call.
        """
        call = _Parked(ctx, owner)
        tasks.start_soon(call.run, work)
        return await self._next(call, ctx)

    async def resume(
        self, ctx: "ServerRequestContext[Any]", owner: str, state: str, answers: dict[str, Any]
    ) -> CallAnswer | InputRequiredResult:
        """Go on with a call that has asked.

        Raises:
            ValueError: No call of this caller waits with that state.
        """
        call = self._calls.get(state)
        if call is None or call.owner != owner:
            raise InputError(
                "request_state: no call waits for this answer any more; make the call again"
            )
        del self._calls[state]
        call.answered(answers)
        return await self._next(call, ctx)

    async def _next(
        self, call: "_Parked", ctx: "ServerRequestContext[Any]"
    ) -> CallAnswer | InputRequiredResult:
        call.attach(ctx)
        try:
            asked = await call.next()
        except anyio.get_cancelled_exc_class():
            call.scope.cancel()
            raise
        finally:
            call.over()
        if asked is None:
            return call.result()
        state = secrets.token_urlsafe(24)
        self._calls = {key: one for key, one in self._calls.items() if not one.done}
        self._calls[state] = call
        return InputRequiredResult(input_requests=asked, request_state=state)


@dataclass(eq=False, slots=True)
class _Waiting:
    question: Question
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None


class _Parked(ClientChannel):
    def __init__(self, ctx: "ServerRequestContext[Any]", owner: str) -> None:
        super().__init__(ctx)
        self.owner = owner
        self.scope = anyio.CancelScope()
        self.done = False
        self._wake = anyio.Event()
        self._open: dict[str, _Waiting] = {}
        self._questions = 0
        self._answer: CallAnswer | None = None
        self._error: Exception | None = None

    async def run(self, work: Work) -> None:
        with self.scope:
            try:
                self._answer = await work(self)
            except Exception as error:
                self._error = error
        self.done = True
        self._wake.set()

    def attach(self, ctx: "ServerRequestContext[Any]") -> None:
        self._ctx, self._over = ctx, False

    async def ask(self, question: Question) -> Answer:
        """See `Channel`."""
        if needed(question) not in self.offers:
            return await Channel.ask(self, question)
        self._questions += 1
        key, waiting = f"question-{self._questions}", _Waiting(question)
        self._open[key] = waiting
        self._wake.set()
        with anyio.move_on_after(PATIENCE):
            await waiting.answered.wait()
        self._open.pop(key, None)
        missing = ErrorData(code=INVALID_REQUEST, message="the client gave no answer")
        return missing if waiting.answer is None else waiting.answer

    def answered(self, answers: dict[str, Any]) -> None:
        for key, answer in answers.items():
            if (waiting := self._open.pop(key, None)) is not None:
                waiting.answer = answer
                waiting.answered.set()

    async def next(self) -> dict[str, Any] | None:
        """The open questions, or None when the call is done."""
        while not (self.done or self._open):
            self._wake = anyio.Event()
            await self._wake.wait()
        return None if self.done else {key: one.question for key, one in self._open.items()}

    def result(self) -> CallAnswer:
        if self._error is not None:
            raise self._error
        if self._answer is None:
            raise InputError("the call was cancelled")
        return self._answer
