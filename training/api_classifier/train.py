"""Training the API classifier: encoders tuned to predict the API from the request and its items.

Every request is used with retrieved items, with the labelled items, and with none, so that one
classifier handles all three.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.api_choice.classifier import (
    ApiClassifier,
    ApiClassifierCard,
    ClassifierEncoderCard,
    log_softmax,
)
from ctrag.assistant.api_choice.item_weights import classes_of
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from ctrag.toolbox import Toolbox
from training.api_classifier.examples import MODES, ClassifierExample
from training.api_classifier.network import (
    ApiClassifierSettings,
    ClassifierEncoderTuning,
    make_network,
)
from training.core.figures import recall
from training.core.loop import Loop
from training.core.steps import run_steps

Progress = Callable[[str], None]
_RARELY = 5000
_LEAST = 1e-6


def train_classifier(
    learned: Sequence[ClassifierExample],
    held_out: Sequence[ClassifierExample],
    settings: ApiClassifierSettings,
    card: dict[str, Any],
    checkpoints: Path,
    progress: Progress = lambda _: None,
    start: ApiClassifier | None = None,
) -> ApiClassifier:
    """A classifier, with figures of the held-out requests in its card.

    Args:
        learned: The training data.
        held_out: Requests of other people; may be empty.
        settings: See `ApiClassifierSettings`.
        card: `training.core.origin.origin` of the data sets, and `encoder`.
        checkpoints: Folder for finished epochs, from which a rerun resumes.
        progress: Called with progress messages.
        start: A classifier to train further; None starts from the untuned encoders.

    Raises:
        ValueError: There is nothing to learn from, or `start` has other encoders or layers.
    """
    if not learned:
        raise InputError("data: no request has labelled tools, there is nothing to learn")
    apis = classes_of(Toolbox.packaged())
    arrays: dict[str, Matrix] = {}
    logs = {mode: np.zeros((len(held_out), len(apis))) for mode in MODES}
    figures: dict[str, dict[str, float]] = {}
    gold = np.array([int(one.wanted.argmax()) for one in held_out], dtype=np.int64)
    for encoder in settings.towers:
        key = _key(learned, settings, encoder)
        network = _fit(encoder, learned, settings, checkpoints / f"{key}.pt", progress, start)
        if start is not None and settings.average:
            network.average(start)
        arrays |= {f"{encoder.name}/{name}": array for name, array in network.arrays().items()}
        for mode in MODES if held_out else ():
            own = log_softmax(_scores(network, held_out, mode, settings))
            logs[mode] += own / len(settings.towers)
            figures[f"{encoder.name} {mode}"] = recall(own, gold)
            progress(f"{encoder.name} {mode}: {figures[f'{encoder.name} {mode}']}")
    for mode in MODES if held_out else ():
        figures[mode] = recall(logs[mode], gold)
    return ApiClassifier(
        arrays,
        ApiClassifierCard(
            towers=[
                ClassifierEncoderCard(name=one.name, lines=one.lines, layers=one.layers)
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
    """The temperature that maximises the log probabilities of the correct classes.

    Training targets are split among three APIs, so raw probabilities are underconfident.
    """
    grid = np.linspace(0.3, 1.5, 49)
    rows = np.arange(len(gold))
    losses = [-log_softmax(logs / one)[rows, gold].mean() for one in grid]
    return round(float(grid[int(np.argmin(losses))]), 3)


def _fit(
    encoder: ClassifierEncoderTuning,
    learned: Sequence[ClassifierExample],
    settings: ApiClassifierSettings,
    checkpoint: Path,
    progress: Progress,
    start: ApiClassifier | None = None,
) -> Any:
    import torch

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    dimension = learned[0].features["none"].vectors.shape[1]
    network = make_network(encoder, settings, dimension, len(learned[0].wanted))
    if start is not None:
        network.take(start)
    groups = [
        {"params": network.head_parameters(), "lr": settings.head_rate},
        {"params": network.adapter_parameters(), "lr": encoder.learning_rate},
    ]
    each = math.ceil(len(learned) / settings.batch)
    steps = encoder.epochs * each
    parameters = network.parameters()
    loop = Loop(encoder.name, groups, parameters, steps, settings.weight_decay, progress)

    @cache
    def batches(epoch: int) -> list[tuple[list[int], list[str]]]:
        return _batches(network, learned, settings, epoch)

    def loss_of(step: int) -> Any:
        epoch, at = divmod(step, each)
        return _loss(network, learned, settings, batches(epoch)[at])

    run_steps(network, loop, steps, loss_of, checkpoint, checkpoint.stem, settings.seed)
    network.eval()
    return network


def _loss(
    network: Any,
    learned: Sequence[ClassifierExample],
    settings: ApiClassifierSettings,
    batch: tuple[list[int], list[str]],
) -> Any:
    import torch
    from torch.nn.functional import log_softmax as torch_log_softmax

    rows, modes = batch
    scores, attention = network(
        [network.tokens(learned[i], mode) for i, mode in zip(rows, modes, strict=True)],
        [learned[i].features[mode] for i, mode in zip(rows, modes, strict=True)],
    )
    wanted = torch.from_numpy(np.stack([learned[i].wanted for i in rows]))
    loss = -(torch_log_softmax(scores, dim=1) * wanted).sum(dim=1).mean()
    needed = np.stack([learned[i].needed for i in rows])
    needed[[mode != "retrieved" for mode in modes]] = 0
    return loss + settings.item_weight * _missed(attention, torch.from_numpy(needed))


def _missed(attention: Any, needed: Any) -> Any:
    """Mean of -log of the attention on needed items, over requests that have one among theirs."""
    there = needed.sum(dim=1) > 0
    share = (attention * needed).sum(dim=1)[there]
    return -(share + _LEAST).log().sum() / max(int(there.sum()), 1)


def _batches(
    network: Any, learned: Sequence[ClassifierExample], settings: ApiClassifierSettings, epoch: int
) -> list[tuple[list[int], list[str]]]:
    """Batches of one epoch: rows of similar length together, each in a random mode."""
    draw = np.random.default_rng(settings.seed * _RARELY + epoch)
    modes = [MODES[place] for place in draw.choice(len(MODES), len(learned), p=settings.modes)]
    length = [len(network.tokens(one, mode).ids) for one, mode in zip(learned, modes, strict=True)]
    order = np.argsort(np.array(length) + 4 * draw.random(len(learned)), kind="stable")
    cut = [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
    shuffled = [cut[place] for place in draw.permutation(len(cut))]
    return [([int(i) for i in rows], [modes[i] for i in rows]) for rows in shuffled]


def _scores(
    network: Any, requests: Sequence[ClassifierExample], mode: str, settings: ApiClassifierSettings
) -> NDArray[np.float64]:
    import torch

    tokens = [network.tokens(one, mode) for one in requests]
    # Those of similar length together, so that little is computed for padding.
    order = np.argsort([len(one.ids) for one in tokens], kind="stable")
    found = []
    with torch.inference_mode():
        for begin in range(0, len(requests), settings.batch):
            rows = order[begin : begin + settings.batch]
            scores, _ = network(
                [tokens[i] for i in rows], [requests[i].features[mode] for i in rows]
            )
            found.append(scores.double().numpy())
    return np.concatenate(found)[np.argsort(order)]


def _key(
    learned: Sequence[ClassifierExample],
    settings: ApiClassifierSettings,
    encoder: ClassifierEncoderTuning,
) -> str:
    """Identifies a run by its settings and training data."""
    shared = {**asdict(settings), "towers": None, "threads": None}
    del shared["average"]  # done after training
    content = sha256(f"{shared}|{encoder!r}".encode())
    for one in learned:
        content.update(one.text.encode())
        content.update(one.wanted.tobytes())
        content.update(one.needed.tobytes())
        for mode in MODES:
            seen = one.features[mode]
            content.update("\n".join(seen.lines).encode())
            for part in (seen.kinds, seen.shares, seen.flags, seen.asked):
                content.update(part.tobytes())
    return content.hexdigest()[:16]
