"""What the ranker's training learns on requests made up for it."""

from pathlib import Path

import numpy as np

from ctrag.tools.features import FEATURES
from ctrag.tools.ranker import FLOOR, Reading, ToolRanker
from eval.discovery_data import Need
from training.tool_ranker import Example, fit, least_fitting, with_chatter, with_floor


def example(chance: np.random.Generator) -> Example:
    """Six candidates; the one with the highest cosine is needed, words mislead."""
    rows = np.zeros((6, len(FEATURES)))
    rows[:, FEATURES.index("cosine")] = chance.permutation(np.linspace(0.1, 0.9, 6))
    rows[:, FEATURES.index("bm25")] = chance.uniform(size=6)
    needed = (rows[:, 0] == 0.9).astype(float)
    return Example([Reading("one need", np.arange(6), rows)], needed, 1 / 100)


def test_the_fit_finds_which_measure_tells_and_the_floor_what_fits() -> None:
    chance = np.random.default_rng(0)
    examples = [example(chance) for _ in range(100)]
    weights = with_floor(fit(examples), examples)
    least = least_fitting(weights, examples)
    ranker = ToolRanker(weights, weights, least, {})
    right = 0
    for one in examples:
        ranked = ranker.rank(one.readings, 6, dense=True)
        right += int(np.argmax(ranked.beliefs) == np.argmax(one.needed))
        assert ranked.fits[np.argmax(one.needed)] == ranked.fits.max()
    assert right == 100
    assert abs(weights.features[FEATURES.index("bm25")]) < weights.features[0] / 5
    assert len(weights.floor) == len(FLOOR) + 1
    assert 0 < least < 1


def test_chatter_goes_around_requests_of_one_need_only() -> None:
    needs = [Need("a", "Book a seat.", frozenset("x")), Need("b", "Both.", frozenset("xy"))]
    [made] = with_chatter(needs, ["what a day"])
    assert made.tools == frozenset("x")
    assert "Book a seat." in made.text
    assert set(made.text.replace("Book a seat.", "").split(".")) <= {
        "what a day",
        " what a day",
        "",
        " ",
    }


def test_the_packaged_ranker_says_where_it_comes_from() -> None:
    import ctrag

    path = Path(ctrag.__file__).parent / "tools" / "artefact" / "discovery.json"
    ranker = ToolRanker.load(path)
    assert set(ranker.card) == {"command", "encoder", "data", "half", "requests", "seed"}
    assert 0 < ranker.least < 1
    assert all(len(one.floor) == len(FLOOR) + 1 for one in (ranker.hybrid, ranker.lexical))
