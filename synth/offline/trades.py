"""Trades and hobbies with their words, from `data/professions.yaml` and `data/hobbies.yaml`."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from synth.offline.wording import Word

_BETWEEN = " / "


@dataclass(frozen=True, slots=True)
class Trade:
    """What somebody does for a living."""

    key: str
    title: str
    place: str
    """A template; empty for who works nowhere."""
    hours: tuple[int, int]
    roles: Mapping[str, str]
    """Role in the circle → relation."""
    young: bool
    old: bool
    vocabulary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def words(self, draw: random.Random) -> dict[str, Word]:
        """Values for templates; different ones for the names that end in a number."""
        told = self.vocabulary
        place = draw.randrange(len(told["product"]))
        queries = draw.sample(told["search"], 2)
        lines = draw.sample(told["line"], 3)
        tasks, meets = draw.sample(told["task"], 2), draw.sample(told["meet"], 2)
        found: dict[str, Word] = {
            "product": told["product"][place],
            "said": draw.choice(told["said"]),
            "trouble": draw.choice(told["trouble"]),
            "task": tasks[0],
            "task2": tasks[1],
            "meet": meets[0],
            "meet2": meets[1],
            "line": lines[0],
            "line2": lines[1],
            "line3": lines[2],
        }
        for name, query in zip(("tradequery", "tradequery2"), queries, strict=True):
            asked, page = query.split(" => ")
            found |= {name: asked, f"{name}_page": page}
        return found


def _at_home(place: str) -> str:
    """A place of a friend's as one's own: "my attic", "home"."""
    return place.replace("{mate}'s ", "my ").replace("{mate}'s", "home")


@dataclass(frozen=True, slots=True)
class Hobby:
    """What somebody does in their free time."""

    name: str
    vocabulary: Mapping[str, tuple[str, ...]]

    def words(self, draw: random.Random) -> dict[str, Word]:
        """Values for templates."""
        told = self.vocabulary
        meets, tasks = draw.sample(told["meet"], 2), draw.sample(told["task"], 2)
        queries, lines = draw.sample(told["query"], 2), draw.sample(told["line"], 3)
        mate = told["mate"][0]
        found: dict[str, Word] = {
            "hobby": self.name,
            "hmate": mate,
            "hmeet": meets[0].replace("{mate}", "{m:first}"),
            "hmeet2": meets[1].replace(" with {mate}", "").replace("{mate}", "a friend"),
            "hplace": _at_home(draw.choice(told["place"])),
            "hgear": draw.choice(told["gear"]),
            "htask": tasks[0].replace("{mate}", mate),
            "htask2": tasks[1].replace("{mate}", mate),
            "hsaid": draw.choice(told["said"]),
            "hhint": draw.choice(told["hint"]),
        }
        for number, text in enumerate(lines, start=1):
            found[f"hline{number if number > 1 else ''}"] = text.replace("{mate}", mate)
        for name, query in zip(("hquery", "hquery2"), queries, strict=True):
            asked, page = query.split(" => ")
            found |= {name: asked, f"{name}_page": page}
        return found


def drawn_trade(age: int, draw: random.Random) -> Trade:
    """A trade for that age."""
    fitting = [
        one
        for one in _trades()
        if (one["key"] == "retired") == (age >= 67 or (age >= 63 and draw.random() < 0.5))
        and (not one.get("young") or age < 29)
    ]
    if age < 23 and draw.random() < 0.6:
        fitting = [one for one in _trades() if one.get("young")]
    raw = draw.choice(fitting)
    start, end = raw["hours"].split()
    return Trade(
        key=raw["key"],
        title=draw.choice(raw["title"].split(_BETWEEN)),
        place=draw.choice(raw["place"].split(_BETWEEN)),
        hours=(int(start), int(end)),
        roles=raw["roles"],
        young=raw.get("young", False),
        old=raw.get("old", False),
        vocabulary={
            name: tuple(raw[name].split(_BETWEEN))
            for name in ("product", "task", "meet", "trouble", "search", "line", "said")
        },
    )


def drawn_hobbies(draw: random.Random) -> list[Hobby]:
    """Two or three hobbies."""
    return [
        Hobby(name, _hobbies()[name])
        for name in draw.sample(list(_hobbies()), draw.choice((2, 3, 3)))
    ]


def knows(name: str) -> bool:
    """Whether there are words of that hobby."""
    return name in _hobbies()


def hobby_of(name: str) -> Hobby:
    """The hobby of that name."""
    return Hobby(name, _hobbies()[name])


@cache
def _trades() -> tuple[dict[str, Any], ...]:
    return tuple({"key": key, **one} for key, one in read_data("professions.yaml").items())


@cache
def _hobbies() -> dict[str, dict[str, tuple[str, ...]]]:
    return {
        name: {key: tuple(text.split(_BETWEEN)) for key, text in one.items()}
        for name, one in read_data("hobbies.yaml").items()
    }


@cache
def read_data(*path: str) -> Any:
    """A YAML file of the package's `data`."""
    text = files("synth.offline").joinpath("data", *path).read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)
