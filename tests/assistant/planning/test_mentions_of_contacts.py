"""Nicknames, jobs and organisations name contacts; namesakes are told apart."""

from datetime import datetime

import pytest

from ctrag.assistant.planning.mentions import grouped, mentioned, told_apart
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


ROBERT = Contact("Robert Quist", "brother")
KATHARINE = Contact("Katharine Lund", "landlady")
ERIC = Contact("Eric Holt", "plumber")
CALLED = (ROBERT, KATHARINE, ERIC, Contact("Ann Bell"), Contact("Ann Cole"))


@pytest.mark.parametrize(
    ("mention", "names"),
    [
        ("Bob", ["Robert Quist"]),
        ("Rob Quist", ["Robert Quist"]),
        ("Bob Stone", []),
        ("kate", ["Katharine Lund"]),
        ("Catherine", ["Katharine Lund"]),
        ("Erik", ["Eric Holt"]),
        ("Ann C.", ["Ann Cole"]),
        ("ann b", ["Ann Bell"]),
        ("Ann D", []),
        ("Bill", []),
    ],
)
def test_another_form_of_a_first_name_and_an_initial_name_a_contact(
    mention: str, names: list[str]
) -> None:
    assert [one.name for one in mentioned(mention, CALLED)] == names


def test_who_is_called_so_comes_before_whose_name_is_short_for_it() -> None:
    assert mentioned("Bob", (ROBERT, Contact("Bob Reis"))) == [Contact("Bob Reis")]


LEO = Contact("Leo Quist", "son")
OLE = Contact("Ole Berg", "colleague")
TEACHER = Contact("Mrs Hale", "teacher")
OLES = Contact("Mia Berg", "Ole's sister")
MAMA = Contact("Vera Quist", "mother")
HERS = Contact("Dr Noor", "family doctor")
NIECES = Contact("Ada Pohl", "wife's sister")
IN_LAW = Contact("Ines Pohl", "mother-in-law")
FAMILY = (LEO, OLE, TEACHER, OLES, MAMA, HERS)


@pytest.mark.parametrize(
    ("mention", "meant"),
    [
        ("Ole's sister", [OLES]),
        ("Leo's mum", []),
        ("Ole's mother", []),
        ("Ole's boss", []),
        ("Leo's teacher", [TEACHER]),
        ("mum's doctor", []),
        ("Ole's mobile", [OLE]),
        ("Ole's message", [OLE]),
        ("Leo", [LEO]),
        ("Ole", [OLE]),
    ],
)
def test_who_is_something_to_somebody_is_not_that_one(mention: str, meant: list[Contact]) -> None:
    assert mentioned(mention, FAMILY) == meant


def test_a_relation_to_somebody_else_is_none_of_ones_own() -> None:
    contacts = (NIECES, IN_LAW, Contact("Ute Rau", "ex-flatmate, painter"))
    for mention in ("my wife", "mum", "my flatmate"):
        assert mentioned(mention, contacts) == []
    assert mentioned("my wife's sister", contacts) == [NIECES]
    assert mentioned("my mother-in-law", contacts) == [IN_LAW]
    assert mentioned("the painter", contacts) == [contacts[2]]


@pytest.mark.parametrize(
    ("mention", "relation"),
    [("the sitter", "babysitter"), ("the doc", "family doctor"), ("my barber", "hairdresser")],
)
def test_another_word_for_a_service_names_who_does_it(mention: str, relation: str) -> None:
    assert mentioned(mention, (LEO, Contact("Ada Pohl", relation))) == [
        Contact("Ada Pohl", relation)
    ]


def test_one_word_for_several_names_them_all() -> None:
    father, son = Contact("Jan Quist", "father"), Contact("Tom Holt", "son")
    contacts = (MAMA, father, LEO, son, OLE)
    assert grouped("my parents", contacts) == [MAMA, father]
    assert grouped("the kids", contacts) == [LEO, son]
    assert grouped("my sons", contacts) == [LEO, son]
    assert grouped("the Quists", contacts) == [MAMA, father, LEO]
    assert grouped("my parents", (MAMA, OLE)) == []
    assert grouped("Ole", contacts) == grouped("my mum", contacts) == []
