"""The vocabulary of everyday items (`data/life.yaml`) and filling in its placeholders."""

import random
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from stores.people.items import Person

_GAP = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its parts and the hobby that it belongs to ("" for none)."""

    parts: tuple[str, ...]
    hobby: str = ""


@cache
def entries(name: str) -> tuple[Entry, ...]:
    """The lines of a section, general ones first, then those of hobbies."""
    found = [Entry(_split(line)) for line in _section(name)]
    for line in _section(f"hobby_{name}"):
        hobby, *parts = _split(line)
        found.append(Entry(tuple(parts), hobby))
    return tuple(found)


@cache
def hobbies() -> tuple[str, ...]:
    """Hobbies that have lines."""
    return tuple(dict.fromkeys(one.hobby for one in entries("searches") if one.hobby))


def usual(name: str, person: Person) -> list[Entry]:
    """The lines that fit a person: general ones, and those of their hobbies with triple weight."""
    own = {hobby.casefold() for hobby in person.profile.hobbies}
    return [
        one
        for one in entries(name)
        for _ in range(3 if one.hobby else 1)
        if not one.hobby or one.hobby in own
    ]


def gaps(person: Person, draw: random.Random) -> dict[str, str]:
    """Values for the placeholders of a line; `c` is one of the contacts."""
    profile = person.profile
    contact = draw.choice(person.contacts).name if person.contacts else "Robin"
    return {
        "c": contact,
        "f": contact.split()[0] if not contact.split()[0].endswith(".") else contact,
        "city": (profile.city or "town").split(",")[0],
        "cuisine": profile.favorite_cuisine or "Italian",
        "sport": profile.favorite_sport or "Football",
        "movie": profile.favorite_movie_genre or "comedy",
        "month": f"{person.now:%B}",
        "n": str(draw.randint(2, 9)),
    }


def indirect(section: str, title: str) -> str | None:
    """How the owner paraphrases an item; None when its title is not from the vocabulary.

    Args:
        section: `reminders`, `events`, `notes` or `company_mails`.
        title: The item's title.
    """
    for pattern, wording in _patterns(section):
        if pattern.fullmatch(title):
            return wording
    return None


@cache
def _patterns(section: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    title, wording = (1, 3) if section == "company_mails" else (0, 1)
    return tuple(
        (re.compile(_GAP.sub(".+", re.escape(one.parts[title]))), one.parts[wording])
        for one in entries(section)
    )


def _split(line: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in line.split("|"))


def _section(name: str) -> list[str]:
    return str(_life().get(name, "")).splitlines()


@cache
def _life() -> dict[str, str]:
    text = files("synth.offline").joinpath("data", "life.yaml").read_text(encoding="utf-8")
    content: dict[str, str] = yaml.safe_load(text)
    return content
