"""Weights of `ctrag.tools.ranker`, fitted on requests that name the tools they need.

`python -m training.tool_ranker --data DIR --data DIR --people DIR --out FILE`. Only half of each
folder's requests, by hash, is read; the other half is for testing. The people's requests are
learned from too, and give talk around others.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.encoder import load_encoder
from ctrag.settings import cache_folder, settings
from ctrag.tools.features import FEATURES
from ctrag.tools.index import CANDIDATES, ToolIndex
from ctrag.tools.names import named_runs
from ctrag.tools.parts import parts_of
from ctrag.tools.pool import Pool
from ctrag.tools.ranker import FLOOR, Floats, Reading, ToolRanker, Weights, floor_inputs
from ctrag.tools.vectors import CachedEncoder
from eval.discovery_data import Benchmark, Need, held_out, read_folder, read_people
from eval.experiment import data_sha256
from stores.tool_rows import Filter

SEED = 0
MOST_PER_FOLDER = 350
CHATTER = 150
"""Requests of one need that get up to three sentences of somebody's talk before or behind them."""
PEOPLE = 200
"""Requests of people, who say what they want in words of their own, that are learned from too."""
REJECTED = 2.0
"""Percent of the folders' requests whose hits may all fall below the floor. People's are not
counted: without what they have in mind, many of them name no tool."""
_COMMAND = (
    "python -m training.tool_ranker --data seal-tools --data ultratool-chains "
    "--people synth/data/reference/train --out ctrag/tools/artefact/discovery.json"
)
_RIDGE = 1e-4
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Example:
    """A request's readings, and which of its candidates it needs."""

    readings: list[Reading]
    needed: Floats
    """(candidates,), 1 where needed."""
    share: float
    """What it counts in the fit."""


def examples_of(
    index: ToolIndex, needs: Sequence[Need], encoder: CachedEncoder, share: float
) -> list[Example]:
    """Readings as searches make them, of requests whose tools are among the candidates."""
    made = []
    for need in needs:
        parts = [need.text, *(one for one in parts_of(need.text) if one != need.text)]
        pool = Pool(index.store, index.known, Filter(), CANDIDATES)
        readings = pool.read(parts, encoder.encode(parts), named_runs(need.text))
        needed = np.array([float(one.tool_id in need.tools) for one in pool.found])
        if needed.any():
            made.append(Example(readings, needed, share / len(needs)))
    return made


def with_chatter(needs: Sequence[Need], sentences: Sequence[str]) -> list[Need]:
    """Requests of one need with talk around them: their parts must not count as needs."""
    chance = random.Random(SEED)
    single = [one for one in needs if len(one.tools) == 1][:CHATTER]
    made = []
    for need in single:
        talk = chance.choices(sentences, k=chance.randint(1, 3))
        said = " ".join(one.rstrip(".") + "." for one in talk)
        text = (
            f"{said} {need.text}" if chance.random() < 0.6 else f"{need.text.rstrip('.')}. {said}"
        )
        made.append(Need(f"{need.query_id}-chatter", text, need.tools))
    return made


def fit(examples: Sequence[Example]) -> Weights:
    """Maximum likelihood of the needed tools under the mixture of `ToolRanker.rank`.

    No measure may count against a tool: measures overlap, and what one of them gains by a negative
    weight on another catalogue's tools it loses on the next.
    """
    import torch

    torch.set_num_threads(1)
    data = _Flat(examples, torch)
    start = [2.0 if name == "cosine" else 1.0 for name in FEATURES]  # roots of the weights
    values = torch.tensor([*start, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    values.requires_grad_()
    optimizer = torch.optim.LBFGS([values], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def step() -> Any:
        optimizer.zero_grad()
        loss = data.loss(values)
        loss.backward()
        return loss

    optimizer.step(step)
    found = values.detach().numpy()
    count = len(FEATURES)
    part, gate = found[count : count + 2], found[count + 2 :]
    return Weights(
        found[:count] ** 2,
        (float(part[0]), float(part[1])),
        (float(gate[0]), float(gate[1]), float(gate[2]), float(gate[3])),
        np.zeros(len(FLOOR) + 1),
    )


class _Flat:
    """All readings of all requests end to end, so that one step is a few array operations."""

    def __init__(self, examples: Sequence[Example], torch: Any) -> None:
        self.torch = torch
        rows, reading, candidate, whole, length = [], [], [], [], []
        request: list[int] = []
        first = 0
        for number, example in enumerate(examples):
            for place, one in enumerate(example.readings):
                if not len(one.rows):
                    continue
                rows.append(one.rows)
                reading.append(np.full(len(one.rows), len(request)))
                candidate.append(first + one.candidates)
                request.append(number)
                whole.append(place == 0)
                length.append(np.log(len(one.text.split()) + 1))
            first += len(example.needed)
        tensor = torch.tensor
        self.rows = tensor(np.vstack(rows))
        self.reading = tensor(np.concatenate(reading))
        self.candidate = tensor(np.concatenate(candidate))
        self.request, self.whole = tensor(request), tensor(whole)
        self.length = tensor(length, dtype=torch.float64)
        owners = [np.full(len(one.needed), number) for number, one in enumerate(examples)]
        self.owner = tensor(np.concatenate(owners))
        needed = np.concatenate([one.needed * one.share / one.needed.sum() for one in examples])
        self.wanted = tensor(needed)
        self.requests, self.readings, self.candidates = len(examples), len(request), first

    def loss(self, values: Any) -> Any:
        torch, count = self.torch, len(FEATURES)
        weights, part, gate = values[:count] ** 2, values[count : count + 2], values[count + 2 :]
        belief, best = self._softmax(self.rows @ weights, self.reading, self.readings)
        counted = part[0] * best + part[1] * self.length
        hidden = torch.where(self.whole, torch.full_like(best, -1e9), counted)
        share = self._softmax(hidden, self.request, self.requests)[0] * (~self.whole)
        parts = self._sum((~self.whole).double(), self.request, self.requests)
        whole = self._sum(self.whole[self.reading] * belief, self.candidate, self.candidates)
        mixed = self._sum(share[self.reading] * belief, self.candidate, self.candidates)
        agreement = self._sum(torch.sqrt(whole * mixed + 1e-12), self.owner, self.requests)
        above = self._sum(torch.where(self.whole, -best, share * best), self.request, self.requests)
        gated = gate[0] + gate[1] * torch.log(parts + 1) + gate[2] * agreement + gate[3] * above
        counts = torch.where(parts == 0, torch.ones_like(gated), torch.sigmoid(gated))[self.owner]
        beliefs = counts * whole + (1 - counts) * mixed
        ridge = _RIDGE * (weights**2).sum() + 1e-3 * (gate[1:] ** 2).sum()
        return -(self.wanted * torch.log(beliefs + 1e-4)).sum() + ridge

    def _sum(self, values: Any, places: Any, count: int) -> Any:
        return self.torch.zeros(count, dtype=values.dtype).index_add(0, places, values)

    def _softmax(self, values: Any, places: Any, count: int) -> tuple[Any, Any]:
        low = self.torch.full((count,), -1e30, dtype=values.dtype)
        best = low.scatter_reduce(0, places, values, "amax")
        powers = self.torch.exp(values - best[places])
        return powers / self._sum(powers, places, count)[places], best


def with_floor(weights: Weights, examples: Sequence[Example]) -> Weights:
    """The weights with a calibrated floor.

    Two searches of each request are told apart by their first candidate: with all candidates,
    where it is a needed one, and without the needed ones, as if the catalogue did not have them.
    """
    from sklearn.linear_model import LogisticRegression

    ranker = ToolRanker(weights, weights, 0.0, {})
    inputs, labels = [], []
    for example in examples:
        for readings, label in ((example.readings, 1), (_without_needed(example), 0)):
            beliefs = ranker.rank(readings, len(example.needed), dense=True).beliefs
            best = int(np.argmax(beliefs))
            if beliefs[best] > 0 and (label == 0 or example.needed[best]):
                inputs.append(_floor_row(readings, best, weights))
                labels.append(label)
    model = LogisticRegression(C=10.0, max_iter=1000).fit(np.array(inputs), labels)
    floor = np.append(model.coef_[0], model.intercept_[0])
    made = Weights(weights.features, weights.part, weights.gate, floor)
    return made


def least_fitting(weights: Weights, examples: Sequence[Example]) -> float:
    """The calibrated probability below which so few requests' best hits stay."""
    ranker = ToolRanker(weights, weights, 0.0, {})
    tops = []
    for example in examples:
        ranked = ranker.rank(example.readings, len(example.needed), dense=True)
        tops.append(ranked.fits[np.argsort(-ranked.beliefs)[:5]].max())
    return float(np.percentile(tops, REJECTED))


def _without_needed(example: Example) -> list[Reading]:
    made = []
    for one in example.readings:
        kept = example.needed[one.candidates] == 0
        made.append(Reading(one.text, one.candidates[kept], one.rows[kept]))
    return made


def _floor_row(readings: Sequence[Reading], candidate: int, weights: Weights) -> Floats:
    """The candidate's inputs in the reading that believes in it most."""
    found = [
        floor_inputs(one, weights)[one.candidates == candidate][0]
        for one in readings
        if candidate in one.candidates
    ]
    return max(found, key=lambda row: float(row[-1]))


def without_cosines(examples: Sequence[Example]) -> list[Example]:
    """The same requests as lexical search sees them."""
    dense = [number for number, name in enumerate(FEATURES) if "cosine" in name]
    made = []
    for example in examples:
        readings = []
        for one in example.readings:
            rows = one.rows.copy()
            rows[:, dense] = 0.0
            readings.append(Reading(one.text, one.candidates, rows))
        made.append(Example(readings, example.needed, example.share))
    return made


def train(folders: Sequence[Path], people_of: Path, out: Path) -> ToolRanker:
    """Fit on the folders' halves and write the ranker.

    Raises:
        ValueError: A file breaks a rule.
    """
    encoder = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
    lines = (people_of / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = [json.loads(line)["text"] for line in lines]
    sets = [(folder, read_folder(folder)) for folder in folders]
    nothing = Weights(np.zeros(len(FEATURES)), (0, 0), (0, 0, 0, 0), np.zeros(len(FLOOR) + 1))
    blank = ToolRanker(nothing, nothing, 0.0, {})
    found: list[Example] = []
    for _, benchmark in sets:
        index = ToolIndex(benchmark.tools, encoder, ranker=blank)
        needs = _fitting_half(benchmark)
        talk = with_chatter(needs, sentences)
        found += examples_of(index, needs, encoder, 1.0)
        if talk:
            found += examples_of(index, talk, encoder, 1.0)
    people = read_people(people_of)
    index = ToolIndex(people.tools, encoder, ranker=blank)
    some = random.Random(SEED).sample(people.needs, PEOPLE)
    vague = examples_of(index, some, encoder, 1.0)
    every = [*found, *vague]
    hybrid = with_floor(fit(every), every)
    lexical = with_floor(fit(without_cosines(every)), without_cosines(every))
    card = {
        "command": _COMMAND,
        "encoder": encoder.name,
        "data": {folder.name: data_sha256(folder) for folder in [*folders, people_of]},
        "half": "the requests for which eval.discovery_data.held_out is false",
        "requests": len(every),
        "seed": SEED,
    }
    ranker = ToolRanker(hybrid, lexical, round(least_fitting(hybrid, found), 4), card)
    ranker.save(out)
    return ranker


def _fitting_half(benchmark: Benchmark) -> list[Need]:
    needs = [one for one in benchmark.needs if not held_out(one.query_id)]
    random.Random(SEED).shuffle(needs)
    return needs[:MOST_PER_FOLDER]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--people", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    train(given.data, given.people, given.out)


if __name__ == "__main__":
    main()
