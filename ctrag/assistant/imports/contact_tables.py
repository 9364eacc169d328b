"""Contacts as tables: the CSV files of Google Contacts, Outlook, Thunderbird and others."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

import yaml

from ctrag.assistant.imports.birthdays import birthday, yearly
from ctrag.assistant.imports.cards import LONGEST_NOTE
from ctrag.assistant.imports.contact_addresses import addresses
from ctrag.assistant.imports.contact_names import LONGEST_NAME, called
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.assistant.imports.tables import first, folded, read_table
from ctrag.assistant.imports.times import day_first, in_order
from stores.people.items import Contact

_MAIL = re.compile(
    r"(?!.*\b(?:type|typ|tipo|label|etikett)\b)"
    r".*(?:\be ?mail|courriel|messagerie|correo|posta elettronica|\be ?post|sähköposti|\be ?posta|"
    r"\be ?posta|почт|邮箱|邮件|郵件|メール|이메일|메일).*"
)
_ADDRESS = re.compile(r"[^\s@<>]{1,200}@[^\s@<>]{1,200}")
_PHONE = re.compile(
    r"(?!.*\b(?:type|label|typ)\b|.*phonetic)"
    r".*(?:phone|telefon|téléphone|teléfono|telefoon|rufnummer|\bt[eé]l\b|mobil|móvil|handy|cellular|celular|"
    r"komórk|puhelin|\bgsm\b|mobiel|телефон|τηλέφων|κινητ|手机|手機|电话|電話|携帯|전화|휴대|fax|"
    r"pager).*"
    r"|home|work|mobile"
)
_ALSO_PHONE = re.compile(
    r"callback|call back|rückmeldung|rückruf|rappel|devolución de llamada|richiamata|isdn|telex"
)
"""Headings of numbers in Outlook's tables; such words say nothing of what a table is."""
_NUMBERED = {"number", "nummer", "numéro", "número", "numero", "nr", "no"}
"""Headings of numbers that are for calling where a table has only names beside them."""
_FAX = re.compile(r".*(?:fax|pager|telex|isdn|tty).*")
_MOBILE = re.compile(r".*(?:mobil|handy|cell?ular|\bcell|móvil|mobiel|komórk|matkapuh|\bgsm\b).*")
_RELATED = re.compile(r"relation (\d) value")
_EVENT = re.compile(r"event (\d) value")


@cache
def _columns() -> dict[str, tuple[str, ...]]:
    """What a contact has → headings of the columns that have it."""
    text = files("ctrag.assistant.imports").joinpath("contact_columns.yaml").read_text("utf-8")
    return {str(kind): tuple(names) for kind, names in yaml.safe_load(text).items()}


def is_contacts(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings holds contacts."""
    columns = _columns()
    reached = any(_MAIL.fullmatch(one) or _PHONE.fullmatch(one) for one in headings)
    listed = {one for kind in ("given", "family", "whole", "nick", "note") for one in columns[kind]}
    only_names = bool(headings & _NUMBERED) and headings - _NUMBERED <= listed
    named = ("given", "family", "whole", "filed", "nick", "company")
    return (
        (reached or only_names)
        and any(headings.intersection(columns[kind]) for kind in named)
        and not (headings & {"duration", "dauer", "call type", "durée"})
    )


def read_contact_table(data: bytes, owner: Owner) -> Found:
    """The contacts of a CSV file in which a program wrote its address book."""
    table = read_table(data, "contact")
    found = Found(left_out=table.left_out)
    english = bool(table.rows) and "birthday" in table.rows[0]  # of Britain or of America
    order = day_first(map(_born, table.rows), None if english else True)
    for number, row in zip(table.lines, table.rows, strict=True):
        contact = _contact(row, order)
        if contact is None:
            why = "it has no name, organisation, mail address or number"
            found.left_out.append(LeftOut("contact", f"line {number}", why))
        else:
            found.contacts.append(contact)
            for what, said in _days(row):
                if (day := birthday(in_order(said, order))) is not None:
                    title, uid = f"{contact.name}'s {what}", f"{what} {contact.name}"
                    found.items += yearly(title, day, uid, owner)
            said = _born(row)
            if said and contact.birthday is None and not re.fullmatch(r"[0/.\s-]*", said):
                why = f"the birthday {said[:30]!r} is no day, or may be two"
                found.left_out.append(LeftOut("contact", contact.name, why, lost=False))
            if len(first(row, *_columns()["note"])) > LONGEST_NOTE:
                why = f"its note is cut after {LONGEST_NOTE} characters"
                found.left_out.append(LeftOut("contact", contact.name, why, lost=False))
    return found


def _born(row: Mapping[str, str]) -> str:
    """The birthday as the row has it; Thunderbird has three columns, of which a language may call
    the one of the day as others call the birthday."""
    columns = _columns()
    month, day = first(row, *columns["birth month"]), first(row, *columns["birth day"])
    if month.isdigit() and day.isdigit():
        year = first(row, *columns["birth year"])
        return f"{year:0>4}-{month:0>2}-{day:0>2}" if year else f"---{month:0>2}-{day:0>2}"
    return first(row, *columns["born"])


def _days(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(what, day) of the days of the year that the row has beside the birthday."""
    if said := first(row, *_columns()["anniversary"]):
        yield "anniversary", said
    for name, value in row.items():
        numbered = _EVENT.fullmatch(name)
        if numbered and value:
            kind = first(row, f"event {numbered[1]} label", f"event {numbered[1]} type")
            yield " ".join(kind.strip("* ").casefold().split()) or "anniversary", value


def _contact(row: Mapping[str, str], order: bool | None) -> Contact | None:
    columns = _columns()
    phones, emails = tuple(_phones(row)), tuple(_emails(row))
    company = first(row, *columns["company"])
    whole = called(
        first(row, *columns["whole"]),
        given=first(row, *columns["given"]),
        family=first(row, *columns["family"]),
        prefix=first(row, "name prefix"),
        more=first(row, *columns["middle"]),
        suffix=first(row, "name suffix", "suffix"),
    )
    nicknames = tuple(filter(None, (first(row, *columns["nick"]),)))
    names = (whole, first(row, *columns["filed"]), company, *nicknames, *emails, *phones)
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
        title=_job(row)[:LONGEST_NAME],
        related=tuple(_related(row)),
        birthday=birthday(in_order(_born(row), order)),
        addresses=tuple(dict.fromkeys(addresses(row))),
        note=first(row, *columns["note"])[:LONGEST_NOTE],
    )


def _job(row: Mapping[str, str]) -> str:
    """The job; how somebody is addressed is none, though French has one word for both headings."""
    columns = _columns()
    address = set(columns["address"])
    for said in (row.get(name, "") for job in columns["job"] for name in (f"{job} 2", job)):
        if not address.issuperset(folded(said).split()):
            return said
    return ""


def _emails(row: Mapping[str, str]) -> Iterator[str]:
    """Addresses, starred ones first, as they or their labels say; Google joins those of one kind
    with `:::`."""
    found = [
        (one.strip(), "*" in _said_of(name, row) or one.strip().startswith("*"))
        for name, value in row.items()
        if _MAIL.fullmatch(name)
        for one in re.split(":::|[;,]", value)
    ]
    starred = (one for one, so in found if so)
    every = dict.fromkeys(one.strip("* ") for one in (*starred, *(one for one, _ in found)))
    yield from (one for one in every if _ADDRESS.fullmatch(one))


def _said_of(name: str, row: Mapping[str, str]) -> str:
    """The label that a numbered column has in another."""
    if "value" not in name:
        return ""
    return row.get(name.replace("value", "label"), row.get(name.replace("value", "type"), ""))


def _phones(row: Mapping[str, str]) -> Iterator[str]:
    """Numbers: starred ones, then mobile ones, which reach somebody anywhere; fax machines last."""
    phones = [name for name in row if _PHONE.fullmatch(name)]
    others = [name for name in row if _ALSO_PHONE.fullmatch(name)]
    others += [] if phones else [name for name in row if name in _NUMBERED]
    named = {name: row[name] for name in (*phones, *others) if re.search(r"\d", row[name])}
    labels = {name: _said_of(name, row) for name in named}

    def rank(name: str) -> int:
        said = f"{name} {labels[name].casefold()}"
        if _FAX.fullmatch(said):
            return 3
        return 0 if "*" in said else 1 if _MOBILE.fullmatch(said) else 2

    names = sorted(named, key=rank)
    values = [one.strip() for name in names for one in re.split(":::|;", named[name])]
    yield from dict.fromkeys(filter(None, values))


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
