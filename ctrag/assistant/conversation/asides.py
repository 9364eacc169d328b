"""Follow-ups about the conversation itself: "undo that", "try again"."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.phrases import ORDINALS, Said
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.conversation.undoing import turns_to_undo

_AGAIN = re.compile(
    r"(?:.{0,60}[,.;]\s*|.{0,40}\s)?(?:(?:try|call|ring|phone|dial)(?:\s+(?:it|him|her|them|that"
    r"|the number))?(?:\s+(?:once more|again|one more time))|once more|(?:one )?more time|again"
    r"|redial)[\s!.]*",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(?:that'?s |that is |that was |it'?s )?(?:not (?:that|this|it|him|her|them|the one)(?: one)?"
    r"|not what i (?:meant|said|wanted|asked(?: for)?)|(?:the )?wrong(?: one| person| day| time"
    r"| note| song)?)|i (?:didn'?t|did not) mean (?:that|this|it|him|her|them)(?: one)?",
    re.IGNORECASE,
)
_OTHER = re.compile(r"(?:i (?:meant?|want) )?the other(?: one)?", re.IGNORECASE)
_LISTED = re.compile(
    r"\b(?:the )?(second|2nd|third|3rd|fourth|4th) (?:one|of (?:them|those|these))\b"
    r"(?! (?:on|of|from|in|at|this|next|tomorrow|today)\b)",
    re.IGNORECASE,
)
_CALLS = ("call_contact", "call_number", "return_missed_call", "redial_last_call")


def undone(scene: Scene) -> Reading | None:
    """ "undo that", "take it back", "undo the last two"."""
    turns = turns_to_undo(scene.core)
    return Reading(scene.said.text, undo=turns) if turns else None


def called_again(scene: Scene) -> Reading | None:
    """ "try again", "once more" after a call."""
    if scene.last.plan.api not in _CALLS or not _AGAIN.fullmatch(scene.core):
        return None
    if re.search(r"\b(?:remind|tell|tomorrow|later|at)\b", scene.core, re.IGNORECASE):
        return None
    return scene.call("redial_last_call", None)


def rejected(scene: Scene) -> Reading | None:
    """ "no, not that one", "wrong one": what the last turn changed is taken back, and nothing else
    is done."""
    core = scene.core.rstrip("!.? ")
    if _WRONG.fullmatch(core):
        if scene.state.turns[-1].change is not None:
            return Reading(scene.said.text, undo=1)
        return Reading(scene.said.text, say="Sorry. Which one do you mean?")
    if _OTHER.fullmatch(core):
        return Reading(scene.said.text, say="Which one do you mean?")
    return None


def unlisted(scene: Scene) -> Reading | None:
    """ "the third one" of two: what there is is said, and nothing is done."""
    found = _LISTED.search(scene.core)
    shown = scene.state.shown(scene.view)
    if found is None or not shown or scene.last.app == "music":
        return None
    place = ORDINALS[found[1].casefold()]
    if place < len(shown):
        if shown[place] is None:
            return Reading(scene.said.text, say="That one is not there any more.")
        return None
    titles = ", ".join(f"“{title_of(one)}”" for one in shown if one is not None)
    number = "only one" if len(shown) == 1 else f"only {len(shown)}"
    return Reading(scene.said.text, say=f"I showed {number}: {titles}.")


_PRONOUN_ALONE = re.compile(
    r"(?:tell|ask|let|text|mail|email|message|call|ring|phone|write(?: to)?|send it to)"
    r" (?:him|her|them)(?: know)?(?: (?:too|as well|also|the same|that|so|about (?:it|that)))*",
    re.IGNORECASE,
)
_THING_ALONE = re.compile(
    r"(?:(?:delete|cancel|move|read|open|show|play|tick off|do) )?"
    r"(?:(?:not )?(?:the )?(?:other|first|second|third|fourth|last) one|that one|this one)"
    r"(?: (?:too|as well|instead))?",
    re.IGNORECASE,
)


def first_turn(said: Said) -> Reading | None:
    """What points back where nothing was said before."""
    core = said.core.rstrip("!.? ")
    if turns := turns_to_undo(said.core):
        return Reading(said.text, undo=turns)
    if _PRONOUN_ALONE.fullmatch(core):
        return Reading(said.text, say="Whom do you mean?")
    if _THING_ALONE.fullmatch(core) or _WRONG.fullmatch(core):
        return Reading(said.text, say="Which one do you mean?")
    return None
