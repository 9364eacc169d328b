"""Questions that the address book answers are answered from it, and no others are."""

from datetime import datetime

import pytest

from ctrag.assistant.apps.about_contacts import told_of_contact
from stores.people.items import Contact, Person, Profile

AT = datetime(2026, 11, 26, 12, 41)
ME = Person(
    "me",
    AT,
    Profile("Ada"),
    (
        Contact("Margaret Okafor", phone="+44 7700 900111", nicknames=("Mum",),
                birthday="1956-09-21", addresses=("14 Burley Lane, Leeds",)),
        Contact("Delphine Marchand", birthday="1988-06-30", title="Illustrator",
                organisation="Aire Design", email="d@aire.example"),
        Contact("Grace Hale", phone="+44 7700 900113", birthday="--12-02"),
        Contact("Gareth Rees", phone="+44 7700 900114", title="Plumber"),
        Contact("Garth Reeve", phone="+44 7700 900199"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("when is Mum's birthday", "Margaret Okafor: Tue 21 Sep 2027, 71 years."),
        ("When is Grace's birthday?", "Grace Hale: Wed 2 Dec 2026."),
        ("how old is Delphine", "Delphine Marchand: Wed 30 Jun 2027, 39 years."),
        ("what's Gareth's number", "Gareth Rees: +44 7700 900114."),
        ("number of the plumber", "Gareth Rees: +44 7700 900114."),
        ("phone number for the plumber please", "Gareth Rees: +44 7700 900114."),
        ("give me the plumber's number", "Gareth Rees: +44 7700 900114."),
        ("what's mum's address", "Margaret Okafor: 14 Burley Lane, Leeds."),
        ("where does Mum live", "Margaret Okafor: 14 Burley Lane, Leeds."),
        ("what's Grace's email", "Grace Hale has no mail address in your contacts."),
        ("who is Delphine?", "Delphine Marchand: Illustrator, Aire Design, d@aire.example, "
         "birthday Wed 30 Jun 2027, 39 years."),
        ("who is calling", None),
        ("who is Zubin Mehta", None),
        ("who is Grace Kelly", None),
        ("what's the dentist's number", None),
        ("what's the number of people in Leeds", None),
        ("when is Mum's flight", None),
        ("remind me of Mum's birthday", None),
    ],
)  # fmt: skip
def test_a_question_about_a_contact_is_answered_by_what_is_known(
    text: str, told: str | None
) -> None:
    assert told_of_contact(text, ME, AT) == told


def test_several_who_are_meant_are_each_told() -> None:
    two = (Contact("Ann Lee", phone="1234"), Contact("Ann Roe", phone="5678"))
    told = told_of_contact("what's Ann's number", Person("me", AT, Profile("Ada"), two), AT)
    assert told == "Ann Lee: 1234.\nAnn Roe: 5678."
