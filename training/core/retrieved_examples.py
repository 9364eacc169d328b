"""Labelled requests with what retrieval returned for them, and a file of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Floats, PersonView
from ctrag.assistant.spoken import as_order
from ctrag.errors import InputError
from ctrag.models.request_adapter import TunedRequest
from eval.core.examples import RankingExample, in_stores_order
from stores.files import replacing
from stores.people.dataset import load_dataset, load_labels
from training.core.shares import times

Arrays: TypeAlias = dict[str, NDArray[Any]]
_TUNED = ("aim", "kinds", "apis")
"""Arrays of a tuned request, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class RetrievedExamples:
    """Requests and the relevance of their candidates."""

    examples: list[RankingExample]
    scores: list[Floats]
    held_out: NDArray[np.bool_]
    """Requests that must not be trained on: they are for evaluation."""
    encoder: str
    """Of the items' vectors."""
    data: list[str]
    """Name of each request's data set."""

    def learned(
        self, shares: Mapping[str, float] = MappingProxyType({})
    ) -> tuple[list[RankingExample], list[Floats]]:
        """What may be trained on; a share of each data set in `shares` (`training.core.shares`)."""
        often = [
            times(one.asked.request.text, shares.get(name, 1.0))
            for one, name in zip(self.examples, self.data, strict=True)
        ]
        return self._part(np.repeat(np.arange(len(often)), np.where(self.held_out, 0, often)))

    def kept_back(self) -> tuple[list[RankingExample], list[Floats]]:
        """What may not be trained on."""
        return self._part(np.flatnonzero(self.held_out))

    def _part(self, places: NDArray[np.int64]) -> tuple[list[RankingExample], list[Floats]]:
        return [self.examples[i] for i in places], [self.scores[i] for i in places]

    def write(self, path: Path) -> None:
        """Write them as a file of arrays; of what is text, only ids and names are in it."""
        views = {id(one.context.view): one.context.view for one in self.examples}
        number = {key: place for place, key in enumerate(views)}
        tuned = [one.context.tuned for one in self.examples]
        read = [one for one in tuned if one is not None]
        items = [one.vectors for one in views.values()]
        arrays: Arrays = {
            "queries": np.array([one.asked.query_id for one in self.examples]),
            "data": np.array(self.data),
            "encoder": np.array(self.encoder),
            "held_out": self.held_out,
            "vectors": np.stack([one.context.vector for one in self.examples]),
            "scores": np.concatenate(self.scores),
            "view": np.array([number[id(one.context.view)] for one in self.examples]),
            "items": np.concatenate(items),
            "sizes": np.array([len(one) for one in items]),
            "tuned": np.array([one is not None for one in tuned]),
            **{name: np.stack([getattr(one, name) for one in read]) for name in _TUNED if read},
        }
        with replacing(path) as file:
            np.savez(file, allow_pickle=False, **arrays)

    @classmethod
    def read(cls, path: Path, folders: Sequence[Path]) -> "RetrievedExamples":
        """What `write` wrote.

        Args:
            path: The file.
            folders: The data sets that the requests are of.

        Raises:
            ValueError: It is no such file, or the data sets do not have its requests.
        """
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays: Arrays = dict(file)
            return cls._of(arrays, folders)
        except (AttributeError, LookupError, OSError, EOFError, ValueError, BadZipFile) as error:
            raise InputError(
                f"{path}: holds no retrieved requests of these data sets; delete it ({error})"
            ) from None

    @classmethod
    def _of(cls, arrays: Arrays, folders: Sequence[Path]) -> "RetrievedExamples":
        known = {
            (folder.name, one.query_id): (one, dataset, labels[one.query_id])
            for folder in folders
            for dataset, labels in [(load_dataset(folder), load_labels(folder))]
            for one in dataset.requests
        }
        sizes = arrays["sizes"]
        vectors = np.split(arrays["items"], np.cumsum(sizes)[:-1])
        numbers = arrays["view"]
        scores = np.split(arrays["scores"], np.cumsum(sizes[numbers])[:-1])
        readings = iter(zip(*(arrays[name] for name in _TUNED if name in arrays), strict=True))
        views: dict[int, PersonView] = {}
        examples = []
        names = [str(name) for name in arrays["data"]]
        for place, key in enumerate(zip(names, map(str, arrays["queries"]), strict=True)):
            asked, dataset, labels = known[key]
            number = int(numbers[place])
            if number not in views:
                persona = dataset.persona(asked.person_id)
                items = in_stores_order(persona.items)
                views[number] = PersonView(persona.person, items, vectors[number])
            view = views[number]
            relevance = np.isin(view.ids, list(labels.relevant or ())).astype(np.float32)
            tuned = TunedRequest(*next(readings)) if arrays["tuned"][place] else None
            vector = arrays["vectors"][place]
            context = FeatureContext(
                view, as_order(asked.request), vector, np.arange(len(view)), tuned
            )
            examples.append(RankingExample(asked, context, labels, relevance))
        held_out = arrays["held_out"].astype(bool)
        return cls(examples, scores, held_out, str(arrays["encoder"]), names)
