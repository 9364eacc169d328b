"""Claims about dates, names and rewriting: a rewritten person stays consistent."""

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.offline.dates import movable, shifted_text, shifted_value
from synth.offline.names import gender_of_relation, new_names, parts, renamed_address
from synth.offline.people import random_rewriter, recognise
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
def test_dates_in_a_text_move_by_a_week(text: str, moved: str) -> None:
    assert shifted_text(text, NOW, 7) == moved


@given(st.datetimes(datetime(2023, 1, 1), datetime(2027, 1, 1)), st.integers(-800, 800))
def test_shifting_a_plans_time_back_and_forth_restores_it(moment: datetime, days: int) -> None:
    value = moment.isoformat(timespec="minutes")
    moved = shifted_value(value, days)
    assert moved == (moment + timedelta(days=days)).isoformat(timespec="minutes")
    assert moved is not None
    assert shifted_value(moved, -days) == value


def test_dates_in_an_unknown_format_are_not_moved() -> None:
    assert not movable("the kids are off Feb 15 to 23")
    assert not movable("out on the fifteenth")
    assert movable("out on the 15th")


def test_a_relation_gives_the_gender_of_the_contact() -> None:
    assert gender_of_relation("wife") == "female"
    assert gender_of_relation("elder son, 16") == "male"
    assert gender_of_relation("son's teacher") is None


def test_an_address_changes_with_the_name() -> None:
    assert renamed_address("j.diaz@diaz.example", {"Díaz": "Ríos"}) == "j.rios@rios.example"


def _source(person_id: str) -> SourcePerson:
    return next(one for one in sources() if one.persona.person.person_id == person_id)


def test_a_new_name_occurs_nowhere_in_the_source() -> None:
    source = _source("w0001")
    names = new_names(source, random.Random(3))
    assert "Cragg" in names  # the surname of the whole family
    written = {word for one in source.requests for word in letters(one.request.text)}
    assert not set(names.values()) & written
    assert len(set(names.values())) == len(names)


def test_text_item_and_plan_are_rewritten_consistently() -> None:
    source = _source("w0001")
    names = {"Jean": "Ellen", "Cragg": "Holt"}
    rewriter = Rewriter(source.persona, names, 364)
    ids = {item.id: f"new-{item.id}" for item in source.persona.items}
    forward = next(
        one for one in source.requests if one.labels.plan and one.labels.plan.api == "forward_mail"
    )
    new = rewriter.request(forward, ids)
    assert new is not None
    assert new.labels.plan is not None
    assert new.labels.plan.arguments["to"] == "Ellen Holt"
    assert rewriter.person("x").contact("Ellen Holt") is not None
    assert new.labels.relevant == ("new-w0001-m1",)
    assert new.request.asked_at - forward.request.asked_at == timedelta(days=364)


def test_a_request_without_its_item_is_dropped() -> None:
    source = _source("w0001")
    rewriter = Rewriter(source.persona, {}, 0)
    assert rewriter.request(source.requests[0], {}) is None


def test_the_source_of_a_rewritten_person_is_recognised() -> None:
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
        rewriter = random_rewriter(found[0], random.Random(f"{seed}/person"))
        assert found[1].days == rewriter.days
        assert all(rewriter.names.get(old) == new for old, new in found[1].names.items())


def test_titles_are_not_part_of_a_name() -> None:
    assert parts("Mrs Felicity Ashworth") == ["Felicity", "Ashworth"]
