"""A conversation on stores: what is done, asked, remembered and taken back."""

from dataclasses import replace
from typing import Any

from ctrag.assistant.answer import Question
from ctrag.assistant.conversation.conversation import Conversation


def yes(question: str) -> bool:
    return True


MADE = 'create_reminder(title="Lock the gate", due="2025-04-17T20:00")'


def test_what_was_just_made_is_changed_and_removed_in_words(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MADE]
    talk.say("remind me to lock the gate at eight", run=True, confirm=yes)
    later = talk.say("sorry, I meant half past eight", run=True, confirm=yes)
    assert str(later.plan) == 'snooze_reminder(title="Lock the gate", until="2025-04-17T20:30")'
    assert later.result is not None
    assert later.result.status == "done"
    gone = talk.say("forget that, the watchman has the key", run=True, confirm=yes)
    assert str(gone.plan) == 'delete_reminder(title="Lock the gate")'
    assert "Lock the gate" in talk.say("undo that", run=True).said


def test_several_calls_are_one_undo(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = [MADE, 'create_reminder(title="Buy rope")']
    before = len(talk.assistant.view())
    answer = talk.say(
        "remind me to lock the gate at eight, and remind me to buy rope", run=True, confirm=yes
    )
    assert [plan.api for plan in answer.plans] == ["create_reminder", "create_reminder"]
    assert answer.plan == answer.plans[0]
    assert len(talk.assistant.view()) == before + 2
    told = talk.undo()
    assert "Lock the gate" in told
    assert "Buy rope" in told
    assert len(talk.assistant.view()) == before


def test_each_call_that_reaches_others_asks_by_itself(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [
        'call_contact(contact="Omar Salcedo")',
        'send_mail(to="Omar Salcedo", subject="Crane", body="Is it free?")',
    ]
    asked: list[str] = []
    answer = talk.say(
        "call Omar and then mail Omar if the crane is free",
        run=True,
        confirm=lambda question: asked.append(question) is not None,
    )
    assert len(asked) == 2
    assert [one.result.status for one in answer.parts if one.result] == ["declined", "declined"]


def test_what_depends_on_a_refused_call_is_not_done(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MADE, "pause_music()"]
    talk.say("remind me to lock the gate at eight", run=True, confirm=yes)
    answer = talk.say("pause the music, and then cancel it", run=True, confirm=yes)
    first, second = answer.parts
    assert first.result is not None
    assert first.result.status == "refused"
    assert "Not done" in second.said


def test_small_talk_and_no_do_nothing(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = []
    for text in ("thanks!", "hello", "never mind", "what can you do"):
        answer = talk.say(text, run=True, confirm=yes)
        assert answer.said
        assert answer.plan.is_none
        assert answer.result is None


def test_what_to_write_is_asked_and_the_next_turn_says_it(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [
        'call_contact(contact="Omar Salcedo")',
        'send_mail(to="Omar Salcedo", subject="Crane", body="The crane is free.")',
    ]
    talk.say("call Omar", run=True, confirm=yes)
    asked = talk.say("and tell him why", run=True, confirm=yes)
    assert asked.question is not None
    assert asked.question.text == "What shall I write to Omar Salcedo?"
    assert asked.result is None
    done = talk.say("that the crane is free", run=True, confirm=yes)
    assert done.plan.arguments["to"] == "Omar Salcedo"


def test_ask_plans_several_calls_too(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = [MADE, "get_missed_calls()"]
    answer = talk.assistant.ask("remind me at eight to lock the gate, and show me missed calls")
    assert [plan.api for plan in answer.plans] == ["create_reminder", "get_missed_calls"]


MAIL = 'send_mail(to="Omar Salcedo", subject="Crane", body="Is it free?")'


def test_what_reaches_others_is_a_question_that_only_a_yes_answers(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MAIL]
    asked = talk.say("mail Omar if the crane is free", run=True, later=True)
    assert asked.result is None
    assert asked.question is not None
    assert asked.question.confirms
    assert "“Is it free?”" in asked.question.text
    done = talk.copy().say("yes please", run=True, later=True)
    assert done.result is not None
    assert done.result.status == "done"
    assert talk.copy().say("no", run=True, later=True).said == "Nothing was done."
    stale = talk.copy()
    assert stale.pending is not None
    stale.pending = replace(stale.pending, question=Question("Mail Eve?", confirms=True))
    anew = stale.say("yes", run=True, later=True)
    assert anew.question == asked.question  # it is another act by now than was agreed to
    through_endpoint.answers = ["get_missed_calls()"]
    other = talk.say("who called", run=True, later=True)
    assert other.plan.api == "get_missed_calls"
    talk.say("yes", run=True, later=True)
    assert len(talk.assistant.stores.outbox("ada", "mail")) == 1


def test_what_waits_for_a_yes_is_done_after_it(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = [MAIL, MADE, MADE]
    text = "mail Omar if the crane is free, and remind me at eight to lock the gate"
    assert talk.say(text, run=True, later=True).question is not None
    done = talk.say("yes", run=True, later=True)
    assert [one.result.status for one in done.parts if one.result] == ["done", "done"]


def test_a_turn_is_one_undo_for_the_next_conversation_too(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MADE, 'create_reminder(title="Buy rope")']
    before = len(talk.assistant.view())
    talk.say("remind me to lock the gate at eight, and remind me to buy rope", run=True)
    told = talk.assistant.conversation().say("undo all of that", run=True).said
    assert "Lock the gate" in told
    assert "Buy rope" in told
    assert len(talk.assistant.view()) == before


def test_thanks_get_a_word_without_a_conversation(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = []
    answer = talk.assistant.ask("thanks a lot", run=True)
    assert answer.said == "You're welcome."
    assert answer.plan.is_none


def test_an_answer_to_no_question_does_nothing(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = []
    assert talk.say("the second one", run=True).said == "I have asked nothing."


def test_a_no_to_the_first_of_several_does_the_others(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MAIL, MADE, MADE]
    text = "mail Omar if the crane is free, and remind me at eight to lock the gate"
    assert talk.say(text, run=True, later=True).question is not None
    dropped = talk.copy()
    answer = talk.say("no", run=True, later=True)
    assert answer.said == "That was not done."
    assert [str(plan) for plan in answer.plans[1:]] == [MADE]
    assert [one.result.status for one in answer.parts if one.result] == ["done"]
    assert dropped.say("never mind", run=True, later=True).further == ()


def test_two_turns_are_taken_back_at_once(talk: Conversation, through_endpoint: Any) -> None:
    through_endpoint.answers = [MADE, 'create_reminder(title="Buy rope")']
    before = len(talk.assistant.view())
    talk.say("remind me to lock the gate at eight", run=True)
    talk.say("remind me to buy rope", run=True)
    told = talk.say("undo the last two", run=True).said
    assert "Lock the gate" in told
    assert "Buy rope" in told
    assert len(talk.assistant.view()) == before


ROPE = 'create_reminder(title="Buy rope", due="2025-04-17T17:00")'


def _open(talk: Conversation) -> set[str]:
    items = talk.assistant.view().items
    return {str(one.fields["title"]) for one in items if one.fields.get("done") is False}


def test_what_was_done_to_the_wrong_thing_is_taken_back_when_it_is_corrected(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MADE, ROPE, 'complete_reminder(title="Buy rope")']
    talk.say("remind me to lock the gate at eight", run=True, confirm=yes)
    talk.say("remind me to buy rope at five", run=True, confirm=yes)
    talk.say("tick the rope off", run=True, confirm=yes)
    told = talk.say("no, I meant lock the gate", run=True, confirm=yes)
    assert str(told.plan) == 'complete_reminder(title="Lock the gate")'
    assert told.result is not None
    assert told.result.answer.startswith("Taken back: ")
    assert "Buy rope" in _open(talk)
    assert "Lock the gate" not in _open(talk)


def test_an_order_for_all_that_was_listed_is_one_for_each(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [MADE, ROPE, "list_reminders()"]
    talk.say("remind me to lock the gate at eight", run=True, confirm=yes)
    talk.say("remind me to buy rope at five", run=True, confirm=yes)
    before = _open(talk)
    talk.say("what are my reminders", run=True, confirm=yes)
    done = talk.say("tick them all off", run=True, confirm=yes)
    assert {one.plan.api for one in done.parts} == {"complete_reminder"}
    assert len(done.parts) == len(before)
    assert _open(talk) == set()
    talk.say("undo that", run=True)
    assert _open(talk) == before


def test_a_line_of_what_is_taken_back_is_one_change(
    talk: Conversation, through_endpoint: Any
) -> None:
    through_endpoint.answers = [
        'create_reminder(title="Lock\\nTaken back: all", due="2025-04-17T20:00")'
    ]
    talk.say("remind me to lock the gate at eight", run=True, confirm=yes)
    assert len(talk.undo().splitlines()) == 1
