"""Claims about the experiment of Figure 2, on six people."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.open import toolbox_of
from ctrag.toolbox import Toolbox
from eval.core.experiment import Experiment, data_sha256
from eval.tools.run import METHODS, run_tools, table
from tests.eval.six_people import Remembering, copied

pytestmark = pytest.mark.slow

MEASURES = {"recall@1", "recall@3", "recall@5", "recall@10"}


@pytest.fixture(scope="module", autouse=True)
def encoder() -> Iterator[Remembering]:
    patch = pytest.MonkeyPatch()
    remembering = Remembering()
    patch.setattr("eval.tools.run.load_encoder", lambda name: remembering)
    yield remembering
    patch.undo()


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("tools") / "six")


@pytest.fixture(scope="module")
def experiment(six: Path, encoder: Remembering) -> Experiment:
    return run_tools(six)


def test_the_figures_have_exactly_the_keys_of_the_contract(experiment: Experiment) -> None:
    assert list(experiment.figures) == ["query_only", "with_context", "with_true_context"]
    every: Any = experiment.extra["all_labelled_tools"]
    for found in (experiment.figures, every):
        for figures in found.values():
            assert set(figures) == MEASURES
            rising = [figures[f"recall@{k}"] for k in (1, 3, 5, 10)]
            assert rising == sorted(rising)
            assert rising[0] >= 0
            assert rising[-1] <= 100


def test_nothing_is_skipped_and_intervals_hold_their_figure(experiment: Experiment) -> None:
    assert experiment.skipped == {}
    for name, found in experiment.figures.items():
        figures: Any = found
        intervals: Any = experiment.intervals[name]
        assert all(low <= figures[key] <= high for key, (low, high) in intervals.items())


def test_one_tool_of_three_is_at_most_a_third_of_them(experiment: Experiment, six: Path) -> None:
    every: Any = experiment.extra["all_labelled_tools"]
    rows = [
        json.loads(line)
        for line in (six / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    most = np.mean([100 / len(set(row["tools"])) for row in rows if row["tools"]])
    for figures in every.values():
        assert figures["recall@1"] <= most + 0.01


def test_requests_without_a_tool_are_left_out(
    six: Path, experiment: Experiment, tmp_path: Path
) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "tools": []} if row["query_id"].endswith("q1") else row

    fewer = run_tools(copied(tmp_path / "fewer", change), methods=["query_only"])
    counts: Any = experiment.extra["requests"], fewer.extra["requests"]
    assert counts[0] - counts[1] == 6


def test_only_the_chosen_methods_run(six: Path, experiment: Experiment) -> None:
    some = run_tools(six, methods=["query_only"])
    assert some.figures == {"query_only": experiment.figures["query_only"]}


def test_the_file_names_its_data_and_can_be_read_back(
    experiment: Experiment, six: Path, tmp_path: Path
) -> None:
    assert (experiment.experiment, experiment.data_sha256) == ("tools", data_sha256(six))
    experiment.write(tmp_path / "out.json")
    assert (
        Experiment.model_validate_json((tmp_path / "out.json").read_text(encoding="utf-8"))
        == experiment
    )


def test_the_table_gives_the_gain_of_context_as_a_factor(experiment: Experiment) -> None:
    made = table(experiment)
    alone: Any = experiment.figures["query_only"]
    context: Any = experiment.figures["with_context"]
    assert [row[:2] for row in made.rows] == [
        [way, method] for way in ("dense alone", "shipped") for method in METHODS
    ]
    assert f"@1 {context['recall@1'] / alone['recall@1']:.2f}" in made.notes[1]


def test_a_ranker_that_was_trained_on_the_data_is_told(
    experiment: Experiment, six: Path, tmp_path: Path
) -> None:
    packaged = Ranker.packaged()
    card = packaged.card.model_copy(update={"data_sha256": data_sha256(six)})
    replace(packaged, card=card).save(tmp_path / "ranker")
    saw = run_tools(six, model=tmp_path / "ranker", methods=["query_only"], limit=3)
    assert saw.extra["ranker_saw_this_data"] is True
    assert any("trained on these people" in note for note in table(saw).notes)
    assert experiment.extra["ranker_saw_this_data"] is False


def test_an_unknown_method_is_refused_with_the_known_ones(six: Path) -> None:
    with pytest.raises(
        ValueError, match="'all' is unknown; known: query_only, with_context, with_true_context"
    ):
        run_tools(six, methods=["all"])


@pytest.mark.parametrize("tools", [None, []])
def test_data_without_labelled_tools_is_refused(tmp_path: Path, tools: list[str] | None) -> None:
    bare = copied(tmp_path / "bare", lambda row: {**row, "tools": tools})
    with pytest.raises(ValueError, match="bare: no request says which tools fit"):
        run_tools(bare)


def test_a_data_sets_own_toolbox_comes_before_the_packaged_one(tmp_path: Path) -> None:
    assert toolbox_of(tmp_path) == Toolbox.packaged()
    (tmp_path / "toolbox.yaml").write_text(
        "music:\n"
        "  - {api: hum, description: hums, effect: outward, arguments: [], fails_when: never}\n",
        encoding="utf-8",
    )
    assert toolbox_of(tmp_path).names == ("hum",)
