"""Times are computed from the calendar and then written; templates are filled with values."""

import random
from datetime import datetime
from itertools import product

import pytest

from ctrag.text.dates.temporal_expressions import offered_datetimes
from stores.people.items import Contact
from synth.offline.acquaintances import Acquaintance
from synth.offline.countries import countries, well_formed
from synth.offline.moments import Moment, drawn
from synth.offline.wording import Words

NOW = datetime(2025, 6, 12, 9, 0)  # a Thursday


def words(**values: object) -> Words:
    return Words(random.Random(1), dict(values), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("iso", "2025-06-14T14:30"),
        ("isodate", "2025-06-14"),
        ("daydate", "Saturday 14 June"),
        ("clock", "14:30"),
        ("rel", "on Saturday"),
        ("day", "Saturday"),
    ],
)
def test_a_moment_is_written_in_the_form_that_is_asked_for(form: str, text: str) -> None:
    moment = Moment(datetime(2025, 6, 14, 14, 30), clock=24)
    assert words(t=moment).text(f"{{t:{form}}}") == text


def test_clocks_and_dates_follow_the_country() -> None:
    moment = Moment(datetime(2025, 6, 14, 14, 0), clock=12, month_first=True)
    assert words(t=moment).text("{t:daydate}, {t:clock}, {t+2h:clock}") == (
        "Saturday, June 14, 2 pm, 4 pm"
    )


def test_a_specification_gives_days_and_hours() -> None:
    for seed in range(60):
        draw = random.Random(seed)
        start = drawn("+1..9 8-16 work", NOW, {}, draw, round_to=15)
        assert 1 <= (start.date() - NOW.date()).days <= 11
        assert start.weekday() < 5
        assert 8 <= start.hour < 16
        assert (
            drawn("t-90m", NOW, {"t": start}, draw, round_to=1) - start
        ).total_seconds() == -5400
    with pytest.raises(ValueError, match="'soonish' is not understood"):
        drawn("soonish", NOW, {}, random.Random(1), round_to=1)


def test_what_is_said_and_what_is_written_have_the_same_choices_and_numbers() -> None:
    one = words()
    taken: list[str] = []
    known: dict[str, str] = {}
    said = one.text("[five|ten] minutes, {n130} over {n80}", taken, known)
    written = one.text("I'm @1 minutes late: {n130}/{n80}", taken, known)
    number, _, pressure = said.partition(" minutes, ")
    assert written == f"I'm {number} minutes late: {pressure.replace(' over ', '/')}"


def test_people_are_called_as_their_owner_calls_them() -> None:
    gran = Acquaintance(
        "grandparent", Contact("Babcia Irena"), "Irena", "Nowak", "female", "Babcia"
    )
    one = words(g=gran)
    assert one.text("{g} rang, ring {g.her} back") == "Babcia rang, ring her back"
    assert one.text("{g}", full=True) == "Babcia Irena"


def test_every_country_has_names_of_both_genders() -> None:
    for country in countries():
        for gender in ("female", "male"):
            assert len(country.firsts[gender]) >= 12, country.name  # type: ignore[index]
            assert len(country.lasts[gender]) >= 10, country.name  # type: ignore[index]
            names = (*country.firsts[gender], *country.lasts[gender])  # type: ignore[index]
            assert not [one for one in names if "  " in one or one.isupper()]


@pytest.mark.parametrize("name", ["auch Schlauchin", "X", "陽子", "McD(", "USA", "Anna1"])
def test_what_is_no_name_in_latin_letters_is_not_used(name: str) -> None:
    assert not well_formed(name)


def test_an_hour_that_is_said_can_mean_one_hour_only() -> None:
    asked = datetime(2025, 11, 10, 6, 0)
    for hour, minute, seed in product(range(1, 24), (0, 15, 30, 45), range(8)):
        at = datetime(2025, 11, 12, hour, minute)
        said = Moment(at, 24).written("said", asked, random.Random(seed))
        text = f"remind me on Wednesday at {said} to water the basil"
        assert offered_datetimes(text, asked, [])[0] == at, text
