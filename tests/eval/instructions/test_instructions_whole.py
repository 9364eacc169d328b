"""The whole instruction experiment on sixteen steps whose figures a reader can redo.

A token is a word. The catalogue has 18 tools, 16 of a shop and 2 of an airline, whose signature is
three words (`wrap_gift(): Wrap gift`), whose document is three words of JSON and which is two words
without its example. The five sections of the policies have 200 words each. A prompt shows one whole
tool and 14 signatures, and four sections.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.prompt.assembly import OVERLAY, ROUTING_NOTE
from ctrag.agents.prompt.encoders import MiniLMPassageEncoder
from ctrag.agents.prompt.reranker import HybridWeights, Reranker
from ctrag.agents.prompt.settings import FLOOR
from eval.core.experiment import Experiment, data_sha256, versions
from eval.instructions.experiment_context import other_traces, trace_priors
from eval.instructions.figures import fold_of
from eval.instructions.report import instruction_report
from eval.instructions.run import run_instructions
from eval.instructions.steps import load_steps
from eval.instructions.table import table
from eval.instructions.tool_choice import Chosen
from eval.report.page import HtmlTable
from tests.agents.prompt.toys import TopicEncoder, count_words, tiny_cross_encoder

CHECKED = "price stock size colour weight shape brand date shelf till door lamp".split()
SHOP = ["cancel_order", "return_order", "refund_order", *(f"check_{one}" for one in CHECKED)]
SHOP += ["wrap_gift"]
AIR = ["book_flight", "change_flight"]
TOOLS = 18
SECTION = 200
SECTIONS = {"shop": ["Orders", "Cancel", "Return"], "air": ["Flights", "Cabins"]}
VAGUE = ["vague-1", "vague-2"]
EPISODES = [
    *((f"cancel-{at}", "shop", "Cancel my order", SHOP[:3:2]) for at in range(4)),
    *((f"return-{at}", "shop", "Return my order", SHOP[1:3]) for at in range(2)),
    ("flight", "air", "Book a flight", AIR),
    *((name, "shop", "Help me", ["wrap_gift"]) for name in VAGUE),
]
STEPS = 16
OVERLAY_WORDS = len(OVERLAY.split())
HEADINGS = len("# Instructions # Tools".split())
HEADINGS += len("# Tools, in short (arguments are text unless said otherwise, ?: optional)".split())
FIRST_PROMPT = OVERLAY_WORDS + HEADINGS + 4 * SECTION + 15 * 3 + len(ROUTING_NOTE.split())


class FirstOne:
    """Chooses the first tool that it sees."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def model(self) -> str:
        return "first"

    def choose(self, system: str, user: str, names: Sequence[str]) -> Chosen:
        self.asked += 1
        return Chosen(names[0], count_words(system), count_words(user))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An episodes folder, and `list.txt` beside it."""
    folder = tmp_path / "episodes"
    (folder / "policies").mkdir(parents=True)
    for domain, heads in SECTIONS.items():
        parts = [f"# {head}\n\n{f'{head.lower()} ' * (SECTION - 2)}" for head in heads]
        (folder / "policies" / f"{domain}.md").write_text("\n\n".join(parts), encoding="utf-8")
    rows = [
        {"name": name, "server": server, "description": name.replace("_", " ").capitalize()}
        for server, names in (("shop", SHOP), ("air", AIR))
        for name in names
    ]
    (folder / "tools.json").write_text(json.dumps(rows), encoding="utf-8")
    listed = "".join(f"episodes {row['server']}/{row['name']}\n" for row in rows)
    (tmp_path / "list.txt").write_text(listed, encoding="utf-8")
    lines = [
        {
            "episode_id": name,
            "domain": domain,
            "instruction": text,
            "steps": [{"tool": tool, "arguments": {}} for tool in tools],
        }
        for name, domain, text, tools in EPISODES
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "episodes.jsonl").write_text(text, encoding="utf-8")
    return folder


def run(data: Path, **options: Any) -> Experiment:
    given = {"sizes": ("8", "full"), "ablations": False, "floor": 0.0, **options}
    listed = data.parent / "list.txt"
    given.setdefault("encoder", TopicEncoder())
    return run_instructions(data, listed=listed, count=count_words, **given)


def test_a_section_below_the_floor_is_not_shown(data: Path) -> None:
    whole, bounded = (run(data, sizes=("full",), floor=floor) for floor in (0.0, FLOOR))
    before: Any = whole.figures["full"]
    after: Any = bounded.figures["full"]
    assert after["itr"]["tokens_per_step"] < before["itr"]["tokens_per_step"] - SECTION / 2
    assert after["prompt_rag"] == before["prompt_rag"]
    assert bounded.settings["floor"] == FLOOR


def test_tokens_are_the_words_of_what_each_method_shows(data: Path) -> None:
    found: Any = run(data).figures
    small, full = found["8"], found["full"]

    def tokens(*parts: float) -> float:
        """Parts, each with a blank line."""
        return sum(part + 1 for part in parts)

    assert full["monolithic"]["tokens_per_step"] == tokens(OVERLAY_WORDS, 18 * 2, 5 * SECTION)
    assert full["router_only"]["tokens_per_step"] == tokens(OVERLAY_WORDS, 15 * 3, 5 * SECTION)
    four = [SECTION] * 4
    assert full["prompt_rag"]["tokens_per_step"] == tokens(OVERLAY_WORDS, 18 * 2, *four)
    # The two steps that discover have the other three tools as well.
    expected = FIRST_PROMPT + 2 * 3 * 3 / STEPS
    assert full["itr"]["tokens_per_step"] == pytest.approx(expected, abs=0.01)
    # With 8 tools each domain's policy stands alone: 14 steps have three sections and 2 two.
    sections = (14 * 3 + 2 * 2) / STEPS
    mean = tokens(OVERLAY_WORDS, 8 * 2, sections * SECTION)
    assert small["monolithic"]["tokens_per_step"] == pytest.approx(mean, abs=0.01)


def test_a_miss_is_a_step_whose_tool_is_never_shown_and_discovery_finds_it(data: Path) -> None:
    """Nothing speaks for any tool where somebody says "help me": the first 15 are shown, and
    `wrap_gift` is the sixteenth. One such step is below the threshold that the other one gave."""
    assert fold_of(VAGUE[0]) != fold_of(VAGUE[1])
    experiment = run(data)
    found: Any = experiment.figures
    missed = 100 * 2 / STEPS
    assert found["miss_rate"] == {
        "no_discovery": missed,
        "discovery": 0.0,
        "discovery_share": missed,
    }
    exposed = {name: one["gold_exposed"] for name, one in found["full"].items()}
    assert exposed == {
        "monolithic": 100.0,
        "router_only": 100 - missed,
        "prompt_rag": 100.0,
        "itr": 100.0,
        "retriever_top1": 43.75,  # the first step of seven episodes; nobody asks for the second
    }
    assert {
        one["gold_exposed"] for name, one in found["8"].items() if name != "retriever_top1"
    } == {100.0}
    # The other vague episode is a trace that shows where this one goes.
    traced: Any = experiment.extra["with_traces"]
    assert traced["figures"]["miss_rate"]["no_discovery"] == 0.0
    bounds: Any = experiment.intervals["miss_rate"]
    assert bounds["discovery"] == [0.0, 0.0]


def test_a_trace_prior_has_seen_no_episode_of_its_own_fold(data: Path) -> None:
    traces = other_traces(load_steps(data))
    prior_of = trace_priors(traces, TopicEncoder())

    def known(episode: str) -> set[str]:
        trace_prior = prior_of(episode)
        assert trace_prior is not None
        return {tool for tool, _ in trace_prior.rank("Book a flight", [])}

    elsewhere = next(name for name, *_ in EPISODES if fold_of(name) != fold_of("flight"))
    assert "air/book_flight" in known(elsewhere)
    assert "air/book_flight" not in known("flight")
    assert "Book a flight" in [one.text for one in traces(elsewhere)]
    assert "Book a flight" not in [one.text for one in traces("flight")]


def test_right_calls_are_those_that_the_model_made_at_the_steps_it_was_asked(data: Path) -> None:
    resume = data.parent / "choices.jsonl"
    chooser = FirstOne()
    given = {"chooser": chooser, "scored": STEPS, "everywhere": True, "resume": resume}
    experiment = run(data, **given)
    found: Any = experiment.figures
    assert chooser.asked == 2 * 5 * STEPS  # B0, B1, B2, ITR, ITR with traces at two sizes
    # `cancel_order` is first in the catalogue and called at four steps; ITR's first tool is its best.
    assert found["full"]["monolithic"]["tools_correct"] == 100 * 4 / STEPS
    assert found["full"]["prompt_rag"]["tools_correct"] == 100 * 4 / STEPS
    assert found["full"]["itr"]["tools_correct"] == 100 * 7 / STEPS
    again: Any = run(data, **given).figures
    assert again == found
    assert chooser.asked == 2 * 5 * STEPS


def test_the_file_says_what_is_needed_to_get_the_figures_again(data: Path) -> None:
    out = data.parent / "instructions.json"
    run(data).write(out)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["experiment"], found["seed"]) == ("instructions", 0)
    assert (found["data"], found["data_sha256"]) == (str(data), data_sha256(data))
    assert found["versions"] == versions()
    settings = found["settings"]
    assert (settings["budget"], settings["K_A"], settings["K_B"]) == (2400, 4, 2)
    assert settings["signatures"] == 14
    assert (settings["limit"], settings["scored"], settings["reranked"]) == (None, 0, False)
    extra = found["extra"]
    assert (extra["steps"], extra["episodes"], extra["fragments"]) == (STEPS, len(EPISODES), 5)
    assert len(extra["catalogue_sha256"]) == 64
    assert found["skipped"] == {"tools_correct": "no step was scored by a model: give --scored N"}
    for size, methods in found["figures"].items():
        if size != "miss_rate":
            assert set(found["intervals"][size]) == set(methods)
    # All whole prompts are alike, so that no resampling moves their mean.
    whole = found["figures"]["full"]["monolithic"]["tokens_per_step"]
    assert found["intervals"]["full"]["monolithic"]["tokens_per_step"] == [whole, whole]


def test_the_printed_table_has_every_method_at_every_size(data: Path) -> None:
    experiment = run(data)
    printed = table(experiment)
    full: Any = experiment.figures["full"]
    rows = {(row[0], row[1]): row for row in printed.rows}
    assert len(rows) == 2 * 6
    assert rows["full", "monolithic"][2] == str(round(full["monolithic"]["tokens_per_step"]))
    saved = 1 - full["itr"]["tokens_per_step"] / full["monolithic"]["tokens_per_step"]
    assert rows["full", "itr"][3] == f"{100 * saved:.1f}"
    assert rows["full", "itr"][4:6] == ["-", "100.0"]
    assert (
        "misses, itr: 12.5 % without discovery, 0.0 % with it on 12.5 % of steps "
        "(the paper: 6.1 and 2.4)"
    ) in printed.notes


def test_ablations_say_how_far_their_figures_may_be_trusted(data: Path) -> None:
    experiment = run(data, sizes=("full",), ablations=True)
    extra: Any = experiment.extra
    found = extra["ablations"]
    full: Any = experiment.figures["full"]
    assert found["default"]["tokens_per_step"] == full["itr"]["tokens_per_step"]
    bounds: Any = experiment.intervals["full"]
    for name in ("tokens_per_step", "gold_exposed"):
        assert found["default"]["intervals"][name] == bounds["itr"][name]
    # Without signatures one tool is shown, which is right at the first step of seven episodes:
    # none of the vague ones, half of the others' steps.
    bare = found["signatures = 0"]
    assert bare["gold_exposed_without_discovery"] == bare["top1"] == 43.75
    low, high = bare["intervals"]["top1"]
    assert 0 < low < 43.75 < high <= 50
    assert bare["intervals"]["needed_units"] is None
    one_section = found["K_A = 1"]["tokens_without_discovery"]
    assert one_section == FIRST_PROMPT - 3 * SECTION
    assert found["K_A = 1"]["intervals"]["tokens_without_discovery"] == [one_section, one_section]
    assert extra["elsewhere"] in (
        {"skipped": "the catalogue has the tools of no conversation"},
        {"skipped": "bfcl-eval is not installed"},
    )
    exact = extra["greedy_against_exact"]["2400"]
    assert (exact["steps"], exact["mean"], exact["interval"]) == (1, 100.0, None)
    lines = table(experiment).lines()
    [printed] = [line for line in lines if line.startswith("signatures = 0 ")]
    assert f" 43.8 ({low:.1f}–{high:.1f}) " in printed
    page = next(one for one in instruction_report(experiment).sections if "Table 6" in one.title)
    [variants, _] = page.parts
    assert isinstance(variants, HtmlTable)
    row = next(one for one in variants.rows if one.head == "signatures = 0")
    assert (row.cells[1].text, row.cells[1].below) == ("43.8", f"{low:.1f} to {high:.1f}")


def test_a_trained_re_ranker_is_compared_with_hybrid_and_dense_retrieval(data: Path) -> None:
    """This one scores all pairs alike and is all that counts, so that a domain's tools keep the
    list's order. The first one is right at the first step of the four episodes that cancel and of
    the one that books, whose domain the policies tell."""
    card = Reranker.packaged().card
    alike = HybridWeights(cosine=0.0, lexical=0.0, cross=1.0)
    model = tiny_cross_encoder(data.parent / "tiny")
    Reranker(card.model_copy(update={"with_cross": alike}), model).save(data.parent / "own")
    given = {"sizes": ("full",), "ablations": True, "encoder": MiniLMPassageEncoder()}
    experiment = run(data, model=data.parent / "own", **given)
    assert experiment.settings["reranked"]
    found: Any = experiment.extra["ablations"]
    assert found["default"]["top1"] == 100 * 5 / STEPS
    assert found["without re-ranking"]["top1"] == found["dense only"]["top1"] == 100 * 7 / STEPS
    assert "without re-ranking" not in run(data, **given).extra["ablations"]


def test_a_list_that_names_a_tool_which_nobody_has_is_refused(data: Path) -> None:
    with (data.parent / "list.txt").open("a", encoding="utf-8") as file:
        file.write("episodes shop/fly\n")
    with pytest.raises(
        ValueError, match=r"list\.txt: 'episodes shop/fly' is in no source; 1 tools"
    ):
        run(data)
