"""One address book into another: the same person twice is one contact, and nothing is erased."""

import re
from collections.abc import Sequence
from dataclasses import replace

from stores.people.items import Contact, Person

_MUTUAL = frozenset("spouse partner friend sibling colleague cousin neighbour neighbor".split())
"""Relations that hold the other way round too."""
_SAME_ENDING = 7
"""Digits from which on two spellings of a number may differ by country code or leading zero."""


def merged(old: Person, new: Person) -> Person:
    """The imported person with the contacts that they have already and those that are new."""
    return replace(new, contacts=with_contacts(old.contacts, new.contacts, new.profile.name))


def with_contacts(
    old: Sequence[Contact], new: Sequence[Contact], owner: str
) -> tuple[Contact, ...]:
    """The contacts of two address books.

    A card is merged into a contact of the same name that shares a number, a mail address or an
    identity with it, or contradicts it in nothing; where several could be meant, or something
    contradicts, it is a contact of its own.

    Args:
        old: Contacts so far.
        new: Contacts to add, in the order of their file.
        owner: Name of the person whose contacts they are: their own card tells who is whose.
    """
    contacts = list(old)
    for card in new:
        place = _place(card, contacts, len(old))
        if place is None:
            contacts.append(card)
        else:
            contacts[place] = _joined(contacts[place], card)
    return tuple(_with_relations(contacts, owner))


def _place(card: Contact, contacts: Sequence[Contact], known: int) -> int | None:
    """Position of the contact that the card belongs to; those from `known` on are of its own
    book, in which an identity that two cards have is no identity."""
    namesakes = [
        place
        for place, one in enumerate(contacts)
        if _same_name(one.name, card.name)
        or (_identical(one, card) and (place < known or _reached_alike(one, card)))
    ]
    for place in namesakes:
        if _joined(contacts[place], card) == contacts[place]:
            return place
    for place in namesakes:
        if _identical(contacts[place], card) or _reached_alike(contacts[place], card):
            return place
    fitting = [place for place in namesakes if not _contradicts(contacts[place], card)]
    return fitting[0] if len(fitting) == 1 else None


def _identical(one: Contact, other: Contact) -> bool:
    """Whether both have one identity, and are not plainly two people: some phones and exports
    number the cards of each book from 1."""
    if not one.uid or one.uid != other.uid:
        return False
    names, others = _words(one.name), _words(other.name)
    if _reached_alike(one, other) or names[:1] == others[:1]:
        return True
    return not set(names).isdisjoint(others) and not _contradicts(one, other)


def _same_name(one: str, other: str) -> bool:
    """Whether two names are one, in whichever order: `Berg, Ole` and `Ole Berg`."""
    return _folded(one) == _folded(other) or (
        len(_words(one)) > 1 and sorted(_words(one)) == sorted(_words(other))
    )


def _is_better(old: Contact, new: Contact) -> bool:
    """Whether the newer name counts: that of one identity, or one that is not turned round."""
    return bool(new.uid and new.uid == old.uid) or ("," in old.name and "," not in new.name)


def _reached_alike(one: Contact, other: Contact) -> bool:
    mails = {mail.casefold() for mail in one.all_emails()}
    return any(mail.casefold() in mails for mail in other.all_emails()) or any(
        same_number(mine, theirs) for mine in one.all_phones() for theirs in other.all_phones()
    )


def _contradicts(one: Contact, other: Contact) -> bool:
    said = ((one.organisation, other.organisation), (one.birthday, other.birthday))
    if any(mine and theirs and _folded(mine) != _folded(theirs) for mine, theirs in said):
        return True
    # Two numbers, or two addresses, and none in common: rather ask than call the wrong one.
    return bool(one.all_phones() and other.all_phones()) or bool(
        one.all_emails() and other.all_emails()
    )


def _joined(old: Contact, new: Contact) -> Contact:
    """Both; where they differ, what is newer stands first, or alone where there is room for one."""
    phones = _numbers((*new.all_phones(), *old.all_phones()))
    emails = _once((*new.all_emails(), *old.all_emails()))
    note = new.note if not old.note or old.note in new.note else old.note
    if new.note and new.note not in note:
        note = f"{old.note}\n{new.note}"
    return Contact(
        name=new.name if _is_better(old, new) else old.name,
        relation=new.relation or old.relation,
        phone=phones[0] if phones else None,
        email=emails[0] if emails else None,
        phones=phones if new.phones or old.phones else (),
        emails=emails if new.emails or old.emails else (),
        nicknames=_once((*new.nicknames, *old.nicknames)),
        organisation=new.organisation or old.organisation,
        title=new.title or old.title,
        related=_once((*new.related, *old.related)),
        birthday=new.birthday or old.birthday,
        addresses=_once((*new.addresses, *old.addresses)),
        note=note,
        uid=new.uid or old.uid,
    )


def _with_relations(contacts: Sequence[Contact], owner: str) -> list[Contact]:
    """Contacts with the relation that the owner's own card says, or their card of the owner."""
    mine = {
        _folded(who): kind
        for card in contacts
        if _folded(card.name) == _folded(owner)
        for kind, _, who in (one.partition(": ") for one in card.related)
        if who
    }
    names = {_folded(owner), *_folded(owner).split()[:1]}
    found = []
    for card in contacts:
        kind = mine.get(_folded(card.name), "")
        if not kind and _folded(card.name) != _folded(owner):
            theirs = (one.partition(": ") for one in card.related)
            kinds = [kind for kind, _, who in theirs if _folded(who) in names]
            kind = next((kind for kind in kinds if kind in _MUTUAL), "")
        found.append(replace(card, relation=kind) if kind and not card.relation else card)
    return found


def same_number(one: str, other: str) -> bool:
    """Whether two spellings are one number: `+49 151 2345678` and `0151 2345678`."""
    short, long = sorted((_digits(one).lstrip("0"), _digits(other).lstrip("0")), key=len)
    return bool(short) and (short == long or (len(short) >= _SAME_ENDING and long.endswith(short)))


def _numbers(numbers: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for number in numbers:
        if not any(number == one or same_number(number, one) for one in kept):
            kept.append(number)
    return tuple(kept)


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple({_folded(one): one for one in reversed(texts)}.values())[::-1]


def _digits(number: str) -> str:
    return "".join(re.findall(r"\d", number))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", name.casefold())
