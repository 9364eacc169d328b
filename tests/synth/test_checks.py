"""Claims about rejected requests: texts that reveal too much, plans that fail, repeats."""

from dataclasses import replace
from datetime import datetime

import pytest

from ctrag.toolbox import Toolbox
from stores.people.dataset import Persona, load_dataset, load_labels
from stores.people.items import Item, LabelledPlan, Labels, Person, Profile, Request
from synth.checks import SeenTexts, request_faults
from synth.provider import LabelledRequest
from synth.reference import split_folder

NOW = datetime(2025, 4, 17, 9, 0)
NOTE = Item(
    "x-notes-1",
    "notes",
    {"title": "Dough for two", "body": "450 g", "folder": "Kitchen", "modified_at": NOW},
)
OTHER = replace(NOTE, id="x-notes-2", fields={**NOTE.fields, "title": "Meter readings"})
PERSONA = Persona(Person("x", NOW, Profile("Ida")), (NOTE, OTHER))


def asked(text: str, api: str = "read_note", title: str = "Dough for two") -> LabelledRequest:
    return LabelledRequest(
        Request(text, NOW),
        Labels(
            "mismatch", "Notes has it.", ("x-notes-1",), (api,), LabelledPlan(api, {"title": title})
        ),
    )


def faults(one: LabelledRequest) -> list[str]:
    return request_faults(PERSONA, one, Toolbox.packaged())


def test_a_valid_indirect_request_has_no_faults() -> None:
    assert faults(asked("how long with the lid off")) == []


def test_a_request_must_not_contain_the_title() -> None:
    assert faults(asked("open Dough for Two"))[0].startswith("names: ")


def test_a_paraphrase_must_not_use_the_titles_words() -> None:
    assert faults(asked("the dough, how long"))[0].startswith("names: ")


def test_a_plan_must_run_on_the_persons_items() -> None:
    problem = faults(asked("how long with the lid off", title="Dough for three"))[0]
    assert problem.startswith("plan: ")
    assert "There is no note" in problem


def test_a_plan_must_act_on_the_relevant_item() -> None:
    problem = faults(asked("how long with the lid off", title="Meter readings"))[0]
    assert problem.endswith("touches other items than the relevant ones")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"tools": ("search_notes", "read_note")}, "the best tool is search_notes"),
        ({"tools": ("read_note", "read_note")}, "different APIs"),
        ({"tools": ("bake",)}, "there is no API 'bake'"),
        ({"relevant": ("x-notes-9",)}, "is no item of the person"),
        ({"relevant": ()}, "needs an item"),
        ({"plan": None}, "a plan needs tools"),
    ],
)
def test_labels_must_be_consistent(labels: dict[str, object], message: str) -> None:
    one = asked("how long with the lid off")
    broken = replace(one, labels=replace(one.labels, **labels))
    assert message in faults(broken)[0]


def test_handwritten_requests_pass() -> None:
    folder = split_folder("train")
    dataset, labels = load_dataset(folder), load_labels(folder)
    people = {one.person.person_id: one for one in dataset.personas}
    wrong = [
        problems[0]
        for one in dataset.requests
        if (problems := request_faults(
            people[one.person_id],
            LabelledRequest(one.request, labels[one.query_id]),
            Toolbox.packaged(),
        ))
    ]  # fmt: skip
    assert len(wrong) < 0.05 * len(dataset.requests), wrong[:5]


def test_a_repeat_is_detected_whatever_its_case_and_punctuation() -> None:
    seen = SeenTexts(1 << 12)
    assert seen.add("What's playing?")
    assert not seen.add("what s playing")
    assert seen.add("what's next?")


def test_a_thousand_new_texts_are_not_mistaken_for_repeats() -> None:
    seen = SeenTexts(1 << 16)
    assert sum(seen.add(f"request number {number}") for number in range(1000)) >= 999
    assert len(seen.bits) == 1 << 16
