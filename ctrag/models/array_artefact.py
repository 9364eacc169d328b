"""Artefacts of arrays in one file and a card in another."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from ctrag.errors import reading
from ctrag.models.arrays import load_arrays, save_arrays
from ctrag.models.cards import Card
from ctrag.models.encoder import Matrix
from stores.files import write_text

CardKind = TypeVar("CardKind", bound=Card)


@dataclass(frozen=True, slots=False)
class ArrayArtefact(Generic[CardKind]):
    """Arrays and their card. Each kind of artefact names its two files and its card's class."""

    weights_file: ClassVar[str]
    card_file: ClassVar[str]
    card_class: ClassVar[type[Any]]
    eight_bits: ClassVar[bool] = False
    """Whether matrices are kept in 8 bits."""

    arrays: dict[str, Matrix]
    """By name, float32; subclasses document which."""
    card: CardKind

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote; FileNotFoundError when a file is missing."""
        with reading(folder / cls.card_file):
            text = (folder / cls.card_file).read_text(encoding="utf-8")
            card = cls.card_class.model_validate_json(text)
        with reading(folder / cls.weights_file):
            return cls(load_arrays(folder / cls.weights_file), card)

    def save(self, folder: Path) -> None:
        """Write arrays (`save_arrays`) and card into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder / self.weights_file, self.arrays, self.eight_bits)
        write_text(folder / self.card_file, self.card.written())
