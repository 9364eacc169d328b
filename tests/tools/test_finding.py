"""The steps of a search: fields, parts, names, tiers, ranker and cache."""

from pathlib import Path

import numpy as np
import pytest

from ctrag.tools.catalogue import CatalogueTool
from ctrag.tools.features import FEATURES, feature_rows
from ctrag.tools.fields import spelled_out, tool_terms
from ctrag.tools.names import named_first, named_runs, written_out
from ctrag.tools.parts import parts_of
from ctrag.tools.ranker import FLOOR, Reading, ToolRanker, Weights
from ctrag.tools.tiers import SystemKeywords, expert_score, merged
from ctrag.tools.vectors import CachedEncoder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getHTTPStatus_v2", "get HTTP Status v 2"),
        ("user.delete-all", "user delete-all"),
        ("book_flight", "book flight"),
        ("x", "x"),
    ],
)
def test_names_are_spelled_out(name: str, words: str) -> None:
    assert spelled_out(name) == words


def test_fields_weigh_by_where_a_term_stands() -> None:
    schema = {"properties": {"city": {"enum": ["Oslo", "Rome"], "description": "where"}}}
    tool = tool_terms(CatalogueTool("rain_radar", "Shows rain", parameters=schema))
    name, description, parameters = tool.weights["rain"]
    assert name == pytest.approx(1 / (1 - 0.3 + 0.3 * 2 / 3))
    assert (description > 0, parameters) == (True, 0)
    assert tool.weights["oslo"][2] > 0
    assert tool.name == ("rain", "radar")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("what is the weather in Rome", ["what is the weather in Rome"]),
        (
            "Book a flight to Rome. Then, please find me a hotel and also rent a small car",
            ["Book a flight to Rome.", "find me a hotel", "rent a small car"],
        ),
        ("salt and pepper", ["salt and pepper"]),
        ('write "wait. and then go home" to Ann', ['write "wait. and then go home" to Ann']),
        ("?", ["?"]),
    ],
)
def test_a_request_with_several_needs_is_split(text: str, parts: list[str]) -> None:
    assert parts_of(text) == parts


def test_names_are_told_from_words() -> None:
    flight, search = CatalogueTool("book_flight", ""), CatalogueTool("search", "", "web")
    assert {"bookflight", "book", "flight"} <= named_runs("Book Flight now")
    assert written_out(flight, "call book_flight for me")
    assert not written_out(flight, "call rebook_flights for me")
    assert not written_out(search, "search the web")
    assert written_out(search, "use web/search here")


def test_named_tools_and_servers_do_not_miss_the_first_k() -> None:
    tools = [
        CatalogueTool(name, "", server)
        for name, server in [("a", "x"), ("b", "x"), ("c", "x"), ("search", "web"), ("read_mail", "post")]
    ]  # fmt: skip
    order = range(5)
    assert named_first(order, tools, "search for it", 3) == [0, 1, 3, 2, 4]
    assert named_first(order, tools, "use read_mail", 2) == [4, 0, 1, 2, 3]
    assert named_first(order, tools, "what does post have", 2) == [0, 4, 1, 2, 3]
    assert named_first(order, tools, "search for it", 1) == [0, 1, 2, 3, 4]
    assert named_first(order, tools, "nothing of that", 3) == [0, 1, 2, 3, 4]


def test_expert_tools_are_scored_by_name_parts_and_description() -> None:
    tool = CatalogueTool("queryDatabase", "Run SQL on the sales tables")
    assert expert_score("query the database", tool) == 4.0  # two parts of the name
    assert expert_score("please query database", tool) == 14.0  # and the name itself
    assert expert_score("show sales tables", tool) == 0.0  # 1 + 1 is below the least
    assert expert_score("get it", CatalogueTool("get_thing", "get")) == 0.0


def test_system_tools_are_scored_both_ways() -> None:
    words = SystemKeywords.of(CatalogueTool("read_memory", "Recall what was said in the past"))
    assert words.score("read my memory") == 1.0
    assert words.score("memory of paintings by Dutch masters") == 0.0
    assert words.score("find") == 0.0


def test_earlier_tiers_come_first_each_tool_once_cut_at_k() -> None:
    tiers = [("expert", [("b", 1)]), ("system", []), ("database", [("a", 2), ("b", 3), ("c", 4)])]
    assert merged(tiers, 2) == [("expert", "b", 1), ("database", "a", 2)]  # type: ignore[arg-type]


def ranker(**features: float) -> ToolRanker:
    values = np.array([features.get(name, 0.0) for name in FEATURES])
    weights = Weights(values, (1.0, 0.0), (0.0, 0.0, 0.0, 0.0), np.zeros(len(FLOOR) + 1))
    return ToolRanker(weights, weights, 0.5, {})


def reading(text: str, candidates: list[int], cosines: list[float]) -> Reading:
    rows = np.zeros((len(cosines), len(FEATURES)))
    rows[:, 0] = cosines
    return Reading(text, np.array(candidates), rows)


def test_beliefs_of_one_reading_are_a_softmax() -> None:
    ranked = ranker(cosine=2.0).rank([reading("a", [0, 1], [1.0, 0.5])], 2, dense=True)
    assert ranked.beliefs == pytest.approx([np.e**2 / (np.e**2 + np.e), np.e / (np.e**2 + np.e)])
    assert (ranked.fits.tolist(), ranked.whole) == ([0.5, 0.5], 1.0)


def test_whole_and_parts_are_mixed_by_the_gate_and_parts_by_their_best() -> None:
    readings = [
        reading("both of them", [0, 1], [0.0, 0.0]),
        reading("first", [0], [1.0]),
        reading("second", [1], [0.0]),
    ]
    ranked = ranker(cosine=1.0).rank(readings, 2, dense=True)
    first = np.e / (np.e + 1)
    assert ranked.beliefs == pytest.approx([0.5 * 0.5 + 0.5 * first, 0.5 * 0.5 + 0.5 * (1 - first)])
    assert [share for _, share in ranked.readings] == pytest.approx(
        [0.5, 0.5 * first, 0.5 * (1 - first)]
    )


def test_a_ranker_is_what_was_saved_and_refuses_other_features(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    ranker(cosine=2.5).save(path)
    assert ToolRanker.load(path).hybrid.features[0] == 2.5
    path.write_text(path.read_text().replace('"cosine"', '"sine"'))
    with pytest.raises(ValueError, match="train it again"):
        ToolRanker.load(path)


def test_features_do_the_arithmetic_their_names_say() -> None:
    tools = [tool_terms(CatalogueTool("rain", "")), tool_terms(CatalogueTool("x", "sun"))]
    rows = feature_rows(np.array([0.4, 0.9]), tools, {"rain": 2.0}, 3.0)
    first = dict(zip(FEATURES, rows[0], strict=True))
    frequency = 1 / (1 - 0.3 + 0.3 / 3)
    assert first["bm25"] == pytest.approx(2 * frequency / (1.2 + 2 * frequency))
    assert first["name"] == pytest.approx(frequency / (1.2 + frequency))
    assert (first["cosine"], first["cosine_gap"]) == pytest.approx((0.4, -0.5))
    assert (first["bm25_share"], first["name_covered"]) == (1.0, 1.0)
    assert rows[1, 2:9].tolist() == [0.0] * 7


class Once:
    """Refuses to encode a text twice."""

    name = "once/only"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        assert not set(texts) & set(self.seen)
        self.seen += texts
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


def test_vectors_are_kept_on_disk_by_their_text(tmp_path: Path) -> None:
    encoder = Once()
    first = CachedEncoder(encoder, tmp_path).encode(["a", "bb", "a"])
    again = CachedEncoder(encoder, tmp_path).encode(["bb", "ccc"])
    assert (first.tolist(), again.tolist()) == ([[1, 1], [2, 1], [1, 1]], [[2, 1], [3, 1]])
    assert encoder.seen == ["a", "bb", "ccc"]


def test_a_damaged_cache_is_passed_over(tmp_path: Path) -> None:
    cached = CachedEncoder(Once(), tmp_path)
    cached.path.write_text("no database" * 999)
    assert cached.encode(["a"]).tolist() == [[1, 1]]
    assert cached.path.read_text() == "no database" * 999
