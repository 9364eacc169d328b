"""Whether a person hangs together: names, addresses, country, dates in texts, times, repeats.

The faults are those that a program can be sure of; what merely reads oddly is for a reader
(`synth.blind`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from stores.people.app_spec import spec_of
from stores.people.dataset import Persona
from stores.people.items import Contact, Item

_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTH = "|".join(f"{one}|{one[:3]}" for one in _MONTHS)
_WEEKDAY = "|".join(f"{one}|{one[:3]}" for one in _DAYS)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_DATED = re.compile(
    rf"\b(?P<wd>{_WEEKDAY})\b,?\s+(?:the\s+)?(?:{_DAY}\b(?:\s+(?P<month>{_MONTH})\b)?"
    rf"|(?P<month2>{_MONTH})\s+(?P<day2>[0-3]?\d)\b)(?![:.]\d|\s*(?:am|pm|h\b))"
)
"""A weekday with a day, with or without a month: "Thursday 12 June", "Sun, June 8", "Sat 14"."""
_EMAIL = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_PHONE = re.compile(r"\+?[\d ()/-]{6,22}")
_WORD = re.compile(r"[^\W\d_]")
_UNFILLED = re.compile(r"[{}]|\[[^\]]*\||=>|@\d\b|\b(?:None|NaN|undefined)\b")
_TWICE = re.compile(r"\b(?:(?:the|an?) (?:the|an?)|to to|of of|for for|and and) (?=[a-z])")
"""Little words that stand there twice: "the the"."""
_PAST = {"mail": "received_at", "google": "searched_at", "notes": "modified_at",
         "music": "played_at", "phonecall": "called_at"}  # fmt: skip
_QUOTES = '"“”„«»‘'
_ELSEWHERE = re.compile(r"\b(?:in|from|abroad|at)\b|\b[A-Z]\w{2,}")
"""What a relation says of somebody who lives abroad: "sister in Lyon", "sister, Bayonne"."""
_SPREAD = timedelta(days=190)
"""How far from now a day that a text names without its month may lie."""


def person_faults(persona: Persona) -> list[str]:
    """What cannot be right about a person, each fault with its kind before a colon."""
    return list(_faults(persona))


def _faults(persona: Persona) -> Iterator[str]:
    yield from _name_faults(persona)
    yield from _contact_faults(persona)
    yield from _country_faults(persona)
    for item in persona.items:
        yield from _text_faults(item)
        yield from _date_faults(item, persona.person.now)
        yield from _time_faults(item, persona.person.now)
        yield from _people_faults(item, persona)
    yield from _repeat_faults(persona)


def _name_faults(persona: Persona) -> Iterator[str]:
    for name in (persona.person.profile.name, *(one.name for one in persona.person.contacts)):
        words = name.split()
        if not _WORD.search(name) or not words:
            yield f"name: {name!r} has no letters"
        elif any(letter in name for letter in _QUOTES) or re.search(r"\s'|'\s", name):
            yield f"name: {name!r} has a nickname in quotes"
        elif re.search(r"[@_|<>\[\]{}()=+\d]|  ", name):
            yield f"name: {name!r} has signs that no name has"
        elif len(words) > 1 and len(set(words)) < len(words):
            yield f"name: {name!r} says a word twice"
        elif words[-1][:1].islower() and words[-1].isascii():
            yield f"name: {name!r} ends in a small letter's word"


def _contact_faults(persona: Persona) -> Iterator[str]:
    names = Counter(one.name.casefold() for one in persona.person.contacts)
    for contact in persona.person.contacts:
        if contact.email and not _EMAIL.fullmatch(contact.email):
            yield f"address: {contact.email!r} of {contact.name} is no mail address"
        if contact.phone and not _PHONE.fullmatch(contact.phone):
            yield f"address: {contact.phone!r} of {contact.name} is no telephone number"
        if names[contact.name.casefold()] > 1:
            yield f"repeat: two contacts are called {contact.name}"
    addresses = Counter(one.email for one in persona.person.contacts if one.email)
    yield from (f"repeat: two contacts have {one}" for one, count in addresses.items() if count > 1)


def _country_faults(persona: Persona) -> Iterator[str]:
    """Most contacts have numbers of the same country; who has not must live elsewhere."""
    codes = {one.name: code for one in persona.person.contacts if (code := _code(one))}
    if len(codes) < 3:
        return
    (most, count), *_ = Counter(codes.values()).most_common()
    if count <= len(codes) / 2:
        yield "country: the contacts' numbers are of no country that most have"
        return
    for contact in persona.person.contacts:
        abroad = codes.get(contact.name, most) != most
        if abroad and not _ELSEWHERE.search(contact.relation):
            yield f"country: {contact.name} ({contact.relation}) has a number of another country"


def _code(contact: Contact) -> str | None:
    """The first two digits of an international number; one country may have several."""
    digits = re.sub(r"\D", "", contact.phone or "")
    if not (contact.phone or "").startswith("+"):
        return None
    return digits[:1] if digits[:1] in "17" else digits[:2]


def _text_faults(item: Item) -> Iterator[str]:
    for name, value in item.fields.items():
        if isinstance(value, str) and name != "repeats" and (found := _UNFILLED.search(value)):
            yield f"text: {item.id}: {name} has {found[0]!r}, which was to be filled in"
        if isinstance(value, str) and item.app != "music" and (twice := _TWICE.search(value)):
            yield f"text: {item.id}: {name} has {twice[0]!r}"
    title = spec_of(item.app).named("title")
    if title and not item.text(title[0]).strip():
        yield f"text: {item.id} has no {title[0]}"


def _date_faults(item: Item, now: datetime) -> Iterator[str]:
    """Days that texts name exist, and an event's own texts name its own day."""
    start = item.time("start")
    for name, value in item.fields.items():
        if not isinstance(value, str) or name == "repeats":
            continue
        for found in _DATED.finditer(value):
            day = int(found["day"] or found["day2"])
            weekday = next(i for i, one in enumerate(_DAYS) if one[:3] == found["wd"][:3])
            month = _month(found["month"] or found["month2"])
            dates = [one for one in _days(day, month, now) if one.weekday() == weekday]
            if not dates:
                yield f"date: {item.id}: {name} says {found[0]!r}, and there is no such day"
            elif item.app == "calendar" and name == "title" and start and start.date() not in dates:
                yield f"date: {item.id}: the title says {found[0]!r}, it is on {start:%a %-d %b}"


def _month(name: str | None) -> int | None:
    return next((i for i, one in enumerate(_MONTHS, 1) if name and one[:3] == name[:3]), None)


def _days(day: int, month: int | None, now: datetime) -> Iterator[date]:
    for year in (now.year - 1, now.year, now.year + 1):
        for number in range(1, 13) if month is None else (month,):
            try:
                found = date(year, number, day)
            except ValueError:
                continue
            if abs(found - now.date()) <= _SPREAD:
                yield found


def _time_faults(item: Item, now: datetime) -> Iterator[str]:
    past = item.time(_PAST.get(item.app, ""))
    if past is not None and past > now:
        yield f"time: {item.id} lies in the future: {past}"
    start, end = item.time("start"), item.time("end")
    if start and end and end <= start:
        yield f"time: {item.id} ends before it begins"
    opened = item.usage.last_opened
    if opened is not None and opened > now:
        yield f"time: {item.id} was opened in the future: {opened}"
    if opened and past and item.app in ("mail", "google", "phonecall") and opened < past:
        yield f"time: {item.id} was opened before it was there"


def _people_faults(item: Item, persona: Persona) -> Iterator[str]:
    sender = item.text("sender") if item.app == "mail" else ""
    if re.fullmatch(r"[a-z]+", sender):
        yield f"people: {item.id} is from {sender!r}, which is a role and no name"
    people = item.fields.get("attendees")
    for name in people if isinstance(people, tuple) else ():
        if persona.person.contact(name) is None:
            yield f"people: {item.id}: {name} takes part and is no contact"
    caller = item.text("contact") if item.app == "phonecall" else ""
    number = re.fullmatch(r"[+\d][\d\s()/-]+", caller) is not None
    if caller and not number and persona.person.contact(caller) is None:
        yield f"people: {item.id}: {caller} called and is no contact"


def _repeat_faults(persona: Persona) -> Iterator[str]:
    seen: Counter[tuple[str, str]] = Counter()
    for item in persona.items:
        fields = spec_of(item.app).named("title")
        if fields:
            seen[item.app, item.text(fields[0]).casefold()] += 1
    for (app, title), count in seen.items():
        if count > 1 and app != "music":
            yield f"repeat: {count} items of {app} are called {title!r}"
