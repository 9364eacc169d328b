"""Follow-ups about the conversation itself: "undo that", "try again"."""

import re

from ctrag.assistant.conversation.reading import Reading, Scene

_UNDO = re.compile(
    r"(?:please\s+)?(?:undo(?:\s+(?:it|that|this|the last (?:one|change)|everything))?"
    r"|take (?:it|that) back|(?:put|change) (?:it|that) back(?: (?:to )?(?:as|how|where"
    r"|the way) it was)?"
    r"|revert(?: (?:it|that))?|that was (?:wrong|a mistake)[,.]?\s*undo (?:it|that))[\s!.]*",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?:.{0,60}[,.;]\s*|.{0,40}\s)?(?:(?:try|call|ring|phone|dial)(?:\s+(?:it|him|her|them|that"
    r"|the number))?(?:\s+(?:once more|again|one more time))|once more|(?:one )?more time|again"
    r"|redial)[\s!.]*",
    re.IGNORECASE,
)
_CALLS = ("call_contact", "call_number", "return_missed_call", "redial_last_call")


def undone(scene: Scene) -> Reading | None:
    """ "undo that", "take it back"."""
    return Reading(scene.said.text, undo=True) if _UNDO.fullmatch(scene.core) else None


def called_again(scene: Scene) -> Reading | None:
    """ "try again", "once more" after a call."""
    if scene.last.plan.api not in _CALLS or not _AGAIN.fullmatch(scene.core):
        return None
    if re.search(r"\b(?:remind|tell|tomorrow|later|at)\b", scene.core, re.IGNORECASE):
        return None
    return scene.call("redial_last_call", None)
