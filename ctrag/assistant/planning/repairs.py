"""Readings of a request that cannot be: a place as both ends of a flight, one run of words as a
person and as something else, a message to somebody who is only spoken of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctrag.assistant.planning.addressee import addressee
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.mentions import mentioned
from ctrag.text.false_starts import as_meant
from ctrag.text.words import STOPWORDS, words
from ctrag.toolbox import Tool
from stores.people.items import Contact

_ADDRESSED = 0.9
"""Probability at least of a recipient whom the request addresses."""
_PLAY = re.compile(
    r"^\W*(?:(?:please|hey|ok(?:ay)?|and|so|now|yo|can\s+you|could\s+you|would\s+you|let\s+me\s+"
    r"(?:have|hear)|i(?:'d\s+like|\s+want)\s+to\s+hear)\W+)*(?:(?:play|put\s+on|stick\s+on)\s+(?:me\s+)?"
    r"(?:some\s+|a\s+bit\s+of\s+)?|some\s+)(?P<name>[^,.;:!?]{1,40}?)"
    r"(?:\s+(?:please|pls|loud(?:ly)?|quietly|now|then|yes|for\s+me|on))*\s*(?:[,.;!?].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_NAME_ALONE = re.compile(
    r"^\W*(?P<name>[^\W\d_][\w'’&-]*(?:\s[^\W\d_][\w'’&-]*){0,2})\s+(?:pls|plz|please)\W*$",
    re.IGNORECASE,
)
"""Of "cool jazz pls", in which no verb says what to do with it."""
_NO_NAME = frozenset(
    "music song songs tune tunes track tracks album record records playlist list radio something "
    "anything stuff one ones more nice good new old favourite favorite same next last usual it "
    "voicemail message podcast news game video film movie time".split()
)
_MODE = re.compile(
    r"[\s,]+(?:walking|driving|cycling|biking|on\s+foot|on\s+my\s+bike"
    r"|by\s+(?:car|bike|bicycle|bus|train|foot|tram|metro|public\s+transport|transit))\W*$",
    re.IGNORECASE,
)
"""How one gets to a place, behind its name."""
_PLAYED = 0.8
"""Probability of a name that is all that is said besides the verb."""
_SENT = ("send_mail",)
_PEOPLE = ("contact", "contacts")


def repaired(
    tool: Tool, slots: Mapping[str, FilledSlot], request: str, contacts: Sequence[Contact]
) -> dict[str, FilledSlot]:
    """The slots without what cannot be.

    Args:
        tool: The tool that is called.
        slots: What was read of the request.
        request: What was said.
        contacts: The person's contacts.
    """
    found = dict(slots)
    if "to" in found and tool.api in _SENT and (whom := addressee(request, contacts)):
        likely = found["to"].probability if found["to"].value == whom else _ADDRESSED
        found["to"] = FilledSlot(whom, max(likely, _ADDRESSED))
    if {"origin", "destination"} <= found.keys():
        _one_way(found, request)
    place = found.get("destination")
    if "mode" in tool.arguments_by_name and place is not None and place.value is not None:
        found["destination"] = replace(place, value=_MODE.sub("", place.value) or place.value)
    for name in ("artist", "genre"):
        if tool.api == f"play_{name}" and name in found and found[name].value is None:
            found[name] = _played(request) or found[name]
    for name, slot in slots.items():
        argument = tool.arguments_by_name[name]
        if argument.required or argument.type not in _PEOPLE or slot.value is None:
            continue
        same = [
            other
            for other, one in slots.items()
            if other != name and one.value is not None and words(one.value) == words(slot.value)
        ]
        if same and not mentioned(slot.value, contacts):
            found[name] = FilledSlot(None, 1.0)
            for other in same:
                likely = max(slots[other].probability, slot.probability)
                found[other] = replace(slots[other], probability=likely)
    return found


def _played(request: str) -> FilledSlot | None:
    """The name in "put on some Moloko" and "play drum and bass"; None where more is said."""
    asked = _PLAY.match(as_meant(request)) or _NAME_ALONE.match(request)
    name = "" if asked is None else asked["name"].strip()
    parts = set(words(name))
    if not parts or parts & _NO_NAME or parts & (STOPWORDS - {"the", "and", "n", "of"}):
        return None
    return FilledSlot(name, _PLAYED)


def _one_way(found: dict[str, FilledSlot], request: str) -> None:
    """Origin and destination by the words before them: "to Accra" is no origin."""
    origin, destination = found["origin"], found["destination"]
    if origin.value is None:
        return
    goes = _behind("to|for|into|towards?", origin.value, request)
    comes = _behind("from|out of|leaving", origin.value, request)
    if destination.value is None and goes and not comes:
        found["destination"] = origin
        found["origin"] = FilledSlot(None, origin.probability)
    elif destination.value is not None and words(destination.value) == words(origin.value):
        found["origin"] = replace(origin, value=None)
    elif destination.value is not None and goes and not comes:
        leaves = _behind("from|out of|leaving", destination.value, request)
        found |= {"origin": destination, "destination": origin} if leaves else {}


def _behind(prepositions: str, said: str, request: str) -> bool:
    place = r"\W+".join(map(re.escape, said.split()))
    return bool(re.search(rf"\b(?:{prepositions})\s+(?:the\s+)?{place}\b", request, re.IGNORECASE))
