"""Which runs of a text can be a value: what is quoted, names, ids, and other runs of words."""

import re

LONGEST = 32
"""Words in a run."""
TAKEN = "\x00"
"""Replaces words that are already used; no run crosses it."""
_MOST = 1500
"""Runs of one text; of a longer one the runs are shorter."""
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^“”\n]+)”|‘([^‘’\n]+)’|(?<![\w'])'([^'\n]+(?:'(?=\w)[^'\n]+){0,9})'(?!\w)"
)
_EDGE = ".,;:!?()[]{}<>\"'“”‘’…"
_HOLLOW = frozenset(
    "a an the of in on at to for from by with and or but as is are was were be been am do does did "
    "has have had can could will would shall should may might must i me my mine we us our you your "
    "he him his she her it its they them their this that these those there here what which who "
    "whom whose when where why how please if than then so not no also just let let's using during "
    "about into onto between called named titled tell find get give show provide retrieve "
    "calculate compute determine want need like i'd i'm what's".split()
)
"""Words that no value begins or ends with, unless they are quoted."""


def quoted(text: str) -> list[str]:
    """Quoted strings, in the text's order."""
    found = (next(filter(None, match.groups()), "") for match in _QUOTED.finditer(text))
    return [one.strip() for one in found if one.strip() and TAKEN not in one]


def spans(text: str) -> list[str]:
    """Runs of words that may be a value, each once, the earliest first.

    What is quoted is a value as a whole and never part of another; other runs begin and end with a
    content word, without the punctuation around them.
    """
    found: dict[str, None] = {}
    parts = [(False, text[at:end]) for at, end in _outside(text)]
    parts += [(True, one) for one in quoted(text)]
    count = sum(len(part.split()) for is_quoted, part in parts if not is_quoted)
    longest = max(4, min(LONGEST, _MOST // max(count, 1)))
    for is_quoted, part in parts:
        if is_quoted:
            found[" ".join(part.split())] = None
            continue
        words = part.split()
        for begin in range(len(words)):
            for end in range(begin + 1, min(len(words), begin + longest) + 1):
                run = words[begin:end]
                if hollow(run[0]) or hollow(run[-1]):
                    continue
                value = " ".join(run).strip(_EDGE)
                if value:
                    found[value] = None
    return list(found)


def names(text: str) -> list[str]:
    """Those of `spans` that name something by themselves: quoted, capitalised, or with a digit."""
    whole = quoted(text)
    return [one for one in spans(text) if one in whole or _names(one, text)]


def _names(value: str, text: str) -> bool:
    words = value.split()
    if not all(re.search(r"[\dA-Z@/_]", word) or hollow(word) for word in words):
        return False
    # A capital that only begins the sentence names nothing.
    return bool(re.search(r"[\d@/_]", value)) or not re.search(
        rf"(?:^|[.!?]\s+|\n){re.escape(words[0])}", text
    )


def hollow(word: str) -> bool:
    """Whether a word is a stop word or punctuation."""
    return word.strip(_EDGE).lower() in _HOLLOW or not word.strip(_EDGE)


def _outside(text: str) -> list[tuple[int, int]]:
    """Where the text is not quoted."""
    found, at = [], 0
    for match in re.finditer(f"{TAKEN}|{_QUOTED.pattern}", text):
        found.append((at, match.start()))
        at = match.end()
    return [*found, (at, len(text))]
