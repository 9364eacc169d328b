"""Claims about demonstrations kept by counting: growing costs what is new, and changes nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ctrag.agents.next_tool import Demonstration
from ctrag.agents.next_tool.inputs import Inputs
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.vocabulary import TextVocabulary

SHOWN = [
    Demonstration("1", "book a flight to Rome", ("search_flight", "book_flight")),
    Demonstration("2", "book a flight and mail Ada", ("search_flight", "book_flight", "send_mail")),
    Demonstration("3", "mail Ada and mail Omar", ("send_mail",), before=("find_contact",)),
]
NAMES = ("search_flight", "book_flight", "find_contact", "send_mail")


@pytest.fixture
def inputs(word_bins: Any) -> Inputs:
    texts = [one.text for one in SHOWN]
    return Inputs.learned(texts, word_bins.encode(texts), [(), (1,)], len(NAMES) + 1)


@pytest.fixture
def memory(inputs: Inputs, word_bins: Any) -> Memory:
    """The first two."""
    made = Memory(NAMES, inputs, word_bins.encode([SHOWN[0].text]))
    for one in SHOWN[:2]:
        made.add(one, word_bins.encode([one.text])[0])
    return made


@pytest.mark.parametrize("most", [0, 4_096], ids=["anew", "kept"])
def test_likeness_is_the_mean_of_the_cosines_of_meaning_and_words(
    memory: Memory, word_bins: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctrag.agents.next_tool.memory.PAIRED", most)
    texts = [one.text for one in SHOWN]
    vectors = word_bins.encode(texts)
    words = np.array([memory.inputs.vocabulary.vector(text) for text in texts])
    cosines = (vectors @ vectors.T + words @ words.T) / 2
    assert memory.likeness(texts[2], vectors[2]) == pytest.approx(cosines[2, :2], abs=1e-6)
    both = np.array([1, 0])
    assert memory.alike(both) == pytest.approx(cosines[np.ix_(both, both)], abs=1e-6)
    memory.add(SHOWN[2], vectors[2])
    assert memory.likeness(texts[2], vectors[2]) == pytest.approx(cosines[2], abs=1e-6)
    rows = np.array([2, 0])
    assert memory.alike(rows) == pytest.approx(cosines[np.ix_(rows, rows)], abs=1e-6)


def test_only_what_is_new_is_read_again(
    memory: Memory, word_bins: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    matrix = TextVocabulary.matrix

    def watched(self: TextVocabulary, texts: Sequence[str]) -> Any:
        read.extend(texts)
        return matrix(self, texts)

    monkeypatch.setattr(TextVocabulary, "matrix", watched)
    vector = word_bins.encode([SHOWN[2].text])[0]
    for _ in range(2):
        assert len(memory.likeness(SHOWN[2].text, vector)) == 2
    memory.add(SHOWN[2], vector)
    for _ in range(2):
        assert len(memory.likeness(SHOWN[2].text, vector)) == 3
    assert read == [one.text for one in SHOWN]
    assert memory.vectors[2] == pytest.approx(vector)


def test_a_tool_may_have_another_name_but_not_that_of_another(memory: Memory) -> None:
    memory.also_called("send_mail", "office/send_mail")
    memory.also_called("send_mail", "book_flight")
    calls = ("office/send_mail", "book_flight", "unheard_of")
    assert memory.named(calls) == ("send_mail", "book_flight", "unheard_of")
    assert memory.known(calls) == (4, 2, 0)
    assert memory.names == ["end", *NAMES]
