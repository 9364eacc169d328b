"""A running gateway to look at: its servers, what is searched, given, called and refused."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.servers import SELF
from ctrag.agents.session.events import Event
from ctrag.agents.session.tokens import tool_tokens
from ctrag.web.answers import not_found, static_files
from ctrag.web.deeds import Deed, Summary, folded, summary
from ctrag.web.guard import Guard
from ctrag.web.pages import page

PATH = "/page"
KEPT = 20_000
"""Events that are kept; with the older ones their sessions are forgotten."""
SHOWN = 60
"""Deeds that are shown, the newest first."""
_ALWAYS = ("ctrag.session.open", "ctrag.context.estimate")
"""Events that say nothing to somebody who looks on."""


class Watched:
    """Keeps a gateway's latest events: a sink, safe for several threads."""

    def __init__(self, kept: int = KEPT) -> None:
        self._events: deque[Event] = deque(maxlen=kept)
        self._lock = threading.Lock()
        self.count = 0
        """Events so far."""

    def __call__(self, event: Event) -> None:
        """Keep an event."""
        with self._lock:
            self._events.append(event)
            self.count += 1

    def events(self) -> list[Event]:
        """The events that are kept, oldest first."""
        with self._lock:
            return list(self._events)


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server behind the gateway."""

    name: str
    state: str
    """`up`, `waiting` or `down`."""
    why: str
    tools: int


def gateway_pages(gateway: Gateway, watched: Watched, guard: Guard) -> Mount:
    """The pages of a gateway, behind the guard, at `PATH`."""

    async def show(request: Request) -> Response:
        values = await run_in_threadpool(state, gateway, watched)
        return page("gateway.html.j2", **values)

    async def part(request: Request) -> Response:
        if request.query_params.get("count") == _mark(gateway, watched):
            return Response(status_code=204)
        values = await run_in_threadpool(state, gateway, watched)
        return page("gateway_state.html.j2", **values)

    app = Starlette(
        routes=[Route("/", show), Route("/state", part), static_files()],
        exception_handlers={404: not_found},
    )
    return Mount(PATH, guard.protect(app))


def state(gateway: Gateway, watched: Watched) -> dict[str, Any]:
    """What the page shows."""
    recorded = watched.events()
    sizes = {one.id: tool_tokens(one) for one in gateway.index.tools if one.id != SELF.id}
    first = watched.count - len(recorded)
    numbered = [(first + at, one) for at, one in enumerate(recorded) if one.event not in _ALWAYS]
    deeds: list[Deed] = folded(numbered[-12 * SHOWN :])
    told: Summary = summary(recorded, sizes)
    return {
        "root": PATH,
        "count": _mark(gateway, watched),
        "servers": servers(gateway),
        "tools": len(sizes),
        "open_sessions": len(gateway.sessions),
        "summary": told,
        "deeds": deeds[: -SHOWN - 1 : -1],
        "several": len({one.session for one in deeds}) > 1,
    }


def servers(gateway: Gateway) -> list[ServerState]:
    """The servers by name, and what is left out of the file."""
    down = gateway.unavailable()
    found = [
        ServerState(
            name,
            "up" if one.down is None else "waiting" if name not in down else "down",
            "" if one.down is None else one.down,
            len(one.tools),
        )
        for name, one in gateway.servers.items()
    ]
    known = set(gateway.servers)
    found += [
        ServerState(name, "left out", why, 0) for name, why in down.items() if name not in known
    ]
    found += [
        ServerState(name, "up" if why is None else "down", why or "", 0)
        for name, why in gateway.registries_down().items()
    ]
    return found


def _mark(gateway: Gateway, watched: Watched) -> str:
    """Changes whenever the page would."""
    states = ",".join(f"{one.name}:{one.state}:{one.tools}" for one in servers(gateway))
    return f"{watched.count}-{len(gateway.sessions)}-{hash(states) & 0xFFFFFFFF:x}"
