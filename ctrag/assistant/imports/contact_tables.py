"""Contacts as tables: the CSV files of Google Contacts and Outlook."""

import re
from collections.abc import Iterator, Mapping

from ctrag.assistant.imports.birthdays import birthday
from ctrag.assistant.imports.cards import LONGEST_NAME, LONGEST_NOTE
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.tables import first, rows
from stores.people.items import Contact

_GIVEN = ("given name", "first name", "vorname", "prénom", "nombre", "nome", "voornaam")
_MIDDLE = (
    "additional name",
    "middle name",
    "weitere vornamen",
    "deuxième prénom",
    "segundo nombre",
)
_FAMILY = ("family name", "last name", "nachname", "nom", "apellidos", "cognome", "achternaam")
_WHOLE = ("name", "display name", "file as", "anzeigename", "nom complet", "full name")
_NICK = ("nickname", "spitzname", "surnom", "apodo", "soprannome", "bijnaam")
_COMPANY = (
    *("organization 1 name", "organization name", "company", "firma", "société", "organización"),
    *("società", "bedrijf", "organisation 1 name", "organisation name"),
)
_JOB = (
    *("organization 1 title", "organization title", "job title", "position", "titre", "puesto"),
    *("qualifica", "functie", "organisation title", "profession", "beruf"),
)
_BORN = ("birthday", "geburtstag", "anniversaire", "cumpleaños", "compleanno", "verjaardag")
_NOTE = ("notes", "note", "notizen", "notas", "opmerkingen")
_MAIL = re.compile(
    r"(?:e mail|email|courriel|adresse e mail|adresse de messagerie|dirección de correo"
    r"(?: electrónico)?|indirizzo posta elettronica|e mailadres)"
    r"(?: adresse| address| ?\d| ?\d value| ?\d adresse| ?\d address)?"
)
_PHONE = re.compile(
    r"(?!.*\b(?:type|label|typ)\b|.*phonetic)"
    r".*(?:phone|telefon|téléphone|teléfono|telefoon|mobil|móvil|handy|cellulare|fax|pager).*"
)
_FAX = re.compile(r".*(?:fax|pager|telex|isdn|tty).*")
_MOBILE = re.compile(r".*(?:mobil|handy|cell|móvil|cellulare|mobiel).*")
_STREET = re.compile(r"(?:address \d formatted|(?:home|business|other) address)")
_RELATED = re.compile(r"relation (\d) value")
COLUMNS = frozenset((*_GIVEN, *_FAMILY, *_NICK, *_COMPANY))
"""Headings of which a table of contacts has at least one."""


def is_contacts(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings holds contacts."""
    reached = any(_MAIL.fullmatch(one) or _PHONE.fullmatch(one) for one in headings)
    return (
        reached
        and bool(COLUMNS & headings or headings.intersection(_WHOLE))
        and not (headings & {"duration", "dauer", "call type", "durée"})
    )


def read_contact_table(data: bytes, owner: Owner) -> Found:
    """The contacts of a CSV file that Google Contacts or Outlook wrote."""
    found = Found()
    for number, row in enumerate(rows(data), start=2):
        contact = _contact(row)
        if contact is None:
            why = "it has no name, organisation, mail address or number"
            found.left_out.append(LeftOut("contact", f"line {number}", why))
        else:
            found.contacts.append(contact)
    return found


def _contact(row: Mapping[str, str]) -> Contact | None:
    phones, emails = tuple(_phones(row)), tuple(_several(row, _MAIL))
    company = first(row, *_COMPANY)
    parts = (first(row, "name prefix"), *(first(row, *one) for one in (_GIVEN, _MIDDLE, _FAMILY)))
    joined = " ".join(filter(None, (*parts, first(row, "name suffix", "suffix"))))
    nicknames = tuple(filter(None, (first(row, *_NICK),)))
    names = (first(row, *_WHOLE) or joined, company, *nicknames, *emails, *phones)
    name = next(filter(None, names), "")
    if not name:
        return None
    return Contact(
        name=" ".join(name.split())[:LONGEST_NAME],
        phone=phones[0] if phones else None,
        email=emails[0] if emails else None,
        phones=phones,
        emails=emails,
        nicknames=nicknames,
        organisation=company[:LONGEST_NAME],
        title=first(row, *_JOB)[:LONGEST_NAME],
        related=tuple(_related(row)),
        birthday=birthday(first(row, *_BORN)),
        addresses=tuple(dict.fromkeys(_addresses(row))),
        note=first(row, *_NOTE)[:LONGEST_NOTE],
    )


def _several(row: Mapping[str, str], pattern: re.Pattern[str]) -> Iterator[str]:
    """Values of matching columns; Google joins those of one kind with `:::`."""
    values = (value for name, value in row.items() if pattern.fullmatch(name) and value)
    found = [one.strip() for value in values for one in value.split(":::")]
    starred = [one.strip("* ") for one in found if one.startswith("*")]
    yield from dict.fromkeys(filter(None, (*starred, *(one.strip("* ") for one in found))))


def _phones(row: Mapping[str, str]) -> Iterator[str]:
    """Numbers: starred ones, then mobile ones, which reach somebody anywhere; fax machines last."""
    named = {name: value for name, value in row.items() if _PHONE.fullmatch(name) and value}
    labels = {
        name: row.get(name.replace("value", "label"), row.get(name.replace("value", "type"), ""))
        for name in named
    }

    def rank(name: str) -> int:
        said = f"{name} {labels[name].casefold()}"
        if _FAX.fullmatch(said):
            return 3
        return 0 if "*" in said else 1 if _MOBILE.fullmatch(said) else 2

    names = sorted(named, key=rank)
    values = [one.strip() for name in names for one in named[name].split(":::")]
    yield from dict.fromkeys(filter(None, values))


def _addresses(row: Mapping[str, str]) -> Iterator[str]:
    for name, value in row.items():
        if value and _STREET.fullmatch(name):
            yield ", ".join(filter(None, (part.strip() for part in value.splitlines())))
    for kind in ("home", "business", "other"):
        parts = [
            first(row, f"{kind} {one}") for one in ("street", "postal code", "city", "country")
        ]
        if parts[0] or parts[2]:
            town = " ".join(filter(None, parts[1:3]))
            yield ", ".join(filter(None, (parts[0], town, parts[3])))


def _related(row: Mapping[str, str]) -> Iterator[str]:
    for name, value in row.items():
        numbered = _RELATED.fullmatch(name)
        if numbered and value:
            kind = first(row, f"relation {numbered[1]} label", f"relation {numbered[1]} type")
            yield f"{kind.strip('* ').casefold()}: {value}" if kind else value
    for kind in ("spouse", "manager", "assistant"):
        names = (f"{kind}", f"{kind} s name", f"{kind}s name")
        if value := first(row, *names):
            yield f"{kind}: {value}"
