"""Follow-ups to what was asked of the web: "and by bus", "in German", "and a pharmacy", "will it
rain then".
"""

import re
from dataclasses import replace
from datetime import date

from ctrag.assistant.apps.google import translates_into
from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.orders import requests_in
from ctrag.assistant.conversation.phrases import names_time
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.plan import Plan, Value
from ctrag.text.words import words

_MODES = {
    "transit": "jeepney bus train tram metro subway tube underground transit transport ferry",
    "walking": "foot walk walking walked",
    "cycling": "bike bicycle cycle cycling",
    "driving": "car drive driving taxi cab uber",
}
_BY = re.compile(
    r"(?:(?:and|or|what about|how about|what if i go|(?:and )?how long(?: (?:does|would"
    r"|will) (?:it|that)"
    r"(?: take)?| is (?:it|that))?|no|rather|i meant?|i mean|is it quicker|same)[\s,]+)*"
    r"(?:(?:going|if i go|take me|there)\s+)?(?:by|on|with|taking|using|in)?\s*(?:the|a|my"
    r"|public)?\s*"
    r"(?P<by>\w+)(?: there| instead| rather| then| only)*"
    r"(?:,? how (?:long|much (?:time|minutes?)|many minutes)(?: (?:is|does) (?:it"
    r"|that)(?: take)?)?)?",
    re.I,
)
_INTO = re.compile(
    r"(?:(?:and|now|what about|how about|what is it|how is it|same|the same|i meant|rather)[\s,]+)*"
    r"(?:in|into|to)?\s*(?P<language>[^\W\d_]+(?: [^\W\d_]+)?)(?: instead| rather| then| too)*",
    re.I,
)
_TRANSLATE = re.compile(r"translate\s+(?P<what>.+?)(?:\s+(?:too|as well|also))", re.I)
_ALSO = re.compile(r"(?:(?:and|what about|how about|now)[\s,]+)+(?P<what>.+)", re.I)
_SAME_KIND = re.compile(
    r"(?:(?:what|how) about |and |or |i meant |rather )?(?:an? |any |some |the nearest |nearest )?"
    r"(?P<kind>[^\W\d_][\w' -]{2,30}?)(?: (?:instead|rather|then|too|as well|nearby|there))*",
    re.I,
)
_ITS_TIME = re.compile(
    r"\b(?P<then>then|at that time|(?:on )?that (?:day|evening|morning|afternoon|night))\b", re.I
)
_SKY = re.compile(
    r"\b(?:weather|rain|raining|snow|sunny|cold|warm|hot|umbrella|windy|forecast)\b", re.I
)
_WHAT_ELSE = re.compile(
    r"(?:what|anything|is there anything|do i have anything)(?: else)?(?: (?:do i have|is"
    r"|is there|have i"
    r" got|on|happening|going on|planned))*(?: on)? (?:that (?:day|evening|morning|afternoon)"
    r"|then)",
    re.I,
)


def asked_otherwise(scene: Scene) -> Reading | None:
    """The last call to the web with another means of travel, language, text or kind of place."""
    core, plan = scene.core.rstrip("?!. "), scene.last.plan
    if len(core.split()) > 9:
        return None
    if plan.api == "google_directions":
        return _by_other_means(scene, core)
    if plan.api == "google_translate":
        return _translated(scene, core)
    if plan.api == "google_nearby":
        return _other_kind(scene, core)
    return None


def _by_other_means(scene: Scene, core: str) -> Reading | None:
    found = _BY.fullmatch(core)
    mode = next(
        (m for m, w in _MODES.items() if found and found["by"].casefold() in w.split()), None
    )
    return None if mode is None else _with(scene, mode=mode)


def _translated(scene: Scene, core: str) -> Reading | None:
    found = _INTO.fullmatch(core)
    if found and translates_into(found["language"]):
        return _with(scene, target_language=found["language"].title())
    again = _TRANSLATE.fullmatch(scene.core.rstrip("?!. "))
    whole = again or _ALSO.fullmatch(scene.said.text.rstrip("?!. "))
    text = whole["what"].strip("\"'“”‘’ ") if whole else ""
    if not text or (requests_in(text) and whole and whole["what"] == text):
        return None
    return _with(scene, text=text)


def _other_kind(scene: Scene, core: str) -> Reading | None:
    found = _SAME_KIND.fullmatch(core)
    opened = found is not None and (core != found["kind"] or scene.said.text != scene.core)
    if found is None or not opened or requests_in(found["kind"]) or names_time(found["kind"]):
        return None
    if words(found["kind"])[0] in _NO_KIND:
        return None
    return _with(scene, category=found["kind"])


_NO_KIND = frozenset(
    "with near in at around by on to from is are do does did was will can could not no yes i we"
    " he she "
    "they it that this the there how what when where who which tell my".split()
)


def _with(scene: Scene, **values: Value) -> Reading:
    plan = scene.last.plan
    changed = replace(plan, arguments={**plan.arguments, **values})
    return Reading(scene.said.text, Focus((), (plan.api,), plan=changed), corrects=scene.said.no)


def at_its_time(scene: Scene) -> Reading | None:
    """ "will it rain then", "what else do I have that day": on the day that was talked about."""
    core = scene.core.rstrip("?!. ")
    day = _day(scene)
    if day is None:
        return None
    if _WHAT_ELSE.fullmatch(core):
        plan = Plan("list_events", {"date": day.isoformat()})
        return scene.call_of(plan, None)
    if core + " then" in scene.said.text:
        core += " then"  # taken for a mere ending
    then = _ITS_TIME.search(core)
    if then is None or not _SKY.search(core):
        return None
    text = f"{core[: then.start()]}on {day:%A} {day.day} {day:%B}{core[then.end() :]}"
    ids = tuple(one.id for one in scene.state.items(scene.view)[:3])
    return Reading(text, Focus(ids))


def _day(scene: Scene) -> date | None:
    near = scene.state.items(scene.view, "calendar", "reminders")
    value = scene.last.plan.arguments.get("date")
    if isinstance(value, str):
        return date.fromisoformat(value)
    moment = item_text.time_of(near[0]) if near else None
    return None if moment is None else moment.date()
