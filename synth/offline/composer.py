"""What requests about declared applications are composed from: any person with their items."""

import random
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from stores.people.dataset import Persona
from stores.people.items import Contact, Item


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


def _bare(contact: Contact) -> str:
    relation = re.split(r"[,(;]| in | at | of | for | and ", contact.relation)[0].strip()
    return re.sub(r"^(his|her|my|the) ", "", relation)
