"""The lines of a note, or what it has between commas: one is taken out, replaced or updated."""

import re

from ctrag.text.dates.number_words import number
from ctrag.text.words import stems, terms, words

_BULLET = re.compile(r"\s*(?:[-*•–]\s+)?(?:\[[ xX]?\]\s*)?")
_KEY = re.compile(r"\W*(?P<key>[^:\n]{1,40}):\s*")
_PLACES = {"first": 0, "top": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "bottom": -1}
_BY_PLACE = re.compile(
    rf"(?:the\s+)?(?P<place>{'|'.join(_PLACES)})\s+(?:item|line|one|thing|entry|point|row)",
    re.IGNORECASE,
)


class NoteLines:
    """A note as the things that it lists.

    Every change says whether it could be made: where no one line is meant, nothing changes.
    """

    def __init__(self, note: str) -> None:
        """The lines of a note, or what stands between its commas."""
        self._between = "\n" if "\n" in note.strip() else ", "
        self.lines = note.strip().split(self._between)

    @property
    def text(self) -> str:
        """The note as it is now."""
        return self._between.join(self.lines)

    def place_of(self, what: str) -> int | None:
        """Of the one line that has all of what is named, or that "the last item" counts."""
        if counted := _BY_PLACE.fullmatch(what.strip()):
            place = _PLACES[counted["place"].casefold()]
            return place % len(self.lines) if place < len(self.lines) else None
        wanted = set(terms(what))
        return _only([wanted <= set(terms(line)) for line in self.lines]) if wanted else None

    def places_in(self, clause: str) -> list[int]:
        """Of the lines that a clause has all words of, else of the one of which it has a word."""
        said = set(terms(clause))
        lines = [set(terms(line)) for line in self.lines]
        whole = [at for at, line in enumerate(lines) if line and line <= said]
        shared = [at for at, line in enumerate(lines) if line & said]
        return whole or (shared if len(shared) == 1 else [])

    def remove(self, places: set[int]) -> bool:
        """Take lines out; not all of them."""
        if not places or len(places) >= len(self.lines):
            return False
        self.lines = [line for at, line in enumerate(self.lines) if at not in places]
        return True

    def tick(self, places: set[int]) -> bool:
        """Tick the boxes of lines that all have one."""
        if not places or not all("[ ]" in self.lines[at] for at in places):
            return False
        for at in places:
            self.lines[at] = self.lines[at].replace("[ ]", "[x]", 1)
        return True

    def add(self, what: str, place: int | None = None) -> None:
        """Add a line, at the end or at a place, with the bullet of the others."""
        bullet = _BULLET.match(self.lines[-1])
        begin = "" if bullet is None else bullet[0].replace("x", " ").replace("X", " ")
        self.lines.insert(len(self.lines) if place is None else place, f"{begin}{what.strip()}")

    def swap(self, before: str, after: str) -> bool:
        """Put one run of words in place of another that stands there once."""
        run = r"\W+".join(map(re.escape, before.split()))
        found = list(re.finditer(rf"(?<!\w){run}(?!\w)", self.text, re.IGNORECASE)) if run else []
        if len(found) != 1:
            return False
        old = self.text
        text = old[: found[0].start()] + after.strip() + old[found[0].end() :]
        self.lines = text.split(self._between)
        return True

    def swap_in_line(self, before: str, after: str) -> bool:
        """Put "4 lemons" in place of the "2" of "2 lemons": what the line has of it goes."""
        kept = [word for word in after.split() if not _digits(word).isdigit()]
        place = self.place_of(" ".join([*kept, before])) if kept else None
        if place is None:
            return False
        line = self.lines[place]
        bullet = _BULLET.match(line)
        self.lines[place] = f"{'' if bullet is None else bullet[0]}{after.strip()}"
        return True

    def swap_under(self, name: str, before: str, after: str) -> bool:
        """Put one value in place of another in the line of a name: the rent from 950 to 990."""
        wanted = {*terms(name), *terms(before)}
        place = _only([wanted <= set(terms(line)) for line in self.lines])
        if place is None:
            return False
        one = NoteLines(self.lines[place])
        done = one.swap(before, after)
        self.lines[place] = one.text
        return done

    def update_key(self, name: str, value: str) -> bool:
        """Put another value behind the colon of the one line whose name is said."""
        named = _keys(name)
        keys = [_KEY.match(line) for line in self.lines]
        fits = [one is not None and bool(one) and _keys_of(one["key"], named) for one in keys]
        place = _only(fits)
        key = None if place is None else keys[place]
        if place is None or key is None:
            return False
        self.lines[place] = f"{self.lines[place][: key.end()].rstrip()} {value.strip()}"
        return True

    def update(self, name: str, value: str) -> bool:
        """Put another value in the one line that begins with a word of the name."""
        named = _keys(name)
        begins = [re.match(r"\W*(\w+(?:['’]\w+)?)(:?)", line) for line in self.lines]
        place = _only([one is not None and bool(named & _keys(one[1])) for one in begins])
        begin = None if place is None else begins[place]
        if place is None or begin is None:
            return False
        self.lines[place] = f"{begin[0]} {value.strip()}"
        return True


def _keys_of(key: str, named: set[str]) -> bool:
    own = [{_digits(word), _digits(stems([word])[0])} for word in words(key)]
    return bool(own) and all(one & named for one in own)


def _keys(text: str) -> set[str]:
    return {_digits(one) for one in [*words(text), *stems(words(text))]}


def _digits(word: str) -> str:
    try:
        return str(number(word)) if word != "a" else word
    except (KeyError, ValueError):
        return word


def _only(fits: list[bool]) -> int | None:
    """The place of the one that fits; None where none or several do."""
    return fits.index(True) if fits.count(True) == 1 else None
