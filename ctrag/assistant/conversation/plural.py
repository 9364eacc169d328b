"""One order for several things that were listed: "cancel them both", "tick off the first two"."""

import re

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.phrases import said
from ctrag.assistant.conversation.state import State

_MOST = 5
"""Things of a list for which "them" may stand."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_COUNTS = {"two": 2, "three": 3, "four": 4}
_PARTICLE = r"off|out|as done|done|as complete"
_EACH = re.compile(
    r"(?:please )?(?P<verb>cancel|call off|delete|remove|erase|scrap|bin|drop|get rid of|tick|check"
    r"|cross|mark|complete|flag|move|push|shift|snooze|postpone)"
    rf"(?: (?P<before>{_PARTICLE}))?\s+"
    r"(?:(?P<all>them(?: all| both)?|both(?: of (?:them|those|these))?|all of (?:them|those|these)"
    r"|the lot|(?:all|both) (?:those|these)|those|these)"
    r"|the (?P<end>first|last) (?P<count>two|three|four))(?: ones)?"
    rf"(?P<rest>(?: (?:{_PARTICLE}))?(?: (?:to|till|until|by|back) [^,.;!?]+)?)[\s.!]*",
    re.I,
)


def each_listed(text: str, state: State, view: PersonView) -> list[str]:
    """The requests of a turn that is about several of the things listed last, one for each; none
    where it is not, or where nothing was listed."""
    found = _EACH.fullmatch(said(text).core)
    listed = state.last.items if state.last is not None else ()
    if found is None or not 1 < len(listed) <= _MOST:
        return []
    if re.search(r"[.;!?]\s+\S", text):
        return []  # "the tea is bought. Tick that off" is about the tea
    there = [place for place, one in enumerate(state.shown(view)) if one is not None]
    if found["count"]:
        count = _COUNTS[found["count"].casefold()]
        there = there[:count] if found["end"].casefold() == "first" else there[-count:]
    elif "both" in found["all"].casefold() and len(there) != 2:
        return []
    verb = " ".join(one for one in (found["verb"], found["before"]) if one)
    return [f"{verb} the {_ORDINALS[place]} one{found['rest']}" for place in there]
