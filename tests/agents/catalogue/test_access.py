"""No search, resolution or call shows a tool outside the grants, whatever they are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ctrag.agents.catalogue.access import AccessRules, Expert, Grant, Principal
from ctrag.agents.catalogue.tool import Catalogue, CatalogueTool
from ctrag.agents.search.index import ToolIndex
from stores.tools.duckdb_file import DuckToolStore
from stores.tools.memory import MemoryToolStore
from stores.tools.mirror import MirroredToolStore
from stores.tools.protocol import ToolStore
from tests.stores.postgres import running_postgres

WORDS = ("flight", "weather", "music", "mail")
SERVERS = ("air", "sky", "")
ROLES, ORGANISATIONS = ("pilot", "clerk"), ("acme", "other")


class Spread:
    """Unit vectors that differ from text to text, the same for the same text."""

    name = "spread"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = [np.random.default_rng(list(text.encode())).normal(size=8) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(rows), 8)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


TOOLS = [
    CatalogueTool(f"{verb}_{word}", f"{verb} the {word} of {server or 'anyone'}", server)
    for server in SERVERS
    for word in WORDS
    for verb in ("find", "send")
]
IDS = [tool.id for tool in TOOLS]

grants = some.lists(
    some.builds(
        Grant,
        some.sampled_from(
            ["user:ada", "user:bob", *(f"role:{one}" for one in ROLES), "organisation:acme"]
        ),
        some.sampled_from([*IDS, "air/*", "sky/*", "*", "gone/tool"]),
    ),
    max_size=6,
)
callers = some.one_of(
    some.none(),
    some.sampled_from(["ada", "bob", "nobody"]),
    some.builds(
        Principal,
        some.sampled_from(["ada", "eve"]),
        some.frozensets(some.sampled_from(ROLES)),
        some.frozensets(some.sampled_from(ORGANISATIONS)),
    ),
)
MEMBERS = {
    "ada": Principal("ada", frozenset(["pilot"]), frozenset(["acme"])),
    "bob": Principal("bob"),
}


@pytest.fixture(scope="module", params=["memory", "duckdb", "postgres"])
def index(request: pytest.FixtureRequest) -> Iterator[ToolIndex]:
    if request.param == "postgres":
        with running_postgres() as database:
            made = ToolIndex.open(database.url, Catalogue(TOOLS), Spread())
            yield made
            made.close()
        return
    store: ToolStore
    if request.param == "memory":
        store = MemoryToolStore()
    else:
        store = MirroredToolStore(DuckToolStore(":memory:"))
    yield ToolIndex(TOOLS, Spread(), store=store)


def allowed(
    rules: AccessRules, user: Principal | str | None, list_: frozenset[str] | None
) -> list[CatalogueTool]:
    """The rule as its sentence says it."""
    who = MEMBERS.get(user) if isinstance(user, str) else user
    if who is None:
        return []
    scopes = {f"user:{who.user}"}
    scopes |= {f"role:{one}" for one in who.roles}
    scopes |= {f"organisation:{one}" for one in who.organisations}
    seen = []
    for tool in TOOLS:
        granted = any(
            grant.scope in scopes and grant.tool in (tool.id, f"{tool.server}/*", "*")
            for grant in rules.grants
        )
        if granted and (list_ is None or tool.id in list_):
            seen.append(tool)
    return seen


@settings(max_examples=12, deadline=None)
@given(
    given=grants,
    user=callers,
    list_=some.one_of(some.none(), some.frozensets(some.sampled_from(IDS), max_size=12)),
    text=some.sampled_from(
        ["find the weather", "send mail and then find music", "air/find_flight", "zzz", "sky"]
    ),
    k=some.integers(1, 8),
)
def test_the_first_k_are_those_of_an_index_over_the_allowed_tools_alone(
    index: ToolIndex, given: list[Grant], user: Principal | str | None,
    list_: frozenset[str] | None, text: str, k: int,
) -> None:  # fmt: skip
    rules = AccessRules(tuple(given), MEMBERS)
    index.access = rules
    expert = Expert("one", allow=list_)
    seen = allowed(rules, user, list_)
    hits = index.search(text, k, user, expert=expert)
    expected = ToolIndex(seen, Spread()).search(text, k) if seen else []
    assert [hit.tool.id for hit in hits] == [hit.tool.id for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    every = {tool.id for tool in allowed(rules, user, None)}
    assert {tool.id for tool in index.resolve(IDS, user)} == every
    assert {one for one in IDS if index.allowed(one, user)} == every == rules.visible(IDS, user)
    assert {tool.id for tool in index.preload(text, user)} <= every


def test_taking_rules_away_opens_and_taking_grants_away_closes(index: ToolIndex) -> None:
    index.access = AccessRules((Grant("user:ada", "*"),), MEMBERS)
    assert index.search("weather", user="ada")
    index.access = AccessRules((), MEMBERS)
    assert index.search("weather", user="ada") == []
    index.access = None
    assert index.search("weather")


def test_a_stale_id_falls_back_to_the_one_visible_tool_of_that_name(index: ToolIndex) -> None:
    index.access = AccessRules((Grant("user:ada", "air/*"), Grant("user:bob", "*")), MEMBERS)
    assert [one.id for one in index.resolve(["old/find_mail"], "ada")] == ["air/find_mail"]
    assert index.resolve(["old/find_mail"], "bob") == []  # three tools of that name
    assert index.resolve(["sky/find_mail"], "ada") == []  # not stale: not hers
    assert index.resolve(["old/find_mail"], "eve") == []
    twice = index.resolve(["air/find_mail", "old/find_mail", "air/send_mail"], "ada")
    assert [one.id for one in twice] == ["air/find_mail", "air/send_mail"]
    index.access = None


def test_an_experts_tools_come_first_and_its_list_confines(index: ToolIndex) -> None:
    index.access = None
    travel = Expert("travel", tools=("sky/find_weather",), allow=frozenset(IDS[:8]))
    assert {hit.tool.server for hit in index.search("mail", 9, expert=travel)} == {"air"}
    wide = Expert("wide", tools=("sky/find_weather", "sky/send_mail"))
    first = index.search("find the weather", expert=wide)[0]
    assert (first.tool.id, first.tier) == ("sky/find_weather", "expert")
    assert index.search("find some music", expert=wide)[0].tier == "database"
    with pytest.raises(ValueError, match="expert: 'none' is unknown; known: none"):
        index.search("mail", expert="none")


@pytest.mark.parametrize("scope", ["ada", "user:", "group:x", ""])
def test_a_scope_names_its_kind(scope: str) -> None:
    with pytest.raises(ValueError, match="must be user:NAME, role:NAME or organisation:NAME"):
        Grant(scope, "*")


def test_rules_set_through_one_index_hold_in_another_over_the_same_store(word_bins: Any) -> None:
    store = MemoryToolStore()
    tools = [CatalogueTool("print", "Print a page", "desk"), CatalogueTool("send", "Send", "mail")]
    grants = (Grant("role:clerk", "desk/*"), Grant("role:post", "mail/*"))
    clerk = {"ada": Principal("ada", frozenset(["clerk"]))}
    first = ToolIndex(tools, word_bins, AccessRules(grants, clerk), store=store)
    second = ToolIndex((), word_bins, store=store)
    assert seen_by(second, "ada") == {"desk/print"}
    first.access = AccessRules(grants, {"ada": Principal("ada", frozenset(["post"]))})
    assert seen_by(second, "ada") == {"mail/send"}
    assert not second.allowed("desk/print", "ada")
    first.access = None
    assert seen_by(second, "nobody") == {"desk/print", "mail/send"}
    second.access = AccessRules(grants, clerk)
    assert seen_by(first, "ada") == {"desk/print"}


def seen_by(index: ToolIndex, user: str) -> set[str]:
    return {hit.tool.id for hit in index.search("print a page and send it", user=user)}
