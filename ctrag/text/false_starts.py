"""What is said aloud or typed in haste, as one meant it.

Without stutters, fillers and what is taken back, and with the apostrophes that were left out.
"""

import re

_FILLER = re.compile(
    r"(?:(?<=^)|(?<=[\s,]))"
    r"(?:u+h+m*|u+m+|e+u*h+|erm+|h+m+|(?<=,\s)what's it(?:\s+called)?(?=,))\b[,.]?\s*",
    re.IGNORECASE,
)
_STUTTER = re.compile(r"\b(?P<run>\w+(?:\s\w+){0,2}),\s+(?=(?P=run)\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?P<word>\w+)\s+an?,\s+(?=(?P=word)\s+an?\b)", re.IGNORECASE)
_NO = (
    r",?\s+(?:no,?\s+(?:wait|sorry|actually|i\s+mean)|no|wait|sorry|actually|i\s+mean|or\s+rather)"
    r"[,.]?\s+"
)
_TAKEN_BACK = re.compile(
    rf"\b(?P<before>near|in|to|from|at|for|by|on|with|play|call|tell|ask|ring)\s+"
    rf"(?P<said>[^,.;:!?]{{1,40}}?){_NO}(?P=before)\s+",
    re.IGNORECASE,
)
"""Up to "near the port, no wait, near " in "near the port, no wait, near the market"."""
_WITHOUT = {
    "im": "I'm", "ive": "I've", "youre": "you're", "theyre": "they're", "hes": "he's",
    "shes": "she's", "thats": "that's", "whats": "what's", "wheres": "where's", "whos": "who's",
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "cant": "can't", "couldnt": "couldn't",
    "wont": "won't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "isnt": "isn't",
    "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "havent": "haven't",
    "hasnt": "hasn't", "youll": "you'll", "theyll": "they'll", "itll": "it'll",
}  # fmt: skip
_WORD = re.compile(r"(?<![\w'’])[A-Za-z]+(?![\w'’])")


def as_meant(text: str) -> str:
    """A request as it was meant.

    "A shop near, near the port, no wait, near the market" is "A shop near the market", and "tell
    imran im late" is "tell imran I'm late".
    """
    found = _FILLER.sub("", text)
    found = _STUTTER.sub("", _ARTICLE.sub("", found))
    found = _TAKEN_BACK.sub(lambda one: f"{one['before']} ", found)
    found = _WORD.sub(lambda one: _WITHOUT.get(one[0].lower(), one[0]), found)
    return found if found.strip() else text
