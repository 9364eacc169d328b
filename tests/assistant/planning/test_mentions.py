"""Claims about who is meant by a name, a nickname, a role or a relation."""

import pytest

from ctrag.assistant.planning.mentions import mentioned, shortened
from stores.people.items import Contact

CONTACTS = [
    Contact("Anna Berg", "colleague"),
    Contact("Anna Holt", "landlady"),
    Contact("Mrs Adaora Nwosu", "mother"),
    Contact("Isatou Jallow", "sister"),
    Contact("Iqra Qureshi", "daughter, 16"),
    Contact("Madam Nuzhat", "Iqra's physics tutor"),
    Contact('Rafael "Rafa" Souza', "plumber"),
    Contact("Sister Agnes", "choir leader"),
    Contact("Simone Adler", "mother's heart doctor"),
    Contact("Will Okoro", "electrician"),
    Contact("Don", "barber"),
    Contact("Boss Lind", "yard owner"),
    Contact("Vera Kos", "canteen manager"),
    Contact("Han Mi-sun", "piano tuner"),
]


@pytest.mark.parametrize(
    ("mention", "names"),
    [
        ("Anna Holt", ["Anna Holt"]),
        ("boss", ["Boss Lind"]),
        ("the manager", ["Vera Kos"]),
        ("misun", ["Han Mi-sun"]),
        ("Mi-sun", ["Han Mi-sun"]),
        ("anna holt", ["Anna Holt"]),
        ("Anna", ["Anna Berg", "Anna Holt"]),
        ("my landlord", ["Anna Holt"]),
        ("mum", ["Mrs Adaora Nwosu"]),
        ("my mother", ["Mrs Adaora Nwosu"]),
        ("isatu", ["Isatou Jallow"]),
        ("Iqra", ["Iqra Qureshi"]),
        ("Iqra's tutor", ["Madam Nuzhat"]),
        ("the physics teacher", ["Madam Nuzhat"]),
        ("rafa", ['Rafael "Rafa" Souza']),
        ("the plumber", ['Rafael "Rafa" Souza']),
        ("Mrs Nwosu", ["Mrs Adaora Nwosu"]),
        ("my sister", ["Isatou Jallow"]),
        ("sister agnes", ["Sister Agnes"]),
        ("mum's doctor", ["Simone Adler"]),
        ("Will", ["Will Okoro"]),
        ("don", ["Don"]),
        ("Iqra Hanım", ["Iqra Qureshi"]),
        ("Iqra Malik", []),
        ("iqra from the shop", ["Iqra Qureshi"]),
        ("Zoe", []),
        ("Zoe Adams", []),
        ("him", []),
        ("", []),
    ],
)
def test_a_mention_names_those_whom_its_words_fit(mention: str, names: list[str]) -> None:
    assert [one.name for one in mentioned(mention, CONTACTS)] == names


@pytest.mark.parametrize(
    ("mention", "name"),
    [("isa", "Isatou Jallow"), ("Sim", "Simone Adler"), ("i", None), ("an", None), ("zo", None)],
)
def test_the_beginning_of_one_first_name_is_that_one(mention: str, name: str | None) -> None:
    found = shortened(mention, CONTACTS)
    assert (None if found is None else found.name) == name
