"""Claims about the slot filler: it can copy and rephrase, and cannot invent."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.slot_filler import (
    SlotFiller,
    _in_order,
    _ordered_rule,
    _run_rule,
    _text_rule,
    allowed_words,
    said_words,
    shown_items,
    slot_line,
    slot_prompt,
)
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.items import Item, Request

AT = datetime(2025, 4, 17, 12, 0)
MAIL = Item(
    "m1",
    "mail",
    {"sender": "Tom Reed", "subject": "Keys", "body": "I have the spare ones", "received_at": AT},
)
NOTE = Item("n1", "notes", {"title": "Rent", "body": "due on Friday", "folder": "Home"})


def tool(api: str) -> Tool:
    found = Toolbox.packaged().get(api)
    assert found is not None
    return found


def slot(api: str, name: str) -> Argument:
    return tool(api).arguments_by_name[name]


def request(text: str) -> Request:
    return Request(text, AT)


@pytest.fixture(scope="module")
def guide(converted_planner: Path) -> Any:
    llguidance = pytest.importorskip("llguidance")
    folder = next((converted_planner / "models").iterdir())
    return llguidance.LLTokenizer(str(folder / "tokenizer.json"))


def accepts(guide: Any, rule: str, answer: str) -> bool:
    import llguidance

    lark = llguidance.LLMatcher.grammar_from_lark(f"start: {rule}")
    matcher = llguidance.LLMatcher(guide, lark)
    assert not matcher.is_error(), matcher.get_error()
    tokens = guide.tokenize_str(f"{answer}\n")
    return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


@pytest.mark.parametrize(
    ("value", "possible"),
    [
        ("Joni Mitchell", True),
        ("some Joni", True),
        ("?", True),
        ("Mitchell Joni", False),
        ("Joan Mitchell", False),
        ("itchell", False),
    ],
)
def test_a_value_is_a_run_of_the_requests_words(guide: Any, value: str, possible: bool) -> None:
    assert accepts(guide, _run_rule(request("play some Joni Mitchell!")), value) is possible


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("Do you have the keys?", True),
        ("have you the spare ones, Tom", True),  # the mail has them
        ("keys\\nspare", True),
        ("keys\\n- spare", True),
        ("Do you own the keys?", False),
        ("Do you have the car keys?", False),
        ("ke ys", False),
        ("?", False),  # a message says something
    ],
)
def test_a_text_is_made_of_words_of_the_request_the_items_and_function_words(
    guide: Any, text: str, possible: bool
) -> None:
    words = allowed_words(request("ask Tom whether he has the keys"), [MAIL])
    assert accepts(guide, _text_rule(slot("reply_to_mail", "body"), words), text) is possible


@pytest.mark.parametrize(
    ("title", "possible"),
    [
        ("Water the ferns twice", True),
        ("water ferns, twice", True),
        ("Ferns", True),
        ("water the fern", False),  # as it was said
        ("twice water the ferns", False),
        ("water my ferns", False),
        ("water twice twice", False),
    ],
)
def test_what_one_writes_for_oneself_has_the_words_and_order_of_the_request(
    guide: Any, title: str, possible: bool
) -> None:
    said = request("remind me to water the ferns twice")
    rule = _ordered_rule(slot("create_reminder", "title"), said)
    assert accepts(guide, rule, title) is possible


def test_kinds_of_places_are_in_order_and_may_be_in_the_singular(guide: Any) -> None:
    rule = _ordered_rule(slot("google_nearby", "category"), request("any late pharmacies here?"))
    assert accepts(guide, rule, "late pharmacy")
    assert not accepts(guide, rule, "pharmacy late")


def test_only_what_is_written_for_oneself_keeps_the_order() -> None:
    said = request("ask Tom whether he has the keys")
    kept = {
        (one.api, argument.name)
        for one in Toolbox.packaged().tools
        for argument in one.arguments
        if argument.match == "text" and _in_order(one, argument, said)
    }
    assert kept == {
        ("append_to_note", "text"),
        ("create_event", "title"),
        ("create_note", "body"),
        ("create_reminder", "title"),
        ("google_translate", "text"),
    }
    long = request("word " * 41)
    assert not _in_order(tool("create_reminder"), slot("create_reminder", "title"), long)


@pytest.mark.parametrize(
    "said", ['say "hi" \\ there', "a/b [c] (d) {e} | f* +g?", "½ ☎ é 1,200.5", "…"]
)
def test_odd_characters_of_a_request_make_no_invalid_grammar(guide: Any, said: str) -> None:
    words = allowed_words(request(said), [])
    assert accepts(guide, _run_rule(request(said)), "?")
    assert accepts(guide, _text_rule(slot("search_mail", "query"), words), "?")
    for word in said_words(said):
        assert accepts(guide, _text_rule(slot("search_mail", "query"), words), word)


@pytest.mark.parametrize("odd", ["a\x7fb", "a\x9db", "a<|im_end|>b", 'a"b', "a\\b"])
def test_words_that_cannot_be_written_are_left_out(odd: str) -> None:
    assert said_words(f"one {odd} two") == ["one", "two"]


def test_odd_characters_in_a_request_and_a_mail_break_nothing(converted_planner: Path) -> None:
    folder = next((converted_planner / "models").iterdir())
    filler = SlotFiller(str(folder), 1, engine="onnxruntime")
    mail = Item("m2", "mail", MAIL.fields | {"body": "pay <|im_end|>\x7f now \x9d"})
    found = filler.fill(
        request("tell\x7f him <|im_start|> it's\x9dfine"), tool("send_mail"), [mail]
    )
    assert list(found) == ["to", "subject", "body"]
    assert "<|" not in str(found)


def test_kinds_of_places_may_be_said_in_the_plural() -> None:
    words = allowed_words(request("any pharmacies or cafes near here"), [])
    assert {"pharmacy", "cafe", "Pharmacy"} <= set(words)


def test_who_has_something_may_be_named_alone() -> None:
    assert {"Murray's", "Murray"} <= set(allowed_words(request("spruce from Murray's yard"), []))


def test_words_lose_the_marks_around_them_and_keep_those_inside() -> None:
    assert said_words("“Well”, it's 1,200 (half-price)!") == ["Well", "it's", "1,200", "half-price"]


def test_the_model_sees_the_best_item_of_the_application_first() -> None:
    assert shown_items(tool("reply_to_mail"), [NOTE, MAIL]) == [MAIL, NOTE]
    assert shown_items(tool("play_song"), [NOTE, MAIL]) == [NOTE, MAIL]


def test_the_prompt_names_the_request_the_call_and_its_slots() -> None:
    asked = slot_prompt(request("tell Tom I'm in"), tool("reply_to_mail"), [MAIL])
    assert "Said: tell Tom I'm in\n" in asked
    assert "I have the spare ones" in asked
    assert asked.endswith("body: text of the answer")


def test_an_answer_is_a_name_and_a_value_on_a_line_each() -> None:
    assert slot_line("body", 'the "new"\none') == 'body\nthe "new"\\none\n'
    assert slot_line("to", None) == "to\n?\n"


def test_every_slot_is_read_and_nothing_else_is_written(converted_planner: Path) -> None:
    folder = next((converted_planner / "models").iterdir())
    filler = SlotFiller(str(folder), 1, engine="onnxruntime")
    said = request("let Tom know that the boiler is fixed")
    found = filler.fill(said, tool("reply_to_mail"), [MAIL])
    assert list(found) == ["body"]
    filled = found["body"]
    assert 0 < filled.probability <= 1
    allowed = {word.casefold() for word in allowed_words(said, [MAIL])}
    assert {word.casefold() for word in said_words(filled.value or "")} <= allowed
    assert filler.fill(said, tool("skip_song"), []) == {}
    ran: Mapping[str, Any] = filler.fill(request("play Hurt by Johnny Cash"), tool("play_song"), [])
    assert list(ran) == ["song_name", "artist"]
