"""Claims about phone numbers in what was said."""

import pytest

from ctrag.text.phone_numbers import dictated_numbers, written_numbers


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("dial two one eight, five five oh, nine hundred", ["218550900"]),
        ("oh seven double four, one two three", ["0744123"]),
        ("eight hundred, five five five, twenty one ten", ["8005552110"]),
        ("call oh seven double four, one two 3 please", ["0744123"]),
        ("call 020 7946 0018", []),
        ("at five remind the two of them of chapter one", []),
        ("a hundred eggs", []),
    ],
)
def test_a_number_is_read_as_it_is_dictated(said: str, numbers: list[str]) -> None:
    assert list(dictated_numbers(said)) == numbers


def test_a_number_in_digits_is_kept_as_written_and_a_date_is_none() -> None:
    assert written_numbers("ring +46 10 555 99 00 on 2025-04-17") == ["+46 10 555 99 00"]
