"""What is said in a conversation, said whole: each request in words that need nothing before them.

After "what's on tomorrow", "move the second one to four" is "move Dentist to four", and "cancel
yoga and tell Priya why" is two requests. The slot filler's model writes it, tuned by `ctrag train
slots --conversations`; it has the words of the conversation and of orders, and no others.
"""

import re
from collections.abc import Callable, Sequence

from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.context.item_line import item_line, one_line
from ctrag.assistant.conversation.coordinated import requests_of
from ctrag.assistant.conversation.plural import each_listed
from ctrag.assistant.conversation.remarks import without_remarks
from ctrag.assistant.conversation.state import State, Turn
from ctrag.assistant.planning.slot_filler import (
    FUNCTION_WORDS,
    SlotFiller,
    cased,
    forms_of,
    said_words,
    words_rule,
)
from ctrag.models.chat_markup import closing, opening
from ctrag.text.words import telling_words, words
from stores.people.items import Item, Person

SYSTEM = "Say each request whole."
ALONE = "="
"""How the model answers where the words stand by themselves."""
TURNS = 3
"""Turns before, of which the model sees what was said, done and shown."""
SHOWN = 6
"""Items of a turn that it sees at most."""
_SAID, _DONE, _LISTED, _LAST = 200, 160, 70, 120
"""Characters at most: of what was said, of a call, of one of several items, of a single one."""
_LONGEST = 400
MOST = 4
"""Requests of a turn at most."""
_ORDER_WORDS = (
    "add append open read show play call ring phone tell ask send mail email write reply answer "
    "forward share move push change put set make cancel delete remove undo remind reminder "
    "reminders event events note notes list calendar voicemail message number contact song songs "
    "album artist playlist music weather directions search look up find check tick off done mark "
    "complete snooze create start stop skip pause block flag translate another again next instead "
    "what's who's what who when where how which did is isn't are was has the a an my me i i'm it "
    "its they about to for at on in of from with and or that by before after into new all too do "
    "more other back moved cancelled know let also today tomorrow tonight morning evening monday "
    "tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december"
).split()
_BREAK = re.compile(r"[,.;:!?–—-]\s+\S|\s(?:and|then|also|plus|n|&)\s", re.IGNORECASE)
"""Where a text may hold several requests."""
_CLOCK = r"[0-9]{1,2}:[0-9]{2}"


def rewriting_prompt(text: str, state: State, view: PersonView) -> str:
    """What the model is asked, without the chat's markup.

    Args:
        text: What was said.
        state: The turns before it.
        view: The person's items now.
    """
    lines: list[str] = []
    for turn in list(state.turns)[-TURNS:]:
        lines.append(f"Said: {one_line(turn.text, _SAID)}")
        lines.append(f"Call: {one_line(str(turn.plan), _DONE)}")
        items = shown_in(turn, view)
        lines += [f"Item: {item_line(item, _width(items))}" for item in items]
    lines.append(f"Now said: {one_line(text, _LONGEST)}")
    return "\n".join(lines)


def rewritable_words(text: str, state: State, view: PersonView) -> list[str]:
    """Words that a request said whole may be made of."""
    found = said_words(text)
    for turn in list(state.turns)[-TURNS:]:
        found += said_words(one_line(turn.text, _SAID))
        for value in turn.plan.arguments.values():
            for one in value if isinstance(value, list) else [str(value)]:
                found += said_words(one_line(one, _DONE))
        items = shown_in(turn, view)
        for item in items:
            found += said_words(f"{item_text.title(item)} {item_line(item, _width(items))}")
    forms = [form for word in found for form in forms_of(word)]
    return list(dict.fromkeys(cased([*forms, *_ORDER_WORDS, *FUNCTION_WORDS])))


def shown_in(turn: Turn, view: PersonView) -> list[Item]:
    """What a turn showed that still exists, in its order."""
    return [view.items[view.row[one]] for one in turn.items if one in view.row][:SHOWN]


def _width(items: Sequence[Item]) -> int:
    return _LAST if len(items) == 1 else _LISTED


def answer_of(text: str, alone: Sequence[str]) -> str:
    """The requests as the model writes them, one a line; `ALONE` where they are the text itself."""
    if [_flat(one) for one in alone] == [_flat(text)]:
        return f"{ALONE}\n"
    return "".join(f"{_flat(one)}\n" for one in alone)


def rewritten(filler: SlotFiller, text: str, state: State, view: PersonView) -> tuple[str, ...]:
    """The requests of a turn, each said whole; the text itself where it stands by itself.

    Args:
        filler: The model, tuned for it.
        text: What was said.
        state: The turns before it; none for the first turn of a conversation.
        view: The person's items now.
    """
    prompt = filler.begin(opening(SYSTEM) + closing(rewriting_prompt(text, state, view)))
    lark = rewriting_rule(rewritable_words(text, state, view))
    tokens, _, _ = filler.bound(prompt, lark, until=None)
    lines = [one.strip() for one in filler.decode(tokens).splitlines() if one.strip()]
    return (text,) if lines in ([], [ALONE]) else tuple(lines)


def requests_of_turn(
    text: str,
    state: State,
    view: PersonView,
    person: Person,
    filler: SlotFiller | None,
    known: Callable[[Sequence[str]], bool] = lambda parts: False,
) -> list[str]:
    """The requests of a turn in order, each said whole where a model knows how; the text itself
    where it is one that stands by itself.

    Args:
        text: What was said.
        state: The turns before it.
        view: The person's items now.
        person: Who said it.
        filler: The slot filler; None where there is none.
        known: Whether what is meant by these requests is sure as they are said.
    """
    if each := each_listed(text, state, view):
        return each
    parts = requests_of(text, person, view)
    later = state.last is not None
    if filler is None or not filler.says_whole or not (later or _BREAK.search(text)):
        return parts
    if later and known(parts):
        return parts
    whole = rewritten(filler, text, state, view)
    if len(whole) > 1:
        if not all(_said_in(one, text) for one in whole):
            return parts
        apart = [part for one in whole for part in requests_of(one, person, view)]
        return without_remarks(apart)
    return requests_of(whole[0], person, view) if later and whole[0] != text else parts


def _said_in(request: str, text: str) -> bool:
    """Whether a request is more than a word, and has one of the text that tells something: what
    was asked before is not asked again, and "time and address" are no two requests."""
    return len(words(request)) > 1 and not set(telling_words(text)).isdisjoint(words(request))


def rewriting_rule(words: Sequence[str]) -> str:
    """The grammar of all answers."""
    lines = "".join(" LINE?" for _ in range(MOST - 1))
    return f'start: "{ALONE}\\n" | LINE{lines}\nLINE: /{words_rule(words, _CLOCK)}\\n/'


def _flat(text: str) -> str:
    return " ".join(text.split())
