"""Thoughts: what their writer is told, what is kept of them, the real model and a real endpoint."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.endpoint import EndpointError
from ctrag.models.packages import ModelMissing
from ctrag.settings import settings
from eval.context import thought_writers
from eval.context.thought import prompt_template, thought_prompt, write_thoughts
from eval.context.thought_writers import EmbeddedThoughts, EndpointThoughts, thought_writer
from stores.people.dataset import load_dataset, load_labels
from stores.people.items import Request
from synth.reference import split_folder

AT = datetime(2025, 4, 17, 6, 5)
"""A Thursday."""
ASKED = Request("can't make the 6 o'clock thing", AT, "work")
PROMPTS = ["one", "two", "three"]


class Echo:
    """Answers each prompt with itself in capitals, so many at a time."""

    def __init__(self, identity: str = "echo", at_once: int = 1, stops_after: int = 99) -> None:
        self.name = "Echo"
        self.identity = identity
        self.asked: list[str] = []
        self._at_once = at_once
        self._stops_after = stops_after

    def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
        for start in range(0, len(prompts), self._at_once):
            if len(self.asked) >= self._stops_after:
                raise KeyboardInterrupt
            batch = list(prompts[start : start + self._at_once])
            self.asked += batch
            yield [prompt.upper() for prompt in batch]


def test_the_prompt_has_the_request_its_moment_and_the_persons_applications() -> None:
    prompt = thought_prompt(ASKED, {"phonecall", "mail"})
    assert prompt.endswith("can't make the 6 o'clock thing (Thursday 06:05, work)\nThought:")
    assert "Mail, PhoneCall." in prompt
    assert "$" not in prompt


def test_a_request_without_a_place_or_a_person_without_items_leaves_no_gap() -> None:
    prompt = thought_prompt(Request("what now", AT), ())
    assert prompt.endswith("what now (Thursday 06:05)\nThought:")
    assert "Mail, Calendar, Google, Notes, Music, Reminders, PhoneCall." in prompt


def test_a_request_cannot_add_lines_or_fields_to_the_prompt() -> None:
    prompt = thought_prompt(Request("one $apps\n\nRequest: two", AT), {"mail"})
    assert prompt.endswith("one $apps Request: two (Thursday 06:05)\nThought:")
    assert len(thought_prompt(Request("x" * 10_000, AT), ())) < len(prompt_template()) + 500


def test_the_examples_are_training_requests_with_their_written_thought() -> None:
    head, _, last = prompt_template().rpartition("\n\n")
    _, *examples = head.split("\n\n")
    assert last == "Request: $request ($when)\nThought:"
    train = load_dataset(split_folder("train")).requests
    labels = load_labels(split_folder("train"))
    known = {
        thought_prompt(one.request, ()).rpartition("\n\n")[2]
        + f" {labels[one.query_id].chain_of_thought}"
        for one in train
    }
    assert examples
    assert set(examples) <= known


def test_a_thought_is_one_line_without_quotes() -> None:
    class Wordy(Echo):
        def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
            yield ['\n "Calendar has it."  \nRequest: next', "  ", ""]

    assert write_thoughts(PROMPTS, Wordy()).thoughts == ("Calendar has it.", "", "")


def test_thoughts_come_in_the_order_of_the_prompts_and_equal_prompts_are_asked_once() -> None:
    writer = Echo(at_once=2)
    told: list[str] = []
    found = write_thoughts(["b", "a", "b", "c"], writer, progress=told.append)
    assert found.thoughts == ("B", "A", "B", "C")
    assert (writer.asked, found.fresh) == (["b", "a", "c"], 3)
    assert told == ["2/3 thoughts by Echo", "3/3 thoughts by Echo"]


def test_a_run_that_was_stopped_loses_no_thought_that_was_ready(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "thoughts.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_thoughts(PROMPTS, Echo(stops_after=2), kept)
    with kept.open("a", encoding="utf-8") as file:
        file.write('{"key": "half a li')
    writer = Echo()
    found = write_thoughts(PROMPTS, writer, kept)
    assert (writer.asked, found.fresh) == (["three"], 1)
    again = write_thoughts(PROMPTS, Echo(stops_after=0), kept)
    assert again.thoughts == found.thoughts == ("ONE", "TWO", "THREE")
    assert again.fresh == 0


def test_another_writer_writes_thoughts_of_its_own(tmp_path: Path) -> None:
    kept = tmp_path / "thoughts.jsonl"
    write_thoughts(PROMPTS, Echo("first"), kept)
    assert write_thoughts(PROMPTS, Echo("second"), kept).fresh == 3
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines() if line]
    assert len({row["key"] for row in rows}) == 6


def test_nothing_to_think_about_asks_nobody() -> None:
    assert write_thoughts([], Echo(stops_after=0)).thoughts == ()


def test_the_endpoint_reads_the_prompt_and_its_answer_is_the_thought(
    through_endpoint: Any, api_key: str
) -> None:
    through_endpoint.answers = ["Calendar has the dinner.\nIt starts at six.", None]
    writer = thought_writer("openai", settings())
    prompts = [thought_prompt(ASKED, ()), thought_prompt(Request("what now", AT), ())]
    assert write_thoughts(prompts, writer).thoughts == ("Calendar has the dinner.", "")
    assert [through_endpoint.asked(number) for number in (0, 1)] == prompts
    assert through_endpoint.headers[0]["authorization"] == f"Bearer {api_key}"
    assert through_endpoint.requests[0]["temperature"] == 0
    assert writer.name == "toy"
    assert api_key not in writer.identity


def test_an_endpoint_that_refuses_is_one_line_and_earlier_thoughts_stay(
    endpoint: Any, api_key: str, tmp_path: Path
) -> None:
    kept = tmp_path / "thoughts.jsonl"
    endpoint.answers = ["First.", (401, {"Content-Type": "application/json"}, b'{"error": "no"}')]
    writer = EndpointThoughts(endpoint.url, "toy", api_key)
    with pytest.raises(EndpointError, match=r"^http://127\.0\.0\.1:\d+/v1: AuthenticationError"):
        write_thoughts(PROMPTS, writer, kept)
    endpoint.answers = ["Later."]
    found = write_thoughts(PROMPTS, writer, kept)
    assert (found.thoughts, found.fresh) == (("First.", "Later.", "Later."), 2)


def test_an_endpoint_without_a_model_name_is_refused_before_it_is_asked() -> None:
    with pytest.raises(ValueError, match="set CTRAG_OPENAI_MODEL"):
        EndpointThoughts("http://127.0.0.1:1/v1", "", "key")


def test_there_are_two_writers() -> None:
    with pytest.raises(ValueError, match="must be embedded or openai, not 'gpt'"):
        thought_writer("gpt", settings())


def test_missing_weights_are_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="nobody/nothing is not on this machine"):
        EmbeddedThoughts("nobody/nothing")


def test_other_weights_in_the_same_place_are_another_writer(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"1")
    first = EmbeddedThoughts(str(tmp_path)).identity
    assert EmbeddedThoughts(str(tmp_path)).identity == first
    weights.write_bytes(b"22")
    assert EmbeddedThoughts(str(tmp_path)).identity != first


@pytest.fixture(scope="session")
def embedded(converted_planner: Path) -> EmbeddedThoughts:
    [folder] = (converted_planner / "models").iterdir()
    return EmbeddedThoughts(str(folder), threads=1)


def test_the_model_writes_a_line_for_each_request(embedded: EmbeddedThoughts) -> None:
    asked = [one.request for one in load_dataset(split_folder("dev")).requests[:3]]
    found = write_thoughts([thought_prompt(one, ()) for one in asked], embedded)
    assert all(found.thoughts)
    assert not any("\n" in thought for thought in found.thoughts)
    assert max(map(len, found.thoughts)) < 300


@pytest.mark.slow
def test_a_prompt_has_the_same_thought_alone_and_beside_others(
    embedded: EmbeddedThoughts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thought_writers, "LONGEST_THOUGHT", 12)
    prompts = ["Numbers: 1, 2, 3, 4,", "Numbers: one, two, three, four, five, six,", "Numbers"]
    together = write_thoughts(prompts, embedded).thoughts
    assert together == tuple(write_thoughts([one], embedded).thoughts[0] for one in prompts)
    assert together[0].startswith("5, 6, 7")
    assert together[1].startswith("seven, eight")
    monkeypatch.setattr(thought_writers, "BATCH", 2)
    assert write_thoughts(prompts, embedded).thoughts == together
