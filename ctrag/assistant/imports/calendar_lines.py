"""iCalendar bytes as components with their lines, each apart, so that a bad one costs only itself.

Deliberately forgiving where the `icalendar` package gives up on the whole file: text before the
first BEGIN, a missing END, lines that were never folded, alarms of any kind, any depth.
"""

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctrag.assistant.imports.mail.charset import detected, utf8_text
from ctrag.assistant.imports.mail.latin import latin_charset

_TOP = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VTIMEZONE", "VFREEBUSY"})
"""What a calendar consists of; one never holds another, so that BEGIN of one ends another."""
_PARTS_OF = {"VTIMEZONE": ("STANDARD", "DAYLIGHT")}
"""Parts that are read; all others (alarms, vendors' own) are passed over, whatever they hold."""
_PROPERTY = re.compile(
    r"(?P<name>X-[A-Z0-9-]+|ACTION|ATTACH|ATTENDEE|CATEGORIES|CLASS|COLOR|COMMENT|COMPLETED|"
    r"CONFERENCE|CONTACT|CREATED|DESCRIPTION|DTEND|DTSTAMP|DTSTART|DUE|DURATION|EXDATE|EXRULE|"
    r"GEO|IMAGE|LAST-MODIFIED|LOCATION|ORGANIZER|PERCENT-COMPLETE|PRIORITY|RDATE|RECURRENCE-ID|"
    r"RELATED-TO|REQUEST-STATUS|RESOURCES|RRULE|SEQUENCE|STATUS|SUMMARY|TRANSP|TZID|TZNAME|"
    r"TZOFFSETFROM|TZOFFSETTO|TZURL|UID|URL|METHOD|VERSION|PRODID|CALSCALE|NAME|FREEBUSY|BEGIN|END|"
    r"REFRESH-INTERVAL|STYLED-DESCRIPTION|STRUCTURED-DATA|TRIGGER|REPEAT|ACKNOWLEDGED|BUSYTYPE|"
    r"AALARM|DALARM|MALARM|PALARM|DCREATED|DAYLIGHT|RNUM|TZ)"
    r"(?=[ \t]*[;:])",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r';\s*([A-Za-z0-9-]+)=((?:"[^"]*"|[^";:])*)')
_TIME_AT_END = re.compile(
    r";\s*TZID=(?P<zone>[^\";]+):(?P<value>\d{8}(?:T\d{4,6}Z?)?(?:,\d{8}(?:T\d{4,6}Z?)?)*)\s*\Z",
    re.IGNORECASE,
)
_TEXT = frozenset({"DESCRIPTION", "SUMMARY", "LOCATION", "COMMENT", "X-ALT-DESC"})
_SMALL = re.compile(
    r"^(?!(?-i:BEGIN:V|DTSTART))(?:BEGIN:V|DTSTART[^\n:]*:\d{8})", re.IGNORECASE | re.M
)
"""A line by which a file shows that it writes names of properties in small letters."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_QUOTED = re.compile(r"[^:]{0,300};(?:ENCODING=)?QUOTED-PRINTABLE[;:]", re.IGNORECASE)
"""A line in quoted-printable, which ends with `=` where it goes on in the next."""
_CARET = {"^n": "\n", "^'": '"', "^^": "^"}
_WORDS = re.compile(
    rb"^(?:SUMMARY|DESCRIPTION|LOCATION|COMMENT|X-WR-CALNAME)[^:\r\n]*:([^\r\n]*)", re.M
)
"""Values that are words of the person who wrote them."""
_NO_LATIN = 0.3
"""Bytes above 127 for each Latin letter from which on such words are in another script."""
LONGEST_VALUE = 100_000
"""Characters of one value at most: what is beyond is data, such as a picture, and no text."""


@dataclass(frozen=True, slots=True)
class Property:
    """One line of a component."""

    name: str
    """In capitals."""
    parameters: dict[str, str]
    value: str
    """As it stands, escapes included."""

    @property
    def text(self) -> str:
        """The value as text, without escapes."""
        return _ESCAPE.sub(lambda one: "\n" if one[1] in "nN" else one[1], self.value).strip()


@dataclass(slots=True)
class Component:
    """One component, such as an event, without its alarms."""

    kind: str
    calendar: "Component | None" = None
    """The calendar that holds it."""
    properties: list[Property] = field(default_factory=list)
    parts: list["Component"] = field(default_factory=list)

    def all(self, name: str) -> list[Property]:
        """Its lines of that name."""
        return [one for one in self.properties if one.name == name]

    def first(self, *names: str) -> Property | None:
        """The first line of the first name that it has with a value, or None."""
        return next((one for name in names for one in self.all(name) if one.value.strip()), None)

    def text(self, *names: str) -> str:
        """The text of `first`; empty where it has none."""
        found = self.first(*names)
        return "" if found is None else found.text


def components(data: bytes) -> list[Component]:
    """The calendars of a file, each followed by its events, to-dos, journals and zones, in order.

    Events outside a calendar belong to one without properties.
    """
    found: list[Component] = []
    calendar = Component("VCALENDAR")
    here: Component = calendar  # what takes properties
    outer: Component | None = None  # the zone that holds `here`
    skipped: list[str] = []  # kinds of the parts that are passed over here, the innermost last
    for line in _properties(data):
        name, kind = line.name, line.value.strip().upper()
        if name == "BEGIN" and kind == "VCALENDAR":
            calendar = here = Component("VCALENDAR")
            outer, skipped = None, []
            found.append(calendar)
        elif name == "BEGIN" and kind in _TOP:
            here, outer, skipped = Component(kind, calendar), None, []
            found.append(here)
        elif name == "BEGIN" and not skipped and kind in _PARTS_OF.get(here.kind, ()):
            here, outer = Component(kind, calendar), here
            outer.parts.append(here)
        elif name == "BEGIN":
            skipped.append(kind)
        elif name == "END" and (kind in _TOP or kind == "VCALENDAR"):
            here, outer, skipped = calendar, None, []
        elif name == "END" and skipped:
            if kind in skipped:  # ends what is inside of it, too
                del skipped[len(skipped) - 1 - skipped[::-1].index(kind) :]
        elif name == "END":
            here, outer = (here if outer is None else outer), None
        elif not skipped:
            here.properties.append(line)
    return found


def decoded(data: bytes) -> str:
    """Bytes as text: by their byte order mark, as UTF-8 or UTF-16, else by what is likeliest."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    head = data[:4096]
    if head.count(0) > len(head) // 4:  # UTF-16 without a mark
        big = head[::2].count(0) > head[1::2].count(0)
        return data.decode("utf-16-be" if big else "utf-16-le", errors="replace")
    text = utf8_text(data)
    if text is None:
        words = b"\n".join(_WORDS.findall(data)) or data
        letters = len(re.findall(rb"[A-Za-z]", words))
        strange = len(re.findall(rb"[\x80-\xff]", words)) / max(1, letters)
        guess = detected(words) if strange > _NO_LATIN else None
        text = data.decode(guess or latin_charset(words), errors="replace")
    return text.removeprefix("\ufeff")


def quoted(zone: str) -> str:
    """A name of a zone as a parameter's value."""
    return '"' + zone.replace('"', "'") + '"'


def _properties(data: bytes) -> Iterator[Property]:
    for line in _lines(data):
        found = _property(line)
        if found is not None:
            yield found


def _lines(data: bytes) -> Iterator[str]:
    """Unfolded lines. Bytes are unfolded first: a line may be folded inside a character."""
    if data[:2] not in (b"\xff\xfe", b"\xfe\xff") and data[:4096].count(0) < 64:
        data = data.replace(b"\0", b"").replace(b"\n\xef\xbb\xbf", b"\n")  # files put together
        data = re.sub(rb"\r?\n[ \t]", b"", data)
        text = decoded(data)
    else:
        text = re.sub(r"\r?\n[ \t]", "", decoded(data))
    small = _SMALL.search(text) is not None
    before: list[str] = []
    for line in re.split(r"\r\n|\n|\r|(?<=END:VCALENDAR)(?=BEGIN:VCALENDAR)", text):
        if before and before[-1].endswith("=") and _QUOTED.match(before[0]):
            before[-1] = before[-1][:-1]
            before.append(line)
        elif (name := _PROPERTY.match(line)) and (
            small or name[0].isupper() or not _in_text(before)
        ):
            if before:
                yield "".join(before)
            before = [line]
        elif line.strip() and _in_text(before):
            before.append("\\n" + line)  # part of a text whose lines were never folded
    if before:
        yield "".join(before)


def _in_text(before: list[str]) -> bool:
    """Whether lines are those of a text, which may go on: `Location: see below` is a part of it."""
    return bool(before) and before[0].upper().startswith(tuple(_TEXT))


def _property(line: str) -> Property | None:
    name = _PROPERTY.match(line)
    if name is None:
        return None
    rest = line[name.end() :].lstrip()
    if "DT" in name[0].upper() or name[0].upper() in ("DUE", "EXDATE", "RDATE", "RECURRENCE-ID"):
        # `TZID=tzone://Microsoft/Utc:20260715T120000` should be in quotation marks and often is not
        rest = _TIME_AT_END.sub(lambda one: f";TZID={quoted(one['zone'])}:{one['value']}", rest)
    parameters: dict[str, str] = {}
    position = 0
    while found := _PARAMETER.match(rest, position):
        value = re.sub(r"\^[n'^]", lambda one: _CARET[one[0]], found[2])
        parameters[found[1].upper()] = value.replace('"', "").strip()
        position = found.end()
    colon = rest.find(":", position)
    if colon < 0:
        return None
    value = rest[colon + 1 :][:LONGEST_VALUE]
    if _QUOTED.match(line):
        value = _unquoted(value, parameters.get("CHARSET", ""))
    return Property(name[0].upper(), parameters, value)


def _unquoted(value: str, charset: str) -> str:
    """What quoted-printable means, as version 1.0 has it; line ends are escaped."""
    raw = quopri.decodestring(value.encode("utf-8", "replace"))
    try:
        text = raw.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        text = decoded(raw)
    return re.sub(r"\r\n|\r|\n", r"\\n", text)
