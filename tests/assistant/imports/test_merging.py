"""One address book into another: nothing is erased, and nobody is taken for somebody else."""

from dataclasses import replace

from ctrag.assistant.imports.merging import same_number, with_contacts
from stores.people.items import Contact

ROWER = Contact("Anna Berg", phone="0151 5", phones=("0151 5",), organisation="Rowing club")
TAXES = Contact("Anna Berg", phone="0151 6", phones=("0151 6",), organisation="Tax office")
MAILED = Contact("Anna Berg", email="anna@berg.example", emails=("anna@berg.example",))


def joined(*books: tuple[Contact, ...], owner: str = "Ada Quist") -> tuple[Contact, ...]:
    contacts: tuple[Contact, ...] = ()
    for book in books:
        contacts = with_contacts(contacts, book, owner)
    return contacts


def test_a_card_with_a_mail_address_only_joins_the_one_of_that_name_and_erases_no_number() -> None:
    [anna] = joined((ROWER,), (MAILED,))
    assert (anna.phone, anna.email, anna.organisation) == (
        "0151 5",
        "anna@berg.example",
        "Rowing club",
    )


def test_two_of_one_name_who_contradict_each_other_both_stay() -> None:
    assert joined((ROWER, TAXES)) == (ROWER, TAXES)


def test_a_card_that_could_be_either_of_two_is_a_third() -> None:
    assert joined((ROWER, TAXES), (MAILED,)) == (ROWER, TAXES, MAILED)


def test_the_same_book_again_changes_nothing() -> None:
    book = (ROWER, TAXES, MAILED, Contact("Ola"), Contact("Ola"))
    once = joined(book)
    assert joined(book, book) == once


def test_two_numbers_without_anything_in_common_are_two_people() -> None:
    first, second = (Contact("Ole Lie", phone=one, phones=(one,)) for one in ("11 11", "22 22"))
    assert joined((first,), (second,)) == (first, second)


def test_a_new_number_of_the_same_person_is_called_and_the_old_one_is_kept() -> None:
    old = Contact(
        "Ole", phone="11 11", phones=("11 11",), emails=("o@x.example",), email="o@x.example"
    )
    new = Contact(
        "Ole", phone="22 22", phones=("22 22",), emails=("O@x.example",), email="O@x.example"
    )
    [ole] = joined((old,), (new,))
    assert (ole.phone, ole.phones) == ("22 22", ("22 22", "11 11"))


def test_a_card_of_a_known_identity_may_have_another_name() -> None:
    [anna] = joined((Contact("Anna Berg", uid="7"),), (Contact("Anna Holt", uid="7"),))
    assert anna.name == "Anna Holt"


def test_an_identity_that_two_people_have_makes_them_no_one_person() -> None:
    anna = Contact("Anna Berg", phone="0151 2345678", uid="1")
    ole = Contact("Ole Lie", phone="0152 9999999", uid="1")
    eva = Contact("Eva Berg", phone="0153 8888888", uid="1")
    assert joined((anna, ole, eva)) == (anna, ole, eva)
    assert joined((anna,), (ole,), (eva,)) == (anna, ole, eva)
    assert joined((anna, ole, eva), (ole, eva, anna)) == (anna, ole, eva)


def test_a_name_that_was_turned_round_is_the_same_and_is_turned_back() -> None:
    turned = Contact("Berg, Anna", phone="0151 5", phones=("0151 5",))
    [anna] = joined((turned,), (replace(turned, name="Anna Berg"),), (turned,))
    assert (anna.name, anna.phones) == ("Anna Berg", ("0151 5",))
    other = Contact("Anna Berg", phone="0151 6", phones=("0151 6",))
    assert joined((turned,), (other,)) == (turned, other)


def test_of_one_book_an_identity_counts_only_where_a_number_agrees() -> None:
    anna = Contact("Anna Berg", phone="0151 2345678", uid="1")
    assert len(joined((anna, Contact("Anna Holt", phone="0152 9999999", uid="1")))) == 2
    assert len(joined((anna, Contact("Anna Holt", phone="+49 151 2345678", uid="1")))) == 1


def test_numbers_are_the_same_with_and_without_a_country_code() -> None:
    assert same_number("+49 151 2345678", "0151/234 56 78")
    assert not same_number("0151 5", "0151 6")
    assert not same_number("", "")


def test_notes_of_both_are_kept() -> None:
    [anna] = joined((Contact("Anna", note="rows"),), (Contact("Anna", note="swims"),))
    assert anna.note == "rows\nswims"


def test_the_persons_own_card_tells_who_is_whose() -> None:
    own = Contact("Ada Quist", related=("mother: Margarethe Quist",))
    _, mother = joined((own, Contact("Margarethe Quist")))
    assert mother.relation == "mother"


def test_a_spouse_whose_card_names_the_person_is_theirs() -> None:
    even, ola = joined(
        (Contact("Even", related=("spouse: Ada",)), Contact("Ola", related=("child: Ada",)))
    )
    assert (even.relation, ola.relation) == ("spouse", "")
