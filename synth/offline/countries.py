"""Countries: towns, names in Latin letters, telephone numbers, money, what relatives are called.

Names are Faker's where its list for the country is good and in Latin letters, else those of
`data/countries.yaml`.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal

import yaml

from ctrag.extras import need

Gender = Literal["female", "male"]

_NAME = re.compile(r"[^\W\d_][^\W\d_'’. -]+(?:[ '’-][^\W\d_][^\W\d_'’-]*){0,3}")
_NOT_NAMES = re.compile(r"\b(auch|oder|und)\b|[/(]")
_UNLIKELY = frozenset(
    "Rose Grace Will Mark Bill Sue May April June Joy Hope Frank Guy Jean".split()
)
"""Ordinary words: a text with them is misread."""
_PRICES = {
    "Japan": 150, "South Korea": 1300, "Mexico": 18, "Philippines": 55, "Nigeria": 1500,
    "Ghana": 12, "Algeria": 135, "Hungary": 380, "Vietnam": 25, "India": 85, "Kenya": 130,
    "South Africa": 18, "Turkey": 40, "Czechia": 23, "Sweden": 10, "Norway": 11, "Denmark": 7,
    "Romania": 5, "China": 7, "Brazil": 5, "Egypt": 50, "Colombia": 4000, "Argentina": 1000,
    "Chile": 900,
}  # fmt: skip
"""Local prices against the euro's, roughly; 1 elsewhere."""


@dataclass(frozen=True, slots=True)
class Town:
    """A town of a country."""

    name: str
    timezone: str
    districts: tuple[str, ...]
    streets: tuple[str, ...]
    area: str
    """Its telephone prefix, where the country's numbers have one."""


@dataclass(frozen=True, slots=True)
class Country:
    """Where a life takes place."""

    name: str
    weight: int
    language: str
    tld: str
    phone: str
    clock: int
    money: str
    address: str
    towns: tuple[Town, ...]
    kin: Mapping[str, str]
    """Relation → what the relative is called."""
    music: tuple[str, ...]
    food: tuple[str, ...]
    away: tuple[str, ...]
    family_first: bool
    firsts: Mapping[Gender, tuple[str, ...]]
    lasts: Mapping[Gender, tuple[str, ...]]

    @property
    def gendered(self) -> bool:
        """Whether women and men of one family have different surnames."""
        return self.lasts["male"] is not self.lasts["female"]

    def full(self, first: str, last: str) -> str:
        """The whole name in the country's order."""
        return f"{last} {first}" if self.family_first else f"{first} {last}"

    def number(self, town: Town, draw: random.Random) -> str:
        """A telephone number of the country that belongs to nobody."""
        pattern = self.phone.replace("{area}", town.area)
        if len(town.area) == 3:  # a longer code has shorter numbers
            pattern = pattern.replace(f"{town.area} 5555", f"{town.area} 555")
        return re.sub("#", lambda _: str(draw.randint(0, 9)), pattern)

    def area(self, numbers: Iterable[str]) -> str:
        """The dialling code of a place that most of the numbers have; empty where none is."""
        if "{area}" not in self.phone:
            return ""
        code = re.escape(self.phone.split(" ")[0])
        pattern = re.compile(rf"{code} (?:9 )?([2-9]\d{{1,2}}) ")
        codes = [found[1] for one in numbers if (found := pattern.match(one))]
        return max(codes, key=codes.count, default="")

    def timezone(self, town: str, otherwise: str) -> str:
        """The timezone of a town, where the country has several; else the other one."""
        zones = _zones().get(self.name, {})
        named = (zone for zone, towns in zones.items() if town in _listed(towns))
        return next(named, next(iter(zones), otherwise))

    def price(self, euros: float) -> str:
        """A sum that is usual in the country, in its money."""
        amount = euros * _PRICES.get(self.name, 1)
        step = 5 if amount < 500 else 50 if amount < 5000 else 500
        rounded = max(step, round(amount / step) * step)
        return self.money.format(f"{rounded:,}" if rounded >= 10_000 else rounded)


@cache
def countries() -> tuple[Country, ...]:
    """All countries, in the order of the file."""
    need("made people", "faker", extra="synth")
    raw: dict[str, dict[str, Any]] = yaml.load(_data("countries.yaml"), Loader=yaml.CSafeLoader)
    return tuple(_country(name, one) for name, one in raw.items())


@cache
def _zones() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = yaml.load(_data("zones.yaml"), Loader=yaml.CSafeLoader)
    return found


@cache
def _data(name: str) -> str:
    return files("synth.offline").joinpath("data", name).read_text(encoding="utf-8")


def country_of(city: str | None) -> Country | None:
    """The country of a town that made people live in."""
    return next((one for one in countries() if any(town.name == city for town in one.towns)), None)


def _country(name: str, raw: Mapping[str, Any]) -> Country:
    firsts, lasts = _names(raw["names"])
    return Country(
        name=name,
        weight=raw["weight"],
        language=raw["language"],
        tld=raw["tld"],
        phone=raw["phone"],
        clock=raw["clock"],
        money=raw["money"],
        address=raw["address"],
        towns=tuple(_town(one) for one in raw["cities"]),
        kin=dict(pair.split("=") for pair in raw["kin"].split(", ")),
        music=_listed(raw["music"]),
        food=_listed(raw["food"]),
        away=_listed(raw["away"]),
        family_first=raw.get("family_first", False),
        firsts=firsts,
        lasts=lasts,
    )


def _town(line: str) -> Town:
    name, timezone, districts, streets, *area = line.split("; ")
    return Town(name, timezone, _listed(districts), _listed(streets), "".join(area))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def _names(
    source: str | Mapping[str, str],
) -> tuple[dict[Gender, tuple[str, ...]], dict[Gender, tuple[str, ...]]]:
    if isinstance(source, str):
        known = import_module(f"faker.providers.person.{source}").Provider
        firsts: dict[Gender, tuple[str, ...]] = {
            "female": good_names(known.first_names_female),
            "male": good_names(known.first_names_male),
        }
        both = set(firsts["female"]) & set(firsts["male"])
        firsts = {
            "female": tuple(one for one in firsts["female"] if one not in both),
            "male": tuple(one for one in firsts["male"] if one not in both),
        }
        every = good_names(getattr(known, "last_names", ()))
        if source in ("cs_CZ", "sk_SK"):
            return firsts, {
                "female": good_names(known.last_names_female),
                "male": good_names(known.last_names_male),
            }
        return firsts, {"female": every, "male": every}
    firsts = {"female": _listed(source["female"]), "male": _listed(source["male"])}
    if "last" in source:
        every = _listed(source["last"])
        return firsts, {"female": every, "male": every}
    return firsts, {
        "female": _listed(source["last_female"]),
        "male": _listed(source["last_male"]),
    }


def good_names(names: Sequence[str] | Mapping[str, float]) -> tuple[str, ...]:
    """The names that are well-formed, in Latin letters and no ordinary words, the usual first."""
    if isinstance(names, Mapping):
        ranked = sorted(names, key=lambda one: -names[one])
    else:  # in the order of the alphabet, which says nothing of how usual a name is
        ranked = random.Random(1).sample(names, len(names))
    return tuple(dict.fromkeys(one for one in ranked if well_formed(one)))


def well_formed(name: str) -> bool:
    """Whether a name is one word or few, each with a capital, in Latin letters."""
    return (
        _NAME.fullmatch(name) is not None
        and not _NOT_NAMES.search(name)
        and name not in _UNLIKELY
        and name[0].isupper()
        and all("LATIN" in _script(letter) for letter in name if letter.isalpha())
        and not any(word.isupper() and len(word) > 2 for word in name.split())
    )


@cache
def _script(letter: str) -> str:
    import unicodedata

    return unicodedata.name(letter, "")
