"""Sends a session's events to OpenTelemetry; needs the extra `otel`.

Searches and calls become spans, decisions become log records with an event name, both under the
trace that is current when they happen.
"""

import json
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ctrag.agents.session import events
from ctrag.agents.session.events import Event
from ctrag.extras import need

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import TracerProvider

Attribute = str | bool | int | float | list[str]
_SCOPE = "ctrag.session"
_NANOSECONDS = 1_000_000_000


class OpenTelemetry:
    """A sink for `ToolSession(record=…)`.

    Args:
        tracer_provider: Where spans go; None for the process's own.
        logger_provider: Where decisions go; None for the process's own.
        content: Whether queries and arguments are sent too.

    Raises:
        MissingExtra: The extra is not installed; the message gives the command to install it.
    """

    def __init__(
        self,
        tracer_provider: "TracerProvider | None" = None,
        logger_provider: "LoggerProvider | None" = None,
        *,
        content: bool = False,
    ) -> None:
        need("telemetry", "opentelemetry", extra="otel")
        from opentelemetry import _logs, trace

        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        self._logger = _logs.get_logger(_SCOPE, logger_provider=logger_provider)
        self._kind = trace.SpanKind
        self._failed = trace.Status(trace.StatusCode.ERROR)
        self._content = content

    def __call__(self, event: Event) -> None:
        """Send one event."""
        given = event.attributes if self._content else events.without_content(event.attributes)
        given = events.without_definitions(given)  # too large for a span or a log record
        attributes = {name: _attribute(value) for name, value in given.items()}
        if event.session:
            attributes[events.CONVERSATION] = event.session
        if events.OPERATION in attributes:
            self._span(event, attributes)
        else:
            self._log(event, attributes)

    def _span(self, event: Event, attributes: dict[str, Attribute]) -> None:
        end = int(event.at * _NANOSECONDS)
        began = end - int((event.seconds or 0.0) * _NANOSECONDS)
        span = self._tracer.start_span(
            _span_name(attributes),
            kind=self._kind.INTERNAL,
            attributes=attributes,
            start_time=began,
        )
        if events.ERROR in attributes:
            span.set_status(self._failed)
        span.end(end)

    def _log(self, event: Event, attributes: dict[str, Attribute]) -> None:
        from opentelemetry._logs import LogRecord, SeverityNumber

        self._logger.emit(
            LogRecord(
                timestamp=int(event.at * _NANOSECONDS),
                severity_number=SeverityNumber.INFO,
                event_name=event.event,
                attributes=attributes,
            )
        )


def _span_name(attributes: dict[str, Attribute]) -> str:
    """Span name by the conventions: the operation and its target."""
    operation = str(attributes[events.OPERATION])
    return f"{operation} {attributes.get(events.TOOL, 'tools')}"


def _attribute(value: JsonValue) -> Attribute:
    """Scalars and lists of strings as they are; the rest as JSON."""
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    return json.dumps(value, ensure_ascii=False)
