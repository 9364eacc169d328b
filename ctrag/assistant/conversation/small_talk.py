"""Thanks, greetings, "never mind", and "what can you do": answered without a call."""

import re

_THAT_IS_FINE = (
    r"(?:that|it)(?:'?s| is) (?:good|great|fine|all ?right|ok(?:ay)?|lovely|perfect|brilliant)"
)
_THANKS = re.compile(
    r"(?:(?:ok(?:ay)?|great|perfect|lovely|brilliant|good|nice|cool|alright|oh|ah|right|no|and|super"
    r"|got it|that'?s (?:great|lovely|perfect|brilliant))[\s,.!]+){0,3}[\s,.!]*"
    r"(?:(?:many |much )?thanks?(?: you)?|thx|cheers|ta|much (?:appreciated|obliged)|well done"
    r"|good job|nice one)"
    r"(?:[\s,.!]*(?:a lot|(?:ever )?so much|very much(?: indeed)?|a million|a bunch|again|bye"
    r"|for (?:that|your help|now|everything|(?:letting me know|reminding me))"
    r"|that'?s (?:all|it|great|lovely|perfect)|you'?re (?:great|the best|a star)|mate|love|dear"
    r"|darling|assistant|good ?night|thanks|thank you|cheers|ta))*[\s.!]*",
    re.IGNORECASE,
)
_HEARS = r"(?:can you hear me|are you (?:there|listening))(?: now)?"
_HELLO = re.compile(
    r"(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|morning|evening|yo|howdy"
    rf"|{_HEARS})(?:[\s,!.]+(?:there|you|assistant|again|all|how are you(?: doing)?(?: today)?"
    rf"|{_HEARS}))*[\s.!?]*",
    re.IGNORECASE,
)
_BYE = re.compile(
    r"(?:ok(?:ay)?[\s,.]+)?(?:bye(?:[\s-]bye)?|goodbye|good ?night|see you(?: later)?"
    r"|that'?s (?:all|it)"
    r"(?: for (?:now|today))?|that will be all)[\s.!]*",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"(?:ok(?:ay)?|great|perfect|lovely|brilliant|good|nice|cool|al(?:l )?right|fine|super|got it"
    r"|i see|right|sure|wonderful|excellent|awesome|haha?|lol|wow|oh|ah|hm+|(?:that )?sounds "
    rf"(?:good|great|fine|lovely)|{_THAT_IS_FINE})"
    r"(?:[\s,.!]+(?:ok(?:ay)?|great|perfect|lovely|good|then|(?:by|with) me|i see"
    rf"|{_THAT_IS_FINE}|that'?s all))*[\s.!]*",
    re.IGNORECASE,
)
_ABLE = re.compile(
    r"\W*(?:so[\s,]+|and[\s,]+|hey[\s,]+)?(?:what (?:else )?(?:can|could|do) you (?:do"
    r"|help(?: me)? with)"
    r"(?: for me)?|what are you (?:able to do|capable of|for)|how can you help(?: me)?"
    r"|what can i (?:ask|say)(?: you)?|(?:can you |i need )?help(?: me)?|who are you"
    r"|what are you)\W*",
    re.IGNORECASE,
)
_LEAVE = re.compile(
    r"\W*(?:no[\s,]+|wait[\s,]+|hang on[\s,]+|hold on[\s,]+|oh[\s,]+|please[\s,]+|sorry[\s,]+"
    r"|ok[\s,]+|ah[\s,]+|och[\s,]+|actually[\s,]+|just[\s,]+)*"
    r"(?:no|nope|nah|n|never\s?mind|forget (?:it|about it|that)"
    r"|leave (?:it|that)(?: (?:be|at that|alone|for now))?|drop it"
    r"|(?:don'?t|do not)(?: bother| do (?:it|that|anything)"
    r"| (?:send|call|ring|text|mail|share|delete|move) (?:it|that|them|him|her))?"
    r"|stop(?: it| that)?|cancel|nothing|not (?:now|yet|really)|absolutely not|of course not"
    r"|no (?:need|way)|(?:(?:i'?d|i would) rather|better|best) not"
    r"|(?:(?:i'?ve|i have|i) )?changed my mind"
    r"|do nothing|let it be|doesn'?t matter|neither(?: of (?:them|these|those))?"
    r"|none(?: of (?:them|these|those))?)"
    r"(?:[\s,]+(?:thanks|thank you|ta|then|please|sorry|yet|it'?s (?:fine|ok(?:ay)?|nothing)"
    r"|leave it|i'?ve changed my mind))*\W*",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\W*(?:(?:wait|oh|ok|ah|och|please|sorry|actually)[\s,]+)*(?:no|nope|nah|n|neither|none"
    r"|not (?:now|yet|really)|(?:i'?d )?(?:rather|better|best) not"
    r"|(?:don'?t|do not) (?!do|bother)\w+ \w+)\b"
    r"(?!.*\b(?:never|forget|leave|stop|cancel|nothing|drop|changed))",
    re.IGNORECASE,
)

_DROPPED = re.compile(
    r"^\W*(?:(?:oh|ah|och|ach|no|ok|okay|actually|well|and)\W+)*(?:leave it|never ?mind"
    r"|forget (?:it|that)"
    r"|drop it|scrap that|don'?t bother)\s*[,.;!–—-]+\s*(?:and |then |just )*",
    re.IGNORECASE,
)
_SAYS_YES = (
    r"(?:yes+|yea|yeah|yep|yup|aye|y|yh|sure(?: thing)?|ok(?:ay)?|al(?:l )?right|go ahead|go on"
    r"|go for it|do it|do that|do so|do|please|correct|right|exactly|absolutely"
    r"|definitely|certainly|of course|by all means|why not|send it|that'?s (?:right|correct"
    r"|the one|good|great|perfect|fine)|that one|fine(?: by me)?|(?:that )?sounds (?:good|great"
    r"|fine)|confirm(?:ed)?|i'?m sure|you (?:can|may)|affirmative|m+ ?h+m+|uh[\s-]?huh)"
)
_YES = re.compile(
    rf"\W*(?:(?:oh|ah|um|well|and)[\s,.!]+)?{_SAYS_YES}"
    rf"(?:[\s,.!]+(?:{_SAYS_YES}|then|thanks|thank you|very much|ta|cheers|love|mate|dear))*\W*",
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
    return not _ALONE.match(text.replace("’", "'"))


def agrees(text: str) -> bool:
    """Whether a text says yes and nothing else: "yes please", "go ahead"."""
    return bool(_YES.fullmatch(text.replace("’", "'")))


def without_leaving(text: str) -> str:
    """What is asked for after a "never mind, …"; the whole text where it does not begin so."""
    found = _DROPPED.match(text)
    return text[found.end() :] if found else text
