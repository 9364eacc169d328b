"""The row `cot_generated` and what stands beside it, on three people and with a toy writer."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eval.context.generated_thoughts
from ctrag.models.encoder import load_encoder
from ctrag.settings import cache_folder, settings
from eval.context.bm25t import Bm25T
from eval.context.generated_thoughts import KEPT, SHARE, generate
from eval.context.run import run_context, table
from eval.context.thought import thought_prompt
from eval.core.examples import RankingExample, load_examples
from eval.core.experiment import Experiment
from eval.core.ranking import recall_at
from stores.compressed import read_kept
from synth.reference import split_folder

LIMIT = 20


class Writer:
    """Writes what was prepared for a prompt; remembers the prompts."""

    name = "Toy"
    identity = "toy"

    def __init__(self, thoughts: dict[str, str] | None = None) -> None:
        self.asked: list[str] = []
        self._thoughts = thoughts

    def write(self, prompts: Sequence[str]) -> Iterator[list[str]]:
        self.asked += prompts
        yield [
            "Look in Notes." if self._thoughts is None else self._thoughts[one] for one in prompts
        ]


def prompt_of(example: RankingExample) -> str:
    return thought_prompt(
        example.context.request, {item.app for item in example.context.view.items}
    )


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three people of dev with their requests."""
    source, folder = split_folder("dev"), tmp_path_factory.mktemp("thoughts")
    people = read_kept(source / "personas.jsonl").decode().splitlines()[:3]
    known = {json.loads(line)["persona_id"] for line in people}
    asked = read_kept(source / "queries.jsonl").decode().splitlines()
    asked = [line for line in asked if json.loads(line)["persona_id"] in known]
    (folder / "personas.jsonl").write_text("\n".join(people) + "\n", encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(asked) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def examples(three: Path) -> list[RankingExample]:
    return load_examples(three, load_encoder(settings().encoder))[:LIMIT]


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Writer:
    toy = Writer()
    monkeypatch.setattr(
        eval.context.generated_thoughts, "thought_writer", lambda name, options: toy
    )
    return toy


def recall(examples: Sequence[RankingExample], method: Any) -> float:
    """Recall@3 in percent, over the requests with a relevant item."""
    found = []
    for one in examples:
        if one.labels.relevant:
            order = np.argsort(-method(one), kind="stable")
            ids = [one.context.view.ids[row] for row in order]
            found.append(100 * recall_at(ids, one.labels.relevant, 3))
    return float(np.mean(found))


def test_the_writer_reads_neither_labels_nor_items(
    examples: list[RankingExample], writer: Writer
) -> None:
    generate(examples, load_encoder(settings().encoder))
    assert len(writer.asked) == LIMIT
    for example, prompt in zip(examples, writer.asked, strict=True):
        assert example.context.request.text in prompt
        assert example.labels.chain_of_thought
        assert example.labels.chain_of_thought not in prompt
        assert not any(item.id in prompt for item in example.context.view.items)
        assert not any(
            len(title) > 12 and title in prompt
            for item in example.context.view.items
            for title in (item.text("title"), item.text("subject"), item.text("query"))
        )


def test_a_writer_that_thinks_as_the_annotator_did_gives_the_oracles_scores(
    examples: list[RankingExample], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_encoder(settings().encoder)
    oracle = Writer({prompt_of(one): str(one.labels.chain_of_thought) for one in examples})
    monkeypatch.setattr(
        eval.context.generated_thoughts, "thought_writer", lambda name, options: oracle
    )
    generated = generate(examples, encoder)
    for one in examples[:5]:
        [vector] = encoder.encode([f"{one.context.request.text} {one.labels.chain_of_thought}"])
        cosine = one.context.view.vectors @ vector
        assert generated.scores(one) == pytest.approx(cosine, abs=1e-6)
        mean = SHARE * cosine + (1 - SHARE) * one.context.cosine
        assert generated.mixed(one) == pytest.approx(mean, abs=1e-6)


@pytest.mark.slow
def test_the_row_runs_with_its_facts_beside_and_the_second_run_writes_nothing(
    three: Path, examples: list[RankingExample], writer: Writer
) -> None:
    told: list[str] = []

    def run() -> Experiment:
        methods = ["bm25t", "semantic", "cot_generated"]
        return run_context(three, methods=methods, limit=LIMIT, progress=told.append)

    first = run()
    figures: Any = first.figures
    facts: Any = first.extra["cot_generated"]
    assert list(figures) == ["bm25t", "semantic", "cot_generated"]
    assert first.skipped == {}
    assert [row[0] for row in table(first).rows] == list(figures)
    assert (facts["writer"], facts["written_now"], told) == (
        "Toy",
        LIMIT,
        ["20/20 thoughts by Toy"],
    )
    generated = generate(examples, load_encoder(settings().encoder))
    assert figures["cot_generated"]["recall@3"] == pytest.approx(
        recall(examples, generated.scores), abs=0.01
    )
    assert facts["mean_with_request"]["recall@3"] == pytest.approx(
        recall(examples, generated.mixed), abs=0.01
    )
    own: Any = first.extra["bm25t_per_person"]
    assert own["recall@3"] == pytest.approx(recall(examples, own_bm25t), abs=0.01)
    again = run()
    assert again.figures == first.figures
    assert len(writer.asked) == LIMIT
    assert (cache_folder() / KEPT).exists()


def own_bm25t(example: RankingExample) -> Any:
    documents = [example.context.view.terms[row] for row in range(len(example.context.view.items))]
    return Bm25T.fit(documents).scores(example.context.terms, documents)


@pytest.mark.slow
def test_without_the_weights_the_row_is_skipped_with_the_reason(
    three: Path, configure: Any
) -> None:
    configure(planner_model="nobody/nothing")
    found = run_context(three, methods=["semantic", "cot_generated"], limit=5)
    assert list(found.figures) == ["semantic"]
    assert "cot_generated" not in found.extra
    assert list(found.skipped) == ["cot_generated"]
    assert "nobody/nothing is not on this machine" in found.skipped["cot_generated"]


@pytest.mark.slow
def test_an_endpoint_writes_thoughts_when_asked_to(three: Path, through_endpoint: Any) -> None:
    through_endpoint.answers = ["Look in Calendar."]
    found = run_context(three, methods=["cot_generated"], limit=3, thoughts="openai")
    facts: Any = found.extra["cot_generated"]
    assert (facts["writer"], facts["written_now"]) == ("toy", 3)
    assert len(through_endpoint.requests) == 3


@pytest.mark.slow
def test_an_unknown_writer_is_refused(three: Path) -> None:
    with pytest.raises(ValueError, match="must be embedded or openai, not 'gpt'"):
        run_context(three, methods=["cot_generated"], limit=1, thoughts="gpt")
