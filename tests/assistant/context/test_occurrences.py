"""Of a repeating event, the nearest occurrences stand for all of them."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from ctrag.assistant.context.candidates import candidates
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.occurrences import near
from stores.people.items import Request
from tests.assistant.context.conftest import ADA, NOW, AxisEncoder, made

WEEKS = range(-50, 100)


@pytest.fixture(scope="module")
def view() -> PersonView:
    """Ada's items, and a rehearsal every week at this time of the day."""
    weekly = []
    for week in WEEKS:
        start = NOW + timedelta(weeks=week, hours=1)
        one = made("calendar", f"w{week}", "Rehearsal", start, start, None, (), None)
        weekly.append(replace(one, fields={**one.fields, "repeats": "RRULE:FREQ=WEEKLY"}))
    return PersonView.of(ADA.person, (*ADA.items, *weekly), AxisEncoder())


def weeks(view: PersonView, request: Request) -> list[int]:
    part = near(view, request)
    vector = AxisEncoder().encode([request.text])[0]
    rows = candidates(part, request, vector)
    ids = [part.items[row].id for row in rows]
    assert len([one for one in ids if not one.startswith("w")]) == len(ADA.items)
    return sorted(int(one[1:]) for one in ids if one.startswith("w"))


def test_a_series_has_its_last_and_its_next_occurrence(view: PersonView) -> None:
    assert weeks(view, Request("when is the rehearsal", NOW)) == [-1, 0]
    assert weeks(view, Request("when is the rehearsal", NOW + timedelta(weeks=3))) == [2, 3]


def test_a_day_that_the_request_names_has_its_occurrence(view: PersonView) -> None:
    day = NOW + timedelta(weeks=20)
    request = Request(f"cancel the rehearsal on {day:%d %B %Y}", NOW)
    assert weeks(view, request) == [-1, 0, 20]


def test_requests_of_one_day_share_a_view(view: PersonView) -> None:
    first = near(view, Request("when is the rehearsal", NOW))
    assert near(view, Request("what is tomorrow", NOW + timedelta(hours=2))) is first


def test_without_series_a_view_is_used_as_it_is() -> None:
    plain = PersonView.of(ADA.person, ADA.items, AxisEncoder())
    request = Request("when is the rehearsal", datetime(2025, 4, 17))
    assert near(plain, request) is plain
    rows = candidates(plain, request, AxisEncoder().encode([request.text])[0])
    assert np.array_equal(rows, np.arange(len(plain)))
