"""Phone numbers in a text, in digits or dictated."""

import re
from collections.abc import Iterator

_PHONE = re.compile(r"\+?\d(?:[\d().-]|[^\S\r\n]){5,}\d")
_CLOCK_OR_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DIGITS = {
    word: str(digit)
    for digit, word in enumerate("zero one two three four five six seven eight nine".split())
} | {"oh": "0", "o": "0", "nought": "0"}
_TEENS = {
    word: str(number)
    for number, word in enumerate(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
        10,
    )
}
_TENS = {
    word: str(digit)
    for digit, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_ZEROS = {"hundred": "00", "thousand": "000"}
_REPEATED = {"double": 2, "triple": 3}
_FEWEST_DIGITS = 6


def dictated_numbers(text: str) -> Iterator[str]:
    """Numbers that are said digit by digit: "oh seven double four, nine hundred"."""
    digits, times, spoken = "", 1, False
    said = [*re.findall(r"[^\W_]+", text.casefold()), ""]
    for word, following in zip(said, [*said[1:], ""], strict=True):
        if word in _REPEATED:
            times = _REPEATED[word]
        elif word in _DIGITS or word in _TEENS or word.isdecimal():
            digits += (_DIGITS.get(word) or _TEENS.get(word, word)) * times
            times, spoken = 1, spoken or not word.isdecimal()
        elif word in _TENS:  # "twenty one" is two digits, "twenty" alone too
            digits += _TENS[word] + ("" if _DIGITS.get(following, "0") != "0" else "0")
        elif word in _ZEROS and digits:
            digits += _ZEROS[word]
        else:
            if spoken and len(digits) >= _FEWEST_DIGITS:
                yield digits
            digits, times, spoken = "", 1, False


def written_numbers(text: str) -> list[str]:
    """Numbers in digits, as they are written, that are no dates."""
    return [
        match.group().strip()
        for match in _PHONE.finditer(text)
        if not _CLOCK_OR_DATE.search(match.group())
    ]
