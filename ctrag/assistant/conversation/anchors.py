"""Days that are named by what was talked about: "that evening", "the day before"."""

import re
from datetime import date, timedelta

from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.phrases import moment_for, names_clock
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.plan import Value
from ctrag.text.dates.temporal_expressions import find_expressions, offered_dates
from ctrag.text.words import telling_words
from stores.people.local_time import format_local_time

_PART = r"day|date|morning|afternoon|evening|night|nite"
_THAT_DAY = re.compile(rf"\b(?:on )?(?:that(?: same)?|the same) (?P<part>{_PART})\b", re.I)
_DAY_OF = re.compile(
    rf"\b(?:on )?the (?P<part>{_PART}) of(?: (?:it|that))?(?=$|[\s,.;!?])(?! the)", re.I
)
_DAY_BEFORE = re.compile(
    rf"(?<!\w)(?<!\ba )(?<!\bone )(?:on )?(?:the )?(?P<part>{_PART}) (?P<way>before|after)"
    r"(?:hand)?(?:\s+(?:it|that))?(?=$|[\s,.;!?])(?!\s+(?:i|we|he|she|they|the|my)\b)",
    re.I,
)
_REMINDS = re.compile(
    r"(?:remind me|(?:set|give me|make|add|put(?: in)?)(?: me)? (?:a|another) reminder"
    r"|don't let me forget)\b",
    re.I,
)
_AT_HOUR = re.compile(r"\b(?:at\s+)?(\d{1,2})[.:](\d\d)\b|\bat (\d{1,2})(?= (?:on|the|in)\b)", re.I)
_PARTS = {
    "morning": "in the morning", "afternoon": "in the afternoon", "evening": "in the evening",
    "night": "at night", "nite": "at night",
}  # fmt: skip


def anchored(scene: Scene) -> Reading | None:
    """A turn with a date in place of such a day; a reminder with its whole time."""
    text = scene.core
    day = _day(scene)
    found = _DAY_BEFORE.search(text) or _THAT_DAY.search(text) or _DAY_OF.search(text)
    if found is None or day is None:
        return None
    rest = telling_words(f"{text[: found.start()]} {text[found.end() :]}")
    if not set(rest) - {"what", "how", "about"}:
        return None  # "and the day after?" asks for another day
    if found.re is _DAY_BEFORE:
        day += timedelta(days=1 if found["way"].casefold() == "after" else -1)
    part = _PARTS.get(found["part"].casefold(), "")
    named = " ".join(f"{part} on {day.day} {day:%B} {day.year}".split())
    text = " ".join(f"{text[: found.start()]} {named} {text[found.end() :]}".split())
    text = re.sub(r"\s+(?=[,.;!?])", "", text)
    ids = tuple(one.id for one in scene.state.items(scene.view)[:3])
    if not _REMINDS.search(text):
        return scene.with_items(text, ids)
    told = _spelled(text)
    moment = moment_for(told, scene.at, None) if names_clock(told) else None
    values: dict[str, Value] = {} if moment is None else {"due": format_local_time(moment)}
    item = scene.view.items[scene.view.row[ids[0]]] if ids else None
    return scene.call_with("create_reminder", item, text, **values)


def _spelled(text: str) -> str:
    """ "6.30" as "at 6:30"."""
    return _AT_HOUR.sub(lambda one: f"at {one[1] or one[3]}:{one[2] or '00'}", text)


def _day(scene: Scene) -> date | None:
    """The day of what was talked about last."""
    for turn in reversed(scene.state.turns):
        for name in ("date", "start", "new_start", "due", "until"):
            if isinstance(value := turn.plan.arguments.get(name), str) and (
                name in ("date", "start", "new_start") or turn is not scene.last or not turn.made
            ):
                return date.fromisoformat(value[:10])
        if find_expressions(turn.text, scene.at):
            return next(iter(offered_dates(turn.text, scene.at)), None)
        for one in (*turn.items[:1], *turn.mentioned[:1]):
            if one in scene.view.row:
                item = scene.view.items[scene.view.row[one]]
                moment = item_text.time_of(item)
                if moment is not None and item.app in ("calendar", "reminders"):
                    return moment.date()
    return None
