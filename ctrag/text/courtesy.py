"""An order without what is said for the sake of politeness: the same order, however it is put."""

import re

from ctrag.text.false_starts import dictation

_FURTHER = r"(?:please|kindly|possibly|just|maybe|perhaps|quickly)"
_GREETING = (
    r"(?:(?:hey|hi|hello|hiya|good\s(?:morning|evening|afternoon)|excuse\sme|ok(?:ay)?|right|so"
    r"|well)\b[\s,.!]{1,5})?"
)
_WANT = r"(?:i['’]d|i\swould)"
_IF_YOU = r"if\syou(?:['’]d|\s(?:could|can|would|might))"
_FRAMES = (
    r"i\s(?:wonder|was\swondering)\s(?:if|whether)\syou\s(?:could|can|would|might)",
    rf"{_WANT}\s(?:be\s(?:\w{{1,9}}\s)?(?:grateful|glad|happy)|(?:really\s)?appreciate\sit)"
    rf"\s{_IF_YOU}",
    rf"it\swould\sbe\s(?:great|lovely|nice|kind|good|wonderful)\s{_IF_YOU}",
    r"(?:would\syou\s)?be\s(?:so\s(?:kind|good)\s(?:as\s)?to|kind\senough\sto"
    r"|a\s(?:dear|love|star|pet)\sand)",
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
    rf"\s*{_GREETING}(?:(?:please|so)[\s,]{{1,3}})?(?:would|do)\syou\smind\s"
    rf"(?:{_FURTHER}\s){{0,2}}(?P<doing>\w{{4,14}})\b",
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
_AFTER = re.compile(
    r"[\s,.]{1,5}(?:please|pls|plz|thanks(?:\sa\slot|\sso\smuch|\svery\smuch|\sin\sadvance)?"
    r"|thank\syou(?:\s(?:so|very)\smuch)?|cheers|if\syou\sdon['’]t\smind"
    r"|(?<=,\s)(?:would|could|will)\syou)(?=[\s,.!?]*$)",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:tell|say|write|answer|reply|let|ask|text|message|mail|e-?mail|send)\b|^\W*thank\b",
    re.IGNORECASE,
)
"""Where a last "thanks" may be for somebody else."""
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
    if not _TELLS.search(kept) and (after := _AFTER.search(kept)):
        kept = kept[: after.start()] + kept[after.end() :].strip(" ,")
    words = len(re.findall(r"\w+", kept))
    return kept if words >= (2 if asked else _LEAST) else text
