"""Search in any agent's catalogue, while tools come and go."""

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ctrag
from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.catalogue.tool import Catalogue, CatalogueTool
from ctrag.agents.search.index import ToolIndex

TOOLS: list[dict[str, Any]] = [
    {"name": "book_flight", "description": "Reserve a seat on an airplane", "server": "air"},
    {
        "name": "get_weather",
        "description": "Tell the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
    {"name": "cancel_flight", "description": "Give a seat back", "server": "air"},
]
TOPICS = ("flight", "weather", "music")


class Topics:
    """A toy encoder: one dimension a topic word, so that cosines can be worked out by hand."""

    name = "topics"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array([[word in text.lower() for word in TOPICS] for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def written(folder: Path, value: object) -> Path:
    path = folder / "tools.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def index(tmp_path: Path) -> ToolIndex:
    return ToolIndex.from_file(written(tmp_path, TOOLS), Topics())


def test_the_best_tool_comes_first_and_says_how_it_was_measured(index: ToolIndex) -> None:
    hits = index.search("weather in Bergen")
    assert hits[0].tool.id == "get_weather"
    assert (hits[0].cosine, hits[0].lexical) == (1.0, 1.0)
    assert [(hit.cosine, hit.lexical) for hit in hits[1:]] == [(0.0, 0.0), (0.0, 0.0)]
    assert sum(hit.score for hit in hits) == pytest.approx(1.0)


def test_words_decide_between_tools_of_one_meaning(index: ToolIndex) -> None:
    assert index.search("reserve a flight", k=1)[0].tool.id == "air/book_flight"
    assert index.search("flight: give it back", k=1)[0].tool.id == "air/cancel_flight"


def test_names_of_parameters_are_searched(index: ToolIndex) -> None:
    assert index.search("city")[0].tool.id == "get_weather"


@pytest.mark.parametrize("text", ["zzz", "!?", "the of and", "検索"])
def test_what_nothing_fits_keeps_the_catalogues_order_and_says_so(
    index: ToolIndex, text: str
) -> None:
    found = index.find(text)
    assert [hit.tool.name for hit in found.hits] == [one["name"] for one in TOOLS]
    assert (found.fits, {hit.fits for hit in found.hits}) == (False, {False})
    assert [hit.score for hit in found.hits] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(("k", "found"), [(1, 1), (2, 2), (3, 3), (99, 3)])
def test_at_most_k_tools_are_found(index: ToolIndex, k: int, found: int) -> None:
    assert len(index.search("flight", k=k)) == found


def test_as_many_tools_are_found_as_are_asked_for() -> None:
    tools = [CatalogueTool(f"tool_{number}", f"flight number {number}") for number in range(60)]
    index = ToolIndex(tools, lexical_only=True)
    assert len(index.search("flight", k=45)) == 45
    assert [hit.tool.id for hit in index.search("flight", k=2)] == ["tool_0", "tool_1"]


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(index: ToolIndex, k: int) -> None:
    with pytest.raises(ValueError, match=f"k: must be at least 1, not {k}"):
        index.search("flight", k=k)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_refused(index: ToolIndex, text: str) -> None:
    with pytest.raises(ValueError, match="text: must not be empty"):
        index.search(text)


def test_a_text_that_is_no_unicode_is_refused(index: ToolIndex) -> None:
    with pytest.raises(ValueError, match="text: "):
        index.search("caf\udce9")


def test_a_catalogue_without_one_searchable_word_can_be_searched(tmp_path: Path) -> None:
    path = written(tmp_path, [{"name": "!"}, {"name": "?"}])
    assert [hit.tool.name for hit in ToolIndex.from_file(path, Topics()).search("music")] == [
        "!",
        "?",
    ]


def test_an_empty_catalogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the catalogue is empty"):
        ToolIndex.from_file(written(tmp_path, []), Topics())


@pytest.fixture(scope="module")
def toolbox() -> ToolIndex:
    """The packaged toolbox under the packaged encoder, through the public name."""
    path = Path(ctrag.__file__).parent / "toolbox.yaml"
    return ctrag.ToolIndex.from_file(path)


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("play a song", "music/play_song"),
        ("will it rain", "google/google_weather"),
        ("block a caller", "phonecall/block_caller"),
        ("translate into French", "google/google_translate"),
        ("snooze the reminder", "reminders/snooze_reminder"),
    ],
)
def test_the_packaged_toolbox_is_found_by_what_it_does(
    toolbox: ToolIndex, text: str, best: str
) -> None:
    hits = toolbox.search(text, k=5)
    assert hits[0].tool.id == best
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.lexical <= 1 and -1 <= hit.cosine <= 1.0001 for hit in hits)


@pytest.mark.parametrize(
    ("text", "fits"),
    [("block a caller", True), ("snooze the reminder", True), ("the meaning of life", False)],
)
def test_the_floor_says_whether_the_toolbox_has_a_tool(
    toolbox: ToolIndex, text: str, fits: bool
) -> None:
    assert toolbox.find(text).fits == fits


def test_each_of_the_59_apis_is_in_the_index_once(toolbox: ToolIndex) -> None:
    assert len({tool.id for tool in toolbox.tools}) == len(toolbox.tools) == 59


def test_a_request_with_two_needs_finds_both_first(toolbox: ToolIndex) -> None:
    found = toolbox.find("block the last caller, and then translate good morning into French", k=2)
    assert {hit.tool.name for hit in found.hits} == {"block_caller", "google_translate"}
    assert len(found.parts) == 3


def test_lexical_search_needs_no_encoder() -> None:
    class Refuses:
        name = "refuses"

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            raise AssertionError("encoded")

    tools = [CatalogueTool("book_flight", "Reserve a seat"), CatalogueTool("rain", "Weather")]
    index = ToolIndex(tools, Refuses(), lexical_only=True)
    assert index.search("reserve a seat in the plane", k=1)[0].tool.name == "book_flight"
    assert index.find("reserve").trace["mode"] == "lexical"


class Counting(Topics):
    """The toy encoder, which remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.extend(texts)
        return super().encode(texts)


def test_only_changed_content_is_encoded_again() -> None:
    encoder = Counting()
    first = CatalogueTool("a", "flight", "x")
    index = ToolIndex([first, CatalogueTool("b", "weather", "x")], encoder)
    encoder.asked.clear()
    index.replace_server("x", [replace(first, version="2"), CatalogueTool("c", "music", "x")])
    assert encoder.asked == ["c: music"]
    assert [(tool.id, tool.version) for tool in index.tools] == [("x/a", "2"), ("x/c", "")]


def test_a_refused_change_changes_nothing() -> None:
    index = ToolIndex([CatalogueTool("a", "flight", "x")], Topics())
    with pytest.raises(ValueError, match="'x/a' is there already; use update"):
        index.add([CatalogueTool("b", "new", "x"), CatalogueTool("a", "again", "x")])
    with pytest.raises(ValueError, match="'x/b' is not in the index; use add"):
        index.update([CatalogueTool("a", "changed", "x"), CatalogueTool("b", "new", "x")])
    with pytest.raises(ValueError, match="'y/c' is not of server 'x'"):
        index.replace_server("x", [CatalogueTool("c", "", "y")])
    with pytest.raises(ValueError, match="'x/c' appears twice"):
        index.replace_server("x", [CatalogueTool("c", "", "x"), CatalogueTool("c", "2", "x")])
    assert [tool.description for tool in index.tools] == ["flight"]


def test_a_catalogue_can_be_emptied_and_filled_again() -> None:
    index = ToolIndex([CatalogueTool("a", "flight")], Topics())
    index.remove(["a", "gone already"])
    assert (index.search("flight"), index.find("flight").fits) == ([], False)
    index.add([CatalogueTool("b", "flight")])
    assert [hit.tool.id for hit in index.search("flight")] == ["b"]


def test_tools_of_a_file_are_there_again_in_the_next_process(tmp_path: Path) -> None:
    encoder = Counting()
    path = tmp_path / "tools.duckdb"
    rules = AccessRules(
        (Grant("role:pilot", "air/*"),), {"ada": Principal("ada", frozenset(["pilot"]))}
    )
    first = ToolIndex.open(
        path, Catalogue([CatalogueTool("book", "flight", "air")], rules), encoder
    )
    first.learn("ada", "air/book", "succeeded")
    first.close()
    encoder.asked.clear()
    again = ToolIndex.open(path, encoder=encoder)
    assert [hit.tool.id for hit in again.search("flight", user="ada")] == ["air/book"]
    assert again.search("flight", user="bob") == again.search("flight") == []
    assert [tool.id for tool in again.warm_start("ada")] == ["air/book"]
    assert encoder.asked == ["flight"] * 3
    again.close()


def test_many_clients_search_while_tools_come_and_go() -> None:
    """Searches by 8 threads, while others add and remove; what stays is found every time."""
    stays = [CatalogueTool(f"stay_{topic}", f"all about {topic}", "stay") for topic in TOPICS]
    index = ToolIndex(stays, Topics())
    faults: list[object] = []
    done = threading.Event()

    def search(topic: str) -> None:
        for _ in range(60):
            hits = index.search(f"about {topic}", k=20)
            if f"stay/stay_{topic}" not in {hit.tool.id for hit in hits}:
                faults.append((topic, [hit.tool.id for hit in hits]))

    def change(number: int) -> None:
        while not done.is_set():
            mine = [CatalogueTool(f"t{one}", "all about flight", f"s{number}") for one in range(3)]
            index.replace_server(f"s{number}", mine)
            index.remove([mine[0].id])
            index.replace_server(f"s{number}", [])

    with ThreadPoolExecutor(10) as pool:
        changing = [pool.submit(change, number) for number in range(2)]
        searching = [pool.submit(search, TOPICS[one % 3]) for one in range(8)]
        for one in searching:
            one.result()
        done.set()
        for one in changing:
            one.result()
    assert faults == []
    assert [tool.id for tool in index.tools] == [tool.id for tool in stays]


class Follows:
    """A next-tool model that knows one thing: after a booking comes the weather."""

    def rank(self, text: str, history: Sequence[str]) -> list[tuple[str, float]]:
        return [("get_weather", 1.0)] if history == ["air/book_flight"] else []


def test_the_next_tool_model_moves_what_comes_next_and_weight_0_turns_it_off(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, TOOLS)
    tools = ToolIndex.from_file(file, Topics()).tools
    plain = ToolIndex(tools, Topics())
    text, history = "reserve another flight", ["air/book_flight"]
    for weight, first in ((0.0, "air/book_flight"), (0.9, "get_weather")):
        index = ToolIndex(tools, Topics(), next_tool=Follows(), next_tool_weight=weight)
        assert index.search(text, 1, history=history)[0].tool.id == first
        assert [hit.tool.id for hit in index.search(text)] == [
            hit.tool.id for hit in plain.search(text)
        ]
    with pytest.raises(ValueError, match="next_tool_weight: must be between 0 and 1, not 2"):
        ToolIndex(tools, Topics(), next_tool_weight=2)


def test_what_helped_a_caller_wins_ties_for_this_caller_alone() -> None:
    twins = [CatalogueTool("play", "music", server) for server in ("one", "two")]
    index = ToolIndex(twins, Topics())
    for _ in range(3):
        index.learn("ada", "two/play", "found")
        index.learn("ada", "two/play", "used")
        index.learn("ada", "two/play", "succeeded")
    assert [hit.tool.server for hit in index.search("music", user="ada")] == ["two", "one"]
    assert [hit.tool.server for hit in index.search("music", user="bob")] == ["one", "two"]
    with pytest.raises(ValueError, match="event: 'liked' must be found, used"):
        index.learn("ada", "two/play", "liked")  # type: ignore[arg-type]


def test_near_duplicates_say_what_tells_them_apart() -> None:
    tools = [
        CatalogueTool("get_forecast", "weather of a day", "noaa", {"properties": {"city": {}}}),
        CatalogueTool("get_forecast", "weather of a day", "met", {"properties": {"zone": {}}}),
        CatalogueTool("play", "music"),
    ]
    first, second, third = ToolIndex(tools, Topics()).search("weather forecast")
    assert (first.differs, third.differs) == ("", "")
    assert second.differs == (
        "than noaa/get_forecast: server met instead of noaa; takes zone; does not take city"
    )


def test_pinned_tools_come_before_the_first_search_and_always_available_ones_never() -> None:
    tools = [
        CatalogueTool("plan", "plan flights", always=True),
        CatalogueTool("ask", "ask about the weather", pinned=True),
        CatalogueTool("book", "book a flight", "air"),
    ]
    index = ToolIndex(tools, Topics())
    assert [tool.id for tool in index.warm_start(None)] == ["ask"]
    assert "plan" not in {hit.tool.id for hit in index.search("plan flights", k=9)}
    assert index.get("plan").always
    assert [tool.id for tool in index.preload("book a flight", k=1)] == ["air/book"]


def test_two_searches_of_one_text_give_one_trace_of_every_step(index: ToolIndex) -> None:
    trace = index.find("reserve a flight, then tell the weather", k=2).trace
    readings: Any = trace["readings"]
    assert [one["text"] for one in readings] == [
        "reserve a flight, then tell the weather",
        "reserve a flight",
        "tell the weather",
    ]
    assert sum(one["share"] for one in readings) == pytest.approx(1, abs=1e-3)
    assert (trace["visible"], trace["governed"], trace["candidates"]) == (3, False, 3)
