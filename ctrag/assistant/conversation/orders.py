"""Words with which something is asked for: verbs that are told to an assistant, and requests with a
text in them.
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
    "|complete|save|jot|postpone|telephone|inform|ping|warn|thank|wish|pass|file|rebook|log|trash|copy"
)
OPENERS = (
    r"(?:(?:and|also|then|now|please|pls|just|so|ok|okay|um|uh|oh|maybe|afterwards?|after that"
    r"|(?:when|once|after) (?:that|this|it)(?:'?s| is) (?:done|over|sorted|finished)"
    r"|kindly|you (?:can|may)|would you|could you|can you|would you|will you|i need you to"
    r"|i want you to|i'd like you to)[\s,]+)*"
)
REQUEST = re.compile(rf"{OPENERS}(?:{_VERBS}|don't forget|what|when|where|who|how)\b", re.I)
SURE = re.compile(
    rf"{OPENERS}(?:remind me|play|put (?:on\b|some|in (?:a|an)\b|.*\b(?:on|in)\b)|stick .* on\b"
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
OWN = re.compile(
    rf"{OPENERS}(?:remind me\b|set (?:a|me a) reminder|(?:tick|check|cross|mark) (?:it|that"
    rf"|this)\b"
    r"|(?:tick|check|cross|mark) .*\b(?:off|done|complete)\b|flag (?:it|that|the|his|her|their)\b"
    r"|(?:put|shift|move|push) (?:it|that|this)?.*\bcalendar\b|make a note\b|play me\b"
    r"|block (?:it|that|the|him|her|them)\b|delete (?:it|that|the)\b|read me\b)",
    re.I,
)
"""What is said to an assistant, even inside of a text and without a comma."""
WRITES = re.compile(
    rf"{OPENERS}(?:remind me|don't (?:let me )?forget|tell|ask|let|text|mail|email|message|write"
    r"|reply|answer|say|note|make a note|add|jot|append|send .* (?:saying|that)|translate|create"
    r"|set a reminder|warn|thank|notify|google|search|look up|change|update|how do (?:you"
    r"|i) say)\b",
    re.I,
)
"""Requests with a text in them that may go on after an "and"."""
CLAUSE = re.compile(r"[,.;:!?]\s+|\s+(?:and|so|then|but)\s+|\s+[-–—]\s+", re.I)


def requests_in(text: str) -> bool:
    """Whether some clause of a text asks for something."""
    return any(REQUEST.match(one.strip()) for one in CLAUSE.split(text))


def last_order(text: str) -> str:
    """The last clause that asks for something, to the end: "tell Ann I am late" of "they rang,
    tell Ann I am late"."""
    starts = [0, *(one.end() for one in CLAUSE.finditer(text))]
    orders = [start for start in starts if REQUEST.match(text[start:])]
    written = [start for start in orders if WRITES.match(text[start:])]
    if written:
        return text[written[0] :]
    return text[orders[-1] :] if orders else text
