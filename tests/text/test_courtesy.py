"""Claims about politeness: it changes nothing about what is asked for."""

import pytest

from ctrag.text.courtesy import without_courtesy

ORDER = "call Ana back about the keys"


@pytest.mark.parametrize(
    "polite",
    [
        "please call Ana back about the keys",
        "Could you please call Ana back about the keys?",
        "could you just quickly call Ana back about the keys",
        "Would you be so kind as to call Ana back about the keys, please?",
        "Be a dear and call Ana back about the keys.",
        "I was wondering if you could call Ana back about the keys, thank you very much",
        "I'd be very grateful if you could call Ana back about the keys.",
        "I’d like you to call Ana back about the keys, if you don’t mind",
        "Hey, do me a favour and call Ana back about the keys, would you?",
        "Would you mind calling Ana back about the keys?",
        "hey, do you mind just calling Ana back about the keys, please",
        "Good morning, please, could you call Ana back about the keys",
    ],
)
def test_an_order_is_the_same_however_politely_it_is_put(polite: str) -> None:
    assert without_courtesy(polite).rstrip(".?") == ORDER


@pytest.mark.parametrize(
    "said",
    [
        "can you see the moon tonight",
        "could you have it both ways in chess",
        "would you believe it, the bus came",
        "some jazz please",
        "so what's on after lunch",
        "would you mind the cat tonight",
        "would you mind if I came later",
        "tell Ana I found the keys, thank you",
        "please",
        "text Ana: are you home, please?",
        "thanks",
    ],
)
def test_what_is_no_frame_around_an_order_stays(said: str) -> None:
    assert without_courtesy(said) == said


def test_a_question_that_follows_stays_a_question() -> None:
    assert (
        without_courtesy("Could you move it to nine? Is she free then?")
        == "move it to nine. Is she free then?"
    )
    assert (
        without_courtesy("Please, what was it that she wanted?") == "what was it that she wanted?"
    )
