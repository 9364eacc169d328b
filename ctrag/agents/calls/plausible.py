"""Which of a request's runs an id, a credential, an address or a text argument may be.

An id or a credential that the request does not give is left out: any other word in its place would
be an invention that the tool's server takes at its word.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ctrag.agents.calls.spans import TAKEN, hollow, quoted

Kind = Literal["secret", "id", "email", "phone", "url", "text", "free"]

_SECRETS = frozenset("token apikey password passwd secret credential credentials authorization "
                     "bearer signature auth".split())  # fmt: skip
_SECRET_KEYS = frozenset("api access private secret".split())
_IDS = frozenset("id ids sid uid uuid guid".split())
_TEXTS = frozenset("text body message content subject title caption comment note notes "
                   "description summary status memo reason query q".split())  # fmt: skip
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(
    r"(?:https?://|www\.)[^\s\"'<>]+"
    r"|(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/\S*)?\b"
)
_PHONE = re.compile(r"(?<![\w.])\+?\d[\d ()/.-]{4,18}\d(?!\w)")
_ID = re.compile(r"(?<![\w@+.:-])#?((?=[\w:-]*[\d_])[A-Za-z0-9][\w:-]*)(?![\w@])")
_TOLD = re.compile(
    r"\b(?:saying|that\s+says|which\s+says|that\s+reads|with\s+(?:the\s+)?"
    r"(?:text|message|body|content|words|comment))(?:\s+that\b|\s+of\b|\s*:)?\s+(\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_IS = r"(?:\s+(?:is|as|of|number|no\.?|value|named|called))?\s*[:=#]?\s*"
_GIVEN = re.compile(rf"{_IS}(?:[\"'“‘]([^\"'”’\n]+)[\"'”’]|(\S+))")


def kind_of_value(name: str, schema: Mapping[str, Any]) -> Kind:
    """What kind of value a string or number argument takes, by its name, format and description."""
    parts = words_of(name)
    if not parts:
        return "free"
    key = parts[-1] == "key" and (len(parts) == 1 or parts[-2] in _SECRET_KEYS)
    if key or parts[-1] in _SECRETS:
        return "secret"
    if parts[-1] in _IDS:
        return "id"
    described = str(schema.get("description", "")).lower()
    if (
        schema.get("format") == "email"
        or parts[-1] == "email"
        or parts[-2:] == ["email", "address"]
    ):
        return "email"
    if (
        parts[-1] == "phone"
        or "phone" in parts[-2:-1]
        or re.match(r"[^.]{0,30}\b(?:phone|mobile) number", described)
    ):
        return "phone"
    if parts[-1] in {"url", "uri", "link", "href"} or schema.get("format") in ("uri", "url"):
        return "url"
    return "text" if parts[-1] in _TEXTS else "free"


def words_of(name: str) -> list[str]:
    """The words of an argument's name, in lower case."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def plausible(kind: Kind, name: str, text: str) -> list[str]:
    """The runs of a text that an argument of a kind may be, the likeliest first.

    Args:
        kind: `secret`: what the text gives under that name; `id`: that, or what is written like an
            id or a number; `email`, `phone` and `url`: what is written like one.
        name: Of the argument.
        text: The request, or what is left of it.
    """
    said = named_values(name, text)
    found: Sequence[str] = ()
    if kind == "email":
        found = _EMAIL.findall(text)
    elif kind == "phone":
        found = [one.strip() for one in _PHONE.findall(text)]
    elif kind == "url":
        found = [one.rstrip(".,;:!?)") for one in _URL.findall(_EMAIL.sub(TAKEN, text))]
    elif kind == "id" and not said:
        bare = _EMAIL.sub(TAKEN, text)
        found = [one for one in _ID.findall(bare) if not hollow(one)]
        found = [*found, *(one for one in quoted(text) if " " not in one)]
    return list(dict.fromkeys([*said, *found]))


def named_values(name: str, text: str) -> list[str]:
    """What a text gives under an argument's name: `api key sk_1`, `password: "x"`, `ID 7`."""
    parts = words_of(name)
    spelled = {r"[\s_-]*".join(map(re.escape, parts)), re.escape(parts[-1])} if parts else set()
    values = []
    for one in sorted(spelled, key=len, reverse=True):
        for match in re.finditer(rf"(?<![^\W_]){one}(?![^\W_])", text, re.IGNORECASE):
            value = _GIVEN.match(text, match.end())
            run = (value[1] or value[2] or "").strip(" .,;:!?()") if value else ""
            if run and TAKEN not in run and not hollow(run) and ((value and value[1]) or _odd(run)):
                values.append(run)
    return list(dict.fromkeys(values))


def _odd(run: str) -> bool:
    """Whether a run is more than an ordinary word: it has a digit, a sign or capitals inside."""
    return bool(re.search(r"[\d_/@+=-]|.[A-Z]", run)) or len(run) >= 20


def texts_in(text: str) -> list[str]:
    """What a request wants said or written: what is quoted, else what follows `saying`."""
    whole = quoted(text)
    if whole:
        return whole
    told = _TOLD.search(text)
    return [told[1].strip().rstrip(".").strip()] if told and TAKEN not in told[1] else []
