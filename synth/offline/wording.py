"""Light paraphrases, so that a reused request has a different text."""

import random
import re

_OPENERS = (
    "", "", "", "", "hey, ", "ok ", "right, ", "so, ", "um, ", "listen, ", "oh, ", "quick one: ",
    "hm, ", "well, ", "now then, ", "one thing, ", "wait, ", "sorry, ", "please ",
    "before I forget: ",
)  # fmt: skip
_CLOSERS = (
    "", "", "", "", ", please", ", thanks", ", ok?", ", would you", ", for me", ", quickly",
    " please",
    ", cheers", ", if you can", ", when you have a second", " now",
)  # fmt: skip
_SWAPS = (
    ("I'm", "I am"), ("don't", "do not"), ("can't", "cannot"), ("what's", "what is"),
    ("it's", "it is"), ("that's", "that is"), ("won't", "will not"), ("tonight", "this evening"),
    ("show me", "let me see"), ("and", "&"), ("maybe", "perhaps"), ("where's", "where is"),
    ("I'll", "I will"), ("again", "once more"), ("really", "truly"), ("who's", "who is"),
)  # fmt: skip

_BEGINNINGS = frozenset(
    "The What When Where Who How Which Is Are Do Does Did Can Could Tell Give Show Find Put Get My "
    "That This It Call Ring Send Add Move Make Read Play".split()
)


def reworded(text: str, draw: random.Random) -> str:
    """The text with another beginning, ending or word; sometimes with sloppy typing."""
    for old, new in _SWAPS:
        if draw.random() < 0.3:
            text = re.sub(rf"\b{re.escape(old)}\b", new, text, count=1)
    opener, closer = draw.choice(_OPENERS), draw.choice(_CLOSERS)
    end = text[-1] if text and text[-1] in "?!." else ""
    if opener and text.split(" ")[0] in _BEGINNINGS:
        text = text[0].lower() + text[1:]
    text = f"{opener}{text.removesuffix(end)}{closer}{end if not closer.endswith('?') else ''}"
    haste = draw.random()
    if haste < 0.15:
        text = text.replace("'", "").replace("’", "")
    elif haste < 0.25:
        text = text.rstrip("?.!")
    return text
