"""What recorded sessions say: what was searched or found in vain, what was never used."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctrag.agents.session import events
from ctrag.agents.session.events import Event


@dataclass(slots=True)
class SessionReport:
    """Counts over all sessions of a record."""

    sessions: int = 0
    searches: int = 0
    empty: Counter[str] = field(default_factory=Counter)
    """Searches that found nothing, by their text; "" where texts were not recorded."""
    without_call: Counter[str] = field(default_factory=Counter)
    """Searches that found tools of which none was called before the next search."""
    calls: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Failed calls by tool."""
    refused: Counter[str] = field(default_factory=Counter)
    """Calls that were not made, by reason."""
    loops: Counter[str] = field(default_factory=Counter)
    """Loops by tool."""
    found: Counter[str] = field(default_factory=Counter)
    """Searches that found it, by tool."""
    called: Counter[str] = field(default_factory=Counter)
    catalogue: dict[str, int] = field(default_factory=dict)
    """Tokens of the tools that there were to find, by id, as last recorded; empty where that is
    not known."""
    listed_tokens: list[int] = field(default_factory=list)
    """A session each: tokens of all tools, had they been listed."""
    bound_tokens: list[int] = field(default_factory=list)
    """The same sessions: tokens of the tools that they had."""

    @property
    def found_not_called(self) -> list[str]:
        """Tools that were found and never called, most often found first."""
        return [tool for tool, _ in self.found.most_common() if tool not in self.called]

    @property
    def never_found(self) -> list[str]:
        """Tools that no search found and nothing called, by name."""
        return sorted(self.catalogue.keys() - self.found.keys() - self.called.keys())

    @property
    def never_used(self) -> list[str]:
        """Tools that were never called, by name."""
        return sorted((self.catalogue.keys() | self.found.keys()) - self.called.keys())

    @property
    def saved(self) -> float | None:
        """Share of the tools' tokens that searching saved; None where that is not known."""
        listed = sum(self.listed_tokens)
        return 1 - sum(self.bound_tokens) / listed if listed else None

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "sessions": self.sessions,
            "searches": self.searches,
            "empty": dict(self.empty.most_common()),
            "without_call": dict(self.without_call.most_common()),
            "calls": self.calls,
            "failed": dict(self.failed.most_common()),
            "refused": dict(self.refused.most_common()),
            "loops": dict(self.loops.most_common()),
            "found_not_called": self.found_not_called,
            "never_found": self.never_found,
            "never_used": self.never_used,
            "tokens": {
                "listed": sum(self.listed_tokens),
                "bound": sum(self.bound_tokens),
                "saved": self.saved,
            },
        }


@dataclass(slots=True)
class _Open:
    """One session as far as it was read."""

    query: str | None = None
    """Of the last search, while none of its tools was called."""
    offered: frozenset[str] = frozenset()
    listed: int = 0
    bound: dict[str, int] = field(default_factory=dict)


def report(recorded: Iterable[Event], catalogue: Mapping[str, int] | None = None) -> SessionReport:
    """The report of a record's events, in their order.

    Args:
        recorded: As a `JsonLines` recorder wrote them; sessions may be mixed.
        catalogue: Tokens of the tools that there were to find, by id, if the record does not say.
    """
    found = SessionReport(catalogue=dict(catalogue or {}))
    sessions: dict[str, _Open] = {}
    for event in recorded:
        one = sessions.setdefault(event.session, _Open())
        _count(found, one, event)
    for one in sessions.values():
        _unused(found, one)
        if one.listed:
            found.listed_tokens.append(one.listed)
            found.bound_tokens.append(sum(one.bound.values()))
    found.sessions = len(sessions)
    return found


def _count(found: SessionReport, one: _Open, event: Event) -> None:
    given = event.attributes
    tool = str(given.get(events.TOOL, ""))
    match event.event:
        case "ctrag.session.open" | "ctrag.catalogue":
            if isinstance(tools := given.get(events.CATALOGUE), dict):
                found.catalogue = {name: _number(tokens) for name, tokens in tools.items()}
            listed = given.get(events.LISTED_TOKENS)
            one.listed = sum(found.catalogue.values()) if listed is None else _number(listed)
        case "ctrag.search":
            _unused(found, one)
            found.searches += 1
            documents = given.get(events.DOCUMENTS)
            rows = documents if isinstance(documents, list) else []
            one.offered = frozenset(
                str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row
            )
            one.query = str(given.get(events.QUERY, ""))
            found.found.update(one.offered)
            if not one.offered:
                found.empty[one.query] += 1
                one.query = None
        case "ctrag.tool.bind":
            one.bound[tool] = found.catalogue.get(tool, 0)
        case "ctrag.tool.call":
            found.calls += 1
            found.called[tool] += 1
            if events.ERROR in given:
                found.failed[tool] += 1
            if tool in one.offered:
                one.query = None
        case "ctrag.tool.refuse":
            found.refused[str(given.get(events.REASON, ""))] += 1
        case "ctrag.guard.loop":
            found.loops[tool] += 1


def _unused(found: SessionReport, one: _Open) -> None:
    if one.query is not None:
        found.without_call[one.query] += 1
        one.query = None


def _number(value: object) -> int:
    return int(events.number_in(value) or 0)
