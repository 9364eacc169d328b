"""Search in any agent's catalogue, and the rules that a catalogue has to keep."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ctrag
from ctrag.tools.catalogue import CatalogueTool, load_catalogue
from ctrag.tools.index import LEXICAL_WEIGHT, ToolIndex

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


def test_the_best_tool_comes_first_and_its_score_is_the_weighted_sum(index: ToolIndex) -> None:
    hits = index.search("weather in Bergen")
    assert [hit.tool.id for hit in hits] == ["get_weather", "air/book_flight", "air/cancel_flight"]
    assert (hits[0].cosine, hits[0].lexical) == (1.0, 1.0)
    assert hits[0].score == pytest.approx((1 - LEXICAL_WEIGHT) * 1 + LEXICAL_WEIGHT * 1)
    assert hits[1].score == 0.0


def test_words_decide_between_tools_of_one_meaning(index: ToolIndex) -> None:
    assert index.search("reserve a flight", k=1)[0].tool.id == "air/book_flight"
    assert index.search("flight: give it back", k=1)[0].tool.id == "air/cancel_flight"


def test_names_of_parameters_are_searched(index: ToolIndex) -> None:
    assert index.search("city")[0].tool.id == "get_weather"


@pytest.mark.parametrize("text", ["zzz", "!?", "the of and", "検索"])
def test_what_nothing_fits_keeps_the_catalogues_order(index: ToolIndex, text: str) -> None:
    assert [hit.tool.name for hit in index.search(text)] == [one["name"] for one in TOOLS]
    assert {hit.score for hit in index.search(text)} == {0.0}


@pytest.mark.parametrize(("k", "found"), [(1, 1), (2, 2), (3, 3), (99, 3)])
def test_at_most_k_tools_are_found(index: ToolIndex, k: int, found: int) -> None:
    assert len(index.search("flight", k=k)) == found


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


def test_two_tools_of_one_identity_are_refused_and_servers_tell_them_apart(tmp_path: Path) -> None:
    same = [{"name": "search", "server": "a"}, {"name": "search", "server": "b"}]
    assert [tool.id for tool in load_catalogue(written(tmp_path, same))] == ["a/search", "b/search"]
    with pytest.raises(ValueError, match=r"tools\.json: name: tool 'a/search' appears twice"):
        load_catalogue(written(tmp_path, [*same, same[0]]))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[\n {"name": "a"},\n {"name": }\n]', r"tools\.json:3: not JSON: Expecting value"),
        ("", r"tools\.json:1: not JSON"),
        ('{"name": "a"}', r"tools\.json: .*valid list"),
        ('[{"description": "a"}]', r"tools\.json: 0\.name: Field required"),
        ('[{"name": "a"}, {"name": 7}]', r"tools\.json: 1\.name: "),
        ('[{"name": "a", "parameters": []}]', r"tools\.json: 0\.parameters: "),
        ('[{"name": ""}]', r"tools\.json: 0\.name: "),
        ('[{"name": "a\\ud800"}]', r"tools\.json: 0\.name: "),
        ("[" * 100_000, r"tools\.json: not JSON"),
    ],
)
def test_a_broken_catalogue_is_named_with_place_and_rule(
    tmp_path: Path, content: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        load_catalogue(written(tmp_path, content))


def test_a_catalogue_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'[{"name": "caf\xe9"}]')
    with pytest.raises(ValueError, match=r"tools\.json: not UTF-8"):
        load_catalogue(path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'\xef\xbb\xbf[{"name": "a"}]')
    assert load_catalogue(path) == [CatalogueTool("a", "")]


def test_a_missing_catalogue_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        load_catalogue(tmp_path / "none.json")


@pytest.fixture(scope="module")
def toolbox() -> ToolIndex:
    """The packaged toolbox under the packaged encoder, through the public name."""
    path = Path(ctrag.__file__).parent / "apps" / "toolbox.yaml"
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


def test_each_of_the_59_apis_is_in_the_index_once(toolbox: ToolIndex) -> None:
    assert len({hit.tool.id for hit in toolbox.search("anything", k=1000)}) == 59
