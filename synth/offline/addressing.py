"""What a contact is called, and whether it is a woman or a man."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from stores.people.items import Contact
from synth.offline.countries import Gender
from synth.offline.trades import read_data

_FEMALE = re.compile(
    r"wife|mother|daughter|sister|aunt|niece|grandmother|gran\b|mum|mom|mam\b|girlfriend|bride|"
    r"landlady|midwife|granddaughter|nun\b|fiancée|girl\b|seamstress|waitress|actress|mistress|"
    r"widow\b|spokeswoman|women",
    re.IGNORECASE,
)
_MALE = re.compile(
    r"husband|father|son\b|brother|uncle|nephew|grandfather|dad\b|boyfriend|grandson|landlord|"
    r"priest|groom\b|fiancé\b|\bboy\b|groundsman|foreman|postman|\bmonk\b|imam|rabbi",
    re.IGNORECASE,
)
_KIN = re.compile(r"^(?:(?:Father|Mother|Brother|Sister)-in-law|Cousin|Neighbour|Boss) (?=\w)")
"""What stands before a name in an address book and is not said."""


@cache
def _titled(*kinds: str) -> re.Pattern[str]:
    """Names that begin with a title of these kinds; of any without one."""
    titles: dict[str, str] = read_data("titles.yaml")
    words = [word for kind in kinds or titles for word in titles[kind].split()]
    return re.compile(rf"^(?:{'|'.join(words)})\b\.?", re.IGNORECASE)


def called(contact: Contact) -> str:
    """What the owner calls a contact: the first name, or a titled name whole."""
    name = _KIN.sub("", contact.name)
    if _titled().match(name) or len(name.split()) < 2:
        return name
    first = name.split()[0]
    return contact.name if first.endswith(("'s", "’s")) else first


def gender_in(relation: str) -> Gender | None:
    """Of somebody in a relation; None where it does not say."""
    if _FEMALE.search(relation):
        return "female"
    return "male" if _MALE.search(relation) else None


def gender_of(contact: Contact, home: Mapping[Gender, Sequence[str]]) -> Gender:
    """A contact's gender by relation, else by name."""
    if told := gender_in(contact.relation):
        return told
    if _titled("man").match(contact.name):
        return "male"
    if _titled("woman").match(contact.name):
        return "female"
    words = contact.name.split()[:2]
    return "male" if any(one in home["male"] for one in words) else "female"
