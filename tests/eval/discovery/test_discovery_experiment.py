"""`ctrag eval discovery` on a small catalogue, and the data it reads."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from eval.discovery import run
from eval.discovery.data import SINGLE_TURN, held_out, read_bfcl, read_folder, read_people
from eval.discovery.load import run_load
from eval.discovery.run import run_discovery, table
from eval.discovery.surfaced import run_surfaced
from eval.discovery.surfaced import table as surfaced_table

TOOLS = [
    ("book_flight", "Reserve a seat on an airplane"),
    ("get_weather", "Tell the weather of a city"),
    ("play_song", "Play a song by its title"),
    ("send_mail", "Send an electronic letter to somebody"),
    ("set_alarm", "Wake somebody at a time of day"),
    ("translate", "Say a text in another language"),
    ("find_recipe", "Look up how a dish is cooked"),
    ("pay_bill", "Transfer money for an invoice"),
    ("call_taxi", "Order a car with a driver"),
    ("read_news", "Read today's headlines aloud"),
]
REQUESTS = [
    ("a seat on the airplane to Rome", ["book_flight"]),
    ("tell me the weather of Oslo, and play a song by ABBA", ["get_weather", "play_song"]),
    ("say good morning in another language", ["translate"]),
    ("how is ratatouille cooked", ["find_recipe"]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tools = [{"name": name, "description": text} for name, text in TOOLS]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    rows = [
        {"query_id": f"q{number}", "text": text, "tools": names}
        for number, (text, names) in enumerate(REQUESTS)
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_the_experiment_has_the_figures_of_the_contract(folder: Path) -> None:
    experiment = run_discovery(folder, large=100)
    figures: Any = experiment.figures
    assert set(figures) == {"tokens", "latency_ms", "recall"}
    assert set(figures["latency_ms"]) == {"lexical_p50", "encode_p50", "hybrid_p50", "hybrid_p95"}
    assert figures["recall"] == {"recall@1": 87.5, "recall@5": 100.0}
    ten = figures["tokens"]["10"]
    assert ten["reduction"] == pytest.approx(100 * (1 - ten["dynamic"] / ten["static"]), abs=0.1)
    assert (experiment.settings["k"], experiment.settings["large"]) == (5, 100)
    assert experiment.settings["foreign"] is None
    assert 0 < experiment.seconds < 600
    extra: Any = experiment.extra
    assert (extra["requests"], extra["tools"], extra["held_out_half_only"]) == (4, 10, False)
    assert extra["latency_by_size"]["100"]["synthetic_tools"] == 90
    assert extra["sessions"]["episodes"] == 4
    assert set(extra["methods"]) == {"hybrid", "lexical", "dense_alone", "bm25_alone", "rrf"}
    lines = table(experiment).lines()
    assert lines[2].split() == ["hybrid", "87.5", "100.0"]
    assert any("(the paper: 57)" in line for line in lines)
    large = extra["latency_by_size"]["100"]["lexical_cpu"]
    told = (
        f"100 tools (90 synthetic), the same, p50 / p95: lexical {large['p50']} / {large['p95']}, "
    )
    assert any(line.startswith(told) for line in lines)
    assert sum(line.startswith("sessions with ") for line in lines) == 3
    assert any("of a tier alone: expert" in line for line in lines)


def test_the_search_itself_is_always_measured_and_the_catalogue_grows_to_the_size_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[Any] = []

    def latency(tools: Any, texts: list[str], encoder: Any, sizes: list[int]) -> dict[str, Any]:
        timed.append((texts, sizes))
        return {"own": {}}

    monkeypatch.setattr(run, "_TIMED", 3)
    monkeypatch.setattr(run, "latency_by_size", latency)  # 100,000 tools take minutes
    experiment = run_discovery(folder, methods=["bm25_alone"], large=100_000)
    assert list(experiment.extra["methods"]) == ["hybrid", "bm25_alone"]  # type: ignore[call-overload]
    first = [text for text, _ in REQUESTS[:3]]
    assert timed == [(first, [100, 1000, 4000, 100_000])]


def test_an_unknown_method_is_named(folder: Path) -> None:
    with pytest.raises(ValueError, match="--methods: 'magic' is unknown; known: hybrid"):
        run_discovery(folder, methods=["magic"])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", r"queries\.jsonl:2: not JSON"),
        ('{"query_id": "x", "text": "y"}', r"queries\.jsonl:2: tools: Field required"),
        ('{"query_id": "x", "text": "y", "tools": ["z"]}', r":2: tools: 'z' is not in tools"),
    ],
)
def test_a_bad_request_is_named_with_its_line(folder: Path, line: str, problem: str) -> None:
    path = folder / "queries.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n" + line)
    with pytest.raises(ValueError, match=problem):
        read_folder(folder)


def test_a_name_that_two_servers_have_is_answered_by_either(folder: Path) -> None:
    tools = [{"name": "play_song", "server": server} for server in ("a", "b")]
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "queries.jsonl").write_text('{"query_id": "x", "text": "y", "tools": ["play_song"]}')
    [need] = read_folder(folder).needs
    assert need.tools == {"a/play_song", "b/play_song"}


def test_about_half_of_all_requests_are_held_out_always_the_same() -> None:
    held = [held_out(f"request-{number}") for number in range(2000)]
    assert 900 < sum(held) < 1100
    assert held == [held_out(f"request-{number}") for number in range(2000)]


def test_people_ask_for_the_best_of_their_labelled_apis() -> None:
    folder = Path(__file__).parents[3] / "synth" / "data" / "reference" / "dev"
    benchmark = read_people(folder)
    assert len(benchmark.tools) == 59
    assert all(len(one.tools) == 1 for one in benchmark.needs)
    assert {one for need in benchmark.needs for one in need.tools} <= {
        tool.id for tool in benchmark.tools
    }


def test_bfcl_is_pooled_by_name_with_every_request() -> None:
    if find_spec("bfcl_eval") is None:
        pytest.skip("bfcl-eval is not installed: pip install --no-deps bfcl-eval")
    benchmark = read_bfcl(SINGLE_TURN)
    names = {tool.id for tool in benchmark.tools}
    assert (len(benchmark.tools), len(benchmark.needs)) == (1437, 2501)
    assert all(need.tools <= names for need in benchmark.needs)


def test_nothing_goes_wrong_while_many_clients_search_and_tools_come_and_go() -> None:
    found = run_load(clients=4, searches=200, tools=100)
    assert (found["errors"], found["not_found"], found["tools_lost_or_left"]) == (0, 0, 0)
    assert (found["searches"], found["changes"] > 0) == (200, True)


def test_what_serves_instead_counts_as_the_needed_tool_and_a_request_may_need_none(
    folder: Path,
) -> None:
    rows = [
        {"query_id": "a", "text": "order a car", "tools": ["call_taxi"]},
        {
            "query_id": "b",
            "text": "how is ratatouille cooked",
            "tools": ["read_news"],
            "instead": {"read_news": ["find_recipe"]},
        },
        {"query_id": "c", "text": "open the window", "tools": []},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    need = read_folder(folder).needs[1]
    assert need.serving == {"read_news", "find_recipe"}
    assert need.as_needed(["a", "find_recipe", "b", "read_news"]) == [
        "a",
        "read_news",
        "b",
        "find_recipe",
    ]
    shown = run_surfaced([folder], foreign=None)
    figures: Any = shown.figures[str(folder)]
    assert (figures["requests"], figures["tools"]) == (2, 10)
    given = figures["given"]
    assert (given["found@5"], given["recall@5"]) == (100.0, 100.0)
    assert (given["without_needed"]["requests"], given["hopeless"]["requests"]) == (2, 1)
    assert surfaced_table(shown).lines()[2].split()[1:5] == ["2", "10", "100.0", "100.0"]
    extra: Any = run_discovery(folder, methods=["hybrid"]).extra
    assert (extra["requests"], extra["given"]["found@5"]) == (2, 100.0)
    assert extra["given"]["hopeless"]["requests"] == 1
    rows[1]["instead"] = {"read_news": ["nobody"]}
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="'nobody' is not in tools\\.json"):
        read_folder(folder)
