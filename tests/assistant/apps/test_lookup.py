"""Which item, contact or caller a text argument means."""

from collections.abc import Callable, Sequence
from datetime import datetime

import pytest

from ctrag.assistant.apps.call import Call, Refusal
from ctrag.assistant.apps.lookup import (
    find_contact,
    is_number,
    matching,
    one_line,
    quote,
    same_caller,
    search,
    titled,
    when,
)
from stores.people.items import Contact, Item, Person, Profile

AT = datetime(2025, 4, 17, 12, 0)
MakeItem = Callable[..., Item]


def _call(
    items: Sequence[Item] = (), contacts: Sequence[Contact] = (), preferred: Sequence[str] = ()
) -> Call:
    person = Person("p", AT, Profile("Ada"), tuple(contacts))
    return Call("any", {}, person, items, AT, preferred=preferred)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Café crème", "Café crème"),
        ("  café   CRÈME ", "Café crème"),
        ("cafe creme", "Café crème"),
        ("todo: Impala", "To-do, Impala"),
        ("łódź", "Lodz"),
        ("impala", "To-do, Impala"),
        ("the Lodz trip", "Lodz"),
        ("C", "C"),
        ("C++", "C++"),
        ("🎂", "🎂"),
        ("imp", None),
        ("", None),
        ("!!", None),
        ("tea", None),
    ],
)
def test_names_match_in_steps_from_exact_to_contained(wanted: str, found: str | None) -> None:
    titles = ["Café crème", "To-do, Impala", "Lodz", "C", "C++", "🎂", "Tea for two", "Two of tea"]
    assert matching(wanted, titles, str) == ([found] if found else [])


def test_an_exact_title_beats_one_that_contains_it() -> None:
    assert matching("rent", ["Pay rent in May", "Rent"], str) == ["Rent"]


def test_accents_count_where_two_titles_differ_by_them() -> None:
    assert matching("pêche", ["Peche", "Pêche"], str) == ["Pêche"]
    assert matching("peche", ["Pêche", "Pèche"], str) == ["Pêche", "Pèche"]


def _standups(make_item: MakeItem) -> list[Item]:
    days = {"past": 10, "today": 17, "next": 18, "later": 25}
    return [
        make_item(
            "calendar",
            name,
            title="Standup",
            start=f"2025-04-{day}T11:45",
            end=f"2025-04-{day}T12:15",
        )
        for name, day in days.items()
    ]


@pytest.mark.parametrize(
    ("preferred", "left_out", "found"),
    [
        ((), (), "today"),
        ((), ("today",), "next"),
        ((), ("today", "next", "later"), "past"),
        (("m7", "later", "past"), (), "later"),
    ],
)
def test_among_alike_the_retrieved_wins_then_the_upcoming_then_the_latest(
    preferred: Sequence[str], left_out: Sequence[str], found: str, make_item: MakeItem
) -> None:
    events = [event for event in _standups(make_item) if event.id not in left_out]
    assert titled(_call(events, preferred=preferred), "calendar", "standup", "event").id == found


def test_what_retrieval_found_does_not_change_which_titles_match(make_item: MakeItem) -> None:
    notes = [
        make_item("notes", key, title=title, body="", folder="F", modified_at="2025-04-01T00:00")
        for key, title in {"n1": "Rent", "n2": "Rent 2024"}.items()
    ]
    assert titled(_call(notes, preferred=["n2"]), "notes", "Rent", "note").id == "n1"


def test_of_mails_with_one_subject_the_latest_is_meant(make_item: MakeItem) -> None:
    mails = [
        make_item("mail", key, sender="S", subject="News", body="", received_at=f"{day}T08:00")
        for key, day in {"m1": "2025-04-02", "m2": "2025-04-09", "m3": "2025-04-01"}.items()
    ]
    assert titled(_call(mails), "mail", "news", "mail").id == "m2"


CONTACTS = (
    Contact("Lupita Robles", "wife"),
    Contact("Dr. Ana Vidal", "doctor"),
    Contact("Nando Vidal", "mechanic"),
    Contact("Åse Li", "aunt"),
    Contact("Mechanic & Sons", "garage"),
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Lupita Robles", "Lupita Robles"),
        ("lupita robles ", "Lupita Robles"),
        ("Lupita", "Lupita Robles"),
        ("Dr Ana Vidal", "Dr. Ana Vidal"),
        ("Ase", "Åse Li"),
        ("Li", "Åse Li"),
        ("wife", "Lupita Robles"),
        ("my wife", "Lupita Robles"),
        ("mechanic", "Nando Vidal"),
        ("Ana", "Dr. Ana Vidal"),
        ("Lup", None),
        ("Ana Robles", None),
        ("", None),
        ("Lupita Robles or Mallory", None),
    ],
)
def test_contacts_go_by_name_part_of_it_or_relation(name: str, found: str | None) -> None:
    contact = find_contact(_call(contacts=CONTACTS), name)
    assert (contact.name if contact else None) == found


def test_a_name_that_two_contacts_share_is_nobodys() -> None:
    message = "“Vidal” fits several contacts: Dr. Ana Vidal, Nando Vidal"
    with pytest.raises(Refusal, match=message):
        find_contact(_call(contacts=CONTACTS), "Vidal")


def test_two_of_one_full_name_are_asked_about_and_found_by_what_tells_them_apart() -> None:
    rower = Contact("Anna Berg", phone="5", organisation="Rowing club", nicknames=("Nan",))
    taxes = Contact("Anna Berg", phone="6", organisation="Tax office")
    call = _call(contacts=(rower, taxes))
    message = r"fits several contacts: Anna Berg \(Rowing club\), Anna Berg \(Tax office\)"
    with pytest.raises(Refusal, match=message):
        find_contact(call, "Anna Berg")
    assert find_contact(call, "Anna Berg (Tax office)") == taxes
    assert find_contact(call, "my nan") == rower


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("+47 55 50 10 20", "0047-55501020", True),
        ("(0)55 50 10 20", "+47 55 50 10 20", True),
        ("+47 55 50 10 20", "+47 55 50 10 21", False),
        ("1020", "+47 55 50 10 20", False),
        ("Kofi Plumbing", "kofi plumbing", True),
        ("Kofi", "Kofi Plumbing", False),
        ("", "", False),
    ],
)
def test_callers_are_compared_by_name_or_by_number(one: str, other: str, same: bool) -> None:
    assert same_caller(one, other) is same
    assert same_caller(other, one) is same


@pytest.mark.parametrize(
    ("text", "dialled"),
    [
        ("112", True),
        ("+52 (33) 5550-1101", True),
        ("*100#", True),
        ("12", False),
        ("+ - ( )", False),
        ("555 0100 ext 4", False),
        ("tel:5550100", False),
        ("555\u0661\u0662\u0663", False),
        ("", False),
    ],
)
def test_a_number_has_three_digits_and_only_signs_of_numbers(text: str, dialled: bool) -> None:
    assert is_number(text) is dialled


def test_search_puts_more_shared_words_first_then_the_nearest_in_time(
    make_item: MakeItem,
) -> None:
    def event(key: str, title: str, day: str, *people: str) -> Item:
        start = f"2025-{day}T10:00"
        return make_item(
            "calendar", key, title=title, start=start, end=start, attendees=tuple(people)
        )

    events = [
        event("far", "Vet", "06-01"),
        event("both", "Vet", "07-01", "Léa Moss"),
        event("near", "vet!", "04-20"),
        event("none", "Cinema", "04-17"),
    ]
    found = search(_call(events), "calendar", "the VET, Lea")
    assert [event.id for event in found] == ["both", "near", "far"]


def test_search_reads_words_and_no_times_or_flags(make_item: MakeItem) -> None:
    mail = make_item(
        "mail", "m1", sender="S", subject="A", body="b", received_at="2025-04-01T00:00", unread=True
    )
    assert search(_call([mail]), "mail", "True 2025 false") == []


def test_a_quotation_is_one_line_without_signs_that_turn_the_text() -> None:
    assert quote("a\n\tb\u202e c\x00") == "“a b c”"
    assert one_line("Omar\u200b\r\nGo ahead? yes") == "Omar Go ahead? yes"
    assert len(quote("x" * 500)) == 102


def test_times_are_told_as_seen_from_the_moment() -> None:
    assert when(datetime(2025, 4, 17, 9, 5), AT) == "today 09:05"
    assert when(datetime(2025, 4, 18, 0, 0), AT) == "tomorrow 00:00"
    assert when(datetime(2025, 4, 24, 9, 0), AT) == "Thu 24 Apr 2025 09:00"
    assert when(None, AT) == "no time"
