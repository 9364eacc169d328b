"""The people whom a person knows."""

import re
from dataclasses import dataclass

from stores.people.items import Contact
from synth.offline.countries import Gender

_PROFESSIONS = frozenset(
    "dentist doctor vet midwife plumber landlord garage accountant trainer estate agent".split()
)


def bare(contact: Contact) -> str:
    """A relation without what tells more of it; nothing where it is longer than two words."""
    relation = re.split(r"[,(;]| in | at | of | for | from | since | across ", contact.relation)[0]
    return relation.strip() if len(relation.split()) < 3 else ""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Somebody in the person's circle."""

    key: str
    """The role in the life: `partner`, `mother`, `boss`, `dentist`, …"""
    contact: Contact
    first: str
    last: str
    gender: Gender
    called: str
    """What the person calls them in writing: a first name, "Babcia"."""

    def written(self, form: str) -> str:
        """The name in one of the forms that templates use.

        Args:
            form: `first`, `last`, `full`, `she` (she, he), `her` (her, him), or empty for what
                the person calls them.

        Raises:
            ValueError: There is no such form.
        """
        female = self.gender == "female"
        match form:
            case "":
                return self.called
            case "first":
                return self.first
            case "last":
                return self.last
            case "full":
                return self.contact.name
            case "she":
                return "she" if female else "he"
            case "her":
                return "her" if female else "him"
        raise ValueError(f"form: there is no form {form!r} of a person")

    def spoken(self) -> tuple[str, ...]:
        """What the person says for them when nobody else can be meant."""
        known = {
            "partner": ("my wife",) if self.gender == "female" else ("my husband",),
            "mother": ("my mother", "mum"),
            "father": ("my father", "dad"),
            "sibling": ("my sister",) if self.gender == "female" else ("my brother",),
            "grandparent": ("gran",) if self.gender == "female" else ("grandpa",),
            "neighbour": ("the neighbour",),
            "boss": ("the boss", "my boss"),
        }
        if self.key == "partner" and self.contact.relation not in ("wife", "husband"):
            return (self.called, self.first)
        trade = self.contact.relation.split(" ")[0]
        if self.key == self.contact.relation and trade in _PROFESSIONS:
            return (f"the {self.contact.relation}", self.called)
        return (self.called, self.called, *known.get(self.key, ()))
