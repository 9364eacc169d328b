"""One verb for two things: "move yoga to six and pilates to seven", "call mum and dad".

A single call takes one event, reminder or contact, so that these are two requests, the second of
which has the verb of the first left out.
"""

import re
from collections.abc import Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.breaks import ends_in_time
from ctrag.assistant.conversation.orders import OPENERS, requests_in
from ctrag.assistant.conversation.phrases import apart_from_time, best_named, names_time
from ctrag.assistant.conversation.remarks import order_of, without_remarks
from ctrag.assistant.conversation.reports import plainly, told_apart
from ctrag.assistant.conversation.split import split, unjoined
from ctrag.assistant.conversation.spoken_to import apart_by_contacts, only_contact
from ctrag.assistant.planning.mentions import mentioned
from ctrag.text.words import telling_words, words
from stores.people.items import Item, Person

_AND = r",?\s+(?:and(?:\s+also)?|&|plus)\s+(?:then\s+)?"
_LATER = (
    r"(?:an?|one|two|three|half an|\d+) (?:hours?|minutes?|days?|weeks?)"
    r" (?:later|earlier|back|forward)"
)
_MOVES = re.compile(
    rf"(?P<verb>{OPENERS}(?:move|shift|push|reschedule|change|snooze|postpone|bring|book|schedule|enter"
    rf"|put))\s+(?P<one>.+?)"
    rf"(?P<when>\s+(?:(?:to|till|until|for|at|on|by|back|off|in)\s+.+?|{_LATER})){_AND}(?P<other>.+?)"
    r"(?P<then>\s+(?:to|till|until|for|at|on|by|back|off|in)\s+.+)",
    re.I,
)
_REMINDS = re.compile(
    rf"(?P<verb>{OPENERS}(?:remind me|set (?:me )?a reminder|don't let me forget))\s+(?P<one>.+?)"
    rf"{_AND}(?P<other>.+)",
    re.I,
)
_ANOTHER = re.compile(
    rf"(?P<one>(?P<verb>{OPENERS}(?:set|create|make|add|give me|put in)\s+(?:me\s+)?an?)\s+"
    rf"(?P<kind>reminder|event|appointment|note)\b.+?){_AND}(?:another|a second)(?:\s+one)?"
    rf"\s+(?P<other>.+)",
    re.I,
)
_PEOPLE = re.compile(
    rf"(?P<verb>{OPENERS}(?:call|ring|phone|dial|text|message|tell|email|mail|let"
    rf"|write(?:\s+to)?))\s+"
    rf"(?:both\s+)?(?P<one>[\w'’.-]+(?:\s+[\w'’.-]+){{0,2}}?){_AND}"
    r"(?P<other>[\w'’.-]+(?:\s+[\w'’.-]+){0,2}?)(?P<rest>|[\s,:].*)",
    re.I,
)
_GIVES = re.compile(
    rf"(?P<verb>{OPENERS}(?:share|forward|send|pass)\s+.+?\s+(?:with|to|on to))\s+(?:both\s+)?"
    rf"(?P<one>[\w'’.-]+(?:\s+[\w'’.-]+){{0,2}}?){_AND}(?P<other>[\w'’.-]+(?:\s+[\w'’.-]+){{0,3}}?)"
    r"(?P<rest>)(?:\s+both)?\W*",
    re.I,
)
_WEATHER = re.compile(
    rf"(?P<verb>(?:{OPENERS}(?:what(?:['’]?s| is)|how(?:['’]?s| is)|check|tell me|show me|look up"
    rf"|get me|give me|i (?:need|want))\s+)?(?:the\s+)?(?:weather|forecast)(?:\s+like)?)\s+"
    rf"(?P<at>(?:in|for|at)\s+)?(?P<one>.+?){_AND}(?P<again>(?:in|at)\s+)?(?P<other>.+)",
    re.I,
)
_BOTH = ("one", "other")
_PLACED = re.compile(
    r"(?!(?:how|what|when|a|it|if|is|will)\b|the (?:\d|next|day|week|rest|same))[^\W\d_]", re.I
)
_THINGS = re.compile(
    rf"(?P<verb>{OPENERS}(?P<does>cancel|call off|delete|remove|erase|get rid of|bin"
    rf"|throw away|throw out"
    r"|tick off|check off|cross off|mark|complete|flag|read(?:\s+me)?|open|show me|skip))"
    r"\s+(?:both\s+)?"
    rf"(?P<one>.+?){_AND}(?P<other>.+?)(?P<rest>\s+(?:off|as done|done|as complete|out)|)\W*",
    re.I,
)
_APPS = {
    "cancel": ("calendar",), "call off": ("calendar",), "tick off": ("reminders",),
    "check off": ("reminders",), "cross off": ("reminders",), "mark": ("reminders",),
    "complete": ("reminders",), "flag": ("mail",),
}  # fmt: skip
_KINDS = {
    "reminder": "reminders", "reminders": "reminders", "event": "calendar", "note": "notes",
    "notes": "notes", "mail": "mail", "mails": "mail", "email": "mail",
}  # fmt: skip
_ONE = re.compile(r"(?:the|that|my)\s+ones?\b", re.I)
_OWNED = ("calendar", "reminders", "notes", "mail")
_ALIKE = 0.6
"""Share of the words that an item has to have."""


def _reported_first(part: str, text: str) -> bool:
    """Whether the first request is only what was reported, ticked off."""
    return not requests_in(text.split(",")[0]) and (
        part.startswith("tick off ") or not requests_in(part)
    )


_TOLD_ALONE = re.compile(
    r"(?:tell|let|text|inform)\s+(?:\S+\s+){0,2}?\S+(?:\s+(?:know|why))?\W*", re.I
)
"""A message whose reason is in the request before it."""
_ONLY_TICKS = re.compile(
    r"(?:\S+,\s+)?(?:so\s+)?(?:you (?:can|may)\s+)?(?:tick|check|cross|mark|take|strike"
    r"|close) (?:it|that|this|those|them)"
    r"(?: one)?(?: off| done| out| as .*)?\W*",
    re.I,
)
"""Said of what is reported before: not a second request."""
_WH = re.compile(r"\W*(?:so |and |honey,? )?(?:what|when|where|which|who|how)", re.I)
_ASKS_ON = re.compile(
    r"(?:and |but )?(?:what (?:time|day|street|number)|when|where|who|how (?:much|long|far)"
    r"|which \w+)(?:['’]?s)?"
    r"(?:,? (?:is|was|does|did|do|are) (?:it|that|this|we|i|he|she|they)(?: \w+)?)?\W*",
    re.I,
)
"""A second question about the same thing."""


def requests_of(text: str, person: Person, view: PersonView) -> list[str]:
    """The requests of a text in order, each with its verb; the text itself where it is one.

    Args:
        text: What was said.
        person: Who said it.
        view: Their items.
    """
    parts = [
        one
        for reported in unjoined(told_apart(text, view))
        for at, whole in enumerate(
            _with_verbs(apart_by_contacts(split(reported), person.contacts), person, view)
        )
        for part in [plainly(whole, view) if at else whole]
        for one in uncoordinated(part, person, view)
    ]
    parts = without_remarks(parts)
    if len(parts) == 2 and _ONLY_TICKS.fullmatch(parts[1]) and _reported_first(parts[0], text):
        return [text]
    if len(parts) == 2 and _WH.match(parts[0]) and _ASKS_ON.fullmatch(parts[1]):
        return [text]
    if len(parts) < 2:
        return [text]
    after = [*parts[1:], ""]
    return [
        one if _TOLD_ALONE.fullmatch(then) else order_of(one, person.contacts)
        for one, then in zip(parts, after, strict=True)
    ]


def _with_verbs(parts: Sequence[str], person: Person, view: PersonView) -> list[str]:
    """Requests of which one that has no verb of its own gets that of the one before."""
    found: list[str] = []
    for part in parts:
        if found and not requests_in(part):
            both = uncoordinated(f"{found[-1]} and {part}", person, view)
            if len(both) == 2:
                found[-1:] = both
                continue
        found.append(part)
    return found


def uncoordinated(text: str, person: Person, view: PersonView) -> list[str]:
    """A request for two things as one for each; the text itself where it is for one."""
    found = (
        _reminded(text)
        or _translated(text)
        or _weather(text)
        or _told(text, person)
        or _timed(text)
        or _to_both(text, person, view)
        or _both(text, view)
    )
    return found or [text]


def _reminded(text: str) -> list[str]:
    """ "remind me at six to lock up and at nine to call Ida", "… another one for nine"."""
    if another := _ANOTHER.fullmatch(text):
        return [another["one"], f"{another['verb']} {another['kind']} {another['other']}"]
    found = _REMINDS.fullmatch(text)
    if found is None:
        return []
    verb, one, other = found["verb"], found["one"], found["other"]
    first = re.fullmatch(r"(?P<when>.+?)\s+to\s+.+", other, re.I)
    if not apart_from_time(one):
        return []  # "in an hour and a half"
    if first and names_time(first["when"]) and not apart_from_time(first["when"]):
        return [f"{verb} {one}", f"{verb} {other}"]
    if ends_in_time(one) and ends_in_time(other) and apart_from_time(other):
        to = "" if re.match(r"(?:to|about|of)\b", other, re.I) else "to "
        about = re.match(r"(?:about|of)\b", one, re.I)
        return [f"{verb} {one}", f"{verb} {'about ' if about and to else to}{other}"]
    return []


_TRANSLATES = re.compile(
    rf"(?P<verb>{OPENERS}translate)\s+(?P<one>.+?\s+(?:in)?to\s+[^\W\d_]+){_AND}"
    r"(?P<other>.+\s+(?:in)?to\s+[^\W\d_]+)",
    re.I,
)
_TELLS = re.compile(
    rf"(?P<verb>{OPENERS}(?:tell|ask|let))\s+(?P<one>.+?){_AND}(?P<whom>(?:my )?[\w'’.-]+)\s+"
    r"(?P<what>(?:that|to|for|if|whether|know)\s+.+)",
    re.I,
)


def _translated(text: str) -> list[str]:
    """ "Translate hello into French and goodbye into German"."""
    found = _TRANSLATES.fullmatch(text)
    if found is None or requests_in(found["other"]):
        return []
    return [f"{found['verb']} {found[name]}" for name in ("one", "other")]


def _weather(text: str) -> list[str]:
    """ "The weather in Graz tomorrow and Linz on Friday"."""
    found = _WEATHER.fullmatch(text)
    if found is None or requests_in(found["other"]) or not _PLACED.match(found["other"]):
        return []
    if not (apart_from_time(found["one"]) and apart_from_time(found["other"])):
        return []  # "Saturday and Sunday" is one look at a place's weather
    timed = all(names_time(found[name]) or re.search(r"\d", found[name]) for name in _BOTH)
    if not (timed or found["again"]):
        return []  # "Trinidad and Tobago" is one place
    return [f"{found['verb']} {found['at'] or 'in '}{found[name]}" for name in _BOTH]


def _told(text: str, person: Person) -> list[str]:
    """ "Ask dad for the keys and mum for the car"."""
    found = _TELLS.fullmatch(text)
    if found is None or len(found["one"].split()) < 3 or requests_in(found["whom"]):
        return []
    if len(mentioned(found["whom"], person.contacts)) != 1:
        return []
    return [f"{found['verb']} {one}" for one in (found["one"], f"{found['whom']} {found['what']}")]


def _timed(text: str) -> list[str]:
    """ "move yoga to six and pilates to seven", "put the dentist in for … and the vet on …"."""
    found = _MOVES.fullmatch(text)
    if found is None:
        return []
    verb, when, other, then = found["verb"], found["when"], found["other"], found["then"]
    timed = (
        (ends_in_time(when) or re.fullmatch(rf"\s+{_LATER}", when, re.I))
        and names_time(then)
        and not apart_from_time(then)
    )
    if not timed or not apart_from_time(other) or requests_in(other):
        return []
    entered = verb.casefold().endswith("put") and re.match(r"\s+in\b", when, re.I)
    return [f"{verb} {found['one']}{when}", f"{verb} {other}{' in' if entered else ''}{then}"]


def _to_both(text: str, person: Person, view: PersonView) -> list[str]:
    """ "call mum and dad", "share the list with Will and Ida"."""
    found = _PEOPLE.fullmatch(text) or _GIVES.fullmatch(text)
    if found is None:
        return []
    people = [only_contact(found[name], person.contacts) for name in ("one", "other")]
    if None in people or people[0] == people[1]:
        return []
    together = set(words(f"{found['one']} {found['other']}"))
    if any(together <= {*words(one.name), *words(one.relation)} for one in person.contacts):
        return []
    rest = found["rest"]
    if rest and _met(view, [one.name for one in people if one is not None]):
        return []  # those who take part are told together
    if rest and requests_in(rest):
        return []
    return [f"{found['verb']} {found[name]}{rest}" for name in ("one", "other")]


def _met(view: PersonView, names: Sequence[str]) -> bool:
    """Whether some event has all of these people."""
    events = (one for one in view.items if one.app == "calendar")
    return any(set(names) <= set(item_text.people(one)) for one in events)


def _both(text: str, view: PersonView) -> list[str]:
    """ "cancel the gym and the dentist", "delete the note on milk and the one on eggs"."""
    found = _THINGS.fullmatch(text)
    if found is None or requests_in(found["other"]):
        return []
    does = found["does"].casefold()
    kind = re.match(r"(?:the|my|that)\s+(\w+)", found["one"], re.I)
    app = _KINDS.get(kind[1].casefold()) if kind else None
    apps = (app,) if app else _APPS.get(does, _OWNED)
    items = [one for one in view.items if one.app in apps]
    named = [telling_words(_ONE.sub(" ", found[name])) for name in ("one", "other")]
    named = [[word for word in one if word not in _KINDS] for one in named]
    chosen = [best_named(one, items, _ALIKE) for one in named]
    if None in chosen or chosen[0] == chosen[1]:
        return []
    if any(_has(item, named[0]) and _has(item, named[1]) for item in items):
        return []  # one thing has both: "buy bread and butter"
    other = _ONE.sub(kind[0], found["other"], count=1) if kind else found["other"]
    return [f"{found['verb']} {one}{found['rest']}" for one in (found["one"], other)]


def _has(item: Item, named: Sequence[str]) -> bool:
    return best_named(named, [item], _ALIKE) is not None
