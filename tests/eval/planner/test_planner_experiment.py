"""Claims about the experiment of Table 3, on a few requests of one packaged person."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.planning.embedded import EmbeddedPlanner
from eval.planner.run import SETTINGS, run_planner, table
from stores.compressed import read_kept
from synth.reference import split_folder

PLANNED = {
    "asked",
    "ast_after_question",
    "accepted_after_question",
    "api_right",
    "ast_accuracy",
    "done_right",
    "sure",
    "sure_right",
    "text_right",
    "exact_match",
    "exact_match_closed",
    "accepted",
    "hallucination",
    "ungrounded",
}


@pytest.fixture(autouse=True)
def one_planner(converted_planner: Path, configure: Callable[..., None]) -> None:
    folder = next((converted_planner / "models").iterdir())
    configure(planner_model=folder, threads=1)


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One packaged dev person with all their requests."""
    folder = tmp_path_factory.mktemp("planner") / "one"
    folder.mkdir()
    for name in ("personas.jsonl", "queries.jsonl"):
        lines = read_kept(split_folder("dev") / name).decode().splitlines()
        mine = [line for line in lines if json.loads(line)["persona_id"] == "p007"]
        (folder / name).write_text("\n".join(mine) + "\n", encoding="utf-8")
    return folder


def test_figures_have_the_contracts_keys_and_nothing_is_hallucinated(person: Path) -> None:
    experiment = run_planner(person, methods=["rag", "context_tuned_rag"], limit=3, free=False)
    assert list(experiment.figures) == ["rag", "context_tuned_rag"]
    for found in experiment.figures.values():
        figures: Any = found
        assert set(figures) == PLANNED
        assert all(0 <= value <= 100 for value in figures.values())
        assert figures["hallucination"] == 0
    assert sum(experiment.extra["errors"]["rag"].values()) <= 3  # type: ignore[call-overload, index]
    assert table(experiment).rows[0][0] == "rag"


def test_free_decoding_adds_its_two_figures(person: Path) -> None:
    experiment = run_planner(person, methods=["upper_bound"], limit=2)
    figures: Any = experiment.figures["upper_bound"]
    assert set(figures) == PLANNED | {"ast_accuracy_free", "hallucination_free"}


def test_a_stopped_run_goes_on_where_it_stopped(
    person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    first = run_planner(person, methods=["rag"], limit=3, free=False, resume=rows)
    text = rows.read_text(encoding="utf-8")
    rows.write_text(text[: text.rindex('"setting"')], encoding="utf-8")  # killed while writing
    planned = []
    plan = EmbeddedPlanner.plan
    monkeypatch.setattr(EmbeddedPlanner, "plan", lambda *args: planned.append(1) or plan(*args))
    again = run_planner(person, methods=["rag"], limit=3, free=False, resume=rows)
    assert len(planned) == 1
    assert again.figures == first.figures


def test_the_order_of_the_labelled_tools_tells_nothing(person: Path, tmp_path: Path) -> None:
    turned = tmp_path / "turned"
    turned.mkdir()
    (turned / "personas.jsonl").write_bytes((person / "personas.jsonl").read_bytes())
    lines = (person / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    text = "".join(json.dumps({**row, "tools": row["tools"][::-1]}) + "\n" for row in rows)
    (turned / "queries.jsonl").write_text(text, encoding="utf-8")
    plain = run_planner(person, methods=["upper_bound"], limit=2, free=False)
    other = run_planner(turned, methods=["upper_bound"], limit=2, free=False)
    assert plain.figures == other.figures


def test_an_unknown_setting_is_refused_with_the_known_ones(person: Path) -> None:
    with pytest.raises(ValueError, match=f"'all' is unknown; known: {', '.join(SETTINGS)}"):
        run_planner(person, methods=["all"])
