"""Probabilities of the next tool by each method; the experiment's baselines are among them."""

from functools import lru_cache

import numpy as np

from ctrag.agents.next_tool import baselines
from ctrag.agents.next_tool.artefact import Fitted
from ctrag.agents.next_tool.combined import Combined
from ctrag.agents.next_tool.evidence import Ints, RequestEvidence, ask
from ctrag.agents.next_tool.graph import Probabilities
from ctrag.agents.next_tool.growth import Growth
from ctrag.agents.next_tool.known_tools import KnownTools
from ctrag.agents.next_tool.linear import (
    history_alone,
    history_text,
    joint,
    softmax_probabilities,
)
from ctrag.agents.next_tool.memory import Memory
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder, Matrix

METHODS = (
    "random",
    "bm25",
    "qts",
    "dependency",
    "learned",
    "bigram",
    "trigram",
    "dtdr_c",
    "dtdr_l",
    "combined",
)
WITHOUT_VECTOR = ("random", "bm25", "dependency", "bigram", "trigram")
"""Methods that need no embedding of the request."""
_REQUESTS = 256
"""Requests whose embeddings are cached."""


class Methods:
    """All methods over one memory. Not locked, but for `vector`, which waits for no lock."""

    def __init__(
        self, memory: Memory, fitted: Fitted, known: KnownTools, growth: Growth, encoder: Encoder
    ) -> None:
        self._memory, self._fitted, self._known, self._growth = memory, fitted, known, growth
        self.combined = Combined(fitted.trees)
        self.vector = lru_cache(_REQUESTS)(lambda text: encoder.encode([text])[0])
        """The embedding of a text."""
        self._asked = lru_cache(_REQUESTS)(self._ask)

    def changed(self) -> None:
        """Forget what was computed of requests: a demonstration or a tool is new."""
        self._asked.cache_clear()

    def prepare(self, text: str, history: tuple[str, ...], method: str) -> None:
        """Encode what a method reads of a request and of calls by the memory's names."""
        if method == "dtdr_l":
            self._joint(text, history)
        elif method not in WITHOUT_VECTOR:
            self.vector(text)

    def chances(
        self, text: str, history: tuple[str, ...], method: str, among: Ints
    ) -> Probabilities:
        """Probability of each of the memory's names; 0 for what is not in `among`.

        Args:
            text: The request.
            history: Calls so far by the memory's names.
            method: One of `METHODS`.
            among: Numbers of the tools that are ranked.

        Raises:
            ValueError: The method is unknown.
        """
        memory, texts = self._memory, self._known.texts
        known = memory.known([name for name in history if name in memory.numbers])
        match method:
            case "random":
                found = baselines.random_order(memory, text, known)
            case "bm25":
                found = baselines.by_text(memory, texts, texts.lexical(text), None)
            case "qts":
                cosines = texts.cosine(self.vector(text))
                found = baselines.by_text(memory, texts, cosines, baselines.COSINE_SHARPNESS)
            case "dependency":
                found = baselines.after_last(memory, known)
            case "bigram" | "trigram":
                found = baselines.n_gram(memory, known, 1 if method == "bigram" else 2)
            case "learned":
                found = softmax_probabilities(self._fitted.learned, self.vector(text))
            case "dtdr_l":
                found = softmax_probabilities(self._fitted.linear, self._joint(text, history))
            case "dtdr_c":
                prior = memory.frequencies()
                found = memory.graphs.probabilities(self.vector(text), known, prior)
            case "combined" if self._fitted.trees:
                asked = self._asked(text)
                found = self.combined.chances(memory, self._growth.weights, asked, known, among)
            case _:
                raise InputError(f"method: {method!r} is unknown; known: {', '.join(METHODS)}")
        found = np.pad(found, (0, len(memory.names) - len(found)))
        return baselines.restricted_to(found, among)

    def _ask(self, text: str) -> RequestEvidence:
        weights, texts = self._growth.weights, self._known.texts
        return ask(self._memory, weights, texts, text, self.vector(text))

    def _joint(self, text: str, history: tuple[str, ...]) -> Matrix:
        """What DTDR-L reads; models fitted earlier read the first part alone."""
        both: Matrix = self.vector(history_text(text, history))
        if len(self._fitted.linear) == len(both) + 1:
            return both
        alone: Matrix = self.vector(history_alone(history))
        return np.concatenate(joint(both[None], alone[None]))
