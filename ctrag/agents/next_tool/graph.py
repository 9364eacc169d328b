"""Weighted graphs of histories: which tool follows which calls (DTDR-C, section 4.1)."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError
from ctrag.models.encoder import Matrix

Probabilities = NDArray[np.float64]
START = -1
"""Padding before the first call, so that the beginning is a history of its own."""
LENGTH = 3
"""Length of the histories in calls; the paper finds no gain beyond three."""


class HistoryGraph:
    """Counts of what follows the last 0 to `length` calls; tools are numbers."""

    def __init__(self, length: int = LENGTH) -> None:
        if length < 0:
            raise InputError(f"length: must be at least 0, not {length}")
        self.length = length
        self._counts: dict[tuple[int, ...], dict[int, int]] = {}

    def add(self, history: Sequence[int], following: int) -> None:
        """Count one step."""
        for key in self._keys(history):
            node = self._counts.setdefault(key, {})
            node[following] = node.get(following, 0) + 1

    def probabilities(
        self,
        history: Sequence[int],
        prior: Probabilities,
        *,
        shortest: int = 0,
        longest: int | None = None,
    ) -> Probabilities:
        """Probability of each tool to follow.

        A history of length n is weighted by its count; the remaining probability, which is larger
        where few steps led to many tools, is interpolated from the history of length n - 1
        (Witten-Bell), and finally from the prior.

        Args:
            history: Calls so far.
            prior: Probabilities where nothing was counted, (tools,); sums to 1.
            shortest: Histories below this length are ignored.
            longest: So are those above this one; None for all that were counted.
        """
        chances = prior
        for key in self._keys(history, longest):
            node = self._counts.get(key)
            if node is None or len(key) < shortest:
                continue
            chances = interpolated(chances, list(node), np.array(list(node.values())), len(node))
        return chances

    def followed(self, history: Sequence[int], length: int) -> dict[int, int]:
        """Counts of what followed the last `length` calls; empty where these were never seen."""
        *_, key = self._keys(history, length)
        return dict(self._counts.get(key, {})) if len(key) == length else {}

    def edges(self, longest: int | None = None) -> int:
        """Number of counts, of histories up to a length."""
        kept = [
            node for key, node in self._counts.items() if longest is None or len(key) <= longest
        ]
        return sum(map(len, kept))

    def _keys(
        self, history: Sequence[int], longest: int | None = None
    ) -> Iterable[tuple[int, ...]]:
        """Suffixes of the history, the shortest first."""
        padded = (START, *history)
        most = self.length if longest is None else min(self.length, longest)
        for length in range(min(most, len(padded)) + 1):
            yield tuple(padded[len(padded) - length :])


class Followers:
    """What was called after the last few calls, and in which demonstration: unlike the counts of a
    graph, each step can be weighted by the similarity of its request."""

    def __init__(self, lengths: Sequence[int]) -> None:
        """Index histories of these lengths; 0 matches any step."""
        self.lengths = lengths
        self._steps: dict[tuple[Hashable, ...], tuple[list[int], list[int]]] = {}

    def add(self, owner: int, history: Sequence[Hashable], following: int) -> None:
        """Add one step of a demonstration."""
        for length in self.lengths:
            owners, found = self._steps.setdefault(_ending(history, length), ([], []))
            owners.append(owner)
            found.append(following)

    def after(self, history: Sequence[Hashable], length: int) -> tuple[list[int], list[int]]:
        """Demonstrations that called these last `length` tools, and what each called next; one
        entry per step."""
        return self._steps.get(_ending(history, length), ([], []))


def interpolated(
    shorter: Probabilities,
    following: Sequence[int],
    counts: NDArray[np.generic],
    strength: float,
) -> Probabilities:
    """Probabilities after a history, from its counts and from those after a shorter one.

    Args:
        shorter: Probabilities after the shorter history, (tools,); sums to 1.
        following: Tools that followed, possibly repeated.
        counts: Weight of each entry of `following`.
        strength: Weight of `shorter`, in calls.
    """
    total = counts.sum() + strength
    chances: Probabilities = shorter * (strength / total)
    np.add.at(chances, list(following), counts / total)
    return chances


def _ending(history: Sequence[Hashable], length: int) -> tuple[Hashable, ...]:
    """The last calls; `length` of them, with `START` in front where there are fewer."""
    padded = (*([START] * length), *history)
    return padded[len(padded) - length :]


class ClusterGraphs:
    """One graph per cluster of requests; where a cluster has no counts, the whole graph's are used.

    DTDR-C of the paper: the request's embedding chooses the cluster, the history the node.
    """

    def __init__(self, centroids: Matrix, length: int = LENGTH) -> None:
        self.centroids = centroids
        """(clusters, dimension)."""
        self.whole = HistoryGraph(length)
        self._graphs = [HistoryGraph(length) for _ in centroids]

    def add(self, vector: Matrix, steps: Iterable[tuple[Sequence[int], int]]) -> None:
        """Count a request's steps: history and what followed."""
        graph = self._graphs[self.cluster(vector)]
        for history, following in steps:
            self.whole.add(history, following)
            graph.add(history, following)

    def edges(self) -> dict[str, int]:
        """Number of counts: of the last call alone, of the whole graph, of all clusters."""
        return {
            "last": self.whole.edges(1),
            "whole": self.whole.edges(),
            "clusters": sum(graph.edges() for graph in self._graphs),
        }

    def cluster(self, vector: Matrix) -> int:
        """The nearest centroid."""
        distances: Any = ((self.centroids - vector) ** 2).sum(axis=1)
        return int(distances.argmin())

    def probabilities(
        self, vector: Matrix, history: Sequence[int], prior: Probabilities
    ) -> Probabilities:
        """Probability of each tool: the cluster's histories, backed off to the whole graph's."""
        chances = self.whole.probabilities(history, prior)
        graph = self._graphs[self.cluster(vector)]
        return graph.probabilities(history, chances, shortest=min(1, graph.length))


def cluster_centroids(vectors: Matrix, count: int | None = None, seed: int = 0) -> Matrix:
    """K-means centroids of request embeddings, (clusters, dimension).

    Args:
        vectors: (requests, dimension).
        count: How many; a tenth of the requests when None (the paper's default).
        seed: Of the initialisation.
    """
    from sklearn.cluster import KMeans

    wanted = max(1, round(len(vectors) / 10)) if count is None else count
    distinct = len(np.unique(vectors, axis=0))
    model = KMeans(min(wanted, distinct), n_init=1, max_iter=30, random_state=seed)
    return np.asarray(model.fit(vectors).cluster_centers_, dtype=np.float32)
