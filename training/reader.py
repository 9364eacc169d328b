"""Training the tool reader: encoders tuned to name the API from the request and its items.

Every request is practised with items as retrieval brings them, with the labelled items, and with
none, so that one reader serves all of them.
"""

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
from ctrag.apps.toolbox import Toolbox
from ctrag.context.prior import KINDS
from ctrag.context.view import Floats
from ctrag.encoder import Matrix
from ctrag.graphs import load_model
from ctrag.tools.prior import classes_of, item_weights
from ctrag.tools.reader import (
    VECTOR_SCALE,
    ReaderCard,
    Tokens,
    ToolReader,
    TowerCard,
    log_softmax,
    reader_text,
    tokens_of,
)
from ctrag.tools.sight import ASKED, FLAGS, ITEMS, Sight, sight
from eval.examples import Example
from training.figures import recall

Progress = Callable[[str], None]
MODES = ("retrieved", "none", "labelled")
CHECKPOINTS = "checkpoints"
_WIDTH = 128
_SHARES = (0.7, 0.2, 0.1)
"""What the three labelled APIs count as targets."""
_RARELY = 5000
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class TowerSettings:
    """How one encoder is tuned."""

    name: str
    epochs: int
    learning_rate: float
    layers: int
    lines: int = 0
    """Items whose words it reads behind the request's."""


TOWERS = (
    TowerSettings(models.LARGE_ENCODER, epochs=3, learning_rate=3e-4, layers=12, lines=3),
    TowerSettings(models.ENCODER, epochs=5, learning_rate=5e-4, layers=6, lines=3),
)


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What all encoders share."""

    towers: tuple[TowerSettings, ...] = TOWERS
    rank: int = 16
    scale: float = 2.0
    batch: int = 32
    head_rate: float = 1e-3
    hidden: int = 512
    dropout: float = 0.1
    weight_decay: float = 0.01
    modes: tuple[float, ...] = (0.5, 0.2, 0.3)
    """How often a request is practised in each of `MODES`."""
    item_weight: float = 0.3
    """What finding the needed ones among retrieved items counts beside naming the API."""
    start: str | None = None
    """Digest of the reader that is trained on; None for a new one."""
    average: bool = True
    """Whether a reader that is trained on ends as the mean of its weights before and after: what
    the new requests teach costs less of what was known (docs/log.md)."""
    threads: int = 2
    seed: int = 1

    def seen(self, epochs: int | None, start: ToolReader | None) -> "ReaderSettings":
        """The same settings for so many epochs, a single one when a reader is trained on."""
        often = epochs if epochs is not None or start is None else 1
        towers = tuple(one if often is None else replace(one, epochs=often) for one in self.towers)
        return replace(self, towers=towers, start=None if start is None else start.digest)


@dataclass(frozen=True, slots=True)
class Seen:
    """One labelled request in every mode."""

    text: str
    sights: dict[str, Sight]
    wanted: Floats
    """(classes,): target distribution."""
    needed: Floats
    """(ITEMS,): 1 for each retrieved item that is needed, else 0."""


def seen_requests(examples: Sequence[Example], scores: Sequence[Floats]) -> list[Seen]:
    """Requests as the reader sees them; those without labelled tools are left out."""
    apis = classes_of(Toolbox.packaged())
    position = {api: place for place, api in enumerate(apis)}
    found = []
    for example, score in zip(examples, scores, strict=True):
        if example.labels.tools is None:
            continue
        wanted = np.zeros(len(apis), dtype=np.float32)
        for share, api in zip(_SHARES, example.labels.tools or ["none"], strict=False):
            if api in position:
                wanted[position[api]] += share
        if not wanted.any():
            continue
        scene = example.scene
        best = np.argsort(-score, kind="stable")[:ITEMS]
        true = np.flatnonzero(example.relevance)
        nothing = np.empty(0, dtype=np.int64)
        sights = {
            "retrieved": sight(scene, best, item_weights(score[best])),
            "none": sight(scene, nothing, np.empty(0)),
            "labelled": sight(scene, true, item_weights(np.zeros(len(true), np.float32))),
        }
        needed = np.zeros(ITEMS, dtype=np.float32)
        needed[: len(best)] = example.relevance[best] > 0
        found.append(Seen(scene.request.text, sights, wanted / wanted.sum(), needed))
    return found


def train_reader(
    learned: Sequence[Seen],
    held_out: Sequence[Seen],
    settings: ReaderSettings,
    card: dict[str, Any],
    checkpoints: Path,
    progress: Progress = lambda _: None,
    start: ToolReader | None = None,
) -> ToolReader:
    """A reader, with figures of the held-out requests in its card.

    Args:
        learned: What is learned from.
        held_out: Requests of other people; may be empty.
        settings: See `ReaderSettings`.
        card: The fields `command`, `encoder`, `data`, `data_sha256`, `seed` and `versions`.
        checkpoints: Folder for finished epochs; a run that finds it there goes on from it.
        progress: Told what happens.
        start: A reader to train on; None starts from the untuned encoders.

    Raises:
        ValueError: There is nothing to learn from, or `start` has other encoders or layers.
    """
    if not learned:
        raise ValueError("data: no request has labelled tools, there is nothing to learn")
    apis = classes_of(Toolbox.packaged())
    arrays: dict[str, Matrix] = {}
    logs = {mode: np.zeros((len(held_out), len(apis))) for mode in MODES}
    figures: dict[str, dict[str, float]] = {}
    gold = np.array([int(one.wanted.argmax()) for one in held_out], dtype=np.int64)
    for tower in settings.towers:
        key = _key(learned, settings, tower)
        network = _fit(tower, learned, settings, checkpoints / f"{key}.pt", progress, start)
        if start is not None and settings.average:
            network.average(start)
        arrays |= {f"{tower.name}/{name}": array for name, array in network.arrays().items()}
        for mode in MODES if held_out else ():
            own = log_softmax(_scores(network, held_out, mode, settings))
            logs[mode] += own / len(settings.towers)
            figures[f"{tower.name} {mode}"] = recall(own, gold)
            progress(f"{tower.name} {mode}: {figures[f'{tower.name} {mode}']}")
    for mode in MODES if held_out else ():
        figures[mode] = recall(logs[mode], gold)
    return ToolReader(
        arrays,
        ReaderCard(
            towers=[
                TowerCard(name=one.name, lines=one.lines, layers=one.layers)
                for one in settings.towers
            ],
            apis=apis,
            scale=settings.scale,
            temperature=fit_temperature(logs["retrieved"], gold) if held_out else 1.0,
            settings=asdict(settings),
            figures=figures,
            **card,
        ),
    )


def fit_temperature(logs: NDArray[np.floating], gold: NDArray[np.int64]) -> float:
    """What log probabilities are divided by so that those of the right classes are highest.

    Targets are shared among three APIs in training, so the reader says less than it knows.
    """
    grid = np.linspace(0.3, 1.5, 49)
    rows = np.arange(len(gold))
    losses = [-log_softmax(logs / one)[rows, gold].mean() for one in grid]
    return round(float(grid[int(np.argmin(losses))]), 3)


def _fit(
    tower: TowerSettings,
    learned: Sequence[Seen],
    settings: ReaderSettings,
    checkpoint: Path,
    progress: Progress,
    start: ToolReader | None = None,
) -> Any:
    import torch
    from torch.nn.functional import log_softmax as torch_log_softmax

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    dimension = learned[0].sights["none"].vectors.shape[1]
    network = _network(tower, settings, dimension, len(learned[0].wanted))
    if start is not None:
        network.take(start)
    groups = [
        {"params": network.head_parameters(), "lr": settings.head_rate},
        {"params": network.adapter_parameters(), "lr": tower.learning_rate},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    steps = tower.epochs * math.ceil(len(learned) / settings.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: (
            min(1.0, (step + 1) / (0.1 * steps + 1)) * 0.5 * (1 + math.cos(math.pi * step / steps))
        ),
    )
    done = _restore(checkpoint, network, optimiser, schedule)
    network.train()
    for epoch in range(done, tower.epochs):
        torch.manual_seed(settings.seed * _RARELY + epoch)
        began, losses = time.perf_counter(), []
        batches = _batches(network, learned, settings, epoch)
        for number, (rows, modes) in enumerate(batches, start=1):
            scores, attention = network(
                [network.tokens(learned[i], mode) for i, mode in zip(rows, modes, strict=True)],
                [learned[i].sights[mode] for i, mode in zip(rows, modes, strict=True)],
            )
            wanted = torch.from_numpy(np.stack([learned[i].wanted for i in rows]))
            loss = -(torch_log_softmax(scores, dim=1) * wanted).sum(dim=1).mean()
            needed = np.stack([learned[i].needed for i in rows])
            needed[[mode != "retrieved" for mode in modes]] = 0
            loss = loss + settings.item_weight * _missed(attention, torch.from_numpy(needed))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(float(loss.detach()))
            if number % 20 == 0 or number == len(batches):
                spent = time.perf_counter() - began
                ahead = (tower.epochs - epoch) * len(batches) - number
                progress(
                    f"{tower.name}: epoch {epoch + 1} of {tower.epochs}, batch {number} of "
                    f"{len(batches)}, loss {np.mean(losses[-50:]):.3f}, "
                    f"{spent / number * ahead / 60:.0f} min left"
                )
        _save(checkpoint, epoch + 1, network, optimiser, schedule)
    network.eval()
    return network


def _missed(attention: Any, needed: Any) -> Any:
    """Mean of -log of the attention on needed items, over requests that have one in sight."""
    there = needed.sum(dim=1) > 0
    share = (attention * needed).sum(dim=1)[there]
    return -(share + _LEAST).log().sum() / max(int(there.sum()), 1)


def _batches(
    network: Any, learned: Sequence[Seen], settings: ReaderSettings, epoch: int
) -> list[tuple[list[int], list[str]]]:
    """Batches of one epoch: rows of like length together, each in a mode drawn anew."""
    draw = np.random.default_rng(settings.seed * _RARELY + epoch)
    modes = [MODES[place] for place in draw.choice(len(MODES), len(learned), p=settings.modes)]
    length = [len(network.tokens(one, mode).ids) for one, mode in zip(learned, modes, strict=True)]
    order = np.argsort(np.array(length) + 4 * draw.random(len(learned)), kind="stable")
    cut = [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
    shuffled = [cut[place] for place in draw.permutation(len(cut))]
    return [([int(i) for i in rows], [modes[i] for i in rows]) for rows in shuffled]


def _scores(
    network: Any, requests: Sequence[Seen], mode: str, settings: ReaderSettings
) -> NDArray[np.float64]:
    import torch

    found = []
    with torch.inference_mode():
        for begin in range(0, len(requests), settings.batch):
            part = requests[begin : begin + settings.batch]
            scores, _ = network(
                [network.tokens(one, mode) for one in part], [one.sights[mode] for one in part]
            )
            found.append(scores.double().numpy())
    return np.concatenate(found)


def _key(learned: Sequence[Seen], settings: ReaderSettings, tower: TowerSettings) -> str:
    """Tells runs apart: by settings, and by all that is learned from."""
    shared = {**asdict(settings), "towers": None, "threads": None}
    del shared["average"]  # done after training
    content = sha256(f"{shared}|{tower!r}".encode())
    for one in learned:
        content.update(one.text.encode())
        content.update(one.wanted.tobytes())
        content.update(one.needed.tobytes())
        for mode in MODES:
            seen = one.sights[mode]
            content.update("\n".join(seen.lines).encode())
            for part in (seen.kinds, seen.shares, seen.flags, seen.asked):
                content.update(part.tobytes())
    return content.hexdigest()[:16]


def _save(path: Path, epoch: int, network: Any, optimiser: Any, schedule: Any) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    content = {
        "epoch": epoch,
        "weights": {name: one for name, one in network.named_parameters() if one.requires_grad},
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
    }
    torch.save(content, temporary)
    temporary.replace(path)


def _restore(path: Path, network: Any, optimiser: Any, schedule: Any) -> int:
    """Epochs that a checkpoint has done; 0 without one."""
    import torch

    if not path.exists():
        return 0
    content = torch.load(path, weights_only=True)
    network.load_state_dict(content["weights"], strict=False)
    optimiser.load_state_dict(content["optimiser"])
    schedule.load_state_dict(content["schedule"])
    return int(content["epoch"])


def _network(tower: TowerSettings, settings: ReaderSettings, dimension: int, classes: int) -> Any:
    import torch
    from torch import nn

    from training.low_rank import make_low_rank

    model = load_model(tower.name)
    size = int(model.config.hidden_size)
    padding = int(model.config.pad_token_id)
    encode = tokens_of(tower.name)
    wide = math.sqrt(dimension) * VECTOR_SCALE
    together = size + 3 * _WIDTH + len(ASKED)

    class Head(nn.Module):  # type: ignore[misc]  # torch is untyped here
        """The twin of `ToolReader._head`."""

        def __init__(self) -> None:
            super().__init__()
            self.kind = nn.Embedding(len(KINDS) + 1, _WIDTH)
            self.flags = nn.Linear(len(FLAGS), _WIDTH)
            self.vector = nn.Linear(dimension, _WIDTH)
            self.read = nn.Linear(size, _WIDTH, bias=False)
            nn.init.zeros_(self.read.weight)
            self.key = nn.Linear(_WIDTH, 64)
            self.query = nn.Linear(size, 64)
            self.trust = nn.Parameter(torch.ones(1))
            self.hidden = nn.Linear(together, settings.hidden)
            self.out = nn.Linear(settings.hidden, classes)
            self.skip = nn.Linear(together, classes)
            self.few = nn.Dropout(settings.dropout)
            self.many = nn.Dropout(2 * settings.dropout)

        def forward(self, request: Any, lines: Any, sights: Sequence[Sight]) -> tuple[Any, Any]:
            """(scores of classes, attention on items)."""

            def stacked(name: str) -> Any:
                return torch.from_numpy(np.stack([getattr(one, name) for one in sights]))

            request = self.few(request)
            flags, shares = stacked("flags"), stacked("shares")
            there = flags[..., -1:]
            items = nn.functional.gelu(
                self.kind(stacked("kinds"))
                + self.flags(flags)
                + self.vector(stacked("vectors") * wide)
                + self.read(self.few(lines)),
                approximate="tanh",
            )
            items = items * there
            wanted = (self.key(items) * self.query(request)[:, None]).sum(-1) / 8
            wanted = wanted + self.trust * torch.log(shares + 1e-6)
            attention = torch.softmax(wanted.masked_fill(there[..., 0] == 0, -1e4), dim=1)
            joined = torch.cat(
                [
                    request,
                    (attention[..., None] * items).sum(1),
                    (shares[..., None] * items).sum(1),
                    items[:, 0],
                    stacked("asked"),
                ],
                dim=1,
            )
            inner = nn.functional.gelu(self.hidden(joined), approximate="tanh")
            return self.out(self.many(inner)) + self.skip(joined), attention

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.head = Head()
            self.low = make_low_rank(
                model, tower.layers, settings.rank, settings.scale, settings.dropout
            )
            self.model = model
            self.known: dict[str, Tokens] = {}

        def tokens(self, one: Seen, mode: str) -> Tokens:
            text = reader_text(one.text, one.sights[mode], tower.lines)
            if text not in self.known:
                self.known[text] = encode(text)
            found: Tokens = self.known[text]
            return found

        def head_parameters(self) -> list[nn.Parameter]:
            return list(self.head.parameters())

        def adapter_parameters(self) -> list[nn.Parameter]:
            return [part for low in self.low.values() for part in (low.A, low.B)]

        def forward(self, rows: Sequence[Tokens], sights: Sequence[Sight]) -> tuple[Any, Any]:
            longest = max(len(row.ids) for row in rows)
            ids = torch.full((len(rows), longest), padding)
            real = torch.zeros(len(rows), longest)
            within = torch.zeros(len(rows), ITEMS, longest)
            for place, row in enumerate(rows):
                ids[place, : len(row.ids)] = torch.tensor(row.ids)
                real[place, : len(row.ids)] = 1
                for line, (begin, end) in enumerate(row.lines[:ITEMS]):
                    within[place, line, begin:end] = 1 / (end - begin)
            with torch.autocast("cpu", torch.bfloat16):
                hidden = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state
            kept = real[..., None]
            mean = (hidden.float() * kept).sum(dim=1) / kept.sum(dim=1)
            unit = nn.functional.normalize(mean, dim=-1) * math.sqrt(size)
            lines = nn.functional.normalize(within @ hidden.float(), dim=-1) * math.sqrt(size)
            found: tuple[Any, Any] = self.head(unit, lines, sights)
            return found

        def named_parts(self) -> dict[str, nn.Parameter]:
            own = {f"head.{name}": part for name, part in self.head.named_parameters()}
            for name, low in self.low.items():
                own |= {f"{name}.A": low.A, f"{name}.B": low.B}
            return own

        def take(self, start: ToolReader) -> None:
            for name, part in self.named_parts().items():
                array = start.arrays.get(f"{tower.name}/{name}")
                if array is None and name == "head.read.weight":
                    continue  # stays zero
                if array is None or array.shape != tuple(part.shape):
                    raise ValueError(
                        f"start: the reader has no {name} of shape {tuple(part.shape)} for "
                        f"{tower.name}; start from a reader of the same encoders and layers"
                    )
                with torch.no_grad():
                    part.copy_(torch.from_numpy(array))

        def average(self, start: ToolReader) -> None:
            with torch.no_grad():
                for name, part in self.named_parts().items():
                    array = start.arrays.get(f"{tower.name}/{name}")
                    part.add_(0 if array is None else torch.from_numpy(array)).div_(2)

        def arrays(self) -> dict[str, Matrix]:
            parts = self.named_parts().items()
            return {name: part.detach().numpy().copy() for name, part in parts}

    return Network()
