"""What a ranker learns from one person's own record of use: a correction of its scores.

Three features of an item, given what was recorded before (`UseHistory`): *memory*, how alike the
request is to the most alike earlier one that was about the item; *item* and *kind*, the log ratio
of how often the person meant the item, or items of its kind, to how often the packaged ranker
expected it, smoothed so that little use says little. Their weights are fitted for each person on
the person's own record, in order: how well would each request have been ranked by what was recorded
before it? They are penalized and not negative, so that they are zero where use tells nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.feature_context import Doubles, FeatureContext
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.learned_features import KINDS, kinds_of
from ctrag.assistant.context.use_history import (
    FEATURES,
    UseHistory,
    meant_of,
    probabilities,
    scores_of,
)
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
PENALTY = 1.0
"""What a weight of 1 must gain in log likelihood, over the whole record."""
MOST = 8.0
"""The largest weight."""


@dataclass(frozen=True, slots=True)
class PersonalRanker:
    """Corrects the packaged ranker's scores for one person."""

    encoder: str
    """Of the history's vectors."""
    history: UseHistory
    weights: Doubles
    """(len(FEATURES),)."""

    @classmethod
    def fit(
        cls, uses: Sequence[Use], vectors: Matrix, encoder: str, penalty: float = PENALTY
    ) -> "PersonalRanker":
        """Learn from a record of use.

        Args:
            uses: Requests that stand, oldest first; of equal ones about the same items, the first
                is learned from.
            vectors: (uses, dimension): their unit vectors.
            encoder: Name of the encoder of these.
            penalty: Of a weight of 1.

        Raises:
            ValueError: There are fewer than `FEWEST` requests.
        """
        if len(uses) < FEWEST:
            raise InputError(
                f"uses: {len(uses)} requests about the person's items are recorded, and at least "
                f"{FEWEST} are needed"
            )
        history = UseHistory()
        decisions = []
        asked: set[tuple[str, tuple[str, ...]]] = set()
        for use, vector in zip(uses, vectors, strict=True):
            if (use.text.casefold(), use.items) in asked:
                continue  # that the same words mean the same would outweigh everything
            asked.add((use.text.casefold(), use.items))
            right = meant_of(use)
            if right.any():
                ids = [one.id for one in use.ranked]
                kinds = np.array([one.kind for one in use.ranked], dtype=np.int64)
                decisions.append((history.features(vector, ids, kinds), scores_of(use), right))
            history.add(use, np.asarray(vector, dtype=np.float32))
        return cls(encoder, history, _fitted(decisions, penalty))

    def corrected(self, context: FeatureContext, scores: Floats) -> Floats:
        """Scores of the candidates with what was learned.

        Args:
            context: The request and its candidates.
            scores: Those of the packaged ranker.
        """
        if not self.weights.any():
            return scores
        ids = [str(context.view.ids[row]) for row in context.rows]
        features = self.history.features(context.vector, ids, kinds_of(context))
        return np.asarray(scores + self.weights @ features, dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write it, for its owner alone."""
        history = self.history
        make_private_folder(path.parent)
        ids = sorted(set(history.meant) | set(history.expected))
        place = {item: number for number, item in enumerate(ids)}
        with replacing(path, private=True) as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                encoder=np.array(self.encoder),
                weights=self.weights,
                vectors=np.stack(history.vectors).astype(np.float16),
                ids=np.array(ids, dtype=np.str_),
                items=np.array([place[item] for row in history.items for item in row], np.int64),
                counts=np.array([len(row) for row in history.items], np.int64),
                meant=np.array([history.meant.get(item, 0.0) for item in ids]),
                expected=np.array([history.expected.get(item, 0.0) for item in ids]),
                kinds_meant=history.kinds_meant,
                kinds_expected=history.kinds_expected,
            )

    @classmethod
    def load(cls, path: Path) -> "PersonalRanker":
        """What `save` wrote.

        Raises:
            FileNotFoundError: There is no file.
            ValueError: It is damaged, or of another version.
        """
        with reading_arrays(path) as arrays:
            ids = [str(one) for one in arrays["ids"]]
            named = [ids[place] for place in arrays["items"]]
            stops = np.cumsum(arrays["counts"])
            starts = [0, *stops[:-1]]
            history = UseHistory(
                list(arrays["vectors"].astype(np.float32)),
                [tuple(named[start:stop]) for start, stop in zip(starts, stops, strict=True)],
                dict(zip(ids, map(float, arrays["meant"]), strict=True)),
                dict(zip(ids, map(float, arrays["expected"]), strict=True)),
                arrays["kinds_meant"],
                arrays["kinds_expected"],
            )
            found = cls(str(arrays["encoder"]), history, arrays["weights"])
        if found.weights.shape != (len(FEATURES),) or len(history.kinds_meant) != len(KINDS):
            raise InputError(f"{path}: made by another version; train it again")
        return found


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
        except (CtragError, OSError):
            return None
        return found if found.encoder == self._encoder else None


def _fitted(
    decisions: Sequence[tuple[Doubles, Floats, NDArray[np.bool_]]], penalty: float
) -> Doubles:
    """Weights under which the right items are likeliest among the ranked ones.

    Args:
        decisions: Of each request (features, items), the packaged ranker's scores, and which items
            are right.
        penalty: Of a weight of 1.
    """
    from scipy.optimize import minimize

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        total, slope = penalty * weights.sum(), np.full(len(weights), penalty)
        for features, scores, right in decisions:
            chances = probabilities(scores + weights @ features)
            of_right = chances[right].sum() + 1e-12
            total -= np.log(of_right)
            slope -= features @ (np.where(right, chances / of_right, 0.0) - chances)
        return float(total), slope

    bounds = [(0.0, MOST)] * len(FEATURES)
    found = minimize(loss, np.zeros(len(FEATURES)), jac=True, bounds=bounds, method="L-BFGS-B")
    return np.asarray(found.x, dtype=np.float64)
