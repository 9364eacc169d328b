"""The index on disk: what changed is read anew and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.agents.prompt.index import PASSAGE, CorpusIndex, VectorStore, passages
from tests.agents.prompt.toys import TopicEncoder


def test_only_texts_that_changed_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "index" / "tools.npz"
    first = VectorStore(TopicEncoder(), path)
    before = first.vectors(["cancel order", "flight"])
    assert first.encoded == 2
    encoder = TopicEncoder()
    second = VectorStore(encoder, path)
    after = second.vectors(["flight", "return order", "flight"])
    assert encoder.encoded_texts == ["return order"]
    assert np.array_equal(after[0], before[1])
    third = VectorStore(TopicEncoder(), path)
    third.vectors(["cancel order"])
    assert third.encoded == 1  # it had been dropped


@pytest.mark.parametrize("damage", ["emptied", "cut", "overwritten"])
def test_a_broken_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "instructions.npz"
    VectorStore(TopicEncoder(), path).vectors(["cancel order"])
    damaged = {"emptied": b"", "cut": path.read_bytes()[:300], "overwritten": b"no archive"}
    path.write_bytes(damaged[damage])
    second = VectorStore(TopicEncoder(), path)
    assert second.vectors(["cancel order"])[0].shape == (6,)
    third = VectorStore(TopicEncoder(), path)
    third.vectors(["cancel order"])
    assert (second.encoded, third.encoded) == (1, 0)


def test_a_unit_counts_as_its_best_passage() -> None:
    filler = " ".join(["word"] * PASSAGE)
    index = CorpusIndex(
        [f"head\n{filler} cancel order", "flight"], VectorStore(TopicEncoder(), None)
    )
    asked = TopicEncoder().encode("cancel order")
    found = index.evidence(asked, "cancel order")
    assert found.cosine == pytest.approx([1.0, 0.0])
    assert found.lexical == pytest.approx([1.0, 0.0])
    assert index.best_passage(found, 0).endswith(" cancel order")
    assert index.best_passage(found, 1) == "flight"


def test_passages_hold_every_word_and_begin_with_the_head() -> None:
    body = " ".join(f"w{number}" for number in range(2 * PASSAGE + 1))
    parts = passages(f"shop > cancel\n{body}")
    assert len(parts) == 3
    assert all(part.startswith("shop > cancel\n") for part in parts)
    assert [word for part in parts for word in part.partition("\n")[2].split()] == body.split()


def test_an_index_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="texts: there is nothing to index"):
        CorpusIndex([], VectorStore(TopicEncoder(), None))
