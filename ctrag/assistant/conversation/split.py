"""The requests in one breath: "cancel tonight's class and tell Priya why" is two.

An "and" inside one value is none: "buy bread and butter", "tell Sam to lock up and call me". What
begins with a verb that only an assistant is told, after a break, is a request of its own; inside a
text that is written ("remind me to …", "tell Sam …") only what cannot be part of the text. These
rules know how people speak to assistants; `Breaks` has learned when they are wrong.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctrag.assistant.conversation.breaks import CLOCK, Breaks, kept_by_assistants
from ctrag.assistant.conversation.corrections import redirected
from ctrag.assistant.conversation.orders import (
    OPENERS,
    OWN,
    REQUEST,
    SURE,
    WRITES,
    last_order,
    requests_in,
)
from ctrag.text.false_starts import as_meant

_BREAK = re.compile(
    r"(?P<hard>[.;!?]+\s+(?:(?:(?:oh\s+)?and|also|then|plus)\b,?\s+)*(?=\S)"
    r"|,?\s+(?:and\s+)?then,?\s+(?:also\s+)?|,?\s+and after that,?\s+"
    r"|,?\s+and also,?\s+|,?\s+after that,?\s+|,?\s+plus\s+|\s+&\s+then\s+)"
    r"|(?P<comma>,\s*(?:oh\s+)?(?:and|but|also|oh)\s+|,\s+(?=\S)|\s+[-–—]\s+"
    r"|(?<!\byou)(?<!\bwe)(?<!\bI)(?<!\bto)(?<!['’]ll)(?<!['’]re)(?<!['’]m)\s+also\s+)"
    r"|(?P<soft>\s+and\s+|\s+&\s+)",
    re.I,
)
_AND = re.compile(r"(?<=[\w,.]) (?:n|n'|'n'|&) (?=\w)")
"""As "and" is typed in haste."""
_POLITE = re.compile(
    r"\W*(?:please|thanks|thank you|ok(?:ay)?|so|well|yes|now|oh|ah|um|uh|right|also|and|then)\W*",
    re.I,
)
_POLITELY = re.compile(r"^(?:(?:please|thanks|thank you),?\s+(?:and|then)\s+)", re.I)
_PUT_NOWHERE = re.compile(
    rf"{OPENERS}(?:put|stick|pop)\s+(?!.*\b(?:in|on|into|onto|to|down|back|at|for|off|through)\b)",
    re.I,
)
"""An order that is not at its end: "put lunch with Sam and Dana in"."""
_INSTEAD = re.compile(r"\b(?:instead|rather)\b|\bto the top\b", re.I)
_LOOSE_END = re.compile(r"(?:[\s,]+(?:and|then|also|but|um|uh))+[\s,]*$", re.I)
_LOOSE_BEGIN = re.compile(r"^(?:(?:oh|ah|um|uh|and|also|then|but)[\s,]+)+", re.I)
LONGEST = 600
"""Characters of what is split: each break is looked at with all that stands around it."""
_LONG = 2
"""Words that a request has at least."""
_ABOUT_IT = re.compile(r"(?:how|what|when|where|who|make it|make sure|say|give)\b(?!.*\?)", re.I)
"""What goes on about the same thing: "look up the museum and when it opens"."""
_CALLS = re.compile(rf"{OPENERS}(?:call|ring|phone|dial|give)\b(?:\W+[\w'’.-]+){{1,5}}", re.I)
_SPOKEN_ON_IT = re.compile(r"(?:tell|ask|say|see|find out|let)\b", re.I)
"""What the person will say on the phone: "call Ann and ask her about the keys"."""
_MESSAGE_TO_COME = re.compile(
    rf"{OPENERS}(?:text|mail|email|message|write(?: to)?|reply to|answer|tell|let)"
    r"\s+(?:my |the )?[\w'’.-]+(?:\s+know)?(?:\s+then)?",
    re.I,
)
"""An order whose message comes behind the break: "mail him then, I'm at the gate"."""
_SPOKEN_TO_THEM = re.compile(r"(?:tell|ask) (?:him|her|them)\b", re.I)
"""The same, of one who was named: "remind me to meet Ann and tell her about the keys"."""
_REPORTED = re.compile(
    r"^(?!.*\b(?:when|where|what|who|how|which|did|does|not|isn't|aren't|said|says|thinks)\b)"
    r"(?:\S+\s+){1,7}(?:(?:is|are|'s|was|were|has been|have been|been|all|now|got|already)\s+)?"
    r"(?:done|finished|bought|paid|sent|fed|sorted|gone|made|written|put away|taken|"
    r"(?:changed|filled|washed|cleaned|posted|booked|called|ordered|delivered|collected|returned"
    r"|watered"
    r"|charged|fixed|printed|packed|cooked|replaced|mailed|submitted|renewed|picked up|dropped off"
    r"|ironed|emptied|oiled|sharpened|weighed|signed|filed|tested|checked|closed|locked|planted"
    r"|repaired|painted|measured|mended|baked|fetched|handed in|folded|brushed|polished|sanded))$",
    re.I,
)
"""What is done is said: "the rent is paid"; on its own it ticks a reminder off."""
_CALENDAR = r"(?:cal|calendar|diary|agenda|schedule)\b"
_CERTAIN = re.compile(
    rf"{OPENERS}(?:(?:put|add|enter|pop|take|get|keep|throw|remove)\s.{{1,50}}?\s(?:in|into|on"
    rf"|to|off|out of"
    rf"|from)\s(?:my|the|our)\s{_CALENDAR}|remind me\b|set (?:me )?a reminder|connect me\b"
    r"|have me (?:ring|call|phone)\b|play (?:me\b|my\b|some\b)|(?:tick|cross|check) .*\b(?:off"
    r"|done)\b)",
    re.I,
)
"""What nobody but an assistant is asked for."""
_MINE = re.compile(
    rf"{OPENERS}(?:put|add|enter|pop|take|get|throw|remove)\s.{{1,50}}?\s(?:in|into|on|to|off"
    rf"|out of|from)\smy\s"
    rf"{_CALENDAR}|{OPENERS}have me (?:ring|call|phone)\b",
    re.I,
)
_REMIND = re.compile(rf"{OPENERS}(?:remind|set|don't)\b", re.I)
_WH = re.compile(rf"{OPENERS}(?:what|how|when|where|who|which|is|are|will|any)", re.I)
_ALSO_ASKED = re.compile(
    rf"{OPENERS}(?:try|return|accept|connect|enter|pause|redial|leave|let .* wait|weather"
    rf"|flights?)\b"
    rf"|.*\bleave (?:it|that) (?:till"
    r"|until)\b",
    re.I,
)
_GIVES_MUSIC = re.compile(
    rf"{OPENERS}(?:give|get) me (?!a (?:ring|call)|an? |the\b|your\b|\S+ (?:number|address"
    rf"|details))\S+"
    rf"(?: \S+){{0,3}}$|(?!(?:so|go|come|carry|hold|hang|move|read|it|that|and|later"
    rf"|early)\b)\S+ on(?: please)?$",
    re.I,
)
_NEXT_ORDER = re.compile(
    r"(?!.*\b(?:it|that|this|them|him|her)\b)(?:please )?(?:call|ring|phone|text|email|mail|play"
    r"|pause|cancel|snooze"
    r"|remind me|block|skip|reschedule) \S+",
    re.I,
)
"""Orders that begin anew after a bare comma."""
_RAIN = re.compile(
    r"(?:is it (?:going to|gonna)|will it|is it) (?:be )?"
    r"(?:rain|snow|raining|snowing|cold|warm|hot|windy)\b",
    re.I,
)
_YES_OR_NO = re.compile(
    r"(?:do (?:i|we) have|have (?:i|we) got|is there|are there|did (?:anyone|anybody|someone)"
    r"|has (?:anyone|anybody|someone)|any)\s+(?!to\b)\w",
    re.I,
)
_ASIDE = re.compile(
    r"(?:(?:what else|yes|wait|let me see|let's see|oh|ah|while you(?:'re| are) (?:there|at it)"
    r"|if you can|euh|also"
    r"|when we(?:'re|re| are) done)[,\s]+)+",
    re.I,
)
_FRONT = re.compile(
    r"(?:in|on|to|for|at) (?!it\b|that\b)[^,.;!?]{2,40}?,? (?=(?:please )?(?:add|put|write|give"
    r"|tell|answer|send|note) )",
    re.I,
)
"""Where or to whom, said first: "in the list of songs, add …"."""
_NOUN = re.compile(
    r"(?:route|directions|the way|the weather|weather(?![ -]wise)|flights?|news|pictures"
    r"|the news)\b|(?:\S+\s+){1,3}voicemail$",
    re.I,
)
_OF_WHAT_IS_DONE = re.compile(
    r"(?:\S+\s+){1,3}?(?:it|that|this)\b|(?:tell|let|text|inform|notify)\s+\S+(?:\s+(?:know"
    r"|so))?\W*$",
    re.I,
)
"""A request about what was said to be done."""
_TELLS_ALONE = re.compile(r"(?:tell|let)\s+(?:my |the )?[\w'’.-]+(?:\s+know)?\W*", re.I)
_TO_WHOM_ALONE = re.compile(
    rf"{OPENERS}(?:text|mail|email|message|write to|reply to|answer)\s+(?:my |the )?[\w'’.-]+", re.I
)
_SAYS = re.compile(r"(?:say|tell|ask|let|that|see|find out|wish|thank|invite|give|send)\b", re.I)
_MESSAGE_STATES = re.compile(
    r"\W*(?:tell|text|let|mail|email|message|write(?: to)?|reply to|answer|ask)\s+(?:\S+\s+){1,4}?"
    r"(?:know\s+)?(?:that|if|whether|i|i'm|i'll|i've|we|we're|we'll|it's|it)\b",
    re.I,
)
_CHANGES = re.compile(
    r"(?:move|push|shift|put|cancel|reschedule|delete|block|flag|snooze|postpone|tick|mark)\b", re.I
)
_POINTS_BACK = re.compile(rf"{OPENERS}(?:tick|check|cross|mark|flag|delete|block)\b", re.I)
"""After a bare comma, what was said before is the reason: "I paid the rent, mark it done"."""
_DONE = re.compile(r".{3,40}\b(?:so|please|you can)\s+(?:tick|check|cross|mark)\b", re.I)
_TIMED = re.compile(
    r"\b(?:remind me|set (?:a|me a) reminder|don't let me forget)\b.* "
    rf"(?:(?:at|by) {CLOCK}|tomorrow|tonight|today|in the (?:morning|afternoon|evening)"
    r"|in (?:an?|\S+) (?:minutes?|hours?|days?)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)$",
    re.I,
)
"""A reminder that ends in its time has been said."""
_TO_OTHERS = re.compile(
    rf"{OPENERS}(?:tell|text|mail|email|message|call|ring|let) (?!him\b|her\b|them\b)[^\W\d_]",
    re.I,
)


_GOES_ON = re.compile(r"^\W*(?:and\s+)?then\W*$", re.I)
_TOLD_TO = re.compile(
    rf"{OPENERS}(?:tell|ask)\s+(?:my |the )?[\w'’.-]+(?:\s(?-i:[A-Z])[\w'’-]*)?\s+to\s", re.I
)
_PROMISES = re.compile(
    r"\b(?:tell|text|let|mail|email|message)\b.*\b(?:I|we)(?:['’]ll| will)\b", re.I
)
_TO_THEM = re.compile(r"(?:call|ring|phone|see|meet|text|mail|email) (?:him|her|them|you)\b", re.I)
"""What the person will do: "tell Ann I'll send the report and call her tomorrow"."""
_MESSAGES = re.compile(
    rf"{OPENERS}(?:tell|text|mail|email|message|let|remind|ask|play|read|show|what|find)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Break:
    """A place where one request may end and the next begin."""

    start: int
    end: int
    left: str
    """What was said before it, from the last break between requests on."""
    right: str
    """Everything after it."""
    mark: str
    ruled: bool
    """Whether the rules take it for one between requests."""


def split(text: str) -> list[str]:
    """The requests of a text in order; the text itself where it is one, or long."""
    if len(text) > LONGEST:
        return [text]
    told = as_told(text)
    found = []
    begin = 0
    for one in breaks_in(told, _between):
        found.append(one.left)
        begin = one.end
    found.append(told[begin:])
    parts = [_LOOSE_END.sub("", " ".join(part.split())).strip(" ,;") for part in found]
    parts = [_POLITELY.sub("", part) for part in parts if part and not _POLITE.fullmatch(part)]
    return unjoined(parts) if len(parts) > 1 else [text]


def unjoined(parts: Sequence[str]) -> list[str]:
    """Requests without the "oh, and" before all but the first."""
    return [*parts[:1], *(_LOOSE_BEGIN.sub("", part) or part for part in parts[1:])]


def as_told(text: str) -> str:
    """A text as its breaks are looked for: without false starts, "n" as "and"."""
    return redirected(_AND.sub(" and ", as_meant(text)))


def breaks_in(text: str, between: Callable[[Break], bool]) -> Iterator[Break]:
    """The breaks of a text that lie between requests, in order.

    Args:
        text: What was said.
        between: Whether a break lies between requests; asked of each break that may.
    """
    begin = 0
    for found in _BREAK.finditer(text):
        left, right = text[begin : found.start()], text[found.end() :]
        end = found.end()
        if (aside := _ASIDE.match(right)) and len(right[aside.end() :].split()) > 1:
            right, end = right[aside.end() :], end + aside.end()
        if not left.strip() or not right.strip() or _in_quotes(left):
            continue
        if "then" in found.group() and right.casefold().startswith("that "):
            continue  # "answer her then that it is fine" is one
        if found.lastgroup == "soft" and _PUT_NOWHERE.match(left.strip()):
            continue
        ruled = _apart(left, right, found.lastgroup or "soft", _spoken(found))
        one = Break(found.start(), end, left, right, found.group(), ruled)
        if between(one):
            yield one
            begin = found.end()


def _between(one: Break) -> bool:
    joined = not re.search(r"[.;!?]|\bthen\b", one.mark, re.I)
    if (
        joined
        and _SPOKEN_TO_THEM.match(one.right)
        and (_CALLS.fullmatch(one.left.strip()) or _REMIND.match(last_order(one.left)))
    ):
        return False
    if _MESSAGE_TO_COME.fullmatch(one.left.strip()) and not requests_in(one.right):
        return False
    if joined and _PROMISES.search(one.left) and _TO_THEM.match(one.right):
        return False
    if _GOES_ON.search(one.mark) and _unfinished(last_order(one.left)) and _theirs(one.right):
        return False
    if one.ruled and certain(one.left, one.right):
        return True
    return Breaks.in_use().between(one.left, one.right, one.mark, one.ruled)


def _unfinished(order: str) -> bool:
    """Whether a reminder, or what somebody is told to do, may go on behind a "then"."""
    reminds = _REMIND.match(order) and not _TIMED.search(order)
    return bool(reminds or _TOLD_TO.match(order))


def _theirs(right: str) -> bool:
    """Whether what follows may be a thing to do of the person or of whom they told, not of the
    assistant."""
    return not (_CERTAIN.match(right) or kept_by_assistants(right) or _MESSAGES.match(right))


def _apart(left: str, right: str, kind: str, joined: bool) -> bool:
    """Whether a break lies between two requests.

    Args:
        left: What was said before it, from the last such break on.
        right: Everything after it.
        kind: `hard` (a full stop, "then"), `comma`, or `soft` (a bare "and").
        joined: Whether the break has a word such as "and" or "then".
    """
    if len(left.split()) < _LONG or len(right.split()) < _LONG:
        return False
    if _REPORTED.search(left) and not WRITES.match(left):
        asks = bool(REQUEST.match(right)) and not _POINTS_BACK.match(right)
        return kind != "soft" and asks and not _OF_WHAT_IS_DONE.match(right)
    if kind == "comma" and not WRITES.match(last_order(left)) and _NEXT_ORDER.match(right):
        return requests_in(left) and not re.search(r"\bno\b[^,]{0,12}$", left, re.I)
    if joined and _asks_too(left, right):
        return True
    changed = _INSTEAD.search(left) or _CHANGES.match(left)
    if kind == "comma" and changed and _TELLS_ALONE.fullmatch(right):
        return True
    right = _FRONT.sub("", right) if _FRONT.match(right) else right
    if (
        not requests_in(left)
        and not _ALSO_ASKED.match(left)
        and not (joined and _INSTEAD.search(left) and (kind != "soft" or WRITES.match(right)))
    ):
        return False
    if not (kind == "hard" and joined) and _CALLS.fullmatch(left) and _SPOKEN_ON_IT.match(right):
        return False
    writes = bool(WRITES.match(last_order(left)))
    if not writes and joined and (_CERTAIN.match(right) or _GIVES_MUSIC.match(right)):
        return True
    if not writes and _NOUN.match(right) and not _WH.match(left):
        return True
    if joined and _MINE.match(right) and not _REMIND.match(last_order(left)):
        return True
    if (kind == "hard" and joined) or (kind == "comma" and joined):
        asks = bool((SURE if writes else REQUEST).match(right)) or bool(_DONE.match(right))
        return asks and not _ABOUT_IT.match(right)
    if kind == "hard":  # what follows a full stop may be said to the same person
        return bool((OWN if writes else SURE).match(right))
    if kind == "comma":
        return bool(OWN.match(right)) and not _POINTS_BACK.match(right)
    if writes and _TIMED.search(left) and _TO_OTHERS.match(right):
        return True
    if _TO_WHOM_ALONE.fullmatch(left) and not _SAYS.match(right):
        return bool(REQUEST.match(right))
    if _MESSAGE_STATES.match(last_order(left)) and _CHANGES.match(right):
        return kept_by_assistants(right)
    return bool((OWN if writes else REQUEST).match(right)) and not _ABOUT_IT.match(right)


def certain(left: str, right: str) -> bool:
    """Whether what follows a break is asked of an assistant, whatever came before it."""
    if _MINE.match(right):
        return not _REMIND.match(last_order(left))
    if _CERTAIN.match(right):
        return not WRITES.match(last_order(left)) or bool(_MESSAGE_STATES.match(last_order(left)))
    writes = bool(WRITES.match(last_order(left)))
    again = _GIVES_MUSIC.match(right) or _NOUN.match(right) or _NEXT_ORDER.match(right)
    return not writes and bool(again or _RAIN.match(right) or _asks_too(left, right))


def _asks_too(left: str, right: str) -> bool:
    """Whether a question is followed by another that needs nothing of it."""
    return bool(_WH.match(left) and (_RAIN.match(right) or _YES_OR_NO.match(right)))


def _in_quotes(left: str) -> bool:
    return left.count('"') % 2 == 1 or left.count("“") > left.count("”")


def _spoken(found: re.Match[str]) -> bool:
    words = (
        r"[a-z&]"
        if found.lastgroup != "hard" or found[0].strip()[0] not in ".;!?"
        else r"then|also"
    )
    return bool(re.search(words, found[0], re.I))
