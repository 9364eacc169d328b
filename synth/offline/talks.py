"""Several calls in one breath, and dialogues in which a later turn leans on an earlier one."""

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from stores.people.items import LabelledPlan
from synth.offline.asking import Asking
from synth.offline.fresh import fresh
from synth.offline.plain import plain
from synth.offline.plain_orders import NOWHERE
from synth.provider import LabelledRequest, Talk

_JOINS = (
    "{0} and {1}", "{0}, and {1}", "{0}, then {1}", "{0}. {1}", "{0}, and then {1}",
    "{0} and also {1}", "first {0}, then {1}", "{0}; {1}", "two things: {0}, and {1}",
    "{0}, oh and {1}",
)  # fmt: skip
_ORDINARY = frozenset(
    "A The My Add Play Put Call Move Remind Note Ask Tell Send Open Look Book What When Where "
    "Who How Is Are Do Can Will Any Show Read Find Write Which Order Buy Cancel Price Pay Get "
    "Bring No".split()
)
_UNJOINABLE = {"skip_song", "pause_music", "get_current_song", "read_unread_mail"}
_LATER = (
    "{rel} [at |]{said}[ instead|]", "make it {said}", "no, {said}[ is better|]", "better {said}",
    "actually {rel} {said}", "[hmm|ugh|oh no], make that {said}", "{said} would be better",
    "sorry, I meant {said}", "[change|move] it to {said}", "[can we|let's] say {said}",
)  # fmt: skip
_AFTER_EVENT = {
    "cancel_event": ("[cancel|scrap|drop] it", "[take|get] it out[ of there|]", "that's off",
                     "[I can't go|won't make it], cancel it", "cancel that one[, please|]"),
    "google_directions": ("[and |]how do I get there", "[and |]what's the way[ there|]",
                          "[route|directions][, please|]", "how far is that from here",
                          "ok, directions there[ please|]"),
    "notify_attendees": ("tell [them|everyone] [I'm|I'll be] [ten|five|fifteen] minutes late",
                         "let [them|everyone] know [I'm|I'll be] [ten|five|twenty] minutes late"),
}  # fmt: skip


def several(asking: Asking) -> Iterator[Talk]:
    """Two calls in one breath; endless."""
    draw = asking.draw
    names = {
        word
        for one in asking.entries
        for value in one.item.fields.values()
        if isinstance(value, str)
        for word in value.split()
        if word[:1].isupper()
    } | {word for one in asking.persona.person.contacts for word in one.name.split()}
    names -= _ORDINARY
    tells, news, asks = plain(asking, "tell"), fresh(asking), plain(asking, "ask")
    while True:
        sources = draw.choice(((tells, news), (tells, tells), (news, news), (asks, tells)))
        parts = [next(one) for one in sources]
        if any(one.labels.plan is None for one in parts):
            continue
        one, other = (part.labels.plan for part in parts)
        if (
            one is None
            or other is None
            or one.api == other.api
            or {one.api, other.api} & _UNJOINABLE
        ):
            continue
        asked = parts[0].request.asked_at
        moved = _asked_at(parts[1], asked)
        if moved is None:
            continue
        texts = [_bare(part.request.text, names) for part in parts]
        if len(" ".join(texts).split()) > 34:
            continue
        join = draw.choice(_JOINS)
        if any(_is_question(text) for text in texts):
            join = draw.choice(("{0}, and {1}", "{0}. {1}", "{0} and {1}"))
        text = join.format(*texts)
        if parts[0].request.text[:1].isupper():
            text = text[:1].upper() + text[1:]
        yield Talk(text, (parts[0], moved))


def dialogues(asking: Asking) -> Iterator[Talk]:
    """Dialogues of two or three turns; endless while there is anything to talk about."""
    draw = asking.draw
    asks, news, tells = plain(asking, "ask"), fresh(asking), plain(asking, "tell")
    for _ in range(400):
        first = next(draw.choice((asks, news, tells)))
        if first.labels.plan is None:
            continue
        turns = [first]
        turns += _following(asking, first)
        if len(turns) > 1:
            if len(turns) < 3 and draw.random() < 0.3:
                third = next(draw.choice((news, tells)))
                moved = _asked_at(third, first.request.asked_at)
                if moved is not None:
                    turns.append(moved)
            yield Talk("", tuple(turns))


def _following(asking: Asking, first: LabelledRequest) -> list[LabelledRequest]:
    """What may be said after a request, leaning on it."""
    plan = first.labels.plan
    assert plan is not None
    draw, asked = asking.draw, first.request.asked_at
    items = {one.item.id: one.item for one in asking.entries}
    relevant = [items[one] for one in first.labels.relevant or () if one in items]
    if plan.api == "create_reminder" and "due" in plan.arguments:
        due = datetime.fromisoformat(str(plan.arguments["due"]))
        new = _near(due, asked, draw)
        arguments = {"title": str(plan.arguments["title"]), "until": new.isoformat()[:16]}
        return [_turn(asking, asked, _LATER, new, "snooze_reminder", arguments, first)]
    if plan.api == "create_event":
        start = datetime.fromisoformat(str(plan.arguments["start"]))
        new = _near(start, asked, draw)
        arguments = {"title": str(plan.arguments["title"]), "new_start": new.isoformat()[:16]}
        return [_turn(asking, asked, _LATER, new, "reschedule_event", arguments, first)]
    event = relevant[0] if len(relevant) == 1 and relevant[0].app == "calendar" else None
    start_at = event.time("start") if event else None
    if event is None or start_at is None or start_at <= asked:
        return []
    title = event.text("title")
    if plan.api == "reschedule_event":
        new = _near(datetime.fromisoformat(str(plan.arguments["new_start"])), asked, draw)
        arguments = {"title": title, "new_start": new.isoformat()[:16]}
        return [_turn(asking, asked, _LATER, new, "reschedule_event", arguments, first)]
    if plan.api not in ("get_event", "list_events", "search_events"):
        return []
    options = ["cancel_event", "reschedule_event"]
    place = event.text("location")
    if not NOWHERE.search(place) and "'s" not in place:
        options.append("google_directions")
    if event.fields.get("attendees"):
        options.append("notify_attendees")
    api = draw.choice(options)
    if api == "reschedule_event":
        new = _near(start_at, asked, draw)
        arguments = {"title": title, "new_start": new.isoformat()[:16]}
        return [_turn(asking, asked, _LATER, new, api, arguments, first)]
    taken: list[str] = []
    text = asking.words.text(draw.choice(_AFTER_EVENT[api]), taken)
    arguments = {"title": title}
    if api == "google_directions":
        arguments = {"destination": place}
    if api == "notify_attendees":
        minutes = next(one for one in taken if one in ("ten", "five", "fifteen", "twenty"))
        arguments["message"] = f"I'll be {minutes} minutes late."
    return [asking.made(text, asked, api, arguments, [event], kind="write", level="tell",
                        place=first.request.place)]  # fmt: skip


def _near(moment: datetime, asked: datetime, draw: random.Random) -> datetime:
    """Another time of the same day, or of the next when the day is over."""
    for _ in range(12):
        hours = draw.choice((-3, -2, -1, 1, 1, 2, 3))
        new = (moment + timedelta(hours=hours)).replace(minute=draw.choice((0, 0, 30)))
        late = new > asked + timedelta(minutes=10) and 7 <= new.hour <= 22
        if late and new.date() == moment.date() and new != moment:
            return new
    return moment + timedelta(days=1)


def _turn(
    asking: Asking,
    asked: datetime,
    ways: tuple[str, ...],
    new: datetime,
    api: str,
    arguments: dict[str, str],
    first: LabelledRequest,
) -> LabelledRequest:
    items = {one.item.id: one.item for one in asking.entries}
    relevant = [items[one] for one in first.labels.relevant or () if one in items]
    moment = asking.moment(new)
    said = moment.written("said", asked, asking.draw)
    words = asking.words.with_values(
        {"said": said, "rel": moment.written("rel", asked, asking.draw)}, asked
    )
    old = str((first.labels.plan or LabelledPlan("", {})).arguments.get("due") or "")
    template = asking.draw.choice(ways[1:] if old[:10] == f"{new:%Y-%m-%d}" else ways)
    text = words.text(template)
    return asking.made(text, asked, api, arguments, relevant, kind="write", level="tell",
                       place=first.request.place)  # fmt: skip


def _asked_at(one: LabelledRequest, asked: datetime) -> LabelledRequest | None:
    """The request as made at another moment; None where its words or call depend on its own."""
    plan = one.labels.plan
    if plan is None:
        return None
    if plan.api == "notify_attendees" and one.request.asked_at != asked:  # one is late only then
        return None
    if any(isinstance(value, str) and value[:2] == "20" and value[4:5] == "-"
           for value in plan.arguments.values()):  # fmt: skip
        if one.request.asked_at.date() != asked.date():
            return None
        due = [datetime.fromisoformat(str(value)) for value in plan.arguments.values()
               if str(value)[:2] == "20" and len(str(value)) == 16]  # fmt: skip
        if any(moment <= asked for moment in due):
            return None
    return replace(one, request=replace(one.request, asked_at=asked))


_FILLER = re.compile(r"^(?:(?:ok|hey|um|so|right|oh and|please|can you|could you),? )+", re.I)
_TAIL = re.compile(r"(?:,? (?:please|thanks|would you))+$", re.I)
_NAMES = re.compile(r"(I|I'[a-z]+|[A-Z]{2,}\S*)$")


def _bare(text: str, names: Collection[str]) -> str:
    """The text as a part of another: no opening, no ending, a capital only in names."""
    text = _TAIL.sub("", _FILLER.sub("", text.rstrip(".?!")))
    first = text.split(" ", 1)[0].strip(",:").removesuffix("'s")
    return text if first in names or _NAMES.match(first) else text[:1].lower() + text[1:]


def _is_question(text: str) -> bool:
    return text.split(" ", 1)[0].lower() in (
        "what", "when", "where", "who", "how", "which", "is", "are", "am", "do", "does", "did",
        "any", "will", "until", "by", "may",
    )  # fmt: skip


def talks_of(asking: Asking, wanted_several: int, wanted_dialogues: int) -> list[Talk]:
    """So many requests for several calls, then so many dialogues, with spare ones."""
    return [
        *islice(several(asking), wanted_several),
        *islice(dialogues(asking), wanted_dialogues),
    ]
