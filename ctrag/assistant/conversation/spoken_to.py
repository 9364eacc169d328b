"""Requests that begin with whom they are for: told apart by the person's contacts."""

import re
from collections.abc import Sequence

from ctrag.assistant.conversation.orders import OPENERS
from ctrag.assistant.conversation.split import LONGEST
from ctrag.assistant.planning.mentions import mentioned
from ctrag.text.words import telling_words, words
from stores.people.items import Contact

_ALSO_TOLD = re.compile(
    r",?\s+(?:and|&)\s+(?:then\s+)?(?=(?P<verb>tell|ask|text|email|mail|message|let|remind|warn)\s+"
    r"(?P<whom>(?:my |our )?[^\W\d_][\w'’-]*(?:\s(?!I(?:\b|['’]))(?-i:[A-ZÀ-Ý])[\w'’-]*)?)\s+\S)",
    re.I,
)
_TELLS_ONE = re.compile(
    rf"{OPENERS}(?:tell|ask|text|email|mail|message|let|remind|warn|write(?: to)?|reply to)\s+"
    r"(?P<whom>(?:my |our )?[^\W\d_][\w'’-]*(?:\s(?!I(?:\b|['’]))(?-i:[A-ZÀ-Ý])[\w'’-]*)?)\s+\S",
    re.I,
)


_ANYTHING_BETWEEN = re.compile(r"[.,;:!?]\s|\b(?:and|then|plus|also|because|so|but)\b|[-–—&]", re.I)
_COMPLETE = re.compile(
    rf"{OPENERS}(?:cancel|call off|delete|move|push|shift|reschedule|play|pause|skip|call|ring|text"
    r"|tell|mail|email|snooze|tick|cross|read|open|show|add .+ list)\b.*"
    r"(?<!\bto)(?<!\bor)(?<!\byou)(?<!\bplease)(?<!\bthat)(?<!\bcan)(?<!\bcould)(?<!\bnot)"
    r"(?<!\bwill)(?<!\bwould)(?<!\bjust)(?<!\bif)(?<!\bwhen)(?<!\bI)(?<!\bwe)(?<!\bhe)(?<!\bshe)"
    r"(?<!\bthey)(?<!n't)(?<!['’]ll)(?<!\bthe)(?<!\ba)(?<!\bmy)(?<!\bme)(?<!\bdo)(?<!\bcalled)",
    re.I,
)
"""An order that has its object, so that a new one may follow."""
_ANEW = re.compile(
    r"\s+(?=remind me (?:to|at|in|on|about|tomorrow|tonight)\b"
    r"|(?:tell|text|email|mail|ask|call|ring)\s+(?P<whom>(?:my )?[^\W\d_][\w'’-]*))",
    re.I,
)


def _run_on(part: str, contacts: Sequence[Contact]) -> list[str]:
    """ "Cancel the rowing tell Omar I'm ill": as dictated, with nothing between two orders."""
    if len(part) > LONGEST or _ANYTHING_BETWEEN.search(part):
        return [part]
    for found in _ANEW.finditer(part):
        left, right = part[: found.start()], part[found.end() :]
        if len(left.split()) < 2 or not _COMPLETE.fullmatch(left):
            continue
        if found["whom"]:
            whom = only_contact(found["whom"], contacts)
            told = _TELLS_ONE.match(f"{left} .")
            if whom is None or (told and only_contact(told["whom"], contacts) == whom):
                continue
        return [left, *_run_on(right, contacts)]
    return [part]


def apart_by_contacts(parts: Sequence[str], contacts: Sequence[Contact]) -> list[str]:
    """Requests of which "tell Tom dinner is at six and ask Anna if she's coming" is two: both are
    contacts, and not the same.

    Args:
        parts: Requests in order.
        contacts: Whom the person may have told.
    """
    found: list[str] = []
    for part in (one for whole in parts for one in _run_on(whole, contacts)):
        at = 0
        first = _TELLS_ONE.match(part) if len(part) <= LONGEST else None
        for other in _ALSO_TOLD.finditer(part if first else ""):
            if first is None:
                break
            one, two = only_contact(first["whom"], contacts), only_contact(other["whom"], contacts)
            if one is None or two is None or one == two:
                continue
            found.append(part[at : other.start()])
            at = other.end()
            first = _TELLS_ONE.match(part[at:])
        found.append(part[at:])
    return found


def only_contact(mention: str, contacts: Sequence[Contact]) -> Contact | None:
    """The contact whom the whole of a mention names; None where there are none or several."""
    found = mentioned(mention, contacts)
    known = {word for one in found for word in words(f"{one.name} {one.relation}")}
    every = set(telling_words(mention)) <= known or len(words(mention)) == 1
    return found[0] if len(found) == 1 and every else None
