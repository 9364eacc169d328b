"""The order of candidates: several weak measures, weighed together, reading by reading.

In a reading, candidates share one unit of belief: the softmax of a weighted sum of `features`. The
whole request's beliefs and those of its parts are mixed. The weight of the parts is itself
estimated, from whether they agree with the whole: a request with several needs has parts that
point to different tools.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ctrag.agents.search.features import FEATURES, Rows
from ctrag.errors import InputError, reading
from ctrag.settings import settings
from stores.files import write_text

Floats = NDArray[np.float64]
ARTEFACT = "discovery.json"
FLOOR = (
    "cosine",
    "name_covered",
    "name_trigrams",
    "asked_covered",
    "tool_covered",
    "log_belief",
)
"""Features of whether a candidate fits at all: those that do not compare it with others, and the
log of its belief, which is low where many are as good."""
_OF_FLOOR = [FEATURES.index(name) for name in FLOOR[:-1]]
_RAREST = 1e-3


@dataclass(frozen=True, slots=True)
class Readings:
    """The whole request and its parts, with all candidates."""

    texts: Sequence[str]
    """The whole request first; at least one."""
    rows: Rows
    """(readings, candidates, features)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Beliefs about all candidates of a request."""

    beliefs: Floats
    """(candidates,); they sum to 1."""
    fits: Floats
    """(candidates,), calibrated probability that the tool does what one reading asks, 0 to 1."""
    whole: float
    """How far the whole request counts beside its parts, 0 to 1."""
    readings: list[tuple[str, float]]
    """Each reading's text and weight; the whole request first."""
    by_reading: Floats
    """(readings, candidates), the beliefs of each reading."""


@dataclass(frozen=True, slots=True)
class ModeWeights:
    """Learned weights of one search mode."""

    features: Floats
    """(len(FEATURES),)."""
    part: tuple[float, float]
    """Weight of a part: by its best candidate's sum, and by the log of its length."""
    gate: tuple[float, float, float, float]
    """Weight of the whole: intercept; by the log of the number of parts; by their agreement; by how
    far the parts' best sums exceed the whole's."""
    floor: Floats
    """(len(FLOOR) + 1,), logistic model of whether a candidate fits; the intercept last."""


class _WrittenMode(BaseModel):
    """One mode in the file of a ranker."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
    weights: list[float]
    part: tuple[float, float]
    gate: tuple[float, float, float, float]
    floor: list[float]

    def is_whole(self) -> bool:
        """Whether it has a weight for each feature."""
        return (len(self.weights), len(self.floor)) == (len(FEATURES), len(FLOOR) + 1)

    def weights_of(self) -> ModeWeights:
        """The weights for computing."""
        return ModeWeights(np.array(self.weights), self.part, self.gate, np.array(self.floor))


class _Written(BaseModel):
    """The file of a ranker; numbers in it are finite."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
    features: list[str]
    hybrid: _WrittenMode
    lexical: _WrittenMode
    least: float
    card: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolRanker:
    """Weights for hybrid and for lexical search."""

    hybrid: ModeWeights
    lexical: ModeWeights
    least: float
    """Below this calibrated probability nothing fits."""
    card: dict[str, Any]
    """Where the weights come from."""

    @classmethod
    def load(cls, path: Path) -> "ToolRanker":
        """The ranker that `save` wrote.

        Raises:
            ValueError: It is damaged, or was made for other features.
        """
        with reading(path):
            kept = _Written.model_validate_json(path.read_text(encoding="utf-8"))
        if kept.features != list(FEATURES):
            raise InputError(f"{path}: features: made for {kept.features}; train it again")
        if not (kept.hybrid.is_whole() and kept.lexical.is_whole()):
            raise InputError(f"{path}: has not a weight for each feature; train it again")
        return cls(kept.hybrid.weights_of(), kept.lexical.weights_of(), kept.least, kept.card)

    def save(self, path: Path) -> None:
        """Write weights and card atomically."""
        value = {
            "features": list(FEATURES),
            "hybrid": _written(self.hybrid),
            "lexical": _written(self.lexical),
            "least": self.least,
            "card": self.card,
        }
        write_text(path, json.dumps(value, indent=1) + "\n")

    def rank(self, readings: Readings, *, dense: bool) -> Ranked:
        """Beliefs about the candidates.

        Args:
            readings: The request with its candidates.
            dense: Whether the rows hold cosines.
        """
        weights = self.hybrid if dense else self.lexical
        texts, candidates = readings.texts, readings.rows.shape[1]
        if not candidates:
            none = np.zeros(0)
            return Ranked(none, none, 1.0, [(texts[0], 1.0)], np.zeros((len(texts), 0)))
        sums = readings.rows @ weights.features
        beliefs = softmax(sums)
        fits = self.fits(readings, beliefs, dense=dense)
        if len(texts) == 1:
            return Ranked(beliefs[0], fits, 1.0, [(texts[0], 1.0)], beliefs)
        best = sums.max(axis=1)
        lengths = np.log([len(one.split()) + 1 for one in texts[1:]])
        shares = softmax(weights.part[0] * best[1:] + weights.part[1] * lengths)
        parts = shares @ beliefs[1:]
        agreement = float(np.sqrt(beliefs[0] * parts).sum())
        above = float(shares @ best[1:] - best[0])
        always, by_count, by_agreement, by_sum = weights.gate
        gate = always + by_count * np.log(len(texts)) + by_agreement * agreement
        whole = float(1 / (1 + np.exp(-(gate + by_sum * above))))
        counted = [whole, *((1 - whole) * shares)]
        read = [(one, float(share)) for one, share in zip(texts, counted, strict=True)]
        return Ranked(whole * beliefs[0] + (1 - whole) * parts, fits, whole, read, beliefs)

    def fits(self, readings: Readings, beliefs: Floats, *, dense: bool) -> Floats:
        """(candidates,), calibrated probability that each does what one reading asks.

        Args:
            readings: The request with its candidates.
            beliefs: (readings, candidates), the beliefs of each reading; near-duplicates may each
                have the belief of all of them together.
            dense: Whether the rows hold cosines.
        """
        floor = (self.hybrid if dense else self.lexical).floor
        logits = floor_inputs(readings, beliefs) @ floor[:-1] + floor[-1]
        return np.asarray(1 / (1 + np.exp(-logits.max(axis=0))), dtype=np.float64)


@cache
def packaged_ranker() -> ToolRanker:
    """The ranker that ctrag ships."""
    return ToolRanker.load(Path(str(files("ctrag.agents.search").joinpath("artefact", ARTEFACT))))


def tool_ranker() -> ToolRanker:
    """The ranker of `CTRAG_TOOL_RANKER`, else the packaged one."""
    path = settings().tool_ranker
    return packaged_ranker() if path is None else _loaded(path.expanduser())


@cache
def _loaded(path: Path) -> ToolRanker:
    return ToolRanker.load(path)


def floor_inputs(readings: Readings, beliefs: Floats) -> Rows:
    """(readings, candidates, len(FLOOR)).

    Args:
        readings: The request with its candidates.
        beliefs: (readings, candidates), the beliefs of each reading.
    """
    logs = np.log(np.maximum(beliefs, _RAREST))
    return np.concatenate([readings.rows[:, :, _OF_FLOOR], logs[:, :, np.newaxis]], axis=-1)


def softmax(values: Floats) -> Floats:
    """Over the last axis."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float64)


def _written(weights: ModeWeights) -> dict[str, Any]:
    return {
        "weights": [round(float(one), 4) for one in weights.features],
        "part": [round(one, 4) for one in weights.part],
        "gate": [round(one, 4) for one in weights.gate],
        "floor": [round(float(one), 4) for one in weights.floor],
    }
