"""Whatever the grants, a store's answer is that of plain arithmetic over what they let through."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from stores.tools.duckdb_file import DuckToolStore
from stores.tools.memory import MemoryToolStore
from stores.tools.mirror import MirroredToolStore
from stores.tools.protocol import Filter, Query, ToolRow, ToolStore
from tests.stores.postgres import running_postgres
from tests.stores.tools import row

WORDS = ("flight", "weather", "music")
CHANCE = np.random.default_rng(7)
TOOLS = [
    replace(
        row(
            f"{server}/{verb}_{word}",
            CHANCE.normal(size=6).tolist(),
            **{word: CHANCE.uniform(1, 3), verb: CHANCE.uniform(1, 3)},
        ),
        always=(server, verb, word) == ("air", "find", "music"),
    )
    for server in ("air", "sky", "sea")
    for verb in ("find", "send")
    for word in WORDS
]
IDS = [tool.tool_id for tool in TOOLS]
SCOPES = ("user:ada", "role:pilot", "organisation:acme")

grants = some.lists(
    some.tuples(
        some.sampled_from(SCOPES), some.sampled_from([*IDS, "air/*", "sky/*", "*", "gone/tool"])
    ),
    max_size=6,
    unique=True,
)
filters = some.builds(
    Filter,
    scopes=some.one_of(some.none(), some.frozensets(some.sampled_from(SCOPES))),
    allow=some.one_of(some.none(), some.frozensets(some.sampled_from(IDS))),
    exclude=some.frozensets(some.sampled_from(IDS), max_size=4),
    always=some.booleans(),
    unchecked=some.sampled_from([False, False, False, True]),
)


@pytest.fixture(scope="module", params=["memory", "duckdb", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[ToolStore]:
    made: ToolStore
    if request.param == "postgres":
        with running_postgres() as database:
            from stores.tools.postgres import PostgresToolStore

            made = PostgresToolStore(database.url)
            made.apply(TOOLS)
            yield made
            made.close()
        return
    if request.param == "memory":
        made = MemoryToolStore()
    else:
        made = MirroredToolStore(DuckToolStore(":memory:"))
    made.apply(TOOLS)
    yield made
    made.close()


def passes(tool: ToolRow, rules: list[tuple[str, str]] | None, seen: Filter) -> bool:
    """The rule as its sentences say it."""
    if (tool.always and not seen.always) or tool.tool_id in seen.exclude:
        return False
    if seen.allow is not None and tool.tool_id not in seen.allow:
        return False
    if seen.unchecked or (rules is None and seen.scopes is None):
        return True
    names = (tool.tool_id, f"{tool.server}/*", "*")
    return any(scope in (seen.scopes or ()) and one in names for scope, one in rules or ())


def bm25(tool: ToolRow, words: list[str], visible: list[ToolRow]) -> float:
    score = 0.0
    for word in words:
        having = sum(word in other.terms for other in visible)
        rarity = math.log(1 + (len(visible) - having + 0.5) / (having + 0.5))
        score += rarity * tool.terms.get(word, 0.0) / (1.2 + tool.terms.get(word, 0.0))
    return score


@settings(max_examples=40, deadline=None)
@given(
    rules=some.one_of(some.none(), grants),
    seen=filters,
    words=some.lists(some.sampled_from([*WORDS, "send", "zebra"]), max_size=3, unique=True),
    direction=some.integers(0, 2**32 - 1),
    k=some.integers(1, 5),
)
def test_the_first_k_of_each_measure_equal_brute_force_over_what_the_grants_let_through(
    store: ToolStore, rules: list[tuple[str, str]] | None, seen: Filter,
    words: list[str], direction: int, k: int,
) -> None:  # fmt: skip
    store.set_grants(rules)
    vector = np.random.default_rng(direction).normal(size=6).astype(np.float32)
    vector /= np.linalg.norm(vector)
    visible = [tool for tool in TOOLS if passes(tool, rules, seen)]
    cosine = {tool.tool_id: float(tool.vector @ vector) for tool in visible}
    lexical = {tool.tool_id: bm25(tool, words, visible) for tool in visible}
    by_cosine = sorted(cosine, key=lambda one: -cosine[one])[:k]
    by_lexical = sorted((one for one in lexical if lexical[one]), key=lambda one: -lexical[one])[:k]
    first = [one for one in IDS if one in {*by_cosine, *by_lexical}]

    asked = store.candidates([Query(words, vector)], seen, k)

    assert [one.tool_id for one in asked.found] == first
    assert [one.cosine for one in asked.found] == pytest.approx(
        [cosine[one] for one in first], abs=1e-5
    )
    assert [one.lexical for one in asked.found] == pytest.approx([lexical[one] for one in first])
    if visible:
        holding = {word: sum(word in tool.terms for tool in visible) for word in words}
        assert asked.total == len(visible)
        assert asked.counts == {word: tools for word, tools in holding.items() if tools}
    assert set(store.definitions(IDS, seen)) == set(cosine)
    named = [tool.tool_id for tool in visible if tool.name_key == "findflight"]
    assert store.named("findflight", seen) == named


def test_rules_and_what_belongs_to_them_change_together_or_not_at_all(store: ToolStore) -> None:
    class Torn(dict[str, str]):
        """Breaks off behind the first fact, as a killed process would."""

        def items(self) -> Any:
            yield "members", "new"
            raise InterruptedError

    old = [("user:ada", "air/*")]
    store.set_grants(old, {"members": "old", "version": "1"})
    with pytest.raises(InterruptedError):
        store.set_grants([("user:ada", "*")], Torn())
    assert store.grants() == old
    assert [store.fact(name) for name in ("members", "version")] == ["old", "1"]
    store.set_grants(None, {"members": "new"})
    assert (store.grants(), store.fact("members"), store.fact("version")) == (None, "new", "1")
