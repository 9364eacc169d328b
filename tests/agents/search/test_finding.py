"""The steps of a search: fields, parts, names, tiers, ranker and cache."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.agents.catalogue.tool import CatalogueTool, spelled_out
from ctrag.agents.search.features import FEATURES, ReadingWords, feature_rows, rarities
from ctrag.agents.search.fields import (
    NO_GRAM,
    VOCABULARY,
    ToolTerms,
    gram_codes,
    tool_terms,
)
from ctrag.agents.search.index import Mode, ToolIndex
from ctrag.agents.search.names import named_first, named_runs, written_out
from ctrag.agents.search.parts import parts_of
from ctrag.agents.search.ranker import FLOOR, ModeWeights, Readings, ToolRanker
from ctrag.agents.search.tiers import SystemKeywords, expert_score, merged
from ctrag.models.vector_cache import CachedEncoder
from ctrag.text.words import telling_words
from stores.tools.protocol import saturated


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


def measured(tool: ToolTerms) -> dict[str, tuple[float, ...]]:
    return {term: tuple(row[1:]) for term, row in zip(tool.frequencies, tool.table, strict=True)}


def test_terms_of_all_tools_share_their_numbers() -> None:
    first, second = (tool_terms(CatalogueTool(name, "")) for name in ("rain_zebu", "zebu_quagga"))
    numbers = [
        dict(zip(one.frequencies, one.table[:, 0].astype(int), strict=True))
        for one in (first, second)
    ]
    assert numbers[0]["zebu"] == numbers[1]["zebu"]
    places = VOCABULARY.columns(["quagga", "never said", "rain"])
    assert places[numbers[1]["quagga"]] == 0
    assert places[numbers[0]["rain"]] == 2
    assert places[numbers[0]["zebu"]] == -1


def test_fields_weigh_by_where_a_term_stands() -> None:
    schema = {"properties": {"city": {"enum": ["Oslo", "Rome"], "description": "where"}}}
    tool = tool_terms(CatalogueTool("rain_radar", "Shows rain", parameters=schema))
    name, description = 1 / (1 - 0.3 + 0.3 * 2 / 3), 1 / (1 - 0.5 + 0.5 * 2 / 12)
    frequency = 2 * name + description
    assert tool.frequencies["rain"] == pytest.approx(frequency)
    assert measured(tool)["rain"] == pytest.approx((frequency / (1.2 + frequency), 0, 1))
    parameter = 1 / (1 - 0.5 + 0.5 * 3 / 12)  # city, Oslo, Rome; "where" is a stop word
    shares = 0.5 * parameter / (1.2 + 0.5 * parameter), parameter / (1.2 + parameter)
    assert measured(tool)["oslo"] == pytest.approx((*shares, 0))
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


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("words", range(1, 13))
def test_a_written_name_never_misses_whatever_its_length(
    words: int, mode: Mode, word_bins: Any
) -> None:
    """Forty tools of one server whose names differ in the last word alone."""
    start = "list all open pull requests of a team for review by".split()[: words - 1]
    ends = [f"{first}{second}x" for first in "bcdfg" for second in "aeiouwyz"]
    tools = [CatalogueTool("_".join([*start, end]), "Lists things.", "hub") for end in ends]
    index = ToolIndex(tools, word_bins)
    for tool in tools:
        for said in (f"call hub/{tool.name} for the open team", f"please run {tool.name} now"):
            assert tool.id in [hit.tool.id for hit in index.search(said, 5, mode=mode)]


def test_a_name_of_one_letter_is_found() -> None:
    tools = [CatalogueTool(one, "Does something with a letter.", "abc") for one in "BCDFGHJK"]
    index = ToolIndex(tools, lexical_only=True)
    assert "abc/B" in [hit.tool.id for hit in index.search("use B on the thing", 5)]


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
    weights = ModeWeights(values, (1.0, 0.0), (0.0, 0.0, 0.0, 0.0), np.zeros(len(FLOOR) + 1))
    return ToolRanker(weights, weights, 0.5, {})


def readings(*cosines: list[float], texts: Sequence[str] = ("a", "b", "c d")) -> Readings:
    rows = np.zeros((len(cosines), len(cosines[0]), len(FEATURES)))
    rows[:, :, 0] = cosines
    return Readings(texts[: len(cosines)], rows)


def test_beliefs_of_one_reading_are_a_softmax() -> None:
    ranked = ranker(cosine=2.0).rank(readings([1.0, 0.5]), dense=True)
    assert ranked.beliefs == pytest.approx([np.e**2 / (np.e**2 + np.e), np.e / (np.e**2 + np.e)])
    assert (ranked.fits.tolist(), ranked.whole) == ([0.5, 0.5], 1.0)


def test_whole_and_parts_are_mixed_by_the_gate_and_parts_by_their_best() -> None:
    ranked = ranker(cosine=1.0).rank(readings([0.0, 0.0], [1.0, 0.0], [0.0, 0.0]), dense=True)
    better, equal = np.e / (np.e + 1), 0.5  # the first part's share, and its belief in tool 0
    first = 0.5 * 0.5 + 0.5 * (better * better + (1 - better) * equal)
    assert ranked.beliefs == pytest.approx([first, 1 - first])
    assert [share for _, share in ranked.readings] == pytest.approx(
        [0.5, 0.5 * better, 0.5 * (1 - better)]
    )


def test_no_candidates_are_no_fault() -> None:
    ranked = ranker().rank(Readings(["a", "b"], np.zeros((2, 0, len(FEATURES)))), dense=True)
    assert (len(ranked.beliefs), len(ranked.fits)) == (0, 0)


def test_a_ranker_is_what_was_saved_and_refuses_other_features(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    ranker(cosine=2.5).save(path)
    assert ToolRanker.load(path).hybrid.features[0] == 2.5
    path.write_text(path.read_text().replace('"cosine"', '"sine"'))
    with pytest.raises(ValueError, match="train it again"):
        ToolRanker.load(path)


def test_features_do_the_arithmetic_their_names_say() -> None:
    tools = [
        tool_terms(CatalogueTool("rain_radar", "", parameters={"properties": {"rain": {}}})),
        tool_terms(CatalogueTool("x", "sun")),
    ]
    asked = [ReadingWords.of("rains and snow, a rain radar for Oslo"), ReadingWords.of("sun")]
    cosines = np.array([[0.4, 0.9], [0.2, 0.1]])
    rows = feature_rows(cosines, tools, asked, {"rain": 2.0, "sun": 1.0, "snow": 0.5}, 3.0)
    first = dict(zip(FEATURES, rows[0, 0], strict=True))
    name, parameter = 1 / (1 - 0.3 + 0.3 * 2 / 3), 1 / (1 - 0.5 + 0.5 / 12)
    frequency = 2 * name + 0.5 * parameter
    assert first["bm25_sum"] == pytest.approx(2 * frequency / (1.2 + frequency) / 10)
    assert first["bm25"] == pytest.approx(10 * first["bm25_sum"] / 2.5)
    assert first["parameters"] == pytest.approx(2 * parameter / (1.2 + parameter) / 2.5)
    assert first["name_covered"] == pytest.approx(2 / (2 + 3))  # no tool but one has "radar"
    assert first["asked_covered"] == pytest.approx(2 / 2.5)
    assert first["tool_covered"] == pytest.approx(1 / (3 + 2))
    assert (first["name_pairs"], first["name_trigrams"], first["bm25_share"]) == (1, 1, 1)
    assert (first["cosine"], first["cosine_gap"]) == pytest.approx((0.4, -0.5))
    second = dict(zip(FEATURES, rows[0, 1], strict=True))
    assert {second[one] for one in ("bm25", "parameters", "name_covered", "name_trigrams")} == {0}
    assert (second["best_bm25_share"], second["best_cosine"]) == (1, 0.9)  # the part's, the whole's
    part = dict(zip(FEATURES, rows[1, 1], strict=True))
    assert (part["best_cosine"], part["bm25_share"]) == (0.1, 1)


@given(st.lists(st.text("abrdis ", max_size=12), min_size=1, max_size=5), st.text("abrdis "))
def test_shares_stay_between_0_and_1(names: list[str], text: str) -> None:
    tools = [tool_terms(CatalogueTool(name, name[::-1])) for name in names]
    asked = [ReadingWords.of(text), ReadingWords.of(text[: len(text) // 2])]
    counts = {
        term: sum(term in tool.frequencies for tool in tools) for one in asked for term in one.terms
    }
    idf = rarities({term: count for term, count in counts.items() if count}, len(tools))
    rows = feature_rows(np.zeros((2, len(tools))), tools, asked, idf, 5.0)
    shares = rows[:, :, [FEATURES.index(one) for one in FEATURES if one != "bm25_sum"]]
    assert np.isfinite(rows).all()
    assert (shares >= 0).all()
    assert (shares <= 1 + 1e-9).all()


def measured_plainly(
    tool: ToolTerms, asked: ReadingWords, idf: dict[str, float], rarest: float
) -> dict[str, float]:
    """The measures of one tool in one reading, without arrays."""
    known = [term for term in asked.terms if term in idf]
    shared = [term for term in known if term in tool.frequencies]
    said = sum(idf[term] for term in known if term in tool.name)
    unsaid = rarest * sum(term not in known for term in tool.name)
    most = sum(idf[term] for term in known) or 1e-9
    gained = sum(idf[term] * saturated(tool.frequencies[term]) for term in shared)
    letters = {int(one) for one in tool.grams if one != NO_GRAM}
    return {
        "bm25": gained / most,
        "bm25_sum": gained / 10,
        "name_covered": said / ((said + unsaid) or 1),
        "name_pairs": len(asked.pairs & tool.pairs) / (len(tool.pairs) or 1),
        "name_trigrams": len(letters & set(asked.grams.tolist())) / (len(letters) or 1),
        "asked_covered": sum(idf[term] for term in shared) / most,
        "tool_covered": len(shared) / (3 + len(tool.frequencies)),
    }


@given(st.lists(st.text("abrdis _", max_size=12), min_size=1, max_size=5), st.text("abrdis "))
def test_measures_of_all_tools_at_once_are_those_of_each_alone(names: list[str], text: str) -> None:
    tools = [tool_terms(CatalogueTool(name, name[::-1])) for name in names]
    asked = [ReadingWords.of(text), ReadingWords.of(text[: len(text) // 2])]
    terms = dict.fromkeys(term for one in asked for term in one.terms)
    counts = {term: sum(term in tool.frequencies for tool in tools) for term in terms}
    idf = rarities({term: count for term, count in counts.items() if count}, len(tools))
    rows = feature_rows(np.zeros((2, len(tools))), tools, asked, idf, 5.0)
    for reading, one in enumerate(asked):
        for column, tool in enumerate(tools):
            found = dict(zip(FEATURES, rows[reading, column].tolist(), strict=True))
            for name, value in measured_plainly(tool, one, idf, 5.0).items():
                assert found[name] == pytest.approx(value, abs=1e-9), name


def test_trigrams_of_a_name_are_found_inside_words() -> None:
    said = {int(one) for one in gram_codes(telling_words("GetWeatherForecast now"))}
    assert said >= set(tool_terms(CatalogueTool("get_weather", "")).grams.tolist())
    assert not said & set(tool_terms(CatalogueTool("tax", "")).grams.tolist())
    assert tool_terms(CatalogueTool("ab", "")).grams.tolist() == [NO_GRAM]
    assert len(gram_codes(["ab"])) == 0


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


@pytest.mark.parametrize(
    "blob", [b"", b"abc", "text", None, 7, np.float32([1, np.nan]).tobytes(), b"\0" * 400]
)
def test_a_damaged_vector_is_made_anew(tmp_path: Path, blob: object) -> None:
    CachedEncoder(Once(), tmp_path).encode(["a", "bb"])
    cached = CachedEncoder(Once(), tmp_path)
    with closing(sqlite3.connect(cached.path)) as file, file:
        file.execute("UPDATE vectors SET vector = ? WHERE rowid = 1", [blob])
    for _ in range(2):
        assert cached.encode(["a", "bb"]).tolist() == [[1, 1], [2, 1]]
