"""Questions that the address book answers: numbers, addresses, birthdays, and who somebody is."""

import re
from collections.abc import Sequence
from datetime import date, datetime

from ctrag.assistant.apps.lookup import one_line
from ctrag.assistant.planning.mentions import mention_words, mentioned, told_apart
from ctrag.text.words import STOPWORDS, words
from stores.people.items import Contact, Person

_LEAD = (
    r"\W*(?:(?:hey|ok(?:ay)?|so|and|please|um|uh)\W+)*(?:(?:can|could) you (?:please )?)?"
    r"(?:(?:tell|give|show) me |look up |find |do (?:you|i) have |i need )?"
    r"(?:what(?:'s|’s| is| are|s)? |when(?:'s|’s| is|s)? )?"
)
_WHO = r"(?P<who>(?:my |the )?[^\W\d][\w .'’-]{0,50}?)"
_KIND = (
    r"(?:(?:home|work|office|direct)\s+)?(?P<kind>(?:tele|cell ?|mobile )?phone(?: number)?|mobile"
    r"(?: number)?|cell(?: number)?|number|e-?mail(?: address)?|(?:postal |street )?address"
    r"|birthday|bday)(?:,? please)?"
)
_OF_THEIRS = re.compile(rf"{_LEAD}{_WHO}(?:['’]s|(?<=s)['’])\s+{_KIND}\W*", re.IGNORECASE)
_THE_OF = re.compile(
    rf"{_LEAD}(?:the |a )?{_KIND}\s+(?:of|for)\s+{_WHO}(?:,? please)?\W*", re.IGNORECASE
)
_LIVES = re.compile(rf"\W*where (?:does|do) {_WHO} live\W*", re.IGNORECASE)
_OLD = re.compile(
    rf"\W*how old (?:is|will) {_WHO}(?: be)?\W*|\W*when was {_WHO.replace('who', 'born')} born\W*",
    re.IGNORECASE,
)
_WHO_IS = re.compile(rf"\W*who(?:['’]s| is|s)\s+{_WHO}\W*", re.IGNORECASE)
_ASKED_AT_MOST = 160
"""Characters of such a question."""


def told_of_contact(text: str, person: Person, at: datetime) -> str | None:
    """The answer to a question about a contact; None where a text is no such question, or is about
    nobody whom the person has, or about several of whom none is told apart.

    Args:
        text: What was said.
        person: Whose contacts.
        at: When it was said.
    """
    if len(text) > _ASKED_AT_MOST:
        return None
    if found := _OF_THEIRS.fullmatch(text) or _THE_OF.fullmatch(text):
        kind, who = found["kind"].casefold(), found["who"]
    elif found := _LIVES.fullmatch(text):
        kind, who = "address", found["who"]
    elif found := _OLD.fullmatch(text):
        kind, who = "birthday", found["who"] or found["born"]
    elif found := _WHO_IS.fullmatch(text):
        kind, who = "all", found["who"]
    else:
        return None
    contacts = _meant(who, person.contacts, text)
    told = [_told(one, kind, person.label(one), at.date()) for one in contacts]
    return "\n".join(one for one in told if one) or None


def _meant(who: str, contacts: Sequence[Contact], text: str) -> list[Contact]:
    said = {word for word in words(who) if word not in STOPWORDS}
    found = told_apart(mentioned(who, contacts), text)
    return [one for one in found if said <= mention_words(one)]


def _told(contact: Contact, kind: str, name: str, today: date) -> str:
    """One fact of a contact, or what is known in all; says it where the fact is not known."""
    if kind == "all":
        return _all_known(contact, name, today)
    if kind in ("birthday", "bday"):
        # Where the address book has none, the calendar may.
        return f"{name}: {_birthday(contact.birthday, today)}." if contact.birthday else ""
    if "mail" in kind:
        values, noun = contact.all_emails(), "mail address"
    elif kind.endswith("address"):
        values, noun = contact.addresses, "postal address"
    else:
        values, noun = contact.all_phones(), "phone number"
    known = "; ".join(map(one_line, values))
    return f"{name}: {known}." if known else f"{name} has no {noun} in your contacts."


def _all_known(contact: Contact, name: str, today: date) -> str:
    born = f"birthday {_birthday(contact.birthday, today)}" if contact.birthday else ""
    nicknames = ", ".join(f"“{one}”" for one in contact.nicknames)
    facts = (
        f"your {contact.relation}" if contact.relation else "",
        contact.title,
        contact.organisation if contact.organisation != contact.name else "",
        f"also called {nicknames}" if nicknames else "",
        *contact.all_phones()[:1],
        *contact.all_emails()[:1],
        born,
    )
    known = ", ".join(one_line(one) for one in facts if one)
    return f"{name}: {known}." if known else f"{name} is one of your contacts; no more is known."


_OLDEST = 1800
"""Years up to this one stand for unknown ones."""


def _birthday(text: str, today: date) -> str:
    """The coming birthday: "Mon 21 Sep 2026, 70 years"."""
    found = re.fullmatch(r"(?P<year>.*?)-?(?P<month>0[1-9]|1[0-2])-?(?P<day>[0-2]\d|3[01])", text)
    if found is None:
        return one_line(text)
    year, month, day = found["year"], found["month"], found["day"]
    coming = _on(today.year, int(month), int(day))
    if coming < today:
        coming = _on(today.year + 1, int(month), int(day))
    age = coming.year - int(year) if year.isdigit() and int(year) > _OLDEST else 0
    return f"{coming:%a %-d %b %Y}{f', {age} years' if age > 0 else ''}"


def _on(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:  # 29 February
        return date(year, 2, 28)
