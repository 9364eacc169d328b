"""Training the adapter of the encoder: requests are moved towards the items that they need.

Contrastive: a request's vector against the vectors of all of its person's items, which are the
hard negatives (same person, same names, same weeks). Two linear heads are trained jointly to
predict the kinds of items and the API. Items keep their plain vectors.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.api_choice.item_weights import classes_of
from ctrag.assistant.context.learned_features import KINDS, kinds_of, tuned_scores
from ctrag.errors import InputError, NotFound, reading
from ctrag.models.encoder import EncoderEnsemble, EnsembleMember, Matrix
from ctrag.models.request_adapter import Adapter, AdapterCard, TunedRequest
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample
from eval.core.experiment import data_sha256
from stores.files import replacing
from training.core.checkpoints import CHECKPOINTS
from training.core.datasets import load_together
from training.core.figures import ranking_figures
from training.core.folds import folds_by_person
from training.core.loop import Loop
from training.core.origin import origin, people_in
from training.encoder.network import TUNING, EncoderSettings, EncoderTuning, make_network
from training.ranker.tuned_encoder import TunedEncoder, with_readings

Progress = Callable[[str], None]
_TOOL_SHARES = (0.7, 0.2, 0.1)
"""Target weights of the three labelled tools for the API head."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One request as an encoder sees it."""

    below: Matrix
    """(tokens, dimension): hidden states below the tuned layers."""
    items: Matrix
    """(items, dimension), unit vectors."""
    kinds: NDArray[np.int64]
    relevance: NDArray[np.float32]
    apis: NDArray[np.float32]
    """Target distribution of the API head."""


def train_encoder(
    data: Path,
    encoder: EncoderEnsemble,
    settings: EncoderSettings,
    checkpoints: Path,
    progress: Progress = lambda _: None,
    more: Sequence[Path] = (),
    start: Path | None = None,
) -> TunedEncoder:
    """An adapter from labelled data sets, cross-fitted by person.

    Args:
        data: The labelled data set that figures are measured on.
        encoder: Whose last layers are tuned.
        settings: See `EncoderSettings`.
        checkpoints: Folder for finished parts, from which a rerun resumes.
        progress: Called with progress messages.
        more: Further data sets to learn from.
        start: Folder of a run to continue, with its checkpoints. People keep their folds, and its
            readings of other requests are kept.

    Raises:
        ValueError: A data set breaks a rule or has no labels, two have the same request, there are
            fewer people than folds, or `start` has other folds or never saw one of the people.
        FileNotFoundError: `start` has no such run.
    """
    progress("encoding items and requests")
    parts = load_together([data, *more], encoder)
    measured = len(parts[0])
    examples = [one for part in parts for one in part]
    apis = classes_of(Toolbox.packaged())
    before = None if start is None else TunedEncoder.load(start)
    fold = _folds(examples, settings, before)
    key = _key([data, *more], encoder, settings, before)
    arrays: dict[str, Matrix] = {}
    vectors: list[Matrix] = []
    heads = {"kinds": np.zeros((len(examples), len(KINDS)), np.float32)}
    heads["apis"] = np.zeros((len(examples), len(apis)), np.float32)
    column = 0
    for member in encoder.members:
        progress(f"{member.name}: reading {len(examples)} requests below the tuned layers")
        below = encoder.frozen_states(member, [one.context.request.text for one in examples])
        rows = _rows(below, examples, apis, column, len(encoder.members))
        size = rows[0].below.shape[1]
        column += size
        found = np.zeros((len(examples), size), np.float32)
        for held_out in [*range(settings.folds), None]:
            kept = np.flatnonzero(fold != (-1 if held_out is None else held_out))
            name = f"{member.name}-{'all' if held_out is None else held_out}.npz"
            first = None if start is None else _weights_of(start / CHECKPOINTS, name)
            fit = partial(
                _fit,
                member,
                [rows[i] for i in kept],
                settings,
                len(apis),
                _for_fold(progress, held_out),
                first,
            )
            weights = _checkpointed(checkpoints / f"{key}-{name}", fit)
            if first is not None and settings.average:
                weights = _mean(first, weights)
            if held_out is None:
                arrays |= {f"{member.name}/{one}": array for one, array in weights.items()}
                continue
            out = np.flatnonzero(fold == held_out)
            read = _read(member, weights, [rows[i].below for i in out], settings)
            for place, (vector, kinds, tools) in zip(out, read, strict=True):
                found[place] = vector
                heads["kinds"][place] += kinds
                heads["apis"][place] += tools
        vectors.append(found)
    aims = np.hstack(vectors) * (math.sqrt(len(encoder.members)) / settings.temperature)
    readings = {
        one.asked.query_id: TunedRequest(aim, kinds, tools)
        for one, aim, kinds, tools in zip(
            examples, aims, heads["kinds"], heads["apis"], strict=True
        )
    }
    folds = {one.asked.query_id: int(place) for one, place in zip(examples, fold, strict=True)}
    figures = _figures(examples[:measured], readings)
    if before is not None:
        readings = before.readings | readings
        folds = before.fold | folds
    source = origin([data, *more], settings.seed)
    if before is not None:
        source["people"] = sorted(people_in(before.adapter.card, "--start").union(source["people"]))
    card = AdapterCard(
        **source,
        encoder=encoder.name,
        kinds=list(KINDS),
        apis=apis,
        temperature=settings.temperature,
        scale=settings.scale,
        settings={
            **asdict(settings),
            "towers": {one.name: asdict(_tuning_of(one)) for one in encoder.members},
            "start": None if before is None else before.adapter.digest,
        },
        figures=figures,
    )
    return TunedEncoder(Adapter(arrays, card), readings, folds)


def _tuning_of(member: EnsembleMember) -> EncoderTuning:
    return TUNING[member.name]


def _for_fold(progress: Progress, held_out: int | None) -> Progress:
    part = "everybody" if held_out is None else f"without fold {held_out + 1}"
    return lambda text: progress(f"{text}, {part}")


def _folds(
    examples: Sequence[RankingExample], settings: EncoderSettings, before: TunedEncoder | None
) -> NDArray[np.int64]:
    """Fold of each example, by person; taken from the previous run if there is one."""
    people = [one.asked.person_id for one in examples]
    if before is None:
        return folds_by_person(people, settings.folds, settings.seed)
    if before.adapter.card.settings["folds"] != settings.folds:
        raise InputError(
            f"--start: it has {before.adapter.card.settings['folds']} folds, not {settings.folds}; "
            "give --folds as it was"
        )
    known = {
        one.asked.person_id: before.fold[one.asked.query_id]
        for one in examples
        if one.asked.query_id in before.fold
    }
    for person in people:
        if person not in known:
            raise InputError(f"--start: it never saw {person}; train on all data from the start")
    return np.array([known[person] for person in people], dtype=np.int64)


def _weights_of(checkpoints: Path, name: str) -> dict[str, Matrix]:
    """Weights that the previous run learned for an encoder and fold."""
    found = sorted(checkpoints.glob(f"*-{name}"))
    if len(found) != 1:
        raise NotFound(
            f"--start: {checkpoints} must hold one checkpoint of {name}, it has {len(found)}"
        )
    with reading(found[0]), np.load(found[0]) as arrays:
        return {one: arrays[one] for one in arrays.files}


def _key(
    folders: Sequence[Path],
    encoder: EncoderEnsemble,
    settings: EncoderSettings,
    before: TunedEncoder | None,
) -> str:
    # Checkpoints hold weights before averaging.
    parts = [*map(data_sha256, folders), encoder.name, repr(replace(settings, average=False))]
    parts += [] if before is None else [before.adapter.digest]
    parts += [repr(_tuning_of(member)) for member in encoder.members]
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def _checkpointed(path: Path, make: Callable[[], dict[str, Matrix]]) -> dict[str, Matrix]:
    if path.exists():
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **made)
    return made


def _rows(
    below: Sequence[Matrix],
    examples: Sequence[RankingExample],
    apis: Sequence[str],
    start: int,
    members: int,
) -> list[_Row]:
    position = {api: place for place, api in enumerate(apis)}
    rows = []
    for one, hidden in zip(examples, below, strict=True):
        stop = start + hidden.shape[2]
        items = one.context.view.vectors[one.context.rows, start:stop] * math.sqrt(members)
        wanted = np.zeros(len(apis), np.float32)
        for share, api in zip(_TOOL_SHARES, one.labels.tools or ["none"], strict=False):
            if api in position:
                wanted[position[api]] += share
        if one.labels.tools is None:
            wanted[:] = 0  # not labelled
        total = float(wanted.sum())
        rows.append(
            _Row(
                hidden[0],
                np.ascontiguousarray(items),
                kinds_of(one.context),
                one.relevance,
                wanted / total if total else wanted,
            )
        )
    return rows


def _fit(
    member: EnsembleMember,
    rows: Sequence[_Row],
    settings: EncoderSettings,
    apis: int,
    progress: Progress,
    start: dict[str, Matrix] | None = None,
) -> dict[str, Matrix]:
    import torch

    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    own = _tuning_of(member)
    epochs = settings.epochs or own.epochs
    dropout = own.dropout if settings.dropout is None else settings.dropout
    net = make_network(member, settings, dropout, apis)
    if start is not None:
        net.restore(start)
    groups = [
        {"params": net.head_parameters(), "lr": settings.head_rate},
        {"params": net.adapter_parameters(), "lr": own.learning_rate},
    ]
    loop = Loop(
        member.name,
        groups,
        net.parameters(),
        epochs * math.ceil(len(rows) / settings.batch),
        settings.weight_decay,
        progress,
    )
    order = np.random.default_rng(settings.seed)
    net.train()
    for _ in range(epochs):
        shuffled = order.permutation(len(rows))
        batches = [
            [rows[i] for i in shuffled[begin : begin + settings.batch]]
            for begin in range(0, len(rows), settings.batch)
        ]
        loop.run(batches, partial(_loss, net, settings))
    weights: dict[str, Matrix] = net.arrays()
    return weights


def _mean(before: dict[str, Matrix], after: dict[str, Matrix]) -> dict[str, Matrix]:
    return {
        name: np.asarray((array + before[name]) / 2, dtype=np.float32)
        for name, array in after.items()
    }


def _loss(net: Any, settings: EncoderSettings, batch: Sequence[_Row]) -> Any:
    import torch
    from torch.nn.functional import log_softmax

    vectors, kinds, apis = net([row.below for row in batch])
    losses = []
    for row, vector, kind in zip(batch, vectors, kinds, strict=True):
        if row.relevance.any():
            scores = torch.from_numpy(row.items) @ vector / settings.temperature
            scores = log_softmax(scores + kind[torch.from_numpy(row.kinds)], dim=0)
            losses.append(-scores[torch.from_numpy(row.relevance > 0)].mean())
    wanted = torch.from_numpy(np.stack([row.apis for row in batch]))
    api_loss = -(log_softmax(apis, dim=1) * wanted).sum(dim=1).mean()
    return sum(losses, torch.zeros(())) / max(len(losses), 1) + settings.api_weight * api_loss


def _read(
    member: EnsembleMember,
    weights: dict[str, Matrix],
    below: Sequence[Matrix],
    settings: EncoderSettings,
) -> list[tuple[Matrix, Matrix, Matrix]]:
    """Tuned unit vector, kind scores and API scores of requests."""
    import torch

    torch.set_num_threads(settings.threads)
    net = make_network(member, settings, 0.0, weights["apis"].shape[1])
    net.restore(weights)
    net.eval()
    found = []
    with torch.inference_mode():
        for begin in range(0, len(below), settings.batch):
            rows = net(below[begin : begin + settings.batch])
            found += list(zip(*(part.float().numpy() for part in rows), strict=True))
    return found


def _figures(
    examples: Sequence[RankingExample], readings: dict[str, TunedRequest]
) -> dict[str, dict[str, float]]:
    tuned = [tuned_scores(one.context) for one in with_readings(examples, readings)]
    return {
        "semantic": ranking_figures(examples, [one.context.cosine for one in examples]),
        "finetuned": ranking_figures(examples, tuned),
    }
