"""What a ranker learns from one person's own record of use: a correction of its scores.

Two things are added to the packaged ranker's score of an item. *Memory*: how alike the request is
to the most alike earlier one that was about the item. *Kinds*: the log ratio of how often this
person meant items of a kind to how often the ranker expected it, both smoothed, so that little use
says little. `STRENGTH` was chosen on training people (docs/own-use.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.learned_features import KINDS, kinds_of
from ctrag.errors import CtragError, InputError
from ctrag.models.arrays import reading_arrays
from ctrag.models.encoder import Matrix
from stores.files import make_private_folder, replacing
from stores.people.learned import personal_file
from stores.people.usage import Use

FEWEST = 10
"""Requests about items that are needed."""
NEWEST = 300
"""The newest of them that are learned from."""
_ALIKE = 0.3
"""Cosine of two requests from which they count as alike."""
_MEMORY = 2.0
_KINDS = 1.0
_SMOOTHING = 3.0
"""Uses of a kind, observed and expected alike, that are added to both."""
_TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class PersonalRanker:
    """Corrects the packaged ranker's scores for one person."""

    encoder: str
    """Of the vectors."""
    vectors: Matrix
    """(uses, dimension): unit vectors of earlier requests."""
    items: tuple[tuple[str, ...], ...]
    """What each of them was about."""
    kinds: Floats
    """(len(KINDS),): what is added for an item of the kind."""

    @classmethod
    def fit(cls, uses: Sequence[Use], vectors: Matrix, encoder: str) -> "PersonalRanker":
        """Learn from a record of use.

        Args:
            uses: Requests that stand, oldest first.
            vectors: (uses, dimension): their unit vectors.
            encoder: Name of the encoder of these.

        Raises:
            ValueError: There are fewer than `FEWEST` requests.
        """
        if len(uses) < FEWEST:
            raise InputError(
                f"uses: {len(uses)} requests about the person's items are recorded, and at least "
                f"{FEWEST} are needed"
            )
        meant, expected = np.zeros(len(KINDS)), np.zeros(len(KINDS))
        for use in uses:
            kinds = np.array([one.kind for one in use.ranked], dtype=np.int64)
            scores = np.array([one.score for one in use.ranked]) / _TEMPERATURE
            chances = np.exp(scores - scores.max())
            right = np.isin([one.id for one in use.ranked], use.items)
            if right.any():
                np.add.at(meant, kinds, right / right.sum())
                np.add.at(expected, kinds, chances / chances.sum())
        ratio = np.log((meant + _SMOOTHING) / (expected + _SMOOTHING))
        return cls(
            encoder,
            np.asarray(vectors, dtype=np.float32),
            tuple(use.items for use in uses),
            np.asarray(_KINDS * ratio, dtype=np.float32),
        )

    def corrected(self, context: FeatureContext, scores: Floats) -> Floats:
        """Scores of the candidates with what was learned.

        Args:
            context: The request and its candidates.
            scores: Those of the packaged ranker.
        """
        likeness = np.maximum(self.vectors @ context.vector - _ALIKE, 0)
        best: dict[str, float] = {}
        for items, alike in zip(self.items, likeness, strict=True):
            for item in items:
                best[item] = max(best.get(item, 0.0), float(alike))
        remembered = np.array([best.get(context.view.ids[row], 0.0) for row in context.rows])
        added = _MEMORY * remembered + self.kinds[kinds_of(context)]
        return np.asarray(scores + added, dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write it, for its owner alone."""
        make_private_folder(path.parent)
        ids = sorted({item for items in self.items for item in items})
        place = {item: number for number, item in enumerate(ids)}
        with replacing(path, private=True) as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                encoder=np.array(self.encoder),
                vectors=self.vectors.astype(np.float16),
                ids=np.array(ids, dtype=np.str_),
                items=np.array([place[item] for items in self.items for item in items], np.int64),
                counts=np.array([len(items) for items in self.items], np.int64),
                kinds=self.kinds,
            )

    @classmethod
    def load(cls, path: Path) -> "PersonalRanker":
        """What `save` wrote.

        Raises:
            FileNotFoundError: There is no file.
            ValueError: It is damaged, or of another version.
        """
        with reading_arrays(path) as arrays:
            ids, items = arrays["ids"], arrays["items"]
            bounds = np.cumsum(arrays["counts"])
            kinds = arrays["kinds"].astype(np.float32)
            vectors = arrays["vectors"].astype(np.float32)
            encoder = str(arrays["encoder"])
            names = [str(ids[one]) for one in items]
        if len(kinds) != len(KINDS) or len(bounds) != len(vectors):
            raise InputError(f"{path}: made by another version; train it again")
        starts = [0, *bounds[:-1]]
        groups = tuple(tuple(names[a:b]) for a, b in zip(starts, bounds, strict=True))
        return cls(encoder, vectors, groups, kinds)


class LearnedOfUse:
    """The personal ranker of one person as it is now: it may be trained or taken away meanwhile."""

    def __init__(self, root: Path, person_id: str, encoder: str) -> None:
        self._path = personal_file(root, person_id)
        self._encoder = encoder
        self._read: tuple[int, PersonalRanker | None] | None = None

    def of_now(self) -> PersonalRanker | None:
        """None where there is none, or none of this encoder's; a damaged one counts as none, and
        `ctrag doctor` names it."""
        try:
            changed = self._path.stat().st_mtime_ns
        except OSError:
            return None
        if self._read is None or self._read[0] != changed:
            self._read = (changed, self._load())
        return self._read[1]

    def _load(self) -> PersonalRanker | None:
        try:
            found = PersonalRanker.load(self._path)
        except (CtragError, OSError, LookupError):
            return None
        return found if found.encoder == self._encoder else None
