"""What is said aloud or typed in haste, as one meant it.

Without stutters, fillers and what is taken back, and with the apostrophes that were left out.
"""

import re

from ctrag.text.dates.number_words import ORDINAL_WORD, WEEKDAY

_WONDERED = (
    r"what\s(?:(?:are|were)\s(?:they|those)|was\s(?:it|that|his\sname|her\sname)|do\syou\scall\s(?:it|them))"
    r"(?:\scalled|\sagain)?|what's\s(?:it|that|he|she|his\sname|her\sname|the\sname)(?:\scalled)?"
    r"|who's\sthat(?:\sagain)?|who\s(?:is|was)\s(?:it|that)(?:\sagain)?|hang\son|hold\son"
    r"|let\sme\s(?:see|think)|how\sdo\syou\ssay(?:\sit)?|you\sknow"
)
_SOUND = r"(?:u+h+m*|u+m+|e+r+m?|e+u*h+m?|h+m+)\b(?!\?)"
_FUNCTION = (
    r"of|with|about|for|to|from|in|on|at|by|near|into|that|the|an?|my|our|his|her|your|their|some"
    r"|any|is|are|was|were|be|and|or|like|called|named|me|up"
)
_VERBS = r"get|got|find|play|call|ring|tell|ask|put|book|add|say|search|show"
_OPEN = rf"(?:{_FUNCTION}|{_VERBS})"
_MID_PHRASE = re.compile(
    rf"\b(?P<open>{_OPEN})(?:,?\s+{_SOUND},\s+|,\s+(?:(?:oh|ah),?\s)?(?:{_WONDERED}),\s+)"
    rf"(?:(?:{_SOUND}|{_WONDERED}),\s+){{0,2}}",
    re.IGNORECASE,
)
"""Up to "pictures of, um, " in "pictures of, um, a kite", whose commas are pauses."""
_TWICE = re.compile(rf"\b(?P<open>{_OPEN})\s(?P=open)\s", re.IGNORECASE)
_FILLER = re.compile(
    rf"(?:(?<=^)|(?<=,\s)){_SOUND}[,.]?\s*|(?<=\s){_SOUND}[,.]\s*"
    rf"|(?<=,\s)(?:(?:oh|ah),?\s)?(?:{_WONDERED}),\s+(?:yes,\s+)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?P<word>\w+)\s+an?,\s+(?=(?P=word)\s+an?\b)", re.IGNORECASE)
_NO = (
    r"(?:,\s+(?:no|wait(?=,))|,?\s+(?:no,?\s+(?:wait|sorry|actually|i\s+mean)|i\s+mean|or\s+rather"
    r"|(?P<mere>sorry(?!\s(?:to|for|about|that)\b)|actually)))[,.]?\s+"
)
_TAKEN_BACK = re.compile(
    r"(?<!\byes\s)\b(?P<before>near|in|to|from|at|for|by|on|with|play|call|tell|ask|ring)\s+"
    rf"(?P<said>(?:(?!\b(?P=before)\b)[^,.;:!?]){{1,40}}?){_NO}(?P=before)\s+"
    r"(?P<again>(?:him|her|them)\s+)?",
    re.IGNORECASE,
)
"""Up to "near the port, no wait, near " in "near the port, no wait, near the market"."""
_SAYS_NO = (
    r",\s(?:no(?:,?\s(?:wait|sorry|actually|h(?:ang|old)\son|i\smean|make\sthat))?|i\smean)[,.]?\s"
)
"""What denies the word before it; a mere "sorry" may begin a sentence."""
_ONE = (
    r"(?:\d[\d.:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|half|quarter)"
)
_NUMBER = rf"{_ONE}(?:(?:\s(?:and\s|past\s|to\s)?|-){_ONE}){{0,4}}"
_ALSO = (
    r"i|i['’](?:m|ve|ll|d)|you|he|she|it|we|they|(?:you|we|they)['’](?:re|ve|ll|d)"
    r"|(?:he|she|it|that|there|what|where|who)['’](?:s|ll|d)|this|these|those|there|could|can|would"
    r"|will|should|do|does|did|don['’]t|can['’]t|have|has|had|if|when|what|where|who|how|why|but"
    r"|because|than|before|after|until|till|as|please"
)
_ORDER = rf"{_VERBS}|move|cancel|remind|set|send|make|take|text|message|mail|delete|open|read|write"
_STUTTER = re.compile(
    rf"\b(?P<run>(?:{_FUNCTION}|{_ALSO}|{_NUMBER}|{ORDINAL_WORD}|{WEEKDAY}"
    rf"|(?:(?<=^)|(?<=\byou\s)|(?<=\bto\s)|(?<=\band\s)|(?<=\bno\s)|(?<=,\s))(?:{_ORDER}))"
    r"(?![\w'’])(?:\s[\w'’]+){0,2}),\s+(?=(?P=run)(?![\w'’]))"
    r"|^(?P<first>[\w'’]+(?:\s[\w'’]+){0,2}),\s+(?=(?-i:[a-z]))(?=(?P=first)(?![\w'’]))"
    r"|(?<=\w,\s)no,\s+(?=no,\s)",
    re.IGNORECASE,
)
"""Up to "put on, " in "put on, put on some polka"; "well done, well done" is meant."""
_TITLED = re.compile(r"\b(?:play|hear|listen|sing|song|called|titled|named)\b", re.IGNORECASE)
"""What a title with words said twice may follow."""
_NUMBER_FOR_NUMBER = re.compile(
    rf"\b{_NUMBER}(?P<of>(?:\s(?P<unit>[^\W\d_]+)(?:\s[^\W\d_]+){{0,2}})?){_SAYS_NO}"
    rf"(?P<now>{_NUMBER})(?P<more>\s(?P=unit)\b)?(?=[\s,.;!?]|$)(?!\s(?:is|are|was|were|to|past)\b)",
    re.IGNORECASE,
)
"""A number that another one replaces: "two tins tomato, no, three tins" are three."""
_MAKE_THAT = re.compile(
    rf"\b(?P<lead>at\s){_NUMBER}(?P<mid>(?:\s[^.;!?,]{{1,40}})?)[.,;]\s(?:no|wait|oh|ah|sorry)\b"
    rf"[^.;!?]{{0,60}}?\b(?<!can\s)(?<!you\s)(?<!to\s)make\s(?:that|it)\s(?P<now>{_NUMBER})(?=\s?[.!]?\s?$)",
    re.IGNORECASE,
)
"""All of "at one in Graz. No, he is late, make that two" but the beginning."""
_RATHER = re.compile(
    rf"\b(?P<lead>(?:at|to|for|by|till|until)\s){_NUMBER}(?:\so['’]?clock)?[.,;]\s+(?P<now>{_NUMBER}),?\s+(?:rather|sorry|i\smean)(?P<end>\s*(?:[.!]|$))",
    re.IGNORECASE,
)
"""All of "for nine. Nine twenty, rather"."""
_ENDS = r"\s*(?:[,.;!?]|$|\b(?:at|on|in|by|from|to|for|please|instead|then)\b)"
_VERB = r"(?:is|are|was|were|has|have|had|will|can|does|did)\b"
_CAPITAL = r"(?!I\b)[A-ZÀ-Þ][\w'’-]*"
_NAME_MEANT = re.compile(
    rf"\b(?i:him|her|them),\s(?P<name>{_CAPITAL}(?:\s{_CAPITAL})?),?\s(?i:i\smean)\b,?"
)
"""Whom a pronoun means: "answer her, Ruth I mean, that we come"."""
_NAME_FOR_NAME = re.compile(
    rf"\b(?P<before>(?:the|my|an?|his|her|our)\s)(?:[\w'’-]+\s?){{1,2}}?{_SAYS_NO}"
    rf"(?=(?P=before)[\w'’-]+(?:\s(?!{_VERB})[\w'’-]+){{0,2}}{_ENDS})"
    rf"|(?<=[\w,]\s)(?:{_CAPITAL}\s){{0,2}}{_CAPITAL}(?i:{_SAYS_NO})"
    rf"(?={_CAPITAL}(?:\s{_CAPITAL}){{0,2}}{_ENDS})",
    re.UNICODE,
)
"""Up to "the harbour, no, the " in "the harbour, no, the market", and "Ada, no wait, " of two."""
_DICTATES = re.compile(
    r"[^:.;!?\n]{0,60}\b(?:tell|write|text|message|mail|e-?mail|answer|reply|respond|say|send)\b"
    r"[^:.;!?\n]{1,90}:\s(?=\S)",
    re.IGNORECASE,
)
_GOES_ON = frozenset("and or to for on at in of with please then".split())
_DAY = rf"(?:{WEEKDAY}|today|tonight|tomorrow)"
_KINDS = (
    re.compile(rf"(?:(?:next|this)\s)?{_DAY}\b|(?:the\s)?\d\d?(?:st|nd|rd|th)\b", re.IGNORECASE),
    re.compile(
        rf"(?:(?:half|quarter)\s(?:past|to)\s)?(?:{_NUMBER}|noon|midnight)\b", re.IGNORECASE
    ),
    re.compile(rf"(?!(?i:{_DAY})\b){_CAPITAL}"),
)
"""Days, times and names: a mere "sorry" puts one of a kind in the place of another."""
_NOBODY = re.compile(
    rf"\sno\s(?:one|two)(?!\s*(?:[,.;!?]|$)|\s(?:[ap]m|o['’]?clock|please|{_DAY}"
    rf"|(?:at|by|in|on)\s(?:\d|{_DAY}|the\s(?:morning|afternoon|evening)))\b)",
    re.IGNORECASE,
)
"""Of "at six, no one will be in", where no number is denied."""
_UNSTOPPED = (
    r",?\s(?:no(?:,?\s(?:wait|sorry|actually|h(?:ang|old)\son|i\smean|make\sthat))?|(?P<mere>sorry|actually)|i\smean"
    r"|or\srather|make\sthat)[,.]?\s"
)
"""What puts another of its kind in the place of a day or a time, dictated without commas, too."""
_DATE = rf"(?:{_DAY}|the\s\d\d?(?:st|nd|rd|th))"
_DAY_FOR_DAY = re.compile(
    rf"\b{_DATE}{_UNSTOPPED}(?={_DATE}\b(?:{_ENDS}|\s(?:the|morning|afternoon|evening|night)\b))",
    re.IGNORECASE,
)
"""Up to "Sunday, no, " in "Sunday, no, Saturday at four": "no, Saturday is out" denies nothing."""
_UNIT = r"\s?(?:[ap]m|o['’]?clock|min(?:ute)?s?|hours?|days?|weeks?)"
_HOUR = rf"(?:(?:half|quarter)\s(?:past|to)\s)?{_NUMBER}"
_TIME_FOR_TIME = re.compile(
    r"\b(?<!quarter\s)(?<!twenty\s)(?<!ten\s)(?<!five\s)"
    rf"(?P<lead>(?:at|by|for|till|until|to|around|in|make\sit)\s){_HOUR}(?P<unit>{_UNIT}\b)?"
    rf"{_UNSTOPPED}(?:at\s)?(?P<now>{_HOUR})(?P<own>{_UNIT}\b)?"
    rf"(?={_ENDS}|\s{_DAY}\b)(?!\s(?:past|to)\s*(?:[,.;!?]|$|{_NUMBER}\b|(?:at|by|in|on)\b))",
    re.IGNORECASE,
)
"""All of "at five no six" before "to call Ole"."""
_OTHER_NAME = re.compile(
    rf"\b(?P<lead>(?i:call|ring|phone|dial|with|from|invite|meet|see)\s)(?!{_DAY}\b){_CAPITAL}"
    rf"(?:\s{_CAPITAL})?,?\s(?:no|(?:no\s)?(?:sorry|wait|actually|I\smean|i\smean)),?\s"
    rf"(?=(?!(?i:{_DAY})\b){_CAPITAL}(?:\s{_CAPITAL})?(?:{_ENDS}))"
)
"""Up to "sorry " in "call Sarah sorry Sally", and not in "tell Sarah sorry"."""
_THING = (
    r"(?!(?:and|or|for|to|it|that|this|them|back|up|in|out|off|on|me|you|him|her|i|we|not|don['’]t"
    rf"|no|stop|leave|{_DAY})\b)[\w'’-]+"
)
_BOUGHT = re.compile(
    rf"\b(?P<lead>(?:buy|get|add|order|bring)\s)(?:{_THING}\s){{0,2}}{_THING},?\s"
    rf"no,?\s(?:sorry|wait|actually|i\smean),?\s(?={_THING}(?:\s{_THING})?{_ENDS})",
    re.IGNORECASE,
)
"""Up to "sorry " in "buy eggs no sorry milk"."""
_NOT = re.compile(r"(?:n['’]t|\bnot|\bnever|\bcannot)\b[^.;!?]{0,60}$", re.IGNORECASE)
"""Before a day or time that was refused, and for which one is sorry: "I can't at two sorry"."""
_NAMED_FIRST = re.compile(
    rf"(?i:(?:my|our|the|his|her)\s)?[\w'’-]+(?:\s(?!(?i:{_DAY})\b){_CAPITAL})?"
)
_WITHOUT = {
    "im": "I'm", "ive": "I've", "youre": "you're", "theyre": "they're", "hes": "he's",
    "shes": "she's", "thats": "that's", "whats": "what's", "wheres": "where's", "whos": "who's",
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "cant": "can't", "couldnt": "couldn't",
    "wont": "won't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "isnt": "isn't",
    "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "havent": "haven't",
    "hasnt": "hasn't", "youll": "you'll", "theyll": "they'll", "itll": "it'll",
    "stn": "station", "appt": "appointment",
}  # fmt: skip
_REMIND = re.compile(r"^\W*rem(?:\s+me)?(?:\s+to)?\s+(?=[a-z]+\s)")
"""Up to "rem " in "rem water plants 7"."""
_NEAR = re.compile(
    r"(?<=\w\s)(?<!\bmy\s)(?<!\bthe\s)(?<!\blast\s)(?<!\bwhat\s)(?<!\bhis\s)(?<!\bher\s)"
    r"nr\.?(?=\s(?!(?:from|i|is|was|of|for|to|at|on|in|by|again|please|that|and|or)\b)[^\W\d])"
)
"""Near, where it is no number: "a cobbler nr the market", but "my bib nr"."""
_WORD = re.compile(r"(?<![\w'’])[A-Za-z]+(?![\w'’])")


def as_meant(text: str) -> str:
    """A request as it was meant.

    "A shop near, near the port, no wait, near the market" is "A shop near the market", "four, no,
    five bags" are five, and "tell imran im late" is "tell imran I'm late".
    """
    head, text = dictation(text)
    if head:
        return f"{as_meant(head)}{text}"
    found = _MID_PHRASE.sub(lambda one: f"{one['open']} ", text)
    if found != text:
        found = _TWICE.sub(lambda one: f"{one['open']} ", found)
    found = _FILLER.sub("", found).replace(", :", ":")
    titled = _TITLED.search(found)
    end = len(found) if titled is None else titled.end()
    found = _STUTTER.sub("", _ARTICLE.sub("", found[:end])) + found[end:]
    found = _TAKEN_BACK.sub(_begun_anew, found)
    found = _TIME_FOR_TIME.sub(_rather_then, _DAY_FOR_DAY.sub(_rather_then, found))
    found = _OTHER_NAME.sub(r"\g<lead>", _BOUGHT.sub(r"\g<lead>", found))
    found = _NAME_MEANT.sub(r"\g<name>", _NAME_FOR_NAME.sub("", found))
    found = _MAKE_THAT.sub(r"\g<lead>\g<now>\g<mid>", found)
    found = _RATHER.sub(r"\g<lead>\g<now>\g<end>", _NUMBER_FOR_NUMBER.sub(_counted, found))
    found = _NEAR.sub("near", _REMIND.sub("remind me to ", found))
    found = _WORD.sub(lambda one: _WITHOUT.get(one[0].lower(), one[0]), found)
    return found if found.strip() else text


def dictation(text: str) -> tuple[str, str]:
    """What is said to the assistant, and what is dictated after its colon and nobody may change: of
    "text Ann: are you home?" the question; ("", text) where nothing is dictated."""
    found = _DICTATES.match(text)
    return ("", text) if found is None else (text[: found.end()], text[found.end() :])


def _begun_anew(found: re.Match[str]) -> str:
    """The word that what was taken back began with, as what is said instead does; all of it where a
    mere "sorry" begins a sentence."""
    instead = found.string[found.end() :]
    before, again = found["before"], found["again"] or ""
    same = any(kind.match(found["said"]) and kind.match(instead) for kind in _KINDS)
    if found["mere"] and before.casefold() in ("tell", "ask"):
        same &= found[0][len(before) :].lstrip().startswith(f"{found['said']},")
    if found["mere"] and not same:
        return found[0]
    if again and before.casefold() in ("call", "tell", "ask", "ring"):
        named = _NAMED_FIRST.match(found["said"])
        return f"{before} {again if named is None else f'{named[0]} '}"
    return f"{before} {again}"


def _rather_then(found: re.Match[str]) -> str:
    """The time in the place of another; both where one is sorry to refuse a day or time, and where
    no number is denied ("at six no one can")."""
    before = found.string[max(0, found.start() - 60) : found.start()]
    if found["mere"] and _NOT.search(before):
        return found[0]
    if "now" not in found.groupdict():
        return ""
    if _NOBODY.match(found.string, found.start("now") - len(" no ")):
        return found[0]
    return f"{found['lead']}{found['now']}{found['own'] or found['unit'] or ''}"


def _counted(found: re.Match[str]) -> str:
    """What is counted stays, unless the new number counts something else."""
    if not found["more"] and _NOBODY.match(found.string, found.start("now") - len(" no ")):
        return found[0]
    behind = re.match(r"\s(?P<word>[^\W\d_]+)", found.string[found.end() :])
    another = behind is not None and behind["word"].casefold() not in _GOES_ON
    return found["now"] + ((found["more"] or "") if another else found["of"])
