"""Sessions played from a script: how much of what is found is used, and what it costs.

Section 11.3 and 11.4 of the tool-discovery paper. No model runs: an episode says what its agent
would search for at each turn and which tools the work then takes, so that only search and binding
are measured.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from itertools import zip_longest
from statistics import mean, median
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.surfacing import LIMIT, Given
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.tokens import tool_tokens
from ctrag.agents.session.tool_session import ToolSession
from ctrag.errors import InputError
from eval.core.intervals import bootstrap_interval

SEARCH_TOOLS = CatalogueTool(
    "search_tools",
    "Find tools by what they should do. Tools that are found can be called from then on.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do."},
            "session": {"type": "string", "description": "Handle that the last search gave."},
        },
        "required": ["query"],
    },
)
"""What a dynamic agent starts with."""


class Index(Protocol):
    """What is measured; `ctrag.agents.search.index.ToolIndex` is one."""

    @property
    def tools(self) -> Sequence[CatalogueTool]:
        """The whole catalogue."""
        ...

    def give(self, text: str, limit: int) -> Given:
        """What an agent is given for a query."""
        ...


class ScriptStep(BaseModel):
    """One step of an agent's work."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    search: str = Field(min_length=1)
    """What the agent looks for if it lacks one of the tools."""
    tools: tuple[str, ...] = Field(min_length=1)
    """Ids of the tools that the turn takes, in order."""
    again: str | None = None
    """Other words, for when the first did not find them all."""


class Episode(BaseModel):
    """The script of one session."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    episode: str
    turns: tuple[ScriptStep, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Played:
    """What one session came to."""

    searches: int
    discovered: frozenset[str]
    used: frozenset[str]
    needed: frozenset[str]
    tokens: tuple[int, ...]
    """What the tool list costs when the model is asked: at the start, then in each turn."""
    bound: tuple[int, ...]
    """Discovered tools at these moments."""
    broken: int
    """Turns whose list does not begin with the last turn's: a prompt cache is lost there."""

    @property
    def accuracy(self) -> float | None:
        """Equation 4: share of the discovered tools that were used; None if there are none."""
        if not self.discovered:
            return None
        return len(self.discovered & self.used) / len(self.discovered)

    @property
    def reached(self) -> float:
        """Share of the needed tools that could be called in the end."""
        return len(self.needed & self.used) / len(self.needed)


def packaged_episodes() -> list[Episode]:
    """Eighteen sessions of everyday errands on the 59 APIs of `ctrag/toolbox.yaml`."""
    text = files("eval.discovery").joinpath("episodes.json").read_text(encoding="utf-8")
    return TypeAdapter(list[Episode]).validate_json(text)


def episodes_from(queries: Iterable[tuple[str, str, Sequence[str]]]) -> list[Episode]:
    """Sessions of one turn: a request is searched for unchanged, and its tools are used.

    Args:
        queries: Id, text and tool ids of each; those without a tool are passed over.
    """
    return [
        Episode(episode=name, turns=(ScriptStep(search=text, tools=tuple(tools)),))
        for name, text, tools in queries
        if tools
    ]


def session_profile(
    index: Index,
    episodes: Sequence[Episode],
    *,
    ks: Sequence[int] = (1, 3, LIMIT),
    binding: BindingSettings | None = None,
    always: Sequence[CatalogueTool] = (SEARCH_TOOLS,),
) -> dict[str, JsonValue]:
    """Discovery accuracy and the course of tokens over a session, in per cent and tokens.

    Tokens are characters/4. Every k is played on its own, with what an agent is given of a search
    that may give k tools; the largest is played once more with a cache-stable list.

    Args:
        index: Where the scripted agent searches.
        episodes: What it does.
        ks: Tools that a search gives at most.
        binding: How many tools stay bound; the defaults when None.
        always: What is bound from the start.

    Raises:
        ValueError: There is no episode, or one needs a tool that the catalogue lacks.
    """
    if not episodes:
        raise InputError("episodes: there are none to play")
    known = {tool.id for tool in index.tools}
    for one in episodes:
        for tool_id in (tool_id for turn in one.turns for tool_id in turn.tools):
            if tool_id not in known:
                raise InputError(f"episodes: {one.episode} needs {tool_id!r}, which is not there")

    @cache
    def given(query: str, k: int) -> tuple[CatalogueTool, ...]:
        return tuple(hit.tool for hit in index.give(query, k).hits.values())

    settings = binding or BindingSettings()

    def profile(k: int, settings: BindingSettings) -> JsonValue:
        played = [play(one, partial(given, k=k), settings, always) for one in episodes]
        return _profile(played, [one.episode for one in episodes])

    return {
        "episodes": len(episodes),
        "turns": sum(len(one.turns) for one in episodes),
        "tools": len(known),
        "static_tokens": sum(map(tool_tokens, index.tools)),
        "by_results": {str(k): profile(k, settings) for k in ks},
        "cache_stable": profile(max(ks), replace(settings, cache_stable=True)),
    }


def play(
    episode: Episode,
    search: Callable[[str], Sequence[CatalogueTool]],
    binding: BindingSettings | None = None,
    always: Sequence[CatalogueTool] = (SEARCH_TOOLS,),
) -> Played:
    """Play one session: search for what is missing, then use what is there."""
    session = ToolSession(always=always, binding=binding, clock=lambda: 0.0)
    manager = session.manager
    discovered: set[str] = set()
    used: set[str] = set()
    searches, tokens, bound, broken = 0, [manager.tokens], [0], 0
    for number, turn in enumerate(episode.turns):
        before = manager.tools
        for query in filter(None, (turn.search, turn.again)):
            if all(manager.active(tool_id) for tool_id in turn.tools):
                break
            discovered.update(session.found(query, search(query)).added)
            searches += 1
        broken += manager.tools[: len(before)] != before
        tokens.append(manager.tokens)
        bound.append(len(manager.entries))
        for tool_id in turn.tools:
            if manager.active(tool_id):
                session.finished(tool_id, {"turn": number})
                used.add(tool_id)
    return Played(
        searches=searches,
        discovered=frozenset(discovered),
        used=frozenset(used),
        needed=frozenset(tool_id for turn in episode.turns for tool_id in turn.tools),
        tokens=tuple(tokens),
        bound=tuple(bound),
        broken=broken,
    )


def _profile(played: Sequence[Played], names: Sequence[str]) -> dict[str, JsonValue]:
    accuracy = [
        (100 * one.accuracy, name)
        for one, name in zip(played, names, strict=True)
        if one.accuracy is not None
    ]
    searches = [one.searches for one in played]
    return {
        "discovery_accuracy": _share(
            [value for value, _ in accuracy], [name for _, name in accuracy]
        ),
        "needed_reached": _share([100 * one.reached for one in played], names),
        "searches": {
            "median": median(searches),
            "mean": round(mean(searches), 2),
            "most": max(searches),
        },
        "tokens_by_turn": _course([one.tokens for one in played]),
        "discovered_by_turn": _course([one.bound for one in played]),
        "broken_prefixes": round(mean(one.broken for one in played), 2),
        "tokens_at_the_end": round(mean(one.tokens[-1] for one in played), 1),
    }


def _share(values: Sequence[float], names: Sequence[str]) -> dict[str, JsonValue]:
    """Median and mean over sessions, with the mean's interval."""
    if not values:
        return {}
    interval = bootstrap_interval(values, names)
    bounds: JsonValue = None
    if interval is not None:
        bounds = [round(interval.low, 2), round(interval.high, 2)]
    return {"median": round(median(values), 2), "mean": round(mean(values), 2), "interval": bounds}


def _course(rows: Sequence[Sequence[int]]) -> list[JsonValue]:
    """Mean at the start and in each turn, over the sessions that are that long."""
    columns = zip_longest(*rows)
    return [round(mean(one for one in column if one is not None), 1) for column in columns]
