"""Calls that cannot be done with what the person has: no voicemail of somebody who left none."""

from collections.abc import Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import words
from stores.people.items import Item


def in_vain(plan: Plan, owned: Sequence[Item]) -> bool:
    """Whether a call asks for what is not there.

    Args:
        plan: The call.
        owned: Everything that the person has; nothing is known of it when empty.
    """
    if plan.api not in ("play_voicemail", "return_missed_call") or not owned:
        return False
    caller = words(str(plan.arguments.get("contact", "")))
    calls = [one for one in owned if one.app == "phonecall"]
    if plan.api == "play_voicemail":
        there = [one for one in calls if one.text("voicemail")]
    else:
        there = [one for one in calls if one.text("direction") == "missed"]
    return not any(words(name) == caller for one in there for name in item_text.people(one))
