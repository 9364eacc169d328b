"""What the assistant asks in place of a wrong act, and what an answer to it chooses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ctrag.assistant.answer import Answer, Question
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.small_talk import leaves_it
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import stems, telling_words, words
from stores.people.items import Request

NEITHER = "neither"
YES_OR_NO = ("yes", "no")
_NUMBERS = {
    "one": 1, "first": 1, "two": 2, "second": 2, "three": 3, "third": 3, "four": 4, "fourth": 4,
}  # fmt: skip
_NUMBER = re.compile(
    r"\W*(?:(?:the|number|no\.?|take|option)\s+)*(?:(\d)|(one|two|three|four|first|second|third"
    r"|fourth|last|former|latter|other))(?:\s+(?:one|please|then))*\W*",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\W*(?:yes|yeah|yep|yup|y|sure|ok(?:ay)?|go ahead|do it|do that|please do|correct|right"
    r"|exactly"
    r"|that'?s right|that one|fine)(?:[\s,]+(?:please|do it|do that|go ahead|thanks))*\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that is open, and what each answer would do."""

    question: Question
    request: Request
    """The request that was asked about."""
    choices: tuple[Focus, ...] = ()
    """What each choice would do; "neither" has none."""
    wants: Literal["choice", "text"] = "choice"
    """`text`: whatever is said is what to write."""
    rest: tuple[str, ...] = ()
    """Requests of the same breath that wait for it."""
    act: Answer | None = None
    """What is carried out where the person agrees to what `question` names."""


def agrees(text: str) -> bool:
    """Whether a text says yes and nothing else."""
    return bool(_YES.fullmatch(text.replace("’", "'")))


def between(plans: Sequence[Plan], previews: Sequence[str]) -> Question:
    """The question which of the plans is meant: by the one value in which they differ, else by
    what each would do."""
    first = plans[0]
    differing = {
        name
        for other in plans[1:]
        for name in first.arguments.keys() | other.arguments.keys()
        if other.arguments.get(name) != first.arguments.get(name)
    }
    if len(differing) == 1 and all(one.api == first.api for one in plans):
        values = [one.arguments.get(*differing) for one in plans]
        if all(isinstance(one, str) for one in values) and len(set(map(str, values))) == len(plans):
            return Question("Which one do you mean?", (*map(str, values), NEITHER))
    return Question("What do you mean?", (*previews, NEITHER))


def chosen(pending: Pending, text: str) -> Focus | Literal["nothing"] | None:
    """What an answer chooses; `nothing` where it declines, None where it is no answer.

    By number ("2", "the second one"), by words that only one choice has, by "yes" for the first
    or "no" and "neither" for none.
    """
    if leaves_it(text):
        return "nothing"
    if pending.wants == "text" or not pending.choices:
        return None
    found = _NUMBER.fullmatch(text)
    count = len(pending.choices)
    if found:
        word = (found[2] or "").casefold()
        place = int(found[1]) if found[1] else _NUMBERS.get(word, 0)
        if word in ("last", "latter"):
            place = count
        if word == "former":
            place = 1
        if word == "other":
            place = 2 if count == 2 else 0
        if place == count + 1 and pending.question.choices[-1] == NEITHER:
            return "nothing"
        return pending.choices[place - 1] if 0 < place <= count else None
    if _YES.fullmatch(text):
        return pending.choices[0]
    wanted = set(stems(telling_words(text))) - {"pleas", "one", "mean", "meant"}
    names = [set(stems(words(one))) for one in pending.question.choices[:count]]
    shared = frozenset.intersection(*(frozenset(one) for one in names)) if names else frozenset()
    fitting = [
        place for place, have in enumerate(names) if wanted and wanted - shared and wanted <= have
    ]
    return pending.choices[fitting[0]] if len(fitting) == 1 else None
