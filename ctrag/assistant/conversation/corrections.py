"""What is taken back in the same breath: "at two, no, half past", "call Ida, no, mail her"."""

import re

from ctrag.assistant.conversation.breaks import CLOCK
from ctrag.assistant.conversation.orders import REQUEST

_CLOCK = (
    r"(?:half (?:an hour|\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    rf"|{CLOCK})"
)
_TIME_TWICE = re.compile(
    rf"(?P<said>{_CLOCK}),?\s+(?:or\s+)?(?:no|nope|nah|sorry|wait|rather|make that|not)[,\s]+"
    rf"(?:(?:wait|sorry|make it|make that|rather)[,\s]+)*"
    rf"(?P<meant>(?:half|quarter|ten|twenty|five) (?:past|to)(?!\s+(?:\d|one|two|three|four|five"
    rf"|six"
    rf"|seven|eight|nine|ten|eleven|twelve))|{_CLOCK})",
    re.I,
)
_ORDER_TWICE = re.compile(
    r"(?P<verb>remind me|(?:set|give me|make) (?:me )?a reminder)\s.+?[.,;]\s+(?:no|wait|sorry"
    r"|actually)[,.\s]+"
    r"(?:let it be|make (?:it|that)|rather)\s+(?P<meant>.+)",
    re.I,
)
_RESTARTED = re.compile(
    rf"^(?:ok(?:ay)?,?\s+)?(?={REQUEST.pattern})[^.!?;]{{3,40}}?,?\s+(?:oh\s+)?no,?\s+wait,?\s+"
    rf"(?={REQUEST.pattern})",
    re.I,
)
_BROKEN_OFF = re.compile(r"(?:^|(?<=\s))[\w'’ ]*\w[—–-]+\s*(?:no|sorry|wait)[,.]?\s+(?=\S)", re.I)


def corrected(text: str) -> str:
    """A text without a time or a word that was taken back at once: "at two, no, half past"."""
    if twice := _ORDER_TWICE.fullmatch(text):
        text = f"{twice['verb']} {twice['meant']}"
    text = _BROKEN_OFF.sub("", _RESTARTED.sub("", text))
    return _TIME_TWICE.sub(_meant, text)


def _meant(found: re.Match[str]) -> str:
    said, meant = found["said"], found["meant"]
    if re.search(r"\bnot[,\s]+$", found[0][: found.start("meant") - found.start()], re.I):
        return said  # "at seven, not half past six"
    if re.search(r"(?:past|to)$", meant, re.I):
        return f"{meant} {said.split()[-1]}"
    return meant


_DONT = re.compile(
    r"^(?P<verb>call|ring|phone|text|mail|email|tell) (?P<whom>[^,.;]+?),? (?:no|wait"
    r"|actually),? (?:wait,? )?"
    r"(?:don't|do not|not) \w+(?: (?:him|her|them))?,\s+(?P<rest>.+)$",
    re.I,
)


def redirected(text: str) -> str:
    """ "Call Peter, no, don't call, mail him …" as "mail Peter …"."""
    text = _RESTARTED.sub("", text)
    found = _DONT.match(text)
    if found is None:
        return text
    return re.sub(r"\b(?:him|her|them)\b", found["whom"], found["rest"], count=1)
