"""Follow-ups that want a reminder of what was talked about."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.phrases import apart_from_time, moment_for
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.plan import Plan, Value
from stores.people.items import Item
from stores.people.local_time import format_local_time

_REMIND = re.compile(
    r"(?:remind|nudge|ping) me (?:of |about )?(?:it|that|this|them|those)\b(?! \w+s\b)(?: again)?",
    re.IGNORECASE,
)
_LEAD = (
    r"(?:(?:remind|nudge|ping|wake) me(?: again)?"
    r"|(?:set|give me|make|add|create|put in)(?: me)? (?:a|another) reminder(?: for)?)"
)
_BEFORE = (
    r"(?:(?:the|an?|half|one|two|three|four|five|ten|fifteen|twenty|thirty|couple|few|of|\d+"
    r"|quarter"
    r"|day|night|evening|morning|afternoon|week|hour|minute|min|days|weeks|hours|minutes|mins) )"
    r"{1,5}(?:before(?:hand)?|ahead|earlier|in advance)"
)
_IT = r" (?:it|that|this|then)(?: (?:starts|begins))?"
_TIME_FIRST = re.compile(
    rf"{_LEAD} (?P<when>{_BEFORE}(?:{_IT})?)(?:,? to (?P<what>.+))?", re.IGNORECASE
)
_TIME_LAST = re.compile(rf"{_LEAD} to (?P<what>.+?),? (?P<when>{_BEFORE}{_IT})", re.IGNORECASE)

_ANOTHER = re.compile(
    r"(?:(?:set |make |add |create |give me |put in )?(?:me )?(?:another|one more|a second"
    r"|one)(?: one"
    r"| reminder)?|(?:the )?same(?: (?:reminder|thing|one))?(?: again)?|again|also|once more"
    r"|one more time"
    r"|remind me again)(?:,? (?:for|at|on|in))?\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_TO = re.compile(r"(?:to|about|of)\b", re.IGNORECASE)


def another(scene: Scene) -> Reading | None:
    """ "another one at ten", "same again tomorrow", "and one to buy rope": after a reminder."""
    found = _ANOTHER.fullmatch(scene.core.rstrip(".!? "))
    if found is None and re.match(r"\W*(?:and )?also\b", scene.said.text, re.I):
        found = re.fullmatch(r"(?:at |for |on )?(?P<rest>.+)", scene.core.rstrip(".!? "), re.I)
    added = re.match(r"\W*(?:and|also|oh|ok|okay)\b", scene.said.text, re.I)
    if found is None or scene.said.no or scene.last.plan.api != "create_reminder":
        return None
    if re.match(r"one\b", scene.core, re.I) and not added:
        return None
    rest = found["rest"]
    if _TO.match(rest):
        return Reading(f"remind me {rest}")
    reminder = next(iter(scene.state.items(scene.view, "reminders")), None)
    if (
        added
        and apart_from_time(rest)
        and re.match(r"(?:another|one|a second)\b", scene.core, re.I)
    ):
        return scene.call_with("create_reminder", None, f"remind me about {rest}")
    if reminder is None or apart_from_time(rest):
        return None
    due = _due(scene, reminder, rest)
    title = title_of(reminder)
    return None if due is None else scene.call("create_reminder", reminder, title=title, due=due)


def reminded_again(scene: Scene) -> Reading | None:
    """ "remind me of it again on Thursday, same time"."""
    found = _REMIND.match(scene.core)
    near = scene.state.items(scene.view, "reminders", "calendar")
    near = near or scene.state.items(scene.view, "notes", "mail")
    if found is None or not near:
        return None
    rest = scene.core[found.end() :].strip(" ,.")
    if apart_from_time(rest):
        return None
    values: dict[str, Value] = {"title": title_of(near[0])}
    due = _due(scene, near[0], rest) if rest else None
    return scene.call_of(
        Plan("create_reminder", values if due is None else {**values, "due": due}), near[0]
    )


def reminded_before(scene: Scene) -> Reading | None:
    """ "remind me the evening before it", "remind me to iron a shirt an hour before that"."""
    core = scene.core.rstrip(".!? ")
    core = re.sub(r"\b(?:ahead|earlier|in advance)\b", "before", core, flags=re.I)
    found = _TIME_FIRST.fullmatch(core) or _TIME_LAST.fullmatch(core)
    made = {turn.items[0] for turn in scene.state.turns if turn.made and turn.app == "reminders"}
    # A reminder that was just made is of what "it" is, and seldom "it".
    near = scene.state.items(scene.view, "calendar", "reminders")
    near = [one for one in near if one.id not in made] or near
    if found is None or not near or apart_from_time(found["when"].replace("beforehand", "before")):
        return None
    due = _due(scene, near[0], found["when"].replace("beforehand", "before"))
    if due is None:
        return None
    if found["what"] is None:
        return scene.call("create_reminder", near[0], title=title_of(near[0]), due=due)
    text = f"remind me to {found['what']}"
    return scene.call_with("create_reminder", near[0], text, due=due)


def _due(scene: Scene, item: Item, when: str) -> str | None:
    moment = moment_for(when, scene.at, item)
    return None if moment is None else format_local_time(moment)
