"""The files of a fitted model: what `ctrag train dependency` writes and `NextTool.load` reads."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.next_tool.demonstrations import Demonstration
from ctrag.agents.next_tool.evidence import FEATURES
from ctrag.agents.next_tool.graph import LENGTH
from ctrag.agents.next_tool.inputs import Inputs
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.vocabulary import TextVocabulary
from ctrag.errors import InputError, reading
from ctrag.models.arrays import load_arrays, save_arrays
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix
from stores.files import write_bytes, write_text

CARD, ARRAYS, TREES, NAMES = "card.json", "arrays.npz", "trees.txt", "names.json"
SHOWN, TOOLS, LOG = "demonstrations.jsonl.gz", "tools.json", "observed.jsonl"
_ARRAYS = (
    *("words", "topics", "meanings", "histories", "centroids", "vectors", "texts"),
    *("step", "log_precision", "whole", "linear", "learned"),
)


class DependencyCard(Card):
    """Provenance of a model of tool dependencies."""

    encoder: str
    demonstrations: int
    observed: int = 0
    """How many of them, the last ones, are from a log of observations."""
    seconds: float
    """Time to fit all but DTDR-L and the learned retriever, encoding the requests included."""
    held_out: int
    learned: dict[str, int] = Field(default_factory=dict)
    """What of a recording it learned from; empty for other data."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """What of a recording it did not, by reason."""


class _Names(BaseModel):
    """What the numbers of the arrays stand for."""

    tools: list[str]
    words: list[str]


class _Shown(BaseModel):
    """A line of the demonstrations."""

    id: str
    text: str
    tools: tuple[str, ...]
    before: tuple[str, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fitted parameters."""

    step: Matrix
    precision: Matrix
    """Precision of each row of `step`, (inputs of a step,)."""
    whole: Matrix
    linear: Matrix
    """DTDR-L: softmax over the vector of request and history, (dimension + 1, tools)."""
    learned: Matrix
    """The learned retriever: softmax over the request's vector alone."""
    trees: str
    """LightGBM's text format."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Contents of the files."""

    card: DependencyCard
    memory: Memory
    fitted: Fitted
    tools: Sequence[CatalogueTool]
    texts: Matrix
    """Embeddings of the tools' texts, (tools, dimension)."""


def read_artefact(folder: Path) -> Stored:
    """What `write_artefact` wrote.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the trees were fitted on other features than this version
            computes.
    """
    with reading(folder / CARD):
        card = DependencyCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
    trees = (folder / TREES).read_text(encoding="utf-8")
    if trees and f"feature_names={' '.join(FEATURES)}" not in trees.split("\n"):
        raise InputError(
            f"{folder / TREES}: was fitted by a version with other features; run "
            f"`{card.command}` again"
        )
    with reading(folder / ARRAYS):
        arrays = load_arrays(folder / ARRAYS)
        if lacking := [name for name in _ARRAYS if name not in arrays]:
            raise ValueError(f"lacks {', '.join(lacking)}")
    with reading(folder / NAMES):
        names = _Names.model_validate_json((folder / NAMES).read_bytes())
    inputs = Inputs(
        TextVocabulary(names.words, arrays["words"]),
        arrays["topics"],
        arrays["meanings"],
        arrays["histories"],
    )
    length = int(card.settings.get("length", LENGTH))
    memory = Memory(names.tools, inputs, arrays["centroids"], length)
    with reading(folder / SHOWN):
        for line, vector in zip(_lines(folder / SHOWN), arrays["vectors"], strict=True):
            row = _Shown.model_validate_json(line)
            one = Demonstration(row.id, row.text, row.tools, row.before, row.group)
            memory.add(one, vector)
    fitted = Fitted(
        step=arrays["step"],
        precision=np.exp(arrays["log_precision"]),
        whole=arrays["whole"],
        linear=arrays["linear"],
        learned=arrays["learned"],
        trees=trees,
    )
    return Stored(card, memory, fitted, load_catalogue(folder / TOOLS), arrays["texts"])


def write_artefact(folder: Path, stored: Stored, count: int) -> None:
    """Write a model into `folder`, which is created when missing.

    Args:
        folder: The destination.
        stored: The model.
        count: How many demonstrations, the first ones, are written: those that it was fitted on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    memory, inputs, fitted = stored.memory, stored.memory.inputs, stored.fitted
    shown = "".join(_line(one) for one in memory.demonstrations[:count])
    write_bytes(folder / SHOWN, gzip.compress(shown.encode(), mtime=0))
    tools = memory.names[1 : fitted.step.shape[1]]
    names = {"tools": tools, "words": inputs.vocabulary.entries}
    write_text(folder / NAMES, json.dumps(names, ensure_ascii=False) + "\n")
    rows = [
        {
            "name": tool.name,
            "description": tool.description,
            "server": tool.server,
            "parameters": tool.parameters,
        }
        for tool in stored.tools
    ]
    write_text(folder / TOOLS, json.dumps(rows, ensure_ascii=False) + "\n")
    arrays = {
        "words": inputs.vocabulary.weights,
        "topics": inputs.topics,
        "meanings": inputs.meanings,
        "histories": inputs.histories,
        "centroids": memory.graphs.centroids,
        "vectors": memory.vectors[:count],
        "texts": stored.texts,
        "step": fitted.step,
        "log_precision": np.log(fitted.precision),
        "whole": fitted.whole,
        "linear": fitted.linear,
        "learned": fitted.learned,
    }
    save_arrays(folder / ARRAYS, arrays)
    write_text(folder / TREES, fitted.trees)
    write_text(folder / CARD, stored.card.model_dump_json(indent=1) + "\n")


def _lines(path: Path) -> Iterator[bytes]:
    """Lines of a compressed file; ValueError where it is damaged."""
    try:
        with gzip.open(path) as file:
            yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None


def _line(one: Demonstration) -> str:
    row = {
        "id": one.id,
        "text": one.text,
        "tools": one.tools,
        "before": one.before,
        "group": one.group,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"
