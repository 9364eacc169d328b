"""The offline provider: people and requests without a model, the same for the same seed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctrag.toolbox import Toolbox
from stores.people.app_spec import AppSpec, packaged_apps
from stores.people.dataset import Kind, Persona
from synth.offline.asking import Asking, asking, stranger
from synth.offline.fresh import fresh, impossible
from synth.offline.oblique import oblique
from synth.offline.own_requests import own_requests
from synth.offline.people import told
from synth.offline.plain import plain
from synth.offline.talks import talks_of
from synth.provider import LabelledRequest, Level, Talk
from synth.shape import LEVELS, base_seed, item_counts, oblique_share

_OWN_APP_SHARE = 0.4
"""Share of the requests of a kind that are about declared applications, if there are any."""
_TRIES = 60
_WRITTEN = 0.15
"""How often a request that says everything, or that nothing can do, is a written one."""
_OFTEN: tuple[Kind, ...] = ("reference", "mismatch", "write", "refind", "now")


@dataclass(frozen=True, slots=True)
class OfflineProvider:
    """Invents lives, and composes what happens in them; needs no network and no weights."""

    apps: tuple[AppSpec, ...]
    toolbox: Toolbox
    levels: Mapping[str, float]
    """Level → its share of requests."""
    workers: int = 1

    def __init__(
        self,
        apps: Sequence[AppSpec] | None = None,
        toolbox: Toolbox | None = None,
        levels: Mapping[str, float] = LEVELS,
    ) -> None:
        object.__setattr__(self, "apps", packaged_apps() if apps is None else tuple(apps))
        object.__setattr__(self, "toolbox", Toolbox.packaged() if toolbox is None else toolbox)
        object.__setattr__(self, "levels", dict(levels))
        object.__setattr__(self, "workers", 1)

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        """See `Provider`."""
        return told(person_id, tuple(counts.items()), self.apps, base_seed(seed)).persona

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        """See `Provider`; kinds that have plain and oblique requests get both, by `levels`."""
        draw = random.Random(f"{seed}/requests")
        source = self._asking(persona, seed, draw)
        own = own_requests(self.apps, self.toolbox, persona, draw)
        used = {text.casefold() for text in avoid}
        hinted = {kind: oblique(source, kind) for kind in set(kinds)}
        found = []
        for kind in kinds:
            fitting = [one for one in own if one.labels.kind == kind]
            if fitting and draw.random() < _OWN_APP_SHARE:
                own.remove(fitting[0])
                found.append(fitting[0])
                continue
            options = self._options(source, kind, hinted[kind], draw)
            for _, one in zip(range(_TRIES), options, strict=False):
                if self._has(one) and one.request.text.casefold() not in used:
                    used.add(one.request.text.casefold())
                    found.append(one)
                    break
        return found

    def talks(self, persona: Persona, several: int, dialogues: int, seed: int) -> list[Talk]:
        """See `Provider`."""
        draw = random.Random(f"{seed}/talks")
        return talks_of(self._asking(persona, seed, draw), several, dialogues)

    def _asking(self, persona: Persona, seed: int, draw: random.Random) -> Asking:
        """The life behind a person that was made here; else what the items say."""
        base = base_seed(seed)
        counts = item_counts(self.apps, base)
        found = told(persona.person.person_id, tuple(counts.items()), self.apps, base)
        return asking(found, draw) if found.persona == persona else stranger(persona, draw)

    def _options(
        self,
        source: Asking,
        kind: Kind,
        hinted: Iterator[LabelledRequest],
        draw: random.Random,
    ) -> Iterator[LabelledRequest]:
        """Requests of a kind, the level that was drawn first."""
        share = oblique_share(kind, self.levels)
        if draw.random() < share:
            yield from hinted
        match kind:
            case "explicit":
                yield from _written(source, kind, "new")
                yield from fresh(source)
            case "no_tool":
                yield from _written(source, kind, "cannot")
                yield from impossible(source)
            case "mismatch" if share < 1:
                yield from plain(source, "ask")
            case "write" if share < 1:
                yield from plain(source, "tell")
            case _:
                yield from hinted
                for other in _OFTEN:  # nothing of that kind in this life: another that hints
                    yield from oblique(source, other)

    def _has(self, one: LabelledRequest) -> bool:
        """Whether the toolbox has the request's API."""
        return one.labels.plan is None or self.toolbox.get(one.labels.plan.api) is not None


def _written(source: Asking, kind: Kind, level: Level) -> Iterator[LabelledRequest]:
    """Written requests of a kind, in half of the cases."""
    some = [one for one in source.written if one[1].kind == kind]
    if source.draw.random() < _WRITTEN:
        for request, labels in source.draw.sample(some, len(some)):
            yield source.quoted(request, labels, level)
