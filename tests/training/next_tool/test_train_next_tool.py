"""Claims about fitting the next tool: features of a chain come from models that never saw it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.agents.next_tool import NextTool, load_demonstrations, observed
from ctrag.agents.next_tool.evidence import FEATURES, candidates
from ctrag.agents.next_tool.held_out import split_held_out
from ctrag.cli.train import dependency
from eval.dependency.run import run_dependency
from training.next_tool import train as fitting
from training.next_tool import trees


def test_features_of_a_chain_come_from_models_that_never_saw_it(
    chains: Path, fit_chains: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, set[str]]] = []
    asked = trees.ask

    def watched(memory: Any, weights: Any, texts: Any, text: str, vector: Any) -> Any:
        seen.append((text, {one.text for one in memory.demonstrations}))
        return asked(memory, weights, texts, text, vector)

    monkeypatch.setattr(trees, "ask", watched)
    rows = load_demonstrations(chains)
    fit_chains(rows, linear=False, trees=2)
    assert {text for text, _ in seen} == {one.text for one in rows}
    assert all(text not in known for text, known in seen)


def test_fold_weights_are_those_of_the_other_folds_alone(
    chains: Path, fit_chains: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[Any] = []
    made = fitting.fit_trees
    monkeypatch.setattr(
        fitting, "fit_trees", lambda stage, texts: stages.append(stage) or made(stage, texts)
    )
    fit_chains(load_demonstrations(chains), linear=False, trees=2)
    [stage] = stages
    kept = stage.fold != 0
    weights, _ = stage.weights(kept)
    rows = kept[stage.steps.owner]
    inputs, wanted = stage.rows[rows], stage._wanted[rows]
    gram = inputs.T @ inputs + np.eye(inputs.shape[1], dtype=np.float32)
    assert weights.step == pytest.approx(np.linalg.solve(gram, inputs.T @ wanted), abs=2e-2)
    # Requests of hidden tools are not known either.
    hidden = stage.calling(frozenset({"delete_file"}))
    assert 0 < (hidden & kept).sum() < kept.sum()
    without, _ = stage.weights(kept, hidden)
    rows = (kept & ~hidden)[stage.steps.owner]
    inputs, wanted = stage.rows[rows], stage._wanted[rows]
    gram = inputs.T @ inputs + np.eye(inputs.shape[1], dtype=np.float32)
    assert without.step == pytest.approx(np.linalg.solve(gram, inputs.T @ wanted), abs=2e-2)


def test_fitting_twice_gives_the_same_model(
    chains: Path, fit_chains: Callable[..., NextTool]
) -> None:
    rows = load_demonstrations(chains)
    one, two = (fit_chains(rows, linear=False, trees=5) for _ in range(2))
    assert one.fitted.trees == two.fitted.trees
    assert np.array_equal(one.fitted.step, two.fitted.step)


def test_end_and_the_likely_ones_are_always_candidates() -> None:
    table = np.zeros((100, len(FEATURES)), dtype=np.float32)
    table[77, FEATURES.index("cosine")] = 1
    table[88, FEATURES.index("linear")] = 1
    rows = set(candidates(table))
    assert {0, 77, 88} <= rows
    assert len(rows) < 70


def test_too_few_chains_for_the_folds_are_refused(
    chains: Path, fit_chains: Callable[..., NextTool]
) -> None:
    with pytest.raises(
        ValueError, match="are of 3 sessions, episodes or requests; at least 4 are needed"
    ):
        fit_chains(load_demonstrations(chains)[:3])


@pytest.fixture
def trained(
    chains: Path, word_bins: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., NextTool]:
    """`trained(data=..., ...)`: the loaded result of `ctrag train dependency`."""
    monkeypatch.setattr(fitting, "load_encoder", lambda name: word_bins)

    def train(data: Path = chains, **options: Any) -> NextTool:
        dependency(data, tmp_path / "model", threads=1, **options)
        return NextTool.load(tmp_path / "model", word_bins)

    return train


def test_observations_are_trained_on_and_not_counted_twice(
    trained: Callable[..., NextTool], word_bins: Any, tmp_path: Path
) -> None:
    request, calls = "Water the ficus and then lock the greenhouse", ("water_plants", "lock_door")
    model = trained()
    count = len(model.memory)
    for _ in range(3):
        model.observe(request, calls)
    assert model.rank(request, method="dtdr_l")[0][0] != "water_plants"
    again = trained()
    assert (again.card.demonstrations, again.card.observed) == (count + 3, 3)
    assert len(again.memory) == count + 3
    assert again.memory.counts[again.memory.numbers["lock_door"]] == 3
    for method in ("dtdr_l", "learned", "dtdr_c", "combined"):
        assert again.rank(request, method=method)[0][0] == "water_plants"
    again.observe(request, calls)
    later = NextTool.load(tmp_path / "model", word_bins)
    assert later.memory.counts[later.memory.numbers["lock_door"]] == 4
    assert trained().card.observed == 4


def test_a_log_alone_is_enough_data(trained: Callable[..., NextTool], tmp_path: Path) -> None:
    log = tmp_path / "observed.jsonl"
    for number in range(8):
        observed.append(log, observed.Observation(f"Wake me at {number}", ("set_alarm",)))
    model = trained(log)
    assert (len(model.memory), model.card.observed) == (8, 8)
    assert model.rank("Wake me at 9", ["set_alarm"], method="dtdr_c")[0][0] == "end"
    assert [one.text for one in load_demonstrations(log)] == [
        one.text for one in model.memory.demonstrations
    ]


def test_observations_of_held_out_requests_are_not_trained_on(
    chains: Path, trained: Callable[..., NextTool], tmp_path: Path
) -> None:
    _, held = split_held_out(load_demonstrations(chains))
    log = tmp_path / "log.jsonl"
    observed.append(log, observed.Observation(held[0].text, held[0].tools))
    observed.append(log, observed.Observation("Water the ficus", ("water_plants",)))
    model = trained(hold_out=True, observed=log)
    assert model.card.observed == 1
    assert held[0].text not in {one.text for one in model.memory.demonstrations}


def test_a_card_says_seed_command_and_that_chains_are_nobodys(
    trained: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["/usr/bin/ctrag", "train", "dependency", "--data", "my chains"]
    )
    card = trained(seed=7).card
    assert (card.seed, card.people) == (7, [])
    assert card.command == "ctrag train dependency --data 'my chains'"


def test_a_missing_log_is_an_error(trained: Callable[..., NextTool], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such log of observations"):
        trained(observed=tmp_path / "nothing.jsonl")


def test_figures_of_a_card_are_those_of_the_experiment_where_tools_have_servers(
    chains: Path, word_bins: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Episodes call bare names; two servers have a tool of one name, which is then an id."""
    folder = tmp_path / "episodes"
    folder.mkdir()
    rows = [
        {
            "episode_id": one.id,
            "domain": "home",
            "instruction": one.text,
            "steps": [{"tool": tool} for tool in one.tools],
        }
        for one in load_demonstrations(chains)
    ]
    (folder / "episodes.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    tools = json.loads((chains / "tools.json").read_text(encoding="utf-8"))
    own = [{**one, "server": "home"} for one in tools]
    others = [{**one, "server": "office"} for one in tools]
    (folder / "tools.json").write_text(json.dumps([*own, *others]), encoding="utf-8")
    monkeypatch.setattr(fitting, "load_encoder", lambda name: word_bins)
    monkeypatch.setattr(fitting, "CachedEncoder", lambda encoder, folder: encoder)
    model = fitting.train_dependency(folder, hold_out=True)
    found = run_dependency(folder, None, model=model, methods=["dtdr_c", "combined"])
    assert found.extra["held_out"] == {
        "demonstrations": model.card.held_out,
        "steps": sum(len(one.tools) + 1 for one in split_held_out(load_demonstrations(folder))[1]),
    }
    for name in ("dtdr_c", "combined"):
        assert model.card.figures[name] == found.figures[name]
    assert model.card.figures["dtdr_c"]["top1"] > 50
