"""Sizes and splits of a data set, as in appendix A of the paper.

Everything here follows from a person's number alone, so that any worker can make any person.
"""

import math
import random
from collections.abc import Sequence

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
"""The period of sources: people whose numbers differ by a multiple of it are in the same part, and
may be made from the same source."""
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
"""Relative frequency of each kind of request; the counts of the reference people's train split."""

_STRIDE = 10**9 * CYCLE


def person_seed(seed: int, number: int) -> int:
    """The seed of a data set's person; consecutive people have consecutive seeds."""
    return seed * _STRIDE + number


def round_of(seed: int) -> int:
    """How often the source of this seed has already been used in the data set."""
    return seed % _STRIDE // CYCLE


def requests_of(number: int) -> int:
    """How many requests person `number` (from 0) makes; 791 people make the paper's 5,274."""
    each = (PAPER_TRAIN + PAPER_TEST) / PAPER_PERSONAS
    return _step(number, each)


def is_test(number: int) -> bool:
    """Whether person `number` (from 0) belongs to the test part."""
    return _step(number % CYCLE, PAPER_TEST / (PAPER_TRAIN + PAPER_TEST)) == 1


def kinds_of(number: int, seed: int, count: int) -> list[Kind]:
    """The kinds of a person's requests, drawn by `KINDS`; none more than twice in a row of nine."""
    draw = random.Random(f"{person_seed(seed, number)}/kinds")
    chosen: list[Kind] = []
    while len(chosen) < count:
        kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
        if chosen[-8:].count(kind) < 2:
            chosen.append(kind)
    return chosen


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
