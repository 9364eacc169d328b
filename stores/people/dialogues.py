"""Labelled dialogues and requests for several calls of a data set folder: `dialogues.jsonl`,
`several.jsonl`; either may be missing, or be compressed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from stores.compressed import kept
from stores.errors import InputError
from stores.people.dataset import DIALOGUES, SEVERAL, Persona
from stores.people.items import LabelledPlan, Request
from stores.people.lines import read_lines, validated
from stores.people.local_time import LocalTime

_Text = Annotated[str, StringConstraints(min_length=1)]


class _Loose(BaseModel):
    # Unknown columns are ignored: data sets may contain notes of their own.
    model_config = ConfigDict(extra="ignore", strict=True)


class _Plan(_Loose):
    api: _Text
    arguments: dict[str, str | int | list[str]] = {}


class _Turn(_Loose):
    text: _Text
    plan: _Plan | None
    also: list[_Plan] | None = None


class _Asked(_Loose):
    query_id: _Text
    persona_id: _Text
    asked_at: LocalTime
    place: str | None = None
    playing: str | None = None


class _Dialogue(_Asked):
    turns: Annotated[list[_Turn], Field(min_length=2)]
    alone: list[Annotated[list[_Text], Field(min_length=1)]] | None = None


class _Several(_Asked):
    text: _Text
    plans: Annotated[list[_Plan], Field(min_length=2)]
    also: list[_Plan] | None = None
    alone: Annotated[list[_Text], Field(min_length=1)] | None = None


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One thing that is said in a dialogue, with the call that it asks for."""

    text: str
    plan: LabelledPlan | None
    """None where no API can do it."""
    also: tuple[LabelledPlan, ...] = ()
    """Other calls that are as right."""
    alone: tuple[str, ...] = ()
    """Its requests, each said so that it needs nothing before it; () where nobody wrote that."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue: turns said one after the other, all at one time and place."""

    query_id: str
    person_id: str
    request: Request
    """The first turn as a request."""
    turns: tuple[LabelledTurn, ...]


@dataclass(frozen=True, slots=True)
class SeveralCalls:
    """One request for several calls."""

    query_id: str
    person_id: str
    request: Request
    plans: tuple[LabelledPlan, ...]
    """In order."""
    also: tuple[LabelledPlan, ...] = ()
    """Single calls, each of which may stand in for the call with the same purpose."""
    alone: tuple[str, ...] = ()
    """As for `LabelledTurn`: one text for each call."""


def load_dialogues(folder: Path, personas: Mapping[str, Persona]) -> list[Dialogue]:
    """The dialogues of a data set folder; none where it has no such file.

    Args:
        folder: The data set.
        personas: Its people by id.

    Raises:
        ValueError: A line breaks a rule; the message names file, line, field and rule.
    """
    found = []
    for where, raw in _lines(folder / DIALOGUES):
        row = validated(_Dialogue, raw, where)
        alone = row.alone or [[]] * len(row.turns)
        if len(alone) != len(row.turns):
            raise InputError(f"{where}: alone: {len(alone)} lists for {len(row.turns)} turns")
        turns = tuple(
            LabelledTurn(
                one.text,
                None if one.plan is None else _labelled(one.plan),
                _all(one.also),
                tuple(whole),
            )
            for one, whole in zip(row.turns, alone, strict=True)
        )
        request = _request(row, turns[0].text, personas, where)
        found.append(Dialogue(row.query_id, row.persona_id, request, turns))
    return found


def load_several(folder: Path, personas: Mapping[str, Persona]) -> list[SeveralCalls]:
    """The requests for several calls; arguments and errors as for `load_dialogues`."""
    found = []
    for where, raw in _lines(folder / SEVERAL):
        row = validated(_Several, raw, where)
        request = _request(row, row.text, personas, where)
        alone = tuple(row.alone or ())
        if alone and len(alone) != len(row.plans):
            raise InputError(f"{where}: alone: {len(alone)} texts for {len(row.plans)} calls")
        found.append(
            SeveralCalls(
                row.query_id, row.persona_id, request, _all(row.plans), _all(row.also), alone
            )
        )
    return found


def _lines(path: Path) -> list[tuple[str, dict[str, Any]]]:
    return list(read_lines(path)) if kept(path).exists() else []


def _labelled(plan: _Plan) -> LabelledPlan:
    return LabelledPlan(plan.api, plan.arguments)


def _all(plans: list[_Plan] | None) -> tuple[LabelledPlan, ...]:
    return tuple(map(_labelled, plans or ()))


def _request(row: _Asked, text: str, personas: Mapping[str, Persona], where: str) -> Request:
    if row.persona_id not in personas:
        raise InputError(f"{where}: persona_id: {row.persona_id!r} is not in personas.jsonl")
    items = {item.id for item in personas[row.persona_id].items}
    if row.playing is not None and row.playing not in items:
        raise InputError(f"{where}: playing: {row.playing!r} is no item of that person")
    return Request(text, row.asked_at, row.place, row.playing)
