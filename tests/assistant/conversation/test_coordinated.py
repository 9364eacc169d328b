"""One verb for two things, and what is reported done: two requests where one call takes one thing."""

from datetime import datetime

import numpy as np
import pytest

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.coordinated import requests_of
from stores.people.items import Contact, Item, Person, Profile

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person(
    "ada",
    AT,
    Profile(name="Ada Quist"),
    (
        Contact("Ruth Quist", "mother"),
        Contact("Leo Quist", "father"),
        Contact("Omar Salcedo", "dispatcher"),
        Contact("Lena Brandt", "sister"),
    ),
)


def reminder(number: int, title: str) -> Item:
    fields = {"title": title, "due": AT, "list": "Home", "done": False}
    return Item(f"r{number}", "reminders", fields)


def event(number: int, title: str, *who: str) -> Item:
    fields = {"title": title, "start": AT, "end": AT, "location": "", "attendees": who}
    return Item(f"c{number}", "calendar", fields)


ITEMS = (
    reminder(1, "Buy bread and butter"),
    reminder(2, "Change the water filter"),
    reminder(3, "Pay the rent"),
    event(1, "Rowing", "Omar Salcedo", "Lena Brandt"),
    event(2, "Dentist"),
)
VIEW = PersonView(ADA, ITEMS, np.zeros((len(ITEMS), 4), np.float32))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("call mum and dad", ["call mum", "call dad"]),
        (
            "tell Omar dinner's at six and ask Lena if she's coming",
            ["tell Omar dinner's at six", "ask Lena if she's coming"],
        ),
        (
            "tell Omar to feed the cat and tell him where the key is",
            ["tell Omar to feed the cat and tell him where the key is"],
        ),
        (
            "tell Omar to get changed and then call a taxi",
            ["tell Omar to get changed and then call a taxi"],
        ),
        ("remind me to also ring Omar", ["remind me to also ring Omar"]),
        (
            "cancel the rowing tell Omar I'm ill remind me at six to ring mum",
            ["cancel the rowing", "tell Omar I'm ill", "remind me at six to ring mum"],
        ),
        ("call Leo text Lena dinner's ready", ["call Leo", "text Lena dinner's ready"]),
        ("tell Omar to call Lena", ["tell Omar to call Lena"]),
        ("tell Omar I'll call Lena", ["tell Omar I'll call Lena"]),
        ("play call mum", ["play call mum"]),
        (
            "remind me to water the plants and then call Omar",
            ["remind me to water the plants and then call Omar"],
        ),
        (
            "remind me at six to ring the bank and then play some jazz",
            ["remind me at six to ring the bank", "play some jazz"],
        ),
        (
            "tell Lena I'll send the report and call her tomorrow",
            ["tell Lena I'll send the report and call her tomorrow"],
        ),
        (
            "can you cancel the rowing and can you also let Omar know",
            ["can you cancel the rowing", "can you also let Omar know"],
        ),
        (
            "forward the tide table to mum and dad both",
            [
                "forward the tide table to mum",
                "forward the tide table to dad",
            ],
        ),
        ("weather Graz tmrw and Linz the 8th", ["weather in Graz tmrw", "weather in Linz the 8th"]),
        (
            "what's the weather in Graz and in Linz",
            [
                "what's the weather in Graz",
                "what's the weather in Linz",
            ],
        ),
        (
            "what's the weather in Trinidad and Tobago",
            ["what's the weather in Trinidad and Tobago"],
        ),
        (
            "weather at the pier tomorrow and the hills on Sunday",
            ["weather at the pier tomorrow", "weather at the hills on Sunday"],
        ),
        ("call mum. tell her I'm late", ["call mum", "tell her I'm late"]),
        ("call mum and tell her I'm late", ["call mum and tell her I'm late"]),
        ("weather Saturday and Sunday", ["weather Saturday and Sunday"]),
        (
            "filter's changed, that one's finished - oh, and tell mum why",
            [
                "tick off Change the water filter",
                "tell mum why",
            ],
        ),
        ("tell mum and dad I'm late", ["tell mum I'm late", "tell dad I'm late"]),
        (
            "share the tide table with Omar and mum",
            ["share the tide table with Omar", "share the tide table with mum"],
        ),
        (
            "move rowing to six and the dentist to seven",
            ["move rowing to six", "move the dentist to seven"],
        ),
        (
            "put the vet in for the 5th at 10 and the barber on the 6th at 11",
            ["put the vet in for the 5th at 10", "put the barber in on the 6th at 11"],
        ),
        (
            "remind me at eight to lock up and at nine to call Omar",
            ["remind me at eight to lock up", "remind me at nine to call Omar"],
        ),
        (
            "set a reminder for 8 to lock up and another one for 9 to eat",
            ["set a reminder for 8 to lock up", "set a reminder for 9 to eat"],
        ),
        ("cancel rowing and the dentist", ["cancel rowing", "cancel the dentist"]),
        (
            "filter's changed. how do I get to Bergen",
            ["tick off Change the water filter", "how do I get to Bergen"],
        ),
        (
            "The rent I've paid, you can cross that off, and call Omar for me",
            ["tick off Pay the rent", "call Omar"],
        ),
        ("call Omar and rent's paid tick it", ["call Omar", "tick off Pay the rent"]),
        (
            "filter is changed so that's done, and the dentist can wait till noon",
            ["tick off Change the water filter", "move the dentist to noon"],
        ),
        (
            "ring Lena and rowing tomorrow 9 not ten",
            ["ring Lena", "move rowing to tomorrow 9"],
        ),
        ("pause that. mums voicemail", ["pause that", "play mums voicemail"]),
        (
            "translate hello into French and goodbye into German",
            ["translate hello into French", "translate goodbye into German"],
        ),
        (
            "ask dad for the keys and mum for the car",
            ["ask dad for the keys", "ask mum for the car"],
        ),
        ("rowing at 7 instead and tell Omar", ["rowing at 7 instead", "tell Omar"]),
        (
            "cancel the dentist, I'm ill, and let Omar know",
            ["cancel the dentist, I'm ill", "let Omar know"],
        ),
        (
            "rent paid and filter changed",
            ["tick off Pay the rent", "tick off Change the water filter"],
        ),
    ],
)
def test_what_one_call_cannot_take_is_two_requests(text: str, parts: list[str]) -> None:
    assert requests_of(text, ADA, VIEW) == parts


@pytest.mark.parametrize(
    "text",
    [
        "tick off bread and butter",
        "put lunch with mum and dad in for Friday at one",
        "tell Omar and Lena I'm late",  # they take part in one event
        "remind me in an hour and a half to eat",
        "the rent is paid, tick it off",
        "the storm has passed, call Omar",
        "the rent is paid, you can cross it off",
        "How kind of her. Put rowing with Omar in for Friday",
        "what time is the dentist, and where is it",
    ],
)
def test_what_is_one_thing_stays_one_request(text: str) -> None:
    assert requests_of(text, ADA, VIEW) == [text]
