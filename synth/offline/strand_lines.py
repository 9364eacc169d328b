"""Strands as they are written: reading `data/strands`, and which lines of one are told.

A file holds strands by hobby; `home.yaml` those of any life: `with` somebody who is there already,
or with somebody `new`. Strands are parted by an empty line, and each line begins with what it is:

- `list A / B`, alone at the top: what lists and folders of that hobby are called.
- `who RELATION / RELATION`: somebody new; `with PATTERN`: a contact with a relation like that.
  A line that begins with `2: ` or `13: ` is only for the second, or the first and third.
- `pick NAME A / B`: a word for `{NAME}`, the same in all lines.
  `[this|that]` is a choice; choices of one line with equally many options go together.
- `event TITLE @ PLACE; MINUTES; HOURS`, `search QUERY => PAGE`, `rem TITLE`,
  `note TITLE => LINE / LINE`, `mail [SENDER] | SUBJECT | BODY`, `call DIRECTION | VOICEMAIL`.

Of several lines of a kind one is told. `{t}` is when the event takes place. What a mail or a
voicemail speaks of is still to come, within a week, so that its weekday can mean one day only.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from synth.offline.searching import bank
from synth.offline.trades import read_data
from synth.offline.wording import agreeing

_FILES = ("making", "moving", "minding", "home", "further", "quiet")
_FOR = re.compile(r"(\d+): ")
_BOUND = re.compile(r"\{(?!n\d|p\d|city|country|month|year)")
_OTHER = 0.45
"""How often the only line of a kind gives way to another of the same hobby."""
_TWO = 0.25
"""How often two things are looked up for one matter."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines that belong together."""

    name: str
    """The hobby, `with` or `new`, and the strand's place among them."""
    lines: tuple[tuple[str, str], ...]
    """What each is, and its template."""

    def of(self, verb: str) -> list[str]:
        """The templates of one kind."""
        return [text for one, text in self.lines if one == verb]

    def drawn(self, draw: random.Random) -> "Strand":
        """One of those it may be about, one line of each kind, now and then two searches."""
        found: list[tuple[str, str]] = []
        people = [one for text in self.of("who") for one in text.split(" / ")]
        chosen = draw.randrange(len(people)) if people else 0
        for verb in dict.fromkeys(verb for verb, _ in self.lines):
            some = [text for one in self.of(verb) if (text := _of_person(one, chosen))]
            if verb == "who":
                some = people[chosen : chosen + 1]
            several = verb == "search" and len(some) > 1 and draw.random() < _TWO
            count = len(some) if verb == "pick" else 2 if several else min(1, len(some))
            taken = draw.sample(some, count)
            if len(some) == 1 and (others := self._others(verb)) and draw.random() < _OTHER:
                taken = [draw.choice(others)]
            found += [(verb, agreeing(text, draw)) for text in taken]
        return Strand(self.name, tuple(found))

    def _others(self, verb: str) -> tuple[str, ...]:
        """What may stand for the only line of a kind: others of the hobby that name nothing."""
        hobby = self.name.split("/")[0]
        return _unbound(hobby, verb) if verb in ("search", "rem", "note") else ()


@cache
def _unbound(hobby: str, verb: str) -> tuple[str, ...]:
    """A hobby's lines of a kind that name neither people nor days."""
    lines = [text for one in strands()[hobby] for text in one.of(verb)]
    if verb == "search":
        lines += bank()["hobby"].get(hobby, ())
    plain = [text for text in lines if not _BOUND.search(text) and not _FOR.match(text)]
    return tuple(plain) if hobby in bank()["hobby"] else ()


@cache
def strands() -> dict[str, tuple[Strand, ...]]:
    """Hobby, `with` or `new` → its strands."""
    return {name: tuple(some) for name, (_, some) in _read().items()}


@cache
def _read() -> dict[str, tuple[tuple[str, ...], list[Strand]]]:
    found: dict[str, tuple[tuple[str, ...], list[Strand]]] = {}
    every = ((file, *one) for file in _FILES
             for one in read_data("strands", f"{file}.yaml").items())  # fmt: skip
    for file, name, text in every:
        lists: tuple[str, ...] = ()
        some = []
        for number, part in enumerate(text.strip().split("\n\n")):
            lines = tuple(_verb_and_text(line) for line in part.splitlines())
            if lines[0][0] == "list":
                lists = tuple(lines[0][1].split(" / "))
            else:
                some.append(Strand(f"{name}/{file}/{number}", lines))
        before, others = found.get(name, ((), []))
        found[name] = lists or before, others + some
    return found


def _of_person(text: str, chosen: int) -> str:
    """A template without the places of the people it is for; nothing where it is for others."""
    found = _FOR.match(text)
    if found is None:
        return text
    return text[found.end() :] if str(chosen + 1) in found[1] else ""


def _verb_and_text(line: str) -> tuple[str, str]:
    verb, _, text = line.strip().partition(" ")
    return verb, text


def lists_of(strand: Strand) -> tuple[str, ...]:
    """What lists and folders of a strand's hobby are called; nothing for those of any life."""
    return _read()[strand.name.split("/")[0]][0]


def ordered(hobbies: Sequence[str], draw: random.Random) -> Iterator[Strand]:
    """Strands in the order in which a life takes them: one of each hobby, some of home, others."""
    mine = {name: _richest_first(some, draw) for name in hobbies
            if (some := strands().get(name, ()))}  # fmt: skip
    near, new = (_richest_first(strands()[one], draw) for one in ("with", "new"))
    for own in mine.values():
        yield own.pop(0)
    yield from near[:3]
    yield from new[:1]
    names = [name for name in mine for _ in range(len(mine[name]))]
    for name in draw.sample(names, len(names)):
        yield mine[name].pop(0)
        if draw.random() < 0.5 and new[1:]:
            yield new.pop()
    yield from near[3:]


def _richest_first(some: Sequence[Strand], draw: random.Random) -> list[Strand]:
    """Strands in random order, those with more lines to choose from mostly earlier."""
    return sorted(some, key=lambda one: -(draw.random() ** (1 / len(one.lines))))
