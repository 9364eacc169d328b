"""Claims about graphs of histories, with counts that can be redone by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.agents.next_tool.graph import (
    ClusterGraphs,
    Followers,
    HistoryGraph,
    cluster_centroids,
    interpolated,
)

QUARTERS = np.full(4, 0.25)


def graph_of(*chains: tuple[int, ...], length: int = 3) -> HistoryGraph:
    graph = HistoryGraph(length)
    for chain in chains:
        for place, following in enumerate((*chain, 0)):
            graph.add(chain[:place], following)
    return graph


def test_longer_histories_take_their_share_and_leave_the_rest_to_shorter_ones() -> None:
    graph = graph_of((1, 2), (1, 3), length=1)
    # Nothing looked back: 1 1 2 3 0 0, four kinds of six. After 1: once 2, once 3.
    shorter = (np.array([2, 2, 1, 1]) + 4 * QUARTERS) / (6 + 4)
    expected = (np.array([0, 0, 1, 1]) + 2 * shorter) / (2 + 2)
    assert graph.probabilities([1], QUARTERS) == pytest.approx(expected)


def test_an_unknown_history_backs_off_to_its_known_end() -> None:
    graph = graph_of((1, 2, 3))
    seen = graph.probabilities([2], QUARTERS)
    assert graph.probabilities([3, 3, 2], QUARTERS) == pytest.approx(seen, abs=1e-12)
    assert HistoryGraph().probabilities([1, 2], QUARTERS) == pytest.approx(QUARTERS)


def test_the_beginning_is_a_history_of_its_own() -> None:
    graph = graph_of((1, 2), (1, 3), (1, 2))
    assert graph.probabilities([], QUARTERS).argmax() == 1
    assert graph.followed([], 1) == {1: 3}


def test_two_calls_say_more_than_the_last_one() -> None:
    graph = graph_of((1, 3, 2), (2, 3, 1), (1, 3, 2))
    assert graph.probabilities([1, 3], QUARTERS).argmax() == 2
    assert graph.probabilities([2, 3], QUARTERS).argmax() == 1
    by_last = graph.probabilities([2, 3], QUARTERS, longest=1)
    assert by_last == pytest.approx(graph.probabilities([1, 3], QUARTERS, longest=1))


def test_what_followed_a_number_of_calls_is_counted() -> None:
    graph = graph_of((1, 2), (1, 2), (3, 2, 1))
    assert graph.followed([1, 2], 1) == {0: 2, 1: 1}
    assert graph.followed([1, 2], 2) == {0: 2}
    assert graph.followed([2, 2], 2) == {}


@given(
    st.lists(st.lists(st.integers(1, 3), max_size=4), max_size=8),
    st.lists(st.integers(1, 3), max_size=6),
    st.integers(0, 4),
)
def test_chances_sum_to_one(chains: list[list[int]], history: list[int], length: int) -> None:
    graph = graph_of(*map(tuple, chains), length=length)
    assert graph.probabilities(history, QUARTERS).sum() == pytest.approx(1)


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="length: must be at least 0, not -1"):
        HistoryGraph(-1)


def test_the_requests_cluster_decides_where_histories_are_the_same() -> None:
    here, there = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    graphs = ClusterGraphs(np.stack([here, there]))
    for _ in range(3):
        graphs.add(here, [([], 1), ([1], 2)])
        graphs.add(there, [([], 1), ([1], 3)])
    assert graphs.probabilities(here, [1], QUARTERS).argmax() == 2
    assert graphs.probabilities(there, [1], QUARTERS).argmax() == 3


def test_a_cluster_that_never_saw_the_history_asks_the_whole_graph() -> None:
    here, there = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    graphs = ClusterGraphs(np.stack([here, there]))
    graphs.add(here, [([2], 3)])
    graphs.add(there, [([], 1)])
    assert graphs.probabilities(there, [2], QUARTERS) == pytest.approx(
        graphs.whole.probabilities([2], QUARTERS)
    )


def test_a_tenth_of_the_requests_is_the_number_of_clusters() -> None:
    vectors = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    assert cluster_centroids(vectors).shape == (4, 3)
    assert cluster_centroids(vectors, 7).shape == (7, 3)
    assert cluster_centroids(np.ones((5, 3), np.float32), 4).shape == (1, 3)


def test_steps_are_found_by_their_last_calls_with_whose_they_are() -> None:
    followers = Followers((0, 1, 2))
    followers.add(0, [], 4)
    followers.add(0, [4], 5)
    followers.add(1, [4], 6)
    followers.add(1, [7, 4], 8)
    assert followers.after([7, 4], 0) == ([0, 0, 1, 1], [4, 5, 6, 8])
    assert followers.after([7, 4], 1) == ([0, 1, 1], [5, 6, 8])
    assert followers.after([7, 4], 2) == ([1], [8])
    assert followers.after([], 2) == ([0], [4])
    assert followers.after([9], 1) == ([], [])


def test_a_shorter_history_counts_for_as_many_calls_as_it_is_strong() -> None:
    found = interpolated(np.array([0.25, 0.75]), [1, 0, 1], np.array([1.0, 2.0, 0.5]), 4.0)
    assert found == pytest.approx([(2 + 4 * 0.25) / (3.5 + 4), (1 + 0.5 + 4 * 0.75) / (3.5 + 4)])
