"""What is sent, put right: no infinitive for a request, no verb twice, a subject of its own."""

import re
from collections.abc import Sequence

from ctrag.assistant.planning.mentions import mentioned
from ctrag.text.words import telling_words, words
from stores.people.items import Contact

_LONGEST = 7
"""Words of a subject at most."""
_SHORT = {"will": "ll", "is": "s", "are": "re", "have": "ve", "would": "d", "had": "d"}
_TELLS = (
    r"(?:tell|write(?:\s+(?:back\s+)?to)?|mail|e-?mail|message|text|answer|reply\s+to|inform|let)"
)
_ASIDE = (
    r"[\s,;.!-]{0,10}\b"
    r"(?:(?:so|and|then|please|just|can\s+you|could\s+you|would\s+you)[\s,]{1,5}){0,4}"
)
_TOLD_LAST = re.compile(
    rf"{_ASIDE}{_TELLS}\s+(?:her|him|them|you|it)(?:\s+(?:know|that|so))?\W*$", re.I
)
"""What is said to the assistant behind a message: "seven is good, write her"."""
_TOLD_BETWEEN = re.compile(
    rf"{_ASIDE}{_TELLS}\s+(?P<whom>(?:[\w'’.-]+\s+){{1,3}}?)(?:know\s+)?that\s+", re.IGNORECASE
)
_DICTATED = re.compile(
    rf"^\W*(?:please\s+)?(?:{_TELLS}|reply|respond|say|send)\b[^:.;!?\n]{{1,90}}:\s+(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_OF_A_FORM = re.compile(
    r"\b(?:re|fwd?|subject|body|text|title|cc|that|if|whether|saying\s+that)$|\bsubject\b",
    re.IGNORECASE,
)
_LONGEST_FRAME = 10
"""Words before the colon at most."""
_TAKEN_BACK = re.compile(
    r"\bno,?\s+(?:wait|say|make|sorry|not)\b|\bscratch\s+that\b|\bi\s+mean\b", re.IGNORECASE
)
_ASKS_FOR = re.compile(r"\bask(?:ing)?\s+(?:[\w'’.-]+\s+){1,3}?for\b", re.IGNORECASE)
_AND_THAT = re.compile(r"\band\s+that\s+(?!was\b|is\b)", re.IGNORECASE)
_DETERMINERS = frozenset("a an the this that these those my our your his her their".split())


def without_frame(text: str, request: str, whom: str, contacts: Sequence[Contact]) -> str:
    """A message without what is said to the assistant of whom it goes to.

    Args:
        text: As it was read.
        request: What was said.
        whom: The words that name whom the request addresses at its beginning, or "".
        contacts: The person's contacts.
    """
    asks = rf"(?:please\s+)?ask\s+{re.escape(whom)}\s+for\s+(?P<what>\S.*)$"
    if whom and (asked := re.match(asks, text, re.IGNORECASE)):
        return f"Could I have {asked['what'].rstrip('.')}?"
    if whom and (rest := _behind_the_name(text, request, whom)):
        return rest
    if _TOLD_LAST.search(request) and (left := _TOLD_LAST.sub("", text)) != text and left:
        return f"{left}."
    between = None if whom else _TOLD_BETWEEN.search(text)
    if between is None or not between.start() or not mentioned(between["whom"], contacts):
        return text
    rest = text[between.end() :]
    return f"{text[: between.start()]}, {rest}" if telling_words(rest) else text


def dictated(request: str, titles: Sequence[str] = ()) -> str | None:
    """The message of "answer Ole: yes, come at six", which is sent as it is; None where none is
    dictated, part of it is taken back, or the colon is one of a title or of a form.

    Args:
        request: What was said.
        titles: Of the person's things.
    """
    found = _DICTATED.match(request)
    if found is None or _TAKEN_BACK.search(found["text"]):
        return None
    head = request[: found.start("text")].rstrip(": ")
    if _OF_A_FORM.search(head) or len(head.split()) > _LONGEST_FRAME:
        return None
    said = request.casefold()
    if any(":" in title and title.casefold() in said for title in titles):
        return None
    text = found["text"].strip().strip('"“”')
    if len(telling_words(text)) < 2:
        return None
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.!?…' else '.'}"


def _behind_the_name(text: str, request: str, whom: str) -> str:
    """What follows the addressed one's name in a message that was read with it: "email Ole red is
    fine" tells Ole "Red is fine."; empty where it was read without."""
    said, name = words(text), words(whom)
    at = words(request)
    begins = at.index(name[0]) + len(name) if name[0] in at else len(at)
    if said[: len(name)] != name or at[begins:] != said[len(name) :]:
        return ""
    found = re.match(rf"\W*(?:[^\W_]+\W+){{{len(name)}}}", text)
    rest = "" if found is None else text[found.end() :]
    return rest[:1].upper() + rest[1:]


def sent_text(text: str, request: str) -> str:
    """A message as it is sent.

    "Remind Ann to bring the plans" is read as "To bring the plans", which tells Ann nothing; "how
    many there'll be" becomes no "How many will there'll be".

    Args:
        text: As it was read.
        request: What was said.
    """
    forbidden = re.match(r"(?:not\s+to|to\s+not)\s+(?P<rest>[a-z].*)$", text, re.I | re.S)
    if forbidden and re.search(r"\b(?:not\s+to|to\s+not)\b", request, re.I):
        return f"Don't {forbidden['rest'].rstrip('.')}."
    infinitive = re.match(r"(?:to|and)\s+(?P<rest>[a-z].*)$", text, re.IGNORECASE | re.DOTALL)
    if infinitive:
        first = re.match(r"[\w'’-]+", infinitive["rest"])
        verb = first is not None and first[0].casefold() not in _DETERMINERS
        if verb and re.search(rf"\bto\s+{re.escape(first[0])}\b" if first else "", request, re.I):
            rest = infinitive["rest"]
            text = rest[:1].upper() + rest[1:]
    wanted = re.match(r"for\s+(?P<what>(?:the|an?|my|your|some|another)\s.*)$", text, re.I | re.S)
    if wanted and _ASKS_FOR.search(request):
        text = f"Could I have {wanted['what'].rstrip('.')}?"
    said = request.replace("’", "'").casefold()
    greeted = re.match(r"\W*(?:please\s+)?say\s+(?P<what>.+?)\s+to\s+(?P<whom>.+?)\W*$", said)
    if greeted and text.casefold().strip(" .!") == f"{greeted['what']} to {greeted['whom']}":
        text = f"{text[: len(greeted['what'])]}."
    if re.search(r"\bthat\b.*\band\s+that\b", said, re.DOTALL):  # "that I come and that I stay"
        text = _AND_THAT.sub("and ", text)
    for whole, short in _SHORT.items():
        twice = rf"\b{whole}\b[^,.;:!?]{{0,40}}?\b(?P<who>\w+)['’]{short}\b"
        found = re.search(twice, text, re.IGNORECASE)
        if found and whole not in words(said) and f"{found['who'].casefold()}'{short}" in said:
            text = f"{text[: found.end('who')]}{text[found.end() :]}"
    return text


def subject_of(subject: str, text: str, request: str) -> str:
    """A subject that is about the message: where none of its words was said, the message's own.

    Args:
        subject: As it was read.
        text: The message.
        request: What was said.
    """
    about = set(telling_words(subject))
    if not about or about & set(words(f"{request} {text}")):
        return subject
    sentence = re.split(r"(?<=[.!?])\s|\n", text.strip())[0].strip()
    parts = sentence.rstrip(".").split()
    if not parts:
        return subject
    made = " ".join(parts[:_LONGEST]).rstrip(",;:")
    return made if len(parts) <= _LONGEST else f"{made} …"
