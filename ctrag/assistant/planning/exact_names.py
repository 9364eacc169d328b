"""Which of several alike APIs is meant, by what the person has.

"Play Slow Burn" plays a song where the person has one of that name.
"""

import re
from collections.abc import Mapping, Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.limits import MOVED
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.text.words import telling_words, terms, words
from ctrag.toolbox import Argument, Tool
from stores.people.items import Contact, Item

_PLAYS = re.compile(r"\b(?:play|hear|listen|put\b.{0,40}\bon|shuffle|spin)\b", re.IGNORECASE)
_KIND = re.compile(r"\b(?:playlist|album)\b", re.IGNORECASE)
"""Words that say what is played: "my gospel playlist" is no genre."""
_POLITE = re.compile(
    r"^\W*(?:(?:please|hey|oh|ok(?:ay)?|and|so|can you|could you|now|just)\W+)*", re.IGNORECASE
)
_NEAR = re.compile(r"\w\s+(?:near(?:by|est)?|close\s+to|around)\b", re.IGNORECASE)
_WAY = re.compile(
    r"\b(?:directions?|route|way|get|go|drive|walk|cycle|bike|bus|train|navigate|take|how|long|far)\b",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"\b(?:with|w/?)\s+(?P<whom>[^\W\d_][\w'’-]*(?:\s+[A-ZÀ-Þ][\w'’-]*){0,2})", re.UNICODE
)
_NEWS_FROM = re.compile(
    r"\b(?:news|word|anything|something|answer|reply|mail)\s+(?:back\s+)?(?:from|off)\s+"
    r"(?P<whom>[^,.;:!?]{1,40})",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:(?:and|ok(?:ay)?|then|please|now)\W+)*(?:open|read|show)\s+(?:me\s+)?(?:up\s+)?"
    r"(?P<what>[^,.;:!?]{1,60})[.!?]*$",
    re.IGNORECASE,
)
_MOVING = {"calendar": "reschedule_event", "reminders": "snooze_reminder"}
_READING = {"notes": "read_note", "mail": "read_mail", "reminders": "read_reminder"}
_THE_NOTE = re.compile(
    r"\b(?:the|that|this|my)\s+(?:[\w'’-]+\s+){0,2}note\b(?!\s+that\b)", re.IGNORECASE
)
_OWN_REMINDER = re.compile(
    r"\b(?:set|put|change|move)\s+(?:my|that)\s+reminder(?:\s+(?:for|of|about)\s+(?:it|that|this))?"
    r"\s+(?:to|for|at)\s+(?:\d|half\b|quarter\b|noon\b|today\b|tonight\b|tomorrow\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)",
    re.IGNORECASE,
)
"""A reminder that is there already: "put my reminder for that to Monday"."""
_FILLS = frozenset(terms("reminder event note mail one thing"))
_BY_NOW = frozenset("yet today now already so far lately back since".split())
_SPOKEN = frozenset("oh zero one two three four five six seven eight nine".split())
_OWN = frozenset("snooze block forward flag reschedule complete".split())
"""Verbs of APIs that hardly mean anything else: "send money" is no mail."""
_MOST_LEFT = 2
"""Telling words of the request at most that are not part of the name: a verb and a kind."""


def by_exact_name(
    ordered: Sequence[tuple[str, float]],
    tools: Sequence[Tool],
    values: Mapping[str, ToolValues],
    request: str,
) -> list[tuple[str, float]]:
    """APIs with their shares, where one that the request names a thing for comes before its like.

    Two APIs are alike when they belong to one application, have the same effect and need one name
    of something that the person has.

    Args:
        ordered: APIs and their shares, best first.
        tools: The exposed tools.
        values: API → its ranked values.
        request: What was said.
    """
    found = list(ordered)
    known = {tool.api: tool for tool in tools}
    first = found[0][0] if found else ""
    if first == "google_directions" and _NEAR.search(request) and not _WAY.search(request):
        return _exchanged(found, "google_nearby") if "google_nearby" in known else found
    top = known.get(first)
    plays = top is not None and top.api == "search_music" and _PLAYS.search(request) is not None
    if first == "none":
        return _by_verb(found, tools, request) or found
    nearby = first == "google_nearby" and _NEAR.search(request)
    if top is None or nearby or not (plays or _name_of(top) is not None):
        return found
    if not plays and (_named(top, values, request) or _KIND.search(request)):
        return found
    for place, (api, share) in enumerate(found):
        other = known.get(api)
        if other is None or other.app != top.app or not (plays or other.effect == top.effect):
            continue
        if _name_of(other) is not None and _named(other, values, request):
            found[0], found[place] = (api, found[0][1]), (top.api, share)
            break
    return found


def by_named_person(
    ordered: Sequence[tuple[str, float]],
    tools: Sequence[Tool],
    request: str,
    contacts: Sequence[Contact],
    owned: Sequence[Item] = (),
) -> list[tuple[str, float]]:
    """APIs with their shares, where a contact whom the request names is called or looked for.

    "Ring Norrkakel" dials no number of somebody else's mail, "anything coming up with Ole" looks
    for what is on with Ole, and "any news from Norrkakel" for their mail.

    Args:
        ordered: APIs and their shares, best first.
        tools: The exposed tools.
        request: What was said.
        contacts: The person's contacts.
        owned: Everything that the person has.
    """
    said = words(request)
    first = ordered[0][0] if ordered else ""
    instead = ""
    if first == "call_number" and not any(one.isdigit() for one in said):
        whole = any(words(one.name) and set(words(one.name)) <= set(said) for one in contacts)
        instead = "call_contact" if whole and not _SPOKEN & set(said) else ""
    elif first in ("google_news", "list_events") and (behind := _WITH.search(request)):
        whom = set(words(behind["whom"]))
        guests = (name for one in owned if one.app == "calendar" for name in item_text.people(one))
        known = mentioned(behind["whom"], contacts) or any(
            whom <= set(words(one)) for one in guests
        )
        instead = "search_events" if known else ""
    if first == "google_news" and (writer := _NEWS_FROM.search(request)):
        whom = set(telling_words(writer["whom"])) - _BY_NOW
        mails = (one for one in owned if one.app == "mail")
        heads = [words(f"{one.text('sender')} {one.text('subject')}") for one in mails]
        instead = "search_mail" if whom and any(whom <= set(one) for one in heads) else ""
    if first == "none":
        instead = _by_title(MOVED.match(request), _MOVING, owned)
        instead = instead or _by_title(_OPENS.match(request), _READING, owned)
    if first == "forward_mail" and _THE_NOTE.search(request) and "mail" not in said:
        instead = "share_note"
    if first == "create_reminder" and _OWN_REMINDER.search(request):
        instead = "snooze_reminder"
    there = any(tool.api == instead for tool in tools)
    return _exchanged(ordered, instead) if there else list(ordered)


def _by_title(found: re.Match[str] | None, apis: Mapping[str, str], owned: Sequence[Item]) -> str:
    """The API for the one thing whose title has all words of what a request moves or opens: "push
    the kiln order to nine", "open part 2".

    Args:
        found: Has the group `what`; None finds nothing.
        apis: Application → API.
        owned: Everything that the person has.
    """
    named = set() if found is None else set(terms(found["what"])) - _FILLS
    meant = {
        (apis[one.app], item_text.title(one))
        for one in owned
        if one.app in apis and named and named <= set(terms(item_text.title(one)))
    }
    return meant.pop()[0] if len(meant) == 1 else ""


def _exchanged(ordered: Sequence[tuple[str, float]], instead: str) -> list[tuple[str, float]]:
    """The APIs, the first one's share exchanged with another's; as they are without that."""
    shares = dict(ordered)
    first = ordered[0][0]
    if instead not in shares:
        return list(ordered)
    swapped = {**shares, first: shares[instead], instead: shares[first]}
    return sorted(swapped.items(), key=lambda one: -one[1])


def _by_verb(
    ordered: Sequence[tuple[str, float]], tools: Sequence[Tool], request: str
) -> list[tuple[str, float]] | None:
    """The APIs with the one before `none` whose name's verb the request begins with: "snooze the
    dough until nine". None where there is no such API, or several."""
    begin = _POLITE.sub("", request).split()
    verb = begin[0].casefold().strip(",.!?") if begin else ""
    meant = [one.api for one in tools if one.api.split("_")[0] == verb and one.app != "music"]
    if len(meant) != 1 or verb not in _OWN:
        return None
    return _exchanged(ordered, meant[0])


def _name_of(tool: Tool) -> Argument | None:
    """The one argument that a tool needs, where it is a name."""
    needed = [one for one in tool.arguments if one.required]
    name = needed[0] if len(needed) == 1 else None
    return name if name is not None and (name.type, name.match) == ("string", "value") else None


def _named(tool: Tool, values: Mapping[str, ToolValues], request: str) -> bool:
    """Whether the request is hardly more than a name that the person has for the tool."""
    name = _name_of(tool)
    of_tool = values.get(tool.api)
    if name is None or of_tool is None:
        return False
    said, wanted = set(words(request)), set(telling_words(request))
    for one in of_tool.candidates.get(name.name, ()):
        parts = set(words(one.value))
        if one.how != "said" and parts and parts <= said and len(wanted - parts) <= _MOST_LEFT:
            return True
    return False
