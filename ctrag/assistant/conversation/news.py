"""What was changed last, as it is told to somebody."""

import re
from datetime import datetime

from ctrag.assistant.conversation.phrases import apart_from_time, names_time, said
from ctrag.assistant.conversation.reading import Scene
from ctrag.assistant.planning.plan import Plan

_MOVED = re.compile(
    r"\b(?P<verb>move|shift|push|put|bring|reschedule|change|cancel|make)\s+(?P<what>[\w' ]*?)\s*"
    r"(?P<rest>\b(?:to|till|until|for|by|back|forward|at)\b.*)?$",
    re.IGNORECASE,
)
_DONE = {
    "move": "moved", "shift": "shifted", "push": "pushed", "put": "put", "bring": "brought",
    "reschedule": "rescheduled", "change": "changed", "cancel": "cancelled", "make": "moved",
}  # fmt: skip
_INSIDE = re.compile(r"\b(?:first|second|third|fourth|last|next|ones?|other)\b", re.IGNORECASE)
"""Words that mean something inside the conversation alone."""


def news(scene: Scene) -> str | None:
    """What was changed last, as one tells it: "It's moved to Sunday."."""
    for turn in reversed(scene.state.turns):
        found = _MOVED.search(said(turn.text).core.rstrip(".!? "))
        moved = turn.plan.api in ("reschedule_event", "snooze_reminder")
        if moved and (found is None or turn.plan.api == "snooze_reminder"):
            return _newly_timed(turn.plan)
        if found and turn.plan.api in ("reschedule_event", "cancel_event"):
            done = _DONE[found["verb"].casefold()]
            what, rest = found["what"].strip(), found["rest"] or ""
            time = re.fullmatch(r"(?:it|that|this)?\s*(.+)", what, re.IGNORECASE)
            if time and not rest and names_time(time[1]) and not apart_from_time(time[1]):
                shift = re.search(r"\b(?:earlier|later|sooner|back|forward)\b", time[1], re.I)
                what, rest = "", time[1] if shift else f"to {time[1]}"  # "make it half six"
            rest = f" {rest}" if rest else ""
            if what.casefold() in ("", "it", "that", "this") or _INSIDE.search(what):
                return f"It's {done}{rest}."
            return f"I've {done} {what}{rest}."
    return None


def _newly_timed(plan: Plan) -> str:
    """What was moved, by the call alone: "Rowing is now on Friday at 18:00."."""
    moment = datetime.fromisoformat(str(plan.arguments.get("new_start") or plan.arguments["until"]))
    return f"{plan.arguments['title']} is now on {moment:%A} at {moment:%H:%M}."
