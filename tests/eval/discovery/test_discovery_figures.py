"""What `ctrag eval discovery` counts, redone by hand on a small catalogue."""

import random
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.session.tokens import tool_tokens
from ctrag.models.vector_cache import CachedEncoder
from ctrag.text.words import terms
from eval.core.intervals import bootstrap_interval
from eval.discovery import run, scale
from eval.discovery.data import Benchmark, Need
from eval.discovery.sessions import SEARCH_TOOLS
from stores.tools.protocol import Filter, Query

WORDS = "mail song alarm note flight taxi recipe bill".split()
TOOLS = [
    CatalogueTool(f"{verb}_{word}", f"To {verb} a {word} {'now ' * at}")
    for at, verb in enumerate(("find", "make", "drop"))
    for word in WORDS
]
NEEDS = [
    Need(f"q{number}", f"{verb} the {word}", frozenset({f"{verb}_{word}"}))
    for number, (verb, word) in enumerate(
        (verb, word) for word in WORDS for verb in ("find", "make", "drop")
    )
]


@pytest.fixture
def asked(word_bins: Any, tmp_path: Path) -> run._Asked:
    encoder = CachedEncoder(word_bins, tmp_path)
    return run._Asked(ToolIndex(TOOLS, encoder), encoder, Benchmark(TOOLS, NEEDS))


def test_each_method_orders_by_what_it_is_named_after(asked: run._Asked) -> None:
    need = Need("q", "make the song or find the mail", frozenset({"make_song"}))
    query = Query(list(dict.fromkeys(terms(need.text))), asked.encoder.encode([need.text])[0])
    every = asked.index.store.candidates([query], Filter(), 1000).found
    assert len(every) == len(TOOLS)
    dense = sorted(every, key=lambda one: (-one.cosine, one.position))
    words = sorted(every, key=lambda one: (-one.lexical, one.position))
    words = [one for one in words if one.lexical > 0]
    assert len(words) > 10
    shares = {
        one.tool_id: sum(
            1 / (60 + 1 + ranking.index(one)) for ranking in (dense, words) if one in ranking
        )
        for one in every
    }
    found = run._rankings(asked, need, run.METHODS)
    assert list(found) == list(run.METHODS)
    assert found["dense_alone"] == [one.tool_id for one in dense[:10]]
    assert found["bm25_alone"] == [one.tool_id for one in words[:10]]
    best = sorted(shares.values(), reverse=True)[:10]
    assert [shares[one] for one in found["rrf"]] == pytest.approx(best)
    assert found["hybrid"] == [hit.tool.id for hit in asked.index.search(need.text, 10)]
    lexical = asked.index.search(need.text, 10, mode="lexical")
    assert found["lexical"] == [hit.tool.id for hit in lexical]
    for name in run.METHODS:
        assert run._rankings(asked, need, [name]) == {name: found[name]}


def test_the_first_sixty_of_two_rankings_are_joined_by_their_ranks_plus_sixty(
    asked: run._Asked,
) -> None:
    # A draw in which another constant, or a 59th or 61st rank that counts, gives another order.
    middle = [one for one in range(3, 71) if one not in (60, 61)]
    random.Random(19_393).shuffle(middle)
    dense, words = list(range(1, 71)), [61, 60, *middle[:57], 2, 1, *middle[57:60]]
    candidates = [
        SimpleNamespace(
            tool_id=f"t{one}",
            position=one,
            cosine=1 - one / 100,
            lexical=1 - words.index(one) / 100 if one in words else 0.0,
        )
        for one in range(1, 71)
    ]

    def found_by(queries: list[Query], seen: Filter, limit: int) -> Any:
        assert limit == 60
        return SimpleNamespace(found=candidates)

    store = SimpleNamespace(candidates=found_by)
    stub: Any = SimpleNamespace(store=store)
    shares = {
        one: sum(
            1 / (60 + 1 + order[:60].index(one)) for order in (dense, words) if one in order[:60]
        )
        for one in range(1, 71)
    }
    best = sorted(shares, key=lambda one: -shares[one])[:10]
    need = Need("q", "mail", frozenset({"t1"}))
    alone = ["dense_alone", "bm25_alone", "rrf"]
    found = run._rankings(run._Asked(stub, asked.encoder, asked.benchmark), need, alone)
    assert found["rrf"] == [f"t{one}" for one in best]
    assert found["dense_alone"] == [f"t{one}" for one in dense[:10]]
    for one in candidates:  # three share a word with the request
        one.lexical = 0.5 if one.position in (7, 8, 70) else 0.0
    found = run._rankings(run._Asked(stub, asked.encoder, asked.benchmark), need, alone)
    assert found["bm25_alone"] == ["t7", "t8", "t70"]


def test_recall_is_of_all_requests_with_an_interval_for_the_search_itself(
    asked: run._Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rankings(asked: run._Asked, need: Need, methods: Any) -> dict[str, list[str]]:
        found = ["x", *need.tools] if int(need.query_id[1:]) % 3 else [*need.tools]
        return {"hybrid": found, "bm25_alone": [*"abcde", *found]}

    monkeypatch.setattr(run, "_rankings", rankings)
    figures, intervals = run._recall(asked, ["hybrid", "bm25_alone"])
    assert figures == {
        "hybrid": {"recall@1": 33.33, "recall@5": 100.0},
        "bm25_alone": {"recall@1": 0.0, "recall@5": 0.0},
    }
    hits = [0.0 if int(need.query_id[1:]) % 3 else 100.0 for need in NEEDS]
    expected = bootstrap_interval(hits, [need.query_id for need in NEEDS])
    assert expected is not None
    low, high = round(expected.low, 2), round(expected.high, 2)
    assert low < 33.33 < high
    assert intervals == {"recall": {"recall@1": [low, high], "recall@5": [100.0, 100.0]}}


def test_tokens_are_those_of_all_tools_against_the_search_and_five_found_ones() -> None:
    table: Any = run._tokens(TOOLS, NEEDS)
    assert list(table) == ["10"]
    draw = random.Random(0)
    some = draw.sample(TOOLS, 10)
    texts = [one.text for one in draw.sample(NEEDS, 20)]
    index = ToolIndex(some, lexical_only=True)
    found = fmean(sum(tool_tokens(hit.tool) for hit in index.search(text)) for text in texts)
    static, dynamic = sum(map(tool_tokens, some)), tool_tokens(SEARCH_TOOLS) + found
    assert table["10"] == {
        "static": static,
        "dynamic": round(dynamic),
        "reduction": round(100 - 100 * dynamic / static, 1),
    }
    assert list(run._tokens(TOOLS[:9], NEEDS)) == []
    more = [CatalogueTool(f"{one.name}_{n}", one.description) for n in range(2) for one in TOOLS]
    assert list(run._tokens(more, NEEDS[:2])) == ["10", "25"]


def test_doubt_is_counted_with_the_needed_tools_and_without_them(
    asked: run._Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    sure = [0.1, 0.25, 0.3]  # 0.3 is not below the floor 0.3

    def find(text: str, exclude: frozenset[str] = frozenset()) -> Any:
        at = int(text)
        return SimpleNamespace(certainty=0.04 if exclude and at == 0 else sure[at])

    needs = [Need(str(n), str(n), frozenset({"find_mail"})) for n in range(3)]
    index: Any = SimpleNamespace(find=find)
    monkeypatch.setattr(run, "surfacing_rule", lambda: SimpleNamespace(doubt=0.2))
    found: Any = run._floor(run._Asked(index, asked.encoder, Benchmark(TOOLS, needs)))
    assert found["requests"] == 3
    assert (found["wrongly_rejected"], found["rejected_without_needed_tools"]) == (33.3, 33.3)
    curve = {one["floor"]: tuple(one.values())[1:] for one in found["curve"]}
    assert curve == {
        0.05: (0, 33.3),
        0.1: (0, 33.3),
        0.15: (33.3, 33.3),
        0.2: (33.3, 33.3),
        0.3: (66.7, 66.7),
        0.4: (100, 100),
        0.5: (100, 100),
    }
    many = [Need(str(n), str(n % 3), frozenset({"find_mail"})) for n in range(450)]
    found = run._floor(run._Asked(index, asked.encoder, Benchmark(TOOLS, many)))
    assert found["requests"] == 200


def test_foreign_requests_are_spread_over_their_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def texts(count: int) -> list[str]:
        needs = [Need(str(n), str(n), frozenset()) for n in range(count)]
        monkeypatch.setattr(run, "read_any", lambda data: Benchmark([], needs))
        return run._foreign(Path("x"))

    assert run._foreign(None) == []
    assert texts(3) == ["0", "1", "2"]
    assert texts(399) == [str(n) for n in range(200)]
    assert texts(450) == [str(n) for n in range(0, 400, 2)]


def test_the_papers_figures_stand_beside_the_sizes_that_it_measured() -> None:
    assert run.SIZES == (10, 25, 50, 100, 200, 500, 1000, 2000, 4000)
    assert run._PAPER == {10: 57, 25: 80, 50: 89, 100: 93, 200: 96}


def test_times_are_milliseconds_and_the_first_call_is_not_among_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, worked = iter([1.0, 1.5, 2.0, 2.25]), iter([5.0, 5.125, 6.0, 6.5])
    monkeypatch.setattr(
        scale,
        "time",
        SimpleNamespace(perf_counter=lambda: next(clock), thread_time=lambda: next(worked)),
    )
    said: list[str] = []
    wall, busy = scale._timed(said.append, ["a", "b"])
    assert said == ["a", "a", "b"]
    assert (wall, busy) == ([500, 250], [125, 500])


def test_medians_and_95th_percentiles_have_two_digits() -> None:
    values = [float(one) / 3 for one in range(101)]
    assert scale._both(values) == {"p50": 16.67, "p95": 31.67}
    three = {"lexical": values, "encode": [2 * one for one in values], "hybrid": [5.0, *values]}
    found: Any = scale._contract(three)
    assert found == {
        "lexical_p50": 16.67,
        "encode_p50": 33.33,
        "hybrid_p50": round(float(np.percentile(three["hybrid"], 50)), 2),
        "hybrid_p95": round(float(np.percentile(three["hybrid"], 95)), 2),
    }


def test_a_larger_catalogue_has_the_own_tools_and_copies_with_random_unit_vectors(
    word_bins: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "_AT_ONCE", 7)
    index = ToolIndex(TOOLS, word_bins)
    store = scale._of_size(index, TOOLS, 40)
    assert store.fact("encoder") == index.store.fact("encoder") == "word-bins"
    hashes = store.hashes()
    assert len(hashes) == 40
    assert set(index.store.hashes()) < set(hashes)
    vectors = store.vectors(hashes.values())
    assert len({one.tobytes() for one in vectors.values()}) >= 16
    for one in vectors.values():
        assert float(np.linalg.norm(one)) == pytest.approx(1, abs=1e-5)
    assert len(scale._of_size(index, TOOLS, 10).hashes()) == 10


def test_the_tiers_are_timed_over_the_first_twenty_tools_by_their_threads_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored: list[int] = []

    def timed(search: Any, texts: Any) -> tuple[list[float], list[float]]:
        scored.append(len(search(texts[0])))
        return [7.0], [float(len(scored))]

    monkeypatch.setattr(scale, "_timed", timed)
    found: Any = scale._tiers(TOOLS, ["find the mail"])
    assert scored == [20, 20]
    assert found == {"tools": 20, "expert": {"p50": 1, "p95": 1}, "system": {"p50": 2, "p95": 2}}
    assert scale._tiers(TOOLS[:3], ["find the mail"])["tools"] == 3


def test_vectors_that_are_given_are_not_made_again(word_bins: Any) -> None:
    made: list[str] = []

    class Counting:
        name = "counting"

        def encode(self, texts: Any) -> Any:
            made.extend(texts)
            return word_bins.encode(texts)

    given = scale._Given(Counting(), ["find the mail"])
    count = len(made)
    assert (given.encode(["find the mail"]) == word_bins.encode(["find the mail"])).all()
    assert len(made) == count
    both = ["find the mail", "new"]
    assert (given.encode(both) == word_bins.encode(both)).all()
    assert len(made) == count + 2


def test_sessions_are_the_packaged_ones_where_all_their_tools_are_there_else_one_a_request(
    asked: run._Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "session_profile", lambda index, episodes: list(episodes))
    packaged = run.packaged_episodes()
    named = {name for one in packaged for turn in one.turns for name in turn.tools}
    tools = [CatalogueTool(name, name) for name in sorted(named)]
    whole = run._Asked(asked.index, asked.encoder, Benchmark(tools, NEEDS))
    assert run._sessions(whole) == list(packaged)
    lacking = run._Asked(asked.index, asked.encoder, Benchmark(tools[1:], NEEDS))
    rows = [(one.query_id, one.text, sorted(one.tools)) for one in NEEDS[:20]]
    assert run._sessions(lacking) == list(run.episodes_from(rows))
    assert len(NEEDS) > 20
