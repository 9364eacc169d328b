"""A search that finds again what was just found is told so."""

from typing import Any

import pytest

from ctrag.agents.session.searches import OverlapSettings, RecentSearches


def test_a_search_with_the_share_of_shared_results_is_told_which(clock: Any) -> None:
    searches = RecentSearches(OverlapSettings(ratio=0.75), clock=clock)
    assert searches.add(["a", "b", "c", "d"]) is None
    assert searches.add(["a", "b", "x", "y"]) is None, "half of them are new"
    overlap = searches.add(["d", "c", "new", "b"])
    assert overlap is not None
    assert (overlap.tool_ids, overlap.ratio) == (("d", "c", "b"), 0.75)
    assert "d, c, b" in overlap.note


def test_each_recent_search_is_compared_alone_not_their_union(clock: Any) -> None:
    searches = RecentSearches(OverlapSettings(ratio=0.75), clock=clock)
    searches.add(["a", "b"])
    searches.add(["c", "d"])
    assert searches.add(["a", "b", "c", "d"]) is None


def test_an_old_search_counts_no_more(clock: Any) -> None:
    searches = RecentSearches(OverlapSettings(seconds=300), clock=clock)
    searches.add(["a"])
    clock.now += 299
    assert searches.add(["a"]) is not None
    clock.now += 300
    assert searches.add(["a"]) is None


def test_only_so_many_searches_are_remembered(clock: Any) -> None:
    searches = RecentSearches(OverlapSettings(kept=2), clock=clock)
    for found in ("a", "b", "c"):
        searches.add([found])
    assert searches.add(["a"]) is None
    assert searches.add(["c"]) is not None


def test_finding_nothing_repeats_nothing(clock: Any) -> None:
    searches = RecentSearches(clock=clock)
    assert [searches.add([]), searches.add([])] == [None, None]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ratio": 0.0}, r"ratio: must be above 0 and at most 1, not 0\.0"),
        ({"ratio": 1.1}, r"ratio: must be above 0 and at most 1, not 1\.1"),
        ({"seconds": -1.0}, r"seconds: must be above 0, not -1\.0"),
        ({"kept": 0}, "kept: must be at least 1, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OverlapSettings(**given)
