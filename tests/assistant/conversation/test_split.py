"""Several requests in one breath are told apart; an "and" inside one value is not."""

import bz2
from pathlib import Path

import pytest

from ctrag.assistant.conversation.breaks import CARD, WEIGHTS, Breaks
from ctrag.assistant.conversation.split import split
from ctrag.errors import InputError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "call off the tasting and write Omar that I'm ill",
            ["call off the tasting", "write Omar that I'm ill"],
        ),
        ("block the bank & give me jazz", ["block the bank", "give me jazz"]),
        (
            "tell Omar I need leave on the 26th, and take the tasting out of my calendar",
            ["tell Omar I need leave on the 26th", "take the tasting out of my calendar"],
        ),
        (
            "Kindly move the tasting to nine, and connect me with Omar",
            ["Kindly move the tasting to nine", "connect me with Omar"],
        ),
        (
            "delete the mail from the bank, and in the list of ropes add hemp",
            ["delete the mail from the bank", "in the list of ropes add hemp"],
        ),
        ("text Dana then, the crane is free", ["text Dana then, the crane is free"]),
        ("cancel the tasting n tell Omar", ["cancel the tasting", "tell Omar"]),
        (
            "forward Omar's mail to Dana, please, and delete the one from the bank",
            ["forward Omar's mail to Dana", "delete the one from the bank"],
        ),
        (
            "read me what Dana sent, and answer her then that the crane is free",
            ["read me what Dana sent", "answer her then that the crane is free"],
        ),
        (
            "I paid the boiler man, mark it done, and put on some jazz",
            ["I paid the boiler man, mark it done", "put on some jazz"],
        ),
        (
            "tell Omar the crane is free, and then show me who rang",
            ["tell Omar the crane is free", "show me who rang"],
        ),
        (
            "remind me at six to lock the gate, and call the dispatcher",
            ["remind me at six to lock the gate", "call the dispatcher"],
        ),
        (
            "remind me to buy rope at half past six and tell Omar the crane is free",
            ["remind me to buy rope at half past six", "tell Omar the crane is free"],
        ),
        (
            "Pills an hour later instead, and start the Road playlist",
            ["Pills an hour later instead", "start the Road playlist"],
        ),
        (
            "move the crane check to four, let Omar know and flag his mail",
            ["move the crane check to four, let Omar know", "flag his mail"],
        ),
        (
            "email Omar and book a table at seven",
            ["email Omar", "book a table at seven"],
        ),
        (
            "text Omar I'm late and put the crane meeting off till four",
            ["text Omar I'm late", "put the crane meeting off till four"],
        ),
        (
            "what's the weather in Oslo tomorrow and when is my train",
            ["what's the weather in Oslo tomorrow", "when is my train"],
        ),
        (
            "find me a chandler nearby and how do I get there",
            ["find me a chandler nearby", "how do I get there"],
        ),
        ("make it eight and tell her", ["make it eight", "tell her"]),
        ("rowing at six instead, tell Omar", ["rowing at six instead", "tell Omar"]),
        (
            "storm's coming, call off rowing, and I got the rope so please mark it done",
            ["storm's coming, call off rowing", "I got the rope so please mark it done"],
        ),
    ],
)
def test_requests_in_one_breath_are_told_apart(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "add bread and butter to the shopping list",
        "remind me to buy milk and call mum",
        "remind me to meet Omar at six and tell him the crane is free",
        "tell Omar to lock the gate and call me back",
        "tell Omar I'm late and that he should start, sorry",
        "ask Omar whether the crane is free and when he starts",
        "play Simon and Garfunkel",
        "play some rock n roll",
        "put lunch with Sam and Dana in for Friday at one",
        "note that the code is 4471 and the gate sticks",
        "what's the weather in Oslo and Bergen tomorrow",
        "I'm tired and late. Tell Omar",
        "when is rowing, and where",
        "call Omar and tell him dinner is at eight",
        "text Omar and say I'm late",
        "ask Omar if he's coming and whether he needs a lift",
        "remind me in an hour and a half to eat",
        "remind me to wash, dry and put away the sails",
    ],
)
def test_what_belongs_to_one_value_is_not_split(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    "content",
    [b"", b"BZh9", bz2.compress(b"[]"), bz2.compress(b'{"a": "x"}'), bz2.compress(b'{"a": NaN}')],
)
@pytest.mark.parametrize("name", [CARD, WEIGHTS])
def test_a_damaged_model_of_breaks_is_told_by_its_file(
    tmp_path: Path, name: str, content: bytes
) -> None:
    Breaks.packaged().save(tmp_path)
    assert Breaks.load(tmp_path).weights == Breaks.packaged().weights
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        Breaks.load(tmp_path)
