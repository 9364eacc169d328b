"""Call logs of Android phones: the XML of SMS Backup & Restore, and CSV files."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from xml.etree.ElementTree import ParseError, XMLPullParser

from ctrag.assistant.imports.found import Found, LeftOut, Owner, item_id
from ctrag.assistant.imports.tables import first, read_table
from ctrag.assistant.imports.times import day_first, in_order, moment
from stores.people.items import Item

_PIECE = 1 << 16
_TYPES = {"1": "incoming", "2": "outgoing", "3": "missed", "4": "missed", "5": "missed"}
"""Android's numbers; 4 is a voicemail, 5 a call that was declined."""
_WORDS = {
    "missed": "missed rejected declined voicemail verpasst abgelehnt manqué perdida blocked persa "
    "rifiutata gemist geweigerd perdidas missat ubesvaret ubesvart nieodebrane odrzucone",
    "outgoing": "outgoing dialed dialled made out ausgehend gewählt sortant saliente uscita "
    "effettuata uitgaand realizada efetuada utgående udgående wychodzące",
    "incoming": "incoming received answered in eingehend angenommen entrant entrante reçu recibida "
    "arrivo ricevuta inkomend recebida inkommande indgående innkommende przychodzące",
}
_NAME = (
    "name",
    "contact",
    "contact name",
    "caller",
    "kontakt",
    "nom",
    "nombre",
    "nome",
    "naam",
    "namn",
)
_NUMBER = (
    *("number", "phone number", "phone", "nummer", "telefonnummer", "rufnummer", "numéro"),
    *("número", "numero", "teléfono", "telefono", "telefoonnummer"),
)
_TYPE = ("type", "call type", "direction", "typ", "art", "anruftyp", "richtung", "tipo", "soort")
_DURATION = (
    *("duration", "duration in seconds", "duration s", "duration sec", "call duration", "dauer"),
    *("duration seconds", "durée", "dauer s", "duración", "durata", "duur", "duração"),
)
_WHEN = ("date time", "datetime", "timestamp", "date and time", "called at", "zeitpunkt")
_DAY = ("date", "datum", "fecha", "data", "dato", "call date", "day")
_TIME = ("time", "uhrzeit", "zeit", "heure", "hora", "ora", "tijd", "call time")
_ENGLISH = {"duration", "call type", "phone number", "number", "contact", "direction"}
"""Headings of logs whose dates may begin with the day or with the month."""
_UNKNOWN = {"(unknown)", "unknown", "null", "-1", "-2", "-3", "private", "unbekannt"}


def is_calls(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings is a call log."""
    wanted = (_TYPE, _NUMBER, (*_WHEN, *_DAY))
    return all(headings.intersection(names) for names in wanted)


def read_calls(data: bytes, owner: Owner) -> Found:
    """The calls of SMS Backup & Restore's `calls-*.xml`; what follows a broken place is lost."""
    found = Found()
    parser: Any = XMLPullParser(["start", "end"])
    depth = 0
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if depth > 20:
                    raise ParseError("it is nested too deep")
                if event == "end":
                    if element.tag == "call":
                        _add(found, element.attrib, owner)
                    element.clear()
        parser.close()
    except (ParseError, ValueError, LookupError) as error:  # LookupError: its encoding
        why = f"the file is broken there, and the calls that follow are lost: {error}"
        found.left_out.append(LeftOut("call", f"after call {len(found.items)}", why))
    return found


def read_call_table(data: bytes, owner: Owner) -> Found:
    """The calls of a CSV file."""
    read = read_table(data, "call")
    found = Found(left_out=read.left_out)
    table = [(row, _when(row)) for row in read.rows]
    english = bool(table) and bool(_ENGLISH & table[0][0].keys())
    order = day_first((when for _, when in table), None if english else True)
    for row, when in table:
        call = {
            "name": first(row, *_NAME),
            "number": first(row, *_NUMBER),
            "type": first(row, *_TYPE),
            "date": in_order(when, order),
            "duration": first(row, *_DURATION),
        }
        _add(found, {key: value for key, value in call.items() if value}, owner)
    return found


def _when(row: Mapping[str, str]) -> str:
    day, hour = first(row, *_DAY), first(row, *_TIME)
    return first(row, *_WHEN) or (f"{day} {hour}" if hour and hour not in day else day)


def _add(found: Found, call: Mapping[str, str], owner: Owner) -> None:
    number, name = call.get("number", ""), call.get("contact_name") or call.get("name", "")
    known = [one for one in (name, number) if one.casefold() not in _UNKNOWN and one]
    at = moment(call.get("date"), owner)
    direction = _direction(call.get("type", ""))
    what = f"{name or number or 'unknown'}, {call.get('date', 'no time')}"
    if at is None:
        found.left_out.append(LeftOut("call", what, "its time cannot be read"))
        return
    if direction is None:
        why = f"its type is {call.get('type', '')!r}, neither incoming, outgoing nor missed"
        found.left_out.append(LeftOut("call", what, why))
        return
    found.items.append(_item(owner, known[0] if known else "Unknown", direction, at, call))


def _item(owner: Owner, who: str, direction: str, at: datetime, call: Mapping[str, str]) -> Item:
    uid = f"{call.get('number', '')} {call.get('date')} {direction}"
    return Item(
        item_id(owner.person_id, "phonecall", uid),
        "phonecall",
        {
            "contact": " ".join(who.split())[:200],
            "direction": direction,
            "called_at": at,
            "duration_s": _seconds(call.get("duration", "")),
            "voicemail": None,
        },
    )


def _direction(said: str) -> str | None:
    words = set(re.findall(r"\w+", said.casefold()))
    if said.strip() in _TYPES:
        return _TYPES[said.strip()]
    return next((kind for kind, names in _WORDS.items() if words & set(names.split())), None)


def _seconds(said: str) -> int:
    """`75`, `1:15`, `00:01:15`, `1m 15s` and `75 sec` are the same."""
    if ":" in said:
        numbers = [int(one) for one in re.findall(r"\d{1,6}", said)][-3:]
        return sum(value * 60**place for place, value in enumerate(reversed(numbers)))
    return sum(_parts(said))


def _parts(said: str) -> Iterator[int]:
    for count, unit in re.findall(r"(\d{1,7})\s*([a-z]?)", said.casefold()):
        yield int(count) * {"h": 3600, "m": 60}.get(unit, 1)
