"""The scripted sessions: figures that a reader can work out, and a script that fits the toolbox."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.results import ToolHit
from ctrag.agents.search.surfacing import LIMIT, Given
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.tokens import tool_tokens
from ctrag.toolbox import Toolbox
from eval.discovery.sessions import (
    SEARCH_TOOLS,
    Episode,
    Played,
    _profile,
    episodes_from,
    packaged_episodes,
    play,
    session_profile,
)

TOOLS = {name: CatalogueTool(name, "x" * 40) for name in "abcdef"}
COST = tool_tokens(TOOLS["a"])
START = tool_tokens(SEARCH_TOOLS)


@dataclass
class ByLetters:
    """Gives the tools whose letters are in the query, in its order; capitals are only close."""

    asked: list[str] = field(default_factory=list)
    tools: Sequence[CatalogueTool] = tuple(TOOLS.values())

    def give(self, text: str, limit: int) -> Given:
        self.asked.append(text)
        hits = {one: ToolHit(TOOLS[one.lower()], 0.5, 0.5, 0.5) for one in text}
        given = {one: hit for one, hit in hits.items() if one.islower()}
        first = dict([*given.items()][:limit])
        return Given(first, False, [hit for one, hit in hits.items() if one not in first])


def episode(name: str, *turns: tuple[str, str]) -> Episode:
    made = [{"search": search, "tools": list(tools)} for search, tools in turns]
    return Episode.model_validate({"episode": name, "turns": made})


def letters(query: str) -> list[CatalogueTool]:
    return [TOOLS[one] for one in query]


def test_a_session_searches_only_for_what_it_lacks() -> None:
    played = play(episode("one", ("abc", "a"), ("x", "b"), ("bd", "d")), letters)
    assert played.searches == 2
    assert played.discovered == set("abcd")
    assert played.used == played.needed == set("abd")
    assert played.accuracy == 3 / 4
    assert played.reached == 1
    assert played.tokens == (START, *(START + n * COST for n in (3, 3, 4)))
    assert played.bound == (0, 3, 3, 4)


def test_other_words_are_tried_when_the_first_do_not_do() -> None:
    script = {"episode": "one", "turns": [{"search": "a", "again": "b", "tools": ["b"]}]}
    played = play(Episode.model_validate(script), letters)
    assert (played.searches, played.accuracy, played.reached) == (2, 1 / 2, 1)


def test_what_is_not_found_is_not_reached() -> None:
    played = play(episode("one", ("a", "b"), ("f", "a")), letters)
    assert (played.searches, played.reached, played.accuracy) == (1, 1 / 2, 1)


def test_a_full_list_makes_a_session_search_again() -> None:
    talk = episode("one", ("a", "a"), ("b", "b"), ("a", "a"))
    played = play(talk, letters, BindingSettings(capacity=1))
    assert (played.searches, played.accuracy) == (3, 1)
    assert played.bound == (0, 1, 1, 1)


def test_a_list_that_loses_a_tool_breaks_the_prompt_cache_unless_it_is_stable() -> None:
    talk = episode("one", ("a", "a"), ("b", "b"), ("c", "c"))
    assert play(talk, letters).broken == 0, "it only grew"
    assert play(talk, letters, BindingSettings(capacity=1)).broken == 2
    stable = play(talk, letters, BindingSettings(capacity=1, cache_stable=True))
    assert stable.broken == 0
    assert stable.tokens == tuple(START + n * COST for n in range(4))
    profile = session_profile(ByLetters(), [talk], ks=(1,), binding=BindingSettings(capacity=1))
    assert profile["by_results"]["1"]["broken_prefixes"] == 2
    assert profile["cache_stable"]["broken_prefixes"] == 0


def test_the_profile_counts_each_session_once() -> None:
    index = ByLetters()
    assert set(session_profile(index, [episode("one", ("a", "a"))])["by_results"]) == {
        "1",
        "3",
        str(LIMIT),
    }
    index = ByLetters()
    profile = session_profile(
        index,
        [episode("one", ("abcd", "a")), episode("two", ("ef", "e"), ("f", "f"))],
        ks=(1, 2, 4),
    )
    assert index.asked.count("abcd") == 3, "searched once for each k"
    assert profile["static_tokens"] == 6 * COST
    four, two = profile["by_results"]["4"], profile["by_results"]["2"]
    assert four["discovery_accuracy"]["mean"] == round(100 * (1 / 4 + 2 / 2) / 2, 2)
    assert two["discovery_accuracy"]["median"] == 100 * (1 / 2 + 2 / 2) / 2
    assert four["tokens_by_turn"] == [START, START + 3 * COST, START + 2 * COST]
    assert two["searches"] == {"median": 1.0, "mean": 1.0, "most": 1}
    assert profile["by_results"]["1"]["searches"]["most"] == 2


def test_what_is_close_but_not_given_is_not_bound() -> None:
    profile = session_profile(ByLetters(), [episode("one", ("aB", "a"))], ks=(2,))
    assert profile["by_results"]["2"]["discovery_accuracy"]["mean"] == 100


def test_an_episode_that_the_catalogue_cannot_serve_is_named() -> None:
    with pytest.raises(ValueError, match="episodes: one needs 'z', which is not there"):
        session_profile(ByLetters(), [episode("one", ("a", "z"))])
    with pytest.raises(ValueError, match="episodes: there are none to play"):
        session_profile(ByLetters(), [])


def test_requests_become_sessions_of_one_turn() -> None:
    made = episodes_from([("q1", "do a", ["a"]), ("q2", "nothing", []), ("q3", "b, c", ["b", "c"])])
    assert [one.episode for one in made] == ["q1", "q3"]
    assert made[1].turns[0].tools == ("b", "c")


def test_the_packaged_script_needs_only_tools_of_the_toolbox_and_most_of_them() -> None:
    toolbox = {f"{one.app}/{one.api}" for one in Toolbox.packaged()}
    episodes = packaged_episodes()
    needed = {name for one in episodes for turn in one.turns for name in turn.tools}
    assert needed <= toolbox
    assert len(needed) >= 55
    assert len({one.episode for one in episodes}) == len(episodes) == 18


def test_accuracy_is_the_share_of_found_tools_that_were_used() -> None:
    def played(found: str, used: str) -> Played:
        return Played(1, frozenset(found), frozenset(used), frozenset("abc"), (1,), (0,), 0)

    assert played("", "a").accuracy is None
    assert played("abcd", "abz").accuracy == 2 / 4
    assert played("abcd", "ab").reached == 2 / 3


def test_a_profile_rounds_means_and_follows_the_sessions_that_are_that_long() -> None:
    rows = [
        Played(searches, frozenset("ab"), frozenset("a"), frozenset("a"), tokens, bound, broken)
        for searches, tokens, bound, broken in (
            (1, (10, 20), (0, 1), 0),
            (2, (10, 21, 35), (0, 2, 4), 1),
            (2, (11, 24), (0, 2), 0),
        )
    ]
    rows[1] = replace(rows[1], discovered=frozenset("abc"))
    found: Any = _profile(rows, ["x", "y", "z"])
    assert found["searches"] == {"median": 2, "mean": 1.67, "most": 2}
    assert found["tokens_by_turn"] == [10.3, 21.7, 35]  # 31 / 3, 65 / 3, 35 / 1
    assert found["discovered_by_turn"] == [0, 1.7, 4]
    assert found["broken_prefixes"] == 0.33
    assert found["tokens_at_the_end"] == 26.3  # (20 + 35 + 24) / 3
    assert found["discovery_accuracy"] == {
        "median": 50,
        "mean": 44.44,  # 1/2, 1/3, 1/2
        "interval": [33.33, 50],
    }
    assert found["needed_reached"] == {"median": 100, "mean": 100, "interval": [100, 100]}
