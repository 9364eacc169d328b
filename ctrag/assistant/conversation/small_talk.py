"""Thanks, greetings, "never mind", and "what can you do": answered without a call."""

import re

_THANKS = re.compile(
    r"(?:ok(?:ay)?|great|perfect|lovely|brilliant|good|nice|cool|alright|oh|ah|right|no"
    r"|and)?[\s,.!]*"
    r"(?:thanks?(?: you)?|thx|cheers|ta|much appreciated|well done|good job|nice one)"
    r"(?:[\s,.!]*(?:a lot|so much|very much|a million|for (?:that|your help|now)|again|bye"
    r"|that'?s (?:all|it|great)|you'?re (?:great|the best|a star)|mate|love|dear|assistant"
    r"|good ?night))*[\s.!]*",
    re.IGNORECASE,
)
_HELLO = re.compile(
    r"(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|morning|evening|yo|howdy)"
    r"(?:[\s,!.]+(?:there|you|assistant|again|all|how are you(?: doing)?(?: today)?))*[\s.!?]*",
    re.IGNORECASE,
)
_BYE = re.compile(
    r"(?:ok(?:ay)?[\s,.]+)?(?:bye(?:[\s-]bye)?|goodbye|good ?night|see you(?: later)?"
    r"|that'?s (?:all|it)"
    r"(?: for (?:now|today))?|that will be all)[\s.!]*",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"(?:ok(?:ay)?|great|perfect|lovely|brilliant|good|nice|cool|alright|fine|super|got it|i see"
    r"|right|sure|wonderful|excellent|awesome|haha?|lol|wow|oh|ah|hm+)"
    r"(?:[\s,.!]+(?:ok(?:ay)?|great|perfect|lovely|good|then|that'?s (?:good|great|fine"
    r"|all)))*[\s.!]*",
    re.IGNORECASE,
)
_ABLE = re.compile(
    r"\W*(?:so[\s,]+|and[\s,]+|hey[\s,]+)?(?:what (?:else )?(?:can|could|do) you (?:do"
    r"|help(?: me)? with)"
    r"(?: for me)?|what are you (?:able to do|capable of|for)|how can you help(?: me)?"
    r"|what can i (?:ask|say)(?: you)?|help(?: me)?|who are you|what are you)\W*",
    re.IGNORECASE,
)
_LEAVE = re.compile(
    r"\W*(?:no[\s,]+|wait[\s,]+|hang on[\s,]+|hold on[\s,]+|oh[\s,]+"
    r"|ok[\s,]+|ah[\s,]+|och[\s,]+|actually[\s,]+|just[\s,]+)*"
    r"(?:no|nope|nah|n|never\s?mind|forget (?:it|about it|that)|leave it(?: (?:be|at that|alone))?"
    r"|drop it"
    r"|don'?t(?: bother| do (?:it|that|anything))?|stop(?: it| that)?|cancel|nothing|not now"
    r"|do nothing|let it be|doesn'?t matter|neither(?: of (?:them|these|those))?|none(?: of them)?)"
    r"(?:[\s,]+(?:thanks|thank you|then|please|it'?s (?:fine|ok(?:ay)?|nothing)))*\W*",
    re.IGNORECASE,
)

_DROPPED = re.compile(
    r"^\W*(?:(?:oh|ah|och|ach|no|ok|okay|actually|well|and)\W+)*(?:leave it|never ?mind"
    r"|forget (?:it|that)"
    r"|drop it|scrap that|don'?t bother)\s*[,.;!–—-]+\s*(?:and |then |just )*",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\W*(?:yes|yeah|yep|yup|y|sure|ok(?:ay)?|go ahead|go on|do it|do that|please|please do|correct"
    r"|right|exactly|of course|send it|that'?s right|that one|fine)"
    r"(?:[\s,.!]+(?:yes|please|do it|do that|do|go ahead|send it|thanks|thank you|that'?s right"
    r"|fine))*\W*",
    re.IGNORECASE,
)

WHAT_IT_CAN = (
    "You can ask about your calendar, reminders, notes, mail, calls, music and the web, and have "
    "me "
    "change them: “what's on tomorrow”, “move the second one to four”, “remind me to water the "
    "plants "
    "at six”, “tell Anna I'm late”, “play some jazz”, “how do I get there”. I ask before anything "
    "reaches others; “undo that” takes back what I changed."
)


def small_talk(text: str) -> str | None:
    """The answer to a text that asks for nothing; None where it may ask for something."""
    text = " ".join(text.replace("’", "'").split())
    for pattern, answer in (
        (_ABLE, WHAT_IT_CAN),
        (_THANKS, "You're welcome."),
        (_HELLO, "Hello. What can I do for you?"),
        (_BYE, "Until next time."),
        (_FINE, "Good."),
    ):
        if pattern.fullmatch(text):
            return answer
    return None


def leaves_it(text: str) -> bool:
    """Whether a text says to do nothing: "no", "never mind", "stop"."""
    return bool(_LEAVE.fullmatch(text.replace("’", "'").strip()))


def drops_all(text: str) -> bool:
    """Whether a text that `leaves_it` is about all that was asked for, and not about what the
    question named alone: "never mind", "stop"."""
    return not re.match(
        r"\W*(?:(?:wait|oh|ok|ah|och)[\s,]+)*(?:no|nope|nah|n|neither|none"
        r"|not now)\b(?!.*\b(?:never|forget|leave|stop|cancel|nothing|drop))",
        text,
        re.I,
    )


def agrees(text: str) -> bool:
    """Whether a text says yes and nothing else: "yes please", "go ahead"."""
    return bool(_YES.fullmatch(text.replace("’", "'")))


def without_leaving(text: str) -> str:
    """What is asked for after a "never mind, …"; the whole text where it does not begin so."""
    found = _DROPPED.match(text)
    return text[found.end() :] if found else text
