"""Claims about what one meant, of what was said aloud or typed in haste."""

import pytest

from ctrag.text.dates.spelling import respelled
from ctrag.text.false_starts import as_meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("a shop near, near the port, no wait, near the market", "a shop near the market"),
        ("flights, Oslo to Bergen, no, to Bodø, on Friday", "flights, Oslo to Bodø, on Friday"),
        ("put on, put on some polka", "put on some polka"),
        ("uh what, um, what did I note", "what did I note"),
        ("I've got a, got an idea", "I've got an idea"),
        ("ring the tile people, what's it, Norrkakel", "ring the tile people, Norrkakel"),
        ("tell ole im late, dont wait", "tell ole I'm late, don't wait"),
        ("What's it like in Bodø", "What's it like in Bodø"),
        ("at six, no, at seven", "at seven"),
        ("no wait, near the market", "no wait, near the market"),
        ("um", "um"),
    ],
)
def test_false_starts_are_left_out_and_nothing_else(said: str, meant: str) -> None:
    assert as_meant(said) == meant


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("tomorow at 10", "tomorrow at 10"),
        ("saterday 9pm", "saturday 9pm"),
        ("2moro", "tomorrow"),
        ("to fri same time", "to friday same time"),
        ("wed 7 is good", "wednesday 7 is good"),
        ("we sat there in the sun", "we sat there in the sun"),
        ("they wed in May", "they wed in May"),
        ("mondays, mourning, money", "mondays, mourning, money"),
    ],
)
def test_days_are_read_as_they_are_typed_in_haste(typed: str, read: str) -> None:
    assert respelled(typed) == read


def test_ten_thousand_signs_are_read_in_no_time() -> None:
    for text in ("a, " * 5_000, " " * 10_000, "near x, no, " * 800, "um " * 3_000):
        assert len(as_meant(text)) <= len(text)
