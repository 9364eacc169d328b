"""The rule of `ctrag.agents.search.surfacing`, fitted on requests that name the tools they need.

`ctrag train surfacing`. As for the ranker, only half of each folder's requests, by hash, is read.
Each is asked where its tools are, and each catalogue is asked requests of other folders and its own
without the tools that they need. Catalogues of a handful to all of a folder's tools count alike, so
that the rule holds for both.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ctrag.agents.search.index import Mode, ToolIndex
from ctrag.agents.search.results import ToolSearch
from ctrag.agents.search.surfacing import LIMIT, NEAR, Surfacing, evidence, surface
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from eval.core.experiment import hash_of
from eval.discovery.data import Benchmark, Need, read_folder, read_people
from synth.reference import split_folder
from training.core.origin import command_line

SEED = 0
SIZES = (6, 15, 40, 150, None)
"""Sizes of the catalogues that are sampled from a folder; None for the whole one."""
ASKED = 160
"""Requests of each folder and size that a catalogue answers, and as many that it does not."""
DOUBT = 0.645
"""Certainty below which hits come with a note of doubt. Chosen so that it is said as often of
BFCL's single-turn requests whose tools are taken out as by the first floor (34.5 %)."""
WRONGLY_REFUSED = 0.002
"""Share of requests with an answer that are told that nothing fits."""
SHARE = 0.04
"""Least share of the belief that a tool is given for. Chosen for three tools a search, with the
card's curves and those of BFCL in view."""
FEW = 20
"""Requests of a folder at least: fewer say nothing about a rule."""
_SHARES = (0.08, 0.06, 0.05, 0.04, 0.03, 0.02)


@dataclass(frozen=True, slots=True)
class Judged:
    """A search whose right outcome is known."""

    need: Need
    search: ToolSearch
    answered: bool
    """Whether the catalogue has what is asked for."""
    weight: float = 1.0


def train(
    folders: Sequence[Path], out: Path, progress: Callable[[str], None] = lambda text: None
) -> Surfacing:
    """Fit the rule and write it.

    Args:
        folders: With tools and requests, or recordings. Each gives the others what they lack; to a
            single one the packaged people of the training split do.
        out: The file.
        progress: Called with progress messages.

    Raises:
        ValueError: There is no folder, or one has too few requests.
    """
    if not folders:
        raise InputError("data: at least one folder is needed")
    encoder = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
    benchmarks = [read_folder(one) for one in folders]
    halves = [
        Benchmark(one.tools, [need for need in one.needs if not need.held_out])
        for one in benchmarks
    ]
    for folder, half in zip(folders, halves, strict=True):
        if len(half.needs) < FEW:
            raise InputError(
                f"{folder}: half of its requests (or sessions) are {len(half.needs)}; at least "
                f"{FEW} are needed"
            )
    strangers = [] if len(folders) > 1 else read_people(split_folder("train")).needs
    found: dict[Mode, list[Judged]] = {}
    modes: tuple[Mode, ...] = ("hybrid", "lexical")
    for mode in modes:
        rows: list[Judged] = []
        for number, half in enumerate(halves):
            others = [need for other in halves if other is not half for need in other.needs]
            others += strangers
            for size in SIZES:
                progress(f"{mode}: {folders[number].name}, {size or len(half.tools)} tools")
                rows += judged(half, others, size, encoder, mode)
        found[mode] = rows
    read_by = zip(folders, benchmarks, strict=True)
    card: dict[str, Any] = {
        "command": command_line(),
        "encoder": encoder.name,
        "data": {one.name: hash_of(one) for one in folders},
        "requests": len(found["hybrid"]),
        "seed": SEED,
        "left_out": {one.name: dict(read.left_out) for one, read in read_by if read.left_out},
    }
    rule = fitted(found, card)
    rule.save(out)
    return rule


def judged(
    half: Benchmark, others: Sequence[Need], size: int | None, encoder: CachedEncoder, mode: Mode
) -> list[Judged]:
    """Requests asked of sampled catalogues of one size, until there are enough."""
    chance = random.Random(f"{SEED} {size}")
    rows: list[Judged] = []
    each = ASKED if size is None else max(1, size // 4)
    for _ in range(1 if size is None else -(-ASKED // each)):
        needs = chance.sample(half.needs, min(each, len(half.needs)))
        tools = half.tools if size is None else _some(half, needs, size, chance)
        index = ToolIndex(tools, encoder)
        for need in needs:
            rows.append(Judged(need, index.find(need.text, 5, mode=mode), True))
            if len(tools) > len(need.tools):
                gone = index.find(need.text, 5, exclude=need.tools, mode=mode)
                rows.append(Judged(need, gone, False, 0.5))
        for need in chance.sample(list(others), min(len(others), len(needs))):
            rows.append(Judged(need, index.find(need.text, 5, mode=mode), False, 0.5))
    return rows


def _some(half: Benchmark, needs: Sequence[Need], size: int, chance: random.Random) -> list[Any]:
    kept = frozenset[str]().union(*(one.tools for one in needs))
    rest = [one.id for one in half.tools if one.id not in kept]
    kept |= set(chance.sample(rest, min(len(rest), max(0, size - len(kept)))))
    return [one for one in half.tools if one.id in kept]


def fitted(found: dict[Mode, list[Judged]], card: dict[str, Any]) -> Surfacing:
    """The rule that these searches make, its three numbers from those with vectors."""
    from sklearn.linear_model import LogisticRegression

    weights: dict[Mode, tuple[float, ...]] = {}
    for mode, rows in found.items():
        kept = [one for one in rows if one.search.near]
        table = np.array([evidence(one.search.near[:NEAR], len(one.search.parts)) for one in kept])
        model = LogisticRegression(C=1.0, max_iter=2000).fit(
            table, [one.answered for one in kept], [one.weight for one in kept]
        )
        weights[mode] = (*map(float, model.coef_[0]), float(model.intercept_[0]))
    rule = Surfacing(weights["hybrid"], weights["lexical"], 0.0, 0.0, SHARE, card)
    rows = [
        replace(
            one,
            search=replace(
                one.search,
                certainty=rule.certainty(one.search.near[:NEAR], len(one.search.parts), dense=True),
            ),
        )
        for one in found["hybrid"]
    ]
    answered = [one for one in rows if one.answered]
    stated = [one.search.certainty for one in answered]
    rule = replace(
        rule,
        doubt=DOUBT,
        hopeless=min(DOUBT, round(float(np.quantile(stated, WRONGLY_REFUSED)), 4)),
    )
    by_share: dict[str, list[float]] = {}
    for share in _SHARES:
        one_share = replace(rule, share=share)
        given = [list(surface(one.search, "", LIMIT, one_share).hits) for one in answered]
        recall = fmean(_recall(one.need, ids) for one, ids in zip(answered, given, strict=True))
        by_share[str(share)] = [round(100 * recall, 2), round(fmean(map(len, given)), 2)]
    among = fmean(_recall(one.need, [hit.tool.id for hit in one.search.hits]) for one in answered)
    card["recall@5"] = round(100 * among, 2)
    card["recall_and_tools_given_by_share"] = by_share
    absent = [one for one in rows if not one.answered]
    card["said_to_be_doubtful"] = _percent(absent, rule.doubt)
    card["said_to_be_hopeless"] = _percent(absent, rule.hopeless)
    return rule


def _recall(need: Need, ids: Sequence[str]) -> float:
    return len(need.tools.intersection(ids)) / len(need.tools)


def _percent(rows: Sequence[Judged], least: float) -> float:
    return round(100 * fmean(one.search.certainty < least for one in rows), 1)
