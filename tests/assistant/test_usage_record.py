"""Which answers a record of use holds: none unasked, and what each call was about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.assistant import Assistant
from stores.people.learned import usage_file
from stores.people.usage import UsageRecord, read_usage


@pytest.fixture
def ada(people: Path, through_endpoint: Any, configure: Callable[..., None]) -> Assistant:
    """Ada's assistant that records, and whose endpoint plans what the test wants."""
    configure(items=50, record_use=True)
    return Assistant.open(people, "ada", planner="openai")


def record(ada: Assistant) -> UsageRecord:
    return read_usage(ada.stores.root, "ada")


def test_nothing_is_recorded_unless_the_setting_says_so(
    people: Path, through_endpoint: Any, configure: Callable[..., None]
) -> None:
    configure(items=50)
    ada = Assistant.open(people, "ada", planner="openai")
    through_endpoint.answers = ['read_note(title="Gate code")']
    ada.ask("what opens the gate", run=True)
    assert not usage_file(ada.stores.root, "ada").exists()


def test_a_record_holds_what_was_done_and_what_it_was_about(
    ada: Assistant, through_endpoint: Any
) -> None:
    plan = 'read_note(title="Gate code")'
    through_endpoint.answers = [plan, plan, "none()"]
    ada.ask("what opens the gate")
    assert not usage_file(ada.stores.root, "ada").exists()  # it was not run
    answer = ada.ask("what opens the gate", run=True)
    ada.ask("sing to me about it", run=True)
    [use] = record(ada).uses
    assert answer.result is not None
    assert use.items == tuple(item.id for item in answer.result.items)
    assert (use.text, use.api, use.outcome) == ("what opens the gate", "read_note", "done")
    assert [one.id for one in use.ranked][:3] == [one.item.id for one in answer.items][:3]


def test_what_the_person_agreed_to_and_took_back_no_longer_counts(
    ada: Assistant, through_endpoint: Any
) -> None:
    through_endpoint.answers = ['delete_note(title="Gate code")']
    talk = ada.conversation()
    talk.say("delete the note with the gate code", run=True, confirm=lambda question: True)
    [use] = record(ada).uses
    assert use.change is not None
    talk.undo()
    assert record(ada).uses == ()
    assert record(ada).undone == 1


def test_a_correction_puts_what_had_been_meant_in_the_place_of_what_was_answered(
    ada: Assistant, through_endpoint: Any
) -> None:
    through_endpoint.answers = ['read_mail(subject="School trip")']
    talk = ada.conversation()
    talk.say("read what came from the office", run=True)
    assert [one.items for one in record(ada).uses] == [("ada-m4",)]
    later = talk.say("no, Invoice 4711", run=True)
    assert str(later.plan) == 'read_mail(subject="Invoice 4711")'
    [use] = record(ada).uses
    assert (use.text, use.items) == ("read what came from the office", ("ada-m3",))
    assert record(ada).corrected == 1
