"""Every plan that annotators wrote for the packaged people runs on those people's stores."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ctrag.assistant.apps.execute import Result, execute
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.compressed import read_kept
from stores.people.dataset import DatasetRequest, Persona, load_dataset, load_labels
from stores.people.items import LabelledPlan, Labels
from stores.people.stores import Encode, Stores

pytestmark = pytest.mark.slow

REFERENCE = Path(__file__).parents[3] / "synth" / "data" / "reference"
MEMORY = Path("/dev/shm")
REFUSED = Path(__file__).with_name("refused_plans.txt")
"""One line for each refused plan: query id, API, reason, between tabs; `#` begins a comment."""


@dataclass(frozen=True)
class Ran:
    """A labelled plan and what became of it."""

    query_id: str
    plan: LabelledPlan
    labels: Labels
    result: Result


@pytest.fixture(scope="module")
def ran(encode: Encode) -> list[Ran]:
    """All labelled plans, `also` included, each on its person's items as the phone had them.

    Plans do not see each other's changes: all are given the items of the data set. Each waits for
    the disk twice, which takes no time where a folder is memory.
    """
    found: list[Ran] = []
    for split in ("train", "dev"):
        labels = load_labels(REFERENCE / split)
        dataset = load_dataset(REFERENCE / split)
        people = {one.person.person_id: one for one in dataset.personas}
        with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
            stores = Stores(Path(folder))
            stores.import_personas(dataset.personas, encode, "zeros")
            for asked in dataset.requests:
                persona = people[asked.person_id]
                found += _run(asked, labels[asked.query_id], persona, stores, encode)
    return found


def _run(
    asked: DatasetRequest, labels: Labels, persona: Persona, stores: Stores, encode: Encode
) -> Iterator[Ran]:
    for plan in (labels.plan, *labels.also):
        if plan is not None:
            result = execute(
                Plan(plan.api, dict(plan.arguments)),
                stores=stores,
                person=persona.person,
                items=persona.items,
                at=asked.request.asked_at,
                toolbox=Toolbox.packaged(),
                encode=encode,
                confirm=lambda question: True,
                playing=asked.request.playing,
            )
            yield Ran(asked.query_id, plan, labels, result)


def test_all_labelled_plans_were_run(ran: list[Ran]) -> None:
    """One for each label in the files: an empty loop would refuse nothing."""
    rows = [
        json.loads(line)
        for split in ("train", "dev")
        for line in read_kept(REFERENCE / split / "queries.jsonl").decode("utf-8").splitlines()
    ]
    written = [(row["query_id"], plan) for row in rows for plan in _plans(row)]
    assert [(one.query_id, one.plan.api) for one in ran] == written
    assert {one.plan.api for one in ran} == set(Toolbox.packaged().names)


def _plans(row: dict[str, Any]) -> list[str]:
    """APIs of the plans of one line of `queries.jsonl`, those that are as right last."""
    return [plan["api"] for plan in (row.get("plan"), *row.get("also", ())) if plan is not None]


def test_refused_plans_are_those_in_the_list(ran: list[Ran]) -> None:
    lines = REFUSED.read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    refused = [
        f"{one.query_id}\t{one.plan.api}\t{one.result.answer}"
        for one in ran
        if one.result.status != "done"
    ]
    assert refused == listed


def test_plans_that_change_or_send_something_leave_a_record(ran: list[Ran]) -> None:
    reading = {tool.api for tool in Toolbox.packaged() if tool.effect == "read"}
    for one in ran:
        if one.result.status == "done":
            opens_page = one.plan.api.startswith("google_")
            expected = one.plan.api not in reading or opens_page
            assert (one.result.change is not None) == expected, one


def test_the_item_of_a_plan_is_one_that_the_annotator_found_relevant(ran: list[Ran]) -> None:
    """For APIs that name one existing item, where the annotator named relevant items."""
    named = {
        tool.api
        for tool in Toolbox.packaged()
        if not tool.api.startswith(("create_", "play_", "add_"))
        and {"title", "subject"} & set(tool.arguments_by_name)
        and tool.api != "send_mail"
    }
    best = [one for one in ran if one.plan is one.labels.plan and one.plan.api in named]
    missed = [
        one.query_id
        for one in best
        if one.labels.relevant
        and one.result.status == "done"
        and not set(_ids(one.result)) & set(one.labels.relevant)
    ]
    assert {one.plan.api for one in best} == named
    assert missed == []


def _ids(result: Result) -> list[str]:
    return [item.id for item in result.items]
