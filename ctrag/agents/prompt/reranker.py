"""The re-ranker: a cross-encoder of sentence-transformers, and the weights of the hybrid score."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ctrag.errors import InputError, reading
from ctrag.models.cards import Card
from ctrag.settings import settings
from stores.files import write_text

MODEL, CARD = "cross-encoder", "reranker-card.json"
"""Folder of the cross-encoder and name of the card, within the re-ranker's folder."""
PAIR_TOKENS = 96
"""Of a query and a unit, the longer one truncated: enough for a tool's name and first sentences."""
_LATEST = 3


class HybridWeights(BaseModel):
    """Factors of the hybrid score (paper, equation 3); their sum is a log odds among units."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    cosine: float
    lexical: float
    cross: float = 0.0


class RerankerCard(Card):
    """Where a re-ranker comes from, and the weights fitted with it."""

    scale: float | None = None
    """Unused; in cards of earlier versions."""
    with_cross: HybridWeights
    """Weights with the re-ranker."""
    without_cross: HybridWeights
    """Weights without it."""
    sufficiency: tuple[float, float]
    """Slope and intercept of `ctrag.agents.prompt.sufficiency`."""


@dataclass(frozen=True, slots=False)
class Reranker:
    """Scores pairs of a query and a unit."""

    card: RerankerCard
    model: Any = None
    """A `CrossEncoder` or anything with its `predict`; None: hybrid weights alone."""

    @classmethod
    def load(cls, folder: Path) -> "Reranker":
        """The re-ranker that `save` wrote; without a cross-encoder, the hybrid weights of its card.

        Raises:
            FileNotFoundError: The card is missing.
            ValueError: It was trained by an earlier version, whose network is no longer supported.
        """
        with reading(folder / CARD):
            card = RerankerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        if (folder / MODEL).is_dir():
            return cls(card, load_cross_encoder(str(folder / MODEL)))
        if card.with_cross.cross:
            raise InputError(
                f"{folder}: holds no folder {MODEL!r}, which its card counts on; "
                "run `ctrag train reranker` again"
            )
        return cls(card)

    @classmethod
    def packaged(cls) -> "Reranker":
        """The one that ctrag ships."""
        return cls.load(Path(str(files("ctrag.agents.prompt").joinpath("artefact"))))

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
            raise InputError(
                f"CTRAG_RERANKER: {folder} holds no {CARD}; name a folder that "
                "`ctrag train reranker` wrote"
            )
        return cls.load(folder)

    @property
    def trained(self) -> bool:
        """Whether there is a model to re-rank with."""
        return self.model is not None

    def save(self, folder: Path) -> None:
        """Write card and cross-encoder, if there is one, into `folder`, created when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.trained:
            self.model.save_pretrained(str(folder / MODEL), create_model_card=False)
        write_text(folder / CARD, self.card.model_dump_json(indent=1, exclude_none=True) + "\n")

    def scores(self, query: str, units: Sequence[str]) -> NDArray[np.float64]:
        """One score per unit: log odds up to a constant.

        Args:
            query: From `query_text`.
            units: A passage of each unit.
        """
        if not units:
            return np.empty(0)
        pairs = [(query, one) for one in units]
        return np.asarray(self.model.predict(pairs, show_progress_bar=False), dtype=np.float64)


def load_cross_encoder(name_or_path: str) -> Any:
    """A `CrossEncoder` on the processor that scores a pair with one logit.

    Args:
        name_or_path: As `ctrag.models.packages.find` takes it. An encoder gets a randomly
            initialised head.

    Raises:
        ModelMissing: The weights are not on this machine.
    """
    from ctrag.models.weights import encoder_folder

    folder = encoder_folder(name_or_path)
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging as quiet

    quiet.disable_progress_bar()
    quiet.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # it warns about a new head
    return CrossEncoder(
        str(folder),
        num_labels=1,
        max_length=PAIR_TOKENS,
        activation_fn=torch.nn.Identity(),
        device="cpu",
        local_files_only=True,
    )


def query_text(text: str, history: Sequence[str] = ()) -> str:
    """The re-ranker's query for a step: the names of the latest calls, and the request."""
    done = ", ".join(name.rpartition("/")[2].replace("_", " ") for name in history[-_LATEST:])
    return f"After {done}: {text}" if done else text
