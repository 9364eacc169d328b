"""A session's decisions in words, for the page of a gateway and of a recorded session."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ctrag.agents.session import events
from ctrag.agents.session.events import Event
from ctrag.agents.session.report import SessionReport, report

_WORDS = {
    "ctrag.session.open": "session opened",
    "ctrag.session.resume": "session goes on",
    "ctrag.session.close": "session ended",
    "ctrag.search": "searched",
    "ctrag.search.redundant": "searched much the same again",
    "ctrag.tool.bind": "given",
    "ctrag.tool.evict": "taken away",
    "ctrag.tool.left_out": "found, not given",
    "ctrag.tool.pin": "pinned",
    "ctrag.tool.unpin": "unpinned",
    "ctrag.tool.call": "called",
    "ctrag.tool.refuse": "refused",
    "ctrag.guard.loop": "loop stopped",
    "ctrag.guard.clear": "loop forgotten",
    "ctrag.context.estimate": "context measured",
    "ctrag.context.truncate": "history shortened",
    "ctrag.context.rebuild": "context made anew",
}
_REASONS = {
    "not_surfaced": "this session had not found it",
    "evicted": "it was taken away from this session",
    "not_allowed": "whoever calls may not use it",
    "tool_error": "the tool answered with an error",
    "ttl": "long not used",
    "lru": "others were used since",
    "loop": "called in a loop",
    "removed": "it is gone from its server",
    "unloaded": "given back",
    "expired": "the session ended",
}
"""Reasons that are recorded as one word."""
_OF_A_SEARCH = ("ctrag.tool.bind", "ctrag.tool.evict", "ctrag.tool.left_out")
"""Events that a search has for a consequence."""
_BAD = ("ctrag.tool.refuse", "ctrag.guard.loop")
_SHOWN = (
    events.OPERATION, events.QUERY, events.DOCUMENTS, events.TOOL, events.ARGUMENTS, events.ERROR,
    events.REASON, events.CATALOGUE,
)  # fmt: skip
"""Attributes that have a place of their own."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One decision."""

    kind: str
    """The event's name."""
    words: str
    at: str
    """Time of day, UTC."""
    session: str
    about: str
    """The query or the tool."""
    found: tuple[tuple[str, float | None], ...]
    """(tool, score) of a search, best first."""
    milliseconds: float | None
    why: str
    """Why it failed or was refused; empty where it went well."""
    bad: bool
    details: tuple[tuple[str, str], ...]
    given: tuple[str, ...] = ()
    """Tools that this search gave the session."""
    taken: tuple[str, ...] = ()
    """Tools that had to go for them."""
    left_out: tuple[str, ...] = ()
    """Tools that it found and did not give."""
    number: int = 0
    """Its place in the record, by which a page knows it again."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all sessions."""

    sessions: int
    searches: int
    calls: int
    failed: int
    failing: tuple[tuple[str, int], ...]
    """Tools whose calls failed, and how often."""
    refused: int
    empty: int
    """Searches that found nothing."""
    listed: int
    """Tokens of all tools, had they been listed."""
    bound: int
    """Tokens of the tools that the sessions had."""
    saved: float | None
    called: tuple[tuple[str, int], ...]
    never_found: tuple[str, ...]
    without_call: tuple[tuple[str, int], ...]
    vain: tuple[tuple[str, int], ...]
    """Searches that found nothing, and how often."""


def deed(event: Event, number: int = 0) -> Deed:
    """An event in words, with its number in the record."""
    given = event.attributes
    documents = given.get(events.DOCUMENTS)
    rows = (
        [one for one in documents if isinstance(one, dict)] if isinstance(documents, list) else []
    )
    found = tuple((str(one.get("id", "")), events.number_in(one.get("score"))) for one in rows)
    why = str(given.get(events.ERROR) or given.get(events.REASON) or "")
    why = _REASONS.get(why, why)
    details = tuple(
        (name.removeprefix("ctrag."), _plain(value))
        for name, value in given.items()
        if name not in _SHOWN or name == events.ARGUMENTS
    )
    return Deed(
        event.event,
        _WORDS.get(event.event, event.event),
        _time(event.at),
        event.session,
        str(given.get(events.QUERY) or given.get(events.TOOL) or ""),
        found,
        None if event.seconds is None else 1000 * event.seconds,
        why,
        event.event in _BAD or events.ERROR in given,
        details,
        number=number,
    )


def folded(recorded: Iterable[tuple[int, Event]]) -> list[Deed]:
    """Events by their numbers in the record, with what each search gave and took as part of it."""
    told: list[Deed] = []
    search: dict[str, int] = {}
    for number, event in recorded:
        one = deed(event, number)
        row = search.get(one.session)
        if row is not None and one.kind in _OF_A_SEARCH:
            told[row] = _with(told[row], one)
            continue
        search.pop(one.session, None)
        if one.kind == "ctrag.search":
            search[one.session] = len(told)
        told.append(one)
    return told


def _with(search: Deed, one: Deed) -> Deed:
    if one.kind == "ctrag.tool.bind":
        return replace(search, given=(*search.given, one.about))
    if one.kind == "ctrag.tool.evict":
        return replace(search, taken=(*search.taken, one.about))
    return replace(search, left_out=(*search.left_out, one.about))


def summary(recorded: Iterable[Event], sizes: dict[str, int] | None = None) -> Summary:
    """What sessions did all together; `sizes` as for `report`."""
    found: SessionReport = report(recorded, sizes)
    return Summary(
        found.sessions,
        found.searches,
        found.calls,
        found.failed.total(),
        _most(found.failed),
        found.refused.total(),
        found.empty.total(),
        sum(found.listed_tokens),
        sum(found.bound_tokens),
        found.saved,
        _most(found.called),
        tuple(found.never_found),
        _most(found.without_call),
        _most(found.empty),
    )


def by_session(deeds: Sequence[Deed]) -> list[tuple[str, list[Deed]]]:
    """(session, its deeds), in the order in which sessions began."""
    sessions: dict[str, list[Deed]] = {}
    for one in deeds:
        sessions.setdefault(one.session, []).append(one)
    return list(sessions.items())


def _most(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name or "(text not recorded)", count) for name, count in counts.most_common(20))


def _time(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}"
    except (OverflowError, OSError, ValueError):  # a clock that does not count from 1970
        return f"{seconds:.1f}"


def _plain(value: object) -> str:
    from json import dumps

    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
