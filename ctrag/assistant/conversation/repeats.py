"""Follow-ups that repeat the last call with another value: "and on Friday?", "the other one too",
"and Bob as well", "what about Lisbon?"."""

import re
from dataclasses import replace
from datetime import date, datetime, timedelta

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.orders import requests_in
from ctrag.assistant.conversation.phrases import (
    apart_from_time,
    best_named,
    names_time,
)
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.slots import OWNED
from ctrag.text.dates.temporal_expressions import find_expressions, offered_dates
from ctrag.text.words import STOPWORDS, telling_words, words
from ctrag.toolbox import Argument
from stores.people.items import Item

_TOO = re.compile(r"[\s,]+(?:too|as well|also)$", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:what|how) about|(?:the )?same (?:for|with|to|on|goes for)|also|i (?:meant|mean|said)"
    r"|not (?:that|this)(?: one)?[\s,.]*|(?:and )?(?:send|share|forward|tell|do) (?:it |that "
    r"|the same )?"
    r"(?:to|for|with)|for|on|with|in|to|from)\s+",
    re.IGNORECASE,
)
_MOST = 7
"""Words of an ellipsis at most."""
_VERBS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|do|will|would|can|could|should|need|want|'s|'ll"
    r"|'m|'re)\b",
    re.IGNORECASE,
)
_DAYS_AWAY = re.compile(
    r"(?:the|a|one) (?:day|week) (?:before|after|later|earlier)(?: (?:that|it))?"
    r"|the (?:next|following|previous) (?:day|week)",
    re.IGNORECASE,
)
"""Days counted from the one that was talked about."""
_ASIDE = re.compile(r"(?:in that case|on (?:second thoughts?|reflection)|for now)\b", re.I)
_ORDERS = re.compile(
    r"(?:remind me|tell|text|call|ring|cancel|delete|play|add|put|move|push|show me|book"
    r"|snooze)\s+\w",
    re.I,
)
_OWN_THINGS = re.compile(
    r"(?:my |the )?(?:reminders?|calendar|mails?|emails?|notes?|messages?|tasks?|voicemails?)", re.I
)
_PLACES = ("location", "destination", "near")


def other_value(scene: Scene) -> Reading | None:
    """The last call with one value changed, where the turn is only that value."""
    tool, plan = scene.last.tool, scene.last.plan
    core = _TOO.sub("", scene.core).rstrip("?!. ")
    too = core != scene.core.rstrip("?!. ")
    lead = _LEAD.match(core)
    value = core[lead.end() :] if lead else core
    and_ = re.match(r"\W*(?:and|also|ok(?:ay)? and|but)\b", scene.said.text, re.I)
    if tool is None or not tool.arguments or len(value.split()) > _MOST:
        return None
    dated = any(one.type == "date" for one in tool.arguments) and names_time(value)
    alone = dated and not apart_from_time(value) and tool.effect == "read"
    if not (too or lead or and_ or scene.said.no or alone):
        return None
    if (requests_in(value) and not lead) or _VERBS.search(value) or _asks_anew(core):
        return None
    for argument in tool.arguments:
        found = _changed(scene, argument, value)
        if found is not None and found.arguments != plan.arguments:
            item = _item(scene, found)
            ids = () if item is None else (item,)
            focus = Focus(ids, (plan.api,), plan=found)
            return Reading(scene.said.text, focus, corrects=scene.said.no)
    places = [one.name for one in tool.arguments if one.name in _PLACES]
    if places and apart_from_time(value) and _may_be_a_place(scene, value):
        text = f"{_about(plan.api)} {value}"
        return Reading(text, Focus(apis=(plan.api,)))
    return None


def _asks_anew(core: str) -> bool:
    """Whether an order stands behind what opens the turn: "in that case cancel the run", "on Friday
    remind me to take a coat"."""
    starts = (found.start() for found in re.finditer(r"(?<=\s)\w", core))
    return bool(_ASIDE.match(core)) or any(_ORDERS.match(core[at:]) for at in starts)


def _may_be_a_place(scene: Scene, value: str) -> bool:
    """Not one of the person's contacts, nor their reminders."""
    known = {word for one in scene.person.contacts for word in words(one.name)}
    return not (set(words(value)) <= known or _OWN_THINGS.fullmatch(value))


def _changed(scene: Scene, argument: Argument, value: str) -> Plan | None:
    """The last plan with this argument from the value, where the value is of its kind."""
    plan = scene.last.plan
    if argument.type in ("contact", "contacts"):
        return _other_person(scene, argument, value)
    if argument.type == "date" and _DAYS_AWAY.fullmatch(value):
        before = plan.arguments.get(argument.name)
        day = date.fromisoformat(before) if isinstance(before, str) else scene.at.date()
        away = 7 if "week" in value.casefold() else 1
        back = re.search(r"before|earlier|previous", value, re.I)
        return _with(plan, argument, (day + timedelta(-away if back else away)).isoformat())
    if argument.type == "date" and names_time(value) and not apart_from_time(value):
        if not find_expressions(value, scene.at):
            return None
        days = offered_dates(value, scene.at)
        return _with(plan, argument, days[0].isoformat()) if days else None
    if argument.name in OWNED and argument.match == "value":
        return _other_item(scene, argument, value)
    if argument.name in _PLACES and not names_time(value) and value[:1].isupper():
        return _with(plan, argument, value) if _may_be_a_place(scene, value) else None
    return None


def _other_person(scene: Scene, argument: Argument, value: str) -> Plan | None:
    plan = scene.last.plan
    before = plan.arguments.get(argument.name)
    if re.fullmatch(r"the other (?:one|[\w'’]+)", value, re.I):
        word = telling_words(value)
        mention = word[-1] if word and word[-1] not in ("one", "other") else str(before)
        alike = {words(str(before))[0]} if before else set()
        found = [
            one
            for one in scene.person.contacts
            if one.name != before and (mention in words(one.name) or alike & set(words(one.name)))
        ]
    else:
        known = {word for one in scene.person.contacts for word in words(one.name + one.relation)}
        if not set(words(value)) - STOPWORDS & known and not scene.person.contacts:
            return None
        found = mentioned(value, scene.person.contacts)
    if len(found) != 1 or found[0].name == before:
        return None
    name = found[0].name
    return _with(plan, argument, [name] if argument.type == "contacts" else name)


def _other_item(scene: Scene, argument: Argument, value: str) -> Plan | None:
    app = scene.last.app
    placed = scene.placed(value)
    if placed and placed[0].app == app:
        return _with(scene.last.plan, argument, title_of(placed[0]))
    shown = [one for one in scene.state.shown(scene.view) if one is not None and one.app == app]
    known = scene.last.plan.arguments.get(argument.name)
    others = [one for one in scene.own(app) if title_of(one) != known]
    sent = mentioned(value, scene.person.contacts)
    theirs = [one for one in others if sent and sent[0].name in item_text.people(one)]
    if len(sent) == 1 and theirs and app in ("mail", "calendar"):
        return _with(scene.last.plan, argument, title_of(max(theirs, key=_when)))
    told = [word for word in telling_words(value) if word not in ("one", "ones", "other")]
    if not told:
        alike = [one for one in shown if title_of(one) != known]
        named = alike[0] if len(alike) == 1 and "other" in words(value) else None
    else:
        named = best_named(told, others, 0.6)
    return None if named is None else _with(scene.last.plan, argument, title_of(named))


def _when(item: Item) -> datetime:
    return item_text.time_of(item) or datetime.min


def _with(plan: Plan, argument: Argument, value: str | list[str]) -> Plan:
    return replace(plan, arguments={**plan.arguments, argument.name: value})


def _item(scene: Scene, plan: Plan) -> str | None:
    titles = [str(plan.arguments[name]) for name in OWNED if name in plan.arguments]
    own = [item for item in scene.view.items if item.app == scene.last.app]
    return next((item.id for item in own if titles and title_of(item) == titles[0]), None)


def _about(api: str) -> str:
    return {
        "google_weather": "what's the weather",
        "google_directions": "how do I get to",
        "google_nearby": "find",
        "google_flights": "flights",
    }.get(api, "")
