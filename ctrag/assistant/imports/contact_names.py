"""What a contact is called: the given name before the family's, whatever order a book sorts by."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST_NAME = 200
EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Begins names in which the family's name is first, without a space."""


def called(
    whole: str, *, given: str, family: str, prefix: str = "", more: str = "", suffix: str = ""
) -> str:
    """A contact's name on one line.

    Args:
        whole: The name as the book shows it, which may be `Berg, Ole` or `Berg Ole`; its words
            are kept, and those of the parts come where there is none.
        given: The given name.
        family: The family's name.
        prefix: `Dr.`
        more: Further given names.
        suffix: `Jr.`
    """
    if not whole and EAST_ASIAN.match(family):
        return (family + given)[:LONGEST_NAME]
    parts = (prefix, given, more, family, suffix)
    if not whole:
        return " ".join(filter(None, parts))[:LONGEST_NAME]
    if EAST_ASIAN.match(whole) or not _family_first(whole, given, family):
        return whole[:LONGEST_NAME]
    said, known = set(_words(whole)), {word for part in parts for word in _words(part)}
    kept = [one for part in parts for one in part.split() if said.issuperset(_words(one))]
    beside = [one for one in whole.split() if not known.issuperset(_words(one))]
    return " ".join((*kept, *beside))[:LONGEST_NAME]


def _family_first(whole: str, given: str, family: str) -> bool:
    first, comma, rest = whole.partition(",")
    names, families = _words(given), _words(family)
    if not names or not families:
        return False
    before, after = _words(first), _words(rest)
    if comma and before and set(before) <= set(families):
        return not set(after).isdisjoint(names)
    return _begins(_words(whole), (*families, names[0]))


def _begins(words: Sequence[str], with_: Sequence[str]) -> bool:
    return len(words) >= len(with_) and tuple(words[: len(with_)]) == tuple(with_)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold()))
