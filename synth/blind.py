"""A blind reading: made and reference people mixed under neutral ids, then answers scored.

`mixed` writes a sheet with as many people of either kind, which a reader answers person by person,
and a key that the reader does not see. `scored` says how many were told apart, with an interval.
Ids, order and spelling of what a file adds say nothing of where somebody comes from.
"""

import csv
import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from stores.files import write_text
from stores.people.app_spec import spec_of
from stores.people.dataset import Dataset, Persona, load_dataset
from stores.people.items import Item, Value

SHEET, KEY, ANSWERS = "sheet.md", "key.json", "answers.csv"
_MADE, _REFERENCE = "made", "reference"
_REQUESTS = 6
"""So many each, which nearly all have: how many somebody has says where they come from."""
_SEEN = 1.96
"""Of a standard deviation: 95 %."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How well a reader told made from reference people."""

    answered: int
    right: int
    accuracy: float
    """Percentage of the answered people whose origin was named right; 50 is chance."""
    interval: tuple[float, float]
    """95 %, by Wilson's formula."""
    made_right: float
    """Percentage of the made people who were named as made."""
    reference_right: float

    def as_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def lines(self) -> list[str]:
        """As lines of text."""
        low, high = self.interval
        return [
            f"told apart: {self.accuracy:.1f} % of {self.answered} people "
            f"({low:.1f} to {high:.1f}; 50 is chance)",
            f"made people named as made: {self.made_right:.1f} %; "
            f"reference people named as reference: {self.reference_right:.1f} %",
        ]


def mixed(made: Path, reference: Path, out: Path, people: int = 100, seed: int = 1) -> Path:
    """Write a sheet with so many made and reference people, its key, and a form for answers.

    Args:
        made: A data set folder, or one with `train` and `test`.
        reference: A data set folder of people to compare with.
        out: Created when missing; gets `sheet.md`, `key.json` and `answers.csv`.
        people: How many of either kind.
        seed: Chooses the people, their order and their requests.

    Returns:
        The sheet.

    Raises:
        ValueError: A folder has too few people, or `out` holds a sheet.
    """
    if (out / SHEET).exists():
        raise InputError(f"out: {out} holds a sheet already; give another folder")
    draw = random.Random(seed)
    drawn: list[tuple[str, Dataset, Persona]] = []
    for kind, folder in ((_MADE, made), (_REFERENCE, reference)):
        parts = [folder / one for one in ("train", "test") if (folder / one).is_dir()] or [folder]
        known = [(data, one) for data in map(load_dataset, parts) for one in data.personas]
        if len(known) < people:
            raise InputError(f"people: {folder} has {len(known)} people, {people} are wanted")
        drawn += [(kind, data, one) for data, one in draw.sample(known, people)]
    draw.shuffle(drawn)
    texts, key = [_INTRODUCTION], {}
    for number, (kind, data, persona) in enumerate(drawn, start=1):
        name = f"r{number:03d}"
        key[name] = {"from": kind, "persona_id": persona.person.person_id}
        texts.append(_shown(name, persona, _requests(data, persona, draw)))
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / KEY, json.dumps(key, indent=1) + "\n")
    write_text(out / ANSWERS, "person,from\n" + "".join(f"{name},\n" for name in key))
    write_text(out / SHEET, "\n".join(texts))
    return out / SHEET


def scored(key: Path, answers: Path) -> Reading:
    """A reader's answers against the key.

    Args:
        key: `key.json` of the sheet.
        answers: Rows of a person's id and `made` or `reference`; rows without an answer are left
            out.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A row is about nobody of the sheet, answers something else, or none is answered.
    """
    origins = {name: one["from"] for name, one in json.loads(key.read_text("utf-8")).items()}
    told: dict[str, str] = {}
    with answers.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            name, said = (row.get("person") or "").strip(), (row.get("from") or "").strip().lower()
            if not said:
                continue
            if name not in origins:
                raise InputError(f"{answers}:{number}: person: {name!r} is not on the sheet")
            if said not in (_MADE, _REFERENCE):
                raise InputError(
                    f"{answers}:{number}: from: must be made or reference, not {said!r}"
                )
            told[name] = said
    if not told:
        raise InputError(f"{answers}: no person has an answer")
    right = sum(origins[name] == said for name, said in told.items())
    return Reading(
        answered=len(told),
        right=right,
        accuracy=round(100 * right / len(told), 1),
        interval=wilson(right, len(told)),
        made_right=_share(_MADE, origins, told),
        reference_right=_share(_REFERENCE, origins, told),
    )


def wilson(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, in percent."""
    share, square = right / count, _SEEN**2
    middle = share + square / (2 * count)
    spread = _SEEN * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    low, high = ((middle + sign * spread) / (1 + square / count) for sign in (-1, 1))
    return round(100 * low, 1), round(100 * high, 1)


def _share(kind: str, origins: dict[str, str], told: dict[str, str]) -> float:
    ours = [said == kind for name, said in told.items() if origins[name] == kind]
    return round(100 * sum(ours) / max(1, len(ours)), 1)


_INTRODUCTION = """# Who was made?

Half of these people were made by a program, half were written one by one. Read each person, then
write `made` or `reference` behind their id in `answers.csv`. Do not look at `key.json`.
"""


def _requests(data: Dataset, persona: Persona, draw: random.Random) -> list[str]:
    own = [one.request.text for one in data.requests if one.person_id == persona.person.person_id]
    return draw.sample(own, min(_REQUESTS, len(own)))


def _shown(name: str, persona: Persona, requests: Sequence[str]) -> str:
    profile, person = persona.person.profile, persona.person
    told = (profile.profession, profile.city, profile.home, profile.work, profile.household,
            ", ".join(profile.hobbies))  # fmt: skip
    lines = [f"\n## {name}: {profile.name}, {profile.age}", "; ".join(filter(None, told)), ""]
    lines.append(
        "Contacts: " + "; ".join(f"{one.name} ({one.relation})" for one in person.contacts)
    )
    for app in dict.fromkeys(item.app for item in persona.items):
        lines += ["", f"{app}:", *(_line(item) for item in persona.items if item.app == app)]
    lines += ["", "Says:", *(f"- {text}" for text in requests)]
    return "\n".join(lines) + "\n"


def _line(item: Item) -> str:
    """An item's fields that a person would see, in the order of the application's."""
    fields = [field.name for field in spec_of(item.app).fields]
    words = [_word(item.fields.get(name)) for name in fields if name not in ("repeats", "flagged")]
    return "- " + " | ".join(re.sub(r"\s*\n\s*", " / ", one) for one in words if one)


def _word(value: Value) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else ""
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:%a %-d %b %Y %H:%M}" if hasattr(value, "hour") else str(value)
