"""Composing requests from a person's items and phrase templates.

The templates are in `data/requests.yaml`, by situation.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

import yaml

from stores.people.dataset import Kind, Persona
from stores.people.items import Contact, Item, LabelledPlan, Labels, Request
from synth.offline.thoughts import thought
from synth.provider import LabelledRequest


@dataclass(frozen=True, slots=True)
class Composer:
    """Composes requests of one person."""

    persona: Persona
    draw: random.Random

    def of(self, app: str) -> list[Item]:
        """The items of an application in random order."""
        found = [item for item in self.persona.items if item.app == app]
        self.draw.shuffle(found)
        return found

    def made(
        self,
        kind: Kind,
        situation: str,
        at: datetime,
        relevant: Sequence[Item],
        tools: str,
        arguments: Mapping[str, str | int | list[str]],
        playing: str | None = None,
        place: str | None = None,
        **gaps: str,
    ) -> LabelledRequest:
        """A request from one of the situation's templates, calling the first of `tools`."""
        text = self.draw.choice(ways_of(situation)).format(**gaps)
        apis = tuple(tools.split())
        person = self.persona.person
        return LabelledRequest(
            Request(text, at, place or self._place(at), playing),
            Labels(
                kind=kind,
                chain_of_thought=thought(
                    relevant, person, at, apis[0] if apis else None, self.draw
                ),
                relevant=tuple(item.id for item in relevant),
                tools=apis,
                plan=LabelledPlan(apis[0], dict(arguments)) if apis else None,
            ),
        )

    def soon(self) -> datetime:
        """A time in waking hours within two days."""
        now = self.persona.person.now
        moment = now + timedelta(minutes=self.draw.randint(0, 2 * 24 * 60))
        hour = moment.hour if 7 <= moment.hour <= 22 else self.draw.randint(7, 21)
        return max(now, moment.replace(hour=hour))

    def related(self, name: str) -> str | None:
        """The relation of a contact if it is unique, as in "my {sister}"."""
        contact = self.persona.person.contact(name)
        relation = _bare(contact) if contact else ""
        alike = sum(_bare(one) == relation for one in self.persona.person.contacts)
        return relation if contact and alike == 1 and 0 < len(relation.split()) <= 2 else None

    def other(self, name: str) -> tuple[str, str] | None:
        """Full name and relation of another contact."""
        people = [one.name for one in self.persona.person.contacts if one.name != name]
        self.draw.shuffle(people)
        pairs = ((one, self.related(one)) for one in people)
        return next(((one, relation) for one, relation in pairs if relation), None)

    def _place(self, at: datetime) -> str:
        working = 9 <= at.hour <= 16 and at.weekday() < 5
        return "work" if working and self.draw.random() < 0.5 else "home"


@cache
def ways_of(situation: str) -> tuple[str, ...]:
    """The templates of a situation."""
    return tuple(str(_ways()[situation]).splitlines())


@cache
def _ways() -> dict[str, str]:
    path = files("synth.offline").joinpath("data", "requests.yaml")
    content: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _bare(contact: Contact) -> str:
    relation = re.split(r"[,(;]| in | at | of | for | and ", contact.relation)[0].strip()
    return re.sub(r"^(his|her|my|the) ", "", relation)
