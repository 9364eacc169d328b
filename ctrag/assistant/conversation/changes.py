"""Follow-ups that change, remove, tick off, add to, or pass on what was talked about."""

import re

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.conversation.orders import REQUEST, requests_in
from ctrag.assistant.conversation.phrases import (
    apart_from_time,
    best_named,
    moment_for,
    names_clock,
    names_time,
)
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.mentions import mentioned
from ctrag.text.words import telling_words
from stores.people.items import Item
from stores.people.local_time import format_local_time

_MOVE = re.compile(
    r"(?:let'?s\s+)?(?:make|move|shift|push|bump|put|change|set|do|bring|have|reschedule"
    r"|postpone|delay"
    r"|snooze|start|try|pass (?=(?:it|that) to))\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?P<why>(?:that|it|this)(?:'s| is| was)[^.!?]*)[.!,;]\s+"
    r"(?:so |then |please |can you |let's )*"
    rf"(?P<order>{_MOVE.pattern}.+)",
    re.IGNORECASE,
)
_NAMED_FIRST = re.compile(
    r"(?P<what>(?:the |my |that )[\w'’ ]+?(?: one)?),\s*(?:can you |could you |please )?"
    r"(?P<move>make|move|shift|push|put|change|set|bring|reschedule|postpone|snooze)\s+"
    r"(?:it|that|that one)(?P<when>\s+.+)",
    re.IGNORECASE,
)
_OTHER_ORDER = re.compile(
    r"(?:remind me|tell|ask|let|call|ring|play|show|what|when|where|who|how|is|are|do i|did|does"
    r"|put (?:in|on)|add|create|book|schedule|read|find|search|weather|will|was)\b",
    re.IGNORECASE,
)
_NEW_OR_ASKED = re.compile(
    r"\b(?:what|which|when|who)\b|\bput\b.*\bin (?:the|my|for)\b|\b(?:calendar|diary)\b|\?$", re.I
)
_REMOVES = re.compile(
    r"\b(?:cancel|call off|scrap|scratch|drop|delete|remove|erase|get rid of|bin|trash"
    r"|throw (?:away|out)"
    r"|forget|leave|ditch|clear|(?:take|call|throw) (?:it|that|this) (?:out|off|away)|lose)\b",
    re.IGNORECASE,
)
_TICKS = re.compile(
    r"\b(?:tick|check|cross|mark)\b.*?\b(?:it|that|this|them|one|off|done|complete)\b"
    r"|\b(?:it|that|that one|this)(?:'s| is| was)? (?:been )?(?:done|finished|sorted)\b",
    re.IGNORECASE,
)
_NO_NOUN = (
    r"(?!\s+(?!(?:off|out|then|please|altogether|now|too|again|thanks|and|as|for|from|instead"
    r"|done|on"
    r"|over|along|to|with|in|into|down|up|at|until|till|is|was|it|he|she|i|we|they|away)\b)\w)"
)
IT = (
    r"(?:it|them|that one|this one|the whole thing|the thing|the lot"
    rf"|(?:that|this|those|these)\b{_NO_NOUN})"
)
_OBJECT = re.compile(
    r"(?:\b(?:the|that|this)\s+(?P<kind>reminder|event|appointment|note|mail|email|meeting|task)\b"
    rf"|\b(?:the|that|this|my)\s+(?P<named>[\w'’ -]+?)\s+ones?\b|\b{IT}\b)",
    re.IGNORECASE,
)
_PASSES = re.compile(
    rf"(?:send|share|forward|pass|mail|email|give|show)\s+(?P<what>{IT}|the\s+[\w'’ -]+?\s+one)"
    r"(?:\s+(?:on|over|along|across))?\s+(?:on\s+)?(?:to|with)\s+(?P<whom>[^,.;!?]+)",
    re.IGNORECASE,
)
_PASSES_TO = re.compile(
    rf"(?:send|forward|pass|mail|email|give"
    rf"|show)\s+(?P<whom>[\w' -]+?)\s+(?P<what>{IT})(?:\s+too)?$",
    re.IGNORECASE,
)
_LETS_HAVE = re.compile(
    rf"let\s+(?P<whom>[^,.;!?]+?)\s+(?:have|see|read)\s+(?P<what>{IT})(?:\s+(?:too|as well|also))*"
    rf"|(?P<this>that|this|it)\s+(?:goes|should go|can go|is)\s+(?:to"
    rf"|for)\s+(?!the\b)(?P<to>[^,.;!?]+)",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\b(?:his|hers|theirs)\b(?=\s+(?:to|on|over|with)\b)", re.IGNORECASE)
_PLANNED = ("calendar", "reminders")
_BY_KIND = {
    "reminder": "reminders",
    "task": "reminders",
    "event": "calendar",
    "appointment": "calendar",
    "meeting": "calendar",
    "note": "notes",
    "mail": "mail",
    "email": "mail",
}
_REMOVED_BY = {
    "calendar": ("cancel_event", "title"),
    "reminders": ("delete_reminder", "title"),
    "notes": ("delete_note", "title"),
    "mail": ("delete_mail", "subject"),
}
_MOVED_BY = {
    "calendar": ("reschedule_event", "new_start"),
    "reminders": ("snooze_reminder", "until"),
}


def retimed(scene: Scene) -> Reading | None:
    """Another time: "shift that to Tuesday", "the laundry at nine instead"."""
    heard = scene.core
    if _MOVE.match(heard):
        heard = heard.rstrip(" ?")  # "could we move it to four?"
    core, _, reason = heard.partition(", ")
    first = _MOVE.match(core)
    alone = first and names_time(core) and not apart_from_time(core[first.end() :])
    if alone and re.search(r"\b(?:i|i'm|we|we're|he|she|they)\b", reason, re.I):
        reason = ""  # "make it six, at five I am still at work"
    if names_time(reason) or not names_time(core):  # "put it at five, I overslept"
        core = heard
    excused = _REASON.fullmatch(core)  # "that's too early for me. Make it nine"
    if excused and not requests_in(excused["why"]):
        core = excused["order"]
    named = _NAMED_FIRST.fullmatch(core)  # "the rowing one, push it to seven"
    if named:
        core = f"{named['move']} {named['what']}{named['when']}"
    move = _MOVE.match(core)
    if not move and requests_in(core):
        return None
    if not move and not names_clock(core) and _OF_THAT_DAY.search(core):
        return None
    if _OTHER_ORDER.match(core) or _NEW_OR_ASKED.search(core):
        return None
    if not names_time(core) and not _vaguely(core):
        return None
    placed = scene.placed(core)
    rest = core[move.end() :] if move else core
    if placed and move and not apart_from_time(rest.replace(placed[1][0], " ")):
        item: Item | None = placed[0]
        rest = rest.replace(placed[1][0], " ")
    else:
        leftover = apart_from_time(rest)
        near = scene.state.items(scene.view, *_PLANNED)
        if leftover:
            points_at_one = bool(re.search(r"\bones?\b", core)) or not move
            least = 0.5 if move or len(leftover) < 3 else 0.8
            item = best_named(leftover, near, least)
            moved = scene.last.plan.api in ("reschedule_event", "snooze_reminder")
            if item is None and (move or moved or scene.last.app == "reminders"):
                item = best_named(leftover, scene.own(*_PLANNED), least)
            if item is None and not (points_at_one and scene.said.no):
                return None
        else:
            aim = scene.said.no or move or re.search(r"\b(?:instead|rather|better)\b", core, re.I)
            item = near[0] if near and (aim or scene.last.app in _PLANNED) else None
            if scene.last.plan.api in ("list_events", "google_weather") and not aim:
                return None
    if item is None or item.app not in _MOVED_BY or scene.last.app == "google":
        return None
    api, name = _MOVED_BY[item.app]
    rest = re.sub(r"\b(?:the|that|this)\s+(?:\w+\s+)?ones?\b", " ", rest)
    rest = re.sub(r"\b(?:works|suits|is|would be)(?: (?:me|us|better|best|good|fine))*$", " ", rest)
    if item.app == "calendar" and _HOW_LONG.fullmatch(core.rstrip(".! ")):
        return Reading(scene.said.text, say=_NO_END)
    moment = moment_for(rest, scene.at, item)
    if moment is None:
        return Reading(scene.said.text, ask=f"What time shall “{title_of(item)}” be?")
    return scene.call(api, item, title=title_of(item), **{name: format_local_time(moment)})


_HOW_LONG = re.compile(
    r"make (?:it|that) (?:for |last )?(?:an?|one|two|three|four|\d+|half an)(?: and a half)? "
    r"(?:hours?|minutes?|mins?)(?: and a half)?(?: long)?"
    r"|(?:make (?:it|that) )?(?:till|until) [^,]+"
    r"|for (?:an?|one|two|three|four|\d+|half an)(?: and a half)? (?:hours?|minutes?|mins?)"
    r"(?: and a half)?",
    re.I,
)
_NO_END = "I can change when it starts, but not how long it lasts."
_OF_THAT_DAY = re.compile(r"\b(?:that|the same) (?:day|morning|afternoon|evening|night)$", re.I)


def _vaguely(core: str) -> bool:
    return bool(re.fullmatch(r"(?:i meant |a bit |make it )*(?:earlier|later)", core, re.I))


def removed(scene: Scene) -> Reading | None:
    """ "scrap that one", "delete that reminder", "mark it done", "forget it, it was a joke"."""
    core = scene.core
    if listed := _said_done(scene):
        return listed
    ticks = _TICKS.search(core)
    removes = _REMOVES.search(core)
    if not ticks and not removes:
        return None
    begin = (ticks or removes).start()  # type: ignore[union-attr]
    before = core[:begin]
    if re.search(r"(?:n't|\bnot|\bnever)\s+$", before, re.I) or REQUEST.match(before):
        return None  # "flag his mail so that I don't lose it"
    found = _OBJECT.search(core, begin)
    if found is None or len(core[begin:].split()) > 14:
        return None
    if core[(ticks or removes).end() : found.start()].strip():  # type: ignore[union-attr]
        return None  # "cancel the tasting, it's too wet" names what is cancelled
    if re.match(r"(?:remind|tell|ask|let)\b", core, re.I) or (
        begin and re.search(r"\b(?:remind me|tell|ask) ", core[:begin], re.I)
    ):
        return None
    item = _meant(scene, found, ticks is not None, begin)
    if item is None:
        return None
    made = [turn.items[0] for turn in scene.state.turns if turn.made]
    if removes and re.match(r"(?:leave|forget)\b", removes[0], re.I) and item.id not in made:
        return None
    if ticks and item.app == "reminders":
        return scene.call("complete_reminder", item, title=title_of(item))
    if ticks or item.app not in _REMOVED_BY:
        return None
    api, name = _REMOVED_BY[item.app]
    return scene.call(api, item, **{name: title_of(item)})


_PLACE_DONE = re.compile(
    r"(?:the )?(?:first|second|third|fourth|last)(?: one)?(?:'s| is| was| has been)?(?: already)? "
    r"(?:done|finished|sorted|bought|paid|sent)(?: (?:already|too|now))?",
    re.IGNORECASE,
)
_FLAGS = re.compile(
    rf"(?:flag|star) {IT}(?: (?:too|please|for me|for later))*(?:,.*)?"
    rf"|mark {IT} (?:as )?(?:important|flagged|for later)",
    re.IGNORECASE,
)


def _said_done(scene: Scene) -> Reading | None:
    """ "the second one is done", "flag it"."""
    core = scene.core.rstrip(".! ")
    if _PLACE_DONE.fullmatch(core):
        placed = scene.placed(core.replace("'s ", " one "))
        if placed and placed[0].app == "reminders":
            return scene.call("complete_reminder", placed[0], title=title_of(placed[0]))
    mails = scene.state.items(scene.view, "mail")
    if _FLAGS.fullmatch(core) and mails and scene.last.app == "mail":
        return scene.call("flag_mail", mails[0], subject=title_of(mails[0]))
    return None


def _meant(scene: Scene, found: re.Match[str], ticks: bool, begin: int) -> Item | None:
    """The item that is pointed at: by an ordinal, its name, the words beside it, or as the last."""
    apps = ("reminders",) if ticks else tuple(_REMOVED_BY)
    kind = (found["kind"] or "").casefold()
    if kind in _BY_KIND:
        apps = (_BY_KIND[kind],)
    placed = scene.placed(scene.core[begin:])
    if placed:
        return placed[0]
    near = scene.state.items(scene.view, *apps)
    if found["named"]:
        if scene.last.app in apps:
            apps = (scene.last.app,)
        return best_named(telling_words(found["named"]), scene.own(*apps), 0.4)
    around = telling_words(scene.core[:begin])
    if re.search(r"\bcalendar\b", scene.core, re.I):
        apps = ("calendar",)
        near = scene.state.items(scene.view, *apps)
    if kind:
        people = " ".join(scene.state.people(scene.view, scene.person)[:1])
        words = [*around, *telling_words(people)]
        return best_named(words, scene.own(*apps), 0.3) or next(iter(near), None)
    if around and not ticks and (named := best_named(around, scene.own(*apps), 0.6)):
        return named
    if ticks and around:
        return best_named(around, scene.own(*apps), 0.5) or next(iter(near), None)
    if scene.last.app in apps and scene.last.items:  # not something of long before
        near = scene.state.items(scene.view, scene.last.app)
    acted_on = {one for turn in scene.state.turns for one in turn.items}
    return next((one for one in near if one.id in acted_on), next(iter(near), None))


def passed_on(scene: Scene) -> Reading | None:
    """ "pass it on to Ida", "forward this to my boss": notes and mails."""
    core = scene.core.rstrip(".! ")
    found = _LETS_HAVE.fullmatch(core)
    core = re.sub(r"^(share|forward) (with|to) ", r"\1 it \2 ", core, flags=re.I)
    for part in (core, re.split(r"[,;:!]\s+", core)[-1]):  # "perfect, forward it to Ida"
        part = _THEIRS.sub("it", part)
        found = found or _PASSES.match(part) or _PASSES_TO.match(part)
    if found is None:
        return None
    near = scene.state.items(scene.view, "notes", "mail")
    what, whom = found["what"], found["whom"]
    if found.re is _LETS_HAVE and whom is None:
        what, whom = found["this"], found["to"]
    if what.casefold().endswith(" one"):
        app = scene.last.app if scene.last.app in ("notes", "mail") else ""
        item = best_named(telling_words(what), scene.own(*([app] if app else ["notes", "mail"])))
    else:
        item = next(iter(near), None)
    person = _whom(scene, re.sub(r"\s+(?:then|now|please|so)$", "", whom, flags=re.I))
    if item is None or person is None:
        return None
    if item.app == "notes":
        return scene.call("share_note", item, title=title_of(item), contact=person)
    return scene.call("forward_mail", item, subject=title_of(item), to=person)


def _whom(scene: Scene, mention: str) -> str | None:
    if mention.casefold().split()[0] in ("him", "her", "them"):
        return next(iter(scene.state.people(scene.view, scene.person)), None)
    found = mentioned(re.sub(r"\s+(?:too|as well|so)$", "", mention), scene.person.contacts)
    return found[0].name if len(found) == 1 else None
