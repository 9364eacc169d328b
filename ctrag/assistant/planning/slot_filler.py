"""What a request itself says about the arguments of a tool: a small language model fills the slots.

Whether a value comes from an item or from what was said is decided elsewhere; here only the request
is read. The model cannot invent: a value is a run of the request's words, a text is made of words
of the request and of the items shown, and of pronouns, auxiliaries and articles, because "ask Tom
whether he has the keys" becomes "Do you have the keys?".
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ctrag.assistant.api_choice.retrieve import purpose
from ctrag.assistant.context import item_text
from ctrag.assistant.context.item_line import item_line, one_line
from ctrag.assistant.planning.addressee import as_asked, as_possessed
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.slots import OWNED, slots_of
from ctrag.models import packages
from ctrag.models.chat_markup import closing, opening
from ctrag.models.language_model import LanguageModel
from ctrag.models.lm_engine import EngineName
from ctrag.models.lora import load_card
from ctrag.text.false_starts import as_meant
from ctrag.text.lark import literal
from ctrag.toolbox import Argument, Tool
from stores.people.items import Item, Request
from stores.people.local_time import format_local_time

NOT_SAID = "?"
"""How the model answers when the request does not say it."""
ITEMS = 2
"""Items that are shown at most."""
ITEM_WIDTH, ANSWERED_WIDTH = 90, 260
"""Characters of an item's line at most, and of the item that a text is written to or into."""
SYSTEM = "Fill in what is said."
WHOLE = "turns_said_whole"
"""The figure on a card that says how many turns of conversations an adapter learned to say."""
_LONGEST_REQUEST = 600
_EDGES = "\"“”„«»()[]{}<>*_`,.;:!?…'‘’"
_ABBREVIATED = re.compile(r"(?:[^\W\d_]\.){2,5}")
"""Words whose last point is part of them: "U.K."."""
_UNWRITABLE = re.compile(r'["\\]|<\||[\x00-\x1f\x7f-\x9f\ud800-\udfff]')
"""Words with quotes, chat markers or control characters are left out."""
_MARK = "[,.;:!?]?"
_BETWEEN = r"(( |\\n)- | |\\n)"
_MOST_IN_ORDER = 40
"""Words of a request whose order is kept: the rule grows with their square."""
_SEARCHED = frozenset(["to"])
"""Words of a search that nobody said: "how do you get" looks for "how to get"."""
_POLITE = frozenset(["please", "pls", "thanks"])
"""Words that are said to the assistant: nobody searches for them."""
FUNCTION_WORDS = (
    "a an the this that these those it its it's there here and or but so if that's "
    "I I'm I'll I've I'd me my mine myself you you're you'll you've you'd your yours "
    "he he's he'll his him she she's she'll her hers we we're we'll we've our us they they're "
    "they'll their them is isn't are aren't was wasn't were weren't be been being am do does "
    "doesn't don't did didn't have haven't has hasn't had can can't cannot could couldn't will "
    "won't would wouldn't shall should shouldn't may might must not no yes to of for from in on "
    "at by with about as than then when where what which who how why let let's please until going"
).split()
_FUNCTIONAL = frozenset(word.casefold() for word in FUNCTION_WORDS)


def shown_items(tool: Tool, items: Sequence[Item]) -> list[Item]:
    """The items that the model sees: the best one of the tool's application, and the best one."""
    own = [item for item in items if item.app == tool.app][:1]
    return [*own, *(item for item in items if item not in own)][:ITEMS]


def slot_prompt(request: Request, tool: Tool, items: Sequence[Item]) -> str:
    """What the model is asked, without the chat's markup.

    Args:
        request: What was said, and when.
        tool: The tool that is called.
        items: What `shown_items` returns.
    """
    moment = request.asked_at
    lines = [f"Now: {moment:%A} {format_local_time(moment).replace('T', ' ')}"]
    answers = any(one.name in OWNED and one.match == "value" for one in tool.arguments)
    for item in items:
        width = ANSWERED_WIDTH if answers and item.app == tool.app else ITEM_WIDTH
        lines.append(f"Item: {item_line(item, width)}")
    lines.append(f"Said: {one_line(request.text, _LONGEST_REQUEST)}")
    lines.append(f"Call: {tool.api}: {purpose(tool)}")
    lines += [f"{slot.name}: {slot.description or slot.name}" for slot in slots_of(tool)]
    return "\n".join(lines)


def slot_line(name: str, value: str | None) -> str:
    """A slot as the model writes it: its name on a line and its value on the next.

    Line breaks are tokens of their own behind a name, so that what follows is split into tokens as
    in training, whichever way it is decoded.
    """
    said = NOT_SAID if value is None else value.replace("\n", "\\n")
    return f"{name}\n{said}\n"


class SlotFiller(LanguageModel):
    """A language model tuned by `ctrag train slots`."""

    def __init__(
        self,
        name_or_path: str = packages.INSTRUCT,
        threads: int = 2,
        adapter: Path | None = None,
        engine: EngineName | None = None,
    ) -> None:
        super().__init__(name_or_path, threads, adapter, engine, bits=8)
        self._filled_last: Request | None = None

    @cached_property
    def _opening(self) -> int:
        """Tokens with which every prompt begins."""
        return len(self.begin(opening(SYSTEM)))

    @cached_property
    def says_whole(self) -> bool:
        """Whether the adapter learned to say turns of a conversation whole, too."""
        if self.adapter is None:
            return False
        figures = load_card(self.adapter).figures.get("training", {})
        return isinstance(figures, dict) and bool(figures.get(WHOLE))

    def fill(self, request: Request, tool: Tool, items: Sequence[Item]) -> dict[str, FilledSlot]:
        """Read the request for each of the tool's slots.

        Args:
            request: What was said, and when.
            tool: The tool that is called.
            items: The retrieved items, best first.

        Returns:
            Argument → what the request says of it; without arguments that it cannot say.
        """
        slots = slots_of(tool)
        if not slots:
            return {}
        request = replace(request, text=as_meant(request.text))
        if tool.effect == "outward":
            request = replace(request, text=as_asked(request.text))
        shown = shown_items(tool, items)
        if request != self._filled_last:  # what is read does not depend on requests before
            self.forget()
            self._filled_last = request
        prompt = self.begin(opening(SYSTEM) + closing(slot_prompt(request, tool, shown)))
        said = allowed_words(request, shown)
        if tool.effect == "read":
            own = {word.casefold() for word in allowed_words(request, shown, functional=False)}
            said = [word for word in said if word.casefold() in own | _SEARCHED]
            said = [word for word in said if word.casefold() not in _POLITE]
        found: dict[str, FilledSlot] = {}
        begin = ""
        for slot in slots:
            begin += f"{slot.name}\n"
            if not is_text(slot):
                rule = _run_rule(request)
            elif _in_order(tool, slot, request):
                rule = _ordered_rule(slot, request)
            else:
                rule = _text_rule(slot, said)
            lark = f"start: {literal(begin)} {rule}"
            tokens, sure, _ = self.bound(prompt, lark, begin, self._opening, None, resume=True)
            answer = self.decode(tokens).removeprefix(begin).strip()
            found[slot.name] = FilledSlot(_read(answer), sure)
            begin += f"{answer}\n"
        if tool.effect == "outward":
            for slot in slots:
                sent = found[slot.name].value
                if is_text(slot) and sent is not None:
                    meant = as_possessed(request.text, sent)
                    if meant != request.text:
                        return self.fill(replace(request, text=meant), tool, items)
        return found


def is_text(slot: Argument) -> bool:
    """Whether a slot is written, word by word, and not copied in one piece.

    A kind of place is: "pharmacies near here" looks for a pharmacy.
    """
    return slot.match == "text" or slot.name == "category"


def said_words(text: str) -> list[str]:
    """The words of a text as they are written, without the marks around them."""
    found = (
        word.strip(_EDGES) if _ABBREVIATED.fullmatch(word) is None else word
        for word in text.split()
    )
    return [word for word in found if word and not _UNWRITABLE.search(word)]


def allowed_words(request: Request, items: Sequence[Item], functional: bool = True) -> list[str]:
    """Words that a text may be made of, without duplicates.

    Args:
        request: What was said.
        items: What is shown.
        functional: Whether pronouns, auxiliaries and articles are among them that nobody said.
    """
    said = said_words(request.text)
    words = [form for word in said for form in forms_of(word)]
    for item in items:
        words += said_words(f"{item_text.title(item)} {item_text.searched_text(item)}")
    return list(dict.fromkeys(cased([*words, *(FUNCTION_WORDS if functional else ())])))


def forms_of(word: str) -> list[str]:
    """A word, and without an ending of the plural or of whose something is."""
    found = [word]
    if word.endswith("s") and len(word) > 3:
        found.append(word[:-1])
    if word.endswith("ies") and len(word) > 4:
        found.append(f"{word[:-3]}y")
    if word.endswith(("'s", "’s")):
        found.append(word[:-2])
    return found


def cased(words: Iterable[str]) -> Iterable[str]:
    """Each word, and with a capital and a small first letter."""
    for word in words:
        yield word
        yield word[:1].upper() + word[1:]
        yield word[:1].lower() + word[1:]


def _text_rule(slot: Argument, words: Sequence[str]) -> str:
    """Words in any order, with marks between them; a note may have several lines."""
    return _required(slot, words_rule(words, between=_BETWEEN))


def words_rule(words: Sequence[str], further: str = "", between: str = " ") -> str:
    """A regular expression for texts made of these words, in any order, with marks after them.

    Args:
        words: The words.
        further: A pattern of further words.
        between: A pattern of what stands between two words.
    """
    one = "|".join([*map(_pattern, words), *([further] if further else ())])
    whose = "|".join(_pattern(word) for word in words if word.casefold() not in _FUNCTIONAL)
    word = f"(({one}){_MARK}|({whose})'s)" if whose else f"({one}){_MARK}"
    return f"{word}({between}{word})*"


def _in_order(tool: Tool, slot: Argument, request: Request) -> bool:
    """Whether a text has words of the request in their order and no others.

    What a person writes for themselves, kinds of places and what is to be translated: nothing is
    turned there as in a message to somebody. The title over a text is ("Bike shed padlock"), and
    a text that replaces another has words of that one.
    """
    if not 0 < len(said_words(request.text)) <= _MOST_IN_ORDER:
        return False
    if tool.effect == "write":
        heads = slot.name == "title" and sum(map(is_text, slots_of(tool))) > 1
        return not heads and not tool.api.startswith("update_")
    return tool.effect == "read" and slot.name in ("category", "text")


def _ordered_rule(slot: Argument, request: Request) -> str:
    """Words of the request in their order, any of them left out, with marks between them."""
    kind = slot.name == "category"  # "pharmacies" are looked for as "pharmacy"
    words = [forms_of(word) if kind else [word] for word in said_words(request.text)]
    forms = ["|".join(map(_pattern, cased(one))) for one in words]
    further = [f"({_BETWEEN}({one}){_MARK})?" for one in forms]
    starts = (f"({one}){_MARK}{''.join(further[at + 1 :])}" for at, one in enumerate(forms))
    return _required(slot, "|".join(starts))


def _required(slot: Argument, text: str) -> str:
    said = "TEXT" if slot.required else f'("{NOT_SAID}" | TEXT)'
    return f'{said} "\\n"\nTEXT: /{text}/'


def _run_rule(request: Request) -> str:
    """A run of the request's words."""
    text = " ".join(said_words(request.text))
    if not text:
        return f'"{NOT_SAID}" "\\n"'
    run = json.dumps(text, ensure_ascii=False)
    return f'("{NOT_SAID}" | RUN) "\\n"\nRUN: %regex {{ "substring_words": {run} }}'


def _pattern(word: str) -> str:
    """The word as a regular expression between slashes."""
    return re.sub(r"([!-/:-@\[-`{-~])", _escaped, word)


def _escaped(mark: re.Match[str]) -> str:
    """ASCII marks get a backslash where it means something, or nothing at all."""
    return mark[1] if mark[1] in "'\"!%,:;<=>@_`" else f"\\{mark[1]}"


def _read(answer: str) -> str | None:
    return None if answer in ("", NOT_SAID) else answer.replace("\\n", "\n")
