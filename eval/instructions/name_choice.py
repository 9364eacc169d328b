"""Which of some names a language model says, when it may say nothing else."""

from collections.abc import Mapping

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
