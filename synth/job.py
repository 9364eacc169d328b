"""One person of a data set with checked requests, as lines of its files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, register_apps
from stores.people.dataset import Kind, Persona, dump_persona
from stores.people.items import LabelledPlan
from stores.people.local_time import format_local_time
from synth.checks import request_faults, talk_faults
from synth.consistency import person_faults
from synth.provider import LabelledRequest, Provider, Talk
from synth.shape import (
    LEVELS,
    TRY,
    is_test,
    item_counts,
    kinds_of,
    person_seed,
    requests_of,
    talks_of,
)

_TRIES = 4
_SPARE = 5
"""Spare requests of a person, used when one repeats another person's."""


@dataclass(frozen=True, slots=True)
class MadePerson:
    """One person as lines of files, as workers return it."""

    persona: str
    """The line of `personas.jsonl`."""
    requests: tuple[tuple[str, dict[str, Any]], ...]
    """Text and the rest of the line of `queries.jsonl`; those beyond `wanted` are spare."""
    wanted: int
    test: bool
    rejected: Mapping[str, int]
    levels: tuple[str, ...] = ()
    """The level of each request; empty where a provider does not say."""
    several: tuple[tuple[str, dict[str, Any]], ...] = ()
    """As `requests`, lines of `several.jsonl`, with spare ones."""
    dialogues: tuple[tuple[str, dict[str, Any]], ...] = ()
    talks: tuple[int, int] = (0, 0)
    """How many of `several` and of `dialogues` are wanted."""


@dataclass(frozen=True, slots=True)
class Job:
    """How to make a person from a number; sent to the workers."""

    provider: Provider
    seed: int
    apps: tuple[AppSpec, ...]
    toolbox: Toolbox
    levels: Mapping[str, float] = field(default_factory=lambda: LEVELS)

    def person(self, number: int, *, asks: bool = True) -> MadePerson:
        """Person `number` (from 0) with requests, as lines."""
        register_apps(self.apps)  # a worker process only knows the packaged ones
        seed = person_seed(self.seed, number)
        persona = self.provider.person(f"s{number + 1:05d}", item_counts(self.apps, seed), seed)
        return self.asked(persona, number) if asks else self._lines(persona, [], number, {})

    def asked(self, persona: Persona, number: int) -> MadePerson:
        """The requests of a persona with number `number` (from 0)."""
        register_apps(self.apps)
        wanted = requests_of(number)
        # Spare requests are rarely worth the cost of a paid provider.
        count = wanted + (_SPARE if self.provider.workers == 1 else 0)
        kinds = kinds_of(number, self.seed, count, self.levels)
        rejected: Counter[str] = Counter(
            {"(people that do not hang together)": 1} if person_faults(persona) else {}
        )
        found: list[LabelledRequest] = []
        missing: list[Kind] = kinds
        for tries in range(_TRIES):
            avoid = [one.request.text for one in found]
            # Adding whole strides to the seed keeps the person and changes the requests.
            seed = person_seed(self.seed + TRY * tries, number)
            for one in self.provider.requests(persona, missing, seed, avoid):
                problems = self._problems(persona, one, found)
                if problems:
                    rejected[problems[0].split(":")[0]] += 1
                else:
                    found.append(one)
            missing = (
                _missing(kinds, found) if tries < 1 else kinds_of(number, tries, count, self.levels)
            )
            missing = missing[: count - len(found)]
            if not missing:
                break
        talks = self._talks(persona, number, rejected)
        return self._lines(persona, _in_order_of(kinds, found), number, rejected, talks)

    def _talks(
        self, persona: Persona, number: int, rejected: Counter[str]
    ) -> tuple[list[Talk], list[Talk]]:
        """Checked requests for several calls, and dialogues."""
        several, dialogues = talks_of(number, self.levels)
        if not several and not dialogues:
            return [], []
        asked = (several and several + 2, dialogues and dialogues + 2)
        made = self.provider.talks(persona, *asked, person_seed(self.seed, number))
        kept: list[Talk] = []
        for one in made:
            problems = talk_faults(persona, one, self.toolbox)
            if problems:
                rejected[problems[0].split(":")[0]] += 1
            else:
                kept.append(one)
        return [one for one in kept if one.text], [one for one in kept if not one.text]

    def _problems(
        self, persona: Persona, one: LabelledRequest, found: Sequence[LabelledRequest]
    ) -> list[str]:
        if any(_same(one, other) for other in found):
            return ["repeat: the person asked that before"]
        return request_faults(persona, one, self.toolbox)

    def _lines(
        self,
        persona: Persona,
        found: Sequence[LabelledRequest],
        number: int,
        rejected: Mapping[str, int],
        talks: tuple[list[Talk], list[Talk]] = ([], []),
    ) -> MadePerson:
        several, dialogues = talks
        return MadePerson(
            json.dumps(dump_persona(persona, self.apps), ensure_ascii=False),
            tuple((one.request.text, _dumped(one)) for one in found),
            requests_of(number),
            is_test(number),
            dict(rejected),
            tuple(one.level for one in found),
            tuple((one.text, _dumped_several(one)) for one in several),
            tuple((one.parts[0].request.text, _dumped_dialogue(one)) for one in dialogues),
            talks_of(number, self.levels),
        )


def _missing(kinds: Sequence[Kind], found: Sequence[LabelledRequest]) -> list[Kind]:
    left: Counter[Kind] = Counter(kinds)
    there = Counter(one.labels.kind for one in found)
    for kind in left:
        left[kind] -= there[kind]
    return [kind for kind, count in left.items() for _ in range(max(0, count))]


def _in_order_of(kinds: Sequence[Kind], found: Sequence[LabelledRequest]) -> list[LabelledRequest]:
    """The requests in the drawn order of kinds, so that spares are of any kind."""
    left = list(found)
    ordered = []
    for kind in kinds:
        place = next((i for i, one in enumerate(left) if one.labels.kind == kind), None)
        if place is not None:
            ordered.append(left.pop(place))
    return [*ordered, *left]


def _same(one: LabelledRequest, other: LabelledRequest) -> bool:
    """Whether two requests have the same words, or the same call on the same items."""
    if one.request.text.casefold() == other.request.text.casefold():
        return True
    plan = one.labels.plan
    return plan is not None and plan == other.labels.plan and bool(one.labels.relevant)


def _dumped(one: LabelledRequest) -> dict[str, Any]:
    labels = one.labels
    also = {"also": [_plan(plan) for plan in labels.also]} if labels.also else {}
    return {
        "text": one.request.text,
        **_when(one),
        "kind": labels.kind,
        "chain_of_thought": labels.chain_of_thought,
        "relevant": list(labels.relevant or ()),
        "tools": list(labels.tools or ()),
        "plan": labels.plan and _plan(labels.plan),
        **also,
    }


def _dumped_several(talk: Talk) -> dict[str, Any]:
    parts = [one.labels for one in talk.parts]
    return {
        "text": talk.text,
        **_when(talk.parts[0]),
        "kind": "several",
        "relevant": list(dict.fromkeys(item for one in parts for item in one.relevant or ())),
        "tools": list(dict.fromkeys(one.plan.api for one in parts if one.plan)),
        "plans": [_plan(one.plan) for one in parts if one.plan],
        "also": [_plan(plan) for one in parts for plan in one.also],
    }


def _dumped_dialogue(talk: Talk) -> dict[str, Any]:
    return {
        **_when(talk.parts[0]),
        "kind": "dialogue",
        "turns": [
            {
                "text": one.request.text,
                "relevant": list(one.labels.relevant or ()),
                "plan": one.labels.plan and _plan(one.labels.plan),
                "also": [_plan(plan) for plan in one.labels.also],
            }
            for one in talk.parts
        ],
    }


def _when(one: LabelledRequest) -> dict[str, Any]:
    request = one.request
    return {
        "asked_at": format_local_time(request.asked_at),
        "place": request.place,
        "playing": request.playing,
    }


def _plan(plan: LabelledPlan) -> dict[str, Any]:
    return {"api": plan.api, "arguments": dict(plan.arguments)}
