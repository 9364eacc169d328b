"""Contrastive tuning of an encoder on tokenised requests and the tools that they need.

Low-rank changes are trained by InfoNCE: a request's tool against the tools of the other requests in
the batch, and against those that the untuned encoder ranks nearest to the request. Needs torch and
numpy alone: packed training jobs carry this module.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.core.loop import Loop
from training.core.steps import run_steps
from training.tool_search.tokenised import Row, TokenisedBenchmark

Progress = Callable[[str], None]
BEFORE = "before.npz"
"""File of the changes that a packed job learns further."""
_RARELY = 5000
_NEVER = -1e4
_BATCH = 64


@dataclass(frozen=True, slots=True)
class PairTuning:
    """How the encoder is tuned."""

    layers: int = 6
    epochs: int = 1
    learning_rate: float = 3e-4
    rank: int = 16
    scale: float = 2.0
    dropout: float = 0.1
    weight_decay: float = 0.01
    batch: int = 48
    misses: int = 2
    """Hard negatives per needed tool."""
    near: int = 12
    """Number of nearest tools that they are drawn from."""
    temperature: float = 0.05
    share: float = 1.0
    """Factor by which the learned changes are scaled."""
    save_seconds: float = 60.0
    """Seconds between checkpoints at most."""
    seed: int = 1

    @classmethod
    def of(cls, settings: "PairTuning") -> "PairTuning":
        """Those of settings that have more."""
        return PairTuning(
            **{name: getattr(settings, name) for name in PairTuning.__dataclass_fields__}
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """A request and one of the tools that it needs."""

    request: Row
    tool: int
    needed: frozenset[int]
    """Numbers of all tools that it needs."""
    near: tuple[int, ...]
    """Numbers of the nearest tools that it does not need."""


@dataclass(frozen=True, slots=True)
class PairsLearned:
    """What tuning leaves beside the network's weights."""

    figures: dict[str, dict[str, float]]
    """Of the held-out catalogues, before and after."""
    steps: int
    loss: float
    """Mean of the last steps that this process made."""


def tune_pairs(
    network: Any,
    sources: Sequence[TokenisedBenchmark],
    tests: Mapping[str, TokenisedBenchmark],
    settings: PairTuning,
    checkpoint: Path,
    progress: Progress = lambda _: None,
    resume: bool = True,
    limit: int | None = None,
) -> PairsLearned:
    """Tune a network of `make_network`.

    Args:
        network: Where it is to be trained.
        sources: What is learned from.
        tests: Name → what gives the figures.
        settings: See `PairTuning`.
        checkpoint: The file that a rerun goes on from.
        progress: Called with progress messages.
        resume: Whether to go on from a checkpoint.
        limit: Steps at most.

    Raises:
        ValueError: No request needs a tool.
    """
    before = {name: recalls(network, one) for name, one in tests.items()}
    progress(f"before: {before}")
    tools: list[Row] = []
    pairs: list[Pair] = []
    for benchmark in sources:
        pairs += pairs_of(network, benchmark, settings.near, len(tools))
        tools += benchmark.tools
    if not pairs:
        raise ValueError("data: no request needs a tool, there is nothing to learn")
    steps, loss = _fit(network, tools, pairs, settings, checkpoint, progress, resume, limit)
    network.keep(settings.share)
    after = {name: recalls(network, one) for name, one in tests.items()}
    figures = {f"{name} before": one for name, one in before.items()} | after
    return PairsLearned(figures, steps, loss)


def recalls(network: Any, benchmark: TokenisedBenchmark) -> dict[str, float]:
    """Recall@1 and @5 by cosine alone, in percent."""
    found: dict[int, list[float]] = {1: [], 5: []}
    cosines = network.encode(benchmark.requests) @ network.encode(benchmark.tools).T
    for needed, row in zip(benchmark.needed, cosines, strict=True):
        order = np.argsort(-row, kind="stable")
        for k, values in found.items():
            hits = needed.intersection(order[:k].tolist())
            values.append(len(hits) / min(k, len(needed)))
    return {f"recall@{k}": round(100 * float(np.mean(one)), 2) for k, one in found.items()}


def pairs_of(network: Any, benchmark: TokenisedBenchmark, near: int, first: int) -> list[Pair]:
    """A pair for each tool that a request needs; tools are numbered from `first`."""
    cosines = network.encode(benchmark.requests) @ network.encode(benchmark.tools).T
    made = []
    for request, places, row in zip(benchmark.requests, benchmark.needed, cosines, strict=True):
        needed = frozenset(first + one for one in places)
        order = first + np.argsort(-row, kind="stable")[: near + len(needed)]
        misses = tuple(int(one) for one in order if int(one) not in needed)[:near]
        made += [Pair(request, one, needed, misses) for one in sorted(needed)]
    return made


def _fit(
    network: Any,
    tools: Sequence[Row],
    pairs: Sequence[Pair],
    settings: PairTuning,
    checkpoint: Path,
    progress: Progress,
    resume: bool,
    limit: int | None,
) -> tuple[int, float]:
    """(steps, last loss)."""
    learned = network.adapter_parameters()
    each = math.ceil(len(pairs) / settings.batch)
    steps = min(settings.epochs * each, limit or math.inf)
    groups = [{"params": learned, "lr": settings.learning_rate}]
    loop = Loop("tool encoder", groups, learned, int(steps), settings.weight_decay, progress)

    @cache
    def order(epoch: int) -> list[int]:
        draw = random.Random(settings.seed * _RARELY + epoch)
        return draw.sample(range(len(pairs)), len(pairs))

    def loss_of(step: int) -> Any:
        epoch, at = divmod(step, each)
        part = order(epoch)[at * settings.batch : (at + 1) * settings.batch]
        draw = random.Random(f"{settings.seed} {step}")
        return pair_loss(network, tools, settings, draw, [pairs[place] for place in part])

    loss = run_steps(
        network,
        loop,
        int(steps),
        loss_of,
        checkpoint,
        _key(settings, tools, pairs, int(steps)),
        settings.seed,
        resume,
        save_seconds=settings.save_seconds,
    )
    network.eval()
    return int(steps), loss


def _key(settings: PairTuning, tools: Sequence[Row], pairs: Sequence[Pair], steps: int) -> str:
    shared = {**asdict(settings), "save_seconds": None, "share": None}
    key = sha256(f"{shared}|{steps}|{[list(one) for one in tools]}".encode())
    for one in pairs:
        key.update(f"{list(one.request)} {one.tool} {one.near}".encode())
    return key.hexdigest()


def pair_loss(
    network: Any,
    tools: Sequence[Row],
    settings: PairTuning,
    draw: random.Random,
    part: Sequence[Pair],
) -> Any:
    """InfoNCE of a batch."""
    import torch

    shown = list(dict.fromkeys(one.tool for one in part))
    for one in part:
        shown += draw.sample(one.near, min(settings.misses, len(one.near)))
    shown = list(dict.fromkeys(shown))
    asked = network([one.request for one in part])
    scores = asked @ network([tools[one] for one in shown]).T / settings.temperature
    # Another tool that the request needs is not a negative.
    also = torch.tensor(
        [[tool in one.needed and tool != one.tool for tool in shown] for one in part]
    )
    wanted = torch.tensor([shown.index(one.tool) for one in part])
    scores = scores.masked_fill(also.to(scores.device), _NEVER)
    return torch.nn.functional.cross_entropy(scores, wanted.to(scores.device))


def make_network(model: Any, settings: PairTuning) -> Any:
    """A module from rows of tokens to unit vectors, (rows, dimension).

    Args:
        model: The encoder, of transformers.
        settings: Layers, rank, scale and dropout.
    """
    import torch
    from torch import nn

    from training.core.low_rank import LowRankNetwork, make_low_rank
    from training.core.precision import halves

    padding = int(model.config.pad_token_id)

    class Network(LowRankNetwork):
        def __init__(self) -> None:
            super().__init__()
            self.low = make_low_rank(
                model, settings.layers, settings.rank, settings.scale, settings.dropout
            )
            self.model = model

        def forward(self, rows: Sequence[Row]) -> Any:
            longest = max(len(row) for row in rows)
            ids = torch.full((len(rows), longest), padding)
            real = torch.zeros(len(rows), longest)
            for place, row in enumerate(rows):
                ids[place, : len(row)] = torch.tensor(row)
                real[place, : len(row)] = 1
            device = self.model.device
            ids, real = ids.to(device), real.to(device)
            half = self.training and halves(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=half):
                hidden = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
            kept = real[..., None]
            mean = (hidden.float() * kept).sum(dim=1) / kept.sum(dim=1)
            return nn.functional.normalize(mean, dim=-1)

        def encode(self, rows: Sequence[Row]) -> NDArray[np.float32]:
            """Unit vectors with the current weights; rows are batched by length."""
            was = self.training
            self.eval()
            order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
            found = np.zeros((len(rows), model.config.hidden_size), dtype=np.float32)
            with torch.inference_mode():
                for begin in range(0, len(order), _BATCH):
                    part = order[begin : begin + _BATCH]
                    found[part] = self([rows[place] for place in part]).cpu().numpy()
            self.train(was)
            return found

        def take(self, start: Mapping[str, NDArray[np.float32]]) -> None:
            """Begin with these parts; ValueError where they are of other layers or rank."""
            parts = self.named_parts()
            sizes = {name: tuple(one.shape) for name, one in parts.items()}
            if sizes != {name: one.shape for name, one in start.items()}:
                raise ValueError("start: was trained on other layers or with another rank")
            with torch.no_grad():
                for name, part in parts.items():
                    part.copy_(torch.from_numpy(start[name]))

        def keep(self, share: float) -> None:
            with torch.no_grad():
                for low in self.low.values():
                    low.B.mul_(share)

    return Network()
