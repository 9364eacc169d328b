"""Follow-ups about what somebody left on the machine: "play the message he left"."""

import re

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from stores.people.items import Item, Person

_HEARS = re.compile(
    r"(?:play|hear|listen|read|open|put on)\b.*\b(?:message|msg|voicemail|voice mail|machine"
    r"|recording)s?\b"
    r"|what (?:did|does|has) .{1,40}\b(?:say|said|want|speak|leave|left)\b(?!.*\b(?:mail|note"
    r"|wrote)\b)"
    r"|(?:play|let me hear) (?:it|that|his|hers|theirs)",
    re.I,
)
_CALLS = ("get_missed_calls", "get_call_history", "call_contact", "return_missed_call")


def left_by(text: str, view: PersonView, person: Person) -> Plan | None:
    """The call that plays the voicemail of somebody whom a text names: "play mum's message"."""
    if not _PLAYS.match(text):
        return None
    left = {name for one in view.items if one.text("voicemail") for name in item_text.people(one)}
    said = [one for word in text.split() for one in _meant(person, word) if one in left]
    return Plan("play_voicemail", {"contact": said[0]}) if len(set(said)) == 1 else None


_PLAYS = re.compile(
    r"(?:please |can you |could you )*(?:play|let me hear|i want to hear)\b.*"
    r"\b(?:message|msg|voicemail|voice mail)\b",
    re.I,
)


def heard(scene: Scene) -> Reading | None:
    """Plays the voicemail of the one who is named, or in focus, after calls were talked about."""
    core = scene.core.rstrip("?!. ")
    if scene.last.plan.api not in _CALLS or not _HEARS.match(core):
        return None
    left = [one for one in scene.view.items if one.app == "phonecall" and one.text("voicemail")]
    names = list(dict.fromkeys(name for one in left for name in item_text.people(one)))
    said = [one for word in core.split() for one in _meant(scene.person, word) if one in names]
    near = scene.state.people(scene.view, scene.person)
    chosen = next(iter([*said, *(one for one in near if one in names)]), None)
    if (
        chosen is None
        and len(names) == 1
        and not any(_meant(scene.person, word) for word in core.split())
    ):
        chosen = names[0]
    item: Item | None = next((one for one in left if chosen in item_text.people(one)), None)
    return None if chosen is None else scene.call("play_voicemail", item, contact=chosen)


def _meant(person: Person, word: str) -> list[str]:
    bare = re.sub(r"(?:['’]?s)?\W*$", "", word)
    found = mentioned(bare, person.contacts) if len(bare) > 2 else []
    return [found[0].name] if len(found) == 1 else []
