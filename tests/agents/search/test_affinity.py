"""Claims about what a caller's finds and uses say of a tool: arithmetic a reader can redo."""

import json
import math
from collections.abc import Callable

import pytest

from ctrag.agents.search.affinity import Affinity, AffinityCounts
from stores.database import StoreUnavailable


@pytest.mark.parametrize(
    ("counts", "good"),
    [
        (AffinityCounts(found=12, used=2, succeeded=2), 0.5 * 2 + 2 - 0.1 * 10),
        (AffinityCounts(found=3), -0.1 * 3),
        (AffinityCounts(used=2, failed=2), 0.5 * 2 - 2),
        (
            AffinityCounts(found=1, used=4),
            0.5 * 4,
        ),  # used more often than found: nothing was left unused
    ],
)
def test_liking_weighs_uses_successes_failures_and_finds_without_a_use(
    counts: AffinityCounts, good: float
) -> None:
    assert counts.score == pytest.approx(math.tanh(good / 5))


def test_a_belief_is_multiplied_by_e_to_half_the_liking() -> None:
    affinity = Affinity()
    for _ in range(3):
        affinity.learn("ada", "mail/send", "succeeded")
        affinity.learn("ada", "printer/print", "failed")
    assert affinity.factor("ada", "mail/send") == pytest.approx(math.exp(0.5 * math.tanh(3 / 5)))
    assert affinity.factor("ada", "printer/print") == pytest.approx(
        math.exp(-0.5 * math.tanh(3 / 5))
    )
    assert affinity.factor("bob", "mail/send") == affinity.factor("ada", "mail/read") == 1


def test_what_helped_comes_best_first_and_what_did_not_is_left_out() -> None:
    affinity = Affinity()
    for tool, times in (("a", 1), ("b", 3), ("c", 1)):
        for _ in range(times):
            affinity.learn("ada", tool, "used")
    affinity.learn("ada", "failing", "failed")
    affinity.learn("ada", "unused", "found")
    assert affinity.liked("ada") == ["b", "a", "c"]


def test_who_is_forgotten_during_a_write_does_not_come_back() -> None:
    affinity = Affinity()
    affinity.learn("ada", "mail/send", "used")
    affinity.learn("bob", "mail/send", "used")
    kept: list[str] = []

    def put(change: Callable[[str | None], str]) -> None:
        kept.append(change(kept[-1] if kept else None))
        if len(kept) == 1:
            affinity.forget("ada")  # what was just written still has her

    affinity.write(put)
    assert list(json.loads(kept[0])) == ["ada", "bob"]
    assert list(json.loads(affinity.to_json())) == ["bob"]
    affinity.write(put)
    assert list(json.loads(kept[1])) == ["bob"]
    assert list(json.loads(affinity.to_json())) == ["bob"]


def test_who_is_forgotten_during_a_write_that_fails_does_not_come_back() -> None:
    affinity = Affinity()
    affinity.learn("ada", "mail/send", "used")
    affinity.learn("bob", "mail/send", "used")

    def away(change: Callable[[str | None], str]) -> None:
        affinity.forget("ada")
        raise StoreUnavailable("tool", "not reachable")

    with pytest.raises(StoreUnavailable, match="not reachable"):
        affinity.write(away)
    before = Affinity()
    before.learn("ada", "mail/send", "used")
    kept = [before.to_json()]
    affinity.write(lambda change: kept.append(change(kept[-1])))
    assert list(json.loads(kept[-1])) == ["bob"]
