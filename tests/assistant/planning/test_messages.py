"""Claims about texts as they are sent."""

import pytest

from ctrag.assistant.planning.messages import dictated, sent_text, subject_of, without_frame
from stores.people.items import Contact


@pytest.mark.parametrize(
    ("read", "request_", "sent"),
    [
        ("To water the ferns.", "remind Ole to water the ferns", "Water the ferns."),
        ("Not to wait.", "tell Ole not to wait", "Don't wait."),
        ("To not wait.", "tell Ole to not wait", "Don't wait."),
        ("Not to worry.", "tell Ole all is fine", None),
        ("To the harbour at six.", "tell Ole to the harbour at six", "To the harbour at six."),
        ("Thanks to Ines.", "say thanks to Ines", "Thanks."),
        ("Thanks to Ines.", "tell Ole thanks to Ines", None),
        ("How long will it'll take?", "ask Ole how long it'll take", "How long will it take?"),
        ("Do you have what you've got?", "ask Ole if he has what he's got", None),
        ("I will see what she'll say.", "tell Ole I will see what she'll say", None),
        ("He will come, I'll stay.", "tell Ole he comes, I'll stay", None),
        (
            "For the big tent.",
            "write Ole and ask him for the big tent",
            "Could I have the big tent?",
        ),
        ("For the boat, six o'clock.", "tell Ole for the boat, six o'clock", None),
        ("I come and that I stay.", "tell Ole that I come and that I stay", "I come and I stay."),
        ("I left and that hurt.", "tell Ole I left and that hurt", None),
    ],
)
def test_a_message_has_no_infinitive_for_a_request_and_no_verb_twice(
    read: str, request_: str, sent: str | None
) -> None:
    assert sent_text(read, request_) == (read if sent is None else sent)


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        ("answer Ole's question: yes, come at six", "Yes, come at six."),
        ("Write Ole: his keys are here. Ring me!", "His keys are here. Ring me!"),
        ("answer Ole: come at six, no wait, at seven", None),
        ("tell Ole the train comes at 10:45 sharp", None),
        ("add to the list: eggs and milk", None),
        ("tell Ole: yes", None),
        ("reply to the mail Re: Lunch on Friday", None),
        ("e-mail Ole, subject: keys, body: in the shed", None),
        ("tell all in Standup: weekly sync I'm late", None),
    ],
)
def test_a_dictated_message_is_sent_as_it_is(request_: str, sent: str | None) -> None:
    assert dictated(request_, ["Standup: weekly sync"]) == sent


def test_a_subject_of_which_nothing_was_said_is_the_message_s_own() -> None:
    text = "I fetch Leo from nursery."
    assert subject_of("Trip to the farm", text, "tell Ruth I fetch Leo") == text.rstrip(".")
    assert subject_of("Nursery", text, "tell Ruth I fetch Leo") == "Nursery"
    long = "The train stands in Hamar and nobody knows when it goes on."
    assert subject_of("Picnic", long, "x") == "The train stands in Hamar and nobody …"


@pytest.mark.parametrize(
    ("read", "request_", "whom", "wanted"),
    [
        ("Ole Red is fine.", "email ole red is fine", "ole", "Red is fine."),
        ("Friday suits, write you.", "ole friday suits, write him", "", "Friday suits."),
        (
            "The proof is good, so please write to Ole that you can print.",
            "The proof is good, so please write to Ole that he can print.",
            "",
            "The proof is good, you can print.",
        ),
        ("Please tell Ruth I owe her one.", "write to Ole. Please tell Ruth", "Ole", None),
        ("Ole comes at six.", "tell Ruth Ole comes at six", "Ruth", None),
    ],
)
def test_what_is_said_to_the_assistant_is_not_sent(
    read: str, request_: str, whom: str, wanted: str | None
) -> None:
    contacts = (Contact("Ole Berg", "neighbour"), Contact("Ruth Quist", "wife"))
    assert without_frame(read, request_, whom, contacts) == (wanted or read)
