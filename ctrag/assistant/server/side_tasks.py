"""What chat pages and agents ask of a model for themselves: titles, tags, summaries.

Such a task repeats what the person has said, so that an assistant which took it for a request would
do it again.
"""

import re
from collections.abc import Iterable

_READ = 4_000
"""Characters of a message that are looked at; a request has 1,000 at most."""
_QUALIFIED = (
    r"(?:chat|short|entire|whole|given|previous|above|following|preceding|user['’]s|first|last)"
)
_TALK = (
    rf"(?:(?:{_QUALIFIED} ){{0,3}}(?:conversation|chat(?: history| thread)?|discussion|dialogue"
    rf"|exchange|query|prompt|thread)\b|(?:{_QUALIFIED} ){{1,3}}messages?\b)"
)
# A talk with somebody is one of the person's own items, not this one.
_OWN = r"(?! (?:with|from|between|about|on|to|by|for|i|we|you|he|she|they)\b)"
_THIS = re.compile(rf"\b(?:this|the|our|a|an?other) {_TALK}{_OWN}|\blines of conversation\b")
_MADE = re.compile(
    r"\b(?:titles?|tags?|name|emoji|follow-?up (?:questions?|prompts?)|search queries"
    r"|stand-?alone (?:question|query)|describe|summari[sz]e|summary)\b"
)
_FORM = re.compile(
    r"\b(?:concise|words? or (?:less|fewer)|characters? (?:or less|max)|same language"
    r"|no (?:quotes|quotation|punctuation|explanation|additional)|without any lead-in"
    r"|(?:[0-9]{1,3}(?: ?[-–] ?[0-9]{1,3})?|three|four|five|six|seven|ten)[- ](?:word|broad|follow)"
    r"|\d{1,3} (?:words|characters)|keep it (?:short|brief)|no preamble|new summary|so far"
    r"|stand-?alone|chat history)\b"
)
_OPENING = re.compile(
    r"\s*(?:### task:|\|\|>|analyze (?:this|the given|the following) \w{0,20} ?conversation"
    r"|given the following conversation|progressively summarize|here is the query:"
    r"|you have been provided with a set of responses|describe the above conversation"
    r"|suggest (?:three|3|[0-9][-–][0-9]) [a-z ]{0,40}follow-?up"
    r"|your task is to (?:(?:create|generate|write) an? [a-z ]{0,20}(?:summary|title)\b|reflect\b)"
    r"|\[pause your roleplay)"
)
_TITLE = re.compile(
    r"\b(?:respond|reply|return|output|provide|answer)\b[^.\n]{0,15}\b(?:only|just)\b"
    r"[^.\n]{0,8} title\b|\bgive the title only\b"
    r"|\bwords?(?:-or-less)? title\b|\btitle:\s*$"
)
_USER = re.compile(r"^\W{0,8}(?:user|human)\W{0,4}:|\brole[\"']?: ?[\"']user\b", re.MULTILINE)
_MODEL = re.compile(
    r"^\W{0,8}(?:assistant|ai|ctrag)\W{0,4}:|\brole[\"']?: ?[\"']assistant\b", re.MULTILINE
)
_ROLE = re.compile(
    r"\btitle generat\w{0,3}\b|\btitling (?:assistant|ai|system)\b|\btitles assistant\b"
    r"|\b(?:conversation|chat) (?:summari[sz]|titl|nam)e?(?:er|r|ing)\b"
    r"|\byou are a summari[sz]ation (?:ai|assistant|model)\b"
    r"|\b(?:generat|creat|writ|produc|provid|extract|summari[sz])\w{0,4}\b[^.\n]{0,60}"
    rf"(?:\btitle\b[^.\n]{{0,60}}\b{_TALK}|\b{_TALK}[^.\n]{{0,40}}\b(?:into|as) a title\b)"
)


def side_task(instructions: Iterable[str], text: str) -> bool:
    """Whether a message is no person's but a page's or an agent's own.

    Args:
        instructions: The system's messages.
        text: What is said last as the user.

    Example::

        side_task((), "Generate a concise, 3-5 word title for this conversation.")   # True
        side_task((), "summarise the chat with Omar")                                # False
    """
    said = text[:_READ].lower()
    if _OPENING.match(said) or _TITLE.search(said):
        return True
    if _USER.search(said) and _MODEL.search(said):
        return True
    if _THIS.search(said) and _MADE.search(said) and _FORM.search(said):
        return True
    return any(_ROLE.search(one[:_READ].lower()) for one in instructions)
