"""Many people, and people with very many items, made from the packaged reference people.

A large person keeps their own items and gets those of all others, told as if they were theirs:
some of the others' contacts become the person's contacts, and what happened around the others'
"now" happens around the person's, or some weeks before. So lexical, dense and personal signals all
have rivals. Where that is not enough, later rounds take each item with the minor words of another
one (the title of one mail with the text of another), so that no text stands there twice. What was
labelled relevant stays so: an item that has the title of one of the person's own is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import numpy as np

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView, encode_items
from ctrag.models.encoder import Encoder, Matrix
from ctrag.text.words import fold
from stores.files import replacing
from stores.people.app_spec import Role, packaged_apps
from stores.people.dataset import Dataset, Persona
from stores.people.item_rows import Vector
from stores.people.items import Item, Person, Request, Value

WEEKS = 520
"""How far back the oldest items of a large person lie."""
ALIVE = 0.1
"""Share of the old items that are still used, unread or open."""
SHARED = 1 / 3
"""Share of other people's contacts who become contacts of the large person."""
Owned = tuple[Person, Item]
"""An item and whose words tell it: relations of contacts are seen from that person."""
_MINOR: tuple[Role, ...] = ("text", "place", "group")
_FRESH_WEEKS = 4  # opens are counted over 30 days


class RememberingEncoder:
    """An encoder that makes the vector of each text once."""

    def __init__(self, encoder: Encoder, file: Path | None = None) -> None:
        """Remember in memory and, between processes, in a file.

        Args:
            encoder: Makes the vectors.
            file: Where `save` keeps them, and earlier ones are; None to forget them.
        """
        self.name = encoder.name
        self._encoder = encoder
        self._file = file
        self._known: dict[bytes, Vector] = {}
        self._saved = 0
        if file is not None and file.exists():
            with np.load(file) as kept:
                self._known = dict(zip(map(bytes, kept["texts"]), kept["vectors"], strict=True))
            self._saved = len(self._known)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        new = {
            digest: text
            for digest, text in zip(digests, texts, strict=True)
            if digest not in self._known
        }
        self._known.update(zip(new, self._encoder.encode(list(new.values())), strict=True))
        rows = [self._known[digest] for digest in digests]
        return np.stack(rows) if rows else self._encoder.encode([])

    def save(self) -> None:
        """Write what is remembered to the file, if there is one and something is new."""
        if self._file is None or len(self._known) == self._saved:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        texts = np.frombuffer(b"".join(self._known), np.uint8).reshape(-1, 16)
        with replacing(self._file) as file:
            np.savez(file, texts=texts, vectors=np.stack(list(self._known.values())))
        self._saved = len(self._known)


def people_like(personas: Sequence[Persona], count: int) -> Iterator[Persona]:
    """`count` people, each a copy of a reference person under another id."""
    for number in range(count):
        persona = personas[number % len(personas)]
        person_id = f"bench{number:06d}"
        items = tuple(
            replace(item, id=f"{person_id}-{place}") for place, item in enumerate(persona.items)
        )
        yield Persona(replace(persona.person, person_id=person_id), items)


def vectors_of_copies(
    personas: Sequence[Persona], people: Sequence[Persona], encoder: Encoder, seed: int
) -> Matrix:
    """Vectors of all items of `people_like(personas, …)`, in their order.

    They are near the originals' and all different, so that files have the size that they would
    have.
    """
    rng = np.random.default_rng(seed)
    known = [encode_items(encoder, [(one.person, item) for item in one.items]) for one in personas]
    made = np.concatenate([known[number % len(known)] for number in range(len(people))])
    for start in range(0, len(made), 10_000):
        part = made[start : start + 10_000]
        part += (rng.random(part.shape, np.float32) - 0.5) / 50
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


@dataclass(frozen=True, slots=True)
class _Copy:
    """An item made of one that was taken over and the minor words of another."""

    item: Item
    source: Owned
    partner: Owned
    share: float
    """Of the source in the vector; the rest is the partner's."""


def enlarged(
    persona: Persona, others: Sequence[Persona], encoder: Encoder, size: int, seed: int
) -> PersonView:
    """The person with `size` items: their own, and other people's as if they were theirs.

    Items stand in random order inside each application, as ties are broken by their order.

    Args:
        persona: The person.
        others: Whose items are taken over, as often as it needs; the person is skipped.
        encoder: Makes the vectors; a `RememberingEncoder` saves most of the work when several
            people are enlarged.
        size: At least as many as the person has.
        seed: Of all draws.

    Raises:
        ValueError: `size` is less than the person has, or nobody else has an item.
    """
    if size < len(persona.items):
        raise ValueError(f"size: {size} is less than the person's own {len(persona.items)} items")
    rng = np.random.default_rng(seed)
    wanted = size - len(persona.items)
    bundles = [bundle for bundle in adopted(persona, others, seed) if bundle] if wanted else []
    if wanted and not bundles:
        raise ValueError("others: nobody else has an item")
    copies = _copies(bundles, wanted, rng)
    items = [*persona.items, *(copy.item for copy in copies)]
    own = encode_items(encoder, [(persona.person, item) for item in persona.items])
    vectors = np.concatenate([own, _vectors(copies, encoder, own.shape[1])])
    arranged = _by_application(items, rng)
    return PersonView(persona.person, tuple(items[row] for row in arranged), vectors[arranged])


def asked_by(persona: Persona, dataset: Dataset) -> list[Request]:
    """Every request of a data set as if this person had made it, days counted from "now".

    Where music played, one of the person's own songs plays.
    """
    nows = {one.person.person_id: one.person.now for one in dataset.personas}
    song = next((item.id for item in persona.items if item.app == "music"), None)
    made = []
    for asked in dataset.requests:
        days = (persona.person.now.date() - nows[asked.person_id].date()).days
        request = asked.request
        made.append(
            replace(
                request,
                asked_at=request.asked_at + timedelta(days=days),
                playing=None if request.playing is None else song,
            )
        )
    return made


def adopted(persona: Persona, others: Sequence[Persona], seed: int) -> list[list[Owned]]:
    """Each other person's items as they would be if they were this person's.

    Some contacts get names of the person's contacts, times keep their distance from "now" in days,
    and items with the title of one of the person's own are left out. Items that name nobody of the
    person's are told in the other one's words, as their vectors then serve for everybody.
    """
    rng = np.random.default_rng(seed)
    own = {(item.app, _title(item)) for item in persona.items} - {("phonecall", "")}
    bundles = []
    for other in others:
        if other.person.person_id == persona.person.person_id:
            continue
        names = _names(other.person, persona.person, rng)
        shift = timedelta(days=(persona.person.now.date() - other.person.now.date()).days)
        renamed = [_renamed(item, names) for item in other.items]
        bundles.append(
            [
                (other.person if new is old else persona.person, _shifted(new, shift))
                for old, new in zip(other.items, renamed, strict=True)
                if (new.app, _title(new)) not in own
            ]
        )
    return bundles


def _title(item: Item) -> str:
    """Its title, folded; calls have none."""
    return fold(" ".join(item.text(name) for name in item_text.fields_of(item, "title")))


def _names(stranger: Person, person: Person, rng: np.random.Generator) -> dict[str, str]:
    """Some of the stranger's contacts → one of the person's."""
    if not person.contacts:
        return {}
    return {
        contact.name: person.contacts[rng.integers(len(person.contacts))].name
        for contact in stranger.contacts
        if rng.random() < SHARED
    }


def _renamed(item: Item, names: dict[str, str]) -> Item:
    def renamed(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(dict.fromkeys(names.get(one, one) for one in value))
        return names.get(value, value) if isinstance(value, str) else value

    if names.keys().isdisjoint(item_text.people(item)):
        return item
    people = item_text.fields_of(item, "person")
    fields = {
        name: renamed(value) if name in people else value for name, value in item.fields.items()
    }
    return replace(item, fields=fields)


def _shifted(item: Item, shift: timedelta) -> Item:
    fields = {
        name: value + shift if isinstance(value, datetime) else value
        for name, value in item.fields.items()
    }
    opened = item.usage.last_opened
    usage = replace(item.usage, last_opened=None if opened is None else opened + shift)
    return replace(item, fields=fields, usage=usage)


def _copies(bundles: list[list[Owned]], wanted: int, rng: np.random.Generator) -> list[_Copy]:
    """Bundle by bundle, each some weeks ago, until there are as many as wanted."""
    total = sum(len(bundle) for bundle in bundles)
    weeks = min(WEEKS, round(wanted * len(bundles) / total)) if wanted else 0
    made: list[_Copy] = []
    while len(made) < wanted:
        partners = _partners(bundles, rng) if made else bundles
        for number in rng.permutation(len(bundles)):
            ago = int(rng.integers(weeks + 1))
            for source, partner in zip(bundles[number], partners[number], strict=True):
                alive = ago <= _FRESH_WEEKS or rng.random() < ALIVE
                item = _moved(_crossed(source[1], partner[1]), f"copy-{len(made)}", ago, alive)
                made.append(_Copy(item, source, partner, rng.uniform(0.6, 0.9)))
    return made[:wanted]


def _partners(bundles: list[list[Owned]], rng: np.random.Generator) -> list[list[Owned]]:
    """For each item another one of the same application."""
    waiting: dict[str, list[Owned]] = defaultdict(list)
    for owned in chain.from_iterable(bundles):
        waiting[owned[1].app].append(owned)
    drawn = {
        app: iter([found[row] for row in rng.permutation(len(found))])
        for app, found in waiting.items()
    }
    return [[next(drawn[item.app]) for _, item in bundle] for bundle in bundles]


def _vectors(copies: list[_Copy], encoder: Encoder, width: int) -> Matrix:
    """Vectors of the copies: between those of the two items that they are made of."""
    parents = {id(one): one for copy in copies for one in (copy.source, copy.partner)}
    place = {key: row for row, key in enumerate(parents)}
    known = encode_items(encoder, list(parents.values())).reshape(-1, width)
    share = np.array([copy.share for copy in copies], np.float32)[:, None]
    sources = known[[place[id(copy.source)] for copy in copies]]
    partners = known[[place[id(copy.partner)] for copy in copies]]
    mixed = share * sources + (1 - share) * partners
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), np.float32)


def _crossed(item: Item, other: Item) -> Item:
    """The item with the minor words of another one."""
    if other is item:
        return item
    minor = {name for role in _MINOR for name in item_text.fields_of(item, role)}
    fields = {
        name: other.fields.get(name) if name in minor else value
        for name, value in item.fields.items()
    }
    return replace(item, fields=fields)


def _moved(item: Item, item_id: str, weeks: int, alive: bool) -> Item:
    """The item some weeks earlier; one that is not alive was seen to and is no longer used."""
    moved = replace(_shifted(item, timedelta(weeks=-weeks)), id=item_id)
    if alive:
        return replace(moved, usage=item.usage)
    settled: dict[str, Value] = {"unread": False, "done": True}
    fields = {name: settled.get(name, value) for name, value in moved.fields.items()}
    return replace(moved, fields=fields, usage=replace(moved.usage, opens_30d=0))


def _by_application(items: Sequence[Item], rng: np.random.Generator) -> list[int]:
    """Rows in random order, grouped by application as the stores group them."""
    place = {app.name: number for number, app in enumerate(packaged_apps())}
    return sorted(map(int, rng.permutation(len(items))), key=lambda row: place[items[row].app])
