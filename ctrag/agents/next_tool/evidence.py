"""Features of the combined ranker, per tool that may come next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool.inputs import LEXICAL
from ctrag.agents.next_tool.memory import NEAREST, SHARPNESS, Memory
from ctrag.agents.next_tool.precedents import Precedents
from ctrag.agents.next_tool.texts import ToolTexts
from ctrag.models.encoder import Matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = (
    "linear",  # least squares over request x history
    "linear_behind",  # difference to the best one
    "graph",  # log probability, whole graph
    "bigram",  # log probability after the last call alone
    "cluster",  # log probability, graph of the request's cluster
    "near_next",  # what the most similar requests called after the last call
    "like_last",  # what all requests called after the last call, weighted by similarity
    "like_two",  # the same after the last two calls
    "near_later",  # what they called anywhere after it
    "near_any",  # what they called at all
    "same_beginning",  # kernel regression: what followed exactly this history
    "same_beginning_behind",
    "after_last",  # what followed the last call
    "after_last_behind",
    "left",  # what came first of all that was not called yet
    "left_after",  # the same, behind the last call
    "left_after_behind",
    "anywhere",  # is the tool called at all
    "needed",  # least squares over the request: is the tool needed at all
    "needed_rank",  # place among the needed ones that were not called
    "rest",  # how many needed ones were not called yet
    "earlier",  # does it come before the other needed ones
    "place",  # where in the request it is asked for, after the last call's place
    "peak",  # how strongly
    "lexical",  # BM25 with the tool's text, relative to the best
    "cosine",
    "cosine_rank",
    "seen",  # log of its demonstrations
    "called",
    "last",
    "end",
    "steps",
)
CANDIDATES = 20
"""Candidates by the linear model; each other feature adds fewer."""
_FEW = 8
_WINDOW = 2
_MIN_PROBABILITY = 1e-4


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """Least-squares models: the next tool of a step, and all tools of a request."""

    step: Matrix
    """(inputs of a step, tools)."""
    whole: Matrix
    """(inputs of a request, tools)."""


@dataclass(frozen=True, slots=True)
class RequestEvidence:
    """A request with the features that do not depend on the history."""

    vector: Matrix
    block: Matrix
    likeness: Floats
    """Similarity of each demonstration's request."""
    rows: Ints
    """The most similar demonstrations."""
    shares: Floats
    precedents: Precedents
    anywhere: Floats
    needed: Floats
    places: Floats
    """Where in the request each tool is asked for, 0 to 1."""
    peaks: Floats
    lexical: Floats
    cosine: Floats


def ask(
    memory: Memory, weights: EvidenceWeights, texts: ToolTexts, text: str, vector: Matrix
) -> RequestEvidence:
    """Compute what does not depend on the history.

    Args:
        memory: Demonstrations; in training, without the request's chain.
        weights: In training, fitted without the request's chain.
        texts: The tools' texts.
        text: The request.
        vector: Its embedding.
    """
    block = memory.inputs.of_text(text, vector)
    likeness = memory.likeness(text, vector)
    rows = np.argsort(-likeness, kind="stable")[:NEAREST]
    shares = np.exp(SHARPNESS * (likeness[rows] - likeness.max(initial=-1)))
    needed = np.zeros(len(memory.names))
    needed[: weights.whole.shape[1]] = block @ weights.whole
    places, peaks = _asked_for(memory, weights.whole, text)
    precedents = Precedents.near(memory, likeness)
    return RequestEvidence(
        vector,
        block,
        likeness,
        rows,
        shares / max(float(shares.sum()), 1e-12),
        precedents,
        precedents.anywhere(),
        needed,
        places,
        peaks,
        texts.by_number(texts.lexical(text), len(memory.names)),
        texts.by_number(texts.cosine(vector), len(memory.names)),
    )


def features(
    memory: Memory,
    weights: EvidenceWeights,
    asked: RequestEvidence,
    history: Sequence[int],
    among: Ints,
) -> NDArray[np.float32]:
    """One row per tool, one column per feature of `FEATURES`.

    Args:
        memory: Demonstrations.
        weights: The linear models.
        asked: The request.
        history: Numbers of the calls so far.
        among: Numbers of the tools that can be called, in the order of the table's rows; ranks and
            differences are among these. `END` comes first.
    """
    tools = len(memory.names)
    inputs = memory.inputs.of_step(asked.block, history)
    linear = np.zeros(tools)
    linear[: weights.step.shape[1]] = inputs @ weights.step
    prior = memory.frequencies()
    graph = memory.graphs.whole.probabilities(history, prior)
    bigram = memory.graphs.whole.probabilities(history, prior, longest=1)
    cluster = memory.graphs.probabilities(asked.vector, history, prior)
    after, later, anywhere = _near(memory, asked, history)
    beginning = asked.precedents.same_beginning(history)
    after_last = asked.precedents.after_last(history)
    left_after = asked.precedents.left_after_last(history)
    open_ = np.zeros(tools)
    open_[among] = np.clip(asked.needed[among], 0, 1)
    open_[list(history)] = 0
    open_[0] = 0
    called = np.zeros(tools)
    np.add.at(called, list(history), 1)
    last = np.zeros(tools)
    last[list(history[-1:])] = 1
    end = np.zeros(tools)
    end[0] = 1
    start = asked.places[history[-1]] if history else 0.0
    columns = [
        linear,
        linear - linear[among].max(),
        _log(graph),
        _log(bigram),
        _log(cluster),
        after,
        memory.followers(history, asked.likeness, 1),
        memory.followers(history, asked.likeness, 2),
        later,
        anywhere,
        beginning,
        beginning - beginning[among].max(),
        after_last,
        after_last - after_last[among].max(),
        asked.precedents.left(history),
        left_after,
        left_after - left_after[among].max(),
        asked.anywhere,
        asked.needed,
        _ranks(open_, among),
        np.full(tools, open_.sum()),
        memory.earlier(open_),
        asked.places - start,
        asked.peaks,
        asked.lexical / max(float(asked.lexical[among].max(initial=0)), 1e-9),
        asked.cosine,
        _ranks(asked.cosine, among),
        np.log1p(memory.counts),
        called,
        last,
        end,
        np.full(tools, len(history)),
    ]
    return np.stack(columns, axis=1).astype(np.float32)[among]


def candidates(table: NDArray[np.float32]) -> Ints:
    """Candidate rows of the table, ascending; `end` is always among them."""
    kept = [np.zeros(1, dtype=np.int64), _best(table, "linear", CANDIDATES)]
    for name in ("cluster", "like_last", "needed", "lexical", "cosine"):
        kept.append(_best(table, name, _FEW))
    return np.unique(np.concatenate(kept))


def _best(table: NDArray[np.float32], name: str, count: int) -> Ints:
    column = table[:, FEATURES.index(name)]
    return np.argsort(-column, kind="stable")[:count]


def _near(
    memory: Memory, asked: RequestEvidence, history: Sequence[int]
) -> tuple[Floats, Floats, Floats]:
    """Per tool: weight of the similar demonstrations that call it next, later, at all."""
    after, later, anywhere = (np.zeros(len(memory.names)) for _ in range(3))
    for row, share in zip(asked.rows, asked.shares, strict=True):
        chain = memory.chains[row]
        for number in set(chain):
            anywhere[number] += share
        starts = [-1] if not history else [p for p, n in enumerate(chain) if n == history[-1]]
        if not starts:
            continue
        for place in starts:
            following = chain[place + 1] if place + 1 < len(chain) else 0
            after[following] += share / len(starts)
        for number in set(chain[starts[0] + 1 :]):
            later[number] += share
    return after, later, anywhere


def _asked_for(memory: Memory, whole: Matrix, text: str) -> tuple[Floats, Floats]:
    """Where in the text the evidence for each tool peaks, 0 to 1, and the height of that peak."""
    tools = len(memory.names)
    places, peaks = np.zeros(tools), np.zeros(tools)
    found = memory.inputs.vocabulary.places(text)
    if not found:
        return places, peaks
    topics = memory.inputs.topics
    words = max(at for at, _ in found) + 1
    sums = np.zeros((words, topics.shape[1]), dtype=np.float32)
    weights = memory.inputs.vocabulary.weights
    for at, entry in found:
        sums[at] += weights[entry] * topics[entry]
    total = np.vstack([np.zeros((1, sums.shape[1]), np.float32), sums.cumsum(axis=0)])
    high = np.minimum(np.arange(words) + _WINDOW + 1, words)
    low = np.maximum(np.arange(words) - _WINDOW, 0)
    evidence = (total[high] - total[low]) @ (LEXICAL * whole[-topics.shape[1] :])
    known = evidence.shape[1]
    places[:known] = evidence.argmax(axis=0) / max(words - 1, 1)
    peaks[:known] = evidence.max(axis=0)
    return places, peaks


def _log(probabilities: Floats) -> Floats:
    return np.log(np.maximum(probabilities, _MIN_PROBABILITY))


def _ranks(values: Floats, among: Ints) -> Floats:
    order = among[np.argsort(-values[among], kind="stable")]
    ranks = np.zeros(len(values))
    ranks[order] = np.arange(len(order))
    return np.minimum(ranks, 50)
