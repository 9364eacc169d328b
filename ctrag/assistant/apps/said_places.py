"""Places, routes and means of travel as a request says them, or as the person's things have them.

What the request says outright comes before what a plan has made of it.
"""

import re

from ctrag.assistant.apps.call import Call
from ctrag.assistant.apps.lookup import contains, moment_of, plain_words, title_of
from ctrag.assistant.planning.mentions import mention_words, mentioned
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.words import telling_words
from stores.people.items import Contact, Item

_MODES = {
    "cycling": re.compile(
        r"\b(?:(?:by|on)(?: my| the| a)? (?:bike|bicycle)|cycl(?:e|ing))\b", re.I
    ),
    "walking": re.compile(r"\b(?:on foot|by foot|walk(?:ing)?)\b", re.I),
    "transit": re.compile(
        r"\b(?:by (?:train|bus|tram|tube|metro|rail|public transport)|public transport|transit"
        r"|trains?|bus(?:es)?|trams?)\b",
        re.I,
    ),
    "driving": re.compile(r"\b(?:by (?:car|taxi)|driv(?:e|ing))\b", re.I),
}
_FROM_TO = re.compile(
    r"\bfrom\s+(?P<origin>[^,.;?!]{2,40}?)\s+to\s+(?P<destination>[^,.;?!]{2,40})", re.IGNORECASE
)
_TO_FROM = re.compile(
    r"\bto\s+(?P<destination>[^,.;?!]{2,40}?)\s+from\s+(?P<origin>[^,.;?!]{2,40})", re.IGNORECASE
)
_TO = re.compile(
    r"\b(?:flights?|fly|flying|fares?)\b.*?\bto\s+(?P<destination>[^,.;?!]{2,40})", re.I
)
_TOWN = re.compile(r"\b(?:in|for|at)\s+(?P<town>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3})")
_AFTER_PLACE = re.compile(
    r"\s+(?:on|in|at|by|for|this|next|tomorrow|today|tonight|please|leaving|around|before|after"
    r"|via|with|the (?:day|week))\b.*",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"(?P<who>.+?)(?:['’]s|(?<=s)['’])(?:\s+(?:place|house|home|flat|address))?", re.IGNORECASE
)


def said_mode(call: Call, travel: str) -> str:
    """The one means of travel that the request names, else the plan's.

    Args:
        call: The request.
        travel: What the plan has.
    """
    place = " ".join(str(value) for value in call.arguments.values())
    named = [
        mode
        for mode, words in _MODES.items()
        if (found := words.search(call.said)) and not contains(place, found[0])
    ]
    return named[0] if len(named) == 1 else travel


def said_route(said: str) -> tuple[str, str]:
    """Where a journey begins and ends, as a request says it; empty what it does not say."""
    if found := _FROM_TO.search(said) or _TO_FROM.search(said):
        return _place(found["origin"]), _place(found["destination"])
    found = _TO.search(said)
    return ("", _place(found["destination"])) if found else ("", "")


def said_town(call: Call, place: str) -> str:
    """The place whose weather is asked for.

    The one that the request names, else the plan's; but not the restaurant of an event of which the
    request has no word: then the person's town, or "" for where they are.
    """
    times = " ".join(one.phrase for one in find_expressions(call.said, call.at))
    towns = [one["town"] for one in _TOWN.finditer(call.said) if not contains(times, one["town"])]
    if contains(call.said, place):
        return place
    if len(towns) == 1:
        return towns[0]
    events = [one for one in call.of("calendar") if one.text("location") == place]
    said = telling_words(call.said)
    named = [one for one in events if any(contains(_words(one), word) for word in said)]
    return (call.person.profile.city or "") if call.said and events and not named else place


def _words(event: Item) -> str:
    return f"{title_of(event)}; {event.text('location')}"


def said_month(call: Call) -> str:
    """A month or week in which a journey is to be, as it is said; empty for a day or none."""
    for one in find_expressions(call.said, call.at):
        if one.grain in ("month", "week", "year"):
            return one.phrase.removeprefix("in ")
    return ""


def address_of_contact(call: Call, place: str) -> tuple[Contact, str] | None:
    """The contact whose place "Mum's" or "Anna's house" is, and the address, which may be empty;
    None where it is no one contact's."""
    found = _THEIRS.fullmatch(place.strip())
    if found is None:
        return None
    contacts = mentioned(found["who"], call.person.contacts)
    said = set(plain_words(found["who"])) - {"my", "the"}
    if len(contacts) != 1 or not said <= mention_words(contacts[0]):
        return None
    addresses = contacts[0].addresses
    return contacts[0], addresses[0] if addresses else ""


def place_of_event(call: Call, named: str) -> str:
    """Where the next event is of which "the hotel" or "the physio" is a word; empty without one."""
    key = re.sub(r"^\s*(?:the|my|our)\s+", "", named, flags=re.IGNORECASE)
    ahead = [
        one
        for one in call.of("calendar")
        if one.text("location")
        and moment_of(one) >= call.at
        and (contains(one.text("location"), key) or contains(title_of(one), key))
    ]
    return min(ahead, key=moment_of).text("location") if ahead else ""


def _place(words: str) -> str:
    return _AFTER_PLACE.sub("", words).strip()
