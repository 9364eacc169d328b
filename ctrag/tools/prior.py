"""Which APIs similar requests needed, given what the retrieved items are.

A multinomial logistic model over the request's vector and the kinds of the items that retrieval
brings (missed call, open reminder, past event, …). It is trained on requests with and without
context, and on context as retrieval really gives it.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.apps.toolbox import Toolbox
from ctrag.arrays import save_arrays
from ctrag.cards import Card
from ctrag.context.prior import KINDS, kinds_of
from ctrag.context.scene import Scene
from ctrag.context.view import Floats, Ints
from ctrag.encoder import Matrix
from stores.files import write_text

WEIGHTS, CARD = "tools.npz", "tools-card.json"
CONTEXT = 5
"""Items that are looked at."""

# Scales of the blocks of inputs, so that one penalty fits them all; chosen on train.
_VECTOR, _KINDS, _FIRST, _SECOND, _TUNED = 3.0, 1.5, 1.0, 0.5, 0.15
_RAREST = -9.0


class ToolPriorCard(Card):
    """Where a tool prior comes from."""

    encoder: str
    apis: list[str]
    """Classes in order; the last one is `none`."""


@dataclass(frozen=True, slots=True)
class ToolPrior:
    """Log probabilities of APIs for a request and its retrieved items."""

    weights: Matrix
    """(inputs + 1, classes); the last row is the intercept."""
    card: ToolPriorCard

    @classmethod
    def load(cls, folder: Path) -> "ToolPrior":
        """The prior that `save` wrote; FileNotFoundError when a file is missing."""
        card = ToolPriorCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        with np.load(folder / WEIGHTS) as arrays:
            return cls(arrays["weights"].astype(np.float32), card)

    @classmethod
    def packaged(cls) -> "ToolPrior":
        """The prior that ctrag ships, trained on the reference people."""
        return cls.load(Path(str(files("ctrag.tools").joinpath("artefact"))))

    def save(self, folder: Path) -> None:
        """Write weights and card into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder / WEIGHTS, {"weights": self.weights})
        write_text(folder / CARD, self.card.model_dump_json(indent=1) + "\n")

    def log_probabilities(self, inputs: Floats) -> dict[str, float]:
        """API (and `none`) → log probability, never below -9.

        Args:
            inputs: What `prior_inputs` gives; without the tuned block at its end, that block says
                nothing.
        """
        missing = len(self.weights) - 1 - len(inputs)
        if missing:
            inputs = np.concatenate([inputs, np.zeros(missing, np.float32)])
        scores = inputs @ self.weights[:-1] + self.weights[-1]
        scores = scores - scores.max()
        scores = scores - np.log(np.exp(scores).sum())
        return {
            api: max(float(score), _RAREST)
            for api, score in zip(self.card.apis, scores, strict=True)
        }


def classes_of(toolbox: Toolbox) -> list[str]:
    """All APIs, and `none`."""
    return [*toolbox.names, "none"]


def prior_inputs(scene: Scene, rows: Ints, weights: NDArray[np.floating]) -> Floats:
    """One row of inputs.

    Args:
        scene: The request and its candidates.
        rows: Rows of the scene that hold the items, best first; empty for the request alone.
        weights: What each item counts, summing to 1.

    Returns:
        Blocks end to end: the request's vector, kinds of the items, the first's and second's kind,
        what is known of the first, flags of the request, and the tuned reading's APIs last where
        the scene has one.
    """
    request = scene.request
    asked = [
        scene.playing_row is not None,
        bool(scene.moments),
        bool(scene.named_people),
        request.text.rstrip().endswith("?"),
    ]
    kinds, first, second = (np.zeros(len(KINDS)) for _ in range(3))
    context = np.zeros(5)
    if len(rows):
        found = kinds_of(scene)[rows]
        kinds = np.bincount(found, weights, minlength=len(KINDS)).astype(np.float64)
        first[found[0]] = 1.0
        if len(found) > 1:
            second[found[1]] = 1.0
        place = int(scene.rows[rows[0]])
        context = np.array(
            [
                1.0,
                float(weights[0]),
                float(bool(scene.view.people[place])),
                float(bool(scene.view.items[place].text("playlist"))),
                2.0 * float(scene.cosine[rows[0]]),
            ]
        )
    blocks = [
        _VECTOR * scene.vector,
        _KINDS * kinds,
        _FIRST * first,
        _SECOND * second,
        context,
        np.array(asked, dtype=np.float64),
    ]
    if scene.tuned is not None:
        apis = scene.tuned.apis - scene.tuned.apis.max()
        logs = np.maximum(apis - np.log(np.exp(apis).sum()), _RAREST)
        blocks.append(_TUNED * (logs - logs.mean()))
    return np.concatenate(blocks).astype(np.float32)


def item_weights(relevance: Floats) -> NDArray[np.float64]:
    """Softmax over the retrieved items' LambdaMART scores."""
    shifted = np.exp(np.asarray(relevance, dtype=np.float64) - np.max(relevance, initial=-np.inf))
    return shifted / max(float(shifted.sum()), 1e-12)
