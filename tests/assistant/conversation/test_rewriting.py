"""Claims about turns that are said whole: what the model sees, and that it cannot invent."""

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.rewriting import (
    answer_of,
    requests_of_turn,
    rewritable_words,
    rewriting_prompt,
    rewriting_rule,
)
from ctrag.assistant.conversation.state import State, Turn
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Item, Person, Profile

BOX = Toolbox.packaged()
AT = datetime(2025, 4, 17, 12, 0)
CHOIR = Item("c1", "calendar", {"title": "Choir", "start": AT, "location": "Town hall"})
DENTIST = Item("c2", "calendar", {"title": "Dentist", "start": AT})
VIEW = PersonView(
    Person("ada", AT, Profile(name="Ada")), (CHOIR, DENTIST), np.empty((2, 0), np.float32)
)
LISTED = Turn("what's on", Plan("list_events", {"date": "2025-04-17"}), None, ("c1", "c2"))


def state(*turns: Turn) -> State:
    found = State()
    found.turns.extend(turns)
    return found


def test_the_model_sees_what_was_said_done_and_shown() -> None:
    assert rewriting_prompt("move the second one", state(LISTED), VIEW).splitlines() == [
        "Said: what's on",
        'Call: list_events(date="2025-04-17")',
        "Item: calendar: Choir; 2025-04-17 12:00; Town hall",
        "Item: calendar: Dentist; 2025-04-17 12:00",
        "Now said: move the second one",
    ]


def test_it_sees_the_latest_turns_only_and_nothing_that_is_gone() -> None:
    old = Turn("hello there", Plan("none"), None, ())
    gone = Turn("read the old one", Plan("read_note", {"title": "Old"}), None, ("n9",))
    prompt = rewriting_prompt("and?", state(old, LISTED, LISTED, gone), VIEW)
    assert "hello there" not in prompt
    assert prompt.endswith('Call: read_note(title="Old")\nNow said: and?')


@pytest.fixture(scope="module")
def guide(converted_planner: Path) -> Any:
    llguidance = pytest.importorskip("llguidance")
    folder = next((converted_planner / "models").iterdir())
    return llguidance.LLTokenizer(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    ("answer", "possible"),
    [
        ("move Dentist to half past four\n", True),
        ("move dentist to half past four\ntell Ada's choir\n", True),
        ("cancel Choir, Town hall at 18:30\n", True),
        ("=\n", True),
        ("move Orthodontist to half past four\n", False),
        ("", False),
        ("move it\n" * 5, False),
    ],
)
def test_it_can_say_words_of_the_conversation_and_of_orders_alone(
    guide: Any, answer: str, possible: bool
) -> None:
    import llguidance

    words = rewritable_words("move the second to half past four, Ada's choir", state(LISTED), VIEW)
    lark = llguidance.LLMatcher.grammar_from_lark(rewriting_rule(words))
    matcher = llguidance.LLMatcher(guide, lark)
    assert not matcher.is_error(), matcher.get_error()
    tokens = guide.tokenize_str(answer)
    taken = matcher.try_consume_tokens(tokens) == len(tokens)
    assert (taken and matcher.is_accepting()) is possible


def test_what_stands_by_itself_is_answered_in_one_sign() -> None:
    assert answer_of("call  ana", ["call ana"]) == "=\n"
    assert answer_of("call ana and bo", ["call ana", "call bo"]) == "call ana\ncall bo\n"


class Filler:
    """Stands for a slot filler that learned to say turns whole."""

    says_whole = True


TUNED = Filler()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the model is asked to say whole; it answers with "call ana" and "call bo" where both are
    named, else with the dentist."""
    found: list[str] = []

    def say(filler: Any, text: str, state: State, view: PersonView) -> tuple[str, ...]:
        found.append(text)
        if "remark" in text:
            return ("what a remark", "cancel Choir, and email ana I'm out")
        if "address" in text:
            return ("time", "address")
        return ("call ana", "call bo") if "bo" in text else ("move Dentist to four",)

    monkeypatch.setattr("ctrag.assistant.conversation.rewriting.rewritten", say)
    return found


def requests(text: str, *turns: Turn, known: bool = False, filler: Any = TUNED) -> list[str]:
    return requests_of_turn(text, state(*turns), VIEW, VIEW.person, filler, lambda parts: known)


def test_a_first_turn_is_taken_apart_but_never_put_otherwise(asked: list[str]) -> None:
    assert requests("ana and bo, ring them") == ["call ana", "call bo"]
    assert requests("so, the dentist at four") == ["so, the dentist at four"]
    assert requests("the dentist at four") == ["the dentist at four"]
    assert asked == ["ana and bo, ring them", "so, the dentist at four"]  # the last cannot be two


def test_a_later_turn_is_said_whole_unless_what_it_means_is_sure(asked: list[str]) -> None:
    done = Turn("what's on", Plan("list_events"), BOX.get("list_events"), ("c1", "c2"))
    assert requests("the other one to four", done) == ["move Dentist to four"]
    assert requests("ana as well as bo", done) == ["call ana", "call bo"]
    assert len(asked) == 2
    assert requests("the other one to four", done, known=True) == ["the other one to four"]
    assert len(asked) == 2


def test_what_the_model_takes_apart_is_freed_of_remarks_and_taken_apart_further(
    asked: list[str],
) -> None:
    assert requests("what a remark, cancel choir, and email ana I'm out") == [
        "cancel Choir",
        "email ana I'm out",
    ]


def test_single_words_and_what_was_not_said_are_no_requests(asked: list[str]) -> None:
    done = Turn("call bo", Plan("call_contact"), BOX.get("call_contact"), ())
    assert requests("what does it say, time and address", done) == [
        "what does it say, time and address"
    ]
    assert requests("no, bo's home number", done) == ["no, bo's home number"]


def test_without_a_model_that_learned_it_turns_stay_as_they_are(asked: list[str]) -> None:
    filler = Filler()
    filler.says_whole = False
    assert requests("ana and bo, ring them", filler=filler) == ["ana and bo, ring them"]
    assert requests("ana and bo, ring them", filler=None) == ["ana and bo, ring them"]
    assert not asked
