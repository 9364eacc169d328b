"""Claims about texts as they are sent."""

import pytest

from ctrag.assistant.planning.messages import sent_text, subject_of


@pytest.mark.parametrize(
    ("read", "request_", "sent"),
    [
        ("To water the ferns.", "remind Ole to water the ferns", "Water the ferns."),
        ("To the harbour at six.", "tell Ole to the harbour at six", "To the harbour at six."),
        ("Thanks to Ines.", "say thanks to Ines", "Thanks."),
        ("Thanks to Ines.", "tell Ole thanks to Ines", None),
        ("How long will it'll take?", "ask Ole how long it'll take", "How long will it take?"),
        ("Do you have what you've got?", "ask Ole if he has what he's got", None),
        ("I will see what she'll say.", "tell Ole I will see what she'll say", None),
    ],
)
def test_a_message_has_no_infinitive_for_a_request_and_no_verb_twice(
    read: str, request_: str, sent: str | None
) -> None:
    assert sent_text(read, request_) == (read if sent is None else sent)


def test_a_subject_of_which_nothing_was_said_is_the_message_s_own() -> None:
    text = "I fetch Leo from nursery."
    assert subject_of("Trip to the farm", text, "tell Ruth I fetch Leo") == text.rstrip(".")
    assert subject_of("Nursery", text, "tell Ruth I fetch Leo") == "Nursery"
    long = "The train stands in Hamar and nobody knows when it goes on."
    assert subject_of("Picnic", long, "x") == "The train stands in Hamar and nobody …"
