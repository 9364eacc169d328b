"""The order of candidates: several weak measures, weighed together, reading by reading.

In a reading, candidates share one unit of belief: the softmax of a weighted sum of `features`. The
whole request's beliefs and those of its parts are mixed. How far the parts count is itself
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

from ctrag.tools.features import FEATURES, Rows
from stores.files import write_text

Floats = NDArray[np.float64]
ARTEFACT = "discovery.json"
FLOOR = ("cosine", "bm25", "name_covered", "tool_covered", "log_belief")
"""What says whether a candidate fits at all: measures that do not compare it with others, and the
log of its belief, which is low where many are as good."""
_RAREST = 1e-3


@dataclass(frozen=True, slots=True)
class Reading:
    """The whole request, or one of its parts, with its candidates."""

    text: str
    candidates: NDArray[np.int64]
    """(n,), numbers of the tools among all candidates of the request."""
    rows: Rows
    """(n, features)."""


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
    """What was read, and how much it counts; the whole request first."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What one mode of search learned."""

    features: Floats
    """(len(FEATURES),)."""
    part: tuple[float, float]
    """What a part counts: by its best candidate's sum, and by the log of its length."""
    gate: tuple[float, float, float, float]
    """What the whole counts: always; by the log of how many parts; by their agreement; by how
    far the parts' best sums stand above the whole's."""
    floor: Floats
    """(len(FLOOR) + 1,), logistic model of whether a candidate fits; the intercept last."""


@dataclass(frozen=True, slots=True)
class ToolRanker:
    """Weights for hybrid and for lexical search."""

    hybrid: Weights
    lexical: Weights
    least: float
    """Below this calibrated probability nothing fits."""
    card: dict[str, Any]
    """Where the weights come from."""

    @classmethod
    def load(cls, path: Path) -> "ToolRanker":
        """The ranker that `save` wrote.

        Raises:
            ValueError: It was made for other features.
        """
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["features"] != list(FEATURES):
            raise ValueError(f"{path}: features: made for {value['features']}; train it again")
        return cls(
            _weights(value["hybrid"]), _weights(value["lexical"]), value["least"], value["card"]
        )

    def save(self, path: Path) -> None:
        """Write weights and card, whole or not at all."""
        value = {
            "features": list(FEATURES),
            "hybrid": _written(self.hybrid),
            "lexical": _written(self.lexical),
            "least": self.least,
            "card": self.card,
        }
        write_text(path, json.dumps(value, indent=1) + "\n")

    def rank(self, readings: Sequence[Reading], candidates: int, *, dense: bool) -> Ranked:
        """Beliefs about the candidates.

        Args:
            readings: The whole request first; at least one.
            candidates: How many there are over all readings.
            dense: Whether the rows hold cosines.
        """
        weights = self.hybrid if dense else self.lexical
        sums = [one.rows @ weights.features for one in readings]
        fits = np.zeros(candidates)
        for one in readings:
            logits = floor_inputs(one, weights) @ weights.floor[:-1] + weights.floor[-1]
            np.maximum.at(fits, one.candidates, 1 / (1 + np.exp(-logits)))
        beliefs = [
            _belief(one, total, candidates) for one, total in zip(readings, sums, strict=True)
        ]
        if len(readings) == 1:
            return Ranked(beliefs[0], fits, 1.0, [(readings[0].text, 1.0)])
        best = np.array([total.max() if len(total) else -np.inf for total in sums])
        lengths = np.log([len(one.text.split()) + 1 for one in readings[1:]])
        shares = _softmax(weights.part[0] * best[1:] + weights.part[1] * lengths)
        parts = np.average(beliefs[1:], axis=0, weights=shares)
        agreement = float(np.sqrt(beliefs[0] * parts).sum())
        above = float(shares @ np.where(np.isfinite(best[1:]), best[1:], 0.0) - best[0])
        always, by_count, by_agreement, by_sum = weights.gate
        gate = always + by_count * np.log(len(readings)) + by_agreement * agreement
        whole = float(1 / (1 + np.exp(-(gate + by_sum * above))))
        counted = [whole, *((1 - whole) * shares)]
        texts = [(one.text, float(share)) for one, share in zip(readings, counted, strict=True)]
        return Ranked(whole * beliefs[0] + (1 - whole) * parts, fits, whole, texts)


@cache
def packaged_ranker() -> ToolRanker:
    """The ranker that ctrag ships."""
    return ToolRanker.load(Path(str(files("ctrag.tools").joinpath("artefact", ARTEFACT))))


def floor_inputs(reading: Reading, weights: Weights) -> Rows:
    """(n, len(FLOOR)) of a reading's candidates."""
    columns = [FEATURES.index(name) for name in FLOOR[:-1]]
    belief = _softmax(reading.rows @ weights.features) if len(reading.rows) else np.zeros(0)
    logs = np.log(np.maximum(belief, _RAREST))
    return np.column_stack([reading.rows[:, columns], logs])


def _belief(reading: Reading, sums: Floats, candidates: int) -> Floats:
    belief = np.zeros(candidates)
    if len(sums):
        belief[reading.candidates] = _softmax(sums)
    return belief


def _softmax(values: Floats) -> Floats:
    shifted = np.exp(values - values.max()) if np.isfinite(values.max()) else np.ones(len(values))
    return np.asarray(shifted / shifted.sum(), dtype=np.float64)


def _weights(value: dict[str, Any]) -> Weights:
    part, gate = value["part"], value["gate"]
    return Weights(
        np.array(value["weights"]),
        (part[0], part[1]),
        (gate[0], gate[1], gate[2], gate[3]),
        np.array(value["floor"]),
    )


def _written(weights: Weights) -> dict[str, Any]:
    return {
        "weights": [round(float(one), 4) for one in weights.features],
        "part": [round(one, 4) for one in weights.part],
        "gate": [round(one, 4) for one in weights.gate],
        "floor": [round(float(one), 4) for one in weights.floor],
    }
