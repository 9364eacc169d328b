"""Weights of `ctrag.agents.search.ranker`, fitted on requests that name the tools they need.

`ctrag train tool-ranker`. Only half of each folder's requests, by hash, is read; the other half is
for testing. People's requests are used for training too, and those of the first data set serve as
chatter around others.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.agents.search.features import FEATURES
from ctrag.agents.search.index import CANDIDATES, ToolIndex
from ctrag.agents.search.names import named_runs
from ctrag.agents.search.parts import parts_of
from ctrag.agents.search.pool import Pool
from ctrag.agents.search.ranker import (
    FLOOR,
    Floats,
    ModeWeights,
    Readings,
    ToolRanker,
    floor_inputs,
    softmax,
)
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from eval.core.experiment import data_sha256
from eval.discovery.data import Benchmark, Need, read_folder, read_people
from stores.compressed import read_kept
from stores.tools.protocol import Filter
from training.core.origin import command_line, people_of

SEED = 0
MOST_PER_FOLDER = 350
SIZES = (1000, 300, 80)
"""Sizes of smaller catalogues that are sampled from a folder, so that weights do not depend on a
single size."""
CHATTER = 150
"""Requests of one need that get up to three sentences of chatter before or after them."""
PEOPLE = 200
"""Requests from each data set of people, who phrase things in their own words."""
OBLIQUE = 0.3
"""Weight of people's requests, where a folder has 1: agents search in plain words."""
LEAST = 0.25
"""The floor: below this calibrated probability nothing fits. Lower than a half, because a false
"nothing fits" costs an agent its tool; above the probability without any evidence, 0.23."""
_RIDGE = 1e-3
_STEPS = 40
_NEEDS_OF_SIZE = 4
"""Tools of a sampled catalogue per request."""


@dataclass(frozen=True, slots=True)
class ToolSearchExample:
    """A request's readings, and which candidates it needs."""

    readings: Readings
    needed: Floats
    """(candidates,), 1 where needed."""
    share: float = 1.0
    """Its weight in the fit."""

    @property
    def single(self) -> bool:
        """Whether one tool is needed."""
        return bool(self.needed.sum() == 1)


def examples_of(
    index: ToolIndex, needs: Sequence[Need], encoder: CachedEncoder
) -> list[ToolSearchExample]:
    """Readings, as in a search, of requests whose tools are among the candidates."""
    made = []
    for need in needs:
        parts = [need.text, *(one for one in parts_of(need.text) if one != need.text)]
        pool = Pool(index.store, index.known, Filter(), CANDIDATES)
        readings = pool.read(parts, encoder.encode(parts), named_runs(need.text))
        needed = np.array([float(one.tool_id in need.tools) for one in pool.found])
        if needed.any():
            made.append(ToolSearchExample(readings, needed))
    return made


def shared(examples: Sequence[ToolSearchExample], share: float) -> list[ToolSearchExample]:
    """The examples, with weights that sum to `share`."""
    return [replace(one, share=share / len(examples)) for one in examples]


def sampled(benchmark: Benchmark, needs: Sequence[Need], size: int) -> Benchmark:
    """A smaller catalogue: some requests, the tools that they need, and random others."""
    chance = random.Random(SEED + size)
    some = chance.sample(list(needs), min(len(needs), size // _NEEDS_OF_SIZE))
    kept = frozenset[str]().union(*(one.tools for one in some))
    rest = [one.id for one in benchmark.tools if one.id not in kept]
    kept |= set(chance.sample(rest, min(len(rest), max(0, size - len(kept)))))
    return Benchmark([one for one in benchmark.tools if one.id in kept], some)


def with_chatter(needs: Sequence[Need], sentences: Sequence[str]) -> list[Need]:
    """Requests of one need with chatter around them, which must not count as needs."""
    chance = random.Random(SEED)
    single = [one for one in needs if len(one.tools) == 1][:CHATTER]
    made = []
    for need in single:
        talk = chance.choices(sentences, k=chance.randint(1, 3))
        chatter = " ".join(one.rstrip(".") + "." for one in talk)
        text = (
            f"{chatter} {need.text}"
            if chance.random() < 0.6
            else f"{need.text.rstrip('.')}. {chatter}"
        )
        made.append(Need(f"{need.query_id}-chatter", text, need.tools))
    return made


def fit(examples: Sequence[ToolSearchExample]) -> ModeWeights:
    """Maximum likelihood of the needed tools under the mixture of `ToolRanker.rank`.

    No measure may have a negative weight: measures overlap, and what a negative weight gains on
    one catalogue it loses on the next.
    """
    import torch

    torch.set_num_threads(1)
    data = _Flat(examples, torch)
    count = len(FEATURES)
    start = [
        *np.ones(count),
        0.1,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ]  # the first are square roots of the weights
    values = torch.tensor(start, dtype=torch.float32, requires_grad=True)
    optimizer = torch.optim.LBFGS([values], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def step() -> Any:
        optimizer.zero_grad()
        loss = data.loss(values)
        loss.backward()
        return loss

    optimizer.step(step)
    found = values.detach().numpy().astype(np.float64)
    part, gate = found[count : count + 2], found[count + 2 :]
    return ModeWeights(
        found[:count] ** 2,
        (float(part[0]), float(part[1])),
        (float(gate[0]), float(gate[1]), float(gate[2]), float(gate[3])),
        np.zeros(len(FLOOR) + 1),
    )


class _Flat:
    """All readings of all requests concatenated, so that one step is a few array operations."""

    def __init__(self, examples: Sequence[ToolSearchExample], torch: Any) -> None:
        self.torch = torch
        rows, reading, candidate, length = [], [], [], []
        request: list[int] = []
        first = 0
        for number, example in enumerate(examples):
            readings, candidates, _ = example.readings.rows.shape
            rows.append(example.readings.rows.reshape(readings * candidates, -1))
            reading.append(np.repeat(len(request) + np.arange(readings), candidates))
            candidate.append(first + np.tile(np.arange(candidates), readings))
            request += [number] * readings
            length += [np.log(len(text.split()) + 1) for text in example.readings.texts]
            first += candidates
        tensor = torch.tensor
        self.rows = tensor(np.vstack(rows), dtype=torch.float32)
        self.reading = tensor(np.concatenate(reading))
        self.candidate = tensor(np.concatenate(candidate))
        self.request = tensor(request)
        self.whole = tensor(np.diff(request, prepend=-1) > 0)
        self.length = tensor(length, dtype=torch.float32)
        owners = [np.full(len(one.needed), number) for number, one in enumerate(examples)]
        self.owner = tensor(np.concatenate(owners))
        needed = np.concatenate([one.needed * one.share / one.needed.sum() for one in examples])
        self.wanted = tensor(needed / needed.sum(), dtype=torch.float32)
        self.requests, self.readings, self.candidates = len(examples), len(request), first

    def loss(self, values: Any) -> Any:
        torch, count = self.torch, len(FEATURES)
        weights, part, gate = values[:count] ** 2, values[count : count + 2], values[count + 2 :]
        belief, best = self._softmax(self.rows @ weights, self.reading, self.readings)
        counted = part[0] * best + part[1] * self.length
        hidden = torch.where(self.whole, torch.full_like(best, -1e9), counted)
        share = self._softmax(hidden, self.request, self.requests)[0] * (~self.whole)
        parts = self._sum((~self.whole).float(), self.request, self.requests)
        whole = self._sum(self.whole[self.reading] * belief, self.candidate, self.candidates)
        mixed = self._sum(share[self.reading] * belief, self.candidate, self.candidates)
        agreement = self._sum(torch.sqrt(whole * mixed + 1e-12), self.owner, self.requests)
        above = self._sum(torch.where(self.whole, -best, share * best), self.request, self.requests)
        gated = gate[0] + gate[1] * torch.log(parts + 1) + gate[2] * agreement + gate[3] * above
        counts = torch.where(parts == 0, torch.ones_like(gated), torch.sigmoid(gated))[self.owner]
        beliefs = counts * whole + (1 - counts) * mixed
        ridge = _RIDGE * ((weights**2).sum() + (gate[1:] ** 2).sum())
        return -(self.wanted * torch.log(beliefs + 1e-4)).sum() + ridge

    def _sum(self, values: Any, places: Any, count: int) -> Any:
        return self.torch.zeros(count, dtype=values.dtype).index_add(0, places, values)

    def _softmax(self, values: Any, places: Any, count: int) -> tuple[Any, Any]:
        low = self.torch.full((count,), -1e30, dtype=values.dtype)
        best = low.scatter_reduce(0, places, values, "amax")
        powers = self.torch.exp(values - best[places])
        return powers / self._sum(powers, places, count)[places], best


def with_floor(weights: ModeWeights, examples: Sequence[ToolSearchExample]) -> ModeWeights:
    """The weights with a calibrated floor.

    It separates two searches of each request by their first candidate: with all candidates, if
    the first one is needed, and without the needed ones, as if the catalogue lacked them.
    """
    from sklearn.linear_model import LogisticRegression

    ranker = ToolRanker(weights, weights, 0.0, {})
    inputs, labels, shares = [], [], []
    for example in examples:
        for readings, label in ((example.readings, 1), (without_needed(example), 0)):
            if not readings.rows.shape[1]:
                continue
            best = int(np.argmax(ranker.rank(readings, dense=True).beliefs))
            if label == 0 or example.needed[best]:
                beliefs = softmax(readings.rows @ weights.features)
                seen = floor_inputs(readings, beliefs)[:, best]
                inputs.append(seen[np.argmax(seen[:, -1])])  # in the most confident reading
                labels.append(label)
                shares.append(example.share)
    weighed = np.array(shares) * len(shares) / sum(shares)
    model = LogisticRegression(C=10.0, max_iter=1000).fit(np.array(inputs), labels, weighed)
    return replace(weights, floor=np.append(model.coef_[0], model.intercept_[0]))


def without_needed(example: ToolSearchExample) -> Readings:
    """The readings as if the catalogue had none of the needed tools."""
    return Readings(example.readings.texts, example.readings.rows[:, example.needed == 0])


def without_cosines(examples: Sequence[ToolSearchExample]) -> list[ToolSearchExample]:
    """The same requests as lexical search sees them."""
    dense = [number for number, name in enumerate(FEATURES) if "cosine" in name]
    made = []
    for example in examples:
        rows = example.readings.rows.copy()
        rows[:, :, dense] = 0.0
        made.append(replace(example, readings=Readings(example.readings.texts, rows)))
    return made


def counted(
    groups: Sequence[Sequence[ToolSearchExample]], oblique: float
) -> list[ToolSearchExample]:
    """The examples of `gather`: each group weighs 1, the last one (people's) `oblique`."""
    counts = [1.0] * (len(groups) - 1) + [oblique]
    pairs = zip(groups, counts, strict=True)
    return [one for group, count in pairs for one in shared(group, count)]


def gather(
    folders: Sequence[Path], people: Sequence[Path], encoder: CachedEncoder, half: bool = False
) -> list[list[ToolSearchExample]]:
    """Requests in catalogues of several sizes: each folder's, those of one need, and people's.

    Args:
        folders: Tools with requests that name what they need.
        people: Data sets of people.
        encoder: Makes the vectors.
        half: Which half of the requests; False is the one for fitting.

    Raises:
        ValueError: A file breaks a rule.
    """
    nothing = ModeWeights(np.zeros(len(FEATURES)), (0, 0), (0, 0, 0, 0), np.zeros(len(FLOOR) + 1))
    blank = ToolRanker(nothing, nothing, 0.0, {})
    talk = [
        json.loads(line)["text"]
        for line in read_kept(people[0] / "queries.jsonl").decode("utf-8").splitlines()
    ]
    groups: list[list[ToolSearchExample]] = []
    single: list[ToolSearchExample] = []
    for folder in folders:
        benchmark = read_folder(folder)
        needs = _half(benchmark.needs, half, MOST_PER_FOLDER)
        asked = [Benchmark(benchmark.tools, needs)]
        asked += [sampled(benchmark, needs, one) for one in SIZES if one < len(benchmark.tools)]
        found = []
        for one in asked:
            index = ToolIndex(one.tools, encoder, ranker=blank)
            found += examples_of(index, one.needs, encoder)
        groups.append(found)
        single += [one for one in found if one.single]
        index = ToolIndex(benchmark.tools, encoder, ranker=blank)
        single += examples_of(index, with_chatter(needs, talk), encoder)
    oblique = []
    for folder in people:
        benchmark = read_people(folder)
        index = ToolIndex(benchmark.tools, encoder, ranker=blank)
        oblique += examples_of(index, _half(benchmark.needs, half, PEOPLE), encoder)
    return [*groups, single, oblique]


def train(folders: Sequence[Path], people: Sequence[Path], out: Path) -> ToolRanker:
    """Fit on the folders' halves and write the ranker.

    Raises:
        ValueError: A file breaks a rule.
    """
    encoder = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
    groups = gather(folders, people, encoder)
    every = counted(groups, OBLIQUE)
    hybrid = with_floor(fit(every), every)
    lexical = with_floor(fit(without_cosines(every)), without_cosines(every))
    card = {
        "command": command_line(),
        "encoder": encoder.name,
        "data": {folder.name: data_sha256(folder) for folder in [*folders, *people]},
        "people": sorted(people_of([*folders, *people])),
        "half": "the requests for which eval.discovery.data.Need.held_out is false",
        "requests": len(every),
        "seed": SEED,
    }
    ranker = ToolRanker(hybrid, lexical, LEAST, card)
    ranker.save(out)
    return ranker


def _half(needs: Sequence[Need], half: bool, most: int) -> list[Need]:
    found = [one for one in needs if one.held_out == half]
    random.Random(SEED).shuffle(found)
    return found[:most]
