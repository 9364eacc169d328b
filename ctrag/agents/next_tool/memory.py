"""Demonstrations and counts over them, which grow with every observed request."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.demonstrations import END, Demonstration
from ctrag.agents.next_tool.graph import LENGTH, ClusterGraphs, Followers, Probabilities
from ctrag.agents.next_tool.inputs import Inputs
from ctrag.models.encoder import Matrix

NEAREST = 40
"""Nearest demonstrations used for a request."""
SHARPNESS = 8.0
"""Inverse temperature of the weights by similarity."""
PAIRED = 4_096
"""Up to so many demonstrations, the similarities of all pairs are cached (64 MB); beyond, they are
computed for each request."""
_BATCH = 256


class Memory:
    """Graphs, counts and the demonstrations themselves; number 0 is `END`."""

    def __init__(
        self, names: Sequence[str], inputs: Inputs, centroids: Matrix, length: int = LENGTH
    ) -> None:
        self.names = list(dict.fromkeys([END, *names]))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        """By name and by alias (`also_called`)."""
        self.inputs = inputs
        self.graphs = ClusterGraphs(centroids, length)
        self.counts = np.zeros(len(self.names))
        """How often each tool was called; for `END`, the number of demonstrations."""
        self._first = np.zeros((len(self.names), len(self.names)), dtype=np.float32)
        self.demonstrations: list[Demonstration] = []
        self.chains: list[tuple[int, ...]] = []
        """Numbers of the tools that each demonstration calls."""
        self.called: list[tuple[int, ...]] = []
        """The same, preceded by the calls of earlier turns."""
        self._unstacked: list[Matrix] = []
        """Embeddings of the latest demonstrations, not in `_stacked` yet."""
        self._after = Followers((1, 2))
        self._stacked: tuple[Matrix, Any] = (
            np.zeros((0, len(inputs.meanings)), dtype=np.float32),
            inputs.vocabulary.matrix([]),
        )
        """Embeddings and TF-IDF vectors of the demonstrations."""
        self._lead: Matrix | None = None
        self._pairs = np.zeros((0, 0), dtype=np.float32)
        self._known_pairs = 0

    def __len__(self) -> int:
        return len(self.demonstrations)

    def number(self, name: str) -> int:
        """The number of a tool; a new tool gets the next one."""
        known = self.numbers.get(name)
        if known is not None:
            return known
        self.numbers[name] = len(self.names)
        self.names.append(name)
        self.counts = np.append(self.counts, 0.0)
        self._first = np.pad(self._first, (0, 1))
        self._lead = None
        return self.numbers[name]

    def also_called(self, name: str, other: str) -> None:
        """Add an alias for a tool; ignored where another tool already has that name."""
        self.numbers.setdefault(other, self.numbers[name])

    def named(self, calls: Sequence[str]) -> tuple[str, ...]:
        """Calls by the names of `names`; unknown ones stay as they are."""
        return tuple(
            self.names[self.numbers[call]] if call in self.numbers else call for call in calls
        )

    def known(self, history: Sequence[str]) -> tuple[int, ...]:
        """Numbers of calls; an unknown tool counts as the beginning (0)."""
        return tuple(self.numbers.get(name, 0) for name in history)

    def add(self, one: Demonstration, vector: Matrix) -> None:
        """Count one demonstration."""
        for name in (*one.before, *one.tools):
            self.number(name)
        steps = [(self.known(step.history), self.numbers[step.next]) for step in one.steps()]
        self.graphs.add(vector, steps)
        for history, following in steps:
            self._after.add(len(self.demonstrations), history, following)
        chain = self.known(one.tools)
        np.add.at(self.counts, [*chain, 0], 1)
        for place, earlier in enumerate(chain):
            for later in set(chain[place + 1 :]) - {earlier}:
                self._first[earlier, later] += 1
        self.demonstrations.append(one)
        self.chains.append(chain)
        self.called.append(self.known((*one.before, *one.tools)))
        self._unstacked.append(vector)
        self._lead = None

    @property
    def vectors(self) -> Matrix:
        """(demonstrations, dimension)."""
        return self._both()[0]

    def frequencies(self) -> Probabilities:
        """Smoothed relative frequencies of the tools' calls; all are above 0."""
        counted = self.counts + 0.5
        return np.asarray(counted / counted.sum(), dtype=np.float64)

    def likeness(self, text: str, vector: Matrix) -> NDArray[np.float64]:
        """Similarity of each demonstration's request to this, by embedding and words, (n,)."""
        vectors, words = self._both()
        lexical = np.asarray(words @ self.inputs.vocabulary.vector(text))
        return np.asarray((vectors @ vector + lexical) / 2, dtype=np.float64)

    def alike(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pairwise similarity of the requests of some demonstrations, (rows, rows)."""
        if len(self) <= PAIRED:
            pairs = self._paired().take(rows, axis=0)
            return pairs.take(rows, axis=1).astype(np.float64)
        vectors, words = self._both()
        found = _likeness(vectors[rows], words[rows], vectors[rows], words[rows])
        return found.astype(np.float64)

    def followers(
        self, history: Sequence[int], likeness: NDArray[np.float64], length: int
    ) -> NDArray[np.float64]:
        """What followed the last `length` calls, weighted by similarity of requests; sums to 1.

        Zeros where these calls were never seen.

        Args:
            history: Calls so far.
            likeness: From `likeness`.
            length: 1 or 2.
        """
        found = np.zeros(len(self.names))
        owners, following = self._after.after(history, length)
        if owners:
            likeness = likeness[owners]
            weights = np.exp(2 * SHARPNESS * (likeness - likeness.max()))
            np.add.at(found, following, weights / weights.sum())
        return found

    def earlier(self, wanted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Per tool: how much more often it comes before the wanted ones than after, weighted.

        Args:
            wanted: Weight of each tool, (tools,).
        """
        if self._lead is None:
            both = self._first + self._first.T
            self._lead = (self._first - self._first.T) / (both + 1)
        return np.asarray(self._lead @ wanted.astype(np.float32), dtype=np.float64)

    def _paired(self) -> Matrix:
        """Cached pairwise similarity of all requests, extended by those added since."""
        vectors, words = self._both()
        count, known = len(vectors), self._known_pairs
        if count > len(self._pairs):
            room = min(count + count // 8, PAIRED)
            grown = np.zeros((room, room), dtype=np.float32)
            grown[:known, :known] = self._pairs[:known, :known]
            self._pairs = grown
        for begin in range(known, count, _BATCH):
            new = slice(begin, min(begin + _BATCH, count))
            found = _likeness(vectors[new], words[new], vectors, words)
            self._pairs[new, :count] = found
            self._pairs[:count, new] = found.T
        self._known_pairs = count
        return self._pairs

    def _both(self) -> tuple[Matrix, Any]:
        if self._unstacked:
            from scipy import sparse

            vectors, words = self._stacked
            texts = [one.text for one in self.demonstrations[-len(self._unstacked) :]]
            self._stacked = (
                np.vstack([vectors, np.array(self._unstacked, dtype=np.float32)]),
                sparse.vstack([words, self.inputs.vocabulary.matrix(texts)], format="csr"),
            )
            self._unstacked = []
        return self._stacked


def _likeness(vectors: Matrix, words: Any, others: Matrix, their_words: Any) -> Matrix:
    """Mean of the embeddings' cosine and of the words' cosine, (vectors, others)."""
    used = np.zeros(words.shape[1], dtype=bool)
    used[words.indices] = True
    # Dense on one side: three times as fast, same sums.
    lexical = their_words[:, used] @ words[:, used].T.toarray()
    return np.asarray((vectors @ others.T + lexical.T) / 2, dtype=np.float32)
