"""Requests of strangers, and the verdict on the plan of one.

A folder holds `accept.json` and, for each split, `NAME.jsonl`. A line of the split has `query_id`,
`text`, `intent`, `entities` (each `type` and `text`) and `apis`: the APIs that would do what was
asked; `[]` where none can, so that `none()` is right; `null` where it is not known, and the line is
left out. `accept.json` has `kept_entities`, the types of entities whose words a call must keep, and
`ignored_words`.

The requests are those of SLURP (Bastianelli et al., EMNLP 2020, github.com/pswietojanski/slurp;
CC BY 4.0). They are not packaged.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.errors import InputError, NotFound, reading
from ctrag.text.words import words
from stores.compressed import kept, read_kept
from stores.people.lines import read_lines, validated

ACCEPT = "accept.json"
UNCOUNTED = ("lists_remove", "list_name")
"""Intent whose calls need not name entities of this type: the entry alone says which is meant."""


class Rules(BaseModel):
    """What of `accept.json` scores a plan; the APIs stand in the lines too."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    kept_entities: frozenset[str]
    ignored_words: frozenset[str]


class Entity(BaseModel):
    """A part of the text with its type."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    type: str
    text: str


class SpokenRequest(BaseModel):
    """A request; `apis` is None where nobody knows which would do."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    query_id: str
    text: str
    intent: str
    entities: tuple[Entity, ...]
    apis: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class SpokenScore:
    """The verdict on one plan."""

    api: bool
    """Whether the API is one of those that would do it, or `none` where none would."""
    kept: tuple[bool, ...]
    """Of each content word, whether the call has it; empty where the API is wrong or `none`."""

    @property
    def both(self) -> bool:
        """Whether the API is right and no content word is lost."""
        return self.api and all(self.kept)


def load_spoken(folder: Path, split: str) -> tuple[list[SpokenRequest], Rules]:
    """The requests of a split whose APIs are known, and the rules that score their plans.

    Raises:
        FileNotFoundError: The folder lacks a file.
        ValueError: A line breaks a rule, or no request can be scored.
    """
    accept, lines = folder / ACCEPT, folder / f"{split}.jsonl"
    for file in (accept, lines):
        if not kept(file).is_file():
            raise NotFound(
                f"{file}: No such file; give a folder with {ACCEPT} and {lines.name}, made of "
                "SLURP (github.com/pswietojanski/slurp, CC BY 4.0, not packaged) as "
                "eval/spoken/scores.py says"
            )
    with reading(accept):
        rules = validated(Rules, json.loads(read_kept(accept)), str(accept))
    scored = [one for one in spoken_rows(lines) if one.apis is not None]
    if not scored:
        raise InputError(f"{lines}: no request says which APIs are right")
    return scored, rules


def spoken_rows(file: Path) -> list[SpokenRequest]:
    """Every request of a split, those included of which no right API is known.

    Raises:
        ValueError: A line breaks a rule.
    """
    requests: dict[str, SpokenRequest] = {}
    for where, raw in read_lines(file):
        request = validated(SpokenRequest, raw, where)
        if request.query_id in requests:
            raise InputError(f"{where}: query_id: {request.query_id!r} appears twice")
        requests[request.query_id] = request
    return list(requests.values())


def content_words(request: SpokenRequest, rules: Rules) -> list[str]:
    """The words that a call must keep, each once, without a final s."""
    counted = [
        one.text
        for one in request.entities
        if one.type in rules.kept_entities and (request.intent, one.type) != UNCOUNTED
    ]
    said = [word for text in counted for word in words(text) if word not in rules.ignored_words]
    return list(dict.fromkeys(map(_cut, said)))


def score(plan: Plan | None, request: SpokenRequest, rules: Rules) -> SpokenScore:
    """The verdict on a plan; None is a text that was no plan, which is never right."""
    if plan is None or plan.api not in (request.apis or (NONE.api,)):
        return SpokenScore(api=False, kept=())
    if plan.is_none:
        return SpokenScore(api=True, kept=())
    there = _words_of(plan)
    return SpokenScore(True, tuple(word in there for word in content_words(request, rules)))


def _words_of(plan: Plan) -> set[str]:
    values = plan.arguments.values()
    texts = [" ".join(value) if isinstance(value, list) else str(value) for value in values]
    return {_cut(word) for text in texts for word in words(text)}


def _cut(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 1 else word
