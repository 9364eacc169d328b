"""Messages and calls to somebody in focus: "tell him …", "let them know", "ring her"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ctrag.assistant.apps.lookup import title_of
from ctrag.assistant.context import item_text
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.news import news
from ctrag.assistant.conversation.reading import Reading, Scene
from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import words
from stores.people.items import Item

TELLS = re.compile(
    r"(?P<verb>tell|ask|let|answer|reply to|reply|write(?: to)?|message|text|mail|e-?mail|remind"
    r"|warn|say sorry to|apologi[sz]e to|thank|send|inform|notify|say to|explain to)\s+"
    r"(?P<whom>him|her|them both|both of them|the (?:two|three|pair|lot) of them|them all|them"
    r"|they both|both|everyone|everybody|all"
    r"|the (?:others|participants|attendees|guests|group|team|rest)"
    r"|the (?:first|second|third|last)(?: one)?"
    r"|(?:my|our|his|her|the) (?!new\b|time\b|truth\b)[^\W\d_][\w'’-]*"
    r"|[^\W\d_][\w'’-]*(?-i: (?!I(?:\b|['’]))[A-ZÀ-Ý][\w'’-]*)*)\b(?P<what>.*)",
    re.IGNORECASE,
)
_MANY = frozenset(
    "them both everyone everybody all they others participants attendees guests group team".split()
)
_NEWS = (
    r"(?:(?:about|of)\s+)?(?:it|that|this|the (?:change|news)|the new (?:time|day|date|place|plan))"
)
_KNOW = re.compile(
    rf"^\s*(?:both\s+|all\s+)?know(?:\s+(?:so|{_NEWS}))?"
    r"(?P<sorry>,?\s+(?:with (?:my )?apologies|and (?:say sorry|apologi[sz]e)|sorry))?\s*$",
    re.I,
)
_ABOUT = re.compile(
    rf"^\s*(?:so|{_NEWS}|why|the same)?(?:\s*instead)?\s*(?:,\s*(?:he|she|they)\b.*)?$", re.I
)
_CALL = re.compile(
    r"(?:(?:call|ring|phone|dial|try|give|put (?:a |the )?call (?:through )?to"
    r"|connect me (?:with|to))\s+"
    r"(?P<whom>him|her|them|the other|the (?:first|second|third|last) one"
    r"|(?!back\b)[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)"
    r"(?:\s+(?:one|back|up|a (?:ring|call)|a call back|for me|instead|now|too|as well|also))*"
    r"|(?:call|ring|phone) (?P<back>back)"
    r"|(?:get|put) (?:me )?(?P<on>him|her|them|[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)"
    r" (?:on the (?:phone|line)|through))$",
    re.IGNORECASE,
)


def told(scene: Scene) -> Reading | None:
    """A message, or a call, to somebody in focus: "tell him …", "let them know", "ring her"."""
    call = _CALL.fullmatch(scene.core.rstrip(".! "))
    if call:
        placed = scene.placed(call["whom"]) if call["whom"] else None
        named = "" if placed is None else next(iter(item_text.people(placed[0])), "")
        whom = named or somebody(scene, call["whom"] or call["on"] or "them", "")
        return None if whom is None else _called(scene, whom)
    scene = _as_told(scene)
    same = _SAME_TO.fullmatch(scene.core.rstrip(".! "))
    if same:  # "same to Bruno"
        scene = replace(scene, said=replace(scene.said, core=f"tell {same['whom']} the same"))
    found = TELLS.search(scene.core)
    if found is None or (found["verb"].casefold() == "remind" and found["whom"] == "me"):
        return None
    if found.start() and not re.search(
        r"[.,;!]\s*(?:and |so |please )?$", scene.core[: found.start()]
    ):
        return None
    if found["verb"].casefold() == "send" and found["what"].strip():
        return None
    whom, what = _whole_mention(scene, found["whom"], found["what"])
    points = whom.casefold() in ("him", "her") or _MANY & set(words(whom))
    events = scene.state.items(scene.view, "calendar")
    placed = scene.placed(whom)
    event: Item | None = None
    if placed:
        event = placed[0] if placed[0].app == "calendar" else None
        if event is None:
            return None
    elif points and _MANY & set(words(whom)):
        event = next((one for one in events if _attendees(scene, one)), None)
    if event is None and (met := _told_together(scene, whom, what, events)):
        event, what = met
    person = None if event is not None else somebody(scene, whom, "")
    if person is None and event is None:
        return None
    if person is not None and (again := _said_again(scene, person, what)):
        return again
    message = _message(scene, found["verb"], what)
    if message is None and found.start():
        return None  # what was said before is what to write
    if message is None:
        asked = person if event is None else f"everybody of “{title_of(event)}”"
        return Reading(scene.said.text, ask=f"What shall I write to {asked}?")
    if event is None and person is not None:
        event = _with_person(scene, person)
    ids = tuple(one.id for one in scene.state.items(scene.view)[:3])
    name = person or (_attendees(scene, event)[0] if event else "")
    text = f"{message[0]} {name} {message[1]}".strip()
    if event is not None and (placed or points or _changed_last(scene, event)):
        focus = Focus(
            (event.id, *(i for i in ids if i != event.id)),
            ("notify_attendees",),
            {"title": title_of(event)},
        )
        if _known(message):
            values = {**focus.values, "message": message[1]}
            whole = Plan("notify_attendees", dict(values))
            focus = Focus(focus.items, focus.apis, values, whole)
        return Reading(text, focus)
    if not points:
        return None if message[1] == what.strip() else Reading(text, Focus(ids))
    mail = _mail_of(scene, person)
    if mail is not None:
        values = {"subject": title_of(mail)}
        answer: Plan | None = None
        if _known(message):
            values["body"] = message[1]
            answer = Plan("reply_to_mail", dict(values))
        return Reading(text, Focus((mail.id,), ("reply_to_mail",), values, answer))
    if person is not None and scene.person.contact(person) is not None:
        values = {"to": person}
        if _known(message):
            values["body"] = message[1]
        return Reading(text, Focus(ids, ("send_mail",), values))
    return Reading(text, Focus(ids))


_WHOM = r"him|her|them|everyone|(?:(?:my|our|the) )?[^\W\d_][\w'’-]*"
_A_MAIL = r"(?:(?:quick|short|little)\s+)?(?:mail|email|message|text|line|note)"
_SENDS = re.compile(
    rf"(?:(?:send|drop|shoot|write|give)\s+(?P<whom>{_WHOM})\s+(?:an?|one)\s+{_A_MAIL}"
    rf"|(?:send|make|write|do)\s+(?:an?|one)\s+{_A_MAIL}\s+to\s+(?P<to>{_WHOM}))\s*"
    r"(?:that\b|saying(?: that)?\b|(?:to|for) (?:say|advise|tell|inform)(?: (?:him|her|them))?"
    r"(?: that)?\b|,|:)\s*(?P<what>.+)",
    re.I,
)


def _as_told(scene: Scene) -> Scene:
    """ "send him a mail that …" is "tell him …"."""
    found = _SENDS.fullmatch(scene.core)
    if found is None:
        return scene
    return replace(
        scene, said=replace(scene.said, core=f"tell {found['whom'] or found['to']} {found['what']}")
    )


def _whole_mention(scene: Scene, whom: str, what: str) -> tuple[str, str]:
    """Who is named, and the rest, where a name goes on in small letters: "nurse jang"."""
    rest = what.split()
    for more in (2, 1):
        wanted = set(words(" ".join([whom, *rest[:more]])))
        if len(rest) >= more and any(
            wanted <= {*words(one.name), *words(one.relation)} for one in scene.person.contacts
        ):
            return " ".join([whom, *rest[:more]]), " " + " ".join(rest[more:])
    return whom, what


_THE_SAME = re.compile(
    r"\s*(?:know)?\s*(?:the same(?: thing)?|that|it|so)?\s*(?:too|as well|also)?\s*", re.I
)
_TEXTS = ("body", "message")


def _said_again(scene: Scene, person: str, what: str) -> Reading | None:
    """ "and tell Omar too", "tell her the same": what was written last, to somebody else."""
    last = scene.last.plan
    text = next((last.arguments[name] for name in _TEXTS if name in last.arguments), None)
    again = re.search(r"\b(?:too|as well|also|same)\b", f"{what} {scene.said.text}", re.I)
    if not isinstance(text, str) or not again or not _THE_SAME.fullmatch(what):
        return None
    if scene.person.contact(person) is None or person in scene.last.people[:1]:
        return None
    ids = tuple(one.id for one in scene.state.items(scene.view)[:3])
    mail = _mail_of(scene, person)
    if mail is not None and last.api != "notify_attendees":
        return scene.call("reply_to_mail", mail, subject=title_of(mail), body=text)
    asked = f"write to {person} {text}"
    return Reading(asked, Focus(ids, ("send_mail",), {"to": person, "body": text}))


OWN_WORDS = re.compile(
    r"(?:that\s+)?(?P<text>(?:i|i'm|i'll|i've|i'd|it|it's|it'll|we|we're|we'll|we've|there|there's"
    r"|yes|no|thanks|thank you|sorry|the|my|our|this|that's)\b.*)",
    re.IGNORECASE,
)
OTHERS = re.compile(r"\b(?:he|she|they|him|her|them|his|their|he's|she's|they're|why)\b", re.I)


def _known(message: tuple[str, str]) -> bool:
    return message[0] == "write to"


def _message(scene: Scene, verb: str, what: str) -> tuple[str, str] | None:
    """The verb and the text that goes with it; the text is said as it is to be written where the
    verb is "write to". None where nobody said what to write."""
    what = what.strip(" ,.:")
    sorry = " Sorry." if (asked := _KNOW.match(what)) and asked["sorry"] else ""
    if (verb.casefold() == "let" and _KNOW.match(what)) or (
        verb.casefold()
        in ("tell", "notify", "inform", "warn", "message", "text", "mail", "write to")
        and _ABOUT.match(what)
    ):
        latest = news(scene)
        return None if latest is None else ("write to", latest + sorry)
    if verb.casefold() == "let":
        what = re.sub(r"^(?:both |all )?know\s+", "", what, flags=re.I)
        verb = "tell"
    if verb.casefold().startswith(("say sorry", "apolog")):
        return "write to", f"Sorry {what}.".replace(" .", ".")
    own = OWN_WORDS.fullmatch(what)
    says = verb.casefold() in ("tell", "write to", "answer", "say to")
    if says and own and not OTHERS.search(own["text"]):
        text = re.sub(r"\bi\b", "I", own["text"].rstrip(" ."))
        return "write to", f"{text[:1].upper()}{text[1:]}."
    return verb, what


_SAME_TO = re.compile(r"(?:and )?(?:the )?same (?:to|for) (?P<whom>[^\W\d_][\w'’ -]*)", re.I)
_AND_MORE = re.compile(r"\s+(?:and|&|,)\s+(?P<other>[^\W\d_][\w'’-]*)\b(?P<what>.*)", re.I)


def _told_together(
    scene: Scene, whom: str, what: str, events: Sequence[Item]
) -> tuple[Item, str] | None:
    """The event in focus in which both of "tell Ruth and Niamh …" take part, and what to tell."""
    found = _AND_MORE.match(what)
    if found is None:
        return None
    names = [somebody(scene, whom, ""), somebody(scene, found["other"], "")]
    for one in events:
        if all(name in _attendees(scene, one) for name in names):
            return one, found["what"]
    return None


_HERS = frozenset(
    "mother mum mom mama sister wife daughter aunt grandmother girlfriend niece".split()
)
_HIS = frozenset("father dad papa brother husband son uncle grandfather boyfriend nephew".split())


def somebody(scene: Scene, whom: str, verb: str) -> str | None:
    """Who is meant by a pronoun or a name; None where nobody is known."""
    people = scene.state.people(scene.view, scene.person)
    if whom.casefold() in ("him", "her", "them", "both"):
        other = _HIS if whom.casefold() == "her" else _HERS if whom.casefold() == "him" else ()
        known = {one.name: set(words(one.relation)) for one in scene.person.contacts}
        fitting = [one for one in people if not known.get(one, set()).intersection(other)]
        return next(iter(fitting), None)
    found = mentioned(whom, scene.person.contacts)
    if len(found) > 1:
        near = [one for one in found if one.name in people]
        return near[0].name if near else None
    return found[0].name if found else None


def _called(scene: Scene, whom: str) -> Reading | None:
    if scene.person.contact(whom) is None:
        return None
    missed = scene.last.plan.api in ("get_missed_calls", "play_voicemail")
    logged = [
        one
        for one in scene.view.items
        if one.app == "phonecall"
        and one.text("direction") == "missed"
        and one.text("contact") == whom
    ]
    if missed and logged:
        return scene.call("return_missed_call", logged[0], contact=whom)
    return scene.call("call_contact", None, contact=whom)


def _attendees(scene: Scene, event: Item) -> list[str]:
    own = scene.person.profile.name.casefold()
    return [one for one in item_text.people(event) if one.casefold() != own]


def _changed_last(scene: Scene, event: Item) -> bool:
    last = scene.last
    return last.plan.api in ("reschedule_event",) and event.id in last.items[:1]


def _with_person(scene: Scene, person: str) -> Item | None:
    """The event in focus in which somebody takes part, who sent no mail that is in focus later."""
    for one in scene.state.items(scene.view, "calendar", "mail"):
        if one.app == "mail" and person in item_text.people(one):
            return None
        if one.app == "calendar" and person in _attendees(scene, one):
            return one
    return None


def _mail_of(scene: Scene, person: str | None) -> Item | None:
    near = scene.state.items(scene.view, "mail")
    return next((one for one in near if person in item_text.people(one)), None)
