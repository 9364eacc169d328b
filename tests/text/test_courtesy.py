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
        "any chance you could call Ana back about the keys",
        "sorry to bother you but can you call Ana back about the keys",
        "if it's not too much trouble could you call Ana back about the keys",
        "would you mind awfully calling Ana back about the keys",
        "I don't suppose you could call Ana back about the keys?",
        "if you could call Ana back about the keys that'd be great",
        "call Ana back about the keys would you",
        "You couldn't call Ana back about the keys, could you?",
    ],
)
def test_an_order_is_the_same_however_politely_it_is_put(polite: str) -> None:
    assert without_courtesy(polite).rstrip(".?") == ORDER


@pytest.mark.parametrize(
    "said",
    [
        "can you see the moon tonight",
        "could you have it both ways in chess",
        "tell Ana if she can come that'd be great",
        "tell Ana you wouldn't like it, would you",
        "tell Ana sorry to bother you but can you ring",
        "any chance of rain",
        "which one would you",
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


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("if you could just tell Ana I'm here that'd be great", "tell Ana I'm here"),
        ("tell Ana I'm here, would you?", "tell Ana I'm here."),
        ("ring Ana, will you", "ring Ana"),
    ],
)
def test_what_is_said_to_the_assistant_is_no_end_of_a_message(said: str, asked: str) -> None:
    assert without_courtesy(said) == asked


def test_a_question_that_follows_stays_a_question() -> None:
    assert (
        without_courtesy("Could you move it to nine? Is she free then?")
        == "move it to nine. Is she free then?"
    )
    assert (
        without_courtesy("Please, what was it that she wanted?") == "what was it that she wanted?"
    )
