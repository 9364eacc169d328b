"""Texts of others take time in proportion to their length, whatever they repeat."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import process_time

import pytest

from ctrag.agents.calls import call_grammar, plausible, spans
from ctrag.agents.prompt.fragments import cut_text
from ctrag.agents.prompt.front_matter import split_front
from ctrag.agents.prompt.imports import with_imports
from ctrag.agents.prompt.scopes import named_files
from ctrag.agents.search.names import named_runs
from ctrag.agents.search.parts import parts_of
from ctrag.agents.server.orders import gives_orders
from ctrag.agents.server.untrusted import cleaned
from ctrag.agents.session.sent_values import _FENCE
from ctrag.assistant.apps import lookup
from ctrag.assistant.conversation.remarks import order_of
from ctrag.assistant.conversation.small_talk import agrees, drops_all, leaves_it, small_talk
from ctrag.assistant.conversation.split import split
from ctrag.assistant.conversation.spoken_to import apart_by_contacts
from ctrag.assistant.conversation.undoing import turns_to_undo
from ctrag.assistant.planning import candidate_values, mentions
from ctrag.assistant.planning.addressee import as_asked
from ctrag.assistant.planning.genres import said_genre
from ctrag.assistant.planning.in_vain import unasked
from ctrag.assistant.planning.limits import does_half
from ctrag.assistant.planning.messages import without_frame
from ctrag.assistant.planning.note_edit import added_text, edited_note
from ctrag.assistant.planning.other_times import without_other_times
from ctrag.assistant.planning.plan import Plan, PlanSyntaxError
from ctrag.assistant.planning.searches import as_searched, named_whole
from ctrag.assistant.planning.titles import called
from ctrag.assistant.server.side_tasks import side_task
from ctrag.text.courtesy import without_courtesy
from ctrag.text.dates.temporal_expressions import (
    find_expressions,
    offered_beginnings,
    offered_dates,
    offered_datetimes,
)
from ctrag.text.dates.written_times import as_said
from ctrag.text.false_starts import as_meant
from ctrag.text.phone_numbers import dictated_numbers, written_numbers
from ctrag.text.terminal import message, visible
from ctrag.text.words import terms
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Contact

NOW = datetime(2024, 2, 29, 12)
REPEATED = [
    *("a", "1", "1 ", "a ", "  ", "\n", "\t \n", '"', "'", "“", "‘", " 'a", "(", "a'b ", "A'A "),
    *("a-", "a.", "a@", "a:", "a_", "/", "Aa Bb ", "1-1 ", "+1 ", "1,000,", "<", "[", 'x="', "f("),
    *("half past ", "monday ", "in two ", "and ", "then, ", "saying ", "api key ", "do not ", "é"),
    *("no ", "please ", "do it ", "thanks ", "oh no, "),
    *("remind ", "on mondays ", "call ", "every ", "sorry ", "at five no ", "would you "),
    *("\x1b[2J", "\u202e", "ignore all ", "http://", "@a.b ", "x `` "),
]
"""What texts are made of, again and again, between a beginning and an end that do not fit."""


OMAR = [Contact("Omar Salcedo", "friend")]


def _tool(api: str) -> Tool:
    found = Toolbox.packaged().get(api)
    assert found is not None
    return found


def parsed(text: str) -> None:
    try:
        Plan.parse(text)
    except PlanSyntaxError:
        return


PARSERS: dict[str, Callable[[str], object]] = {
    "time phrases": lambda text: find_expressions(text, NOW),
    "datetimes": lambda text: offered_datetimes(text, NOW, [NOW] * 20),
    "dates": lambda text: offered_dates(text, NOW, [NOW] * 20),
    "beginnings": lambda text: offered_beginnings(text, NOW),
    "typed times": lambda text: as_said(text, NOW),
    "plan": parsed,
    "mentions": lambda text: mentions.mentioned(text[:1000], [Contact("Omar Salcedo", "friend")]),
    "runs of words": spans.spans,
    "quotations": spans.quoted,
    "named": lambda text: plausible.named_values("api_key", text),
    "said": plausible.texts_in,
    "numbers": call_grammar.numbers_in,
    "copies": call_grammar.copyable,
    "addresses of parts": candidate_values._parts,
    "phones": written_numbers,
    "names": candidate_values._names,
    "content": candidate_values._content,
    "digits": lambda text: list(dictated_numbers(text)),
    "mail address": lookup.mail_address,
    "number": lookup.is_number,
    "needs of a request": parts_of,
    "tools named": lambda text: named_runs.__wrapped__(text),
    "terms": terms,
    "cleaned": lambda text: cleaned(text, 1000, []),
    "orders": gives_orders,
    "fences": lambda text: _FENCE.sub("", text),
    "terminal": visible,
    "message": message,
    "as meant": as_meant,
    "courtesy": without_courtesy,
    "courtesy's end": lambda text: without_courtesy(f"could you move it, {text}"),
    "as asked": as_asked,
    "half": lambda text: (does_half(text), does_half(f"remind {text}")),
    "question or order": lambda text: unasked(
        Plan("send_mail", {"to": "Omar"}), _tool("send_mail"), f"did {text}", OMAR
    ),
    "off a list": lambda text: unasked(
        Plan("delete_note", {"title": "List"}), _tool("delete_note"), f"take {text}", OMAR
    ),
    "message's frame": lambda text: without_frame(text, text, "", OMAR),
    "added to": lambda text: added_text(f"add {text} to the list", {"title": "List", "text": text}),
    "changed in a note": lambda text: (
        edited_note("milk\neggs", f"change {text}"),
        edited_note("milk\neggs", f"take {text}"),
        edited_note("milk: 1\neggs", f"note {text}"),
    ),
    "note": lambda text: (
        edited_note(text, "change milk to oat milk"),
        edited_note(text, "take the milk off"),
        edited_note(text, "milk is 2 now"),
    ),
    "added": lambda text: added_text(f"list add {text}", {"title": "List", "text": text}),
    "note's title": lambda text: called(f"new note {text}: it"),
    "note's parts": lambda text: (called(f"note title {text}"), called(f'note "{text}')),
    "search": lambda text: as_searched(_tool("google_search"), {"query": text}, text),
    "weather's place": lambda text: named_whole(
        _tool("google_weather"), {"location": "Graz"}, f"weather {text}"
    ),
    "translated": lambda text: as_searched(
        _tool("google_translate"), {"text": text, "target_language": "Dutch"}, text
    ),
    "genre": said_genre,
    "name": lambda text: mentions.mentioned("omar", [Contact(text, "friend")]),
    "times of other things": lambda text: without_other_times(f"at six {text}", "at six", NOW),
    "times of a task": lambda text: without_other_times(f"at six to {text}", "at six", NOW),
    "split": split,
    "whom it is for": lambda text: apart_by_contacts([f"tell omar {text}", text], OMAR),
    "order": lambda text: order_of(f"tell omar {text}"[:600]),
    "files": named_files,
    "imports": lambda text: with_imports(f"@a.md\n{text}\n- @{text}", Path("a"), lambda _: None),
    "sections": lambda text: cut_text(f"# A\n\n{text}\n---\n", "d", len),
    "front matter": lambda text: split_front(
        f"---\ndescription: a: b\nglobs: [{text}\n- *{text}\n---\n", own_meaning=True, strict=False
    ),
    "small talk": lambda text: (small_talk(text), small_talk(f"ok thanks {text}")),
    "yes": lambda text: (agrees(text), agrees(f"yes {text}")),
    "no": lambda text: (leaves_it(f"no {text}"), drops_all(f"no {text}")),
    "side task": lambda text: side_task((text,), f"generate {text} the chat {text}"),
    "undo": lambda text: (turns_to_undo(f"undo that {text}"), turns_to_undo(f"oh {text}")),
} | {
    f"like a {kind}": (lambda text, kind=kind: plausible.plausible(kind, "api_key", text))
    for kind in ("email", "phone", "url", "id")
}


def seconds(parse: Callable[[str], object], text: str) -> float:
    began = process_time()
    parse(text)
    return process_time() - began


@pytest.mark.parametrize("parser", PARSERS)
def test_ten_times_the_text_takes_ten_times_the_time(parser: str) -> None:
    parse = PARSERS[parser]
    parse("to begin with")  # what is loaded or made at the first call
    slow = {}
    for part in REPEATED:
        short, long = (f"x {part * (size // len(part))} !" for size in (1_000, 10_000))
        after = seconds(parse, long)
        if after > 0.1:  # a quadratic parser takes a second, and a hundred times the short text
            before, after = seconds(parse, short), min(after, seconds(parse, long))
            if after > 30 * max(before, 0.004):
                slow[part] = (before, after)
    assert slow == {}
