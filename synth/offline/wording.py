"""Filling templates: `[this|that]` is a choice, `{name}` or `{name:form}` a value of the life."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from synth.offline.acquaintances import Acquaintance
from synth.offline.moments import Moment

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{([^{}]+)\}")
_TAKEN = re.compile(r"\{?@(\d)\}?")
_OFFSET = re.compile(r"(\w+)([+-])(\d+)([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}

Word: TypeAlias = str | Moment | Acquaintance


@dataclass(slots=True)
class Words:
    """The values of one life or matter, and the randomness that chooses among wordings."""

    draw: random.Random
    values: dict[str, Word] = field(default_factory=dict)
    asked: datetime | None = None
    """When a request is made, for days as seen from there."""

    def with_values(self, values: Mapping[str, Word], asked: datetime | None = None) -> "Words":
        """These and further values."""
        return Words(self.draw, {**self.values, **values}, asked or self.asked)

    def text(
        self,
        template: str,
        taken: list[str] | None = None,
        drawn: dict[str, str] | None = None,
        *,
        full: bool = False,
    ) -> str:
        """The template with choices made and values filled in.

        Args:
            template: The template.
            taken: Choices of another template, which `@1`, `@2` stand for; those made here are
                appended.
            drawn: Values that another template of the same request has drawn; those drawn here are
                added.
            full: Whether people are given by their whole names, as in a call's arguments.

        Raises:
            KeyError: A value is missing.
        """
        taken = [] if taken is None else taken
        before = list(taken)
        while found := _CHOICE.search(template):
            option = self.draw.choice(found[1].split("|"))
            taken.append(option)
            template = template[: found.start()] + option + template[found.end() :]
        template = _TAKEN.sub(lambda one: _nth(before or taken, int(one[1])), template)
        known = {} if drawn is None else drawn

        def value(one: re.Match[str]) -> str:
            slot = one[1].replace(".", ":").removesuffix(":cap")
            key = f"{slot}/{full}"
            if key not in known:
                known[key] = self._value(slot, full)
            text = known[key]
            return text[:1].upper() + text[1:] if one[1].endswith(":cap") else text

        for _ in range(3):  # values may have slots of their own
            if "{" not in template:
                break
            template = _SLOT.sub(value, template)
        return tidy(template)

    def _value(self, slot: str, full: bool) -> str:
        name, _, form = slot.partition(":")
        word = self._word(name)
        if isinstance(word, Moment):
            text = word.written(form or "clock", self.asked, self.draw)
        elif isinstance(word, Acquaintance):
            text = word.contact.name if full else word.written(form)
        else:
            text = word
            if form == "low":
                text = word[:1].lower() + word[1:]
        return text

    def _word(self, name: str) -> Word:
        if name in self.values:
            return self.values[name]
        if (far := _OFFSET.fullmatch(name)) and isinstance(base := self.values[far[1]], Moment):
            step = int(far[3]) * (1 if far[2] == "+" else -1)
            moved = base.at + timedelta(**{_UNITS[far[4]]: step})
            return Moment(moved, base.clock, base.month_first)
        if re.fullmatch(r"n\d+", name):
            return str(_number(int(name[1:]), self.draw))
        raise KeyError(name)


def chosen(template: str, draw: random.Random) -> str:
    """The template with its choices made, and nothing else."""
    while found := _CHOICE.search(template):
        option = draw.choice(found[1].split("|"))
        template = template[: found.start()] + option + template[found.end() :]
    return template


def agreeing(template: str, draw: random.Random) -> str:
    """The template with its choices made; those with equally many options take the same place."""
    places: dict[int, int] = {}
    while found := _CHOICE.search(template):
        options = found[1].split("|")
        place = places.setdefault(len(options), draw.randrange(len(options)))
        template = template[: found.start()] + options[place] + template[found.end() :]
    return template


def _nth(taken: list[str], number: int) -> str:
    return taken[number - 1] if number <= len(taken) else ""


def _number(size: int, draw: random.Random) -> int:
    """A number of about that size."""
    if size < 10:
        return draw.randint(2, size)
    away = size * 2 // 5 if size <= 20 else max(2, size // 14)
    return draw.randint(size - away, size + away)


def tidy(text: str) -> str:
    """The text without what empty choices leave behind."""
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r"\b([Aa]) (?=(?!one\b|eu|uni|use|usu)[aeiou][a-z])", r"\1n ", text)
    text = re.sub(r"\b([Tt]he|[Aa]n?) (?=(?:the|an?) [a-z])", "", text)
    text = re.sub(r" ([,.!?;:])", r"\1", text)
    text = re.sub(r"([,;:])(?=[,;:.!?])", "", text)
    return re.sub(r" *\n *", "\n", text).strip(" ,")


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?" else f"{text}."
