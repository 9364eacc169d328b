"""Call logs of Android phones: the XML of SMS Backup & Restore, and CSV files."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import ParseError, XMLPullParser

from ctrag.assistant.imports.found import Found, LeftOut, Owner, item_id
from ctrag.assistant.imports.tables import first, read_table
from ctrag.assistant.imports.times import day_first, in_order, moment
from stores.people.items import Item, Value

_PIECE = 1 << 16
_ANDROID = {
    "1": "incoming",
    "2": "outgoing",
    "3": "missed",
    "4": "missed",
    "5": "missed",
    "6": "missed",
    "7": "incoming",
}
"""Android's numbers; 4 is a voicemail, 5 a call that was declined, 6 one that was blocked, 7 one
that was answered on another device."""
_ROUTER = {
    **{"1": "incoming", "2": "missed", "3": "outgoing", "4": "outgoing", "9": "incoming"},
    **{"10": "missed", "11": "outgoing"},
}
"""FRITZ!Box's numbers; 10 is a call that was blocked, 9 and 11 were still going on."""
_EITHER = {"1": "incoming"}
"""Where it is unknown whose numbers they are."""
_WORDS = {
    "outgoing": "outgoing dialed dialled made out ausgehend abgehend gewählt sortant émis saliente "
    "realizada uscita effettuata uitgaand efetuada utgående udgående wychodząc odchozí lähtev "
    "giden исходящ",
    "missed": "missed rejected declined voicemail verpasst abgelehnt abwesenheit entgangen manqué "
    "perdida blocked blockiert persa rifiutata gemist geweigerd missat missad ubesvar nieodebran "
    "odrzucon zmeškan odmítnut vastaamat cevapsız reddedil пропущен отклон unanswered "
    "unbeantwortet refusé rechazada recusada afvist avvist avvisat",
    "incoming": "incoming received answered in eingehend ankommend angenommen entrant reçu "
    "recibida arrivo ricevuta inkomend recebida inkommande indgående innkommende przychodząc "
    "příchozí saapuv vastattu gelen входящ",
}
"""Words of each kind, or how they begin; who did not answer was called all the same."""
_NOT = {"not", "no", "nicht", "non", "niet", "inte", "ikke", "ikkje", "nie", "não", "не"}
"""Before a word for an incoming call: it was missed."""
_HOURS = ("h", "st", "t", "u", "or", "godz", "ч", "小时", "時", "시간")
_MINUTES = ("m", "м", "dk", "分", "분")
"""How units begin in the languages of phones; anything else is seconds."""
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
    *(
        "number",
        "phone number",
        "phone",
        "telephone number",
        "nummer",
        "telefonnummer",
        "rufnummer",
        "numéro",
    ),
    *("número", "numero", "teléfono", "telefono", "telefoonnummer"),
)
_ANY_NUMBER = {"number", "nummer", "numéro", "número", "numero"}
"""Headings of numbers that may be of anything."""
_MONEY = {
    *("amount", "total", "price", "currency", "betrag", "summe", "preis", "währung", "montant"),
    *("importe", "importo", "bedrag", "valor", "belopp", "beløb", "beløp", "kwota"),
}
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
_CALL_TYPE = {"call type", "anruftyp"}
_EXTENSION = {"nebenstelle", "eigene rufnummer", "extension", "own number", "own telephone number"}
"""Headings of a router's list."""
_UNKNOWN = {"(unknown)", "unknown", "null", "-1", "-2", "-3", "private", "unbekannt"}


def is_calls(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings is a call log: invoices have a date, a type and
    a number too."""
    wanted = (_TYPE, _NUMBER, (*_WHEN, *_DAY))
    if not all(headings.intersection(names) for names in wanted):
        return False
    called = headings & (_CALL_TYPE | _EXTENSION | (set(_NUMBER) - _ANY_NUMBER))
    return bool(headings.intersection(_DURATION) or (called and not headings & _MONEY))


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
                        _add(found, element.attrib, owner, _ANDROID)
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
    headings = set(table[0][0]) if table else set()
    router = bool(headings & _EXTENSION)
    calls = []
    for row, when in table:
        lasted = first(row, *_DURATION)
        call = {
            "name": first(row, *_NAME),
            "number": first(row, *_NUMBER),
            "type": first(row, *_TYPE),
            "date": in_order(when, order),
            # A router counts minutes: 0:05 are five.
            "duration": f"{lasted}:00" if router and lasted.count(":") == 1 else lasted,
        }
        calls.append({key: value for key, value in call.items() if value})
    android = headings & _CALL_TYPE or all(when.isdigit() for _, when in table)
    numbers = _ROUTER if router else _ANDROID if android else _EITHER
    longest: dict[tuple[str | None, ...], int] = {}
    for one in calls:
        longest[_key(one)] = max(longest.get(_key(one), 0), _seconds(one.get("duration", "")))
    for one in calls:
        _add(found, one, owner, numbers, longest[_key(one)])
    return found


def _key(call: Mapping[str, str]) -> tuple[str | None, ...]:
    """What calls within one minute may have in common: times of tables have no seconds."""
    return tuple(call.get(one) for one in ("number", "date", "type"))


def _when(row: Mapping[str, str]) -> str:
    day, hour = first(row, *_DAY), first(row, *_TIME)
    return first(row, *_WHEN) or (f"{day} {hour}" if hour and hour not in day else day)


def _add(
    found: Found,
    call: Mapping[str, str],
    owner: Owner,
    numbers: Mapping[str, str],
    longest: int | None = None,
) -> None:
    """Add a call to what was found.

    Args:
        found: What was found.
        call: What is written of it.
        owner: Whose it is.
        numbers: What types that are numbers stand for.
        longest: Seconds of the longest of the calls that have the same `_key`.
    """
    number, name = call.get("number", ""), call.get("contact_name") or call.get("name", "")
    known = [one for one in (name, number) if one.casefold() not in _UNKNOWN and one]
    at = moment(call.get("date"), owner)
    direction = _direction(call.get("type", ""), numbers)
    what = f"{name or number or 'unknown'}, {call.get('date', 'no time')}"
    if at is None:
        found.left_out.append(LeftOut("call", what, "its time cannot be read"))
        return
    if direction is None:
        why = f"its type is {call.get('type', '')!r}, neither incoming, outgoing nor missed"
        found.left_out.append(LeftOut("call", what, why))
        return
    lasted = _seconds(call.get("duration", ""))
    uid = f"{call.get('number', '')} {call.get('date')} {direction}"
    uid += "" if longest in (None, lasted) else f" {lasted}"
    fields: dict[str, Value] = {
        "contact": " ".join((known[0] if known else "Unknown").split())[:200],
        "direction": direction,
        "called_at": at,
        "duration_s": lasted,
        "voicemail": None,
    }
    found.items.append(Item(item_id(owner.person_id, "phonecall", uid), "phonecall", fields))


def _direction(said: str, numbers: Mapping[str, str]) -> str | None:
    if said.strip().isdigit():
        return numbers.get(said.strip())
    words = re.findall(r"\w+", unicodedata.normalize("NFC", said).casefold())
    for kind, names in _WORDS.items():
        if any(_is_form(word, name) for word in words for name in names.split()):
            return "missed" if kind == "incoming" and _NOT.intersection(words) else kind
    return None


def _is_form(word: str, name: str) -> bool:
    """Whether a word is this one, or a form of it: `verpasster` of `verpasst`."""
    return word == name or (len(name) > 3 and word.startswith(name))


def _seconds(said: str) -> int:
    """`75`, `1:15`, `00:01:15`, `1m 15s`, `1 Min. 15 Sek.` and `75 sec` are the same."""
    if ":" in said:
        numbers = [int(one) for one in re.findall(r"\d{1,6}", said)][-3:]
        return sum(value * 60**place for place, value in enumerate(reversed(numbers)))
    return sum(_parts(said))


def _parts(said: str) -> Iterator[int]:
    for count, unit in re.findall(r"(\d{1,7})\s*([^\W\d]*)", said.casefold()):
        hours, minutes = unit.startswith(_HOURS), unit.startswith(_MINUTES)
        yield int(count) * (3600 if hours else 60 if minutes else 1)
