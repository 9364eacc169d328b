"""The order in a turn, without what is said around it."""

import pytest

from ctrag.assistant.conversation.corrections import corrected, redirected
from ctrag.assistant.conversation.remarks import order_of, remark, without_remarks
from stores.people.items import Contact


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("He does not answer. Then ring Omar", "ring Omar"),
        ("Omar. Call him back for me", "Call Omar back"),
        ("scrap the rowing, my legs are dead", "scrap the rowing"),
        ("the ropes, can you push them to Thursday?", "push the ropes to Thursday"),
        ("the other one you can pass on to Omar", "pass the other one on to Omar"),
        ("send it to Omar so he can print it", "send it to Omar"),
        ("remind me at six, or I'll forget it", "remind me at six"),
        ("make it seven would you", "make it seven"),
        ("tell Omar I'm late please", "tell Omar I'm late"),
        ("mail him then", "mail him"),
        ("that's a good one, put it on the list", "put it on the list"),
    ],
)
def test_a_remark_a_reason_and_an_object_in_front_are_put_aside(text: str, order: str) -> None:
    assert order_of(text) == order


@pytest.mark.parametrize(
    "text",
    [
        "tell Omar I'm late, the tram broke down",
        "I'm late, tell Omar",
        "the rope is back at the shop, so take that off",
        "what's the weather in Bergen",
        "add soup, the one with leeks",
        "tell him thanks",
        "reply yes please",
        "say no thank you",
        "tell Omar I'm here now",
        "we've run out of bin bags, put them on the shopping list",
        "I've got the vet on Monday at four, stick it in the calendar",
        "I have to ring the bank, can you remind me tomorrow",
        "remind me at six, I need to call Omar",
    ],
)
def test_what_belongs_to_an_order_stays_with_it(text: str) -> None:
    assert order_of(text) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("move it to half past nine, or no, quarter past", "move it to quarter past nine"),
        ("do that at 2, nope 1:30", "do that at 1:30"),
        ("at 7, not 6", "at 7"),
        ("remind me an hour before. No, make it two hours before", "remind me two hours before"),
        ("add oa— no, rope", "rope"),
    ],
)
def test_what_is_taken_back_at_once_was_not_said(text: str, meant: str) -> None:
    assert corrected(text) == meant


def test_another_way_to_reach_somebody_keeps_who_is_meant() -> None:
    assert redirected("Call Omar, no, don't call, mail him I'm late") == "mail Omar I'm late"


def test_remarks_are_no_requests_and_stay_with_a_message() -> None:
    assert remark("how kind of her")
    assert remark("he'll be wondering")
    assert not remark("I would like to hear Autobahn")
    assert without_remarks(["Good", "ring Omar"]) == ["ring Omar"]
    off = without_remarks(["rowing is off for me, calf", "cancel", "ring Omar"])
    assert off == ["rowing is off for me, calf. cancel", "ring Omar"]
    kept = without_remarks(["tell Omar to come", "he'll be wondering"])
    assert kept == ["tell Omar to come. he'll be wondering"]


CONTACTS = (
    Contact("Omar Salcedo", "dispatcher"),
    Contact("Lena Brandt", "sister"),
    Contact("Ruth Quist", "mother"),
)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Omar's late again. Tell him we start at six", "Tell Omar we start at six"),
        ("Lena's not answering. Write her the oars are dry", "Write Lena the oars are dry"),
        ("Ruth wants the keys. Tell her they hang by the door", "Tell Ruth they hang by the door"),
        ("Omar called. Ring him back", "Ring Omar back"),
        ("Omar's sister. Tell her I'm late", "Tell Omar's sister I'm late"),
        ("It's late. Tell her we are home", "Tell her we are home"),
        ("Ruth is asleep. Move her pills to nine", "Move her pills to nine"),
        (
            "my sister's got the keys. Text her thank you so much",
            "Text my sister thank you so much",
        ),
        ("Tuesday is full. Ask her about Friday", "Ask her about Friday"),
        ("The car is fixed. Let him know it cost 300", "Let him know it cost 300"),
    ],
)
def test_who_is_told_is_the_contact_of_the_remark_and_nothing_else(text: str, order: str) -> None:
    assert order_of(text, CONTACTS) == order
