"""Which of some names a language model says, when it may say nothing else."""

from collections.abc import Mapping

import numpy as np

Spelling = tuple[int, ...]
"""Tokens of a name, or of what it begins with."""
Ways = dict[Spelling, dict[int, list[str]]]
"""What names begin with → each token that goes on → the names that it leads to."""
Logs = Mapping[Spelling, Mapping[int, float]]
"""What names begin with → log-probabilities of tokens that go on."""


def ways_of(spelled: Mapping[str, Spelling]) -> Ways:
    """All ways through some names, shorter beginnings first.

    Args:
        spelled: Tokens of each name; none begins with all tokens of another.
    """
    found: Ways = {}
    waiting: list[tuple[Spelling, list[str]]] = [((), list(spelled))]
    for path, left in waiting:
        ways: dict[int, list[str]] = {}
        for name in left:
            ways.setdefault(spelled[name][len(path)], []).append(name)
        found[path] = ways
        waiting += [
            ((*path, token), names)
            for token, names in ways.items()
            if len(spelled[names[0]]) > len(path) + 1
        ]
    return found


def branches(ways: Ways) -> Ways:
    """The ways where names part."""
    return {path: some for path, some in ways.items() if len(some) > 1}


def likeliest(spelled: Mapping[str, Spelling], logs: Logs) -> str:
    """The name with the highest log-probability, summed over all its tokens.

    Args:
        spelled: Tokens of each name.
        logs: At all of `ways_of`.
    """
    return max(
        spelled,
        key=lambda name: sum(
            logs[spelled[name][:at]][token] for at, token in enumerate(spelled[name])
        ),
    )


def calibrated(ways: Ways, asked: Logs, blank: Logs) -> str:
    """The name that a prompt speaks for most, against the same prompt with nothing asked.

    Small models say some names more readily than others whatever is asked, and how readily a name
    goes on to its end says little of the choice. So only places where names part count. There,
    each token's probability is divided by its probability after the blank prompt, counted once for
    each name that it leads to, and made to sum to 1 over all that lead to one (contextual
    calibration, Zhao et al. 2021, at each branch). A name is as likely as the product along its
    path: all are alike where the prompt is the blank one.

    Args:
        ways: Through the names.
        asked: After the prompt, at `branches` at least.
        blank: The same after the blank prompt.
    """
    totals = {name: 0.0 for names in ways[()].values() for name in names}
    for path, some in branches(ways).items():
        beneath = np.log([len(names) for names in some.values()])
        gains = np.array([asked[path][token] - blank[path][token] for token in some]) + beneath
        logs = gains - np.logaddexp.reduce(gains)
        for log, names in zip(logs.tolist(), some.values(), strict=True):
            for name in names:
                totals[name] += log
    return max(totals, key=totals.__getitem__)
