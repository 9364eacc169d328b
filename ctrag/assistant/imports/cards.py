"""Address books (vCard 2.1, 3 and 4) as phones, Outlook and Google write them."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ctrag.assistant.imports.birthdays import birthday, yearly
from ctrag.assistant.imports.card_lines import Card, Property, cards, properties, unescaped
from ctrag.assistant.imports.contact_names import LONGEST_NAME, called
from ctrag.assistant.imports.found import Found, LeftOut, Owner
from ctrag.errors import InputError
from stores.people.items import Contact

LONGEST_NOTE = 4000
_MOST_VALUES = 50
"""Numbers, addresses or relations of one contact."""
_CODE = re.compile(r"_\$!<(.*)>!\$_")
"""Labels that Apple translates: `_$!<Spouse>!$_`."""
_RELATIVES = {
    "X-SPOUSE": "spouse",
    "X-MANAGER": "manager",
    "X-ASSISTANT": "assistant",
    "X-MS-SPOUSE": "spouse",
    "X-MS-CHILD": "child",
    "X-MS-MANAGER": "manager",
    "X-MS-ASSISTANT": "assistant",
    "X-EVOLUTION-SPOUSE": "spouse",
    "X-EVOLUTION-MANAGER": "manager",
    "X-EVOLUTION-ASSISTANT": "assistant",
    "X-KADDRESSBOOK-X-SPOUSESNAME": "spouse",
    "X-KADDRESSBOOK-X-MANAGERSNAME": "manager",
    "X-KADDRESSBOOK-X-ASSISTANTSNAME": "assistant",
}
_ANNIVERSARIES = (
    *("ANNIVERSARY", "X-ANNIVERSARY", "X-EVOLUTION-ANNIVERSARY", "X-MS-ANNIVERSARY"),
    "X-KADDRESSBOOK-X-ANNIVERSARY",
)
_ANDROID_RELATIONS = (
    "custom assistant brother child partner father friend manager mother parent partner "
    "referred relative sister spouse"
).split()
"""By the number that Android gives them."""


def read_contacts(data: bytes, owner: Owner) -> Found:
    """The contacts of an address book, card by card.

    Raises:
        InputError: It has no card.
    """
    found = Found()
    number = 0
    for number, card in enumerate(cards(data), start=1):
        _read(card, number, found, owner)
    if not number:
        raise InputError("not a vCard file: no line is BEGIN:VCARD")
    return found


def _read(card: Card, number: int, found: Found, owner: Owner) -> None:
    lines, strays = properties(card)
    named = _Named(lines)
    if any(one.text().casefold() == "group" for one in (*named("KIND"), *_groups(named))):
        what = _name(named) or f"card {number}"
        found.left_out.append(LeftOut("contact", what, "a group of contacts", lost=False))
        return
    phones = _numbers([*named("TEL"), *named("X-MS-TEL")])
    emails = _mails(named("EMAIL"))
    organisation = _organisation(named("ORG"))
    nicknames = _nicknames(named)
    names = (_name(named), organisation, *nicknames, *emails, *phones)
    name = next(filter(None, names), "")
    if not name:
        why = "it has no name, organisation, mail address or number"
        found.left_out.append(LeftOut("contact", f"card {number}", why))
        return
    born = next((one for one in named("BDAY") if one.text()), None)
    day = _birthday(born) if born else next(map(birthday, _androids_days(named, "3")), None)
    for what, on in _anniversaries(named, lines):
        found.items += yearly(f"{name}'s {what}", on, f"{what} {name}", owner)
    note = "\n".join(one.text() for one in named("NOTE") if one.text())
    found.contacts.append(
        Contact(
            name=name,
            phone=phones[0] if phones else None,
            email=emails[0] if emails else None,
            phones=phones,
            emails=emails,
            nicknames=nicknames,
            organisation=organisation,
            title=_first(named("TITLE"), named("ROLE")),
            related=_related(named, lines),
            birthday=day,
            addresses=_addresses(named("ADR"), named("LABEL")),
            note=note[:LONGEST_NOTE],
            uid=_first(named("UID"))[:LONGEST_NAME],
        )
    )
    parts = [
        (bool(strays), f"a line that is neither a property nor folded: {' / '.join(strays)[:80]}"),
        (not card.ended, "the card has no end; what was there is kept"),
        (born is not None and day is None, f"the birthday {born and born.text()[:30]!r} is no day"),
        (len(note) > LONGEST_NOTE, f"its note is cut after {LONGEST_NOTE} characters"),
    ]
    found.left_out += [LeftOut("contact", name, why, lost=False) for so, why in parts if so]


class _Named:
    """Properties by name, the preferred ones first."""

    def __init__(self, lines: Sequence[Property]) -> None:
        self._lines: dict[str, list[Property]] = {}
        for one in lines:
            self._lines.setdefault(one.name, []).append(one)
        for found in self._lines.values():
            found.sort(key=Property.preference)

    def __call__(self, name: str) -> list[Property]:
        return self._lines.get(name, [])


def _groups(named: _Named) -> list[Property]:
    return named("X-ADDRESSBOOKSERVER-KIND")


def _first(*groups: Sequence[Property]) -> str:
    texts = (_line(one.text()) for group in groups for one in group)
    return next(filter(None, texts), "")


def _name(named: _Named) -> str:
    whole = _first(named("FN"))
    for one in named("N"):
        family, given, more, prefix, suffix = [*map(_line, one.parts()), "", "", "", "", ""][:5]
        if name := called(
            whole, given=given, family=family, prefix=prefix, more=more, suffix=suffix
        ):
            return name
    return whole


def _organisation(lines: Sequence[Property]) -> str:
    for one in lines:
        if parts := [_line(part) for part in one.parts() if part]:
            return ", ".join(parts)[:LONGEST_NAME]
    return ""


def _nicknames(named: _Named) -> tuple[str, ...]:
    names = [name for one in named("NICKNAME") for name in one.parts(",")]
    names += [one.text() for one in named("X-NICKNAME")]
    names += [parts[1] for parts in _android(named, "nickname") if len(parts) > 1]
    return _once(names)


def _numbers(lines: Sequence[Property]) -> tuple[str, ...]:
    """Numbers, preferred ones first; those of fax machines and pagers last, whatever is said."""
    unheard = {"FAX", "PAGER", "MODEM", "BBS"}
    ordered = sorted(lines, key=lambda one: bool(one.types() & unheard))
    return _once(map(_number, ordered))


def _number(line: Property) -> str:
    """The number; of an address such as `tel:+49-30-123;ext=5`, without its parameters."""
    text = line.text()
    if not text.casefold().startswith("tel:"):
        return text
    number, *more = text[4:].split(";")
    extension = next((one[4:] for one in more if one.casefold().startswith("ext=")), "")
    return f"{number} ext. {extension}" if extension else number


def _mails(lines: Sequence[Property]) -> tuple[str, ...]:
    bare = (re.sub(r"^mailto:", "", one.text(), flags=re.IGNORECASE) for one in lines)
    addresses = (re.search(r"[^\s<>]{1,200}@[^\s<>]{1,200}", one[:500]) for one in bare)
    return _once(one[0] for one in addresses if one)


def _addresses(lines: Sequence[Property], labels: Sequence[Property]) -> tuple[str, ...]:
    found = []
    for one in lines:
        box, more, street, city, region, code, country = [*one.parts(), *[""] * 7][:7]
        town = " ".join(filter(None, (code, city)))
        parts = map(_line, (street, more, box, town, region, country))
        found.append(", ".join(filter(None, parts)) or _label(one))
    return _once([*found, *([] if any(found) else (one.text() for one in labels))])


def _label(line: Property) -> str:
    """The address as it is printed on a letter, which version 4 has as a parameter."""
    said = (line.parameters.get("LABEL") or [""])[0]
    lines = unescaped(re.sub(r"\^n", r"\\n", said)).splitlines()
    return ", ".join(filter(None, (one.strip(" ,") for one in lines)))


def _related(named: _Named, lines: Sequence[Property]) -> tuple[str, ...]:
    labels = _labels(named)
    found = []
    for one in lines:
        who = one.text()
        if one.name == "X-ABRELATEDNAMES":
            found.append((labels.get(one.group, "") or _kind(one), who))
        elif one.name == "RELATED" and not re.match(r"(urn|https?|mailto|data):", who):
            found.append((_kind(one), who))
        elif _RELATIVES.get(one.name):
            found.append((_RELATIVES[one.name], who))
    for parts in _android(named, "relation"):
        who, kind, label = [*parts[1:], "", "", ""][:3]
        known = _ANDROID_RELATIONS[int(kind)] if kind in map(str, range(1, 15)) else ""
        found.append((known or label, who))
    return _once(f"{kind.casefold()}: {who}" if kind else who for kind, who in found if who)


def _labels(named: _Named) -> dict[str, str]:
    """Group → its label, as Apple's and Google's cards have them."""
    return {one.group: _CODE.sub(r"\1", one.text()) for one in named("X-ABLABEL") if one.group}


def _kind(line: Property) -> str:
    kinds = sorted(line.types() - {"PREF", "HOME", "WORK", "OTHER", "TEXT"})
    return _CODE.sub(r"\1", kinds[0]) if kinds else ""


def _android(named: _Named, kind: str) -> list[list[str]]:
    """Values that Android keeps beside the standard: `…/nickname;Bob;1;;;`."""
    every = (one.parts() for one in named("X-ANDROID-CUSTOM"))
    return [parts for parts in every if parts[0].rpartition("/")[2].casefold() == kind]


def _birthday(line: Property | None) -> str | None:
    if line is None:
        return None
    omitted = (line.parameters.get("X-APPLE-OMIT-YEAR") or [""])[0]
    return birthday(line.text(), without_year=omitted)


def _androids_days(named: _Named, kind: str) -> list[str]:
    """Days that Android keeps of this kind: 1 is an anniversary, 3 a birthday."""
    every = (one[1:3] for one in _android(named, "contact_event"))
    return [one[0] for one in every if one[1:] == [kind]]


def _anniversaries(named: _Named, lines: Sequence[Property]) -> Iterator[tuple[str, str]]:
    """(what, day) of every day of the year that is kept beside the birthday."""
    said = [text for name in _ANNIVERSARIES for one in named(name) if (text := one.text())]
    labels = _labels(named)
    days = [("anniversary", text) for text in (*said, *_androids_days(named, "1"))]
    days += [
        (labels.get(one.group, "").casefold() or "anniversary", one.text())
        for one in lines
        if one.name == "X-ABDATE"
    ]
    for what, text in days[:_MOST_VALUES]:
        day = birthday(text)
        if day is not None:
            yield _line(what), day


def _line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_NAME]


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_line, texts))))[:_MOST_VALUES]
