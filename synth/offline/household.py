"""Who lives together."""

import random
from dataclasses import dataclass, field

from synth.offline.trades import read_data
from synth.offline.wording import Words

_PETS = {
    "cat": ("Mochi", "Figaro", "Minka", "Pepper", "Tiger", "Luna", "Simba", "Nori", "Zorro"),
    "dog": ("Bruno", "Kira", "Rocky", "Bella", "Max", "Toffee", "Laika", "Balu", "Coco"),
    "rabbit": ("Hazel", "Flocke", "Thumper"),
}


@dataclass(slots=True)
class Household:
    """Who lives with a person."""

    partner: bool = False
    married: bool = False
    children: tuple[int, ...] = ()
    """Their ages, the oldest first."""
    names: list[str] = field(default_factory=list)
    """Their names, in the same order."""
    with_parents: bool = False
    flatmates: bool = False
    pet: tuple[str, str] | None = None
    """Name and animal."""

    @property
    def tags(self) -> set[str]:
        """What matters may ask for."""
        found = set()
        if self.partner:
            found.add("partner")
        if any(5 <= age <= 13 for age in self.children[:1]):
            found.add("schoolkid")
        if any(age < 2 for age in self.children):
            found.add("baby")
        if self.pet:
            found.add("pet")
        return found


def founded(age: int, draw: random.Random) -> Household:
    """The household of somebody of that age."""
    house = Household()
    chance = draw.random()
    if age < 24:
        house.with_parents = chance < 0.4
        house.flatmates = 0.4 <= chance < 0.8
    else:
        house.partner = chance < (0.5 if age < 32 else 0.68)
        house.flatmates = not house.partner and age < 34 and chance > 0.8
        house.married = age > 28 and draw.random() < 0.65
    if 27 <= age <= 52 and draw.random() < (0.62 if house.partner else 0.2):
        oldest = draw.randint(0, min(14, age - 25))
        ages = [oldest]
        while len(ages) < 3 and ages[-1] >= 3 and draw.random() < 0.4:
            ages.append(draw.randint(0, ages[-1] - 2))
        house.children = tuple(ages)
    if draw.random() < 0.34:
        animal = draw.choice(("cat", "cat", "dog", "dog", "rabbit"))
        house.pet = (draw.choice(_PETS[animal]), animal)
    return house


def with_detail(told: str, words: Words, house: Household) -> str:
    """The household with something that is so only there, in three of four cases."""
    draw = words.draw
    if draw.random() < 0.25:
        return told
    tags = ["any", *sorted(house.tags)] if house.tags else ["any", "alone"]
    details: dict[str, list[str]] = read_data("household.yaml")
    some = [one for tag in tags for one in details.get(tag, [])]
    try:
        detail = words.text(draw.choice(some))
    except KeyError:  # it is about somebody whom this life lacks
        return told
    return f"{told.rstrip('.')}; {detail}"
