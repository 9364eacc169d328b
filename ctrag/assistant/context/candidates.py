"""Which of a person's items are worth ranking.

All items of a person with few; otherwise each store yields its best by each criterion: dense and
lexical similarity, habit at this hour, and time before and after the request. What does not depend
on the request (which item is in which store, the order in time) is kept in the view. For a
repeating event stand its nearest occurrences.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_arrays import Ints, PersonView, hours
from ctrag.assistant.context.occurrences import standing as standing_rows
from ctrag.models.encoder import Matrix
from ctrag.models.request_adapter import TunedRequest
from ctrag.text.words import terms
from stores.people.items import Request

EXHAUSTIVE = 400
"""Up to this many items, all are candidates."""
PER_STORE = 30
"""Candidates by dense similarity, by BM25 and of those ahead in time, from each store."""
HABITS = 20
"""Candidates by habit from each store."""
SHORTLIST = 200
"""Items of each store that get an exact product where a projection comes first."""
RECENT = 100
"""Candidates from each store's most recent past, where most of what people ask for lies."""


def candidates(
    view: PersonView, request: Request, vector: Matrix, tuned: TunedRequest | None = None
) -> Ints:
    """Rows worth ranking, in ascending order: all of a small person, else each store's best.

    An item is never chosen by a criterion that does not apply to it: it shares no word with the
    request, was not opened, has no time. The song that is playing is always included.

    Args:
        view: The person's items.
        request: What was said, when.
        vector: The request's vector.
        tuned: Its tuned reading, used for dense similarity where there is one.
    """
    standing = standing_rows(view, request)
    if len(standing) <= EXHAUSTIVE:
        return standing
    words = view.bm25.scores(terms(request.text))
    habit = view.log_opens * (0.2 + view.usual_hours[:, request.asked_at.hour])
    chosen = [
        *_nearest(view, vector if tuned is None else tuned.aim),
        *_best(words, [rows[words[rows] > 0] for rows in view.members], PER_STORE),
        *_best(habit, view.used_members, HABITS),
        *_around(hours(request.asked_at), view),
    ]
    if request.playing in view.row:
        chosen.append(np.array([view.row[str(request.playing)]]))
    found = np.unique(np.concatenate(chosen))
    return found if len(standing) == len(view) else np.intersect1d(found, standing)


def _best(scores: NDArray[np.floating], groups: Sequence[Ints], count: int) -> Iterator[Ints]:
    """The `count` rows of each group that score highest, in no order."""
    for rows in groups:
        if len(rows) > count:
            rows = rows[np.argpartition(scores[rows], -count)[-count:]]
        yield rows


def _nearest(view: PersonView, aim: Matrix) -> Iterator[Ints]:
    """The `PER_STORE` rows of each store whose vectors have the highest products with `aim`."""
    if view.projected is None:
        yield from _best(view.vectors @ aim, view.members, PER_STORE)
        return
    for rows in _best(view.projected.products(aim), view.members, SHORTLIST):
        (best,) = _best(view.vectors[rows] @ aim, [np.arange(len(rows))], PER_STORE)
        yield rows[best]


def _around(now: float, view: PersonView) -> Iterator[Ints]:
    """Of each store, the rows nearest in time before and after now; those at `now` are in both."""
    for rows, starts in view.timelines:
        yield rows[np.searchsorted(starts, now, "left") :][:PER_STORE]
        yield rows[: np.searchsorted(starts, now, "right")][-RECENT:]
