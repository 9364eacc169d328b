"""The labelled people that new ones are based on: the scenes and the reference train split.

The reference dev split is never used.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from stores.compressed import open_kept
from stores.people.app_spec import AppSpec, packaged_apps
from stores.people.dataset import PERSONAS, QUERIES, Persona
from stores.people.items import (
    Contact,
    Item,
    LabelledPlan,
    Labels,
    Person,
    Profile,
    Request,
    Usage,
    Value,
)
from synth.provider import LabelledRequest
from synth.reference import scenes_folder, split_folder
from synth.shape import CYCLE, is_test

_ORDINARY = 5
"""A word in lower case this often is an ordinary word, even if it is also a name."""
_MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)


@dataclass(frozen=True, slots=True)
class SourcePerson:
    """A labelled person with all their requests."""

    persona: Persona
    requests: tuple[LabelledRequest, ...]
    position: int
    """Position in the fixed order, which determines the part of a data set it is used for."""

    @property
    def test(self) -> bool:
        """Whether it is used for the test part of a data set only."""
        return is_test(self.position)


@cache
def sources() -> tuple[SourcePerson, ...]:
    """All sources in a fixed order that mixes scenes and reference people."""
    found = []
    for folder in (scenes_folder(), split_folder("train")):
        requests: dict[str, list[LabelledRequest]] = {}
        for raw in _lines(folder / QUERIES):
            requests.setdefault(raw["persona_id"], []).append(_labelled(raw))
        people = [_persona(raw) for raw in _lines(folder / PERSONAS)]
        found += [(one, tuple(requests[one.person.person_id])) for one in people]
    found.sort(key=lambda pair: sha256(pair[0].person.person_id.encode()).hexdigest())
    return tuple(SourcePerson(one, asked, place) for place, (one, asked) in enumerate(found))


def host_of(seed: int) -> SourcePerson:
    """The source of a seed's person; consecutive seeds give different ones."""
    known = sources()
    return known[seed % CYCLE % len(known)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    # Packaged files are valid (a test loads them with every check), so they are read here
    # unchecked: every worker does this when it starts.
    with open_kept(path) as file:
        yield from map(json.loads, file)


def _labelled(raw: dict[str, Any]) -> LabelledRequest:
    plan = raw["plan"]
    return LabelledRequest(
        Request(
            raw["text"],
            datetime.fromisoformat(raw["asked_at"]),
            raw.get("place"),
            raw.get("playing"),
        ),
        Labels(
            kind=raw["kind"],
            chain_of_thought=raw.get("chain_of_thought"),
            relevant=tuple(raw["relevant"]),
            tools=tuple(raw["tools"]),
            plan=plan and LabelledPlan(plan["api"], plan["arguments"]),
        ),
    )


def _persona(raw: dict[str, Any]) -> Persona:
    profile = {**raw["profile"], "hobbies": tuple(raw["profile"].get("hobbies", ()))}
    person = Person(
        raw["persona_id"],
        datetime.fromisoformat(raw["now"]),
        Profile(**profile),
        tuple(Contact(**contact) for contact in raw["contacts"]),
    )
    items = [_item(app, one) for app in packaged_apps() for one in raw["apps"].get(app.name, ())]
    return Persona(person, tuple(items))


def _item(app: AppSpec, raw: dict[str, Any]) -> Item:
    fields: dict[str, Value] = {}
    for field in app.fields:
        value = raw.get(field.name, field.default)
        if field.type == "datetime" and value is not None:
            value = datetime.fromisoformat(value)
        fields[field.name] = tuple(value) if isinstance(value, list) else value
    used = raw.get("usage") or {}
    opened = used.get("last_opened")
    usage = Usage(
        used.get("opens_30d", 0),
        opened and datetime.fromisoformat(opened),
        tuple(used.get("usual_hours", ())),
        used.get("usual_place"),
    )
    return Item(raw["id"], app.name, fields, usage)


@cache
def ordinary_words() -> frozenset[str]:
    """Words of the sources that are not names: repeatedly in lower case, or a month."""
    counted: Counter[str] = Counter()
    for source in sources():
        for text in texts_of(source):
            counted.update(word for word in letters(text) if word.islower())
    return frozenset(word for word, count in counted.items() if count >= _ORDINARY) | _MONTHS


def texts_of(source: SourcePerson) -> list[str]:
    """All texts about a source: requests, items, household."""
    texts = [one.request.text for one in source.requests]
    texts += [text for item in source.persona.items for text in item_texts(item)]
    return [*texts, source.persona.person.profile.household or ""]


def item_texts(item: Item) -> list[str]:
    """The texts of an item's fields."""
    return [item.text(name) for name, value in item.fields.items() if isinstance(value, str)]


def letters(text: str) -> list[str]:
    """The words of a text as written, split at apostrophes and hyphens."""
    return re.findall(r"[^\W\d_]+", text)


def fingerprint(item: Item) -> str:
    """What rewriting leaves unchanged in an item: its ordinary words."""
    known = ordinary_words() - _MONTHS
    kept = [
        word
        for text in item_texts(item)
        for word in letters(text.casefold())
        if len(word) > 2 and word in known
    ]
    return f"{item.app} {' '.join(kept)}"
