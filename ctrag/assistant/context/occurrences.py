"""Occurrences of repeating events: which of a series may stand for it.

A weekly event is a hundred items that differ in nothing but their time. Only those near in time,
and those on days that the request names, are looked at: they must not take the places of all else.
"""

from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_arrays import Ints, PersonView, hours
from ctrag.text.dates.temporal_expressions import find_expressions
from stores.people.items import Request

_BEFORE, _AFTER = timedelta(days=2), timedelta(days=9)
"""Around the day of a request: occurrences that a view always has, so that requests of one day
share it unless they name a day further off."""
_CLOCK = ("minute", "hour")
Mask = NDArray[np.bool_]


def near(view: PersonView, request: Request) -> PersonView:
    """The view with those occurrences of each series that lie around the request, and the first in
    each span of time that it names; the view itself where nothing repeats."""
    if not view.series:
        return view
    keep = _apart(view)
    today = datetime.combine(request.asked_at.date(), datetime.min.time())
    first, last = hours(today - _BEFORE), hours(today + _AFTER)
    for rows in view.series:
        starts = view.starts[rows]
        keep[rows[(starts >= first) & (starts < last)]] = True
    keep |= _chosen(view, request, today, today + timedelta(days=1))
    return view.only(np.flatnonzero(keep))


def standing(view: PersonView, request: Request) -> Ints:
    """Rows of items that may be candidates: of each series the last and the next occurrence, and
    the first in each span of time that the request names; all others."""
    if not view.series:
        return np.arange(len(view))
    return np.flatnonzero(_apart(view) | _chosen(view, request, request.asked_at))


def _apart(view: PersonView) -> Mask:
    keep = np.ones(len(view), dtype=bool)
    for rows in view.series:
        keep[rows] = False
    return keep


def _chosen(view: PersonView, request: Request, *moments: datetime) -> Mask:
    """Of each series the last and the next occurrence at the moments, and the named ones."""
    keep = np.zeros(len(view), dtype=bool)
    named = find_expressions(request.text, request.asked_at)
    spans = [_span(one.start, one.end, one.grain) for one in named]
    for rows in view.series:
        starts = view.starts[rows]
        for moment in moments:
            ahead = int(np.searchsorted(view.ends[rows], hours(moment), "right"))
            keep[rows[max(0, ahead - 1) : ahead + 1]] = True
        for begins, ends in spans:
            place = int(np.searchsorted(starts, begins))
            if place < len(rows) and starts[place] < ends:
                keep[rows[place]] = True
    return keep


def _span(start: datetime, end: datetime, grain: str) -> tuple[float, float]:
    """First and last hour; a clock time stands for its day."""
    if grain in _CLOCK:
        start = datetime.combine(start.date(), datetime.min.time())
        end = start + timedelta(days=1)
    return hours(start), hours(end)
