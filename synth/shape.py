"""Sizes and splits of a data set, as in appendix A of the paper.

Everything here follows from a person's number alone, so that any worker can make any person.
"""

import math
import random
from collections.abc import Mapping, Sequence

from ctrag.errors import InputError
from stores.people.app_spec import AppSpec
from stores.people.dataset import Kind

PAPER_PERSONAS = 791
PAPER_TRAIN = 4338
PAPER_TEST = 936
PAPER_ITEMS = {
    "mail": 2.93,
    "calendar": 5.63,
    "google": 9.57,
    "notes": 2.23,
    "music": 4.38,
    "reminders": 4.81,
    "phonecall": 2.34,
}
"""Table 4: context items of a person, by application."""
PAPER_APIS = {
    "music": 11,
    "google": 10,
    "notes": 9,
    "mail": 8,
    "phonecall": 8,
    "calendar": 7,
    "reminders": 6,
}
"""Table 5: APIs of the toolbox, by application."""
OTHER_ITEMS = 4.0
"""Items of a person in an application that is not in the paper."""
CYCLE = 990
"""People whose numbers differ by a multiple of it are in the same part."""
KINDS: dict[Kind, float] = {
    "reference": 233,
    "write": 206,
    "mismatch": 187,
    "now": 175,
    "multi": 160,
    "habit": 148,
    "refind": 123,
    "explicit": 67,
    "no_tool": 30,
}
"""Relative frequency of each kind of oblique request; the counts of the reference people's train
split."""
LEVELS: dict[str, float] = {
    "ask": 18,
    "tell": 20,
    "new": 18,
    "cannot": 4,
    "oblique": 40,
    "several": 8,
    "dialogue": 8,
}
"""Level → share of requests. Those for several calls and dialogues stand in files of their own, so
many for each hundred of the others."""
TALKS = ("several", "dialogue")
_PLAIN_KINDS: dict[str, Kind] = {
    "ask": "mismatch",
    "tell": "write",
    "new": "explicit",
    "cannot": "no_tool",
}

_STRIDE = 10**9 * CYCLE
TRY = 10**6
"""Added to a data set's seed, it changes the requests and not the person."""


def person_seed(seed: int, number: int) -> int:
    """The seed of a data set's person; consecutive people have consecutive seeds."""
    return seed * _STRIDE + number


def base_seed(seed: int) -> int:
    """The seed of the person whom a request's seed is about; see `Job.asked`."""
    return (seed // _STRIDE % TRY) * _STRIDE + seed % _STRIDE


def part_of(seed: int) -> tuple[int, int, bool]:
    """A person's data set by its seed, their place in their part of it, and whether that is test.

    Args:
        seed: The person's.
    """
    whole, number = divmod(seed, _STRIDE)
    tests = math.floor(number * PAPER_TEST / (PAPER_TRAIN + PAPER_TEST) + 1e-9)
    test = is_test(number)
    return whole, tests if test else number - tests, test


def requests_of(number: int) -> int:
    """How many requests person `number` (from 0) makes; 791 people make the paper's 5,274."""
    each = (PAPER_TRAIN + PAPER_TEST) / PAPER_PERSONAS
    return _step(number, each)


def is_test(number: int) -> bool:
    """Whether person `number` (from 0) belongs to the test part."""
    return _step(number % CYCLE, PAPER_TEST / (PAPER_TRAIN + PAPER_TEST)) == 1


def parsed_levels(text: str) -> dict[str, float]:
    """Shares of levels from text such as `ask=30,tell=30,oblique=0`; the others keep theirs.

    Raises:
        ValueError: A level is unknown, a share is no number from 0, or no single request is left.
    """
    found = dict(LEVELS)
    for one in filter(None, (part.strip() for part in text.split(","))):
        level, _, share = one.partition("=")
        if level not in LEVELS:
            raise InputError(f"levels: {level!r} must be one of {', '.join(LEVELS)}")
        try:
            found[level] = float(share)
        except ValueError:
            raise InputError(f"levels: {one!r} must be a level and a number, as ask=20") from None
        if not 0 <= found[level] < math.inf:
            raise InputError(f"levels: {level} must be 0 or more, not {share}")
    if not sum(share for level, share in found.items() if level not in TALKS):
        raise InputError("levels: one of ask, tell, new, cannot and oblique must be above 0")
    return found


def kind_shares(levels: Mapping[str, float]) -> dict[Kind, float]:
    """Kind → its share of single requests, plain and oblique ones together."""
    total = sum(KINDS.values())
    found = {kind: levels["oblique"] * count / total for kind, count in KINDS.items()}
    for level, kind in _PLAIN_KINDS.items():
        found[kind] += levels[level]
    return found


def oblique_share(kind: Kind, levels: Mapping[str, float]) -> float:
    """The share of those that are asked as the reference people ask among a kind's requests."""
    whole = kind_shares(levels)[kind]
    return levels["oblique"] * KINDS[kind] / sum(KINDS.values()) / whole if whole else 0.0


def kinds_of(
    number: int, seed: int, count: int, levels: Mapping[str, float] = LEVELS
) -> list[Kind]:
    """The kinds of a person's requests, drawn by the levels' shares; none more than three times in
    a row of nine unless there is no other."""
    draw = random.Random(f"{person_seed(seed, number)}/kinds")
    shares = {kind: share for kind, share in kind_shares(levels).items() if share}
    most = 3 if len(shares) > 4 else 9
    chosen: list[Kind] = []
    while len(chosen) < count:
        kind = draw.choices(list(shares), list(shares.values()))[0]
        if chosen[-8:].count(kind) < most:
            chosen.append(kind)
    return chosen


def talks_of(number: int, levels: Mapping[str, float] = LEVELS) -> tuple[int, int]:
    """How many requests for several calls, and how many dialogues, a person has."""
    each = (PAPER_TRAIN + PAPER_TEST) / PAPER_PERSONAS / 100
    several, dialogues = (_step(number, each * levels[level]) for level in TALKS)
    return several, dialogues


def item_counts(apps: Sequence[AppSpec], seed: int) -> dict[str, int]:
    """Items of a person by application: Table 4's means, a third of people one more or less."""
    draw = random.Random(f"{seed}/counts")
    counts = {}
    for app in apps:
        mean = PAPER_ITEMS.get(app.name, OTHER_ITEMS)
        rounded = math.floor(mean) + (draw.random() < mean % 1)
        counts[app.name] = max(1, rounded + draw.choice((-1, 0, 0, 0, 1)))
    return counts


def _step(number: int, each: float) -> int:
    """How far the whole part of a running total moves at `number`."""
    return math.floor((number + 1) * each + 1e-9) - math.floor(number * each + 1e-9)
