"""Turns that point back at people, places or things, as requests that stand by themselves."""

import re
from collections.abc import Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.phrases import POINTS, best_named, said
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.conversation.state import State, named_item
from ctrag.assistant.conversation.telling import TELLS
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import telling_words
from ctrag.toolbox import Tool
from stores.people.items import Item

_PERSON = re.compile(
    r"(?<!of )(?<!these )\b(him|her|he|she|them)\b(?!\s+(?:own|self))", re.IGNORECASE
)
_REMINDS = re.compile(r"(?:remind me|set (?:me )?a reminder|don't let me forget)\b", re.I)
_THERE = re.compile(
    r"\b(?P<near>near|around|close to|from)?\s*\b(?:there|that (?:place|address|cafe"
    r"|restaurant|hall"
    r"|venue|hotel|shop|station|clinic|office)|the (?:place|venue|address))\b",
    re.IGNORECASE,
)
_TRAVEL = re.compile(
    r"\b(?:get|drive|walk|cycle|go|far|directions?|route|way|weather|rain|parking|near|nearest"
    r"|around"
    r"|bus|train|metro|how long|cafe|restaurant|find|close|from)\b",
    re.IGNORECASE,
)
_IT = re.compile(r"\b(?:it|that one|this one|that|this|those|these)\b", re.IGNORECASE)

_POINTS_BACK = re.compile(
    r"\b(?:it|there|this|those|them|that(?!\s+(?:i|he|she|they|we|you|it|the|my|our)\b))\b", re.I
)


def pointed(scene: Scene) -> Reading | None:
    """Whatever else points back: with names and places in place of pronouns, and what is in focus
    before what retrieval finds."""
    text = scene.core
    placed = scene.placed(text)
    near = scene.state.items(scene.view)
    ids = [one.id for one in near[:3]]
    if placed:
        item = placed[0]
        name = item_text.title(item)
        text = f"{text[: placed[1].start()]}{name}{text[placed[1].end() :]}"
        return Reading(text, Focus((item.id,)))
    if not POINTS.search(text):
        named = _listed(scene, text)
        return None if named is None else Reading(text, Focus((named.id,)))
    there = _there(text)
    place = _place(scene)
    if there and _TRAVEL.search(text):
        if place:
            before = there["near"] or ("to" if _GOES.search(text) else "in")
            glue = "" if text[: there.start()].rstrip().endswith((" to", " in", " at")) else before
            text = f"{text[: there.start()].rstrip()} {glue} {place}{text[there.end() :]}"
            text = " ".join(text.split())
        return Reading(text, Focus(tuple(ids)))
    person = next(iter(scene.state.people(scene.view, scene.person)), None)
    again = _DO_IT.search(text)
    if again and (order := _order(scene)):
        return Reading(f"{text[: again.start()]}{order}{text[again.end() :]}", Focus(tuple(ids)))
    if _elsewhere(scene, text, near):
        ids = []
    spoken_to = None if _REMINDS.match(text) else TELLS.search(text)
    found = _PERSON.search(text)
    if person and _REMINDS.match(text):
        person = person.split()[0]
    if (
        person
        and found
        and not (spoken_to and spoken_to.start() < found.start())
        and not (_IT.search(text[: found.start()]))
    ):
        text = f"{text[: found.start()]}{person}{text[found.end() :]}"
        return Reading(text, Focus(tuple(ids)))
    short = len(text.split()) <= 8 or scene.said.text.casefold().startswith("and")
    return Reading(text, Focus(tuple(ids))) if short and _IT.search(text) else None


def thing_meant(
    text: str, plan: Plan, tool: Tool | None, state: State, view: PersonView
) -> Focus | None:
    """The thing in focus of the call's application, where the call would change another one that
    was not named: "might it begin later, at nine" means what was talked about, however it is put.
    None where the call is about what it should be about.

    Args:
        text: What was said.
        plan: What was planned of it by itself.
        tool: The tool of its plan.
        state: The turns before.
        view: The person's items.
    """
    if tool is None or tool.effect == "read" or not _POINTS_BACK.search(text):
        return None
    changed = named_item(plan, tool, view)
    own = state.items(view, tool.app)
    if changed is None or not own or changed in {one.id for one in own}:
        return None
    title = item_text.title(view.items[view.row[changed]])
    if set(telling_words(title)) & set(telling_words(text)):
        return None
    return Focus((own[0].id,), apis=(plan.api,))


def _listed(scene: Scene, text: str) -> Item | None:
    """What a text names of the things that were just listed."""
    if len(scene.last.items) < 2:
        return None
    shown = [one for one in scene.state.shown(scene.view) if one is not None]
    said = [word for word in telling_words(text) if word not in _EVERYDAY and len(word) > 2]
    return best_named(said, shown, 0.5) if said and len(text.split()) <= 12 else None


_DO_IT = re.compile(r"\b(?<=to )do (?:it|that|this|so)\b", re.IGNORECASE)
_ORDER = re.compile(r"(?:call|ring|phone|tell|ask|send|write|mail|pay|buy|play|read|look)\b", re.I)


def _order(scene: Scene) -> str | None:
    """The newest order that can be given again in the same words."""
    for turn in reversed(scene.state.turns):
        core = said(turn.text).core
        if _ORDER.match(core) and not POINTS.search(core):
            return core[:1].lower() + core[1:]
    return None


def _elsewhere(scene: Scene, text: str, near: Sequence[Item]) -> bool:
    """Whether a text has words of its own that fit something else better than what is in focus."""
    own = [word for word in telling_words(text) if word not in _EVERYDAY and len(word) > 2]
    ids = {one.id for one in near}
    others = [one for one in scene.view.items if one.id not in ids]
    return bool(own) and (
        best_named(own, near, 0.34) is None and best_named(own, others, 0.34) is not None
    )


_EVERYDAY = frozenset(
    "send read open tell ask call ring find show get make put add play give again exactly too also "
    "time today tomorrow tonight note mail reminder event look still really please one back".split()
)


_GOES = re.compile(
    r"\b(?:get|drive|walk|cycle|go|far|directions?|route|way|how long|bus|train|metro)\b", re.I
)


def _there(text: str) -> re.Match[str] | None:
    """The word for a place; the "there" of "is there" is none."""
    found = [
        one
        for one in _THERE.finditer(text)
        if not re.search(r"\b(?:is|are|was|will|would|if)\W*$", text[: one.start()], re.I)
    ]
    return found[-1] if found else None


def _place(scene: Scene) -> str:
    for turn in reversed(scene.state.turns):
        for name in ("destination", "location", "near"):
            if name in turn.plan.arguments:
                return str(turn.plan.arguments[name])
        for one in turn.items[:1]:
            if one in scene.view.row:
                item = scene.view.items[scene.view.row[one]]
                field = item_text.field_of(item, "place")
                if field is not None and item.text(field):
                    return item.text(field)
    return ""
