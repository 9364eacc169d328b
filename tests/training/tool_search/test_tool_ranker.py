"""Training the ranker of tool search on artificial requests."""

from pathlib import Path

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.features import FEATURES
from ctrag.agents.search.ranker import FLOOR, Readings, ToolRanker
from eval.discovery.data import Benchmark, Need
from training.tool_search.ranker import (
    ToolSearchExample,
    counted,
    fit,
    sampled,
    with_chatter,
    with_floor,
    without_needed,
)


def example(chance: np.random.Generator) -> ToolSearchExample:
    """Six candidates; the one with the highest cosine is needed, words are misleading."""
    rows = np.zeros((1, 6, len(FEATURES)))
    rows[0, :, FEATURES.index("cosine")] = chance.permutation(np.linspace(0.1, 0.9, 6))
    rows[0, :, FEATURES.index("bm25")] = chance.uniform(size=6)
    needed = (rows[0, :, 0] == 0.9).astype(float)
    return ToolSearchExample(Readings(["one need"], rows), needed)


def test_the_fit_finds_the_informative_measure_and_a_floor() -> None:
    chance = np.random.default_rng(0)
    examples = [example(chance) for _ in range(100)]
    weights = with_floor(fit(examples), examples)
    ranker = ToolRanker(weights, weights, 0.5, {})
    right = 0
    for one in examples:
        ranked = ranker.rank(one.readings, dense=True)
        right += int(np.argmax(ranked.beliefs) == np.argmax(one.needed))
        assert ranked.fits[np.argmax(one.needed)] == ranked.fits.max()
    assert right == 100
    assert abs(weights.features[FEATURES.index("bm25")]) < weights.features[0] / 5
    assert len(weights.floor) == len(FLOOR) + 1
    gone = [ranker.rank(without_needed(one), dense=True).fits.max() for one in examples]
    kept = [ranker.rank(one.readings, dense=True).fits.max() for one in examples]
    assert np.mean(kept) > np.mean(gone) + 0.1


def test_a_sampled_catalogue_has_all_needed_tools() -> None:
    tools = [CatalogueTool(f"tool_{number}", "") for number in range(40)]
    needs = [Need(str(one), "", frozenset([f"tool_{one}", f"tool_{one + 20}"])) for one in range(9)]
    made = sampled(Benchmark(tools, needs), needs, 16)
    assert (len(made.tools), len(made.needs)) == (16, 4)
    assert frozenset[str]().union(*(one.tools for one in made.needs)) <= {t.id for t in made.tools}
    assert [one.id for one in made.tools] == [t.id for t in tools if t in made.tools]


def test_every_group_has_the_same_weight_except_people() -> None:
    one = example(np.random.default_rng(1))
    shares = [each.share for each in counted([[one, one], [one], [one]], 0.5)]
    assert shares == [0.5, 0.5, 1.0, 0.5]


def test_without_the_needed_tools_the_other_rows_are_kept() -> None:
    one = example(np.random.default_rng(2))
    rows = without_needed(one).rows
    assert rows.shape[1] == 5
    assert rows[0, :, 0].max() < one.readings.rows[0, :, 0].max()


def test_chatter_is_only_added_to_requests_of_one_need() -> None:
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

    path = Path(ctrag.__file__).parent / "agents" / "search" / "artefact" / "discovery.json"
    ranker = ToolRanker.load(path)
    assert set(ranker.card) == {
        "command",
        "encoder",
        "data",
        "people",
        "half",
        "requests",
        "seed",
    }
    assert 0 < ranker.least < 1
    assert all(len(one.floor) == len(FLOOR) + 1 for one in (ranker.hybrid, ranker.lexical))
