"""Which breaks of a text lie between two requests: a logistic regression over the words beside a
break, learned from requests of training people that were put into one breath.
"""

import bz2
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import FiniteFloat, TypeAdapter

from ctrag.assistant.conversation.orders import (
    CLAUSE,
    OPENERS,
    OWN,
    REQUEST,
    SURE,
    WRITES,
    last_order,
    requests_in,
)
from ctrag.errors import reading
from ctrag.models.cards import Card
from ctrag.settings import settings
from stores.compressed import SUFFIX, read_kept
from stores.files import write_bytes, write_text

WEIGHTS, CARD = "breaks.json.bz2", "breaks-card.json"
_WEIGHTS = TypeAdapter(dict[str, FiniteFloat])
CLOCK = (
    r"(?:(?:half|quarter|ten|twenty|five) (?:past|to) )?(?:\d[\d:.]*|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|noon|midday|midnight)(?: ?(?:am|pm|o'clock|sharp))?"
)
_TIMED = re.compile(
    rf"(?:(?:at|by|till|until|to) {CLOCK}|tomorrow|tonight|today"
    r"|(?:morning|afternoon|evening|night|o'clock|hours?|minutes?|days?|week|day))\W*$",
    re.I,
)
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?|[:?!]")
_OPENING = re.compile(OPENERS, re.I)
_BESIDE = frozenset("me my it that him her them i you he she there on to in about off done".split())
"""Words after a break that tell something wherever they are."""


_FORM = re.compile(
    r"^\W*(?:\S+\s+){1,5}?(?P<form>to|if|whether|when|what|where|why|how|that|i|i'm|i'll|i've"
    r"|i'd|we"
    r"|we're|we'll|we've|it|it's|there|there's|the|my|he|she|they|yes|no|thanks|sorry)\b",
    re.I,
)
"""How a message goes on after the one to whom it is said: "to lock up", "that I'm late"."""
_CONTAINED = re.compile(
    r"\b(?:to|on|in|into|onto|from)\s+(?:my|the|our)\s+(?:[\w'’-]+\s+){0,3}"
    r"(?:list|note|notes|calendar|diary|folder|playlist)\W*$",
    re.I,
)

_OWNED = re.compile(
    r"\b(?:calendar|diary|reminders?|meeting|appointment|notes?|playlist|unread|voicemail"
    r"|(?:off|back|forward|over) (?:till|until|to|by))\b",
    re.I,
)


class BreaksCard(Card):
    """Where it comes from."""

    bias: float
    floor: float
    """Log odds above which a break lies between two requests."""
    ruled_floor: float
    """As `floor`, where the rules say so too."""


@dataclass(frozen=True, slots=True)
class Breaks:
    """The regression."""

    weights: Mapping[str, float]
    """Feature → weight."""
    card: BreaksCard

    @classmethod
    @cache
    def packaged(cls) -> "Breaks":
        """The one that ctrag ships."""
        return cls.load(Path(str(files("ctrag.assistant.conversation").joinpath("artefact"))))

    @classmethod
    def in_use(cls) -> "Breaks":
        """The one in the folder that `CTRAG_ARTEFACTS` names, or the packaged one; read once."""
        folder = settings().artefacts
        own = folder is not None and (folder / CARD).exists()
        return _of(folder) if folder is not None and own else cls.packaged()

    @classmethod
    def load(cls, folder: Path) -> "Breaks":
        """That of a folder.

        Raises:
            FileNotFoundError: The folder has none.
            ValueError: A file is damaged.
        """
        with reading(folder / CARD):
            card = BreaksCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        with reading(folder / WEIGHTS):
            return cls(
                _WEIGHTS.validate_json(read_kept(folder / WEIGHTS.removesuffix(SUFFIX))), card
            )

    def save(self, folder: Path) -> None:
        """Write it into a folder, which is made where it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        packed = bz2.compress(json.dumps(self.weights, ensure_ascii=False).encode())
        write_bytes(folder / WEIGHTS, packed)
        write_text(folder / CARD, self.card.written())

    def between(self, left: str, right: str, mark: str, ruled: bool) -> bool:
        """Whether a break lies between two requests; arguments as for `break_features`."""
        floor = self.card.ruled_floor if ruled else self.card.floor
        return self.odds(left, right, mark, ruled) > floor

    def odds(self, left: str, right: str, mark: str, ruled: bool) -> float:
        """Log odds that it does; arguments as for `break_features`."""
        known = (self.weights.get(one, 0.0) for one in break_features(left, right, mark, ruled))
        return self.card.bias + sum(known)


def break_features(left: str, right: str, mark: str, ruled: bool) -> set[str]:
    """What is seen of a break.

    Args:
        left: What was said before it, from the last break between requests on.
        right: Everything after it.
        mark: The break itself: ", and ".
        ruled: Whether `split`'s rules take it for one between requests.
    """
    return set(_features(left, right, mark, ruled))


def ends_in_time(text: str) -> bool:
    """Whether a text ends in a clock time, a day or a duration."""
    return bool(_TIMED.search(text))


def kept_by_assistants(text: str) -> bool:
    """Whether a text names a calendar, a reminder, a note: what only an assistant keeps."""
    return bool(_OWNED.search(text))


def message_form(order: str) -> str:
    """How the text in an order goes on: the first word that tells, `contained` where it ends in
    what it is put into, `bare` where two or three words are all."""
    if _CONTAINED.search(order):
        return "contained"
    if len(order.split()) <= 3:
        return "bare"
    found = _FORM.match(order.replace("’", "'"))
    return found["form"].casefold() if found else "other"


def _features(left: str, right: str, mark: str, ruled: bool) -> Iterator[str]:
    before, after = _words(_opened(left)), _words(_opened(right))
    opening = _words(right)[: len(_words(right)) - len(after)]
    joined = " ".join(_words(mark))
    kind = f"{',' if ',' in mark else ''}{joined}" if joined else mark.strip()[:1]
    order = last_order(left)
    writes = int(bool(WRITES.match(order)))
    timed = int(ends_in_time(left))
    asks = "".join(str(int(bool(one.match(right)))) for one in (REQUEST, SURE, OWN))
    verb = (_words(_opened(order)) or [""])[0]
    yield from (f"rule={ruled:d}", f"rule={ruled:d} k={kind}", f"k={kind}")
    yield from (f"w{writes} r{asks}", f"w{writes} r{asks} k={kind}", f"lr{requests_in(left):d}")
    yield from (f"w{writes} t{timed}", f"w{writes} t{timed} k={kind}")
    if opening:
        yield f"open={' '.join(opening[:3])}"
    yield from (f"l1={' '.join(before[:1])}", f"l2={' '.join(before[:2])}", f"o1={verb}")
    for length in range(1, min(3, len(after)) + 1):
        head = " ".join(after[:length])
        yield from (f"r{length}={head}", f"w{writes} r{length}={head}")
        if length < 3:
            yield f"k={kind} r{length}={head}"
        if length == 1:
            yield from (f"o1={verb} r1={head}", f"w{writes} t{timed} r1={head}")
    yield from (f"e1={' '.join(before[-1:])}", f"e2={' '.join(before[-2:])}")
    yield from (f"ll={min(len(before), 6)}", f"rl={min(len(after), 6)}")
    yield f"w{writes} rl={min(len(after), 6)}"
    yield f"o1={verb} ll={min(len(before), 4)}"
    form = message_form(order)
    for head in (" ".join(after[:1]), " ".join(after[:2])):
        yield from (f"f={form} r={head}", f"r={head} rl={min(len(after), 6)}")
    yield from (f"f={form} k={kind}", f"f={form} r{asks}", f"f={form} r{asks} k={kind}")
    yield f"l1={' '.join(before[:1])} r1={' '.join(after[:1])} rl={min(len(after), 6)}"
    owned = int(kept_by_assistants(right))
    yield from (f"own={owned} w{writes}", f"own={owned} f={form}", f"own={owned} r{asks}")
    clauses = CLAUSE.split(right)[1:]
    yield f"later={any(REQUEST.match(one) for one in clauses):d}"
    yield f"later own={any(OWN.match(one) for one in clauses):d}"
    for word in _BESIDE.intersection(after[:7]):
        yield from (f"rw={word}", f"w{writes} rw={word}")
    yield f"cap={right[:1].isupper():d} k={kind}"
    yield from (f"q={right.rstrip().endswith('?'):d}", f"lq={left.rstrip().endswith('?'):d}")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("’", "'"))


def _opened(text: str) -> str:
    found = _OPENING.match(text)
    return text[found.end() :] if found and found.end() < len(text) else text


@cache
def _of(folder: Path) -> Breaks:
    return Breaks.load(folder)
