"""An order without what is said for the sake of politeness: the same order, however it is put."""

import re

from ctrag.text.false_starts import dictation

_FURTHER = r"(?:please|kindly|possibly|just|maybe|perhaps|quickly)"
_SORRY = (
    r"(?:i['’]m\s)?(?:so\s|very\s)?sorry\s(?:to\s(?:bother|trouble|disturb|ask|be\sa\s(?:pain|nuisance))"
    r"|for\s(?:bothering|troubling|disturbing))(?:\syou)?(?:\sagain)?(?:[\s,]{1,3}but)?"
)
_NO_TROUBLE = (
    r"if\s(?:it['’]?s|it\sis|that['’]?s|it\sisn['’]t|it['’]s\snot)\s(?:not\s)?(?:too\smuch\s(?:trouble|bother)"
    r"|no\s(?:trouble|bother)|all\sright|alright|ok(?:ay)?)(?:\swith\syou)?"
)
_GREETING = (
    r"(?:(?:(?:hey|hi|hello|hiya|good\s(?:morning|evening|afternoon)|excuse\sme|ok(?:ay)?|right|so"
    rf"|well|{_SORRY}|{_NO_TROUBLE})\b[\s,.!]{{1,5}}){{0,3}})"
)
_WANT = r"(?:i['’]d|i\swould)"
_IF_YOU = r"if\syou(?:['’]d|\s(?:could|can|would|might))"
_FRAMES = (
    r"i\s(?:wonder|was\swondering)\s(?:if|whether)\syou\s(?:could|can|would|might)",
    r"(?:is\sthere\s)?any\schance\s(?:that\s)?you\s(?:could|can|would|might)",
    r"i\sdon['’]?t\ssuppose\syou\s(?:could|can|would|might)",
    r"you\s(?:could|would)n['’]?t(?=[^.!]{1,200}\b(?:could|would)\syou\W*$)",
    r"do\syou\s(?:think|reckon)\syou\s(?:could|can|might)",
    r"(?:can|could|may|might)\si\s(?:get|ask|trouble)\syou\sto",
    rf"{_WANT}\s(?:be\s(?:\w{{1,9}}\s){{0,2}}?(?:grateful|glad|happy)|(?:really\s)?appreciate\sit)"
    rf"\s{_IF_YOU}",
    rf"it\swould\sbe\s(?:great|lovely|nice|kind|good|wonderful)\s{_IF_YOU}",
    r"(?:(?:could|can|will|would)\syou\s)?be\s(?:so\s(?:kind|good)\s(?:as\s)?to|kind\senough\sto"
    r"|an?\s(?:dear|love|star|pet|darling|angel)\sand)",
    r"(?:(?:could|can|would)\syou\s)?do\sme\sa\sfavou?r(?:\sand|[,:])",
    rf"{_WANT}\s(?:like|love)\syou\sto",
    r"i\s(?:want|need)\syou\sto",
    r"(?:is\sit|would\sit\sbe)\spossible\s(?:for\syou\s)?to",
    r"may\si\sask\syou\sto",
    _IF_YOU,
    r"(?:could|can|will|would)\s(?:you|u|ya)(?!\s(?:mind|see|hear|believe|like|be|say|have|do)\b)",
)
_BEFORE = re.compile(
    rf"\s*{_GREETING}(?P<please>(?:please|pls|plz|kindly)[\s,]{{1,3}})?(?P<asked>(?:{'|'.join(_FRAMES)})"
    rf"[\s,]{{1,3}}(?:{_FURTHER}[\s,]{{1,3}}){{0,2}})?",
    re.IGNORECASE,
)
_MIND = re.compile(
    rf"\s*{_GREETING}(?:(?:please|so)[\s,]{{1,3}})?(?:(?:would|do)\syou\smind"
    rf"|if\syou\swouldn['’]?t\smind)\s(?:(?:{_FURTHER}|awfully|terribly)\s){{0,2}}(?P<doing>\w{{4,14}})\b",
    re.IGNORECASE,
)
_ORDERS = (
    "add answer ask book bring call cancel change check complete create cross delete dial drop "
    "email enter find flag forward get give invite leave let look mail make mark message move note "
    "open pause phone pick play postpone push put read remind remove reply reschedule ring save "
    "schedule search send set share show skip snooze start stop switch take tell text tick turn "
    "translate write"
).split()
_DOING = {
    f"{stem}ing": verb
    for verb in _ORDERS
    for stem in (verb, f"{verb}{verb[-1]}", *([verb[:-1]] if verb[-1] == "e" else ()))
}
"""What somebody is asked to be doing → the order."""
_LOVELY = (
    r"(?:that|it)(?:['’]?d|\swould)\sbe\s(?:(?:really|so)\s)?(?:great|lovely|nice|kind|good|wonderful"
    r"|brilliant|perfect)"
)
_AFTER = re.compile(
    r"[\s,.]{1,5}(?:please(?:\sand\sthank\syou)?|pls|plz|thanks(?:\sa\slot|\sso\smuch|\svery\smuch"
    r"|\sin\sadvance)?|thank\syou(?:\s(?:so|very)\smuch)?|cheers|if\syou\s(?:don['’]?t|wouldn['’]?t)"
    rf"\smind|{_NO_TROUBLE}|{_LOVELY})(?=[\s,.!?]*$)",
    re.IGNORECASE,
)
_WOULD_BE = re.compile(rf"[\s,.]{{1,5}}{_LOVELY}(?=[\s,.!?]*$)", re.IGNORECASE)
"""What an "if you could" goes on with, whatever is told in between."""
_TAG = re.compile(
    r"(?P<comma>,)?\s(?:would|could|will|can)\syou(?:\s(?:please|love|dear|mate))?(?=[\s.!?]*$)",
    re.IGNORECASE,
)
"""", would you", which nobody tells others."""
_DENIED = re.compile(r"\b(?:would|could|ca|wo)n['’]?t\b", re.IGNORECASE)
"""What "would you" may belong to: "you wouldn't, would you"."""
_TELLS = re.compile(
    r"\b(?:tell|say|write|answer|reply|let|ask|text|message|mail|e-?mail|send)\b|^\W*thank\b",
    re.IGNORECASE,
)
"""Where a last "thanks" may be for somebody else."""
_IF = re.compile(r"\b(?:if|whether)\b", re.IGNORECASE)
_QUESTION = re.compile(r"\?(?=\s|$)")
_LEAST = 4
"""Words that are left at least: "some jazz please" is more like an order than "some jazz"."""


def without_courtesy(text: str) -> str:
    """A request without the frame of a polite one.

    "Would you be so kind as to call Ana back, please?" is "call Ana back."; "can you see the moon
    tonight" stays.
    """
    head, dictated = dictation(text)
    if head:
        return f"{without_courtesy(head.rstrip())}{head[-1]}{dictated}"
    said = text.strip()
    mind = _MIND.match(said)
    if mind is not None and (order := _DOING.get(mind["doing"].casefold())):
        said = f"could you {order}{said[mind.end() :]}"
    before = _BEFORE.match(said)
    asked = before is not None and before["asked"] is not None
    kept = said
    if before is not None and (asked or before["please"]):
        kept = said[before.end() :]
    if asked:  # what was put as a question is an order
        kept = _QUESTION.sub(".", kept, count=1)
    if before is not None and _IF.search(before["asked"] or ""):
        kept = _WOULD_BE.sub("", kept)
    tells = _TELLS.search(kept) is not None
    tag = _TAG.search(kept)
    if tag is not None and not _DENIED.search(kept) and (tag["comma"] or _orders(kept, tells)):
        asked = True
        kept = kept[: tag.start()] + kept[tag.end() :].replace("?", ".")
    if not tells and (after := _AFTER.search(kept)):
        kept = kept[: after.start()] + kept[after.end() :].strip(" ,")
    words = len(re.findall(r"\w+", kept))
    return kept if words >= (2 if asked else _LEAST) else text


def _orders(text: str, tells: bool) -> bool:
    """Whether a text begins with an order that has no message in it."""
    return not tells and text.split()[0].casefold() in _ORDERS
