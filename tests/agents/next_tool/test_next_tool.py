"""Claims about the object that agents use: what it ranks first, how it grows, what it survives."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import METHODS, NextTool
from ctrag.agents.next_tool.evidence import FEATURES, ask, features
from ctrag.agents.next_tool.inputs import history_block
from ctrag.agents.next_tool.observed import Observation, read
from ctrag.agents.next_tool.texts import tool_names
from ctrag.errors import InputError
from ctrag.models.arrays import load_arrays

FLIGHT = "Find a flight to Perth, book it and mail Zoe the ticket"


@pytest.fixture
def own(next_tool: NextTool, word_bins: Any, tmp_path: Path) -> NextTool:
    """A model of this test's own."""
    next_tool.save(tmp_path / "model")
    return NextTool.load(tmp_path / "model", word_bins)


def best(model: NextTool, text: str, *history: str, method: str = "combined") -> str:
    return model.rank(text, history, method=method)[0][0]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks_everything_once_with_probabilities(
    next_tool: NextTool, method: str
) -> None:
    for history in ((), ("search_flight",), ("search_flight", "book_flight", "unheard_of")):
        ranked = next_tool.rank(FLIGHT, history, method=method)
        assert sorted(name for name, _ in ranked) == sorted(next_tool.memory.names)
        chances = [chance for _, chance in ranked]
        assert chances == sorted(chances, reverse=True)
        assert min(chances) >= 0
        assert sum(chances) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("method", "request_", "calls"),
    [
        ("combined", FLIGHT, "search_flight book_flight find_contact send_mail end"),
        ("dtdr_c", "Mail Zoe that I am late", "find_contact send_mail end"),
    ],
)
def test_a_chain_is_followed_to_its_end(
    next_tool: NextTool, method: str, request_: str, calls: str
) -> None:
    names = calls.split()
    for place, wanted in enumerate(names):
        assert best(next_tool, request_, *names[:place], method=method) == wanted


def test_the_same_history_goes_on_as_the_request_says(next_tool: NextTool) -> None:
    assert (
        best(next_tool, "Find a flight to Perth and book it", "search_flight", "book_flight")
        == "end"
    )
    assert best(next_tool, FLIGHT, "search_flight", "book_flight") == "find_contact"


def test_a_tool_that_nobody_demonstrated_is_found_by_its_text(next_tool: NextTool) -> None:
    ranked = next_tool.rank("Weather forecast for Perth: rain and wind?")
    assert next_tool.memory.counts[next_tool.memory.numbers["weather_report"]] == 0
    assert "weather_report" in [name for name, _ in ranked[:3]]


def test_an_agent_that_names_its_tools_gets_these_alone(next_tool: NextTool) -> None:
    own = ["book_flight", "weather_report"]
    for method in METHODS:
        ranked = next_tool.rank(FLIGHT, ["search_flight"], method=method, tools=own)
        assert sorted(name for name, _ in ranked) == sorted([*own, "end"])
        assert sum(chance for _, chance in ranked) == pytest.approx(1)
    found = next_tool.retrieve(FLIGHT, ["search_flight"], 0.0, tools=own)
    assert found == next_tool.rank(FLIGHT, ["search_flight"], tools=own)


def test_tools_that_cannot_be_called_do_not_count_in_any_comparison(next_tool: NextTool) -> None:
    text = f"{FLIGHT}, and what is the weather there?"
    every, few = next_tool.among(None), next_tool.among(["weather_report"])
    memory, weights = next_tool.memory, next_tool.weights
    asked = ask(memory, weights, next_tool.texts, text, next_tool.encoder.encode([text])[0])
    whole = features(memory, weights, asked, (), every)
    alone = features(memory, weights, asked, (), few)
    assert alone.shape == (2, whole.shape[1])
    behind = [at for at, name in enumerate(FEATURES) if name.endswith("_behind")]
    assert len(behind) == 4
    assert whole[few][:, behind].max(axis=0).tolist() != [0, 0, 0, 0]
    assert alone[:, behind].max(axis=0).tolist() == [0, 0, 0, 0]
    lexical = FEATURES.index("lexical")
    assert 0 < whole[few][:, lexical].max() < 1
    assert alone[:, lexical].max() == 1
    assert sorted(alone[:, FEATURES.index("cosine_rank")]) == [0, 1]
    assert sorted(alone[:, FEATURES.index("needed_rank")]) == [0, 1]


def test_tools_that_nobody_knows_are_refused_and_not_looked_past(next_tool: NextTool) -> None:
    with pytest.raises(ValueError, match="tools: 'fold' is unknown; give its text to `add_tools`"):
        next_tool.rank(FLIGHT, tools=["book_flight", "fold"])
    with pytest.raises(ValueError, match="tools: must be a list of tools, not the text 'fold'"):
        next_tool.rank(FLIGHT, tools="fold")


def test_words_alone_never_propose_to_end(next_tool: NextTool) -> None:
    for method in ("bm25", "qts"):
        assert next_tool.rank(FLIGHT, method=method)[-1][0] == "end"


def test_a_loaded_model_ranks_like_the_saved_one(next_tool: NextTool, own: NextTool) -> None:
    for method in METHODS:
        fresh = own.chances(FLIGHT, ("search_flight",), method)
        kept = next_tool.chances(FLIGHT, ("search_flight",), method)
        assert fresh == pytest.approx(kept, abs=0.02)
        assert fresh.argmax() == kept.argmax()


def test_saving_what_was_loaded_changes_nothing(own: NextTool, tmp_path: Path) -> None:
    own.save(tmp_path / "again")
    for file in (tmp_path / "model").iterdir():
        if file.suffix not in {".npz", ".gz"}:
            assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
    one, two = (load_arrays(tmp_path / name / "arrays.npz") for name in ("model", "again"))
    assert one.keys() == two.keys()
    assert all(np.allclose(one[name], two[name], atol=0.01) for name in one)


def test_an_empty_request_and_an_unknown_method_are_refused(next_tool: NextTool) -> None:
    with pytest.raises(ValueError, match="text: must not be empty"):
        next_tool.rank("  ")
    with pytest.raises(ValueError, match="history: must be a list of tools, not the text 'go'"):
        next_tool.rank("go", "go")
    with pytest.raises(ValueError, match="method: 'gpt' is unknown; known: random, bm25"):
        next_tool.rank("go", method="gpt")


def test_what_is_likely_enough_is_retrieved(next_tool: NextTool) -> None:
    for method in ("dtdr_l", "dtdr_c", "combined"):
        ranked = next_tool.rank(FLIGHT, ["search_flight"], method=method)
        (_, second), (_, third) = ranked[1:3]
        assert second > third
        for alpha, wanted in ((second, 2), ((second + third) / 2, 2), (third, 3), (0.0, None)):
            found = next_tool.retrieve(FLIGHT, ["search_flight"], alpha, method=method)
            assert found[:wanted] == ranked[:wanted]
            assert all(chance >= alpha for _, chance in found)
            assert all(pair in found for pair in ranked if pair[1] >= alpha)
        assert next_tool.retrieve(FLIGHT, ["search_flight"], 1.0, method=method) == []
    for alpha in (-0.1, 2.0, float("nan")):
        with pytest.raises(ValueError, match=f"alpha: must be between 0 and 1, not {alpha}"):
            next_tool.retrieve(FLIGHT, (), alpha)


def test_another_encoder_is_refused(own: NextTool, tmp_path: Path) -> None:
    class Other:
        name = "other"

        def encode(self, texts: Any) -> Any:
            raise AssertionError("never asked")

    with pytest.raises(ValueError, match="was fitted with word-bins, not other"):
        NextTool.load(tmp_path / "model", Other())


def test_trees_of_a_version_with_other_signals_are_refused(
    own: NextTool, word_bins: Any, tmp_path: Path
) -> None:
    trees = tmp_path / "model" / "trees.txt"
    trees.write_text(trees.read_text().replace(" bigram ", " digram "))
    with pytest.raises(ValueError, match=r"trees.txt: was fitted by a version with other features"):
        NextTool.load(tmp_path / "model", word_bins)


def test_what_is_observed_counts_at_once_and_after_loading_again(
    own: NextTool, word_bins: Any, tmp_path: Path
) -> None:
    request = "Water the ficus and then lock the greenhouse"
    assert "water_plants" not in own.memory.numbers
    before = own.rank(FLIGHT, ["search_flight"])[0][0]
    for number in range(3):
        own.observe(f"{request} {number}", ["water_plants", "lock_door"])
    again = NextTool.load(tmp_path / "model", word_bins)
    for model in (own, again):
        for method in ("dtdr_c", "combined"):
            assert best(model, request, "water_plants", method=method) == "lock_door"
        assert best(model, request, "water_plants", "lock_door") == "end"
        assert model.rank(FLIGHT, ["search_flight"])[0][0] == before
    assert own.chances(request, (), "combined") == pytest.approx(
        again.chances(request, (), "combined"), abs=1e-6
    )


def test_the_linear_model_moves_towards_what_was_observed(own: NextTool) -> None:
    request = "Wake me at noon and delete the note about Perth"
    number = own.memory.numbers["delete_file"]

    def score() -> float:
        block = own.memory.inputs.of_text(request, own.encoder.encode([request])[0])
        history = own.memory.known(["set_alarm"])
        inputs = own.memory.inputs.of_step(block, history)
        return float((inputs @ own.weights.step)[number])

    before = score()
    own.observe(request, ["set_alarm", "delete_file"])
    assert score() > before + 0.1


def test_nothing_is_learned_that_could_not_be_written_down(own: NextTool, tmp_path: Path) -> None:
    own.log = tmp_path / "nowhere" / "observed.jsonl"
    count = len(own.memory)
    with pytest.raises(FileNotFoundError):
        own.observe("go", ["set_alarm"])
    assert len(own.memory) == count


def test_a_crash_in_the_middle_of_a_line_loses_only_that_line(
    own: NextTool, word_bins: Any, tmp_path: Path
) -> None:
    own.observe("Water the ficus", ["water_plants"])
    log = tmp_path / "model" / "observed.jsonl"
    with log.open("a", encoding="utf-8") as file:
        file.write('{"request": "Water the r')
    again = NextTool.load(tmp_path / "model", word_bins)
    assert len(again.memory) == len(own.memory)
    again.observe("Water the roses", ["water_plants"])
    assert read(log)[1] == Observation("Water the roses", ("water_plants",))


@pytest.mark.parametrize(
    ("request_", "calls", "rule"),
    [
        ("go", ["end"], "calls: no tool may be called 'end'"),
        ("go", "set_alarm", "calls: must be a list of tools, not the text 'set_alarm'"),
        ("go", ["set_alarm", ""], "calls: must not be empty"),
        (" ", ["set_alarm"], "request: must not be empty"),
        ("half \ud83d", ["set_alarm"], "request: holds half of a surrogate pair"),
    ],
)
def test_what_is_no_observation_is_refused_and_not_written(
    own: NextTool, request_: str, calls: list[str] | str, rule: str
) -> None:
    with pytest.raises(ValueError, match=rule):
        own.observe(request_, calls)
    assert own.log is not None
    assert not own.log.exists()


def test_threads_rank_while_others_observe_new_tools(own: NextTool) -> None:
    count, known = len(own.memory), len(own.memory.names)
    busy = threading.Event()

    def ranks() -> int:
        number = 0
        while not busy.is_set() or number < 20:
            method = METHODS[number % len(METHODS)]
            ranked = own.rank(f"{FLIGHT} {number % 7}", ["search_flight"], method=method)
            assert known <= len(ranked) <= known + 60
            assert sum(chance for _, chance in ranked) == pytest.approx(1, abs=1e-4)
            number += 1
        return number

    def observes(who: int) -> None:
        for number in range(30):
            own.observe(f"Water the ficus {number}", [f"water_{who}_{number}", "send_mail"])

    with ThreadPoolExecutor(4) as pool:
        ranking = [pool.submit(ranks) for _ in range(2)]
        observing = [pool.submit(observes, who) for who in range(2)]
        for one in observing:
            one.result()
        busy.set()
        assert min(one.result() for one in ranking) >= 20
    assert len(own.memory) == count + 60
    assert len(own.memory.names) == known + 60
    assert own.log is not None
    assert [one.request for one in read(own.log)] == [
        one.text for one in own.memory.demonstrations[count:]
    ]


def test_the_artefact_holds_nothing_of_what_was_observed(own: NextTool, tmp_path: Path) -> None:
    count = own.card.demonstrations
    own.observe("Water the ficus", ["water_plants"])
    own.save(tmp_path / "again")
    assert len(load_arrays(tmp_path / "again" / "arrays.npz")["vectors"]) == count
    assert json.loads((tmp_path / "again" / "card.json").read_text())["demonstrations"] == count
    assert "water_plants" not in (tmp_path / "again" / "names.json").read_text()


def test_names_that_repeat_are_told_apart_by_their_server() -> None:
    tools = [
        CatalogueTool("send", "", "mail"),
        CatalogueTool("send", "", "chat"),
        CatalogueTool("go", "", "x"),
    ]
    assert tool_names(tools) == ["mail/send", "chat/send", "go"]
    with pytest.raises(ValueError, match="tools: no tool may be called 'end'"):
        tool_names([CatalogueTool("end", "")])


def test_a_tool_beyond_the_width_shares_a_place_that_is_not_the_beginning() -> None:
    wide = history_block([7, 2], 5).reshape(3, 5)
    assert np.flatnonzero(wide[0]).tolist() == [2]
    assert np.flatnonzero(wide[1]).tolist() == [1 + 7 % 4]
    assert np.flatnonzero(history_block([], 5).reshape(3, 5)[0]).tolist() == [0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.json", b"[" * 99_999),
        ("names.json", b'{"tools": 1}'),
        ("card.json", b"null"),
        ("demonstrations.jsonl.gz", b"no gzip"),
        ("demonstrations.jsonl.gz", gzip.compress(b'{"id": "a"}\n')),
        ("demonstrations.jsonl.gz", gzip.compress(b"{}\n" * 99)[:-9]),
        ("demonstrations.jsonl.gz", b""),
        ("arrays.npz", b"PK"),
        ("trees.txt", None),
    ],
)
def test_a_damaged_file_of_a_model_is_told_by_its_name(
    own: NextTool, word_bins: Any, tmp_path: Path, name: str, content: bytes | None
) -> None:
    path = tmp_path / "model" / name
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(InputError, match=name if content is not None else "trees"):
        best(NextTool.load(tmp_path / "model", word_bins), FLIGHT)
