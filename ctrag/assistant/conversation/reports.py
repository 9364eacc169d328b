"""What is reported done beside another request: "candle's changed. how do I get to …", "the lemons
I've got, cross those off, and call Ida".
"""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.orders import OPENERS, WRITES, requests_in
from ctrag.assistant.conversation.phrases import best_named, names_time
from ctrag.text.false_starts import as_meant
from ctrag.text.words import telling_words

_TICK = (
    r"(?:(?:so\s+)?(?:you (?:can|may)\s+)?(?:(?:that|it|this)(?:['’]?s| is"
    r"| one is)\s+(?:all )?(?:done|sorted|finished)"
    r"|(?:mark|tick|cross|check|close|finish|strike)\s+(?:that|it|this|those|them)(?:\s+(?:one"
    r"|off|done|out))*)"
    r"|done)"
)
_TICKED_FIRST = re.compile(
    rf"(?P<report>.{{3,70}}?)(?:\s*[,.;]\s*|\s+)(?P<tick>{_TICK})\b\s*(?:,?\s+(?:and|n|&|then"
    rf"|plus)|[,.;])+"
    r"\s+(?:(?:and|n|now|then|also|please)\s+)*(?P<rest>\S+\s+\S.*)",
    re.I,
)
_TICKED_LAST = re.compile(
    rf"(?P<first>.{{6,80}}?)(?:,|,?\s+(?:and|n|&)|[.;])\s+(?P<report>(?:(?!\s(?:and"
    rf"|n)\s).){{3,50}}?)[,\s]+"
    rf"(?P<tick>{_TICK})\W*",
    re.I,
)
_RETIMED = re.compile(
    r"(?P<what>(?:the |my )?[\w'’ -]{2,40}?),?\s+(?:(?:can|could|should|will have to"
    r"|has to) (?:wait|stay"
    r"|keep)(?: (?P<until>till|until) (?P<t1>.+))|(?:make|push|move|put) (?:it"
    r"|that) (?:to )?(?P<t2>.+)"
    r"|you give me (?:(?:it|that) )?(?P<t3>.+)|(?:to )?(?P<t4>[^,]+?),? (?:instead|rather"
    r"|not .+))\W*",
    re.I,
)
_LEAVES = re.compile(
    r"(?:leave|let|keep) (?P<what>.+?)(?: wait| rest| be)? (?:till|until) (?P<when>.+)", re.I
)


def told_apart(text: str, view: PersonView) -> list[str]:
    """The requests of a text that reports something done; the text itself where it does not."""
    meant = as_meant(" ".join(text.split()))
    for pattern in (_TICKED_FIRST, _TICKED_LAST):
        found = pattern.fullmatch(meant)
        if found is None or _ASKED_FOR.match(found["report"]) or requests_in(found["report"]):
            continue
        title = _reminder_of(found["report"], view)
        bare = found["tick"].casefold() == "done"
        if bare and (title is None or _UNENDED.search(found["report"])):
            continue
        rest = found["rest"] if pattern is _TICKED_FIRST else ""
        while again := re.match(rf"{_TICK}\W+(?:(?:and|n|then)\s+)?(?=\S)", rest, re.I):
            rest = rest[again.end() :]
        if pattern is _TICKED_FIRST and (_SAME_THING.match(rest) or _ENDS.fullmatch(rest)):
            continue
        ticked = f"tick off {title}" if title else f"{found['report']}, tick it off"
        if pattern is _TICKED_LAST:
            if WRITES.match(found["first"]) or not requests_in(found["first"]):
                continue
            return [found["first"], ticked]
        return [ticked, *(plainly(one, view) for one in told_apart(rest, view))]
    if moved := _and_moved(meant, view):
        return moved
    return [plainly(one, view) if at else one for at, one in enumerate(_reported(text, view))]


_ASKED_FOR = re.compile(
    r"(?:remind|tell|ask|let|write|text|mail|email|note|add|say|put|is|are|was|did|does|do|has"
    r"|what|when|where"
    r"|who|how|why|whether)\b",
    re.I,
)
_VOICEMAIL = re.compile(r"(?:(?:the|my) )?[\w'’]+(?: [\w'’]+)? (?:voicemail|voice mail)", re.I)
_UNENDED = re.compile(r"(?:\band|\bis|\bor|['’]s|\bare)\W*$", re.I)
_ENDS = re.compile(
    rf"(?:{_TICK}|thanks?(?: you)?.*|please|pls|mark it|(?:delete|remove|drop) (?:it"
    rf"|the reminder)|get (?:it|that)"
    r" off .*)\W*",
    re.I,
)


_MOVES = re.compile(rf"{OPENERS}(?:move|push|put|shift|make|reschedule)\b", re.I)


def _and_moved(text: str, view: PersonView) -> list[str]:
    """ "Ring Lena once more and rowing on Friday nine, not ten": an order, and another time for
    what is planned."""
    planned = [one for one in view.items if one.app in ("calendar", "reminders")]
    for found in _AFTER.finditer(text):
        left, right = text[: found.start()], text[found.end() :]
        moved = _RETIMED.fullmatch(right)
        if moved is None or plainly(right, view) == right or WRITES.match(left):
            continue
        if _MOVES.match(left) and not names_time(left):
            continue
        if not (requests_in(left) or re.match(r"(?:try|return|ring)\b", left, re.I)):
            continue
        if best_named(telling_words(moved["what"]), planned, 0.5):
            return [left, plainly(right, view)]
    return []


def plainly(text: str, view: PersonView) -> str:
    """What moves something, as an order: "hooks can wait till noon" is "move hooks to noon"."""
    if _VOICEMAIL.fullmatch(text):
        return f"play {text}"
    if requests_in(text) and not _LEAVES.match(text):
        return text
    found = _RETIMED.fullmatch(text) or _LEAVES.fullmatch(text)
    if found is None:
        return text
    times = found.groupdict()
    when = next((times[name] for name in ("t1", "t2", "t3", "t4", "when") if times.get(name)), "")
    if not names_time(f"at {when}") or re.search(r"\bthe (?:one|other)\b", when, re.I):
        return text
    return f"move {found['what'].strip()} to {when}"


_AFTER = re.compile(
    r"(?:[.!;]+\s+|,?\s+(?:and|n|&)\s+|,\s+|\s+[-–—]\s+)(?:(?:and|now|then|so now|ok"
    r"|please)\s+)*(?=\S)",
    re.I,
)
_REPORT = re.compile(
    r"(?:(?:ok|okay|so|right|oh|finally|yes)[\s,]+)*"
    r"(?:(?:i(?:'ve|'m| have| just|'ve just)?|we(?:'ve| have)?|just|have)\s+)*"
    r"(?:(?:got|bought|paid|sent|fed|did|done|finished|picked up|took|taken|made|called|booked"
    r"|posted"
    r"|ordered|watered|returned|cleaned|washed|filled|changed|handed in|mailed|found|fixed)"
    r"\s+(?!to\b).+"
    r"|.+?(?:\s+|'s\s+|\s+(?:is|are|was|were|been|has been|have been|all|now|already|got)\s+)"
    r"(?:done|gone|made|given|taken|fed|paid|bought|sent|got|built|cut|dug|drawn|sewn|written|swept"
    r"|hung|put away|in|out|\w{2,}ed)(?:\s+(?:already|now|too|today|up|off|out|in))?)",
    re.I,
)
_SAME_THING = re.compile(
    rf"{OPENERS}(?:tick|check|cross|mark|flag|delete)\b|(?:\S+\s+){{0,3}}?(?:it|that|this)\b"
    r"|(?:tell|let|text)\s+\S+(?:\s+(?:know|so))?\W*$",
    re.I,
)


def _reported(text: str, view: PersonView) -> list[str]:
    """Requests behind something that is reported done: "candle's changed. how do I get to …" ticks
    off the reminder of the candle, and asks the way; the text itself where nothing is reported."""
    for found in _AFTER.finditer(text):
        left, right = text[: found.start()], text[found.end() :]
        if len(left.split()) > 8 or requests_in(left) or not _REPORT.fullmatch(left.strip()):
            continue
        done = _reminder_of(left, view)
        asked = requests_in(right) or plainly(right, view) != right
        other = None if asked else _reminder_of(right, view)
        if done is None or len(right.split()) < 2 or _SAME_THING.match(right):
            continue
        if other is not None and other != done and _REPORT.fullmatch(right.strip(" .!")):
            return [f"tick off {done}", f"tick off {other}"]
        if other is None and (asked or _ASKS.match(right)):
            return [f"tick off {done}", right]
    return [text]


_ASKS = re.compile(
    rf"{OPENERS}(?:whats|wheres|whens|hows|whos|any|is|are|was|will|did|do|does|can|could|flights?"
    r"|weather|directions|which|switch|google|next|some)\b",
    re.I,
)


def _reminder_of(text: str, view: PersonView) -> str | None:
    """The title of the open reminder that a text names."""
    reminders = [one for one in view.items if one.app == "reminders" and not one.fields.get("done")]
    named = [word for word in telling_words(text) if word not in _DOINGS]
    item = best_named(named, reminders, 0.5)
    return None if item is None else title_of(item)


_DOINGS = frozenset(
    "got done finished bought paid sent fed did picked took taken made called booked posted "
    "ordered given gone all now already just finally".split()
)
