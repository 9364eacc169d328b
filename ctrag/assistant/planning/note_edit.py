"""A note that is changed in part keeps the rest.

"take the honey off the list", "row two is kale now" and "change rye to spelt" say one line of a
note, and a note is stored whole.
"""

import re
from collections.abc import Mapping

from ctrag.assistant.planning.note_lines import NoteLines
from ctrag.assistant.planning.plan import Value
from ctrag.assistant.spoken import LONGEST_REQUEST
from ctrag.text.words import terms, words

_END = r"(?=[,;:!?]|\.(?:\s|$)|\s+(?:in|on|from)\s+(?:the|my|our)\b|\s+(?:please|leave)\b|\s*$)"
_WHAT = r"[^;:!?]{1,200}?"
_OFF = re.compile(
    r"\b(?:(?:take|cross|strike|scratch|remove|delete|drop|wipe|get rid of)\s+"
    rf"(?:(?:off|out)\s+)?(?P<what>{_WHAT})(?:\s+(?:off|out|from|of|on|in)\b|\.(?:\s|$)|[;:!?]|$)"
    rf"|(?:get|tick|check)\s+(?P<got>{_WHAT})\s+off\b|(?:tick|check)\s+off\s+(?P<ticked>{_WHAT}){_END})",
    re.IGNORECASE,
)
_TICKS = re.compile(r"tick|check|cross|mark", re.IGNORECASE)
_AND_ADD = re.compile(
    rf"\band\s+(?:add|put|write)\s+(?:down\s+)?(?P<new>{_WHAT})(?P<there>\s+instead)?"
    rf"(?:\s+(?:to|on)\s+it|\s+there|\s+on)?{_END}",
    re.IGNORECASE,
)
_SAID_BEFORE = frozenset("it them that those these this".split())
_THINGS = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&|plus)\s+", re.IGNORECASE)
_NO_THING = re.compile(
    r"(?:i|i've|i'm|we|we've|it|it's|they|that|please|because|since|as|thanks|there|you|add|put|write)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    rf"\b(?:change|swap|correct|turn|switch|replace|update|set|rename)\s+(?P<what>{_WHAT}\s"
    rf"(?:to|for|into|with|by)\s{_WHAT}){_END}",
    re.IGNORECASE,
)
_ONE_CHANGE = re.compile(
    rf"(?:(?:the|my|our)\s+)?(?P<old>{_WHAT})\s+(?:from\s+(?P<was>{_WHAT})\s+)?"
    r"(?:to|for|into|with|by)\s+(?P<new>.+)",
    re.IGNORECASE,
)
_AND_CHANGE = re.compile(r"\s+and\s+(?=[^;:!?]{1,60}?\s(?:to|for|into|with|by)\s)", re.IGNORECASE)
_MORE_CHANGES = re.compile(r",\s*(?:and\s+)?[^,;:.!?]{1,60}?\s(?:to|into|with|by)\s", re.IGNORECASE)
_SHOULD = re.compile(r"\bshould\s+be\b", re.IGNORECASE)
_OF_NOTES = frozenset(
    terms("note notes list rest stays keep leave same please thanks update change")
)
_INSTEAD = (
    re.compile(
        rf"\b(?:put|write|make\s+(?:it|that)|says?|have)\s+(?P<new>{_WHAT})\s+"
        rf"(?:instead\s+of|rather\s+than)\s+(?:the\s+)?(?P<old>{_WHAT}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|[,:]\s+)(?P<new>[^,;:.!?]{1,60}?)\s+instead\s+of\s+(?:the\s+)?"
        rf"(?P<old>[^,;:.!?]{{1,60}}?){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\binstead\s+of\s+(?:the\s+)?(?P<old>[^,;:.!?]{1,60}?)(?:\s*,\s*|\s+)"
        rf"(?:put|write|make\s+it|have|say)\s+(?P<new>{_WHAT}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:it's|it’s|it\s+is|should\s+be|make\s+it)\s+(?P<new>[^,;:.!?]{1,60}?),?\s+"
        rf"(?:and\s+)?not\s+(?:the\s+)?(?P<old>[^,;:.!?]{{1,60}}?){_END}",
        re.IGNORECASE,
    ),
)
_BEGIN = r"(?:^|[,;:.!?]\s+|\b(?:so|note|that)\s+)(?:(?:the|my|our)\s+)?(?:new\s+)?"
_NOW = re.compile(
    rf"{_BEGIN}(?P<old>[^,;:.!?]{{1,60}}?)(?:\s+(?:is|are)|'s|’s)\s+"
    r"(?:now\s+(?P<after>[^,;:!?]{1,120}?)(?=[,;:!?]|\.(?:\s|$)|$)"
    r"|(?P<new>[^,;:!?]{1,120}?)\s+(?:from\s+)?now\b)",
    re.IGNORECASE,
)
_IS = re.compile(
    rf"{_BEGIN}(?P<old>[^,;:.!?]{{1,60}}?)(?:\s+(?:is|are|should\s+be|will\s+be|(?:has\s+|have\s+)?"
    r"(?:changed|moved|gone\s+up|gone\s+down|went\s+up|went\s+down)\s+to)|'s|’s)\s+"
    r"(?P<new>[^,;:!?]{1,120}?)(?=[,;:!?]|\.(?:\s|$)|$)",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\bnew\s+(?P<old>[^,;:.!?]{1,60}?)\s*[:,]\s*(?P<new>[^,;:!?]{1,120}?)(?=[,;:!?]|\.(?:\s|$)|$)",
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
    r"\b(?:rewrite|nothing else|new text|anew|write .{1,60} new"
    r"|whole(?!\s+(?:milk|wheat|grain|oats?|beans?|chicken|fish|spices?)\b)"
    r"|(?:to|be|says?|with|have|has|is|reads?|make\s+it)\s+(?:just|only)\b"
    r"|replace\s+(?:it|that|this|everything|all|(?:the|my|our|that|this)\s+(?:[\w'’-]+\s+){0,4}?"
    r"(?:note|list|text|page|contents?|body))\b)"
    r"|\bonly\W*$|:\s*(?:just|only)\b",
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
    if not old or says_whole(request) or len(request) > LONGEST_REQUEST:
        return None
    if said := next(filter(None, (one.search(request) for one in _INSTEAD)), None):
        return _with_instead(NoteLines(old), said["old"], said["new"])
    if changes := _CHANGES.search(request):
        further = _MORE_CHANGES.match(request, changes.end())
        return None if further else _with_changes(NoteLines(old), changes["what"])
    lines = NoteLines(old)
    if now := _NOW.search(request):
        name, value = now["old"], now["after"] or now["new"]
        done = lines.update_key(name, value) or lines.update(name, value)
        return lines.text if done or lines.swap(name, value) else None
    if off := _OFF.search(request):
        return _without(lines, off, request)
    said = _NEW.search(request) or _IS.search(request)
    if said is None or len(set(terms(request[said.end() :])) - _OF_NOTES) > 1:
        return None  # more is said than one line
    done = lines.update_key(said["old"], said["new"])
    return (
        lines.text
        if done or (_SHOULD.search(said[0]) and lines.swap(said["old"], said["new"]))
        else None
    )


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


def _without(lines: NoteLines, off: re.Match[str], request: str) -> str | None:
    """The note without the lines that are named, one for each thing; with what is added to it."""
    what = (off["what"] or off["got"] or off["ticked"]).strip(" ,")
    if what.casefold() in _SAID_BEFORE:
        places = set(lines.places_in(request[: off.start()]))
        if len(places) > 1 and what.casefold() in ("it", "that", "this"):
            return None
    elif (whole := lines.place_of(what)) is not None:
        places = {whole}
    else:
        places = set()
        for at, thing in enumerate(_THINGS.split(what)):
            place = lines.place_of(thing)
            if place is None and at and _NO_THING.match(thing):
                break
            if place is None:
                return None  # a part of what is said is not done
            places.add(place)
    if _TICKS.match(off[0]) and lines.tick(places):
        return lines.text
    if not lines.remove(places):
        return None
    if more := _AND_ADD.search(request, off.start()):
        lines.add(more["new"], min(places) if more["there"] else None)
    return lines.text


def _with_changes(lines: NoteLines, what: str) -> str | None:
    """The note with all that "milk to oat milk and eggs to tofu" says."""
    for part in _AND_CHANGE.split(what):
        one = _ONE_CHANGE.fullmatch(part.strip())
        if one is None:
            return None
        old, new, was = one["old"], one["new"].strip(), one["was"]
        if was:
            done = lines.swap_under(old, was, new)
        else:
            done = lines.update_key(old, new) or lines.swap(old, new)
        if not done:
            return None
    return lines.text


def _with_instead(lines: NoteLines, old: str, new: str) -> str | None:
    """The note with "4 lemons" for "2" or for the lemons."""
    done = lines.swap_in_line(old, new) or lines.swap(old, new)
    return lines.text if done else None
