"""Emits a session's decisions as events."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from ctrag.agents.session import events
from ctrag.agents.session.binding import Binding, Clock, Eviction
from ctrag.agents.session.events import Event, EventName, EventSink
from ctrag.agents.session.guard import CallLoop
from ctrag.agents.session.outcomes import Reason, TokenEstimate
from ctrag.agents.session.searches import Overlap

_log = logging.getLogger(__name__)


class SessionRecorder:
    """Builds the events. A failing sink loses its event with a warning, never a call's result."""

    def __init__(self, session_id: str, sink: EventSink, clock: Clock) -> None:
        self._session, self._sink, self._clock = session_id, sink, clock
        self._silent = sink is events.ignore

    def emit(
        self,
        name: EventName,
        attributes: Mapping[str, JsonValue] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Pass one event to the sink."""
        if self._silent:
            return
        try:
            self._sink(
                Event(
                    event=name,
                    at=self._clock(),
                    session=self._session,
                    attributes=dict(attributes or {}),
                    seconds=seconds,
                )
            )
        except Exception as error:
            _log.warning("%s is lost: %s: %s", name, type(error).__name__, error)

    def searched(
        self,
        query: str,
        found: Sequence[str],
        scores: Sequence[float],
        seconds: float | None,
        trace: Mapping[str, object] | None = None,
    ) -> None:
        """A search, with its results, best first, and its steps."""
        if self._silent:
            return
        documents: list[JsonValue] = [{"id": tool_id} for tool_id in found]
        if scores:
            documents = [
                {"id": tool_id, "score": round(float(score), 6)}
                for tool_id, score in zip(found, scores, strict=True)
            ]
        attributes: dict[str, JsonValue] = {
            events.OPERATION: "retrieval",
            events.QUERY: query.encode("utf-8", "replace").decode(),
            events.DOCUMENTS: documents,
            **{events.STEP + name: _plain(value) for name, value in (trace or {}).items()},
        }
        self.emit("ctrag.search", attributes, seconds)

    def repeated(self, overlap: Overlap) -> None:
        """A search that overlaps with a recent one."""
        attributes: dict[str, JsonValue] = {
            "ctrag.tools": list(overlap.tool_ids),
            "ctrag.overlap": overlap.ratio,
        }
        self.emit("ctrag.search.redundant", attributes)

    def bound(self, binding: Binding) -> None:
        """What happened to found tools."""
        for tool_id in binding.added:
            self.emit("ctrag.tool.bind", {events.TOOL: tool_id})
        for tool_id in binding.left_out:
            self.emit("ctrag.tool.left_out", {events.TOOL: tool_id, events.REASON: "no_room"})
        self.evicted(binding.evicted)

    def evicted(self, evictions: Iterable[Eviction]) -> None:
        """Tools that were evicted."""
        for one in evictions:
            self.emit("ctrag.tool.evict", {events.TOOL: one.tool_id, events.REASON: one.why})

    def called(
        self,
        tool_id: str,
        arguments: Mapping[str, Any],
        error: str | None,
        seconds: float | None,
    ) -> None:
        """A call that has run; `error` is the kind of its failure."""
        attributes: dict[str, JsonValue] = {
            events.OPERATION: "execute_tool",
            events.TOOL: tool_id,
            events.ARGUMENTS: _as_json(arguments),
        }
        if error is not None:
            attributes[events.ERROR] = error
        self.emit("ctrag.tool.call", attributes, seconds)

    def refused(self, tool_id: str, reason: Reason) -> None:
        """A call that was not made."""
        self.emit("ctrag.tool.refuse", {events.TOOL: tool_id, events.REASON: reason})

    def looped(self, loop: CallLoop) -> None:
        """A call that was repeated too often."""
        attributes: dict[str, JsonValue] = {
            events.TOOL: loop.tool_id,
            events.REASON: loop.mechanism,
            "ctrag.guard.count": loop.count,
            "ctrag.guard.arguments": loop.arguments,
        }
        self.emit("ctrag.guard.loop", attributes)

    def estimated(self, estimate: TokenEstimate) -> None:
        """Size of the model's input."""
        attributes: dict[str, JsonValue] = {
            "ctrag.tokens.tools": estimate.tools,
            "ctrag.tokens.messages": estimate.messages,
            "ctrag.tokens.output": estimate.output,
            "ctrag.tokens.window": estimate.window,
            "ctrag.tokens.by_characters": estimate.by_characters,
        }
        self.emit("ctrag.context.estimate", attributes)

    def truncated(self, dropped: int, shortened: int) -> None:
        """Messages that were dropped or shortened."""
        attributes: dict[str, JsonValue] = {"ctrag.dropped": dropped, "ctrag.shortened": shortened}
        self.emit("ctrag.context.truncate", attributes)


def _plain(value: object) -> JsonValue:
    """A step's value as JSON: NumPy scalars as numbers."""
    plain: JsonValue = json.loads(json.dumps(value, default=_number))
    return plain


def _number(value: Any) -> JsonValue:
    return float(value) if hasattr(value, "__float__") else repr(value)


def _as_json(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON text; values that JSON lacks as their `repr`."""
    try:
        return json.dumps(dict(arguments), default=repr)
    except (RecursionError, TypeError, ValueError) as error:
        return json.dumps({"unwritable": type(error).__name__})
