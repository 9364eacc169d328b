"""A note that is changed in part keeps the rest.

"take the honey off the list", "row two is kale now" and "change rye to spelt" say one line of a
note, and a note is stored whole.
"""

import re
from collections.abc import Mapping

from ctrag.assistant.planning.plan import Value
from ctrag.assistant.spoken import LONGEST_REQUEST
from ctrag.text.dates.number_words import number
from ctrag.text.words import stems, terms, words

_OFF = re.compile(
    r"\b(?:take|cross|strike|scratch|remove|delete|drop|wipe|get rid of)\s+(?:(?:off|out)\s+)?"
    r"(?P<what>.+?)"
    r"(?:\s+(?:off|out|from|of|on|in)\b|[.,;:!?]|$)",
    re.IGNORECASE,
)
_SWAP = re.compile(
    r"\b(?:change|swap|correct|turn|switch|replace)\s+(?P<old>.+?)\s+(?:to|for|into|with|by)\s+"
    r"(?P<new>.+?)(?=[,;:!?]|\.(?:\s|$)|\s+(?:in|on|leave)\b|$)",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"(?:^|[,;:.!?]\s+|\b(?:so|note|that)\s+)(?:the\s+)?(?P<old>[^,;:.!?]+?)"
    r"(?:\s+(?:is|are)|'s|’s)\s+(?P<new>[^,;:!?]+?)\s+now\b",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\W*(?:(?:please|and|also|can you|could you)\W+)*"
    r"(?:add|append|put|stick|pop|write|jot)\s+(?:down\s+)?"
    r"(?P<what>.+)\s+(?:to|on|onto|in|into)\s+(?P<where>[^,.;:!?]+)[.!?]?\s*(?:please\W*)?$",
    re.IGNORECASE | re.DOTALL,
)
_TO = re.compile(r"(?<=\s)(?:to|on|onto|in|into)\s", re.IGNORECASE)
_LONGEST_WHERE = 30
"""Characters that "to the ... note" has at most around a title."""
_NOTE = frozenset("the my our a that note list page".split())
_FRONTED = re.compile(
    r"\W*(?:(?:please|and|also|ok(?:ay)?|so|um|uh|hey)\W+)*(?:(?:in|on|to|into|onto|for|under)\s+)?"
    r"(?P<where>[^:;!?]{2,80}?)[,:-]?\s+(?:please\s+)?(?:also\s+)?"
    r"(?:add|append|put|write)\s+(?:down\s+)?(?:also\s+|there\s+|that\s+)*(?P<what>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""The note first: "garden list also add two hoses"."""
_WHOLE = re.compile(
    r"\b(?:rewrite|whole|only|nothing else|just|new text|anew|write .* new|replace)\b",
    re.IGNORECASE,
)
_SAID_TO_US = re.compile(
    r"[\s,;.]*\b(?:and\s+)?(?:leave\s+)?the\s+rest"
    r"(?:\s+(?:stays|as it is|like it was|alone|the same)){0,2}[.!]?\s*$",
    re.IGNORECASE,
)


def edited_note(old: str, request: str) -> str | None:
    """The note's new text where the request changes one line of it.

    Args:
        old: The note as it is, a thing a line or between commas.
        request: What was said.

    Returns:
        None where the request says the whole text, or no one line that it changes is found.
    """
    if not old or says_whole(request):
        return None
    if (swap := _SWAP.search(request)) and (made := _swapped(old, swap["old"], swap["new"])):
        return made
    if now := _NOW.search(request):
        return _updated(old, now["old"], now["new"])
    if off := _OFF.search(request):
        return _without(old, off["what"])
    return None


def added_text(request: str, arguments: Mapping[str, Value]) -> str | None:
    """What "add … to the garden note" adds, whole: no word between the verb and the note is lost.

    Args:
        request: What was said.
        arguments: Of the call, `title` and `text` among them.

    Returns:
        None where the request does not say it so, or the text read has other words.
    """
    if len(request) > LONGEST_REQUEST:
        return None
    found = _ADDED.match(request) or _FRONTED.match(request)
    text, title = arguments.get("text"), arguments.get("title")
    if found is None or not isinstance(text, str) or not isinstance(title, str):
        return None
    what, where = _parted(found, title) if found.re is _ADDED else found.group("what", "where")
    what = what.rstrip(" .!\n").strip(" \"'“”,;:")
    read, said = set(words(text)), set(words(what))
    if not (read <= said or said <= read) or not set(terms(where)) & set(terms(title)):
        return None
    return what


def _parted(found: re.Match[str], title: str) -> tuple[str, str]:
    """What is added and the note, whose title may have a "to" of its own: "eggs to the to do list"
    adds eggs."""
    named = {*words(title), *_NOTE}
    said = found.string[found.start("what") : found.end("where")]
    for joint in _TO.finditer(said, max(0, len(said) - len(title) - _LONGEST_WHERE)):
        where = said[joint.end() :]
        if set(words(where)) <= named and not set(words(where)) <= _NOTE:
            return said[: joint.start()], where
    return found["what"], found["where"]


def says_whole(request: str) -> bool:
    """Whether the request says that its text is all that the note should have."""
    return _WHOLE.search(request) is not None


def without_rest(text: str) -> str:
    """A note's text without "the rest stays", which is said to the assistant."""
    return _SAID_TO_US.sub("", text) or text


def _without(old: str, what: str) -> str | None:
    """The note without the one line that has all of what is named."""
    parts, between = _parts(old)
    wanted = set(terms(what))
    place = _only([wanted <= set(terms(part)) for part in parts]) if wanted else None
    if place is None or len(parts) < 2:
        return None
    return between.join(part for at, part in enumerate(parts) if at != place)


def _swapped(old: str, before: str, after: str) -> str | None:
    """The note with one run of words in place of another."""
    run = r"\W+".join(map(re.escape, before.split()))
    found = list(re.finditer(rf"(?<!\w){run}(?!\w)", old, re.IGNORECASE))
    if len(found) != 1:
        return None
    return old[: found[0].start()] + after.strip() + old[found[0].end() :]


def _updated(old: str, name: str, value: str) -> str | None:
    """The note with another value in the one line that begins with a word of the name."""
    parts, between = _parts(old)
    named = {_digits(word) for word in [*words(name), *stems(words(name))]}
    begins = [re.match(r"\W*(\w+(?:['’]\w+)?)(:?)", part) for part in parts]
    keys = [set() if one is None else _keys(one[1]) for one in begins]
    place = _only([bool(named & one) for one in keys])
    if place is None:
        return None
    begin = begins[place]
    assert begin is not None
    parts[place] = f"{begin[0]} {value.strip()}"
    return between.join(parts)


def _keys(word: str) -> set[str]:
    return {_digits(one) for one in [*words(word), *stems(words(word))]}


def _digits(word: str) -> str:
    try:
        return str(number(word)) if word != "a" else word
    except (KeyError, ValueError):
        return word


def _parts(note: str) -> tuple[list[str], str]:
    """The things that a note lists, and what stands between them."""
    between = "\n" if "\n" in note.strip() else ", "
    return note.strip().split(between), between


def _only(fits: list[bool]) -> int | None:
    """The place of the one that fits; None where none or several do."""
    return fits.index(True) if fits.count(True) == 1 else None
