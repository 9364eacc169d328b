"""What an agent is given of a search."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.search.affinity import Event
from ctrag.agents.search.duplicates import groups_of, versionless
from ctrag.agents.search.fields import tool_terms
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.ranker import ToolRanker, packaged_ranker
from ctrag.agents.search.results import ToolHit, ToolSearch
from ctrag.agents.search.surfacing import (
    DOUBT,
    IN_DOUBT,
    LIMIT,
    WITH_COPIES,
    Surfacing,
    packaged_surfacing,
    surface,
)
from ctrag.errors import InputError
from eval.discovery.data import LIVE, Need, read_bfcl, read_folder
from eval.discovery.given import given_to_agents

REAL = Path(__file__).parents[3] / "data" / "tools" / "real-servers"
OPENAPI = REAL.with_name("openapi")
OFFICE = [
    ("lock_door", "Lock or unlock a door of the building"),
    ("book_room", "Reserve a meeting room"),
    ("print_pages", "Print pages on the office printer"),
    ("order_lunch", "Order lunch from the canteen"),
]


def hit(tool_id: str, score: float, *, copy_of: str = "") -> ToolHit:
    server, _, name = tool_id.rpartition("/")
    tool = CatalogueTool(name, "", server)
    return ToolHit(tool, score, 0.5, 0.5, fits=False, copy_of=copy_of)


def found(*hits: ToolHit, certainty: float = 0.9, k: int = LIMIT) -> ToolSearch:
    return ToolSearch(list(hits[:k]), True, [""], certainty, list(hits), 1000)


def ids(search: ToolSearch, query: str = "something", limit: int = LIMIT) -> list[str]:
    return list(surface(search, query, limit).hits)


def test_few_tools_are_given_where_belief_is_on_one_and_more_where_it_is_spread() -> None:
    assert ids(found(hit("a/x", 0.97), hit("a/y", 0.02))) == ["a/x"]
    spread = [hit(f"a/t{number}", 0.1) for number in range(10)]
    assert len(ids(found(*spread))) == LIMIT
    assert ids(found(*spread), limit=2) == ["a/t0", "a/t1"]


def test_what_fits_a_part_of_the_request_is_given_with_it() -> None:
    part = replace(hit("a/y", 0.01), fits=True)
    assert ids(found(hit("a/x", 0.97), part, hit("a/z", 0.01))) == ["a/x", "a/y"]


def test_in_doubt_the_best_hits_come_with_a_note_and_hopeless_searches_give_nothing() -> None:
    rule = packaged_surfacing()
    hits = [hit(f"a/t{number}", 0.1) for number in range(10)]
    doubtful = surface(found(*hits, certainty=(rule.doubt + rule.hopeless) / 2), "something")
    assert (list(doubtful.hits), doubtful.note) == ([f"a/t{n}" for n in range(IN_DOUBT)], DOUBT)
    hopeless = surface(found(*hits, certainty=rule.hopeless / 2), "something")
    assert (hopeless.hits, hopeless.note, hopeless.doubt) == ({}, "", False)
    assert [one.tool.id for one in hopeless.closest[:2]] == ["a/t0", "a/t1"]


def test_a_copy_has_the_share_that_it_would_have_alone_and_does_not_take_anothers_place() -> None:
    copies = [hit("s0/send", 0.03)]
    copies += [hit(f"s{n}/send", 0.03, copy_of="s0/send") for n in range(1, 8)]
    given = surface(found(*copies, hit("a/post", 0.1)), "something")
    assert "a/post" in given.hits
    assert len(given.hits) == WITH_COPIES
    assert given.copies == {"s0/send": tuple(f"s{n}/send" for n in range(4, 8))}


def test_a_tool_is_given_by_its_name_alone_and_a_named_server_gives_its_best() -> None:
    hits = [hit("mail/send", 0.9), hit("a/list", 0.01), hit("b/read", 0.001), hit("b/x", 0.0001)]
    low = found(*hits, certainty=0.0)
    assert ids(low, "list") == ["a/list"]
    assert ids(low, "a/list") == ["a/list"]
    assert ids(low, "something with b") == ["b/read"]
    assert ids(low, "something") == []
    assert not surface(low, "a/list").doubt
    assert ids(found(*hits), "please list every letter of last week for me") == ["mail/send"]


def test_versions_of_one_interface_and_one_tool_on_several_servers_are_copies() -> None:
    listed = "List the jobs of a queue"
    tools = [
        CatalogueTool("listBatchV1Jobs", listed, "k"),
        CatalogueTool("listBatchV1beta1Jobs", listed, "k"),
        CatalogueTool("list_batch_v2_jobs", listed, "other"),
        CatalogueTool("read_file", "Read a file of the disk", "a"),
        CatalogueTool("read_file", "Read a file of the disk", "b"),
        CatalogueTool("delete_file", "Delete a file of the disk", "a"),
        CatalogueTool("search", "Look for mails by sender", "mail"),
        CatalogueTool("search", "Ask the web a question", "web"),
    ]
    assert groups_of([(one, tool_terms(one)) for one in tools]) == [0, 0, 0, 3, 3, 5, 6, 7]
    assert versionless("getStatus_v2") == versionless("get_status")
    assert versionless("review2") == "review2"


@pytest.mark.parametrize(
    ("asked", "name", "description"),
    [
        ("there is a bug, write it down for the developers", "create_ticket", "Create a ticket"),
        ("tell Ines that I come by train", "post_message", "Post a message to a person"),
        ("what do I have on Friday", "list_appointments", "List the appointments of a calendar"),
        ("where did we put the contract", "find_document", "Find a document by its words"),
    ],
)
@pytest.mark.parametrize("servers", [1, 2, 3, 5])
def test_the_same_tool_on_more_servers_is_given_all_the_same(
    asked: str, name: str, description: str, servers: int
) -> None:
    named = ["north", "south", "east", "west", "old"][:servers]
    tools = [CatalogueTool(one, text, "office") for one, text in OFFICE]
    tools += [CatalogueTool(name, description, server) for server in named]
    given = ToolIndex(tools).give(asked)
    reached = {*given.hits, *(one for copies in given.copies.values() for one in copies)}
    assert reached >= {f"{server}/{name}" for server in named}


@pytest.fixture(scope="module")
def real() -> list[CatalogueTool]:
    return load_catalogue(REAL / "tools.json")


ON_DISK = [
    ("which documents lie in the folder reports", "list_directory"),
    ("put this file elsewhere", "move_file"),
    ("change one line in the settings file", "edit_file"),
    ("when was budget.xls last touched", "get_file_info"),
    ("find all spreadsheets", "search_files"),
    ("save what I dictate to the disk", "write_file"),
]


@pytest.mark.parametrize(("asked", "wanted"), ON_DISK)
def test_two_or_three_servers_of_the_same_files_give_what_one_gives(
    real: list[CatalogueTool], asked: str, wanted: str
) -> None:
    disk = [one for one in real if one.server == "filesystem"]
    for names in (["work"], ["work", "home"], ["work", "home", "archive"]):
        tools = [replace(one, server=name) for name in names for one in disk]
        given = ToolIndex(tools).give(asked)
        assert wanted in {one.tool.name for one in given.hits.values()}, (names, list(given.hits))


def test_what_a_caller_likes_and_what_comes_next_change_what_is_given() -> None:
    tools = [CatalogueTool(one, text, "office") for one, text in OFFICE]
    tools += [CatalogueTool(f"note_{one}", f"Take a note, {one} kind", "notes") for one in "abcdef"]
    index = ToolIndex(tools)
    asked = "take a note"
    before = index.find(asked, LIMIT)
    last = before.hits[4].tool.id
    events: list[Event] = ["used", "succeeded"] * 10
    for event in events:
        index.learn("ada", last, event)
    liked = index.find(asked, LIMIT, "ada")
    rank = [one.tool.id for one in liked.hits].index(last)
    assert rank < 4
    assert liked.hits[rank].probability > before.hits[4].probability

    class Follows:
        def rank(self, text: str, history: object) -> list[tuple[str, float]]:
            return [("office/order_lunch", 0.9)]

    assert "office/order_lunch" not in index.give(asked).hits
    index.next_tool = Follows()
    assert "office/order_lunch" in index.give(asked).hits


def test_a_rule_made_for_other_evidence_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rule.json"
    packaged_surfacing().save(path)
    assert Surfacing.load(path).certainty([hit("a/x", 0.9)], 1, dense=True) > 0
    path.write_text(path.read_text().replace("likeliest", "luck"), encoding="utf-8")
    with pytest.raises(ValueError, match="evidence"):
        Surfacing.load(path)


def test_the_more_readings_a_request_has_the_less_one_likeness_says() -> None:
    rule, near = packaged_surfacing(), [hit("a/x", 0.9), hit("a/y", 0.1)]
    assert rule.certainty(near, 4, dense=True) < rule.certainty(near, 1, dense=True)
    assert rule.certainty(near, 4, dense=False) < rule.certainty(near, 1, dense=False)


def test_requests_that_nothing_serves_are_told_so(real: list[CatalogueTool]) -> None:
    hopeless = [one.text for one in read_folder(REAL).needs if not one.tools]
    index = ToolIndex(real)
    given = [index.give(text) for text in hopeless]
    assert sum(not one.hits or one.doubt for one in given) >= 0.9 * len(hopeless)
    assert sum(not one.hits for one in given) >= 0.3 * len(hopeless)


def sampled(needs: list[Need], count: int) -> list[Need]:
    return needs[:: max(1, len(needs) // count)][:count]


@pytest.mark.slow
def test_the_release_gate_agents_are_given_what_the_search_finds_with_few_tools(
    real: list[CatalogueTool],
) -> None:
    needs = [one for one in read_folder(REAL).needs if one.tools]
    of_real = given_to_agents(ToolIndex(real), needs)
    assert figure(of_real, "recall@5") >= figure(of_real, "found@5") - 1
    apis = read_folder(OPENAPI)
    tools_of_two = [one for one in apis.tools if one.server != "github"]
    held = {one.id for one in tools_of_two}
    asked = [one for one in apis.needs if one.tools and one.tools <= held]
    of_apis = given_to_agents(ToolIndex(tools_of_two), asked)
    assert len(asked) == 30
    assert figure(of_apis, "recall@5") >= figure(of_apis, "found@5") - 3.4, "all but one"
    pytest.importorskip("bfcl_eval", reason="carries the requests of the other half of the gate")
    bfcl = read_bfcl(LIVE)
    some = sampled(bfcl.needs, 300)
    of_bfcl = given_to_agents(ToolIndex(bfcl.tools), some)
    # Of 300, three of them a point; of all 1,351 it is within one (docs/log.md).
    assert figure(of_bfcl, "recall@5") >= figure(of_bfcl, "found@5") - 2
    tools = len(needs) * figure(of_real, "tools") + len(some) * figure(of_bfcl, "tools")
    assert tools / (len(needs) + len(some)) <= 3


def figure(figures: Mapping[str, object], name: str) -> float:
    value = figures[name]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize("kind", [Surfacing, ToolRanker])
@pytest.mark.parametrize(
    "content",
    ["", "null", "[]", "{}", "1", "NaN", "[" * 99_999, '{"a":' * 99_999, '{"a": "\\ud800"}'],
)
def test_a_damaged_file_of_weights_is_told_by_its_name(
    tmp_path: Path, kind: type[Surfacing | ToolRanker], content: str
) -> None:
    path = tmp_path / "weights.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"weights\.json"):
        kind.load(path)


@pytest.mark.parametrize("packaged", [packaged_surfacing, packaged_ranker])
@pytest.mark.parametrize("value", [None, [], {}, "x", float("nan"), float("inf"), "gone"])
def test_no_value_of_a_file_of_weights_can_be_anything_else(
    tmp_path: Path, packaged: Callable[[], Surfacing | ToolRanker], value: object
) -> None:
    path, rule = tmp_path / "weights.json", packaged()
    rule.save(path)
    whole = json.loads(path.read_text())
    for name in whole:
        if name == "card" and value == {}:
            continue
        changed = {one: value if one == name else whole[one] for one in whole}
        if value == "gone":
            del changed[name]
        path.write_text(json.dumps(changed))
        with pytest.raises(InputError, match=r"weights\.json"):
            type(rule).load(path)
