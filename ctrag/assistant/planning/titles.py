"""Titles of new things in whole: no word that was said is lost between a title and a text."""

import re
from collections.abc import Mapping, Sequence

from ctrag.assistant.planning.plan import Value
from ctrag.text.words import STOPWORDS, telling_words, words

_SEGMENTS = re.compile(r"[.:;,!?]+(?:\s+|$)|\n")
_FRAME = frozenset(
    "make take write jot put create note notes new called call it title titled down down please a "
    "an the for me this that to self of saying says say okay ok so uh um in my as".split()
)
"""Words before a title that tell the assistant what to do with it."""
_LONGEST = 6
"""Words of a title at most."""
_CALLED = re.compile(
    r"\b(?:called|named|titled|entitled)\s+(?P<title>[^:;]{1,60}?)\s*"
    r"(?:[:;]\s*|[,.]?\s+(?:with|saying|that\s+says|which\s+says|containing|listing|and\s+(?:put|write))\s+)"
    r"(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_START = re.compile(
    r"\b(?:start|make|open|begin|create|write|take)\s+(?:me\s+)?(?:a\s+)?(?:new\s+)?note\s+"
    r"(?:called|named|titled)\s+(?P<title>[^:;,.]{1,60}?),?\s+and\s+"
    r"(?:put|write|say|note|add)(?:\s+(?:down|there|(?:in|into|on|under)\s+(?:it|there)))*[,:]?\s+"
    r"(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_WITH_TITLE = re.compile(
    r"\bnote\W+(?:with\s+)?(?:the\s+)?(?:title|heading|subject)[:,]?\s+(?P<title>[^:;,.]{1,60}?)[,.;]?\s+"
    r"(?:and\s+|with\s+)?(?:the\s+)?(?:text|body|content)[:,]?\s+(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""The parts by their names: "new note, title Attic, text boxes and skis"."""
_QUOTED = re.compile(
    r"\bnote\s+(?:called\s+)?[\"“](?P<title>[^\"“”]{1,60})[\"”],?\s+"
    r"(?:with|saying|that\s+says)\s+(?:the\s+text\s+)?(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CALL_IT = re.compile(
    r"\bnote,?\s+(?:and\s+)?(?:call|name|title)\s+it\s+(?P<title>[^:;,.]{1,60}?)"
    r"(?:[:;.]\s+|,?\s+and\s+(?:put|write|say|note|add)(?:\s+(?:down|there|in|(?:in|into|on|under)"
    r"\s+(?:it|there)))?[,:]?\s+)(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = re.compile(r"^(?P<head>[^:\n]{1,90}):\s+(?P<text>\S.*)$", re.DOTALL)
_NAMES_IT = re.compile(
    r"^(?:(?:please|down|for|me|us|with|under|as|the|a|an|my|our|title|heading|headline|name|call|it|this|"
    r"called|named|titled|entitled)\b[\s,]*)+",
    re.IGNORECASE,
)
_NOTES = re.compile(
    r"^\W*(?:(?:hey|ok(?:ay)?|uh|um|so|and|please|can you|could you|would you|i need|i want)\W+)*"
    r"(?:(?:make|take|write|start|create|add|jot|put|leave|open|begin|do)\s+"
    r"(?:(?:me|down|up|this|that|these|it)\s+)*)?"
    r"(?:(?:in|into|as)\s+)?(?:(?:a|an|another|the)\s+)?(?:(?:new|quick|short|little)\s+)*"
    r"(?P<note>notes?(?:\s+to\s+(?:my)?self)?)?(?!\w)(?:\s*[,.;-]\s*|\s+)?",
    re.IGNORECASE,
)
_SAID_TO_US = re.compile(
    r"^(?:please\s+)?(?:ping|nudge|buzz|remind|alert|poke|warn|prompt|notify)\s+me"
    r"(?:\s+(?:about|of|to|that|for))?\s+",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\b(?:with|invit\w*|attend\w*|join\w*|together|me\s+and|and\s+(?:me|i)|us|both|for)\b",
    re.IGNORECASE,
)
_SHARED = re.compile(
    r"\b(?:lunch|dinner|breakfast|brunch|supper|coffee|tea|drinks?|beers?|pint|meeting|meetup|call"
    r"|phone\s+call|video\s+call|chat|catch[- ]?up|walk|run|date|one[- ]on[- ]one|1:1|1-1|sync"
    r"|playdate|game|match|picnic|barbecue|bbq|zoom)$",
    re.IGNORECASE,
)
"""What one has with others: "lunch Ole friday" is with Ole."""
_FOR = r"(?:\s+in)?\s+for\s+(?:a|an|the|his|her|their|my)\s+(?P<what>[^.:;,!?]+)"


def whole_title(title: str, text: str, request: str) -> str:
    """The title with the words around it that would be lost.

    "sizes of Ida: coat 104" is read as the title "Ida" and a text without "sizes"; what
    neither of them has belongs to the title.

    Args:
        title: As it was read.
        text: What is written under it.
        request: What was said.
    """
    wanted = words(title)
    for segment in _SEGMENTS.split(request):
        said = segment.split()
        while said and set(words(said[0])) <= _FRAME:
            del said[0]
        inside = [word for one in said for word in words(one)]
        if not wanted or not _holds(inside, wanted) or len(said) > _LONGEST:
            continue
        lost = [word for word in telling_words(" ".join(said)) if word not in wanted]
        if lost and not set(lost) & set(words(text)):
            made = " ".join(said)
            return made[:1].upper() + made[1:]
    return title


def called(request: str) -> tuple[str, str] | None:
    """Title and text of "a note called Attic with boxes, skis" and of "new note, attic: boxes";
    None where it is not said so."""
    parts = _WITH_TITLE.search(request) or _QUOTED.search(request)
    found = parts or _START.search(request) or _CALL_IT.search(request) or _CALLED.search(request)
    if found is None:
        return _headed(request)
    if len(found["title"].split()) > _LONGEST:
        return None
    return _title_and_text(found["title"], found["text"])


def _headed(request: str) -> tuple[str, str] | None:
    """Title and text of a note whose title stands before a colon."""
    head = _HEAD.match(request)
    begin = None if head is None else _NOTES.match(head["head"])
    if head is None or begin is None or not begin[0].strip():
        return None
    title = _NAMES_IT.sub("", head["head"][begin.end() :])
    if not telling_words(title) or len(title.split()) > _LONGEST or re.search(r"[.;!?]", title):
        return None
    return _title_and_text(title, head["text"])


def _title_and_text(title: str, text: str) -> tuple[str, str] | None:
    title = title.strip(" \"'“”‘’,")
    text = text.strip().strip('"“”')
    return (title[:1].upper() + title[1:], text) if title and text else None


def as_titled(title: str) -> str:
    """A title without what is said to the assistant: "ping me about the laundry"."""
    left = _SAID_TO_US.sub("", title)
    return left[:1].upper() + left[1:] if left != title and telling_words(left) else title


def invited(arguments: Mapping[str, Value], request: str) -> dict[str, Value]:
    """An event's arguments, with those alone as attendees with whom it is: "put Jonah haircut in"
    is Jonah's haircut, to which nobody is invited.

    Args:
        arguments: As they were read.
        request: What was said.
    """
    found = dict(arguments)
    guests = found.get("attendees")
    if not isinstance(guests, list) or _TOGETHER.search(request):
        return found
    names = {word for one in guests for word in words(one)}
    title = str(found.get("title", ""))
    run = r"\W+".join(map(re.escape, title.split()))
    behind = re.search(
        rf"(?<!\w){run}(?P<between>,?\s+(?:at\s+|to\s+|and\s+add\s+|&\s+)?)(?P<name>[^\W\d_][\w'’-]*)",
        request,
        re.IGNORECASE,
    )
    if behind and title and set(words(behind["name"])) & names - set(words(title)):
        owned = re.search(r"['’]s?$", behind["name"])
        if _SHARED.search(title) and not owned:
            return found
        if owned and "at" in words(behind["between"]):
            found["title"] = f"{title} at {behind['name']}"
        elif not behind["between"].strip():
            found["title"] = f"{title} {behind['name']}"
    del found["attendees"]
    whose = re.search(rf"(?P<name>[^\W\d_][\w'’-]*)\s+(?P<run>{run})(?!\w)", request, re.IGNORECASE)
    if whose and title and set(words(whose["name"].removesuffix("'s"))) & names:
        made = f"{whose['name']} {whose['run']}"
        found["title"] = made[:1].upper() + made[1:]
    return found


def with_verb(title: str, request: str) -> str:
    """The title of a reminder with the verb that it begins with: "Tell Ruth about the boat".

    Args:
        title: As it was read, perhaps without the verb.
        request: What was said: "remind me at six to tell Ruth about the boat".
    """
    run = r"\W+".join(map(re.escape, title.split()))
    found = re.search(rf"\bto\s+(?P<verb>[a-z]+)\s+(?P<run>{run})(?!\w)", request, re.IGNORECASE)
    if found is None or found["verb"].casefold() in STOPWORDS:
        return title
    return f"{found['verb'].capitalize()} {found['run']}"


def with_purpose(title: str, request: str, when: Sequence[str]) -> str:
    """A title that is a name alone, with what the person comes for: "Odile, perm".

    Args:
        title: As it was read.
        request: What was said.
        when: Phrases of the request that say when.
    """
    found = re.search(rf"(?<!\w){re.escape(title)}{_FOR}", request, re.IGNORECASE)
    if len(title.split()) > 2 or found is None:
        return title
    what = found["what"]
    for phrase in when:
        what = re.split(rf"\s*(?:\b(?:on|at|this|next)\s+)?\b{re.escape(phrase)}\b", what)[0]
    what = what.strip()
    return f"{title}, {what}" if telling_words(what) and len(what.split()) <= _LONGEST else title


def _holds(inside: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(inside[at : at + size]) == list(wanted) for at in range(len(inside)))
