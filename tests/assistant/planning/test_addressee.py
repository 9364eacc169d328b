"""Claims about whom a request wants something said to, and whom a call reaches."""

import pytest

from ctrag.assistant.planning.addressee import addressee, as_asked, as_possessed, reaches_others
from ctrag.assistant.planning.plan import Plan
from stores.people.items import Contact, Item

CONTACTS = (
    Contact("Ruth Quist", "wife"),
    Contact("Dr. Pavel Novak", "family doctor"),
    Contact("Ines Duarte", "head of Leo's nursery"),
    Contact("Ole Berg", "plumber"),
)
MAIL = Item("m1", "mail", {"sender": "Ines Duarte", "subject": "Trip to the farm"})
PICNIC = Item("c1", "calendar", {"title": "Picnic", "attendees": ("Ruth Quist", "Ole Berg")})


@pytest.mark.parametrize(
    ("request_", "whom"),
    [
        ("tell Ruth I fetch Leo from nursery", "Ruth"),
        ("please let my wife know the train is late", "my wife"),
        ("drop Dr. Novak a line that the pills work", "Dr Novak"),
        ("could you write to the plumber: the tap drips again", "the plumber"),
        ("e-mail Ines Duarte that Leo is ill", "Ines Duarte"),
        ("ask Ole whether Monday suits him", "Ole"),
        ("send an e-mail to Ole asking if he can come", "Ole"),
        ("drop a quick line to my wife", "my wife"),
        ("text Ole that the tap drips", ""),
        ("tell Ruth's mother hello", ""),
        ("remind me to ask Ruth", ""),
        ("tell everybody the picnic is off", ""),
        ("what did Ruth write", ""),
        ("let me know when Ole calls", ""),
        ("tell Ruth Leo is ill", "Ruth"),
        ("message Ole ole is his name", "Ole"),
        ("tell Ole Berg the tap drips", "Ole Berg"),
        ("tell my wife Ruth the tap drips", "my wife Ruth"),
        ("answer Ole's plumber mail", ""),
        ("tell the head plumber the tap drips", "the head plumber"),
        ("tell Leo's nursery he is ill", "Leo's nursery"),
        ("I have to tell Ole the tap drips", "Ole"),
        ("i should let Ruth know I'm late", "Ruth"),
    ],
)
def test_the_one_behind_the_verb_is_addressed(request_: str, whom: str) -> None:
    assert addressee(request_, CONTACTS) == whom


def test_names_that_are_other_words_and_relations_by_marriage_are_addressed() -> None:
    contacts = (
        Contact("Will Turner"),
        Contact("May Lind"),
        Contact("Ada Pohl", "mother-in-law"),
        Contact("Leo Quist", "son"),
        Contact("Ann Bell"),
        Contact("Ann Cole"),
    )
    assert addressee("tell Will will be late", contacts) == "Will"
    assert addressee("ask May if Friday suits her", contacts) == "May"
    assert addressee("tell Ann C the tap drips", contacts) == "Ann C"
    assert addressee("tell Ann I am late", contacts) == "Ann"
    assert addressee("ask my mother-in-law what she wants", contacts) == "my mother-in-law"
    assert addressee("tell Ann Leo is ill", contacts) == "Ann"


def test_a_message_to_another_than_the_one_addressed_goes_astray() -> None:
    def astray(plan: Plan, whom: str, said: str = "") -> bool:
        return reaches_others(plan, whom, CONTACTS, (MAIL, PICNIC), said)

    mail = {"subject": "Late", "body": "Late"}
    assert not astray(Plan("send_mail", {"to": "Ruth Quist", **mail}), "my wife")
    assert astray(Plan("send_mail", {"to": "Ines Duarte", **mail}), "Ruth")
    answer = Plan("reply_to_mail", {"subject": "Trip to the farm", "body": "Late"})
    assert not astray(answer, "Ines")
    assert astray(answer, "Ruth")
    picnic = Plan("notify_attendees", {"title": "Picnic", "message": "Late"})
    assert astray(picnic, "Ruth"), "Ole would read it too"
    assert not astray(picnic, "Ruth", "tell Ruth and all the others I'm late")
    assert not astray(picnic, ""), "nobody is addressed"
    assert not astray(Plan("create_reminder", {"title": "Late"}), "Ruth")


@pytest.mark.parametrize(
    ("said", "framed"),
    [
        ("write Ole asking if the tap drips", "ask Ole if the tap drips"),
        (
            "please mail Ruth Quist a note saying that it rains",
            "please tell Ruth Quist that it rains",
        ),
        ("write to my wife, asking when she's home", "ask my wife when she's home"),
        ("send a message to Ole asking if he can come", "ask Ole if he can come"),
        ("send Ole a quick e-mail asking whether he can", "ask Ole whether he can"),
        ("text Ruth asking her if she's free", "ask Ruth if she's free"),
        ("send Ole a note and ask him to ring", "ask Ole to ring"),
        ("write a note saying that it drips", "write a note saying that it drips"),
        ("write myself a note asking when it is", "write myself a note asking when it is"),
        ("send a reminder saying that it drips", "send a reminder saying that it drips"),
        ("send it to Ole and ask him to look", "send it to Ole and ask him to look"),
        ("drop Leo off and tell him to wait", "drop Leo off and tell him to wait"),
        ("write Ole a poem", "write Ole a poem"),
        ("tell Ole that it drips", "tell Ole that it drips"),
    ],
)
def test_writing_somebody_a_question_is_asking_them(said: str, framed: str) -> None:
    assert as_asked(said) == framed


@pytest.mark.parametrize(
    ("request_", "read", "meant"),
    [
        ("tell Ruth I'll feed her cat", "I'll feed you.", "tell Ruth I'll feed your cat"),
        ("tell Ruth I carry her books", "I carry you books.", "tell Ruth I carry your books"),
        ("tell Ruth I bring her books", "I bring you back.", "tell Ruth I bring your books"),
        ("tell Ruth I bring her soup", "I bring you soup.", None),
        ("tell Ruth I'll meet her at six", "I'll meet you at six.", None),
        ("tell Ruth I'll help her paint", "I'll help you paint.", None),
        ("tell Ruth I'll take her shopping", "I'll take you shopping.", None),
        ("tell Ruth we miss her loads", "We miss you loads.", None),
        ("tell Ruth I'll tell her everything", "I'll tell you everything.", None),
        ("tell Ruth I found her ring", "I found you ring.", "tell Ruth I found your ring"),
        ("tell Ruth I'll help her aunt", "I'll help you aunt.", "tell Ruth I'll help your aunt"),
        ("tell Ruth I thank her very much", "I thank you very much.", None),
        ("tell Ruth her parcel is here", "Your parcel is here.", None),
        ("tell Ole I'll feed her cat", "I'll feed her cat.", None),
    ],
)
def test_what_belongs_to_the_one_addressed_is_not_lost(
    request_: str, read: str, meant: str | None
) -> None:
    assert as_possessed(request_, read) == (meant or request_)
