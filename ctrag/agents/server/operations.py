"""What runs a server asks of it: is it alive, may it be sent callers, what has it done.

All three are answered without a token, so they hold no name of a server, tool or caller.
"""

import threading
from collections import Counter
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from ctrag.agents.server.gateway import Gateway
from ctrag.agents.session import events
from ctrag.agents.session.events import Event
from ctrag.version import __version__

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms, in seconds."""
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TIMED = {
    "ctrag.search": ("ctrag_search_seconds", "Time that searches took."),
    "ctrag.tool.call": ("ctrag_call_seconds", "Time that calls of tools took."),
}
_COUNTED = {
    "ctrag.session.open": ("ctrag_sessions_opened_total", "Sessions opened."),
    "ctrag.session.close": ("ctrag_sessions_closed_total", "Sessions ended."),
    "ctrag.tool.bind": ("ctrag_tools_bound_total", "Tools that searches gave to sessions."),
    "ctrag.tool.refuse": ("ctrag_calls_refused_total", "Calls that were not made."),
    "ctrag.guard.loop": ("ctrag_loops_total", "Calls repeated until the guard took the tool away."),
}


class Metrics:
    """Counts a server's decisions: a sink of events, safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._nothing = 0
        self._seconds: Counter[str] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._sums: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        """Count an event; what no metric counts is ignored."""
        with self._lock:
            self._counts[event.event] += 1
            if event.event == "ctrag.search" and not event.attributes.get(events.DOCUMENTS):
                self._nothing += 1
            if event.event == "ctrag.tool.call":
                self._outcomes[str(event.attributes.get(events.ERROR, "ok"))] += 1
            if event.event in _TIMED and event.seconds is not None:
                self._seconds[event.event] += 1
                self._sums[event.event] = self._sums.get(event.event, 0.0) + event.seconds
                for bound in BUCKETS:
                    self._buckets[event.event, bound] += event.seconds <= bound

    def text(self, gateway: Gateway) -> str:
        """All metrics in Prometheus' text format."""
        states = Counter("up" if one.down is None else "down" for one in gateway.servers.values())
        with self._lock:
            lines = [
                *_metric(
                    "ctrag_info", "gauge", "The version.", {f'{{version="{__version__}"}}': 1}
                ),
                *_metric(
                    "ctrag_ready", "gauge", "1 once every server was tried.", {"": gateway.ready}
                ),
                *_metric(
                    "ctrag_servers",
                    "gauge",
                    "Servers behind the tools; one that waits for its first call is down.",
                    {f'{{state="{one}"}}': states[one] for one in ("up", "down")},
                ),
                *_metric("ctrag_sessions", "gauge", "Open sessions.", {"": len(gateway.sessions)}),
                *_metric(
                    "ctrag_searches_without_tool_total",
                    "counter",
                    "Searches that gave no tool.",
                    {"": self._nothing},
                ),
                *_metric(
                    "ctrag_calls_total",
                    "counter",
                    "Calls of tools by outcome.",
                    {f'{{outcome="{one}"}}': n for one, n in sorted(self._outcomes.items())},
                ),
            ]
            for event, (name, meaning) in _COUNTED.items():
                lines += _metric(name, "counter", meaning, {"": self._counts[event]})
            for event, (name, meaning) in _TIMED.items():
                rows: dict[str, float] = {
                    f'_bucket{{le="{bound:g}"}}': self._buckets[event, bound] for bound in BUCKETS
                }
                rows['_bucket{le="+Inf"}'] = rows["_count"] = self._seconds[event]
                rows["_sum"] = self._sums.get(event, 0.0)
                lines += _metric(name, "histogram", meaning, rows)
        return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, meaning: str, rows: dict[str, float]) -> Sequence[str]:
    head = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    return [*head, *(f"{name}{label} {float(value):g}" for label, value in rows.items())]


def routes(gateway: Gateway, metrics: Metrics | None) -> list[Route]:
    """`/healthz`, `/readyz` and, with `metrics`, `/metrics`."""

    async def healthz(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> JSONResponse:
        ready = gateway.ready
        return JSONResponse({"ready": ready}, status_code=200 if ready else 503)

    found = [Route("/healthz", healthz), Route("/readyz", readyz)]
    if metrics is not None:

        async def shown(request: Request) -> PlainTextResponse:
            return PlainTextResponse(metrics.text(gateway), media_type=_CONTENT_TYPE)

        found.append(Route("/metrics", shown))
    return found
