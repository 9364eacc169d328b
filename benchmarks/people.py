"""Large people for timing: reference items copied under new ids, times spread out."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from ctrag.encoder import Matrix
from stores.app_store import StoredItem
from stores.dataset import Persona
from stores.items import Item


def enlarged(persona: Persona, vectors: Matrix, size: int, seed: int) -> list[StoredItem]:
    """`size` items made from a person's own, with vectors that are near the originals'."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(size):
        row = number % len(persona.items)
        item = persona.items[row]
        shift = timedelta(days=int(rng.integers(-3650, 3)))
        noisy = vectors[row] + 0.05 * rng.standard_normal(vectors.shape[1]).astype(np.float32)
        made.append(StoredItem(_copied(item, number, shift), noisy / np.linalg.norm(noisy)))
    return made


def people_like(personas: list[Persona], count: int) -> Iterator[Persona]:
    """`count` people, each a copy of a reference person under another id."""
    for number in range(count):
        persona = personas[number % len(personas)]
        person_id = f"bench{number:06d}"
        items = tuple(
            replace(item, id=f"{person_id}-{place}") for place, item in enumerate(persona.items)
        )
        yield Persona(replace(persona.person, person_id=person_id), items)


def _copied(item: Item, number: int, shift: timedelta) -> Item:
    fields = {
        name: value + shift if isinstance(value, datetime) else value
        for name, value in item.fields.items()
    }
    return Item(f"copy-{number}", item.app, fields, item.usage)
