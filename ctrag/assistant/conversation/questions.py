"""What the assistant asks in place of a wrong act, and what an answer to it chooses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctrag.assistant.answer import Answer, Question
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.small_talk import agrees, leaves_it
from ctrag.assistant.conversation.state import Turn
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import stems, telling_words, words
from stores.people.items import Contact, Request

NEITHER = "neither"
YES_OR_NO = ("yes", "no")
_NUMBERS = {
    "one": 1, "first": 1, "1st": 1, "former": 1, "top": 1, "two": 2, "second": 2, "2nd": 2,
    "three": 3, "third": 3, "3rd": 3, "four": 4, "fourth": 4, "4th": 4,
}  # fmt: skip
_ASIDE = frozenset(stems(["please", "one", "mean", "meant", "thanks", "thank"]))
"""What is said beside a choice."""
_ASKS = re.compile(
    r"\W*(?:and\s+|but\s+|so\s+)?(?:what|when|where|who|whose|why|how|did|does|do|is|are|was"
    r"|were|has|have"
    r"|had)(?:'s)?\b",
    re.IGNORECASE,
)
"""Another question is no answer, whatever words of a choice it has."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(
    r"\W*(?:(?:the|number|no\.?|nr\.?|take|option|choice|i meant?|make it|it'?s|yes"
    r"|ok(?:ay)?|sorry)[\s,]+)*(?:(\d)|(one|two|three|four|first|second|third|fourth|1st|2nd|3rd"
    r"|4th|last|bottom"
    r"|middle|top|former|latter|other))(?:[\s,]+(?:one|choice|option|of (?:them|those|these)|please"
    r"|then|thanks))*\W*",
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
    leaning: tuple[bool, ...] = ()
    """Whether each of `rest` leans on what was asked about."""
    done: tuple[int, ...] = ()
    """Ids of the changes that the same breath made before."""
    turns: tuple[Turn, ...] = ()
    """What was talked about before the question."""


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
        named = [one for one in values if isinstance(one, str) and not _MOMENT.match(one)]
        if len(set(named)) == len(plans):
            return Question("Which one do you mean?", (*named, NEITHER))
    return Question("What do you mean?", (*previews, NEITHER))


def reaching_the_named(
    text: str, contacts: Sequence[Contact], previews: Mapping[str, Plan]
) -> dict[str, Plan]:
    """The plans without those that reach somebody else than the contact whom the request names and
    the first plan reaches.

    Args:
        text: The request.
        contacts: The person's.
        previews: What each would do, in words, likeliest first → the plan.
    """
    first = next(iter(previews), "")
    said = {word for word in words(text) if len(word) > 2}
    named = [one.name for one in contacts if one.name in first and said & set(words(one.name))]
    return {
        preview: plan
        for preview, plan in previews.items()
        if not named or any(name in preview for name in named)
    }


def answers_a_question(text: str) -> bool:
    """Whether a text is a number or a yes, and nothing else."""
    return bool(_NUMBER.fullmatch(text)) or agrees(text)


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
        if word in ("last", "latter", "bottom"):
            place = count
        if word == "other":
            place = 2 if count == 2 else 0
        if word == "middle":
            place = 2 if count == 3 else 0
        if place == count + 1 and pending.question.choices[-1] == NEITHER:
            return "nothing"
        return pending.choices[place - 1] if 0 < place <= count else None
    if agrees(text):
        return pending.choices[0]
    if _ASKS.match(text):
        return None
    wanted = set(stems(telling_words(text))) - _ASIDE
    names = [set(stems(words(one))) for one in pending.question.choices[:count]]
    shared = frozenset.intersection(*(frozenset(one) for one in names)) if names else frozenset()
    fitting = [
        place for place, have in enumerate(names) if wanted and wanted - shared and wanted <= have
    ]
    return pending.choices[fitting[0]] if len(fitting) == 1 else None
