"""Years 1 and 9999, where date arithmetic ends: nothing raises, nothing stops."""

from datetime import datetime
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import load_catalogue
from ctrag.assistant.apps.call import Call, Refusal
from ctrag.assistant.apps.execute import effect_of
from ctrag.assistant.planning.plan import Plan
from ctrag.errors import InputError
from ctrag.text.dates.temporal_expressions import (
    find_expressions,
    offered_beginnings,
    offered_dates,
    offered_datetimes,
)
from ctrag.toolbox import Toolbox
from stores.people.items import Item, Person, Profile

PHRASES = (
    "in 99999999999999999999 years|in 9999999 days|10000 years ago|tomorrow|yesterday|next week|"
    "in 2 hours|last month|feb 29|at 24:00|next friday at 9|two weeks ago|100 years ago|"
    "since 1 january|from 23:30 to 0:15|half an hour later|the day before|this weekend|easter|"
    "end of the year|in twelve months|last night|in half an hour|before monday"
).split("|")
EDGES = [
    datetime(1, 1, 1),
    datetime(1, 1, 2, 3),
    datetime(999, 12, 31, 23, 59),
    datetime(1000, 1, 1),
    datetime(8999, 12, 31, 23, 59),
    datetime(9999, 12, 1),
    datetime(9999, 12, 31, 23, 59),
]
TODAY = datetime(2025, 4, 17, 12)


@pytest.mark.parametrize("edge", EDGES, ids=str)
def test_phrases_at_the_edge_of_the_calendar(edge: datetime) -> None:
    for phrase in PHRASES:
        find_expressions(phrase, edge)
        offered_beginnings(phrase, edge)
        offered_datetimes(phrase, edge, [edge])
        offered_dates(phrase, edge, [edge])
        # Items of such years do not spoil what a request of today names.
        assert offered_datetimes(phrase, TODAY, [edge, TODAY])
        assert TODAY.date() in offered_dates(phrase, TODAY, [edge])


def test_a_phrase_of_today_is_read_beside_such_items() -> None:
    assert datetime(2025, 4, 18, 9) in offered_datetimes("tomorrow at nine", TODAY, EDGES)


def effect(text: str, *items: Item) -> str:
    plan, person = Plan.parse(text), Person("ada", TODAY, Profile("Ada"))
    call = Call(plan.api, plan.arguments, person, items, TODAY)
    return effect_of(plan, call, Toolbox.packaged())[1].answer


def event(start: datetime, end: datetime | None) -> Item:
    fields = {"title": "Dock", "start": start, "end": end, "attendees": ()}
    return Item("c1", "calendar", {**fields, "location": None, "notes": None})


def test_an_event_at_the_end_of_the_calendar_is_listed() -> None:
    late = event(datetime(9999, 12, 31, 23, 30), None)
    assert "Dock" in effect('list_events(date="9999-12-31")', late)
    assert "Dock" in effect('get_event(title="Dock")', late)


def test_what_would_lead_beyond_the_calendar_is_refused() -> None:
    whole = event(datetime(1, 1, 1), datetime(9999, 12, 31))
    with pytest.raises(Refusal, match="beyond the end of the calendar"):
        effect('reschedule_event(title="Dock", new_start="2025-04-18T09:00")', whole)
    with pytest.raises(Refusal, match="is not a time such as"):
        effect('create_event(title="Dock", start="9999-12-31T23:30")')


@pytest.mark.parametrize("digits", [5_000, 20_000])
def test_a_whole_number_that_python_does_not_read_names_its_file(
    digits: int, tmp_path: Path
) -> None:
    file = tmp_path / "tools.json"
    file.write_text(f'[{{"name": "a", "parameters": {{"maximum": {"9" * digits}}}}}]')
    with pytest.raises(InputError, match=r"tools\.json: not JSON: Exceeds the limit"):
        load_catalogue(file)
