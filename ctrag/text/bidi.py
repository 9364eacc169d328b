"""Right-to-left words in sentences that run left to right.

A browser that meets “Call سارة (+971 4 000)” takes the number for a part of the Arabic and shows
its groups in reverse. A name that is isolated turns nothing but itself.
"""

import re

_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
RIGHT_TO_LEFT = re.compile(f"{_LETTER}+(?:[ '’0-9-]+{_LETTER}+)*")
"""Words of one right-to-left name or title, with spaces, hyphens and numbers between them."""
_ISOLATE, _POP = "\u2068", "\u2069"


def isolated(text: str) -> str:
    """The text with each right-to-left run between the characters that isolate it (UAX #9)."""
    return RIGHT_TO_LEFT.sub(lambda run: f"{_ISOLATE}{run[0]}{_POP}", text)
