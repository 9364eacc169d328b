"""Follow-ups that put something where it belongs: into a note, a folder, the calendar."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.changes import IT
from ctrag.assistant.conversation.orders import requests_in
from ctrag.assistant.conversation.phrases import (
    best_named,
    moment_for,
    names_clock,
    names_time,
)
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.text.dates.temporal_expressions import find_expressions
from ctrag.text.words import telling_words
from stores.people.local_time import format_local_time

_ADDS = re.compile(
    r"(?:add|append|stick(?!\s+on\b(?!\s*:))|put(?!\s+on\b(?!\s*:))|write(?!\s+(?:back|to\b"
    r"|(?:that|it|this) to\b))|jot|note|include)\b"
    r"(?!\s+it up\b)\s*"
    r"(?:(?:down|on|at (?:the )?end|(?:at|on) the (?:bottom|end)|there(?: also)?|underneath"
    r"|below|under (?:it"
    r"|that))\b[:,\s]*)?",
    re.I,
)

_INTO_NOTE = re.compile(
    r"^(?:add|append|write|jot(?: down)?|include|note)(?:\s+that\b|\s*:)"
    r"|\b(?:to|on|at|in)\s+(?:it|the (?:end|bottom|top|list|note)|there)$",
    re.I,
)

"""What is said of a note in focus, even with a time in it."""

_REPLACES = re.compile(
    rf"(?:change|make|set|update|rewrite|replace)\s+(?:{IT}|the text|the note)\s+"
    r"(?:to|with|into|say|read)\s*:?\s+(?P<body>.+)",
    re.IGNORECASE,
)

_ELSEWHERE = re.compile(
    r"\b(?:this|that|it) in(?:to)? (?!the\b|my\b|our\b|there\b)\w+|"
    r"\b(?:calendar|reminders?|playlist|to(?:-|\s)?do|(?:to|on|in|into|onto)\s+(?:my|the|our)\s+"
    r"(?!end\b|bottom\b|list\b|note\b|same\b|top\b)\w+|for\s+(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day)",
    re.IGNORECASE,
)


def put_into(scene: Scene) -> Reading | None:
    """ "stick it on the end", "change it to: …": into the note in focus."""
    notes = scene.state.items(scene.view, "notes")
    if scene.last.app != "notes" or not notes:
        return None
    note, core = notes[0], scene.core
    if folder := _folder(scene, core):
        return scene.call("move_note", note, title=title_of(note), folder=folder)
    replaced = _REPLACES.match(core)
    if replaced and not names_time(replaced["body"]):
        text = f"Change the note {title_of(note)} to: {replaced['body']}"
        return scene.call_with("update_note", note, text, title=title_of(note))
    adds = _ADDS.match(core)
    if adds is None and (more := _one_more(scene)):
        return scene.call_with("append_to_note", note, f"add {more}", title=title_of(note))
    if adds is None or _ELSEWHERE.search(core) or re.fullmatch(r"put .+ on\W*", core, re.I):
        return None
    if _PLANNED.search(core) and not _INTO_NOTE.search(core):
        return None
    if best_named(_container(core), [one for one in scene.view.items if one.app == "notes"], 0.6):
        return None  # another note is named
    text = re.sub(r"\s+(?:to|on|at|in) (?:it|the (?:end|bottom|list|note)|there)$", "", core)
    return scene.call_with("append_to_note", note, text, title=title_of(note))


_PLANNED = re.compile(
    r"\b(?:at|from) (?:half|quarter|noon|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve)|\b\d{1,2} ?(?:am|pm)\b|\b(?:tomorrow|tonight|tmrw|(?:on |for |this |next )?(?:mon"
    r"|tues|wednes"
    r"|thurs|fri|satur|sun)day)\W*$",
    re.I,
)
"""When something happens: what has this is entered, and not written into a note."""


def _one_more(scene: Scene) -> str:
    """The text of "and fuel filter", said after something was put into the note."""
    core = scene.core.strip(" .!")
    added = re.match(r"\W*(?:and|also|oh and|plus)\b", scene.said.text, re.I)
    if not added or scene.last.plan.api not in ("append_to_note", "create_note"):
        return ""
    told = requests_in(core) or "?" in core or names_clock(core) or len(core.split()) > 6
    return "" if told or re.search(r"\b(?:it|that|this|him|her|them)\b", core, re.I) else core


_INTO_CALENDAR = re.compile(
    rf"(?:put|add|enter|save|stick|pop|write|chuck|get|note"
    rf"|mark)\s+{IT}\s+(?:down\s+)?(?:in(?:to)?|to|on)"
    r"\s+(?:my|the|our)\s+(?:calendar|diary|agenda|schedule)(?:\s+(?:too|as well|also|please))*"
    r"(?P<when>\s.+)?",
    re.I,
)


def entered(scene: Scene) -> Reading | None:
    """ "and put it in my calendar": what was answered, read or made a reminder of, at the time that
    was said there."""
    found = _INTO_CALENDAR.fullmatch(scene.core.rstrip(".!? "))
    near = scene.state.items(scene.view, "reminders", "mail")
    if found is None or not near or scene.last.app not in ("reminders", "mail"):
        return None
    item = near[0]
    when = found["when"] or ""
    said = (when, scene.last.text, str(scene.last.plan.arguments.get("body", "")))
    moment = next((moment_for(one, scene.at, None) for one in said if names_clock(one)), None)
    if moment is None and item.app == "reminders":
        moment = item_text.time_of(item)
    if moment is None:
        return None
    return scene.call("create_event", item, title=title_of(item), start=format_local_time(moment))


_INTO_FOLDER = re.compile(
    rf"(?:(?:move|put|file|stick|shove|pop|store)\s+(?:{IT}|(?:that|the|this) note)"
    rf"|{IT}\s+(?:goes|belongs|should go))\s+(?:away\s+)?(?:in|into|to|under|with)\s+"
    r"(?:the\s+|my\s+)?(?P<name>[\w'’ &-]+?)(?P<folder>\s+folder|\s+notes)?",
    re.I,
)


_PUT_IN = re.compile(
    rf"(?:put|add|enter|pop|stick) {IT} in(?:,? (?:too|as well|also))*(?P<rest>(?:,? for\b|,).+)?",
    re.I,
)


def put_in(scene: Scene) -> Reading | None:
    """ "put that in for Friday", "put that in too": an event of what was said or left just now."""
    found = _PUT_IN.fullmatch(scene.core.rstrip(".!? "))
    if found is None or scene.last.app not in ("mail", "phonecall", "calendar", "reminders"):
        return None
    if found["rest"]:
        text = f"put in the calendar {found['rest'].strip(' ,')}"
        return scene.call_with("create_event", None, text)
    when = (
        scene.last.text
        if names_clock(scene.last.text) or _BARE_CLOCK.search(scene.last.text)
        else ""
    )
    day = next((item_text.time_of(one) for one in scene.state.items(scene.view, "calendar")), None)
    if not when:
        return None
    told = _BARE_CLOCK.sub(lambda one: f"at {one[0]}", when)
    if day is not None and not find_expressions(re.sub(_BARE_CLOCK, "", when), scene.at):
        told = f"{told} on {day.day} {day:%B} {day.year}"
    moment = moment_for(told, scene.at, None)
    who = next(iter(scene.last.people), "")
    if moment is None or not who:
        return None
    title, start = f"Talk with {who.split()[0]}", format_local_time(moment)
    return scene.call("create_event", None, title=title, start=start)


_BARE_CLOCK = re.compile(r"(?<!at )\b\d{1,2}[:.]\d\d\b", re.I)


def _folder(scene: Scene, core: str) -> str | None:
    """The folder into which the note is put: one that there is."""
    found = _INTO_FOLDER.fullmatch(core.rstrip(".! "))
    if found is None:
        return None
    own = dict.fromkeys(one.text("folder") for one in scene.view.items if one.app == "notes")
    wanted = found["name"].casefold()
    return next((name for name in own if name and name.casefold() == wanted), None)


def _container(core: str) -> list[str]:
    found = re.search(r"\b(?:to|on|in|into|onto)\s+(?:my|the|our)\s+([\w' -]+)$", core, re.I)
    return telling_words(found[1]) if found else []
