"""Follow-ups that report something done: "the test seat is booked, done", "that's off my list"."""

import re
from collections.abc import Iterator

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.phrases import best_named
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.text.words import telling_words
from stores.people.items import Item

_DONE = (
    r"(?:all )?(?:done|finished|sorted|ticked|through|dealt with)"
    r"(?: (?:now|already|too|then|today))?"
)
_REPORTS = re.compile(
    rf"(?P<what>.+?)(?:,\s*(?:so\s+)?|\s+(?:so\s+)?|\s+)(?:(?:that|it|that one|this)(?:['’]?s"
    rf"| is)?\s+|is\s+"
    rf"|are\s+|was\s+)?{_DONE}|(?P<by>.+?),?\s+i(?:['’]ve| have)?(?: already)? (?:did|done"
    rf"|bought|paid|got|sent|made|booked"
    r"|fetched|ordered|finished)(?:,? (?:it|this morning|today|yesterday|already|just now"
    r"|last night))*",
    re.I,
)
_TICKS = re.compile(
    r"(?:tick|check|cross|mark)(?: off)? (?P<which>the .+?)(?: off| done| as done)?", re.I
)
_HAVE_DONE = re.compile(
    r"(?:i(?:['’]ve| have)? )?(?:just |already )?(?:got|done|did|bought|paid|sent|booked|fetched"
    r"|finished|ordered"
    r"|picked up|made|called|returned) (?P<what>(?!to\b).+?)(?P<by>)(?: (?:already|now|today"
    r"|yesterday|just now|too))*",
    re.I,
)
_OFF = re.compile(
    r"(?:so )?(?:that|it|this)(?:['’]?s| is| comes| can come| goes| can go) off (?:my|the) list",
    re.I,
)
_ASKS = re.compile(
    r"^(?:is|are|was|were|has|have)\b|\b(?:remind|tell|ask|when|what|who|how|let|if|until|not|isn't|n't)\b",
    re.I,
)


def reported(scene: Scene) -> Reading | None:
    """Ticks off the reminder that is said to be done."""
    core = scene.core.rstrip(".! ")
    if _OFF.fullmatch(core):
        return _ticked(scene, _reminder_like(scene))
    if (ticks := _TICKS.fullmatch(core)) and (placed := scene.placed(ticks["which"])):
        return _ticked(scene, placed[0])
    found = _REPORTS.fullmatch(core)
    if found is None and scene.last.app == "reminders":
        found = _HAVE_DONE.fullmatch(core)
    if found is None or _ASKS.search(core) or len(core.split()) > 18:
        return None
    what = found["what"] or found["by"]
    placed = scene.placed(what)
    if placed is not None:
        return _ticked(scene, placed[0])
    own = [one for one in scene.own("reminders") if not one.fields.get("done")]
    least = 0.4 if scene.last.app == "reminders" else 0.6
    named = (best_named(telling_words(one), own, least) for one in _heads(what))
    return _ticked(scene, next((one for one in named if one is not None), None))


def _heads(what: str) -> Iterator[str]:
    """What may name the reminder: all before the report, then its first clause."""
    head = re.sub(r"\b(?:the|that)\b|\bones?\b", " ", what, flags=re.I)
    yield head.split(",")[0]
    yield head


def _ticked(scene: Scene, item: Item | None) -> Reading | None:
    if item is None or item.app != "reminders":
        return None
    return scene.call("complete_reminder", item, title=title_of(item))


def _reminder_like(scene: Scene) -> Item | None:
    """The reminder of what was talked about last: by its words, or by whom it is of."""
    near = scene.state.items(scene.view)
    if near and near[0].app == "reminders":
        return near[0]
    own = [one for one in scene.own("reminders") if not one.fields.get("done")]
    for one in near[:1]:
        said = " ".join([item_text.title(one), *item_text.people(one)])
        return best_named(telling_words(said), own, 0.3)
    return None
