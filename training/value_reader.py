"""Training the reader of values on labelled plans: each argument's offers in one text."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag import models
from ctrag.encoder import Matrix
from ctrag.graphs import load_model
from ctrag.planner.value_reader import (
    LINE,
    LONGEST,
    REQUEST,
    ValueReader,
    ValueReaderCard,
)
from ctrag.tools.reader import Tokens, ToolReader, tokens_of
from training.arguments import Choice
from training.checkpoints import restore, save
from training.schedule import warmed_cosine

Progress = Callable[[str], None]
_WIDTH = 128
_RARELY = 5000
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class ValueReaderSettings:
    """How a reader of values is trained."""

    tower: str = models.ENCODER
    layers: int = 6
    epochs: int = 2
    learning_rate: float = 4e-4
    head_rate: float = 1e-3
    rank: int = 16
    scale: float = 2.0
    batch: int = 32
    dropout: float = 0.1
    weight_decay: float = 0.01
    start: str | None = None
    """Digest of the tool reader whose encoder is trained on; None for an untuned one."""
    threads: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Practice:
    """A choice that is learned from: its tokens, and which of the read lines are right."""

    tokens: Tokens
    right: NDArray[np.float32]


def train_value_reader(
    learned: Sequence[Choice],
    held_out: Sequence[Choice],
    settings: ValueReaderSettings,
    card: dict[str, Any],
    checkpoints: Path,
    progress: Progress = lambda _: None,
    start: ToolReader | None = None,
) -> ValueReader:
    """A reader of values, with figures of the held-out choices in its card.

    Args:
        learned: What is learned from.
        held_out: Choices of other people; may be empty.
        settings: See `ValueReaderSettings`.
        card: The fields `command`, `data`, `data_sha256`, `seed` and `versions`.
        checkpoints: Folder for finished epochs; a run that finds it there goes on from it.
        progress: Told what happens.
        start: A tool reader that has the same encoder, tuned in the same layers.

    Raises:
        ValueError: There is nothing to choose in `learned`, or `start` has no such encoder.
    """
    if start is not None:
        settings = replace(settings, start=start.digest)
    encode = tokens_of(settings.tower, REQUEST, LINE, LONGEST)
    practice = practised(learned, encode)
    if not practice:
        raise ValueError("data: no labelled plan has an argument with two values to choose from")
    content = sha256(repr(settings).encode())
    for one in practice:
        content.update(np.array(one.tokens.ids).tobytes() + one.right.tobytes())
    network = _fit(
        practice, settings, checkpoints / f"{content.hexdigest()[:16]}.pt", progress, start
    )
    tests = practised(held_out, encode)
    figures = {}
    if tests:
        hits = _hits(network, tests, settings.batch)
        first = [float(one.right[0]) for one in tests]
        figures["held_out"] = {
            "read_first_right": round(100 * float(np.mean(hits)), 2),
            "first_offer_right": round(100 * float(np.mean(first)), 2),
            "choices": float(len(tests)),
        }
    return ValueReader(
        {f"{settings.tower}/{name}": array for name, array in network.arrays().items()},
        ValueReaderCard(
            tower=settings.tower,
            layers=settings.layers,
            scale=settings.scale,
            settings=asdict(settings),
            figures=figures,
            **card,
        ),
    )


def _hits(network: Any, tests: Sequence[Practice], batch: int) -> list[float]:
    """1 for each choice whose likeliest line is right, else 0; read in batches of like length."""
    import torch

    order = np.argsort([len(one.tokens.ids) for one in tests], kind="stable")
    hits = [0.0] * len(tests)
    with torch.inference_mode():
        for begin in range(0, len(order), batch):
            rows = order[begin : begin + batch].tolist()
            shares, _ = _shares(network, [tests[row] for row in rows])
            for row, best in zip(rows, shares.argmax(dim=1).tolist(), strict=True):
                hits[row] = float(tests[row].right[best])
    return hits


def practised(choices: Sequence[Choice], encode: Callable[[str], Tokens]) -> list[Practice]:
    """Choices between at least two values that are read, a right one among them."""
    found = []
    for one in choices:
        tokens = encode(one.text)
        right = one.right[: len(tokens.lines)]
        if len(right) > 1 and right.any():
            found.append(Practice(tokens, right))
    return found


def _fit(
    practice: Sequence[Practice],
    settings: ValueReaderSettings,
    checkpoint: Path,
    progress: Progress,
    start: ToolReader | None = None,
) -> Any:
    import torch

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    network = make_network(settings)
    if start is not None:
        network.take(start)
    groups = [
        {"params": network.head_parameters(), "lr": settings.head_rate},
        {"params": network.adapter_parameters(), "lr": settings.learning_rate},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    steps = settings.epochs * math.ceil(len(practice) / settings.batch)
    schedule = warmed_cosine(optimiser, steps)
    done = restore(checkpoint, network, optimiser, schedule)
    network.train()
    for epoch in range(done, settings.epochs):
        torch.manual_seed(settings.seed * _RARELY + epoch)
        began, losses = time.perf_counter(), []
        batches = _batches(practice, settings, epoch)
        for number, rows in enumerate(batches, start=1):
            part = [practice[row] for row in rows]
            shares, right = _shares(network, part)
            loss = -((shares.exp() * right).sum(dim=1) + _LEAST).log().mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(float(loss.detach()))
            if number % 20 == 0 or number == len(batches):
                spent = time.perf_counter() - began
                ahead = (settings.epochs - epoch) * len(batches) - number
                progress(
                    f"values: epoch {epoch + 1} of {settings.epochs}, batch {number} of "
                    f"{len(batches)}, loss {np.mean(losses[-50:]):.3f}, "
                    f"{spent / number * ahead / 60:.0f} min left"
                )
        save(checkpoint, epoch + 1, network, optimiser, schedule)
    network.eval()
    return network


def _batches(
    practice: Sequence[Practice], settings: ValueReaderSettings, epoch: int
) -> list[list[int]]:
    """Batches of one epoch: texts of like length together."""
    draw = np.random.default_rng(settings.seed * _RARELY + epoch)
    length = np.array([len(one.tokens.ids) for one in practice])
    order = np.argsort(length + 8 * draw.random(len(practice)), kind="stable")
    cut = [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
    return [[int(row) for row in cut[place]] for place in draw.permutation(len(cut))]


def _shares(network: Any, part: Sequence[Practice]) -> tuple[Any, Any]:
    """(log shares, right): each (requests, lines), shares of what is no line nothing."""
    import torch

    scores = network([one.tokens for one in part])
    right = torch.zeros_like(scores)
    there = torch.zeros_like(scores)
    for row, one in enumerate(part):
        right[row, : len(one.right)] = torch.from_numpy(one.right)
        there[row, : len(one.right)] = 1
    return torch.log_softmax(scores.masked_fill(there == 0, -1e4), dim=1), right


def make_network(settings: ValueReaderSettings) -> Any:
    """A module from `Tokens` of texts to scores of their lines, (texts, lines)."""
    import torch
    from torch import nn

    from training.low_rank import make_low_rank

    model = load_model(settings.tower)
    size = int(model.config.hidden_size)
    padding = int(model.config.pad_token_id)

    class Head(nn.Module):  # type: ignore[misc]  # torch is untyped here
        """The twin of `ValueReader._scores`."""

        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(size, _WIDTH)
            self.request = nn.Linear(size, _WIDTH, bias=False)
            self.out = nn.Linear(_WIDTH, 1, bias=False)
            self.drop = nn.Dropout(settings.dropout)

        def forward(self, whole: Any, lines: Any) -> Any:
            inner = self.line(self.drop(lines)) + self.request(self.drop(whole))[:, None]
            return self.out(nn.functional.gelu(inner, approximate="tanh"))[..., 0]

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.head = Head()
            self.low = make_low_rank(
                model, settings.layers, settings.rank, settings.scale, settings.dropout
            )
            self.model = model

        def head_parameters(self) -> list[nn.Parameter]:
            return list(self.head.parameters())

        def adapter_parameters(self) -> list[nn.Parameter]:
            return [part for low in self.low.values() for part in (low.A, low.B)]

        def forward(self, rows: Sequence[Tokens]) -> Any:
            longest = max(len(row.ids) for row in rows)
            most = max(len(row.lines) for row in rows)
            ids = torch.full((len(rows), longest), padding)
            real = torch.zeros(len(rows), longest)
            within = torch.zeros(len(rows), most, longest)
            for place, row in enumerate(rows):
                ids[place, : len(row.ids)] = torch.tensor(row.ids)
                real[place, : len(row.ids)] = 1
                for line, (begin, end) in enumerate(row.lines):
                    within[place, line, begin:end] = 1 / (end - begin)
            with torch.autocast("cpu", torch.bfloat16):
                hidden = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
            kept = real[..., None]
            mean = (hidden.float() * kept).sum(dim=1) / kept.sum(dim=1)
            whole = nn.functional.normalize(mean, dim=-1) * math.sqrt(size)
            lines = nn.functional.normalize(within @ hidden.float(), dim=-1) * math.sqrt(size)
            return self.head(whole, lines)

        def take(self, start: ToolReader) -> None:
            for name, low in self.low.items():
                for letter, part in (("A", low.A), ("B", low.B)):
                    array = start.arrays.get(f"{settings.tower}/{name}.{letter}")
                    if array is None or array.shape != tuple(part.shape):
                        raise ValueError(
                            f"start: the reader has no {name}.{letter} of shape "
                            f"{tuple(part.shape)} for {settings.tower}"
                        )
                    with torch.no_grad():
                        part.copy_(torch.from_numpy(array))

        def arrays(self) -> dict[str, Matrix]:
            own = {f"head.{name}": part for name, part in self.head.named_parameters()}
            for name, low in self.low.items():
                own |= {f"{name}.A": low.A, f"{name}.B": low.B}
            return {name: part.detach().numpy().copy() for name, part in own.items()}

    return Network()
