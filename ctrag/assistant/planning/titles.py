"""Titles of new things in whole: no word that was said is lost between a title and a text."""

import re
from collections.abc import Sequence

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
    """Title and text of "a note called Attic with boxes, skis"; None where it is not said so."""
    found = _CALLED.search(request)
    if found is None or len(found["title"].split()) > _LONGEST:
        return None
    title = found["title"].strip(" \"'“”‘’,")
    text = found["text"].strip().strip('"“”')
    return (title[:1].upper() + title[1:], text) if title and text else None


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
