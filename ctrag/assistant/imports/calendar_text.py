"""What calendar components say in words: titles, notes, places, people."""

import html
import re
from collections.abc import Iterator, Sequence

from ctrag.assistant.imports.calendar_lines import Component, Property
from ctrag.assistant.imports.mail.html import html_text

NO_TITLE = "(no title)"
BUSY = "Busy"
"""Title of an event that is marked as private and says nothing else."""
_MARKUP = re.compile(
    r"<(?:html|body|p|br|div|b|i|u|a|span|ul|ol|li|table|tr|td|strong|em|h[1-6]|font|pre)"
    r"(?:\s+[\w:-]+\s*=[^>]*)?\s*/?>",
    re.IGNORECASE,
)
_LEAD = re.compile(r"<(head|style|script)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_MOST_TAGS = 20_000
_NOT_A_GIVEN_NAME = frozenset(
    "inc inc. ltd ltd. llc gmbh ag co co. corp corp. jr jr. sr sr. md m.d. phd ph.d. esq.".split()
)
_ENTITY = re.compile(
    r"(?P<address>\w+://\S+)|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w*);", re.IGNORECASE
)
"""What markup writes for a letter; an address is passed over, whose `&copy=1` is none."""
_NOBODY = re.compile(r"(?:unknownorganizer@|.*@(?:[\w-]+\.)+)calendar\.google\.com")
"""Addresses of calendars, rooms and of nobody in particular."""
_PLACE_LINK = re.compile(r"(?<=\s)<(https?://[^<>\s]*)>")
"""The link of a call behind the name of a place."""
_LINKS = ("URL", "CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL")


def title_of(component: Component) -> str:
    """The title; of one without, `BUSY` where it is private and says nothing, else `NO_TITLE`."""
    title = " ".join(_decoded(plain(component.text("SUMMARY"))).split())
    if title:
        return title
    private = component.text("CLASS").upper() in ("PRIVATE", "CONFIDENTIAL")
    says = component.text("LOCATION", "DESCRIPTION", "X-ALT-DESC")
    return BUSY if private and not says else NO_TITLE


def notes_of(component: Component) -> str | None:
    """The notes as plain text, with the links that they do not have themselves, whom to ask, and
    what is attached by its address."""
    notes = plain(component.text("DESCRIPTION")) or plain(component.text("X-ALT-DESC"))
    for said in (*_remarks(component), *_links(component)):
        if said not in notes:
            notes = f"{notes}\n{said}".strip()
    return notes or None


def has_inner_files(component: Component) -> bool:
    """Whether files are attached that the calendar holds itself, or an address of a message."""
    return any(not _is_link(line.text) for line in component.all("ATTACH") if line.value.strip())


def _remarks(component: Component) -> Iterator[str]:
    for line in component.all("CONTACT"):
        if who := " ".join(plain(line.text).split()):
            yield f"Contact: {who}"
    for line in component.all("COMMENT"):
        if said := plain(line.text):
            yield said
    for line in component.all("ATTACH"):
        name = line.parameters.get("FILENAME", "")
        if _is_link(line.text):
            yield f"{name}: {line.text}" if name else line.text


def _links(component: Component) -> Iterator[str]:
    found = [line.text for name in _LINKS for line in component.all(name)]
    found += _PLACE_LINK.findall(plain(component.text("LOCATION")))
    yield from (one for one in found if _is_link(one))


def _is_link(text: str) -> bool:
    return text.lower().startswith(("http://", "https://", "tel:"))


def place_of(component: Component) -> str | None:
    """The place, on one line."""
    said = _PLACE_LINK.sub("", plain(component.text("LOCATION")))
    place = " ".join(_decoded(said).split())
    return place or _apples_place(component) or None


def _apples_place(component: Component) -> str:
    """The place that Apple's calendar keeps beside the standard: its name and address."""
    lines = component.all("X-APPLE-STRUCTURED-LOCATION")
    said = [lines[0].parameters.get(name, "") for name in ("X-TITLE", "X-ADDRESS")] if lines else []
    parts = [part.strip(" ,") for one in said for part in re.split(r"\\n|\n", one)]
    return ", ".join(dict.fromkeys(filter(None, parts)))


def people_of(component: Component) -> tuple[str, ...]:
    """Who organises and who takes part, each once; those who declined are left out, as are rooms
    and calendars."""
    lines = [*component.all("ORGANIZER")[:1], *component.all("ATTENDEE")]
    gone = {address_of(one) for one in lines if _state(one) == "DECLINED"} - {""}
    people: dict[str, str] = {}
    for one in lines:
        kind = one.parameters.get("CUTYPE", "").upper()
        if kind in ("ROOM", "RESOURCE") or _state(one) == "DECLINED":
            continue
        address, name = address_of(one), name_of(one)
        if name and address not in gone and not _NOBODY.fullmatch(address):
            people.setdefault(address or name.casefold(), name)
    return tuple(dict.fromkeys(people.values()))


def declined_by(component: Component, addresses: Sequence[str]) -> bool:
    """Whether one of these addresses declined."""
    mine = {address.casefold() for address in addresses}
    return any(
        address_of(one) in mine and _state(one) == "DECLINED" for one in component.all("ATTENDEE")
    )


def name_of(person: Property) -> str:
    """A person's name as people say it: `Ada Quist`, not `Quist, Ada`; without one, the address."""
    given = re.sub(r"\\([,;\\'])", r"\1", person.parameters.get("CN", ""))
    name = " ".join(given.split()).strip("'\"")
    if name.casefold().startswith("mailto:"):
        name = name[7:]
    if not name:
        value = re.sub(r"\Amailto(?::|\Z)", "", person.text, flags=re.IGNORECASE)
        return "" if re.match(r"[\w+.-]+:(?!//)", value) else value  # another kind of address
    last, comma, first = (part.strip() for part in name.partition(","))
    if comma and first and last and "," not in first and "@" not in name:
        behind = re.search(r"\s*\([^)]*\)\s*\Z", first)
        first, tail = (first[: behind.start()], behind[0].rstrip()) if behind else (first, "")
        if first.casefold() not in _NOT_A_GIVEN_NAME:
            return f"{first} {last}{tail}"
    return name


def address_of(person: Property) -> str:
    """A person's mail address in small letters, or empty."""
    value = person.text
    value = value[7:] if value.casefold().startswith("mailto:") else value
    value = value if "@" in value else person.parameters.get("EMAIL", "")
    return value.strip().casefold() if "@" in value else ""


def plain(text: str) -> str:
    """A text without markup, where it has any; links keep their addresses."""
    if not _MARKUP.search(text):
        return text.strip()
    if text.count("<") <= _MOST_TAGS:
        try:
            found = html_text(text)
        except Exception:  # nested too deep, or no document to its parser
            found = ""
        if found:
            return found
    bare = re.sub(r"<[^<>]*>", " ", _LEAD.sub(" ", text))
    return " ".join(html.unescape(bare).split())


def _decoded(text: str) -> str:
    """A text with the letters that its entities stand for."""
    return _ENTITY.sub(lambda one: one[0] if one["address"] else html.unescape(one[0]), text)


def _state(person: Property) -> str:
    return person.parameters.get("PARTSTAT", "").upper()
