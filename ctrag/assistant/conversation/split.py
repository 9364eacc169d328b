"""The requests in one breath: "cancel tonight's class and tell Priya why" is two.

An "and" inside one value is none: "buy bread and butter", "tell Sam to lock up and call me". What
begins with a verb that only an assistant is told, after a break, is a request of its own; inside a
text that is written ("remind me to …", "tell Sam …") only what cannot be part of the text.
"""

import re

_VERBS = (
    "remind|tell|let|play|put|add|move|call|ring|phone|dial|cancel|delete|tick|check|cross|mark"
    "|send"
    "|share|forward|read|show|find|look|open|write|text|mail|email|message|reply|answer|flag|block"
    "|snooze|push|shift|search|translate|navigate|pause|stop|skip|set|make|create|note|schedule"
    "|book"
    "|reschedule|postpone|remove|throw|bin|get|give|take|append|list|redial|start|confirm|ask"
    "|invite"
    "|drop|pull|bring|scrap|shove|stick|say|chuck|erase|google|turn|change|update|notify|drive"
    "|clear"
    "|complete|save|jot|postpone|warn|thank|wish|pass|file|rebook|log|trash|copy"
)
_OPENERS = (
    r"(?:(?:and|also|then|now|please|pls|just|so|ok|okay|um|uh|oh|maybe|afterwards?|after that"
    r"|could you|can you|would you|will you|i need you to|i want you to|i'd like you to)[\s,]+)*"
)
_REQUEST = re.compile(rf"{_OPENERS}(?:{_VERBS}|don't forget|what|when|where|who|how)\b", re.I)
_SURE = re.compile(
    rf"{_OPENERS}(?:remind me|play|put (?:on\b|some|in (?:a|an)\b|.*\b(?:on|in)\b)|stick .* on\b"
    r"|(?:tick|check|cross|mark) .*\b(?:off|done|complete|completed)\b|tick (?:it|that)|flag\b"
    r"|delete\b|snooze\b|reschedule\b|skip\b|pause\b|cancel\b|block\b|forward\b"
    r"|(?:shift|move|push|put) .*|tell\b|let .* know\b|read (?:me|out)|show me|look up|search\b"
    r"|add .* to\b|create\b|make a note|set a reminder|reply\b|share\b|give .* a (?:ring|call)"
    r"|find\b"
    r"|what'?s\b|where'?s\b|when'?s\b|how\b|what (?:is|do|are|time)\b|get me directions"
    r"|directions\b|navigate\b|call\b|ring\b|phone\b|send\b|write\b|email\b|mail\b|message\b"
    r"|text\b)",
    re.I,
)
"""What is said to an assistant, after a comma."""
_OWN = re.compile(
    rf"{_OPENERS}(?:remind me\b|set (?:a|me a) reminder|(?:tick|check|cross|mark) (?:it|that"
    rf"|this)\b"
    r"|(?:tick|check|cross|mark) .*\b(?:off|done|complete)\b|flag (?:it|that|the|his|her|their)\b"
    r"|(?:put|shift|move|push) (?:it|that|this)?.*\bcalendar\b|make a note\b|play me\b"
    r"|block (?:it|that|the|him|her|them)\b|delete (?:it|that|the)\b|read me\b)",
    re.I,
)
"""What is said to an assistant, even inside of a text and without a comma."""
_WRITES = re.compile(
    rf"{_OPENERS}(?:remind me|don't (?:let me )?forget|tell|ask|let|text|mail|email|message|write"
    r"|reply|answer|say|note|make a note|add|jot|append|send .* (?:saying|that)|translate|create"
    r"|set a reminder|warn|thank|notify|google|search|look up|change|update|how do (?:you"
    r"|i) say)\b",
    re.I,
)
"""Requests with a text in them that may go on after an "and"."""
_BREAK = re.compile(
    r"(?P<hard>[.;!?]+\s+(?=\S)|,?\s+(?:and\s+)?then\s+(?:also\s+)?|,?\s+and after that,?\s+"
    r"|,?\s+and also\s+|,?\s+after that,?\s+|\s+plus\s+|\s+&\s+then\s+)"
    r"|(?P<comma>,\s*(?:and|but|also)\s+|,\s+(?=\w)|\s+[-–—]\s+)|(?P<soft>\s+and\s+|\s+&\s+)",
    re.I,
)
_INSTEAD = re.compile(r"\b(?:instead|rather)\b|\bto the top\b", re.I)
_LOOSE_END = re.compile(r"(?:[\s,]+(?:and|then|also|but|um|uh))+[\s,]*$", re.I)
_LONG = 2
"""Words that a request has at least."""
_ABOUT_IT = re.compile(r"(?:how|what|when|where|who|make it|make sure|say|give)\b(?!.*\?)", re.I)
"""What goes on about the same thing: "look up the museum and when it opens"."""
_POINTS_BACK = re.compile(rf"{_OPENERS}(?:tick|check|cross|mark|flag|delete|block)\b", re.I)
"""After a bare comma, what was said before is the reason: "I paid the rent, mark it done"."""
_DONE = re.compile(r".{3,40}\b(?:so|please|you can)\s+(?:tick|check|cross|mark)\b", re.I)
_CLOCK = (
    r"(?:(?:half|quarter|ten|twenty|five) (?:past|to) )?(?:\d[\d:.]*|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|noon|midday|midnight)(?: ?(?:am|pm|o'clock|sharp))?"
)
_TIMED = re.compile(
    r"\b(?:remind me|set (?:a|me a) reminder|don't let me forget)\b.* "
    rf"(?:(?:at|by) {_CLOCK}|tomorrow|tonight|today|in the (?:morning|afternoon|evening)"
    r"|in (?:an?|\S+) (?:minutes?|hours?|days?)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)$",
    re.I,
)
"""A reminder that ends in its time has been said."""
_TO_OTHERS = re.compile(
    rf"{_OPENERS}(?:tell|text|mail|email|message|call|ring|let) (?!him\b|her\b|them\b)[^\W\d_]",
    re.I,
)
_CLAUSE = re.compile(r"[,.;:!?]\s+|\s+(?:and|so|then|but)\s+|\s+[-–—]\s+", re.I)


def split(text: str) -> list[str]:
    """The requests of a text in order; the text itself where it is one."""
    found: list[str] = []
    begin = 0
    for one in _BREAK.finditer(text):
        left, right = text[begin : one.start()], text[one.end() :]
        if _apart(left, right, one.lastgroup or "soft", _spoken(one.group())):
            found.append(left)
            begin = one.end()
    found.append(text[begin:])
    parts = [_LOOSE_END.sub("", " ".join(part.split())).strip(" ,;") for part in found]
    return [part for part in parts if part] if len(parts) > 1 else [text]


def requests_in(text: str) -> bool:
    """Whether some clause of a text asks for something."""
    return any(_REQUEST.match(one.strip()) for one in _CLAUSE.split(text))


def _apart(left: str, right: str, kind: str, joined: bool) -> bool:
    """Whether a break lies between two requests.

    Args:
        left: What was said before it, from the last such break on.
        right: Everything after it.
        kind: `hard` (a full stop, "then"), `comma`, or `soft` (a bare "and").
        joined: Whether the break has a word such as "and" or "then".
    """
    if len(left.split()) < _LONG or len(right.split()) < _LONG or _in_quotes(left):
        return False
    if not requests_in(left) and not (joined and kind != "soft" and _INSTEAD.search(left)):
        return False
    writes = bool(_WRITES.match(_last_order(left)))
    if (kind == "hard" and joined) or (kind == "comma" and joined):
        asks = bool((_SURE if writes else _REQUEST).match(right)) or bool(_DONE.match(right))
        return asks and not _ABOUT_IT.match(right)
    if kind == "hard":  # what follows a full stop may be said to the same person
        return bool((_OWN if writes else _SURE).match(right))
    if kind == "comma":
        return bool(_OWN.match(right)) and not _POINTS_BACK.match(right)
    if writes and _TIMED.search(left) and _TO_OTHERS.match(right):
        return True
    return bool((_OWN if writes else _REQUEST).match(right)) and not _ABOUT_IT.match(right)


def _last_order(text: str) -> str:
    """The last clause that asks for something, to the end: "tell Ann I am late" of "they rang,
    tell Ann I am late"."""
    starts = [0, *(one.end() for one in _CLAUSE.finditer(text))]
    orders = [start for start in starts if _REQUEST.match(text[start:])]
    written = [start for start in orders if _WRITES.match(text[start:])]
    if written:
        return text[written[0] :]
    return text[orders[-1] :] if orders else text


def _in_quotes(left: str) -> bool:
    return left.count('"') % 2 == 1 or left.count("“") > left.count("”")


def _spoken(mark: str) -> bool:
    return bool(re.search(r"[a-z&]", mark, re.I))
