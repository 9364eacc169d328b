"""The personal ranker: worked out by hand on few requests; its file; what counts as none."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context.learned_features import KINDS
from ctrag.assistant.context.personal_ranker import FEWEST, LearnedOfUse, PersonalRanker
from ctrag.assistant.context.use_history import (
    ALIKE,
    ITEM_SMOOTHING,
    KIND_SMOOTHING,
    UseHistory,
)
from stores.people.items import Request
from stores.people.learned import personal_file
from stores.people.usage import RankedItem, Use
from tests.assistant.context.conftest import NOW, AxisEncoder, context_of

ENCODER = AxisEncoder()
PAIRS = (("n1", "g1"), ("g1", "n1"))
NOTE, SEARCH = KINDS.index("note"), KINDS.index("search")


def use(text: str, meant: str, instead: str = "g1") -> Use:
    """A request about one of two items that the ranker could not tell apart."""
    kinds = {"n1": NOTE, "n2": NOTE, "g1": SEARCH}
    ranked = tuple(RankedItem(id=one, kind=kinds[one], score=0.0) for one in (meant, instead))
    asked = datetime(2025, 4, 17, 12).isoformat()
    return Use(
        text=text, asked_at=asked, api="read_note", items=(meant,), ranked=ranked, outcome="done"
    )


def learned(*uses: Use) -> PersonalRanker:
    return PersonalRanker.fit(uses, ENCODER.encode([one.text for one in uses]), ENCODER.name)


def returning(count: int = FEWEST) -> list[Use]:
    """Somebody who comes back to one matter, in other words each time."""
    return [use(f"bus {number}", "n1") for number in range(count)]


def added(ranker: PersonalRanker, text: str) -> dict[str, float]:
    """What is added to the score of each of Ada's items for a request."""
    context = context_of(Request(text, NOW))
    scores = ranker.corrected(context, np.zeros(len(context), np.float32))
    return dict(zip(map(str, context.view.ids), map(float, scores), strict=True))


def test_features_say_how_alike_earlier_requests_are_and_what_was_meant_beyond_expectation() -> (
    None
):
    history = UseHistory()
    for one in returning(4):
        history.add(one, ENCODER.encode([one.text])[0])
    kinds = np.array([NOTE, SEARCH])
    alike = history.features(ENCODER.encode(["the bus"])[0], ["n1", "g1"], kinds)
    # Four times n1 was meant; it and g1 were expected twice each.
    for row, smoothing in ((1, ITEM_SMOOTHING), (2, KIND_SMOOTHING)):
        both = np.log([(4 + smoothing) / (2 + smoothing), smoothing / (2 + smoothing)])
        assert alike[row] == pytest.approx(both)
    assert alike[0] == pytest.approx([1 - ALIKE, 0])
    other = history.features(ENCODER.encode(["rent"])[0], ["n1", "g1"], kinds)
    assert other[0] == pytest.approx([0, 0])


def test_who_comes_back_to_a_matter_finds_it_higher() -> None:
    ranker = learned(*returning())
    assert (ranker.weights >= 0).all()
    bus = added(ranker, "bus")
    assert max(bus, key=lambda item: bus[item]) == "n1"
    assert bus["n1"] > 0.5 > bus["m1"]


def test_a_record_without_a_pattern_leaves_every_score_as_it_was() -> None:
    even = [use(f"{number} things", *pair) for number in range(10) for pair in PAIRS]
    assert not learned(*even).weights.any()
    assert set(added(learned(*even), "things").values()) == {0.0}


def test_the_same_words_again_are_learned_from_once() -> None:
    again = learned(*[use("bus", "n1")] * 40)
    assert len(again.history.items) == 1
    assert not again.weights.any()


def test_fewer_requests_than_are_needed_are_refused() -> None:
    with pytest.raises(ValueError, match=f"uses: 1 requests .* at least {FEWEST} are needed"):
        learned(use("dentist", "n1"))


def test_what_was_saved_corrects_as_before_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    ranker = learned(*returning())
    path = personal_file(tmp_path, "ada")
    ranker.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert added(PersonalRanker.load(path), "bus") == pytest.approx(added(ranker, "bus"), abs=1e-2)


def test_one_that_is_trained_or_taken_away_meanwhile_is_noticed(tmp_path: Path) -> None:
    now = LearnedOfUse(tmp_path, "ada", ENCODER.name)
    assert now.of_now() is None
    path = personal_file(tmp_path, "ada")
    learned(*returning()).save(path)
    first = now.of_now()
    assert first is not None
    assert now.of_now() is first
    assert LearnedOfUse(tmp_path, "bob", ENCODER.name).of_now() is None
    assert LearnedOfUse(tmp_path, "ada", "another encoder").of_now() is None
    path.unlink()
    assert now.of_now() is None


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 quokka", None])
def test_a_damaged_one_counts_as_none(tmp_path: Path, damage: bytes | None) -> None:
    path = personal_file(tmp_path, "ada")
    learned(*returning()).save(path)
    path.write_bytes(path.read_bytes()[:-60] if damage is None else damage)
    assert LearnedOfUse(tmp_path, "ada", ENCODER.name).of_now() is None
    with pytest.raises(ValueError, match="damaged"):
        PersonalRanker.load(path)
