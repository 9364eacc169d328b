"""Fitting `Breaks` on requests of training people."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.conversation.breaks import Breaks, BreaksCard, break_features
from ctrag.assistant.conversation.split import Break, breaks_in
from training.breaks.joined import SEVERAL, Breath
from training.core.folds import folds_by_person

STRENGTH = 0.3
"""Inverse of the ridge penalty."""
FLOOR = 1.0
"""Log odds from which a break counts: requests are far more often single than several."""
RULED_FLOOR = -3.0
"""Where the rules say so, too: they are seldom wrong."""
_RARE = 6
"""A feature of fewer breaks is left out."""
_LIGHT = 0.05
"""Weights below this are left out."""
_OFTEN = 10
"""How often what somebody said for several calls is counted: there is little of it."""
FOLDS = 5


@dataclass(frozen=True, slots=True)
class _Seen:
    features: set[str]
    right: bool


def train_breaks(
    said: Sequence[Breath],
    source: dict[str, Any],
    seed: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> Breaks:
    """A logistic regression; its figures are the shares of texts all of whose breaks are found and
    no other, each by the regression that never saw the text's person.

    Args:
        said: Texts with their breaks.
        source: `training.core.origin.origin` of the data sets.
        seed: Decides the folds.
        progress: Called with a message.
    """
    seen = [_seen(one) for one in said]
    often = [_OFTEN if one.kind == SEVERAL else 1 for one in said]
    folds = folds_by_person([one.person_id for one in said], FOLDS, seed)
    right: dict[str, list[bool]] = defaultdict(list)
    for fold in range(FOLDS):
        progress(f"fold {fold + 1} of {FOLDS}")
        model = _fitted(seen, np.where(folds == fold, 0, often))
        card = _card(source, model[1], {})
        breaks = Breaks(model[0], card)
        for one, place in zip(said, folds, strict=True):
            if place == fold:
                right[one.kind].append(_exact(one, partial(_lies_between, breaks)))
    figures = {kind: round(100 * float(np.mean(one)), 2) for kind, one in right.items()}
    rules = {
        kind: round(
            100 * float(np.mean([_exact(one, _ruled) for one in said if one.kind == kind])), 2
        )
        for kind in right
    }
    weights, bias = _fitted(seen, np.array(often))
    return Breaks(weights, _card(source, bias, {"cross-validated": figures, "rules alone": rules}))


def _card(source: dict[str, Any], bias: float, figures: dict[str, dict[str, float]]) -> BreaksCard:
    settings = {"strength": STRENGTH, "rare": _RARE, "light": _LIGHT}
    return BreaksCard(
        **source,
        settings=settings,
        figures=figures,
        bias=bias,
        floor=FLOOR,
        ruled_floor=RULED_FLOOR,
    )


def _seen(one: Breath) -> list[_Seen]:
    """All breaks of a text; each is seen from the last right one on."""
    found: list[_Seen] = []

    def right(place: Break) -> bool:
        true = any(place.start < end and start < place.end for start, end in one.marks)
        features = break_features(place.left, place.right, place.mark, place.ruled)
        found.append(_Seen(features, true))
        return true

    list(breaks_in(one.text, right))
    return found


def _exact(one: Breath, between: Callable[[Break], bool]) -> bool:
    """Whether the breaks that are found are the right ones."""
    found = list(breaks_in(one.text, between))
    return len(found) == len(one.marks) and all(
        place.start < end and start < place.end
        for place, (start, end) in zip(found, one.marks, strict=True)
    )


def _lies_between(breaks: Breaks, place: Break) -> bool:
    return breaks.between(place.left, place.right, place.mark, place.ruled)


def _ruled(place: Break) -> bool:
    return place.ruled


def _fitted(
    seen: Sequence[list[_Seen]], often: NDArray[np.int64]
) -> tuple[dict[str, float], float]:
    """Weights and bias; each text is counted so often."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    kept = [(one, times) for text, times in zip(seen, often, strict=True) if times for one in text]
    rows = [one for one, _ in kept]
    counted = Counter(name for one in rows for name in one.features)
    columns = {name: place for place, name in enumerate(sorted(counted)) if counted[name] >= _RARE}
    columns = {name: place for place, name in enumerate(columns)}
    indices, starts = [], [0]
    for one in rows:
        indices += [columns[name] for name in sorted(one.features) if name in columns]
        starts.append(len(indices))
    table = csr_matrix((np.ones(len(indices)), indices, starts), (len(rows), len(columns)))
    wanted: NDArray[np.bool_] = np.array([one.right for one in rows])
    model = LogisticRegression(C=STRENGTH, max_iter=500)
    model.fit(table, wanted, sample_weight=[times for _, times in kept])
    weights = {
        name: round(float(model.coef_[0][place]), 3)
        for name, place in columns.items()
        if abs(model.coef_[0][place]) >= _LIGHT
    }
    return weights, round(float(model.intercept_[0]), 3)
