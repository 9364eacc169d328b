"""Claims about choosing among the calls that are composed of one request."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.call_choice import FEATURES, CallChoice, features_of
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.compose import Composed, covered
from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.embedded import EmbeddedPlanner
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.planning.planner_prompt import PlannerPrompt
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile(name="Ada"), ())
NOTHING: dict[str, Any] = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "settings": {},
    "figures": {},
    "versions": {},
    "seed": 1,
    "bias": 0.0,
}


def choice(**weights: float) -> CallChoice:
    return CallChoice(**NOTHING, weights=[weights.get(name, 0.0) for name in FEATURES])


def test_by_shares_alone_calls_keep_their_shares() -> None:
    calls = [Evidence(0.6, 0.3), Evidence(0.3, 0.6)]
    assert choice(share=1.0).of(calls) == pytest.approx([0.6, 0.3])


def test_a_call_that_leaves_less_unsaid_gains_and_all_together_keep_their_share() -> None:
    calls = [Evidence(0.5, 0.4, covered=0.5), Evidence(0.4, 0.5, covered=1.0)]
    found = choice(share=1.0, covered=4.0).of(calls)
    assert found[1] > found[0]
    assert sum(found) == pytest.approx(0.9)


def test_calls_are_ordered_and_each_knows_its_strongest_rival() -> None:
    calls = [Evidence(0.5, 0.4, covered=0.5), Evidence(0.4, 0.5, covered=1.0)]
    (best, first), (other, second) = choice(share=1.0, covered=4.0).weighed(calls)
    assert (best, other) == (1, 0)
    assert first.second == second.share < first.share == second.second
    assert choice(covered=9.0).weighed(calls[:1]) == [(0, calls[0])], "nothing to choose from"


def test_an_api_that_could_not_be_called_stays_a_rival() -> None:
    calls = [Evidence(0.2, 0.7, covered=0.5), Evidence(0.1, 0.7, covered=1.0)]
    (_, first), _ = choice(share=1.0, covered=4.0).weighed(calls)
    assert first.second == 0.7


def test_none_says_nothing_and_so_covers_nothing() -> None:
    names = dict(zip(FEATURES, features_of(Evidence(0.5, 0.4, none=True)), strict=True))
    assert (names["covered"], names["plain_covered"], names["none"]) == (0.0, 0.0, 1.0)


def test_words_are_covered_that_a_value_has_or_was_read_from() -> None:
    made = Composed(
        Plan("create_reminder", {"title": "Feed the cats", "due": "2025-04-17T17:00"}),
        (1.0, 1.0),
        said=("at five",),
    )
    assert covered("feed the cat at five tomorrow", made) == pytest.approx(3 / 4)
    assert covered("what is it", made) == 1.0, "nothing telling to be covered"


LIST = Item(
    "s1",
    "music",
    {
        "song_name": "Jupiter",
        "artist": "LSO",
        "album_title": "Planets",
        "genre": "Classical",
        "playlist": "Night train",
        "played_at": AT,
    },
)
NOTE = Item(
    "n1", "notes", {"title": "Door codes", "body": "1234", "folder": "Work", "modified_at": AT}
)
SAID = "put Blue Train on my night train list"
SLOTS = {
    "append_to_note": {"text": FilledSlot("Blue Train", 0.9)},
    "add_song_to_playlist": {
        "song_name": FilledSlot("Blue Train", 0.9),
        "playlist_name": FilledSlot("night train", 0.9),
    },
}


@pytest.fixture(scope="module")
def planner(converted_planner: Path) -> EmbeddedPlanner:
    return EmbeddedPlanner(str(next((converted_planner / "models").iterdir())), threads=1)


def planned(
    planner: EmbeddedPlanner, calls: CallChoice | None, note: float, said: str = SAID
) -> tuple[Planned, list[str]]:
    """The plan where appending to a note has this log odds over adding a song, and the APIs whose
    slots were read."""
    box = Toolbox.packaged()
    tools = [tool for api in SLOTS if (tool := box.get(api)) is not None]
    sources = ValueSources(Request(said, AT), ADA, [LIST, NOTE])
    read: list[str] = []

    def slots(tool: Tool) -> Mapping[str, FilledSlot]:
        read.append(tool.api)
        return SLOTS[tool.api]

    grammar = plan_grammar(tools, sources, best_only=True, write_text=False, fillable=True)
    request = PlanRequest(
        tools,
        grammar,
        lambda: PlannerPrompt("system", "user", 2, (), ()),
        {"append_to_note": note, "add_song_to_playlist": 0.0, NONE.api: -9.0},
        sure=0.0,
        slots=slots,
        sources=sources,
        calls=calls,
    )
    return planner.plan(request), read


def test_the_call_that_has_all_that_was_said_is_made(planner: EmbeddedPlanner) -> None:
    without, _ = planned(planner, None, note=0.5)
    assert without.plan is not None
    assert without.plan.api == "append_to_note"
    found, _ = planned(planner, choice(share=1.0, covered=4.0), note=0.5)
    assert found.plan == Plan(
        "add_song_to_playlist", {"song_name": "Blue Train", "playlist_name": "Night train"}
    )
    assert [plan.api for plan, _ in found.considered] == list(SLOTS), "likeliest API first"


def test_where_the_api_is_clear_no_other_call_is_made(planner: EmbeddedPlanner) -> None:
    found, read = planned(planner, choice(share=1.0, covered=4.0), note=5.0)
    assert found.plan is not None
    assert found.plan.api == "append_to_note"
    assert read == ["append_to_note"]


def test_nothing_is_called_in_a_language_that_is_not_understood(planner: EmbeddedPlanner) -> None:
    found, read = planned(planner, None, note=0.5, said="recuérdame llamar a mamá a las cinco")
    assert found.plan == NONE
    assert read == []
