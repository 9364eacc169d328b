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
        ("Book it for nine. Nine twenty, rather.", "Book it for Nine twenty."),
        (
            "I fed the second one to six. Six times, rather",
            "I fed the second one to six. Six times, rather",
        ),
        ("rem oil the hinges fri", "remind me to oil the hinges fri"),
        ("rem", "rem"),
        (
            "put in tea with Ole at one in Bodø. No, he works late, make that half past two.",
            "put in tea with Ole at half past two in Bodø.",
        ),
        (
            "tea at one, then walk at two, make it long",
            "tea at one, then walk at two, make it long",
        ),
        (
            "say I am in at one. No, you can make it two",
            "say I am in at one. No, you can make it two",
        ),
        ("chemist nr the stn", "chemist near the station"),
        ("no wait, near the market", "no wait, near the market"),
        ("um", "um"),
        ("pictures of, um, a kite", "pictures of a kite"),
        ("coming up with, er, with Ole", "coming up with Ole"),
        ("about the, eh, the Bodø market", "about the Bodø market"),
        ("play, oh what are they called, Kraftwerk", "play Kraftwerk"),
        ("a bit of, hold on, who's that, Kraftwerk", "a bit of Kraftwerk"),
        ("pea soup for two, um, carrots", "pea soup for two, carrots"),
        ("the shed gets four, no, five bags", "the shed gets five bags"),
        ("two tins of peas, no sorry, three tins", "three tins of peas"),
        ("at six ten, no, six fifteen", "at six fifteen"),
        ("it is of nineteen ninety, no wait, 1991", "it is of 1991"),
        ("on Sunday, no sorry, Saturday at four", "on Saturday at four"),
        ("the latest on the harbour, no, the market", "the latest on the market"),
        ("ring Ada, no wait, Bella", "ring Bella"),
        ("tell Ole no, three is too many", "tell Ole no, three is too many"),
        ("room for two, no matter when", "room for two, no matter when"),
        ("add milk, no, bread and milk", "add milk, no, bread and milk"),
        ("nice, eh?", "nice, eh?"),
        ("text Mum, sorry, I missed you", "text Mum, sorry, I missed you"),
        ("answer her, Ruth I mean, that we come", "answer Ruth that we come"),
        ("tell her I mean it", "tell her I mean it"),
        ("tell Mum, actually, Dad is fine", "tell Mum, actually, Dad is fine"),
        ("I can't on Monday, sorry, Tuesday works", "I can't on Monday, sorry, Tuesday works"),
        ("Delete Rome, no, Oslo", "Delete Oslo"),
        ("I can't on Sunday, no, Monday is out", "I can't on Sunday, no, Monday is out"),
        ("put it on Sunday, no, Monday morning", "put it on Monday morning"),
        ("bring the keys, no, the door is open", "bring the keys, no, the door is open"),
        ("play Hold On, by Wilson Phillips", "play Hold On, by Wilson Phillips"),
        ("text Ann: in the fridge, no, the freezer", "text Ann: in the fridge, no, the freezer"),
        ("um, send Ann this: no, no, no", "send Ann this: no, no, no"),
        ("manda um beijo pro Caio", "manda um beijo pro Caio"),
        ("yes to the tap and no to the sink", "yes to the tap and no to the sink"),
        ("at seven, no, quarter to, by the pier", "at seven, no, quarter to, by the pier"),
        ("like nine plus, no, nine sharp", "like nine sharp"),
        ("well, thank you, you've been kind", "well, thank you, you've been kind"),
        ("play some Dolly Parton, no wait, Emmylou Harris", "play some Emmylou Harris"),
        ("at the end of my note, um: salt", "at the end of my note: salt"),
        ("at the pier at six, no, at seven", "at the pier at seven"),
        ("put it in for Monday, sorry, for Sunday", "put it in for Sunday"),
        ("a train to Oslo, sorry, to Bodø", "a train to Bodø"),
        ("two of us, no, three of us come", "three of us come"),
        ("at six, no one o'clock", "at one o'clock"),
        ("could you, could you move it", "could you move it"),
        ("call, um, call the vet", "call the vet"),
        ("I'll, I'll be late", "I'll be late"),
        ("at nine, nine in the morning", "at nine in the morning"),
        ("on Sunday, no, no, Monday", "on Monday"),
    ],
)
def test_false_starts_are_left_out_and_nothing_else(said: str, meant: str) -> None:
    assert as_meant(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "tell Lena I have to cancel, sorry to mess you about",
        "text Ole thanks for the lift, sorry for the mud",
        "tell Ole I'm on the pier, sorry, on the far side of it",
        "write Ole I can't come on Friday actually on any day",
        "tell Ruth I'm late at work, wait at home",
        "tell Ruth sorry, tell Ole he was right",
        "say yes to the tap, no to the sink",
        "remind me at six, no one will be in",
        "tell Ruth I come at six, no one else can",
        "tell Ruth it's at six, no two people agree",
        "tea at five, no one at home minds",
    ],
)
def test_an_apology_and_no_one_take_nothing_back(said: str) -> None:
    assert as_meant(said) == said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("remind me at five no six to call Ole", "remind me at six to call Ole"),
        ("at five sorry six", "at six"),
        ("at five pm actually six", "at six pm"),
        ("in ten no twenty minutes", "in twenty minutes"),
        ("for Sunday sorry Monday at ten", "for Monday at ten"),
        ("move it to Sunday, no hang on, Monday", "move it to Monday"),
        ("for the 14th, sorry, the 15th, at one", "for the 15th, at one"),
        ("call Ida sorry Ada", "call Ada"),
        ("tea with Ida actually Ada on Friday", "tea with Ada on Friday"),
        ("buy eggs no sorry milk", "buy milk"),
        ("tell Ada I can't, no actually tell her I'll be late", "tell Ada I'll be late"),
        ("tell my aunt I come, no, tell her I don't", "tell my aunt I don't"),
    ],
)
def test_the_later_of_a_kind_is_kept_without_commas_too(said: str, meant: str) -> None:
    assert as_meant(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "at five sorry two of us are ill",
        "see you at five sorry I'm late",
        "at seven no later",
        "remind me at six no one will be in",
        "I can't on Sunday sorry Monday?",
        "tell Ida sorry Ada is ill",
        "tell Ida no sorry mate",
        "bring it no wait tomorrow",
        "flat 3 no 12 High Street",
    ],
)
def test_what_is_of_another_kind_takes_nothing_back(said: str) -> None:
    assert as_meant(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "play Ring, Ring",
        "play In, In the Rain",
        "tell Ole well done, well done",
        "tell Ole no, no, no",
        "add salt, salt and vinegar crisps",
        "tell Ole I'll ring, ring when you can",
        "say it's a long, long way",
        "delete the old list, List B",
    ],
)
def test_what_is_meant_twice_is_said_twice(said: str) -> None:
    assert as_meant(said) == said


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("tomorow at 10", "tomorrow at 10"),
        ("saterday 9pm", "saturday 9pm"),
        ("2moro", "tomorrow"),
        ("to fri same time", "to friday same time"),
        ("wed 7 is good", "wednesday 7 is good"),
        ("we sat there in the sun", "we sat there in the sun"),
        ("weather in Bergen sat", "weather in Bergen saturday"),
        ("the chair on which she sat", "the chair on which she sat"),
        ("they wed in May", "they wed in May"),
        ("mondays, mourning, money", "mondays, mourning, money"),
    ],
)
def test_days_are_read_as_they_are_typed_in_haste(typed: str, read: str) -> None:
    assert respelled(typed) == read


def test_ten_thousand_signs_are_read_in_no_time() -> None:
    for text in ("a, " * 5_000, " " * 10_000, "near x, no, " * 800, "um " * 3_000):
        assert len(as_meant(text)) <= len(text)
