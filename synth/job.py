"""One person of a data set with checked requests, as lines of its files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, register_apps
from stores.people.dataset import Kind, Persona, dump_persona
from stores.people.local_time import format_local_time
from synth.checks import request_faults
from synth.provider import LabelledRequest, Provider
from synth.shape import is_test, item_counts, kinds_of, person_seed, requests_of

_TRIES = 4
_SPARE = 3
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


@dataclass(frozen=True, slots=True)
class Job:
    """How to make a person from a number; sent to the workers."""

    provider: Provider
    seed: int
    apps: tuple[AppSpec, ...]
    toolbox: Toolbox

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
        kinds = kinds_of(number, self.seed, count)
        rejected: Counter[str] = Counter()
        found: list[LabelledRequest] = []
        missing: list[Kind] = kinds
        for tries in range(_TRIES):
            avoid = [one.request.text for one in found]
            # Adding whole strides to the seed keeps the person and changes the requests.
            seed = person_seed(self.seed + 1000 * tries, number)
            for one in self.provider.requests(persona, missing, seed, avoid):
                problems = self._problems(persona, one, found)
                if problems:
                    rejected[problems[0].split(":")[0]] += 1
                else:
                    found.append(one)
            missing = _missing(kinds, found) if tries < 1 else kinds_of(number, tries, count)
            missing = missing[: count - len(found)]
            if not missing:
                break
        return self._lines(persona, _in_order_of(kinds, found), number, rejected)

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
    ) -> MadePerson:
        line = json.dumps(dump_persona(persona, self.apps), ensure_ascii=False)
        requests = tuple((one.request.text, _dumped(one)) for one in found)
        return MadePerson(line, requests, requests_of(number), is_test(number), dict(rejected))


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
    request, labels = one.request, one.labels
    return {
        "text": request.text,
        "asked_at": format_local_time(request.asked_at),
        "place": request.place,
        "playing": request.playing,
        "kind": labels.kind,
        "chain_of_thought": labels.chain_of_thought,
        "relevant": list(labels.relevant or ()),
        "tools": list(labels.tools or ()),
        "plan": labels.plan and {"api": labels.plan.api, "arguments": dict(labels.plan.arguments)},
    }
