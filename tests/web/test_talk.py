"""A conversation beside the page: asked, agreed to, declined, chosen, taken back, explained."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ctrag.errors import InputError
from ctrag.web.steps import WAITING, under_way
from ctrag.web.talk import Talk
from ctrag.web.turns import Turn
from ctrag.web.why import Explained, explained
from tests.web.conftest import FIND, MAIL, REMIND, UNSURE, ByHeart

if TYPE_CHECKING:
    from ctrag.assistant.assistant import Assistant


def until(met: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not met():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def said(talk: Talk, text: str) -> Turn:
    turn = talk.say(text)
    until(lambda: not turn.working or turn.asking)
    return turn


def why(talk: Talk, turn: Turn, asked: Turn | None = None) -> Explained:
    assert turn.answer is not None
    [one] = explained(turn.answer, talk.assistant, asked.answer if asked else None)
    return one


@pytest.fixture
def talk(ada: "Assistant") -> Talk:
    return Talk(ada)


def test_a_change_is_made_shown_and_taken_back(talk: Talk) -> None:
    before = len(talk.assistant.view())
    turn = said(talk, REMIND)
    assert turn.answer is not None
    assert turn.answer.result is not None
    assert turn.answer.result.status == "done"
    assert len(talk.assistant.view()) == before + 1
    assert talk.undoable is turn
    talk.undo(turn.number)
    assert "Taken back" in turn.note
    assert len(talk.assistant.view()) == before
    assert talk.undoable is None
    assert talk.taken_back(turn)


def test_a_click_agrees_only_to_the_question_that_it_was_made_for(talk: Talk) -> None:
    turn = said(talk, MAIL)
    talk.decide(turn.number, 0, True)
    talk.decide(turn.number, 2, True)  # as a second click on the question before would
    assert turn.asking is not None
    talk.decide(turn.number, 1, False)
    until(lambda: not turn.working)
    assert [one.agreed for one in turn.confirmations] == [False]


def test_only_the_latest_change_is_taken_back(talk: Talk) -> None:
    first, second = said(talk, REMIND), said(talk, "thanks")
    assert talk.undoable is first
    talk.undo(second.number)
    assert first.note == second.note == ""


def test_what_is_sent_waits_for_a_yes_to_the_exact_text_and_address(talk: Talk) -> None:
    turn = said(talk, MAIL)
    assert turn.working
    assert turn.asking is not None
    assert "omar@example.mx" in turn.asking.text
    assert "Is the crane free?" in turn.asking.text
    with pytest.raises(InputError, match="before this one is not answered"):
        talk.say("hello")
    talk.decide(turn.number, 1, True)
    until(lambda: not turn.working)
    assert turn.answer is not None
    assert turn.answer.result is not None
    assert turn.answer.result.status == "done"
    assert [row.entry.recipient for _, row in talk.assistant.stores.outbox("ada")]


def test_the_step_that_a_turn_is_at_is_told(talk: Talk, by_heart: ByHeart) -> None:
    by_heart.wait = threading.Event()
    turn = talk.say(FIND)
    until(lambda: "planner.plan" in turn.steps)
    done, now = under_way(turn.steps)
    assert done[:2] == ["find your items", "choose the tools"]
    assert now == "Planning the call"
    by_heart.wait.set()
    until(lambda: not turn.working)
    assert turn.steps[-1] == "apps.execute"


def test_a_step_is_not_done_while_one_inside_it_runs() -> None:
    begun = ["context.retrieve", "planner.plan", "slots.fill"]
    assert under_way(begun) == (["find your items"], "Reading your words for the details")


def test_a_turn_that_has_not_begun_waits_for_the_models(ada: "Assistant") -> None:
    models = threading.Semaphore()
    with models:
        turn = Talk(ada, models=models).say(FIND)
        assert under_way(turn.steps) == ([], WAITING)
    until(lambda: not turn.working)


def test_a_written_yes_agrees_only_to_what_the_page_showed(talk: Talk) -> None:
    turn = said(talk, MAIL)
    with pytest.raises(InputError, match="answered already"):
        talk.answer("yes", (turn.number, 2))
    assert turn.asking is not None
    assert talk.answer("yes please", (turn.number, 1))
    until(lambda: not turn.working)
    assert [one.agreed for one in turn.confirmations] == [True]
    assert not talk.answer("yes", (turn.number, 1)), "nothing is asked any more"


@pytest.mark.parametrize(("text", "is_all"), [("no", True), (FIND, False)])
def test_anything_else_that_is_written_declines(talk: Talk, text: str, is_all: bool) -> None:
    turn = said(talk, MAIL)
    assert talk.answer(text, (0, 0)) is is_all
    assert not turn.working
    assert talk.assistant.stores.outbox("ada") == []


@pytest.mark.parametrize("how", ["no", "closed", "no answer"])
def test_without_a_yes_nothing_is_sent(ada: "Assistant", how: str) -> None:
    talk = Talk(ada, patience=0.05 if how == "no answer" else 900)
    turn = talk.say(MAIL)
    until(lambda: turn.confirmations)
    if how == "no":
        talk.decide(turn.number, 1, False)
    if how == "closed":
        talk.close()
    until(lambda: not turn.working)
    talk.decide(turn.number, 1, True)  # too late
    assert turn.answer is not None
    assert turn.answer.result is not None
    assert turn.answer.result.status == "declined"
    assert ada.stores.outbox("ada") == []


def test_while_the_person_is_asked_others_may_use_the_models(ada: "Assistant") -> None:
    models = threading.Semaphore()
    talk = Talk(ada, models=models)
    turn = said(talk, MAIL)
    assert models.acquire(timeout=5)
    models.release()
    talk.decide(turn.number, 1, False)
    until(lambda: not turn.working)
    assert models.acquire(timeout=5)


def test_a_choice_is_explained_by_the_turn_that_asked(talk: Talk) -> None:
    asked = said(talk, UNSURE)
    assert talk.question is not None
    assert len(talk.question.choices) == 3
    chosen = talk.say("2", shown=talk.question.choices[1])
    until(lambda: not chosen.working)
    assert chosen.text != "2"
    one = why(talk, chosen, asked)
    assert one.call == 'create_reminder(title="New code")'
    assert [(value.argument, value.kind) for value in one.values] == [("title", "said")]


def test_values_of_a_turn_for_which_nothing_was_ranked_are_told_apart(
    talk: Talk, by_heart: ByHeart
) -> None:
    later = 'create_reminder(title="Lock the gate", due="2025-04-17T20:00")'
    by_heart.plans["the code"] = ('create_note(title="Code", body="4812")', later)
    said(talk, "the code")
    assert talk.question is not None
    chosen = talk.say("2", shown=talk.question.choices[1])
    until(lambda: not chosen.working)
    kinds = {value.argument: value.kind for value in why(talk, chosen).values}
    assert kinds == {"title": "conversation", "due": "computed"}


def test_a_defect_costs_the_turn_and_not_the_conversation(
    talk: Talk, by_heart: ByHeart, capsys: pytest.CaptureFixture[str]
) -> None:
    by_heart.plans["break"] = ("create_note(", None)
    turn = said(talk, "break")
    assert "was never closed" in turn.error
    capsys.readouterr()
    assert said(talk, FIND).answer is not None


def test_every_change_of_what_is_shown_is_a_new_revision(talk: Talk) -> None:
    seen = [talk.revision]
    turn = said(talk, MAIL)
    seen.append(talk.revision)
    talk.decide(turn.number, 1, False)
    until(lambda: not turn.working)
    seen.append(talk.revision)
    assert seen == sorted(set(seen))


def test_a_reset_takes_everything_back(talk: Talk) -> None:
    before = {one.id for one in talk.assistant.view().items}
    said(talk, REMIND)
    assert talk.reset() == 1
    assert talk.turns == []
    assert {one.id for one in talk.assistant.view().items} == before


def test_an_answer_is_explained_from_its_items_to_its_time(talk: Talk) -> None:
    one = why(talk, said(talk, REMIND))
    assert not one.empty
    assert one.candidates == len(talk.assistant.view()) - 1
    assert len(one.items) == 8
    assert one.items[0].parts[0].name == "trained ranking"
    best = sum(part.share for part in one.items[0].parts)
    assert best == pytest.approx(1, abs=1e-3)
    assert any(item.lifts for item in one.items)
    assert [tool.api for tool in one.tools if tool.chosen] == ["create_reminder"]
    assert one.none is not None
    assert sum(tool.probability for tool in one.tools) + one.none == pytest.approx(1)
    assert [(value.argument, value.kind) for value in one.values] == [
        ("title", "said"),
        ("due", "computed"),
    ]
    assert one.prompt is not None
    assert one.prompt.read
    assert one.prompt.tokens > 20
    assert [step.name for step in one.steps if not step.inside][-1] == "apps.execute"
    assert one.total == pytest.approx(sum(s.milliseconds for s in one.steps if not s.inside))


def test_a_contact_and_an_item_are_where_values_came_from(talk: Talk, by_heart: ByHeart) -> None:
    turn = said(talk, MAIL)
    talk.decide(turn.number, 1, False)
    until(lambda: not turn.working)
    found = {value.argument: value for value in why(talk, turn).values}
    assert found["to"].kind == "contact"
    assert "dispatcher" in found["to"].words
    by_heart.plans["read the code of the gate"] = ('read_note(title="Gate code")', None)
    [title] = why(talk, said(talk, "read the code of the gate")).values
    assert (title.kind, title.words) == ("item", "notes: “Gate code”")


def test_words_without_a_call_have_nothing_to_explain(talk: Talk) -> None:
    assert why(talk, said(talk, "thanks!")).empty
