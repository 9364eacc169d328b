"""One agent's session with a catalogue: what it searches for and calls, within its token budget."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import JsonValue

from ctrag.agents.catalogue.effects import Effect, effect_of
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session import events
from ctrag.agents.session.binding import (
    BindingSettings,
    Clock,
)
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.history import Message
from ctrag.agents.session.outcomes import (
    Finished,
    PreparedContext,
    SearchOutcome,
)
from ctrag.agents.session.recent_calls import RecentCalls
from ctrag.agents.session.searches import OverlapSettings, RecentSearches
from ctrag.agents.session.sent_values import object_of
from ctrag.agents.session.session_tools import Allowed, SessionTools
from ctrag.agents.session.tokens import characters
from ctrag.agents.session.window import room_for_tools, within
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

Result = TypeVar("Result")
EVICTED = "{tool} is no longer in this session; a search for its name brings it back."


class ToolSession(SessionTools):
    """The tools of a session with its searches and calls; safe for several threads.

    Args:
        session_id: Recorded in events.
        principal: Owner of the session; empty where callers are not distinguished.
        always: See `ctrag.agents.session.binding.core_tools`.
        binding: How many tools stay bound, and for how long.
        guard: When a repeated call is a loop.
        overlap: When a search is redundant.
        allowed: Checked at every listing, search and call, also for always-included tools, such
            as `ToolIndex.allowed`, if these are in the index. None allows all.
        record: Receives every decision.
        clock: Seconds since 1970.
        count: Counts the tokens of a text.
        opened: Further attributes of the event that opens the session.

    Example::

        session = ToolSession(principal="ada", allowed=index.allowed)
        session.found(text, [hit.tool for hit in index.search(text, user="ada")])
        result, after = session.call("mail/send_email", arguments, run)
    """

    def __init__(
        self,
        session_id: str = "",
        principal: str = "",
        *,
        always: Sequence[CatalogueTool] = (),
        binding: BindingSettings | None = None,
        guard: GuardSettings | None = None,
        overlap: OverlapSettings | None = None,
        allowed: Allowed | None = None,
        record: events.EventSink = events.ignore,
        clock: Clock = time.time,
        count: CountTokens = characters,
        opened: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(
            session_id,
            principal,
            always=always,
            binding=binding,
            guard=guard,
            allowed=allowed,
            record=record,
            clock=clock,
            count=count,
        )
        self._searches = RecentSearches(overlap, clock=clock)
        self._always = tuple(always)
        self._count = count
        self._calls = RecentCalls(clock)
        self._effects: dict[str, Effect] = {}
        self.searched = False
        """Whether there was a search."""
        self.query = ""
        """What the last search was for."""
        ids: list[JsonValue] = [tool.id for tool in always]
        self._events.emit("ctrag.session.open", {"ctrag.tools": ids, **(opened or {})})

    @property
    def history(self) -> tuple[str, ...]:
        """Ids of the tools called since the last pause, oldest first: what next-tool probabilities
        start from."""
        with self._lock:
            return self._calls.since_pause()

    def found(
        self,
        query: str,
        tools: Iterable[CatalogueTool],
        *,
        scores: Sequence[float] = (),
        seconds: float | None = None,
        trace: Mapping[str, object] | None = None,
    ) -> SearchOutcome:
        """Bind a search's results, including tools that the guard evicted and that are found again.

        Args:
            query: What was searched for.
            tools: The results, best first; those not allowed are skipped.
            scores: Of the results, for the event; as many as tools, or none.
            seconds: Duration of the search, for the event.
            trace: The search's steps, for the event, such as `ToolSearch.trace`.

        Raises:
            ValueError: There are scores, but not one a tool.
        """
        with self._lock:
            results = list(tools)
            if len(scores) not in (0, len(results)):
                raise InputError(
                    f"scores: {len(scores)} for {len(results)} tools; give all or none"
                )
            self.searched, self.query = True, query
            self._events.searched(query, [tool.id for tool in results], scores, seconds, trace)
            visible = [tool for tool in results if self._may(tool.id)]
            for tool_id in dict.fromkeys(tool.id for tool in results if tool not in visible):
                self._events.refused(tool_id, "not_allowed")
            overlap = self._searches.add([tool.id for tool in visible])
            if overlap is not None:
                self._events.repeated(overlap)
            binding = self._bind(visible)
            now_active = tuple(tool for tool in visible if self.manager.active(tool.id))
            for tool_id in self.guard.rediscovered(tool.id for tool in now_active):
                self._events.emit("ctrag.guard.clear", {events.TOOL: tool_id})
            return SearchOutcome(
                tools=now_active,
                added=binding.added,
                evicted=tuple(one.tool_id for one in binding.evicted),
                left_out=binding.left_out,
                note=overlap.note if overlap else None,
            )

    def finished(
        self,
        tool_id: str,
        arguments: Mapping[str, Any],
        *,
        error: str | None = None,
        seconds: float | None = None,
        answer: str | None = None,
    ) -> Finished:
        """Record a call that has run; the tool of a loop is evicted now.

        Args:
            tool_id: What was called; as for `check`.
            arguments: Of the call, by name.
            error: Type of the failure, such as an exception's name; None if it succeeded.
            seconds: How long it took.
            answer: What it returned, as text, for the guard; it is not kept.
        """
        with self._lock:
            tool_id = self.id_of(tool_id)
            self._events.called(tool_id, arguments, error, seconds)
            self._calls.add(tool_id)
            tool = self.manager.active(tool_id)
            if tool and self.manager.use(tool_id):
                self._events.emit("ctrag.tool.pin", {events.TOOL: tool_id, events.REASON: "hot"})
            if tool:
                self._effects[tool_id] = effect_of(tool)
            effect = self._effects.get(tool_id, "unknown")
            loop = self.guard.called(tool_id, arguments, effect=effect, failed=error, answer=answer)
            if loop is None:
                return Finished()
            self._events.looped(loop)
            if not loop.evicts or not self.unload(tool_id, "loop"):
                return Finished(loop.guidance, True)
            self.guard.evict(tool_id)
            return Finished(f"{loop.guidance} {EVICTED.format(tool=tool_id)}", True, tool_id)

    def call(
        self,
        tool_id: str,
        arguments: Mapping[str, Any] | str | None,
        run: Callable[[CatalogueTool, Mapping[str, Any]], Result],
    ) -> tuple[Result, Finished]:
        """Check, run and record one call; what `run` raises is recorded and re-raised.

        Args:
            tool_id: As for `check`.
            arguments: By name; or their JSON text, or nothing, as models send them.
            run: Makes the call.

        Raises:
            ToolRefused: As for `check`; then nothing has run.
            ValueError: The arguments are no object; then nothing has run.
        """
        tool = self.check(tool_id)
        tool_id = tool.id
        arguments = arguments if isinstance(arguments, Mapping) else object_of(arguments)
        began = time.perf_counter()
        try:
            result = run(tool, arguments)
        except Exception as error:
            spent = time.perf_counter() - began
            self.finished(tool_id, arguments, error=type(error).__name__, seconds=spent)
            raise
        spent = time.perf_counter() - began
        after = self.finished(tool_id, arguments, seconds=spent, answer=repr(result))
        return result, after

    def prepare(
        self, messages: Sequence[Message], *, window: int, output: int = 1024
    ) -> PreparedContext:
        """The model's next input, within its window.

        Discovered tools get the tokens that messages and answer leave, and at least a tenth of the
        window; then the history is cut to the tokens that the tools leave.

        Args:
            messages: The conversation, see `ctrag.agents.session.history`.
            window: Maximum tokens of the model's input and output.
            output: Tokens to reserve for its answer.

        Raises:
            ValueError: The window is no larger than the answer.
        """
        room = room_for_tools(messages, self._always, window, output, self._count)
        with self._lock:
            self._record_evictions(self.manager.set_budget(room))
            ready = within(messages, self.tools, window, output, self._count)
            self._events.estimated(ready.estimate)
            if ready.dropped or ready.shortened:
                self._events.truncated(ready.dropped, ready.shortened)
            return ready

    def offered_catalogue(self, attributes: Mapping[str, JsonValue]) -> None:
        """Record what there is to find, where that has changed since the session opened."""
        self._events.emit("ctrag.catalogue", attributes)

    def closed(self, why: str) -> None:
        """Record that the session has ended."""
        self._events.emit("ctrag.session.close", {events.REASON: why})
