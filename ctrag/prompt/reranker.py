"""The re-ranker: a small cross-encoder that goes on from what the encoder has read.

The lower layers of MiniLM read the query and each unit alone; a unit's states are kept in the
index. The last layers, with an adapter, read both together (MacAvaney et al., PreTTR, 2020), so
that a pair costs half a model, and a request's own reading is the one that gave its vector.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ctrag import models
from ctrag.arrays import low_rank_changes, save_arrays
from ctrag.cards import Card
from ctrag.encoder import Matrix, open_session
from ctrag.errors import reading
from ctrag.prompt.reading import JOINT_LAYERS
from ctrag.settings import settings
from stores.files import write_text

WEIGHTS, CARD = "reranker.npz", "reranker-card.json"
QUERY_TOKENS, UNIT_TOKENS = 64, 32
"""Tokens of a pair that are read together."""
_LATEST = 3


class HybridWeights(BaseModel):
    """Factors of the hybrid score (paper, equation 3); their sum is a log odds among units."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    cosine: float
    lexical: float
    cross: float = 0.0


class RerankerCard(Card):
    """Where a re-ranker comes from, and the weights fitted with it."""

    scale: float
    """Factor of the low-rank products."""
    with_cross: HybridWeights
    """Weights with the re-ranker."""
    without_cross: HybridWeights
    """Weights without it."""
    sufficiency: tuple[float, float]
    """Slope and intercept of `ctrag.prompt.sufficiency`."""


@dataclass(frozen=True, slots=False)
class Reranker:
    """Scores pairs of a query and a unit."""

    arrays: dict[str, Matrix]
    """`tower/layer.map.A` and `.B`; `segment` (hidden,), added to a unit's states; `head`
    (hidden + 1,), the last one being the intercept."""
    card: RerankerCard

    @classmethod
    def load(cls, folder: Path) -> "Reranker":
        """The re-ranker that `save` wrote; without its weights, the hybrid weights of its card.

        Raises:
            FileNotFoundError: The card is missing.
        """
        with reading(folder / CARD):
            card = RerankerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        if not (folder / WEIGHTS).exists():
            return cls({}, card)
        with reading(folder / WEIGHTS), np.load(folder / WEIGHTS) as arrays:
            return cls({name: arrays[name].astype(np.float32) for name in arrays.files}, card)

    @classmethod
    def packaged(cls) -> "Reranker":
        """The one that ctrag ships."""
        return cls.load(Path(str(files("ctrag.prompt").joinpath("artefact"))))

    @classmethod
    def configured(cls) -> "Reranker":
        """The one that the settings name; the packaged one when they name none.

        Raises:
            ValueError: Their folder holds no re-ranker.
        """
        folder = settings().reranker
        if folder is None:
            return cls.packaged()
        folder = folder.expanduser()
        if not (folder / CARD).is_file():
            raise ValueError(
                f"CTRAG_RERANKER: {folder} holds no {CARD}; name a folder that "
                "`ctrag train reranker` wrote"
            )
        return cls.load(folder)

    @property
    def trained(self) -> bool:
        """Whether there are weights to re-rank with."""
        return bool(self.arrays)

    def save(self, folder: Path) -> None:
        """Write weights (float16), if there are any, and card into `folder`, made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.trained:
            save_arrays(folder / WEIGHTS, self.arrays)
        write_text(folder / CARD, self.card.model_dump_json(indent=1) + "\n")

    def scores(self, query: Matrix, units: Sequence[Matrix]) -> NDArray[np.float64]:
        """One score a unit: log odds up to a constant.

        Args:
            query: (tokens, hidden) states of the query.
            units: States of each unit.
        """
        ahead = query[:QUERY_TOKENS]
        pairs = [
            np.concatenate([ahead, one[:UNIT_TOKENS] + self.arrays["segment"]]) for one in units
        ]
        vectors = list(self._pool.map(self._read, pairs))
        if not vectors:
            return np.empty(0)
        head = self.arrays["head"]
        unit = np.stack(vectors) * np.sqrt(len(head) - 1)
        return np.asarray(unit @ head[:-1] + head[-1], dtype=np.float64)

    def _read(self, pair: Matrix) -> Matrix:
        return np.asarray(self._session.run(None, {"input": pair[None]})[0], dtype=np.float32)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(2)

    @cached_property
    def _session(self) -> Any:
        from ctrag.graphs import top_graph

        changes = low_rank_changes(self.arrays, models.ENCODER, self.card.scale)
        digest = sha256(b"".join(one.tobytes() for _, one in sorted(changes.items())))
        name = digest.hexdigest()[:16]
        return open_session(top_graph(models.ENCODER, JOINT_LAYERS, changes, name))


def query_text(text: str, history: Sequence[str] = ()) -> str:
    """What the re-ranker reads of a step: the names of the latest calls, and the request."""
    done = ", ".join(name.rpartition("/")[2].replace("_", " ") for name in history[-_LATEST:])
    return f"After {done}: {text}" if done else text
