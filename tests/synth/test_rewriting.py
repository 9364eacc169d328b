"""Claims about dates, names and rewriting: a life told of somebody else stays true to itself."""

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.offline.dates import movable, shifted_text, shifted_value
from synth.offline.names import gender_said, new_names, parts, renamed_address
from synth.offline.people import recognise, telling
from synth.offline.rewriting import Rewriter
from synth.offline.sources import SourcePerson, letters, sources

NOW = datetime(2025, 1, 20, 9, 0)  # a Monday


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("Deliver Saturday 25 Jan, 3 pm", "Deliver Saturday 1 Feb, 3 pm"),
        ("on January 25th at noon", "on February 1st at noon"),
        ("by the 24th, please", "by the 31st, please"),
        ("Sunday 26 at 17:00", "Sunday 2 at 17:00"),
        ("Monday 7, the early shift", "Monday 7, the early shift"),  # the 7th is a Tuesday
        ("chapter 24, 3rd floor, 2.50", "chapter 24, 3rd floor, 2.50"),
        ("since 2025-01-19", "since 2025-01-26"),
    ],
)
def test_days_that_a_text_names_move_by_a_week(text: str, moved: str) -> None:
    assert shifted_text(text, NOW, 7) == moved


@given(st.datetimes(datetime(2023, 1, 1), datetime(2027, 1, 1)), st.integers(-800, 800))
def test_a_plans_time_moved_there_and_back_is_itself(moment: datetime, days: int) -> None:
    value = moment.isoformat(timespec="minutes")
    moved = shifted_value(value, days)
    assert moved == (moment + timedelta(days=days)).isoformat(timespec="minutes")
    assert moved is not None
    assert shifted_value(moved, -days) == value


def test_a_text_with_days_in_an_unknown_spelling_stays_where_it_is() -> None:
    assert not movable("the kids are off Feb 15 to 23")
    assert not movable("out on the fifteenth")
    assert movable("out on the 15th")


def test_a_relation_tells_the_gender_of_who_bears_it() -> None:
    assert gender_said("wife") == "female"
    assert gender_said("elder son, 16") == "male"
    assert gender_said("son's teacher") is None


def test_an_address_changes_with_the_name() -> None:
    assert renamed_address("j.diaz@diaz.example", {"Díaz": "Ríos"}) == "j.rios@rios.example"


def _source(person_id: str) -> SourcePerson:
    return next(one for one in sources() if one.persona.person.person_id == person_id)


def test_a_new_name_is_new_to_everything_that_was_written() -> None:
    source = _source("w0001")
    names = new_names(source, random.Random(3))
    assert "Cragg" in names  # the surname of the whole family
    written = {word for one in source.requests for word in letters(one.request.text)}
    assert not set(names.values()) & written
    assert len(set(names.values())) == len(names)


def test_text_item_and_plan_change_together() -> None:
    source = _source("w0001")
    names = {"Jean": "Ellen", "Cragg": "Holt"}
    told = Rewriter(source.persona, names, 364)
    ids = {item.id: f"new-{item.id}" for item in source.persona.items}
    forward = next(
        one for one in source.requests if one.labels.plan and one.labels.plan.api == "forward_mail"
    )
    new = told.request(forward, ids)
    assert new is not None
    assert new.labels.plan is not None
    assert new.labels.plan.arguments["to"] == "Ellen Holt"
    assert told.person("x").contact("Ellen Holt") is not None
    assert new.labels.relevant == ("new-w0001-m1",)
    assert new.request.asked_at - forward.request.asked_at == timedelta(days=364)


def test_a_request_without_its_item_is_not_told() -> None:
    source = _source("w0001")
    told = Rewriter(source.persona, {}, 0)
    assert told.request(source.requests[0], {}) is None


def test_who_a_person_was_told_from_is_found_again() -> None:
    from synth.offline import OfflineProvider
    from synth.shape import PAPER_ITEMS, person_seed

    provider = OfflineProvider()
    counts = {app: round(mean) for app, mean in PAPER_ITEMS.items()}
    for number in range(0, 60, 3):
        seed = person_seed(2, number)
        persona = provider.person("x", counts, seed)
        found = recognise(persona)
        assert found is not None
        assert found[0].position == number
        told = telling(found[0], random.Random(f"{seed}/person"))
        assert found[1].days == told.days
        assert all(told.names.get(old) == new for old, new in found[1].names.items())


def test_titles_are_no_part_of_a_name() -> None:
    assert parts("Mrs Felicity Ashworth") == ["Felicity", "Ashworth"]
