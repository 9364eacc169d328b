"""Claims about telling English requests from others."""

import bz2
import json
from pathlib import Path

import pytest

from ctrag.text.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        "play La vie en rose",
        "call señora Núñez",
        "put on Bích Phương",
        "how do you say 'gracias' in Basque",
        "remind me to pay the Wohnungsgenossenschaft",
        "gracias",
        "add 牛乳 to my list",
        "dial 592 555 0190",
        "",
    ],
)
def test_foreign_names_leave_a_request_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "¿a qué hora viene mi madre?",
        "wann kommt meine Mutter",
        "dis à Anna que je suis en retard",
        "metti un po di jazz",
        "ställ in mötet imorgon",
        "какая погода завтра",
        "今日の天気は",
    ],
)
def test_other_languages_are_told(text: str) -> None:
    assert not is_english(text)


def test_of_the_training_requests_with_a_call_hardly_any_counts_as_foreign() -> None:
    file = Path(__file__).parents[2] / "data" / "everyday-people" / "queries.jsonl.bz2"
    with bz2.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    called = [row["text"] for row in rows if row["plan"] is not None]
    assert len(called) > 2000
    assert [text for text in called if not is_english(text)] == []
