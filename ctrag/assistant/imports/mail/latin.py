"""Which charset a text in Latin letters has that names none: the one in which its words are
words of some language."""

import re

_LETTERS = (
    "äöüß",  # German
    "àâæçéèêëîïôœùûü",  # French
    "áéíïñóúü",  # Spanish
    "áàâãçéêíóôõú",  # Portuguese
    "àèéìíòóù",  # Italian
    "àçèéíïòóúü",  # Catalan
    "åäöéæøüà",  # the Scandinavian languages and Finnish
    "áðéíóúýþæö",  # Icelandic
    "áéëèêïíóöúü",  # Dutch
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "ăâîşţ",  # Romanian
    "čćđšž",  # Croatian, Serbian, Slovene
    "çğıİöşüâî",  # Turkish
    "õäöüšž",  # Estonian
    "āčēģīķļņšūž",  # Latvian
    "ąčęėįšųūž",  # Lithuanian
)
"""The letters beyond a to z of languages in Latin letters."""
_ALPHABETS = tuple(frozenset(one + one.upper()) for one in _LETTERS)
_CHARSETS = ("cp1252", "cp1250", "cp1254", "iso8859-2", "iso8859-15", "cp1257")
"""The likelier ones first."""
_WORD = re.compile(r"[^\s\x00-@\[-`{-\x7f\u2010-\u203a«»€\xa0…]{3,}")
"""A run of letters, and of signs that letters look like in a wrong charset."""
_NEUTRAL = "¿¡"
"""Signs that begin a sentence."""
_ENOUGH = 3
"""Words from which on it says something that all are of one language."""
_SAMPLE = 20_000


def latin_charset(data: bytes) -> str:
    """The charset of `_CHARSETS` in which most words with accents are words of a language, of one
    language if there are several such charsets; else the likeliest, that of western Windows."""
    return max(_CHARSETS, key=lambda name: _fitting(data[:_SAMPLE], name))


def is_latin(data: bytes) -> bool:
    """Whether most words with accents are words of a language in Latin letters."""
    sample = data[:_SAMPLE]
    return _fitting(sample, latin_charset(sample))[0] > 0


def _fitting(data: bytes, charset: str) -> tuple[int, bool]:
    """How many words fit a language, less those that fit none; whether one language has all."""
    text = data.decode(charset, "replace")
    words = {one.lstrip(_NEUTRAL) for one in _WORD.findall(text)}
    strange = [{sign for sign in one if not sign.isascii()} for one in words if not one.isascii()]
    fits = sum(any(one <= letters for letters in _ALPHABETS) for one in strange)
    one_language = any(all(one <= letters for one in strange) for letters in _ALPHABETS)
    return 2 * fits - len(strange), one_language and len(strange) >= _ENOUGH
