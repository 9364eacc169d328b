"""Whether a request is in English, the one language that requests are understood in."""

from functools import cache
from typing import Any

from ctrag.text.words import words

_LEAST_WORDS = 2
"""A single word may be a name in any language."""
_LEAST_ENGLISH = 0.002
"""Probability of English below which a text is in another language; short English texts with
foreign names have 0.003 and more."""
_LAST_LATIN = "\u024f"
"""Last letter of the Latin blocks that European languages use; Vietnamese ones have more."""
# Words of English requests that are no words of a neighbouring language.
_ENGLISH = frozenset(
    "the and but is are were be does did have could should not yes my you your it they his "
    "their our this that these those what when where who how which why please there here from "
    "with by some play put call send tell remind set find show open read add move cancel book "
    "text mail ring get give need make look check turn stop pause next skip song note list "
    "today tomorrow tonight morning evening weather news dial pls plz thx".split()
)


def is_english(text: str) -> bool:
    """False where a text is surely in another language.

    A text with one word that only English has is English: "play La vie en rose" asks for a song.
    Texts in Latin letters of one word, and those that could be either, count as English.
    """
    said = words(text)
    if _ENGLISH.intersection(said):
        return True
    letters = [one for one in text if one.isalpha()]
    if 2 * sum(one > _LAST_LATIN for one in letters) > len(letters):
        return False
    if len(said) < _LEAST_WORDS:
        return True
    return bool(dict(_identifier().rank(text))["en"] >= _LEAST_ENGLISH)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
