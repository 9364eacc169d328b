"""The value ranker: scores the candidate values of an argument against each other.

A LightGBM ranker over how and where each value was found, trained on labelled plans. Leaving an
optional argument out is a candidate like the others.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.planning.candidate_values import HOW, CandidateValue, ValueSources
from ctrag.errors import InputError, reading
from ctrag.models.cards import Card
from ctrag.models.trees import booster
from ctrag.text.words import terms, words
from ctrag.toolbox import Argument, Tool
from stores.compressed import read_kept
from stores.files import write_text
from stores.people.app_spec import spec_of

if TYPE_CHECKING:
    import lightgbm

MODEL, CARD = "arguments.txt", "arguments-card.json"
ABSENT = CandidateValue("", "absent", "absent")
"""Leaving the argument out."""

FEATURES = (
    "argument",
    "name",
    "how",
    "app",
    "order",
    "offers",
    "rank",
    "share",
    "same_app",
    "first_app_rank",
    "said",
    "of_request",
    "length",
    "support",
    "support_share",
    "named",
    "related",
    "relation_share",
    "person_first",
    "hours_from_now",
    "hours_from_item",
    "same_clock",
    "same_day",
    "hour",
    "minute",
    "days_from_now",
    "phrases",
    "own_city",
    "own_place",
    "of_names",
    "in_title",
    "title_share",
    "last_part",
    "capital",
    "cue",
    "digits",
    "question",
    "app_rank",
    "said_behind",
    "said_before",
    "written_behind",
    "written_before",
)
_CUES: dict[str, frozenset[str]] = {
    "cycling": frozenset("bike bikes bicycle cycle cycling pedal pedalling saddle".split()),
    "walking": frozenset("walk walking foot stroll steps legs hike".split()),
    "transit": frozenset(
        "bus buses train trains tram metro ferry tube subway underground rail coach line stop "
        "platform connection".split()
    ),
    "driving": frozenset(
        "drive driving car cars road roads traffic van truck jam motorway taxi cab lorry engine "
        "wheel petrol park parking".split()
    ),
    "previous": frozenset("back before again last previous rewind repeat missed".split()),
    "next": frozenset("next skip onward another other enough change forward".split()),
}
"""Words of a request that indicate a value of an enum."""

CATEGORIES = (
    "argument",
    "name",
    "how",
    "app",
    "said_behind",
    "said_before",
    "written_behind",
    "written_before",
)
_JOINTS = {
    word: number
    for number, words_of in enumerate(
        (
            ("to", "into", "towards", "for"),
            ("from", "out", "off", "leaving"),
            ("in", "at", "on", "around", "near", "by", "beside"),
            ("with", "and"),
            ("of", "the", "a", "my", "our", "her", "his", "their"),
        )
    )
    for word in words_of
}
"""Function words around a value, grouped by the role that they mark."""
_UNKNOWN = -1


class ValueRankerCard(Card):
    """Where a value ranker comes from."""

    features: list[str]
    arguments: list[str]
    """`api.argument`, in the order of their ids."""
    names: list[str]
    """Names of arguments, in the order of their ids."""
    reader: str | None = Field(default=None, exclude=True)
    """Older versions could put a second model beside the ranker, named here; such a card loads only
    where that model had weight 0. Never written."""
    reader_weight: float = Field(default=0.0, exclude=True)
    """Weight of that model. Never written."""


@dataclass(frozen=True, slots=False)
class ValueRanker:
    """Scores candidate values; for an API that it was not trained on, by the argument's name."""

    model: str
    """LightGBM's text."""
    card: ValueRankerCard

    @classmethod
    def load(cls, folder: Path) -> "ValueRanker":
        """The ranker that `save` wrote.

        Raises:
            FileNotFoundError: A file is missing.
            ValueError: It was trained on other features than this version computes, or by an older
                version with a second model of weight above 0.
        """
        with reading(folder / CARD):
            card = ValueRankerCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        if card.features != list(FEATURES):
            raise InputError(f"{folder}: made for other features; train it again: {card.command}")
        if card.reader is not None and card.reader_weight:
            raise InputError(
                f"{folder}: {CARD} counts a reader of values, which this version does not have; "
                "train it again with `ctrag train values`"
            )
        return cls(read_kept(folder / MODEL).decode("utf-8"), card)

    @classmethod
    def packaged(cls) -> "ValueRanker":
        """The ranker that ctrag ships."""
        return cls.load(Path(str(files("ctrag.assistant.planning").joinpath("artefact"))))

    def save(self, folder: Path) -> None:
        """Write model and card into `folder`, which is made when missing."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MODEL, self.model)
        write_text(folder / CARD, self.card.model_dump_json(indent=1) + "\n")

    @cached_property
    def numbers(self) -> "Numbers":
        """Ids of the arguments that it knows."""
        return Numbers(
            {name: at for at, name in enumerate(self.card.arguments)},
            {name: at for at, name in enumerate(self.card.names)},
        )

    def order(
        self,
        sources: ValueSources,
        tool: Tool,
        argument: Argument,
        candidates: Sequence[CandidateValue],
    ) -> list[tuple[CandidateValue, float]]:
        """The candidates with their probabilities, best first.

        For an optional argument `ABSENT` is among them.
        """
        rows = with_absent(argument, candidates)
        if not rows:
            return []
        table = features(sources, tool, argument, rows, self.numbers)
        scores = np.asarray(self._booster.predict(table, num_threads=1), dtype=np.float64)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return [(rows[at], float(shares[at])) for at in np.argsort(-scores, kind="stable")]

    @cached_property
    def _booster(self) -> "lightgbm.Booster":
        return booster(self.model, MODEL)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Category ids of arguments in a table of features."""

    arguments: Mapping[str, int]
    names: Mapping[str, int]


def with_absent(argument: Argument, candidates: Sequence[CandidateValue]) -> list[CandidateValue]:
    """The candidates that are ranked: those given, and `ABSENT` for an optional argument."""
    return [*candidates] if argument.required else [*candidates, ABSENT]


def features(
    sources: ValueSources,
    tool: Tool,
    argument: Argument,
    candidates: Sequence[CandidateValue],
    numbers: Numbers,
) -> Floats:
    """(candidates, FEATURES): features of each candidate; NaN where one does not apply."""
    shared = _ToolFeatures(sources, tool)
    table = np.full((len(candidates), len(FEATURES)), np.nan, dtype=np.float32)
    for row, candidate in enumerate(candidates):
        known = _features(shared, argument, candidate)
        known["argument"] = numbers.arguments.get(f"{tool.api}.{argument.name}", _UNKNOWN)
        known["name"] = numbers.names.get(argument.name, _UNKNOWN)
        known["order"] = row
        known["offers"] = len(candidates)
        known["phrases"] = sum(one.how == "phrase" for one in candidates)
        for name, value in known.items():
            table[row, _COLUMN[name]] = value
    return table


_COLUMN = {name: column for column, name in enumerate(FEATURES)}
_HOW = {name: number for number, name in enumerate(HOW)}
_APPS = ("mail", "calendar", "google", "notes", "music", "reminders", "phonecall")


class _ToolFeatures:
    """What is computed once for all candidates of a tool."""

    def __init__(self, sources: ValueSources, tool: Tool) -> None:
        self.sources = sources
        self.tool = tool
        self.request_terms = set(terms(sources.request.text))
        self.ranked = sources.ranked
        count = len(self.ranked)
        self.shares = list(sources.shares) or [1.0 / max(count, 1)] * count
        self.texts = [
            f" {' '.join(words(item_text.searched_text(item)))} " for item in sources.items
        ]
        self.request_words = words(sources.request.text)
        self.request_word_set = set(self.request_words)
        self.titles = [f" {' '.join(words(item_text.title(item)))} " for item in sources.items]
        people = [name for item in sources.items for name in item_text.people(item)]
        people += [contact.name for contact in sources.person.contacts]
        self.names = {word for name in people for word in words(name)}
        profile = sources.person.profile
        self.own = {
            " ".join(words(part))
            for place in (profile.city, profile.home, profile.work)
            for part in (place or "").split(",")
        }
        self.own_ranks = [rank for rank, item in enumerate(self.ranked) if item.app == tool.app]
        self.first = self.own_ranks[0] if self.own_ranks else -1


def _features(
    shared: _ToolFeatures, argument: Argument, candidate: CandidateValue
) -> dict[str, float]:
    sources = shared.sources
    found: dict[str, float] = {
        "how": _HOW[candidate.how],
        "rank": candidate.rank,
        "first_app_rank": shared.first,
        "question": float(sources.request.text.rstrip().endswith("?")),
    }
    if candidate.how == "absent":
        return found
    if 0 <= candidate.rank < len(shared.ranked):
        item = shared.ranked[candidate.rank]
        found["app"] = _APPS.index(spec_of(item.app).similar_app)
        found["share"] = shared.shares[candidate.rank]
        found["same_app"] = float(item.app == shared.tool.app)
        if item.app == shared.tool.app:
            found["app_rank"] = shared.own_ranks.index(candidate.rank)
        written = words(item_text.searched_text(item))
        found["written_behind"], found["written_before"] = _joints(written, words(candidate.value))
    stems = set(terms(candidate.value))
    found["said"] = len(stems & shared.request_terms) / len(stems) if stems else 0.0
    found["of_request"] = (
        len(stems & shared.request_terms) / len(shared.request_terms)
        if shared.request_terms
        else 0.0
    )
    parts = words(candidate.value)
    found["length"] = len(parts)
    found["said_behind"], found["said_before"] = _joints(shared.request_words, parts)
    wanted = f" {' '.join(parts)} "
    within = [rank for rank, text in enumerate(shared.texts) if wanted in text]
    found["support"] = len(within)
    found["support_share"] = sum(shared.shares[rank] for rank in within)
    found["digits"] = float(any(character.isdigit() for character in candidate.value))
    city = (sources.person.profile.city or "").split(",")[0].strip().casefold()
    found["own_city"] = float(bool(city) and candidate.value.strip().casefold() == city)
    found["own_place"] = float(" ".join(parts) in shared.own)
    found["of_names"] = sum(word in shared.names for word in parts) / max(len(parts), 1)
    titled = [rank for rank, text in enumerate(shared.titles) if wanted in text]
    found["in_title"] = titled[0] if titled else -1
    found["title_share"] = sum(shared.shares[rank] for rank in titled)
    found["last_part"] = float(_ends_place(shared, candidate))
    found["capital"] = float(candidate.value[:1].isupper())
    found["cue"] = float(bool(_CUES.get(candidate.value, frozenset()) & shared.request_word_set))
    if argument.type in ("contact", "contacts"):
        found |= _of_person(shared, candidate.value)
    elif argument.type in ("date", "datetime"):
        found |= _of_time(shared, candidate.value)
    return found


def _joints(text: Sequence[str], value: Sequence[str]) -> tuple[float, float]:
    """Groups of the function words before and after the first occurrence of the value in a text.

    `len(_JOINTS)` means any other word, NaN no word or no occurrence.
    """
    size = len(value)
    for at in range(len(text) - size + 1) if size else ():
        if list(text[at : at + size]) == list(value):
            behind = _JOINTS.get(text[at - 1], len(_JOINTS)) if at else math.nan
            end = at + size
            before = _JOINTS.get(text[end], len(_JOINTS)) if end < len(text) else math.nan
            return float(behind), float(before)
    return math.nan, math.nan


def _ends_place(shared: _ToolFeatures, candidate: CandidateValue) -> bool:
    """Whether the value ends the place of the item it was found in, where the town usually is."""
    if not 0 <= candidate.rank < len(shared.ranked):
        return False
    item = shared.ranked[candidate.rank]
    name = item_text.field_of(item, "place")
    return name is not None and item.text(name).rstrip(" .").endswith(candidate.value)


def _of_person(shared: _ToolFeatures, name: str) -> dict[str, float]:
    sources = shared.sources
    contact = sources.person.contact(name)
    related = set() if contact is None else set(terms(contact.relation))
    named = {word for word in terms(name) if len(word) > 2}
    first = shared.ranked[shared.first] if shared.first >= 0 else None
    folded = name.casefold()
    return {
        "named": len(named & shared.request_terms) / max(len(named), 1),
        "related": float(len(related & shared.request_terms)),
        "relation_share": len(related & shared.request_terms) / max(len(related), 1),
        "person_first": float(
            first is not None and folded in {one.casefold() for one in item_text.people(first)}
        ),
    }


def _of_time(shared: _ToolFeatures, value: str) -> dict[str, float]:
    time = datetime.fromisoformat(value)
    sources = shared.sources
    now = sources.request.asked_at
    from_now = (time - now).total_seconds() / 3600
    found = {
        "hours_from_now": _signed_log(from_now),
        "hour": time.hour,
        "minute": time.minute,
        "days_from_now": float((time.date() - now.date()).days),
    }
    at = shared.first if shared.first >= 0 else 0
    anchor = item_text.time_of(shared.ranked[at]) if shared.ranked else None
    if anchor is not None:
        found["hours_from_item"] = _signed_log((time - anchor).total_seconds() / 3600)
        found["same_clock"] = float(time.time() == anchor.time())
        found["same_day"] = float(time.date() == anchor.date())
    return found


def _signed_log(hours: float) -> float:
    return math.copysign(math.log1p(abs(hours)), hours)
