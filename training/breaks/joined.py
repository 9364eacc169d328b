"""Requests of training people put into one breath, and texts with an "and" inside one value."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctrag.assistant.conversation.breaks import ends_in_time, message_form
from ctrag.assistant.conversation.orders import OWN, WRITES, last_order
from stores.people.dataset import load_dataset, load_labels

_GLUES = (
    *[" and "] * 4, *[", and "] * 4, " then ", ", then ", ". ", ". ", ", and then ", " and then ",
    " and also ", "; ", ", oh and ", ". also ", ". and ", " and after that ", ", also ", " plus ",
    ". then ", " and can you ", ", ", " and please ", ", and can you ", ", but ", ". and also ",
    " - ", ", and please ",
)  # fmt: skip
_MOST = 30
"""Words of one breath at most."""
SEVERAL = "several"
"""The kind of what somebody said for several calls."""
_NAMES = ("Anna", "Mum", "Dad", "Petra", "Joe", "Lars", "Ines", "Tom", "Maya", "Omar", "my boss",
          "my sister", "the plumber", "Dr. Lee")  # fmt: skip
_LEANING = (
    "let {them} know", "let them all know", "let everybody know", "tell {them} I'm sorry",
    "tell {them} why", "call {them}", "ring {them}", "put it in my calendar",
    "put that in the diary", "remind me of it tomorrow at nine", "remind me of that tonight",
    "tick that off", "tick it off", "mark it done", "mark it as done", "flag it", "flag that",
    "delete it", "delete that mail", "get rid of the old one", "send it to {name}",
    "send {name} that", "forward it to {name}", "share it with {name}", "read it to me",
    "read it out", "show me the way there", "how do I get there",
    "how long does it take to get there", "what's the weather there", "will it rain there",
    "cancel it", "move it to six", "push it to tomorrow", "block the number", "block them",
    "play it again", "add it to my list", "put it on the list", "reply that I'll be there",
    "answer {them} yes", "write {them} back", "text {them} that I'm on my way", "check it off",
    "call {them} back", "tell {them} about it", "tell {them} the same", "snooze it an hour",
    "make a note of it", "note it down", "remind me to call {them} at five",
    "remind me to answer it tonight", "invite {name}", "ask {them} if that's fine",
    "when does it start", "where is it", "who's coming", "open it", "stop the music",
    "skip this one", "pause it", "look up the address", "find a cafe near there",
    "drop the one on Friday", "cancel the one on Monday",
)  # fmt: skip
"""What is said after another request and leans on it."""
_SHORT = (
    "email {name}", "text {name}", "message {name}", "write to {name}", "mail {name}",
    "call {name}", "ring {name}", "answer {name}", "reply to {name}", "make it eight",
    "make that half past six", "move it to Friday", "push it to tomorrow", "cancel it",
    "cancel that one", "read it to me", "send it to {name}", "forward it to {name}",
    "tick it off", "mark it done", "delete that one", "delete it", "put it at nine instead",
    "share it with {name}", "call {name} back", "play the second one", "skip it", "flag it",
    "undo that", "open the last one",
)  # fmt: skip
"""First requests without much in them, as after other turns."""
_TASKS = (
    "remind me to {a} and {b}", "remind me at six to {a} and {b}",
    "don't let me forget to {a} and {b}", "remind me to {a} and {b} tomorrow",
    "i need a reminder to {a} and {b}", "make a note: {a} and {b}", "add {a} and {b} to my note",
    "tell {name} to {a} and {b}", "ask {name} to {a} and to {b}", "ask {name} to {a} and {b}",
    "tell {name} to {a} and then {b}", "remind me tomorrow at nine to {a} and then {b}",
    "remind me to {a}, {c} and {b}",
)  # fmt: skip
_MESSAGES = (
    "tell {name} {a} and {b}", "tell {name} that {a} and that {b}", "write {name} {a}. {b}",
    "text {name} {a}, and {b}", "let {name} know {a} and {b}", "reply to {name}: {a}, {b}",
    "email {name} that {a}, and {b}", "text {name} and say {a}",
    "message {name} and tell {them} {a}",
    "email {name} and let {them} know {a}", "write to {name} and ask if {a}",
    "ask {name} whether {a} and when {b}", "ask {name} if {a} and how {b}",
    "ask {name} if {a}, and whether {b}", "ask {name} when {a} and what {b}",
    "call {name} and ask {them} if {a}", "ring {name} and tell {them} {a}",
)  # fmt: skip
_ORDERS = re.compile(
    r"(?:call|ring|phone|tell|send|text|write|ask|mail|email|message|buy|get|bring|find|look|open"
    r"|read|check|take|pay|book|order|make|put|move|cancel|pack|print|pick|turn|give|let|reply"
    r"|answer|add|change|share|forward|set|start|drop|show|say|clear|throw)\b",
    re.I,
)
"""What a reminder or a message may go on with: nobody can tell it from a request."""
_TO_A_FRIEND = re.compile(
    r"(?:call|ring|phone|tell|send|text|bring|get|buy|let|give|take|pick|make|ask|write|mail|message"
    r"|answer|say|start|check|book|order|pack|come|go|wait)\b",
    re.I,
)
"""What a message that states something may go on with."""
_STATED = frozenset(
    "if whether when what where why how that i i'm i'll i've i'd we we're we'll we've it it's "
    "there there's the my he she they yes no thanks sorry".split()
)
_FOR_ONESELF = re.compile(r"\W*(?:remind|don't|note|make|add|jot|set|create)\b", re.I)
_LOOKS = re.compile(r"\W*(?:search|google|look|translate|how)\b", re.I)
_FILLER = re.compile(r"^(?:(?:ok|hey|um|so|right|oh and|please|can you|could you),? )+", re.I)
_TAIL = re.compile(r"(?:,? (?:please|thanks|would you))+$", re.I)
_ORDINARY = frozenset(
    "A The My Add Play Put Call Move Remind Note Ask Tell Send Open Look Book What When Where Who "
    "How Is Are Do Can Will Any Show Read Find Write Which Order Buy Cancel Price Pay Get Bring No "
    "Don't Let Text Email Mail Set Make Create Schedule Delete Block Share Forward Reply Search "
    "Google Skip Pause Stop Turn Give Change Snooze Push Shift Mark Tick Check Answer".split()
)
_TASK_VALUES, _MESSAGE_VALUES = ("title",), ("body", "message")


@dataclass(frozen=True, slots=True)
class Breath:
    """What is said in one breath."""

    text: str
    person_id: str
    kind: str
    """`alone`, `tasks`, `messages`, `joined` or `several`."""
    marks: tuple[tuple[int, int], ...] = ()
    """Start and end of each break between two requests."""

    @property
    def parts(self) -> list[str]:
        """The requests."""
        begins = (0, *(end for _, end in self.marks))
        ends = (*(start for start, _ in self.marks), len(self.text))
        return [self.text[begin:end].strip() for begin, end in zip(begins, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    person_id: str


def breaths(
    plain: Sequence[Path],
    others: Sequence[Path],
    count: int,
    seed: int = 1,
    several: Sequence[Breath] = (),
) -> list[Breath]:
    """All requests alone, and some put into one breath.

    Args:
        plain: Data sets whose requests are put together, two or three of one person.
        others: Data sets whose requests are given alone, too.
        count: Tries to put requests together; a third as many texts have two tasks or messages.
        seed: Decides what is put together.
        several: What people said for several calls: given as it is, and half of `count` tries put
            a later request of it behind another one of the same person.
    """
    draw = random.Random(seed)
    asked: dict[str, list[_Asked]] = defaultdict(list)
    values: dict[str, list[_Asked]] = {"tasks": [], "messages": []}
    found = []
    for folder in (*plain, *others):
        labels = load_labels(folder)
        for one in load_dataset(folder).requests:
            plan = labels[one.query_id].plan
            if plan is None:
                continue
            found.append(Breath(one.request.text, one.person_id, "alone"))
            if folder not in plain:
                continue
            asked[one.person_id].append(_Asked(one.request.text, one.person_id))
            for name, value in plan.arguments.items():
                if name in _MESSAGE_VALUES:
                    values["messages"].append(_Asked(str(value), one.person_id))
                elif name in _TASK_VALUES and plan.api == "create_reminder":
                    values["tasks"].append(_Asked(str(value), one.person_id))
    people = sorted(asked)
    for _ in range(count // 6):
        found.append(_filled(draw, values["tasks"], _TASKS, "tasks"))
        found.append(_filled(draw, values["messages"], _MESSAGES, "messages"))
    for _ in range(count):
        found += _joined(draw, asked[draw.choice(people)])
    found += several
    for _ in range(count // 2 if several else 0):
        found += _continued(draw, draw.choice(several), asked)
    return found


def _filled(
    draw: random.Random, values: Sequence[_Asked], ways: Sequence[str], kind: str
) -> Breath:
    """One request whose text goes on after an "and"."""
    first, *others = draw.sample(values, 3)
    said = [_small(one.text) for one in (first, *others)]
    text = draw.choice(ways).format(
        a=said[0], b=said[1], c=said[2], name=draw.choice(_NAMES), them=draw.choice(("him", "her"))
    )
    return Breath(text, first.person_id, kind)


def _joined(draw: random.Random, asked: Sequence[_Asked]) -> Iterator[Breath]:
    """Requests of one person in one breath; nothing where they cannot be told apart."""
    if len(asked) < 3:
        return
    first, second, third = (_bare(one.text) for one in draw.sample(asked, 3))
    if draw.random() < 0.15:
        first = draw.choice(_SHORT).format(name=draw.choice(_NAMES))
    if draw.random() < 0.3:
        second = draw.choice(_LEANING).format(
            them=draw.choice(("him", "her", "them")), name=draw.choice(_NAMES)
        )
    one = _put_together(draw, Breath(first, asked[0].person_id, "joined"), second)
    if one is not None and draw.random() < 0.12:
        one = _put_together(draw, one, third) or one
    if one is not None and len(one.text.split()) <= _MOST:
        yield one


def _continued(
    draw: random.Random, said: Breath, asked: Mapping[str, Sequence[_Asked]]
) -> Iterator[Breath]:
    """A later request of a breath behind another one; nothing where they cannot be told apart."""
    first, *later = said.parts
    others = [one.text for one in asked.get(said.person_id, ())]
    if others and draw.random() < 0.7:
        first = draw.choice(others)
    before = Breath(_bare(first), said.person_id, "joined")
    one = _put_together(draw, before, _bare(draw.choice(later)))
    if one is not None and len(one.text.split()) <= _MOST:
        yield one


def _put_together(draw: random.Random, before: Breath, after: str) -> Breath | None:
    glue = draw.choice(_GLUES)
    if glue.startswith(".") and draw.random() < 0.2:
        after = after[:1].upper() + after[1:]
    begin = before.marks[-1][1] if before.marks else 0
    writes = bool(WRITES.match(last_order(before.text[begin:])))
    if glue == " and " and writes and _may_go_on(before.text[begin:], after):
        return None
    if glue == ", " and writes and not OWN.match(after) and draw.random() < 0.7:
        return None
    mark = (len(before.text), len(before.text) + len(glue))
    return replace(before, text=before.text + glue + after, marks=(*before.marks, mark))


def _may_go_on(before: str, after: str) -> bool:
    """Whether nobody can tell what comes after from the text of what comes before."""
    order = last_order(before)
    form = message_form(order)
    if ends_in_time(before) or form in ("contained", "bare") or _LOOKS.match(order):
        return False
    if form in _STATED and not _FOR_ONESELF.match(order):
        return bool(_TO_A_FRIEND.match(after))
    return bool(_ORDERS.match(after))


def _bare(text: str) -> str:
    """The request as a part of another text: no opening, no ending, a capital only in names."""
    text = _TAIL.sub("", _FILLER.sub("", text.rstrip(".?!")))
    first = text.split(" ", 1)[0].strip(",:").removesuffix("'s")
    return text[:1].lower() + text[1:] if first in _ORDINARY else text


def _small(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
