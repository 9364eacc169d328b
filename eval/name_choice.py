"""Which of some names a language model says, when it may say nothing else."""

import heapq
from collections.abc import Callable, Mapping
from itertools import count

import numpy as np
from numpy.typing import NDArray

Spelling = tuple[int, ...]
"""Tokens of a name, or of what was said of it so far."""
After = Callable[[Spelling, int], NDArray[np.float64]]
"""Log-probabilities of the next token after each of the last so many tokens of a path, (so many,
vocabulary); the path begins behind the prompt."""


def likeliest(spelled: Mapping[str, Spelling], after: After) -> str:
    """The name with the highest log-probability, summed over all its tokens; exact.

    Whatever begins a name is followed in the order of its probability. A name only gets less
    likely with every token, so that the first one that is complete is the best.

    Args:
        spelled: Tokens of each name; none begins with all tokens of another.
        after: Of the model.
    """
    names = list(spelled)
    if len(names) == 1:
        return names[0]
    heap: list[tuple[float, Spelling, list[str]]] = [(0.0, (), names)]
    while True:
        minus, path, left = heapq.heappop(heap)
        whole = spelled[left[0]]
        if len(path) == len(whole):
            return left[0]
        if len(left) == 1:
            rest = whole[len(path) :]
            rows = after(whole[:-1], len(rest))
            told = float(rows[np.arange(len(rest)), rest].sum())
            heapq.heappush(heap, (minus - told, whole, left))
            continue
        [row] = after(path, 1)
        for token in sorted({spelled[name][len(path)] for name in left}):
            through = [name for name in left if spelled[name][len(path)] == token]
            heapq.heappush(heap, (minus - float(row[token]), (*path, token), through))


def calibrated(
    spelled: Mapping[str, Spelling], after: After, blank: Mapping[Spelling, NDArray[np.float64]]
) -> str:
    """The name that a prompt speaks for most, against the same prompt with nothing asked; exact.

    Small models say some names more readily than others whatever is asked, and how readily a name
    goes on to its end says little of the choice. So only places where names part count. There,
    each token's probability is divided by its probability after the blank prompt, counted once for
    each name that it leads to, and made to sum to 1 over all that lead to one (contextual
    calibration, Zhao et al. 2021, at each branch). A name is as likely as the product along its
    path: all are alike where the prompt is the blank one.

    Args:
        spelled: Tokens of each name; none begins with all tokens of another.
        after: Of the model, after the prompt.
        blank: Log-probabilities of the next token after the blank prompt, (vocabulary,), at each
            of `branches`.
    """
    ties = count()
    heap: list[tuple[float, int, Spelling, list[str]]] = [(0.0, next(ties), (), list(spelled))]
    while True:
        minus, _, path, left = heapq.heappop(heap)
        if len(left) == 1:
            return left[0]
        ways = _ways(spelled, path, left)
        if len(ways) == 1:
            [(token, through)] = ways.items()
            heapq.heappush(heap, (minus, next(ties), (*path, token), through))
            continue
        tokens = list(ways)
        beneath = np.log([len(through) for through in ways.values()])
        gains = after(path, 1)[0][tokens] - blank[path][tokens] + beneath
        logs = gains - np.logaddexp.reduce(gains)
        for told, (token, through) in zip(logs.tolist(), ways.items(), strict=True):
            heapq.heappush(heap, (minus - told, next(ties), (*path, token), through))


def branches(spelled: Mapping[str, Spelling]) -> list[Spelling]:
    """Beginnings of names behind which more than one token may follow; shorter ones first."""
    found = []
    waiting: list[tuple[Spelling, list[str]]] = [((), list(spelled))]
    for path, left in waiting:
        if len(left) > 1:
            ways = _ways(spelled, path, left)
            if len(ways) > 1:
                found.append(path)
            waiting += [((*path, token), through) for token, through in ways.items()]
    return found


def _ways(spelled: Mapping[str, Spelling], path: Spelling, left: list[str]) -> dict[int, list[str]]:
    """The tokens that may follow, each with the names that it leads to."""
    found: dict[int, list[str]] = {}
    for name in left:
        found.setdefault(spelled[name][len(path)], []).append(name)
    return found
