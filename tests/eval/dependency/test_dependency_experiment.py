"""Claims about the tool-dependency experiment, on eighty small chains."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.agents.next_tool import METHODS, Demonstration, NextTool, load_demonstrations
from ctrag.agents.next_tool.held_out import split_held_out
from ctrag.models.endpoint import ChatEndpoint
from eval.core.experiment import Experiment, data_sha256
from eval.dependency import ablation
from eval.dependency.endpoint import EndpointRetrievers
from eval.dependency.figures import (
    MEASURES,
    figures_of,
    first_step,
    intervals_of,
    later_with_end,
    paired_tests,
    speed_of,
    without_end,
)
from eval.dependency.new_tools import new_tools, new_tools_lines
from eval.dependency.report import dependency_report
from eval.dependency.run import run_dependency
from eval.dependency.steps import Ranks, Steps, rank_steps
from eval.dependency.table import table
from eval.report.page import render


@pytest.fixture(scope="module")
def experiment(chains: Path, fit_chains: Callable[..., NextTool]) -> Experiment:
    return run_dependency(chains, fit_chains)


def test_the_figures_have_exactly_the_keys_of_the_contract(experiment: Experiment) -> None:
    assert tuple(experiment.figures) == METHODS
    for name, found in experiment.figures.items():
        figures: Any = found
        intervals: Any = experiment.intervals[name]
        assert tuple(figures) == MEASURES
        for measure, (low, high) in intervals.items():
            assert 0 <= low <= figures[measure] <= high <= 100


def test_one_acceptable_tool_makes_f1_top1(experiment: Experiment) -> None:
    assert all(one["f1"] == one["top1"] for one in experiment.figures.values())  # type: ignore[call-overload,index]


def test_what_knows_request_and_history_beats_what_knows_one_of_them(
    experiment: Experiment,
) -> None:
    top1 = {name: one["top1"] for name, one in experiment.figures.items()}  # type: ignore[call-overload,index]
    for name in ("random", "bm25", "qts", "dependency", "learned", "bigram"):
        assert top1["combined"] > top1[name]


def test_what_is_held_out_is_a_fifth_and_was_not_learned_from(
    experiment: Experiment, chains: Path, next_tool: NextTool
) -> None:
    rows = load_demonstrations(chains)
    held = split_held_out(rows)[1]
    assert experiment.extra["held_out"] == {
        "demonstrations": 16,
        "steps": sum(len(one.tools) + 1 for one in held),
    }
    assert {one.id for one in held}.isdisjoint(one.id for one in next_tool.memory.demonstrations)


def test_ranks_are_those_of_the_ranking(next_tool: NextTool, chains: Path) -> None:
    steps = Steps.of(split_held_out(load_demonstrations(chains))[1][:3])
    for method in METHODS:
        ranks = rank_steps(next_tool, steps, method)
        for place, one in enumerate(steps.owners):
            names = [n for n, _ in next_tool.rank(one.text, steps.histories[place], method=method)]
            assert ranks.with_end[place] == names.index(steps.wanted[place]) + 1
            if steps.wanted[place] != "end":
                names.remove("end")
                assert ranks.without_end[place] == names.index(steps.wanted[place]) + 1


def test_measures_are_what_they_say() -> None:
    steps = Steps.of([Demonstration("q", "go", ("a", "b"))])
    found = figures_of(Ranks(np.array([1, 6, 2.0]), np.array([1, 5, 9.0]), np.ones((3, 2))), steps)
    assert found["mrr"] == pytest.approx(100 * (1 + 1 / 6 + 1 / 2) / 3, abs=0.01)
    assert found["top1"] == found["f1"] == pytest.approx(100 / 3, abs=0.01)
    assert found["top5"] == pytest.approx(100 * 2 / 3, abs=0.01)
    # Of `b` alone, `end` taken out: the first step has no history, the last one ends.
    assert (found["top1_later"], found["top5_later"]) == (0, 100)


@pytest.mark.parametrize(
    ("with_end", "without_end", "top1_later", "top5_later"),
    [(2.0, 1.0, 100, 100), (6.0, 5.0, 0, 100), (7.0, 6.0, 0, 0)],
)
def test_later_steps_are_ranked_without_end(
    with_end: float, without_end: float, top1_later: float, top5_later: float
) -> None:
    steps = Steps.of([Demonstration("q", "go", ("a", "b"))])
    ranks = Ranks(np.array([1, with_end, 1]), np.array([1, without_end, 9]), np.ones((3, 2)))
    found = figures_of(ranks, steps)
    assert (found["top1_later"], found["top5_later"]) == (top1_later, top5_later)


def test_steps_are_parted_by_history_and_by_whether_they_end() -> None:
    # Two chains: a b end, and a end; their ranks with `end`, and with `end` taken out.
    steps = Steps.of([Demonstration("q", "go", ("a", "b")), Demonstration("r", "run", ("a",))])
    ranks = Ranks(
        np.array([1, 6, 2.0, 6, 1]),
        np.array([1, 5, 9.0, 5, 9]),
        np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10.0]]),
    )
    mean = pytest.approx
    assert first_step(ranks, steps) == {"mrr": 60, "top1": 50, "top5": 100}  # 1 and 5
    found = later_with_end(ranks, steps)  # 6, 2 and 1
    assert found == {
        "mrr": mean(100 * (1 / 6 + 1 / 2 + 1) / 3, abs=0.01),
        "top1": mean(100 / 3, abs=0.01),
        "top5": mean(200 / 3, abs=0.01),
    }
    found = without_end(ranks, steps)  # 1, 5 and 5
    assert found == {
        "mrr": mean(100 * 1.4 / 3, abs=0.01),
        "top1": mean(100 / 3, abs=0.01),
        "top5": 100,
    }
    assert speed_of(ranks, steps) == {
        "p50_ms": 5,
        "p95_ms": 8.6,  # 7 + 0.8 * 2
        "p50_processor_ms": 6,
        "p50_new_request_ms": 4,  # of 1 and 7, the first steps
        "p50_whole_request_ms": 12.5,  # of 1 + 3 + 5 and 7 + 9
    }


def test_intervals_and_tests_are_over_chains() -> None:
    steps = Steps.of([Demonstration("q", "go", ("a", "b")), Demonstration("r", "run", ("a",))])
    both = [
        Ranks(np.array(ranks), np.array(ranks), np.ones((5, 2)))
        for ranks in ([1, 2, 7, 2, 1.0], [2, 2, 2, 2, 2.0])
    ]
    found: Any = intervals_of(both[0], steps)
    # Top-1 of 1 step in 3, and of 1 in 2: one chain twice, or both, 2 in 5.
    assert found["top1"] == [33.33, 50]
    assert found["top5"] == [66.67, 100]
    assert found["top5_later"] is None  # one chain has such steps
    # Both chains are better: of four swaps, two differ as much. (1 + 1) of 5 steps.
    tests: Any = paired_tests({"combined": both[0], "bm25": both[1]}, steps)
    assert tests == {"bm25": {"top1_difference": 40, "p": 0.5}}
    assert paired_tests({"bm25": both[1]}, steps) == {}
    alone = Steps.of([Demonstration("q", "go", ("a", "b", "c", "d"))])
    assert paired_tests({"combined": both[0], "bm25": both[1]}, alone) == {}


def test_figures_are_rounded_to_hundredths_and_times_to_thousandths() -> None:
    steps = Steps.of([Demonstration("q", "go", ()), Demonstration("r", "run", ("a",))])
    ranks, other = (
        Ranks(np.array(found), np.array(found), np.full((3, 2), 1.23456))
        for found in ([1, 2, 3.0], [2, 2, 2.0])
    )
    assert figures_of(ranks, steps)["top1"] == 33.33
    speed = speed_of(ranks, steps)
    assert speed.pop("p50_whole_request_ms") == 1.852  # of one step and of two
    assert set(speed.values()) == {1.235}
    tests: Any = paired_tests({"combined": ranks, "bm25": other}, steps)
    assert tests["bm25"]["top1_difference"] == 33.33


def test_a_tool_that_the_model_does_not_know_is_never_found(next_tool: NextTool) -> None:
    steps = Steps.of([Demonstration("q", "Fold the laundry", ("fold_laundry",))])
    ranks = rank_steps(next_tool, steps, "combined")
    assert ranks.with_end[0] == np.inf
    assert figures_of(ranks, steps)["mrr"] <= 50


def test_with_a_model_nothing_is_fitted_and_everything_is_asked(
    chains: Path, next_tool: NextTool
) -> None:
    asked = run_dependency(chains, None, model=next_tool, methods=["dtdr_c", "bigram"])
    assert list(asked.figures) == ["bigram", "dtdr_c"]
    held: Any = asked.extra["held_out"]
    assert held["demonstrations"] == 80
    assert asked.extra["seen_by_model"] == 64
    assert any("64 of these requests were learned from" in note for note in table(asked).notes)


def test_a_model_of_this_very_folder_is_asked_what_it_did_not_see(
    chains: Path, next_tool: NextTool
) -> None:
    card = next_tool.card.model_copy(update={"data_sha256": data_sha256(chains)})
    parts = next_tool
    model = NextTool(parts.memory, parts.fitted, parts.tools, parts.texts, parts.encoder, card)
    asked = run_dependency(chains, None, model=model, methods=["bigram"])
    held: Any = asked.extra["held_out"]
    assert held["demonstrations"] == 16


def test_a_model_of_this_very_file_is_asked_what_it_did_not_see(
    chains: Path, next_tool: NextTool
) -> None:
    path = chains / "queries.jsonl"
    hashed = sha256(path.read_bytes()).hexdigest()
    parts, card = next_tool, next_tool.card.model_copy(update={"data_sha256": hashed})
    model = NextTool(parts.memory, parts.fitted, parts.tools, parts.texts, parts.encoder, card)
    asked = run_dependency(path, None, model=model, methods=["bigram"])
    held: Any = asked.extra["held_out"]
    assert (held["demonstrations"], asked.data_sha256) == (16, hashed)


def test_tools_of_another_folder_are_ranked_by_their_texts(
    next_tool: NextTool, word_bins: Any, tmp_path: Path
) -> None:
    next_tool.save(tmp_path / "model")
    model = NextTool.load(tmp_path / "model", word_bins)
    tool = {"name": "fold", "domain": "home", "description": "Fold the clean laundry"}
    other = {"name": "wash", "domain": "home", "description": "Wash what is dirty"}
    (tmp_path / "tools.json").write_text(json.dumps([other, tool]), encoding="utf-8")
    episode = {"episode_id": "e", "domain": "home", "instruction": "Fold the clean laundry, please"}
    row = json.dumps({**episode, "steps": [{"tool": "fold"}]})
    (tmp_path / "episodes.jsonl").write_text(row, encoding="utf-8")
    asked = run_dependency(tmp_path, None, model=model, methods=["bm25", "bigram"])
    first: Any = asked.extra["first_step"]
    assert first["bm25"]["top1"] == 100
    # No demonstration knows any of the two, and none of its own tools stands before them.
    assert (first["bigram"]["top1"], first["bigram"]["mrr"]) == (0, 50)
    assert asked.extra["seen_by_model"] == 0


def test_an_exact_roll_out_has_the_same_tools_and_ends(experiment: Experiment) -> None:
    found: Any = experiment.extra["roll_out"]
    for one in found.values():
        assert one["exact"] <= one["same_tools"] <= one["ended"]
    assert found["combined"]["exact"] > found["bigram"]["exact"]
    assert found["bm25"]["ended"] == 0


def test_methods_that_need_a_language_model_are_skipped_with_the_reason(
    experiment: Experiment,
) -> None:
    assert set(experiment.skipped) == {"less_is_more", "tool_graph"}
    assert all("language model" in reason for reason in experiment.skipped.values())


def test_an_endpoint_describes_ideal_tools_and_what_needs_what(
    chains: Path, next_tool: NextTool, endpoint: Any
) -> None:
    """One description is the very text of `set_alarm`; one dependency ties the flights together."""
    alarm, search = (
        next(tool for tool in next_tool.tools if tool.name == name)
        for name in ("set_alarm", "search_flight")
    )
    asker = EndpointRetrievers(next_tool, ChatEndpoint(endpoint.url, "toy", "key"))
    endpoint.answers = [f"1. Order a taxi to the station\n2. {alarm.text}"]
    chances = asker.chances("Wake me", (), "less_is_more")
    assert next_tool.memory.names[int(chances.argmax())] == "set_alarm"
    assert "Wake me" in endpoint.asked()
    endpoint.answers = [
        "search_flight" if tool.name == "book_flight" else "none" for tool in next_tool.tools
    ]
    before = next_tool.chances(search.text, (), "qts")
    after = asker.chances(search.text, (), "tool_graph")
    booked = next_tool.memory.numbers["book_flight"]
    assert after[booked] > before[booked]
    assert len(endpoint.requests) == 1 + len(next_tool.tools)
    found = run_dependency(
        chains,
        None,
        model=next_tool,
        endpoint=ChatEndpoint(endpoint.url, "toy", "key"),
        methods=["less_is_more", "qts"],
        limit=2,
    )
    assert list(found.figures) == ["qts", "less_is_more"]
    assert "Less-is-More" in render(dependency_report(found))


def test_a_method_that_asks_wants_an_endpoint(chains: Path, next_tool: NextTool) -> None:
    with pytest.raises(ValueError, match="less_is_more asks a language model, and no endpoint"):
        run_dependency(chains, None, model=next_tool, methods=["less_is_more"])


def test_the_table_and_the_page_show_every_method(experiment: Experiment, tmp_path: Path) -> None:
    lines = table(experiment).lines()
    assert all(any(line.startswith(name) for line in lines) for name in METHODS)
    own: Any = experiment.figures["combined"]
    low, high = experiment.intervals["combined"]["top1_later"]  # type: ignore[call-overload,index,misc]
    [row] = [line for line in lines if line.startswith("combined")]
    assert f"{own['top1_later']:.1f} ({low:.1f}–{high:.1f})" in row
    page = render(dependency_report(experiment))
    assert "DTDR-C" in page
    experiment.write(tmp_path / "out.json")
    read = Experiment.model_validate_json((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert read == experiment


def test_ablations_cover_history_clusters_and_demonstrations(
    chains: Path, fit_chains: Callable[..., NextTool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "COUNTS", (16, 32, 1_000))
    found = run_dependency(chains, fit_chains, methods=["dtdr_c", "combined"], detail=True)
    extra: Any = found.extra
    assert list(extra["history_length"]) == ["0", "1", "2", "3", "4", "5"]
    assert (
        extra["history_length"]["0"]["dtdr_c"]["top1"]
        < extra["history_length"]["3"]["dtdr_c"]["top1"]
    )
    assert set(extra["history_length"]["0"]) == {"dtdr_c", "dtdr_l", "combined"}
    assert list(extra["demonstration_count"]) == ["16", "32", "64"]
    assert list(extra["clusters"]) == ["1", "2", "6", "19", "64"]
    page = render(dependency_report(found))
    assert page.count("<svg") == 4


def test_tools_that_are_left_out_are_found_by_their_text(
    chains: Path, fit_chains: Callable[..., NextTool]
) -> None:
    kept, held = split_held_out(load_demonstrations(chains))
    alone = [one for one in held if one.tools == ("delete_file",)] or held
    rest = [one for one in kept if "delete_file" not in one.tools]
    model = fit_chains(rest, linear=False)
    assert model.memory.counts[model.memory.numbers["delete_file"]] == 0
    names = [name for name, _ in model.rank(alone[0].text)]
    assert names.index("delete_file") < 5
    found: Any = new_tools(kept, held, fit_chains, lambda _: None)
    assert found["steps"] > 0
    assert found["figures"]["combined"]["mrr"] > found["figures"]["dtdr_c"]["mrr"]
    # What others lose is said beside it: those are requests that need no such tool.
    assert set(found["others"]) == set(found["figures"])
    assert found["others"]["dtdr_c"]["mrr"] > found["figures"]["dtdr_c"]["mrr"]
    [*_, first, second, said] = new_tools_lines(found)
    assert (first.split()[0], second.split()[0]) == ("dtdr_c", "combined")
    assert said.startswith(f"{found['tools']} tools without a demonstration: ")
    assert new_tools_lines({}) == []


def test_an_unknown_method_is_refused_with_the_known_ones(chains: Path) -> None:
    with pytest.raises(ValueError, match="'all' is unknown; known: random, bm25, qts"):
        run_dependency(chains, None, methods=["all"])


@pytest.mark.slow
def test_the_command_fits_asks_and_writes(
    chains: Path, tmp_path: Path, process: Callable[..., Any]
) -> None:
    model, out = tmp_path / "model", tmp_path / "out.json"
    code = (
        "import sys\n"
        "from ctrag.cli import output\n"
        "from ctrag.cli.main import main\n"
        "output._noted = float('inf')\n"  # no notes on long work, however slow the machine
        "for line in sys.argv[1:]:\n"
        "    sys.argv = ['ctrag', *line.split()]\n"
        "    try: main()\n"
        "    except SystemExit as left: assert not left.code\n"
    )
    ran = process(
        code,
        f"train dependency --data {chains} --out {model} --threads 1 --hold-out",
        f"eval dependency --data {chains} --model {model} --out {out}",
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads((model / "card.json").read_text(encoding="utf-8"))["held_out"] == 16
    figures = json.loads(out.read_text(encoding="utf-8"))["figures"]
    assert figures["combined"]["top1"] > 50
    assert f"{figures['combined']['mrr']:.1f}" in ran.stdout
