"""Tuning the encoder of tool search on requests, the tools that they need, and hard negatives.

`ctrag train tool-encoder`. Low-rank changes of all layers are trained contrastively (InfoNCE): a
request's tool against the tools of the other requests in the batch, and against those that the
untuned encoder ranks nearest to the request.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.errors import InputError
from ctrag.models import packages
from ctrag.models.onnx_encoder import load_model
from ctrag.models.tool_encoder import ToolEncoderCard, ToolEncoderWeights
from ctrag.models.weights import encoder_folder
from eval.discovery.data import Benchmark, read_folder
from training.core.checkpoints import restore, save
from training.core.loop import Loop
from training.core.origin import origin

Progress = Callable[[str], None]
_RARELY = 5000
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class ToolEncoderSettings:
    """How the encoder is tuned."""

    tower: str = packages.ENCODER
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
    longest: int = 128
    """Maximum tokens of a text."""
    share: float = 1.0
    """Factor by which the learned changes are scaled."""
    start: str | None = None
    """Folder of the changes that are learned further; None begins with none."""
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """A request and one of the tools that it needs."""

    text: str
    tool: int
    needed: frozenset[int]
    """Numbers of all tools that it needs."""
    near: tuple[int, ...]
    """Numbers of the nearest tools that it does not need."""


def train_tool_encoder(
    data: Sequence[Path],
    held_out: Sequence[Path],
    settings: ToolEncoderSettings,
    checkpoints: Path,
    progress: Progress = lambda _: None,
    before: ToolEncoderWeights | None = None,
) -> ToolEncoderWeights:
    """Low-rank changes of the encoder, with figures of the held-out catalogues before and after.

    Args:
        data: Folders with tools and requests to train on, or recordings.
        held_out: Folders for evaluation. Where there are none, a fifth of each recording's sessions
            is, and is not learned from.
        settings: See `ToolEncoderSettings`.
        checkpoints: Folder for finished epochs.
        progress: Called with progress messages.
        before: Changes that are learned further, with the settings' layers and rank.

    Raises:
        ValueError: A file breaks a rule, no request needs a tool, or `before` has other layers.
    """
    import torch

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = make_network(settings)
    if before is not None:
        network.take(before)
    tests = {folder.name: read_folder(folder) for folder in held_out}
    sources = {folder: read_folder(folder) for folder in data}
    if not tests:
        for folder, source in sources.items():
            sources[folder], kept = _without_a_fifth(source)
            if kept.needs:
                tests[folder.name] = kept
    figures_before = {name: recalls(network, one) for name, one in tests.items()}
    progress(f"before: {figures_before}")
    tools: list[str] = []
    pairs: list[Pair] = []
    for benchmark in sources.values():
        pairs += _pairs(network, benchmark, settings.near, len(tools))
        tools += [one.text for one in benchmark.tools]
    if not pairs:
        raise InputError("data: no request needs a tool, there is nothing to learn")
    key = sha256(repr(settings).encode())
    for one in pairs:
        key.update(f"{one.text}\0{one.tool}".encode())
    _fit(network, tools, pairs, settings, checkpoints / f"{key.hexdigest()[:16]}.pt", progress)
    network.keep(settings.share)
    after = {name: recalls(network, one) for name, one in tests.items()}
    figures = {f"{name} before": one for name, one in figures_before.items()} | after
    return ToolEncoderWeights(
        {f"{settings.tower}/{name}": array for name, array in network.arrays().items()},
        ToolEncoderCard(
            **origin(data, settings.seed),
            settings=asdict(settings),
            figures=figures,
            tower=settings.tower,
            layers=settings.layers,
            scale=settings.scale,
            before=None if before is None else before.card.command,
        ),
    )


def _without_a_fifth(benchmark: Benchmark) -> tuple[Benchmark, Benchmark]:
    """What is learned of a recording, and a fifth of its sessions by hash; all of other data."""
    out = {
        one.group
        for one in benchmark.needs
        if one.group and sha256(one.group.encode()).digest()[0] % 5 == 0
    }
    kept = [one for one in benchmark.needs if one.group not in out]
    held = [one for one in benchmark.needs if one.group in out]
    return Benchmark(benchmark.tools, kept), Benchmark(benchmark.tools, held)


def recalls(network: Any, benchmark: Benchmark) -> dict[str, float]:
    """Recall@1 and @5 by cosine alone, in percent."""
    tools = network.encode([one.text for one in benchmark.tools])
    ids = [one.id for one in benchmark.tools]
    found: dict[int, list[float]] = {1: [], 5: []}
    cosines = network.encode([one.text for one in benchmark.needs]) @ tools.T
    for need, row in zip(benchmark.needs, cosines, strict=True):
        order = np.argsort(-row, kind="stable")
        for k, values in found.items():
            hits = need.tools & {ids[place] for place in order[:k]}
            values.append(len(hits) / min(k, len(need.tools)))
    return {f"recall@{k}": round(100 * float(np.mean(one)), 2) for k, one in found.items()}


def _pairs(network: Any, benchmark: Benchmark, near: int, first: int) -> list[Pair]:
    number = {one.id: first + place for place, one in enumerate(benchmark.tools)}
    tools = network.encode([one.text for one in benchmark.tools])
    cosines = network.encode([one.text for one in benchmark.needs]) @ tools.T
    made = []
    for need, row in zip(benchmark.needs, cosines, strict=True):
        needed = frozenset(number[one] for one in need.tools)
        order = first + np.argsort(-row, kind="stable")[: near + len(needed)]
        misses = tuple(int(one) for one in order if int(one) not in needed)[:near]
        made += [Pair(need.text, one, needed, misses) for one in sorted(needed)]
    return made


def _fit(
    network: Any,
    tools: Sequence[str],
    pairs: Sequence[Pair],
    settings: ToolEncoderSettings,
    checkpoint: Path,
    progress: Progress,
) -> None:
    import torch

    learned = network.adapter_parameters()
    loop = Loop(
        "tool encoder",
        [{"params": learned, "lr": settings.learning_rate}],
        learned,
        settings.epochs * math.ceil(len(pairs) / settings.batch),
        settings.weight_decay,
        progress,
    )
    done = restore(checkpoint, network, loop.optimiser, loop.schedule)
    network.train()
    for epoch in range(done, settings.epochs):
        torch.manual_seed(settings.seed * _RARELY + epoch)
        draw = random.Random(settings.seed * _RARELY + epoch)
        order = draw.sample(range(len(pairs)), len(pairs))
        batches = [
            [pairs[place] for place in order[begin : begin + settings.batch]]
            for begin in range(0, len(order), settings.batch)
        ]
        loop.run(batches, partial(_loss, network, tools, settings, draw))
        save(checkpoint, epoch + 1, network, loop.optimiser, loop.schedule)
    network.eval()


def _loss(
    network: Any,
    tools: Sequence[str],
    settings: ToolEncoderSettings,
    draw: random.Random,
    part: Sequence[Pair],
) -> Any:
    import torch

    shown = list(dict.fromkeys(one.tool for one in part))
    for one in part:
        shown += draw.sample(one.near, min(settings.misses, len(one.near)))
    shown = list(dict.fromkeys(shown))
    asked = network([one.text for one in part])
    scores = asked @ network([tools[one] for one in shown]).T / settings.temperature
    # Another tool that the request needs is not a negative.
    also = torch.tensor(
        [[tool in one.needed and tool != one.tool for tool in shown] for one in part]
    )
    wanted = torch.tensor([shown.index(one.tool) for one in part])
    return torch.nn.functional.cross_entropy(scores.masked_fill(also, _NEVER), wanted)


def make_network(settings: ToolEncoderSettings) -> Any:
    """A module from texts to unit vectors, (texts, dimension)."""
    import torch
    from tokenizers import Tokenizer
    from torch import nn

    from training.core.low_rank import LowRankNetwork, make_low_rank

    model = load_model(settings.tower)
    padding = int(model.config.pad_token_id)
    tokenizer = Tokenizer.from_file(str(encoder_folder(settings.tower) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.longest)

    class Network(LowRankNetwork):
        def __init__(self) -> None:
            super().__init__()
            self.low = make_low_rank(
                model, settings.layers, settings.rank, settings.scale, settings.dropout
            )
            self.model = model

        def forward(self, texts: Sequence[str]) -> Any:
            rows = [tokenizer.encode(text).ids for text in texts]
            longest = max(len(row) for row in rows)
            ids = torch.full((len(rows), longest), padding)
            real = torch.zeros(len(rows), longest)
            for place, row in enumerate(rows):
                ids[place, : len(row)] = torch.tensor(row)
                real[place, : len(row)] = 1
            with torch.autocast("cpu", torch.bfloat16, enabled=self.training):
                hidden = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
            kept = real[..., None]
            mean = (hidden.float() * kept).sum(dim=1) / kept.sum(dim=1)
            return nn.functional.normalize(mean, dim=-1)

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            """Unit vectors with the current weights; texts are batched by length."""
            was = self.training
            self.eval()
            order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
            found = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
            with torch.inference_mode():
                for begin in range(0, len(order), 64):
                    part = order[begin : begin + 64]
                    found[part] = self([texts[place] for place in part]).numpy()
            self.train(was)
            return found

        def take(self, start: ToolEncoderWeights) -> None:
            parts = {f"{settings.tower}/{name}": one for name, one in self.named_parts().items()}
            sizes = {name: tuple(one.shape) for name, one in parts.items()}
            if sizes != {name: one.shape for name, one in start.arrays.items()}:
                raise InputError("start: was trained on other layers or with another rank")
            with torch.no_grad():
                for name, part in parts.items():
                    part.copy_(torch.from_numpy(start.arrays[name]))

        def keep(self, share: float) -> None:
            with torch.no_grad():
                for low in self.low.values():
                    low.B.mul_(share)

    return Network()
