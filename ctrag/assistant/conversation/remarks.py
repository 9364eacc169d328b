"""What is said around an order: a remark before it, a reason behind it, its object in front.

"He does not answer. Then write to him that …" is "write to him that …", "the plums, can you push
them to Thursday" is "push the plums to Thursday", and "scrap the run, my legs are dead" is "scrap
the run". A message keeps what follows it: that may be said in it.
"""

import re
from collections.abc import Sequence

from ctrag.assistant.conversation.corrections import corrected
from ctrag.assistant.conversation.orders import OPENERS, REQUEST, WRITES, requests_in
from ctrag.assistant.planning.mentions import RELATIONS, mentioned
from stores.people.items import Contact

_QUESTION = re.compile(
    rf"{OPENERS}(?:what|which|when|where|who|whose|how|why|is|are|was|were|did|does|do i|do we"
    rf"|has|have|will"
    r"|any|tell|ask|text|write|say|add|\w+\?|[^\s]+ [^\s]+\?$|note|translate|search)\b",
    re.I,
)
_CAN_YOU = re.compile(r"\b(?:can|could|would|will) (?:you|we)\b", re.I)
_AT_ALL = re.compile(
    rf"{OPENERS}(?:pass|flag|star|try|do|start|hit me|connect|block|skip|stop|let's|let me|keep"
    r"|leave|hold|switch|quit|kill|finish|close|explain|inform|enter|go back)\b",
    re.I,
)
"""Orders that are none at the beginning of a conversation, and none of `REQUEST`."""
_SENTENCE = re.compile(r"[.!?;…]+\s+(?:(?:so|then|and|now|ok|okay|well|right)[\s,]+)*(?=\S)", re.I)
_COMMA = re.compile(
    r",\s+(?:(?:so|then|and|now|well|right)[\s,]+)*(?=\S)|\s+well then\s+|\s+so\s+(?=\S)"
    r"|\s+[-–—]\s+",
    re.I,
)
_STATES = re.compile(
    r"(?:(?:ah|ay|oh|ugh|well|right|no|och|so|but|sorry|because)[\s,]+)*"
    r"(?:(?:he|she|it|they|that|this|there|i|we|you|somebody|someone|nobody|everybody)"
    r"(?:['’](?:s|ll|ve|m|re|d))?\s+\S+|(?:no|not)\s+\S+|(?:the|my|our) (?:\S+\s+){1,3}?"
    r"(?:is|are|was|were|has|have|comes?|came|said|says|can|can't|will|won't|wants?|needs?)\b"
    r"|\S+['’]s \w+(?:ing|ed)\b)",
    re.I,
)
"""How a remark begins that is neither an order nor a thing."""
_MOST_REMARKED = 16
"""Words of a remark at most."""
_PRONOUN = re.compile(
    r"\b(?:(?P<thing>that one|this one|it|them|those|these|that|this)|(?P<person>him|her|he|she"
    r"|they))\b",
    re.I,
)
_BARE_THAT = re.compile(
    r"(?:that|this|those|these)$", re.I
)  # "that" before a noun is no pronoun: `_NOT_BARE`
_NOT_BARE = re.compile(
    r"\s+(?!(?:at|to|on|off|out|for|in|into|till|until|by|back|down|up|with|one|tomorrow|tonight"
    r"|today|again|now|please|done|over|away|forward|earlier|later|half|quarter|noon"
    r"|mon|tues|wednes|thurs|fri|satur|sun)\w*\b|\d)\w",
    re.I,
)
_FRONTED = re.compile(
    r"(?P<what>(?:(?:the|my|our|his|that|this|their|your|all the|both)\s+"
    r"|(?-i:[A-ZÀ-Ý]))[^,.;:!?]*?)"
    r"(?:\s+[-–—]|[,.!?;:…]+)\s+(?P<order>.+)",
    re.I,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|comes?|came|\w+n['’]t)\b|\w['’](?:re|ve|ll|d)\b"
    r"|\w['’]s (?:not|no|late|off|out|away|here|there|back|ill|sick|busy|free|ready|done|gone|home"
    r"|still|always|again|at|on|in|too|so|very|been|got|just|already|never|only|all|the|a|an|my"
    r"|coming|going|leaving|waiting|asking|\w+ing(?=\s))\b",
    re.I,
)
"""A statement, not a thing: "Joe's late again", "Mia isn't answering"."""
_RELATION = rf"(?:{'|'.join(sorted(RELATIONS))})\b"
_ABOUT = re.compile(
    r"(?P<who>(?!(?:it|that|this|these|those|there|he|she|they|we|you|i|what|who|everything|nothing"
    r"|all)\b)(?:(?-i:[A-ZÀ-Ý])[\w-]*(?:\s(?!I(?:\b|['’]))(?-i:[A-ZÀ-Ý])[\w-]*)?|(?:my|our|the)\s[\w-]+)"
    rf"(?:['’]s {_RELATION})?)(?:['’]s(?!\s{_RELATION})|\s(?:is|was|has|isn['’]t|hasn['’]t"
    r"|wants|needs|keeps|asked|asks|wrote|rang|called|says|said))\b",
    re.I,
)
"""Whom a remark is about."""
_SPEAKS_TO = re.compile(
    r"(?:(?:please|then|so|just) )?(?:tell|text|write(?: to)?|mail|email|message|ask|call|ring"
    r"|phone|let|answer|reply to|warn|thank|invite) ",
    re.I,
)
_NAMED = re.compile(r"(?P<what>[^\W\d_][\w'’-]*(?:\s[\w'’-]+)?)\s*[!?…]+\s+(?P<order>.+)", re.I)
_RUN_ON = re.compile(
    r"(?P<what>(?:the|my) [\w'’ ]{1,30}? one|(?!(?:and|can|could|please|so|then|just"
    r"|to)\b)[\w'’]+ \w+)"
    r"\s+(?P<order>(?:make|move|push|put|play|read|open|delete|cancel|send|scrap|flag"
    r"|bin)\s+(?:it|that)"
    r"\b.*)",
    re.I,
)
""" "The bins one make it seven", as it is typed in haste."""
_YOU_CAN = re.compile(
    r"(?P<what>(?:the|my|our|his|that|this|their)\s+[^,.;:!?]{1,50}?),?\s+you (?:can|may|could)"
    r"\s+(?P<verb>\w+)(?P<rest>\b.*)",
    re.I,
)
_ASKED = re.compile(
    r"(?:(?:can|could|would|will) you|please|you (?:can|may|could)|so|then|just|kindly"
    r"|i want you to)[\s,]+",
    re.I,
)
_GIVES_LATER = re.compile(r"(?:give|hit) me (?:it|that|that one)\b(?=.*\d|.* at | on )", re.I)
_REASON = re.compile(
    r"(?:\s*[,;.!?]\s+|\s+[-–—]\s+)(?:and\s+)?(?:(?:because|cause|cos|since|or (?:else|i'll)"
    r"|otherwise"
    r"|that way|in case|who)\b|(?:i|he|she|it|they|we|that|there|this|you)"
    r"(?:['’](?:s|ll|ve|m|re|d))?\s+(?!one\b)\S+|(?:the|my|our|his|her)\s+(?:\S+['’]s\s"
    r"|(?:\S+\s+){1,3}?"
    r"(?:is|are|was|were|has|have)\b)|\S+\s+(?:r|are|is|hurts?|hurting)\s+\S+$).*$"
    r"|,?\s+(?:because|cos|before (?:i|he|she|they|we)|so (?:that )?(?:i|he|she|they|we"
    r"|you))\s+.+$",
    re.I,
)
"""Why something is wanted, behind an order that has no text."""
_HANDS_ON = re.compile(
    r"(?:send|share|forward|pass|show|mail|email|give|let \S+(?: \S+)? have) (?:it|that|this"
    r"|them|his|hers"
    r"|theirs)\b(?!\s+that\b)",
    re.I,
)
_DROPS_A_LINE = re.compile(
    r"(?:drop|shoot|send|give|write) \S+ (?:an?|one) (?:\w+ )?"
    r"(?:line|text|message|mail|email|note)\b",
    re.I,
)
_REMINDS = re.compile(rf"{OPENERS}(?:remind me|(?:set|give me|make) (?:me )?a reminder)\b", re.I)
_REASON_TO_REMIND = re.compile(
    r",\s+(?:(?:or (?:else|i'll|i will)|otherwise|that way|because|in case)\b"
    r"|(?:i|he|she|it|they)(?:['’](?:s|ll|ve|m|re|d))?\s+(?:\w+\s+)?\w+).*$",
    re.I,
)
_POLITE = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|(?:would|will|could|can) you|lah"
    r"|if you (?:please|would|can|don't mind)))+[\s.!?]*$",
    re.I,
)
_ENDING = re.compile(
    r"(?:[\s,]+(?:then|so|ok|okay|now|right now|for me|quick|quickly|will ya|would ya|after all"
    r"|for a (?:moment|minute|bit|sec|second)|a minute))+[\s.!]*$",
    re.I,
)


def order_of(text: str, contacts: Sequence[Contact] = ()) -> str:
    """A turn without the remark before its order and the reason behind it, and with its object in
    its place; the text itself where there is no such thing.

    Args:
        text: What was said, without its opening.
        contacts: People of whom "him" and "her" of an order may be one that the remark names.
    """
    polite = _CAN_YOU.search(text)
    text = _closed(_unpolite(corrected(text)).strip(" ,;") or text)
    front = _in_place(text)
    if front == text:
        rest = _after_remark(text)
        front = _named_before(text, _in_place(rest), contacts) if rest != text else text
    order = _closed(_unpolite(_without_reason(front)))
    return order.rstrip("? ") if polite and not _QUESTION.match(order) else order


def asks(text: str) -> bool:
    """Whether a text begins with an order or a question."""
    text = _ASKED.sub("", text, count=1) if _ASKED.match(text) else text
    return bool(REQUEST.match(text) or _AT_ALL.match(text))


_WISHES = re.compile(
    r"(?:(?:right|ok(?:ay)?|well|good|great|fine|perfect|so)[\s,]+)*"
    r"(?:i|we)(?:['’]d| would| want| need| have to| must| should)\b",
    re.I,
)
_RETIMES = re.compile(r"\b(?:wait|instead|till|until|make it|rather|done|finished)\b|\d", re.I)


def remark(text: str) -> bool:
    """Whether a text only says how things are: "how kind of her", "he'll be wondering"."""
    if _EXCLAIMS.match(text) and len(text.split()) < 6 and "?" not in text:
        if _WISHES.match(text):
            return False
        return not re.search(rf"[,.;]\s+{REQUEST.pattern}", text, re.I)
    if requests_in(text) or "?" in text or len(text.split()) > _MOST_REMARKED:
        return False
    said = text.strip(" .,!")
    if _WISHES.match(said) or _RETIMES.search(said):
        return False
    return bool(_STATES.match(said) or _EXCLAIMS.match(said))


def without_remarks(parts: Sequence[str]) -> list[str]:
    """The requests of a turn without mere remarks, and with a single word beside what it belongs
    to; a remark after a message stays with it."""
    kept: list[str] = []
    for at, part in enumerate(parts):
        if at and _ONE_WORD.fullmatch(part):
            before = parts[at - 1]
            kept = [
                *(kept[:-1] if kept[-1:] == [before] else kept),
                f"{before.rstrip('.')}. {part}",
            ]
        elif not remark(part) or len(parts) == 1:
            kept.append(part)
        elif kept and WRITES.match(kept[-1]):
            kept[-1] = f"{kept[-1].rstrip('.')}. {part}"
    return kept or list(parts)


_ONE_WORD = re.compile(r"(?:cancel|delete|skip|off|out|scrap|drop|done|tick)\W*", re.I)
_EXCLAIMS = re.compile(
    r"(?:how (?:kind|nice|sweet|lovely|good|sad|funny|typical|annoying)|what a|good|great|fine"
    r"|perfect|lovely|right|well|ok(?:ay)?|oh dear|oh no|goodness|thank (?:you|god)|thanks|bless"
    r"|brilliant|ugh|very (?:well|good)|nice|\w+, (?:right|well|ok(?:ay)?|good|fine))\b",
    re.I,
)


_WISH = re.compile(r"\W*(?:i|we)(?:['’]d| would)? (?:like|want|need|wish|love)\b", re.I)
_NEEDS_WHAT_WAS_SAID = re.compile(
    r"(?:please |can you |could you )*(?:(?:tell|let|inform|text|notify|warn|message|mail|email"
    r"|write)\s+(?:to\s+)?"
    r"(?:\S+\s+){0,2}?\S+(?:\s+(?:know|so|that|it))*"
    r"|(?:delete|cancel|remove|erase|drop|scrap|tick|mark|check|cross|take|bin|clear)\s+(?:it"
    r"|that|this)\b.*"
    r"|(?:delete|remove|cancel)\s+(?:that|the|this) (?:reminder|event|note|mail))\W*$",
    re.I,
)
"""Orders whose message, or whose thing, is in what was said before: "I'm late, tell Ida"."""
_KEEPS_WHAT_WAS_SAID = re.compile(
    r"(?:please |can you |could you )*(?:put|add|stick|pop|enter|note|jot|write)\s+"
    r"(?:it|that|this|them|those|these)\s+(?:down\b|(?:on|in|into|to|under)\s+(?:the|my|our)\s+"
    r"(?:\S+\s+)?(?:list|calendar|diary|notes?)\b)",
    re.I,
)
"""Orders to write down a thing that was said before: "we're out of milk, put it on the list"."""
_POINTS = re.compile(r"\W*(?:it|that|this|he|she|they)\b", re.I)
_REMINDS_BARELY = re.compile(
    r"(?:please |can you |could you )*remind me(?!.*\b(?:to|about|of|that|not|it|this)\b)", re.I
)
_TASK = re.compile(
    r"\W*(?:i|we)(?:['’]ve| have)?\s+(?:(?:got |need |ought |have |still have )to|must|owe)\b", re.I
)
"""What a reminder is for, said beside it: "I have to ring the bank, remind me tomorrow"."""


def _after_remark(text: str) -> str:
    """What follows a remark, where that is an order."""
    for pattern in (_SENTENCE, _COMMA):
        for found in pattern.finditer(text):
            left, right = text[: found.start()], text[found.end() :]
            if len(left.split()) > _MOST_REMARKED:
                break
            if not asks(right):
                continue
            if _NEEDS_WHAT_WAS_SAID.match(right) or _WISH.match(left):
                break
            if _KEEPS_WHAT_WAS_SAID.match(right) and not _POINTS.match(left):
                break
            if _REMINDS_BARELY.match(right) and _TASK.match(left):
                break
            if not remark(left) and (asks(left) or requests_in(left)):
                break
            if pattern is _SENTENCE or remark(left) or _STATES.match(left):
                return _ASKED.sub("", right, count=1) if _ASKED.match(right) else right
    return text


def _named_before(text: str, order: str, contacts: Sequence[Contact]) -> str:
    """The order with the contact whom the remark was about: "Joe's late, tell him we start"; dinner
    that was great and a Tuesday that is full are nobody."""
    about, pronoun = _ABOUT.match(text), _PRONOUN.search(order)
    if about is None or pronoun is None or pronoun["person"] is None:
        return order
    speaks = _SPEAKS_TO.fullmatch(order[: pronoun.start()])
    if not speaks or not mentioned(about["who"], contacts):
        return order
    return f"{order[: pronoun.start()]}{about['who']}{order[pronoun.end() :]}"


def _in_place(text: str) -> str:
    """ "The plums, can you push them to six" as "push the plums to six"."""
    if given := _YOU_CAN.fullmatch(text):
        return f"{given['verb']} {given['what']}{given['rest']}"
    for pattern in (_FRONTED, _NAMED, _RUN_ON):
        found = pattern.fullmatch(text)
        if found is None:
            continue
        what, order = found["what"].strip(), found["order"]
        while asked := _ASKED.match(order):
            order = order[asked.end() :]
        if len(what.split()) > 6 or _STATES.match(what) or asks(what) or _EXCLAIMS.match(what):
            continue
        if _FINITE.search(what):
            continue
        if not asks(order) or requests_in(what):
            continue
        if _GIVES_LATER.match(order):
            return _GIVES_LATER.sub(f"move {what}", order, count=1)
        pronoun = _pronoun(order)
        if pronoun is not None and pronoun["person"] and _ABOUT.match(what):
            continue
        if pronoun is not None and len(order[: pronoun.start()].split()) <= 4:
            return f"{order[: pronoun.start()]}{what}{order[pronoun.end() :]}"
    return text


def _pronoun(order: str) -> re.Match[str] | None:
    for found in _PRONOUN.finditer(order):
        if _BARE_THAT.match(found[0]) and _NOT_BARE.match(order[found.end() :]):
            continue
        return found
    return None


def _without_reason(text: str) -> str:
    if _REMINDS.match(text):
        cut = _REASON_TO_REMIND.sub("", text)
        task = _TASK.match(text[len(cut) :])
        return text if task and _REMINDS_BARELY.match(cut) else cut
    writes = WRITES.match(text) or _DROPS_A_LINE.match(text)
    if not asks(text) or (writes and not _HANDS_ON.match(text)):
        return text
    cut = _REASON.sub("", text)
    return cut if len(cut.split()) > 1 else text


_NO_MESSAGE = re.compile(
    rf"{OPENERS}(?:(?:tell|ask|let|text|mail|email|message|write(?: to)?|reply(?: to)?|answer|say"
    r"|warn|thank|notify)\b(?:\s+(?:to\s+)?(?:(?:my|the|our) )?[\w'’.-]+){0,2}?(?:\s+know)?)",
    re.I,
)
"""An order to write that says to whom, and nothing to write."""
_ANSWERS = re.compile(r"\b(?:yes|no|ok|okay|sure|great|many)$", re.I)


def _unpolite(text: str) -> str:
    """Without the "please" to the assistant; thanks alone, and a "yes please", are a message."""
    cut = _POLITE.sub("", text)
    if cut == text or not WRITES.match(text) or _REMINDS.match(text):
        return cut
    thanks = re.search(r"\bthank", text[len(cut) :], re.I)
    if _ANSWERS.search(cut) or (thanks and _NO_MESSAGE.fullmatch(cut)):
        return text
    return cut


def _closed(text: str) -> str:
    """Without the words that only close it; a message keeps its "now"."""
    cut = _ENDING.sub("", text).strip(" ,;") or text
    if cut == text or not WRITES.match(text) or _REMINDS.match(text):
        return text if WRITES.match(text) and len(text.split()) > 5 else cut
    if re.match(r"\s*,", text[len(cut) :]):
        return cut  # "tell her half past, then"
    bare = _NO_MESSAGE.fullmatch(cut) and not re.search(r"\b(?:ok|okay)\W*$", text, re.I)
    return cut if bare else text
