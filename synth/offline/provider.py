"""The offline provider: people and requests without a model, the same for the same seed."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, packaged_apps
from stores.people.dataset import Kind, Persona
from stores.people.items import Item, Person
from synth.offline.composer import Composer
from synth.offline.fillers import Filler
from synth.offline.guard import Guard
from synth.offline.own_apps import own_items
from synth.offline.own_requests import own_requests
from synth.offline.people import completed, random_rewriter, recognise
from synth.offline.rewriting import Rewriter
from synth.offline.situations import composed
from synth.offline.sources import SourcePerson, host_of
from synth.offline.thoughts import thought
from synth.offline.usage import habits, with_usage
from synth.offline.wording import reworded
from synth.provider import LabelledRequest
from synth.shape import round_of

_REWORDED = 0.15
"""Share of requests that are reworded the first time a source is used."""
_COMPOSED = 0.12
_COMPOSED_REWORDED = 0.7
_TRIES = 60
_ASKED_WITHIN_DAYS = 3
_OWN_APP_SHARE = 0.4
"""Share of the requests of a kind that are about declared applications, if there are any."""


@dataclass(frozen=True, slots=True)
class OfflineProvider:
    """Rewrites labelled people and composes requests; needs no network and no weights."""

    apps: tuple[AppSpec, ...]
    toolbox: Toolbox
    workers: int = 1

    def __init__(
        self, apps: Sequence[AppSpec] | None = None, toolbox: Toolbox | None = None
    ) -> None:
        object.__setattr__(self, "apps", packaged_apps() if apps is None else tuple(apps))
        object.__setattr__(self, "toolbox", Toolbox.packaged() if toolbox is None else toolbox)
        object.__setattr__(self, "workers", 1)

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        """See `Provider`; consecutive seeds, up to `CYCLE`, give people of different sources."""
        draw = random.Random(f"{seed}/person")
        source = host_of(seed)
        rewriter = random_rewriter(source, draw)
        person = completed(rewriter.person(person_id), source, draw)
        items = [rewriter.item(one, one.id) for one in source.persona.items]
        requests = _rewritten_requests(source, rewriter, {one.id: one.id for one in items})
        items = [
            one for app in self.apps for one in _fewer(items, app.name, counts, requests, draw)
        ]
        kept = {one.id for one in items}
        requests = [one for one in requests if kept.issuperset(one.labels.relevant or ())]
        items += self._fillers(person, items, requests, counts, Filler(person, source.test, draw))
        habitual = habits(requests)
        used = [with_usage(one, habitual.get(one.id), person.now, draw) for one in items]
        draw.shuffle(used)
        used += own_items(self.apps, person, counts, draw)
        return Persona(person, tuple(self._numbered(used, person_id)))

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        """See `Provider`."""
        draw = random.Random(f"{seed}/requests")
        known = self._known(persona, seed, draw)
        composer = Composer(persona, draw)
        own = own_requests(self.apps, self.toolbox, persona, draw)
        used = {text.casefold() for text in avoid}
        found = []
        for kind in kinds:
            fitting = [one for one in own if one.labels.kind == kind]
            if fitting and draw.random() < _OWN_APP_SHARE:
                own.remove(fitting[0])
                options = fitting[:1]
            else:
                options = self._options(kind, known, composer, draw)
            for one in options:
                if one.request.text.casefold() not in used:
                    used.add(one.request.text.casefold())
                    found.append(one)
                    break
        return found

    def _options(
        self,
        kind: Kind,
        known: dict[str, list[LabelledRequest]],
        composer: Composer,
        draw: random.Random,
    ) -> list[LabelledRequest]:
        """Possible requests, in order of preference."""
        own = known.get(kind, [])
        if own and draw.random() >= _COMPOSED:
            return [own.pop()]
        new = [one for one in composed(composer, kind) if self.toolbox_has(one)]
        if not new:
            return [own.pop()] if own else []
        return [_reworded(one, draw) if draw.random() < _COMPOSED_REWORDED else one for one in new]

    def toolbox_has(self, one: LabelledRequest) -> bool:
        """Whether the toolbox has the request's API."""
        return one.labels.plan is None or self.toolbox.get(one.labels.plan.api) is not None

    def _known(
        self, persona: Persona, seed: int, draw: random.Random
    ) -> dict[str, list[LabelledRequest]]:
        """The requests of the persona's source, by kind, in random order."""
        recognised = recognise(persona)
        if recognised is None:
            return {}
        source, rewriter = recognised
        ids = _same_items(source, rewriter, persona)
        now = persona.person.now
        used_again = round_of(seed) > 0
        by_kind: dict[str, list[LabelledRequest]] = {}
        for one in _rewritten_requests(source, rewriter, ids):
            days = (one.request.asked_at - now).total_seconds() / 86400
            if not 0 <= days <= _ASKED_WITHIN_DAYS or not self.toolbox_has(one):
                continue
            if used_again or draw.random() < _REWORDED:
                one = _reworded(one, draw)
            by_kind.setdefault(one.labels.kind or "", []).append(_thoughtful(one, persona, draw))
        for options in by_kind.values():
            draw.shuffle(options)
        return by_kind

    def _fillers(
        self,
        person: Person,
        items: Sequence[Item],
        requests: Sequence[LabelledRequest],
        counts: Mapping[str, int],
        filler: Filler,
    ) -> list[Item]:
        guard = Guard(items, requests)
        there = Counter(one.app for one in items)
        found: list[Item] = []
        for app in (one.name for one in packaged_apps() if one in self.apps):
            missing = counts.get(app, 0) - there[app]
            for tries, item in enumerate(filler.items(app)):
                if missing <= 0 or tries > _TRIES:
                    break
                if guard.allows(item):
                    guard.add(item)
                    found.append(replace(item, id=f"filler-{len(found)}"))
                    missing -= 1
        return found

    def _numbered(self, items: Sequence[Item], person_id: str) -> list[Item]:
        order = {app.name: place for place, app in enumerate(self.apps)}
        numbers: Counter[str] = Counter()
        named = []
        for item in sorted(items, key=lambda one: order[one.app]):
            numbers[item.app] += 1
            named.append(replace(item, id=f"{person_id}-{item.app}-{numbers[item.app]}"))
        return named


def _reworded(one: LabelledRequest, draw: random.Random) -> LabelledRequest:
    return replace(one, request=replace(one.request, text=reworded(one.request.text, draw)))


def _rewritten_requests(
    source: SourcePerson, rewriter: Rewriter, ids: dict[str, str]
) -> list[LabelledRequest]:
    made = (rewriter.request(one, ids) for one in source.requests)
    return [one for one in made if one is not None]


def _same_items(source: SourcePerson, rewriter: Rewriter, persona: Persona) -> dict[str, str]:
    """Ids of a source's items → ids of the persona's items that they became."""
    by_fields = {_key(item): item.id for item in persona.items}
    pairs = ((one.id, by_fields.get(_key(rewriter.item(one, "")))) for one in source.persona.items)
    return {old: new for old, new in pairs if new is not None}


def _key(item: Item) -> tuple[str, str]:
    return item.app, repr(sorted((name, str(value)) for name, value in item.fields.items()))


def _fewer(
    items: Sequence[Item],
    app: str,
    counts: Mapping[str, int],
    requests: Sequence[LabelledRequest],
    draw: random.Random,
) -> list[Item]:
    """At most the wanted number of an application's items, those needed by requests first."""
    needed = Counter(item_id for one in requests for item_id in one.labels.relevant or ())
    own = [one for one in items if one.app == app]
    own.sort(key=lambda one: (-min(needed[one.id], 3), draw.random()))
    return own[: counts.get(app, 0)]


def _thoughtful(one: LabelledRequest, persona: Persona, draw: random.Random) -> LabelledRequest:
    if one.labels.chain_of_thought:
        return one
    relevant = [item for item in persona.items if item.id in (one.labels.relevant or ())]
    plan = one.labels.plan
    text = thought(relevant, persona.person, one.request.asked_at, plan.api if plan else None, draw)
    return replace(one, labels=replace(one.labels, chain_of_thought=text))
