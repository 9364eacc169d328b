"""Every method of the instruction experiment on toys whose answers are known."""

import json
from pathlib import Path

import pytest

from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.prompt.settings import PromptSettings
from eval.instructions.methods import CachedPassageEncoder, ExperimentContext, run_itr
from eval.instructions.steps import (
    DecisionStep,
    ExperimentCatalogue,
    load_experiment_catalogue,
    load_steps,
)
from eval.instructions.summary import Summary
from eval.instructions.tool_choice import Chosen, asking, whole_prompt
from eval.instructions.tool_choice_rows import ChoiceRows
from eval.instructions.unit_labels import needed_recall, needed_units
from tests.agents.prompt.toys import FRAGMENTS, TOOLS, TopicEncoder, card, count_words

EXTERNAL = Path(__file__).parents[3] / ".." / "shared" / "data" / "external" / "tau2-episodes"
PLAIN = PromptSettings(tau=0.0, signatures=0, whole_share=0.0, called_domain=0.0)


def step(episode: str, at: int, gold: str, text: str = "cancel my order") -> DecisionStep:
    done = ("shop/transfer",) * at
    return DecisionStep(
        f"{episode}/{at + 1}", episode, gold.partition("/")[0], text, done, done, gold, (gold,)
    )


STEPS = [
    step("e1", 0, "shop/cancel_order"),
    step("e1", 1, "shop/cancel_order"),
    step("e2", 0, "air/book_flight", "a flight please"),
    step("e3", 0, "shop/transfer", "cancel my order now"),
]


@pytest.fixture
def context() -> ExperimentContext:
    policies = {"shop": "Shop rules. " * 40, "air": "Air rules. " * 40}
    return ExperimentContext(
        tuple(FRAGMENTS),
        policies,
        ExperimentCatalogue(tuple(TOOLS), "0"),
        CachedPassageEncoder(TopicEncoder()),
        Reranker(card()),
        count_words,
        400,
    )


def test_itr_shows_few_tools_and_whole_prompts_show_all(context: ExperimentContext) -> None:
    run = run_itr(context, "full", STEPS, PLAIN)
    for one, at in zip(run.found, STEPS, strict=True):
        assert len(one.first.tools) == 2
        assert one.first.tokens <= 400
        whole = context.baseline("monolithic", "full", at, one.first)
        assert list(whole.tools.values()) == [tool.id for tool in TOOLS]
        assert whole.exposed
        assert "Shop rules." in whole.text
        assert "Air rules." in whole.text
    router = context.baseline("router_only", "full", STEPS[0], run.found[0].first)
    assert list(router.tools.values()) == [tool.id for tool in run.found[0].first.tools]
    assert "Air rules." in router.text
    rag = context.baseline("prompt_rag", "full", STEPS[0], run.found[0].first)
    assert "shop#cancel" in rag.fragments
    assert len(rag.tools) == len(TOOLS)


def test_figures_are_means_over_steps_and_misses_those_never_exposed(
    context: ExperimentContext,
) -> None:
    run = run_itr(context, "full", STEPS, PLAIN)
    rows = ChoiceRows(None)
    shown = run.shown(STEPS)
    for at, name in enumerate(["cancel_order", "return_order"]):
        prompt = whole_prompt(shown[at].text, asking(STEPS[at].instruction, STEPS[at].calls))
        rows.add("full", "itr", STEPS[at].id, prompt, Chosen(name, 10, 5))
    summary = Summary(STEPS, rows, [0, 1], count_words)
    figures, intervals = summary.figures({"full": {"itr": shown}}, {"full": run})
    exposed = [one.exposed for one in shown]
    assert figures["full"]["itr"]["gold_exposed"] == 100 * sum(exposed) / 4
    assert figures["full"]["itr"]["tools_correct"] == 50.0
    assert figures["miss_rate"]["discovery"] == 100 - 100 * sum(exposed) / 4
    assert figures["full"]["retriever_top1"]["tools_correct"] == 75.0  # transfer is asked by nobody
    low, high = intervals["full"]["itr"]["gold_exposed"]
    assert low <= figures["full"]["itr"]["gold_exposed"] <= high
    assert rows.costs() == {"itr@full": {"choices": 2, "prompt": 20, "computed": 10}}


def test_choices_are_read_again_and_another_prompt_is_another_choice(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    ChoiceRows(path, "small").add("8", "itr", "e/1", "prompt", Chosen("a", 3, 3))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"size": "8", "meth')  # killed while it wrote
    again = ChoiceRows(path, "small")
    row = again.get("8", "itr", "e/1", "prompt")
    assert row is not None
    assert row.name == "a"
    assert again.get("8", "itr", "e/1", "another prompt") is None
    other = ChoiceRows(path, "large")
    assert other.get("8", "itr", "e/1", "prompt") is None
    other.add("8", "itr", "e/1", "prompt", Chosen("c", 5, 5))
    assert other.costs() == {"itr@8": {"choices": 1, "prompt": 5, "computed": 5}}
    # What stands behind the half line is not lost.
    both = [ChoiceRows(path, one).get("8", "itr", "e/1", "prompt") for one in ("small", "large")]
    assert [one.name for one in both if one is not None] == ["a", "c"]


def test_larger_catalogues_hold_the_smaller_ones_and_the_episodes_tools(
    context: ExperimentContext,
) -> None:
    catalogue = context.catalogue
    sizes = [{one.id for one in catalogue.sized(size, STEPS[2])} for size in ("1", "3", "full")]
    assert sizes[0] == {"air/book_flight"}
    assert sizes[0] < sizes[1] < sizes[2]
    both = DecisionStep(
        *[*[getattr(STEPS[0], name) for name in STEPS[0].__slots__][:-1], ("a", "b", "c")]
    )
    with pytest.raises(ValueError, match="size: e1 calls more than 2 tools"):
        catalogue.sized("2", both)


def test_steps_are_decisions_after_the_calls_so_far(tmp_path: Path) -> None:
    episode = {
        "episode_id": "e",
        "domain": "shop",
        "instruction": "do it",
        "steps": [{"tool": "a", "arguments": {"x": 1}}, {"tool": "b", "arguments": {}}],
    }
    path = tmp_path / "episodes.jsonl"
    path.write_text(json.dumps(episode) + "\n", encoding="utf-8")
    first, second = load_steps(tmp_path)
    assert (first.id, first.history, first.gold) == ("e/1", (), "shop/a")
    assert (second.history, second.calls, second.gold) == (("shop/a",), ("a(x=1)",), "shop/b")
    assert second.episode_tools == ("shop/a", "shop/b")
    path.write_text('{"episode_id": "e"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"episodes\.jsonl:1: "):
        load_steps(tmp_path)


def test_recall_of_needed_units_is_the_mean_share_over_labelled_steps() -> None:
    needed = needed_units()
    assert len(needed) == 60
    name, units = next((name, units) for name, units in needed.items() if len(units) == 2)
    labelled = step("e", 0, "shop/transfer")
    labelled = DecisionStep(name, *[getattr(labelled, one) for one in labelled.__slots__][1:])
    one = FRAGMENTS[0]
    half = type(one)(units[0], *[getattr(one, field) for field in one.__slots__][1:])
    found = needed_recall([labelled, STEPS[0]], [[half], []])
    assert (found["labelled_steps"], found["recall"], found["all_units"]) == (1, 50.0, 0.0)


def test_the_committed_list_is_found_in_its_sources_and_labels_name_units() -> None:
    if not EXTERNAL.exists():
        pytest.skip("the customer-service episodes are not here")
    from ctrag.agents.prompt.instruction_files import cut_folder

    pytest.importorskip("bfcl_eval", reason="the catalogue has tools of bfcl-eval")
    catalogue = load_experiment_catalogue(EXTERNAL, count_words)
    assert len(catalogue.documents) == 400
    assert len({one.name for one in catalogue.documents}) == 400
    known = {one.id for one in catalogue.documents}
    steps = load_steps(EXTERNAL)
    assert len(steps) == 557
    assert {one.gold for one in steps} <= known
    assert set(needed_units()) <= {one.id for one in steps}
    assert cut_folder(EXTERNAL / "policies", count_words).fragments
