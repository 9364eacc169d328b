"""Claims about the experiment of Table 2: what its file says, on six people and once on all."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.context.item_ranker import Ranker
from eval.context.run import METHODS, run_context, table
from eval.core.examples import load_examples, load_views
from eval.core.experiment import Experiment, data_sha256
from eval.core.intervals import bootstrap_interval
from eval.core.ranking import recall_at
from stores.people.app_spec import packaged_apps
from stores.people.dataset import load_dataset
from tests.eval.six_people import Remembering, copied
from tests.training.conftest import copy_people

pytestmark = pytest.mark.slow

MEASURES = {"recall@3", "recall@5", "recall@10", "ndcg@3", "ndcg@5", "ndcg@10"}
RUN = tuple(name for name in METHODS if name != "cot_generated")  # has tests of its own


@pytest.fixture(scope="module", autouse=True)
def encoder() -> Iterator[Remembering]:
    patch = pytest.MonkeyPatch()
    remembering = Remembering()
    patch.setattr("eval.context.run.load_encoder", lambda name: remembering)
    yield remembering
    patch.undo()


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("context") / "six")


@pytest.fixture(scope="module")
def experiment(six: Path, encoder: Remembering) -> Experiment:
    return run_context(six, methods=RUN)


def test_the_figures_have_exactly_the_methods_that_ran_and_the_measures_of_the_contract(
    experiment: Experiment,
) -> None:
    assert list(experiment.figures) == list(RUN)
    for figures in experiment.figures.values():
        assert isinstance(figures, dict)
        assert set(figures) == MEASURES
        assert all(isinstance(value, float) and 0 <= value <= 100 for value in figures.values())


def test_a_method_that_could_not_run_is_absent_and_has_its_reason(
    six: Path, tmp_path: Path
) -> None:
    Ranker.packaged().save(tmp_path)  # without the adapter
    some = run_context(six, model=tmp_path, methods=["semantic", "finetuned"], limit=5)
    assert list(some.figures) == ["semantic"]
    reason = some.skipped["finetuned"]
    assert "holds no adapter" in reason
    assert f"finetuned: not run, {reason}" in table(some).notes
    assert ["finetuned", *["-"] * 7] in [row[:8] for row in table(some).rows]


def test_the_figure_of_semantic_search_is_the_mean_recall_of_the_cosine_order(
    experiment: Experiment, six: Path, encoder: Remembering
) -> None:
    recalls, people = [], []
    for one in load_examples(six, encoder):
        if one.labels.relevant:
            order = np.argsort(-one.context.cosine, kind="stable")
            ids = [one.context.view.ids[row] for row in order]
            recalls.append(100 * recall_at(ids, one.labels.relevant, 3))
            people.append(one.asked.person_id)
    interval = bootstrap_interval(recalls, people)
    assert interval is not None
    intervals: Any = experiment.intervals
    assert intervals["semantic"]["recall@3"] == pytest.approx(
        [interval.low, interval.high], abs=0.01
    )
    assert all(set(found) == MEASURES for found in intervals.values())
    figures: Any = experiment.figures["semantic"]
    assert figures["recall@3"] == pytest.approx(np.mean(recalls), abs=0.01)
    assert experiment.extra["requests"] == len(recalls)
    assert experiment.extra["people"] == 6


def test_breakdowns_stand_apart_from_the_figures(experiment: Experiment) -> None:
    by_kind: Any = experiment.extra["by_kind"]
    tests: Any = experiment.extra["paired_tests"]
    assert set(by_kind) == set(RUN)
    assert set(tests) == set(RUN) - {"lambdamart_rrf"}
    assert all(0 <= one["p"] <= 1 for one in tests.values())


def test_the_file_names_its_data_and_can_be_written(
    experiment: Experiment, six: Path, tmp_path: Path
) -> None:
    assert (experiment.experiment, experiment.data) == ("context", str(six))
    assert experiment.data_sha256 == data_sha256(six)
    experiment.write(tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert Experiment.model_validate(written) == experiment


def test_the_table_has_a_row_per_method_and_marks_the_oracle(experiment: Experiment) -> None:
    made = table(experiment)
    oracles = {"cot", "finetuned_cot"}
    assert [row[0] for row in made.rows] == [
        f"{one} (oracle)" if one in oracles else one for one in RUN
    ]
    assert not any("trained on these people" in note for note in made.notes)


def test_only_the_chosen_methods_run_in_the_order_of_the_table(six: Path) -> None:
    some = run_context(six, methods=["semantic", "bm25t"], limit=5)
    assert list(some.figures) == ["bm25t", "semantic"]
    assert some.skipped == {}
    assert some.settings["limit"] == 5
    assert [row[0] for row in table(some).rows] == ["bm25t", "semantic"]


def test_a_ranker_that_was_trained_on_the_data_is_told(
    experiment: Experiment, six: Path, tmp_path: Path
) -> None:
    packaged = Ranker.packaged()
    assert experiment.extra["ranker_saw_this_data"] is False
    card = packaged.card.model_copy(update={"data_sha256": data_sha256(six)})
    replace(packaged, card=card).save(tmp_path / "ranker")
    saw = run_context(six, model=tmp_path / "ranker", methods=["semantic"], limit=3)
    assert saw.extra["ranker_saw_this_data"] is True
    assert any("trained on these people" in note for note in table(saw).notes)


def test_a_ranker_of_another_encoder_is_refused(six: Path, tmp_path: Path) -> None:
    packaged = Ranker.packaged()
    card = packaged.card.model_copy(update={"encoder": "gtr-t5-xl"})
    replace(packaged, card=card).save(tmp_path / "ranker")
    with pytest.raises(ValueError, match="trained with gtr-t5-xl, not all-MiniLM"):
        run_context(six, model=tmp_path / "ranker", methods=["lambdamart"], limit=3)


def test_an_unknown_method_is_refused_with_the_known_ones(six: Path) -> None:
    with pytest.raises(
        ValueError, match=r"--methods: 'bm26' is unknown; known: bm25t, semantic, .*rrf"
    ):
        run_context(six, methods=["semantic", "bm26"])


def test_data_without_labels_is_refused(tmp_path: Path) -> None:
    bare = copied(tmp_path / "bare", lambda row: {**row, "relevant": None})
    with pytest.raises(ValueError, match="bare: no request says which items are relevant"):
        run_context(bare)


def test_data_in_which_nothing_is_relevant_is_refused(tmp_path: Path) -> None:
    empty = copied(tmp_path / "empty", lambda row: {**row, "relevant": []})
    with pytest.raises(ValueError, match="no query has a relevant id"):
        run_context(empty, methods=["semantic"])


def test_without_written_thoughts_the_oracle_is_skipped(tmp_path: Path) -> None:
    silent = copied(tmp_path / "silent", lambda row: {**row, "chain_of_thought": None})
    found = run_context(silent, methods=["cot", "semantic"], limit=5)
    assert list(found.figures) == ["semantic"]
    assert found.skipped == {"cot": "the data set has no written thoughts"}


def test_examples_without_a_label_are_left_out_and_empty_labels_kept(
    tmp_path: Path, encoder: Remembering
) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        number = int(row["query_id"].rpartition("q")[2])
        return {**row, "relevant": {1: None, 2: []}.get(number, row["relevant"])}

    data = copied(tmp_path / "partly", change)
    found = {one.asked.query_id: one for one in load_examples(data, encoder)}
    asked = {one.query_id for one in load_dataset(data).requests}
    assert asked - set(found) == {query_id for query_id in asked if query_id.endswith("q1")}
    for query_id, one in found.items():
        marked = {one.context.view.ids[row] for row in np.flatnonzero(one.relevance)}
        assert marked == set(one.labels.relevant or ())
        assert not query_id.endswith("q2") or not marked


def test_views_of_a_data_set_are_grouped_by_application_as_the_stores_group_them(
    six: Path, encoder: Remembering
) -> None:
    order = [app.name for app in packaged_apps()]
    dataset = load_dataset(six)
    views = load_views(dataset, encoder)
    assert set(views) == {persona.person.person_id for persona in dataset.personas}
    for persona in dataset.personas:
        view = views[persona.person.person_id]
        assert sorted(view.ids) == sorted(item.id for item in persona.items)
        apps = [order.index(item.app) for item in view.items]
        assert apps == sorted(apps)
        assert view.vectors.shape == (len(view), 1152)


def test_the_shipped_ranker_finds_what_dev_people_need(tmp_path: Path) -> None:
    nine = copy_people("dev", 9, tmp_path / "nine")
    figures: Any = run_context(nine, methods=["lambdamart_rrf"]).figures
    assert figures["lambdamart_rrf"]["recall@3"] >= 88
    assert figures["lambdamart_rrf"]["recall@10"] >= 96
