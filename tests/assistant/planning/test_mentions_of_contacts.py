"""Nicknames, jobs and organisations name contacts; namesakes are told apart."""

from datetime import datetime

import pytest

from ctrag.assistant.planning.mentions import mentioned, told_apart
from stores.people.items import Contact, Person, Profile

ROWER = Contact("Anna Berg", phone="5", organisation="Rowing club")
TAXES = Contact("Anna Berg", phone="6", organisation="Tax office", title="Tax adviser")
MOTHER = Contact("Margarethe Quist", nicknames=("Mum",))
GLAZIER = Contact("Uwe Sack", title="glazier", organisation="Glaserei Sack")
ALL = (ROWER, TAXES, MOTHER, GLAZIER)


@pytest.mark.parametrize(
    ("mention", "meant"),
    [
        ("mum", [MOTHER]),
        ("my mum", [MOTHER]),
        ("the glazier", [GLAZIER]),
        ("Anna Berg", [ROWER, TAXES]),
        ("Anna at the tax office", [TAXES]),
        ("the tax office", [TAXES]),
        ("the office", []),
        ("dad", []),
    ],
)
def test_a_mention_finds_those_whom_it_names(mention: str, meant: list[Contact]) -> None:
    assert mentioned(mention, ALL) == meant


def test_the_rest_of_the_request_tells_namesakes_apart() -> None:
    assert told_apart((ROWER, TAXES), "call Anna at the tax office") == [TAXES]
    assert told_apart((ROWER, TAXES), "call Anna about the office") == [ROWER, TAXES]


def test_each_namesake_has_a_label_of_their_own_by_which_they_are_found() -> None:
    ada = Person(
        "ada",
        datetime(2026, 11, 26),
        Profile("Ada"),
        (*ALL, Contact("Ole"), Contact("Ole", note="x")),
    )
    assert ada.labels() == (
        "Anna Berg (Rowing club)",
        "Anna Berg (Tax office)",
        "Margarethe Quist",
        "Uwe Sack",
        "Ole (no. 1)",
        "Ole (no. 2)",
    )
    assert ada.contact("anna berg (tax office)") == TAXES
    assert ada.contact("Anna Berg") == ROWER
    assert ada.contact("Anna Berg (nobody)") is None
