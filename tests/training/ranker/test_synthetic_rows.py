"""Claims about comparing training data: no person on both sides, steps run once."""

import json
from pathlib import Path

import pytest

from eval.synth.run import run_synth, table
from stores.people.dataset import load_dataset
from synth.reference import split_folder
from tests.training.conftest import copy_people
from training.ranker.synthetic import Comparison


def renamed(folder: Path, old: str, new: str) -> None:
    """Give a person another id, like a rewritten person."""
    for name in ("personas.jsonl", "queries.jsonl"):
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


@pytest.fixture
def synthetic(tmp_path: Path) -> Path:
    """Two people: one is a reference person under another id, one asks what nobody asked."""
    folder = copy_people("train", 2, tmp_path / "synthetic")
    first, second = (one.person.person_id for one in load_dataset(folder).personas)
    renamed(folder, first, "s00001")
    renamed(folder, second, "s00002")
    path = folder / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["persona_id"] == "s00002":
            row["text"] = f"this is said by nobody but {row['query_id']}"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_people_rewritten_from_the_reference_are_left_out_of_both(
    synthetic: Path, tmp_path: Path
) -> None:
    comparison = Comparison(tmp_path / "work", limit=3)
    comparison.work.mkdir()
    people = {
        mix: {one.person.person_id for one in load_dataset(comparison._mixed(mix, synthetic)).personas}
        for mix in ("synthetic", "reference", "both")
    }  # fmt: skip
    first = [one.person.person_id for one in load_dataset(split_folder("train")).personas[:3]]
    assert people["synthetic"] == {"s00001", "s00002"}
    assert people["reference"] == set(first)
    assert people["both"] == {*first, "s00002"}


def test_a_step_runs_once(tmp_path: Path) -> None:
    done = []

    def run() -> dict[str, float]:
        done.append(1)
        return {"recall@3": 50.0}

    comparison = Comparison(tmp_path)
    for _ in range(2):
        assert comparison._step(tmp_path, "dev-ranker", run) == {"recall@3": 50.0}
    assert len(done) == 1
    # Figures of other requests are other figures.
    Comparison(tmp_path, requests=9)._step(tmp_path, "dev-ranker", run)
    assert len(done) == 2


def test_the_experiment_has_all_rows(synthetic: Path) -> None:
    rows = {"synthetic": {"recall@3": 60.0}, "both": {"recall@3": 70.0, "tool_recall@1": 65.0}}
    experiment = run_synth(synthetic, trained=lambda *_: rows, methods=["ranker"])
    assert experiment.figures["trained_both"] == rows["both"]
    lines = table(experiment).lines()
    assert lines[0].split() == "learned from, tested on dev recall@3 tool_recall@1".split()
    assert lines[2].split() == ["synthetic", "60.0", "-"]


def test_an_unknown_method_is_refused(synthetic: Path) -> None:
    with pytest.raises(ValueError, match="--methods: 'poems' is unknown; known: texts, ranker"):
        run_synth(synthetic, methods=["poems"])
