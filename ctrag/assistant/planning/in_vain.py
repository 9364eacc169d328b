"""Calls that cannot be meant: with what the person has they cannot be done, or a question would be
answered by an act."""

import re
from collections.abc import Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import telling_words, words
from ctrag.toolbox import Tool
from stores.people.items import Contact, Item

_LEAD = r"^\W*(?:(?:hey|ok(?:ay)?|so|and|but|well|um|uh|oh|sorry|remind me)\W+)*"
_QUESTION = re.compile(
    rf"{_LEAD}(?:did|has|is|are|was|were|when|where|who|whose|what|which|why|how)(?:'s)?\b"
    r"(?!\s+(?:about|if|don'?t|not)\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:[,.;:?!-]\s*|\b(?:and|then|so|please|to|about|you|or|but)\s+)"
    r"(?:please\s+|just\s+|then\s+|also\s+)?"
    r"(?:call|ring|phone|dial|tell|ask|e?-?mail|write|send|reply|answer|let|message|forward|invite|"
    r"book|delete|remove|add|put|set|mov|cancel|snooz|remind|mak|mark|complet|tick|flag|play|not|"
    r"chang|push|schedul|block|sav|append|archiv|get\s+rid|clear|drop|bin|turn|creat|check|start|"
    r"thank|say|give|pass|warn|redial|try|skip|shuffl|take|leav|fix|correct|updat|share|read)",
    re.IGNORECASE,
)
_ANYTHING_WITH = re.compile(
    r"\b(?:anything|something|what|when|plans?)\b[^.;!?]{0,40}?\b(?:with|w/)\s*"
    r"(?P<whom>(?:my\s+)?[^\W\d_][\w'’-]*)",
    re.IGNORECASE,
)
_COMING = frozenset("w coming soon next ahead lately".split())
_HEARS = ("play_voicemail",)
"""APIs that answer a question though they do more than read."""
_OFF_A_LIST = re.compile(
    r"\b(?:take|cross|strike|scratch|remove|delete|drop|wipe|get)\s+(?:off\s+|out\s+)?.{1,80}?\s+"
    r"(?:off|out\s+of|from)\s+(?:the|my|our|that|this|his|her)\s+(?:[\w'’-]+\s+){0,4}"
    r"(?:list|note|notes|page|sheet)\b",
    re.IGNORECASE,
)


def in_vain(plan: Plan, owned: Sequence[Item]) -> bool:
    """Whether a call asks for what is not there: no voicemail of somebody who left none.

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


def unasked(plan: Plan, tool: Tool, request: str, contacts: Sequence[Contact]) -> bool:
    """Whether a call does what was not asked for.

    "Did the clinic ring" calls nobody, "anything coming up with Ole" is no news of the world, and
    "take the milk off my list" leaves the list there.

    Args:
        plan: The call.
        tool: The tool that it calls.
        request: What was said.
        contacts: The person's contacts.
    """
    if plan.api == "delete_note":
        return _OFF_A_LIST.search(request) is not None
    if plan.api == "google_news":
        topic = set(telling_words(str(plan.arguments.get("topic", "")))) - _COMING
        return any(topic and topic <= set(words(one.name)) for one in contacts)
    if plan.api == "list_events" and (behind := _ANYTHING_WITH.search(request)):
        return bool(mentioned(behind["whom"], contacts))
    return (
        tool.effect != "read"
        and plan.api not in _HEARS
        and _QUESTION.search(request) is not None
        and _ORDER.search(request) is None
    )
