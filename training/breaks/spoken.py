"""Requests for several calls as people said them, with where one ends: told by the words of each
of them said whole.
"""

from collections.abc import Sequence, Set
from pathlib import Path

from ctrag.assistant.conversation.split import Break, as_told, breaks_in
from ctrag.text.words import words
from stores.people.dataset import load_dataset
from stores.people.dialogues import load_several
from training.breaks.joined import SEVERAL, Breath

_ONE_OF_SOME, _IN_ALL = 1.0, 0.1
"""What a word counts that is in this request alone, and one that other requests have too."""


def several_breaths(folders: Sequence[Path]) -> list[Breath]:
    """What data sets have for several calls, each said whole, too; those where a request begins
    at no break are left out.

    Args:
        folders: Data sets with `several.jsonl`.
    """
    found = []
    for folder in folders:
        personas = {one.person.person_id: one for one in load_dataset(folder).personas}
        for asked in load_several(folder, personas):
            text = as_told(asked.request.text)
            marks = marks_of(text, asked.alone)
            if marks:
                found.append(Breath(text, asked.person_id, SEVERAL, marks))
    return found


def marks_of(text: str, alone: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Start and end of the breaks between requests; () where they cannot be told.

    Of all ways to cut the text into so many parts, the one in which each part has most words of
    its request and fewest of the others'.

    Args:
        text: What was said, as `as_told` gives it.
        alone: Its requests in order, each said whole.
    """
    places: list[Break] = []

    def seen(place: Break) -> bool:
        places.append(place)
        return False

    list(breaks_in(text, seen))
    own = [frozenset(words(one)) for one in alone]
    # Where the next part begins → sum of the parts before it, and the breaks between them.
    cut: dict[int, tuple[float, tuple[tuple[int, int], ...]]] = {0: (0.0, ())}
    for part in range(len(alone) - 1):
        further: dict[int, tuple[float, tuple[tuple[int, int], ...]]] = {}
        for begin, (score, marks) in cut.items():
            for place in places:
                if place.start <= begin:
                    continue
                alike = _alike(text[begin : place.start], part, own)
                if alike > 0 and score + alike > further.get(place.end, (0.0,))[0]:
                    further[place.end] = score + alike, (*marks, (place.start, place.end))
        cut = further
    ends = [
        (score + alike, marks)
        for begin, (score, marks) in cut.items()
        if (alike := _alike(text[begin:], len(alone) - 1, own)) > 0
    ]
    return max(ends, default=(0.0, ()))[1]


def _alike(text: str, part: int, own: Sequence[Set[str]]) -> float:
    """How much more of one request's words a text has than of the others'."""
    found = 0.0
    for word in words(text):
        others = any(word in one for at, one in enumerate(own) if at != part)
        if word in own[part]:
            found += _IN_ALL if others else _ONE_OF_SOME
        elif others:
            found -= _ONE_OF_SOME
    return found
