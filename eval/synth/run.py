"""Quality of a synthetic data set: its texts, and its value for training."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.settings import settings
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.tables import Table, figure
from eval.synth.texts import encoded, load_texts, synthetic_auc, text_figures
from synth.checks import normal_text
from synth.dataset import PARTS
from synth.reference import scenes_folder, split_folder

METHODS = ("texts", "ranker", "tools", "planner")
"""What is measured; all but `texts` train, which takes hours."""
_SEED = 0
_MOST_PEOPLE = 300
"""People whose texts are compared; more change no figure by a tenth and take minutes."""
_TEXT_COLUMNS = (
    "distinct_1", "distinct_2", "distinct_3", "spread", "nearest", "overlap", "no_overlap", "words",
)  # fmt: skip

Progress = Callable[[str], None]
Trained = Callable[[Path, Sequence[str]], Mapping[str, Mapping[str, JsonValue]]]
"""From the synthetic train folder and the wanted methods to rows: learned from → figures."""


def run_synth(
    data: Path,
    *,
    trained: Trained | None = None,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    progress: Progress = lambda _: None,
) -> Experiment:
    """Compare a synthetic data set with the reference people.

    Texts are compared with the dev split, which the synthesizer never saw.

    Args:
        data: A folder with `train` and `test`, or one data set folder.
        trained: Trains and tests; needed for every method but `texts`.
        methods: Names from `METHODS`; `texts` when None.
        limit: Only so many synthetic people.
        progress: Called with progress messages.

    Raises:
        ValueError: A method is unknown, or the data set breaks a rule.
    """
    began = time.perf_counter()
    wanted = list(methods or ("texts",))
    for name in wanted:
        if name not in METHODS:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(METHODS)}")
    parts = [data / part for part in PARTS if (data / part).is_dir()] or [data]
    figures: dict[str, JsonValue] = {}
    extra: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    if "texts" in wanted:
        progress("comparing texts")
        figures, extra = _texts(parts, limit)
    learning = [name for name in wanted if name != "texts"]
    if learning and trained is not None:
        rows = trained(parts[0], learning)
        figures |= {f"trained_{name}": dict(row) for name, row in rows.items()}
    elif learning:
        skipped = dict.fromkeys(learning, "nothing that trains was given")
    return Experiment(
        experiment="synth",
        data=str(data),
        data_sha256=data_sha256(parts[0]),
        seed=_SEED,
        versions=versions(),
        settings={"encoder": settings().encoder, "limit": limit, "methods": [*wanted]},
        figures=figures,
        extra=extra,
        skipped=skipped,
        seconds=round(time.perf_counter() - began, 2),
    )


def _texts(parts: Sequence[Path], limit: int | None) -> tuple[dict[str, JsonValue], dict[str, Any]]:
    encoder = load_encoder(settings().encoder)
    synthetic = load_texts(parts, min(limit or _MOST_PEOPLE, _MOST_PEOPLE))
    reference = load_texts([split_folder("dev")])
    sample = min(len(synthetic.texts), len(reference.texts))
    vectors = encoded(synthetic, encoder), encoded(reference, encoder)
    figures: dict[str, JsonValue] = {
        "synthetic": {**text_figures(synthetic, vectors[0], sample, _SEED)},
        "reference": {**text_figures(reference, vectors[1], sample, _SEED)},
    }
    auc = synthetic_auc(synthetic, reference, vectors, _SEED)
    extra = {
        "auc": {name: round(value, 2) for name, value in auc.items()},
        "requests": {"synthetic": len(synthetic.texts), "reference": len(reference.texts)},
        "sample": sample,
        "texts_as_in_sources": as_in_sources(parts),
    }
    return figures, extra


def as_in_sources(parts: Sequence[Path]) -> dict[str, int]:
    """How many texts also occur verbatim in the sources that people are made from.

    Case, accents and punctuation aside. `either` counts a text that occurs in both once.
    """
    texts = [normal_text(one) for one in load_texts(parts).texts]
    sources = {"scenes": scenes_folder(), "reference train": split_folder("train")}
    known = {
        name: {normal_text(one) for one in load_texts([folder]).texts}
        for name, folder in sources.items()
    }
    known["either"] = set().union(*known.values())
    return {"of": len(texts)} | {
        name: sum(text in there for text in texts) for name, there in known.items()
    }


def table(experiment: Experiment) -> Table:
    """The quality of texts, and what was learned, as one table each in lines."""
    found: Any = experiment.figures
    texts = {name: row for name, row in found.items() if not name.startswith("trained_")}
    learned = {name: row for name, row in found.items() if name.startswith("trained_")}
    notes = []
    if "auc" in experiment.extra:
        auc: Any = experiment.extra["auc"]
        values = ", ".join(f"{name} {value}" for name, value in auc.items())
        notes.append(f"telling synthetic from reference, AUC by person: {values} (50 is chance)")
        same: Any = experiment.extra["texts_as_in_sources"]
        notes.append(
            f"word for word as in the sources: {same['either']} of all {same['of']} texts "
            f"(scenes {same['scenes']}, reference train {same['reference train']}); "
            "the dev split, which they are compared with, is no source"
        )
    notes += [f"{name}: {reason}" for name, reason in experiment.skipped.items()]
    if not learned:
        rows = [[name, *(figure(row[one]) for one in _TEXT_COLUMNS)] for name, row in texts.items()]
        return Table(["requests", *_TEXT_COLUMNS], rows, notes)
    columns = list(dict.fromkeys(one for row in learned.values() for one in row))
    rows = [
        [name.removeprefix("trained_"), *(figure(row.get(one)) for one in columns)]
        for name, row in learned.items()
    ]
    for name, row in texts.items():
        notes.append(f"{name} texts: " + ", ".join(f"{one} {value}" for one, value in row.items()))
    return Table(["learned from, tested on dev", *columns], rows, notes)
