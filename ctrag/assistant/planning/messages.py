"""What is sent, put right: no infinitive for a request, no verb twice, a subject of its own."""

import re

from ctrag.text.words import telling_words, words

_LONGEST = 7
"""Words of a subject at most."""
_SHORT = {"will": "ll", "is": "s", "are": "re", "have": "ve", "would": "d", "had": "d"}
_DETERMINERS = frozenset("a an the this that these those my our your his her their".split())


def sent_text(text: str, request: str) -> str:
    """A message as it is sent.

    "Remind Ann to bring the plans" is read as "To bring the plans", which tells Ann nothing; "how
    many there'll be" becomes no "How many will there'll be".

    Args:
        text: As it was read.
        request: What was said.
    """
    infinitive = re.match(r"(?:to|and)\s+(?P<rest>[a-z].*)$", text, re.IGNORECASE | re.DOTALL)
    if infinitive:
        first = re.match(r"[\w'’-]+", infinitive["rest"])
        verb = first is not None and first[0].casefold() not in _DETERMINERS
        if verb and re.search(rf"\bto\s+{re.escape(first[0])}\b" if first else "", request, re.I):
            rest = infinitive["rest"]
            text = rest[:1].upper() + rest[1:]
    said = request.replace("’", "'").casefold()
    greeted = re.match(r"\W*(?:please\s+)?say\s+(?P<what>.+?)\s+to\s+(?P<whom>.+?)\W*$", said)
    if greeted and text.casefold().strip(" .!") == f"{greeted['what']} to {greeted['whom']}":
        text = f"{text[: len(greeted['what'])]}."
    for whole, short in _SHORT.items():
        twice = rf"\b{whole}\b.{{0,40}}?\b(?P<who>\w+)['’]{short}\b"
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
