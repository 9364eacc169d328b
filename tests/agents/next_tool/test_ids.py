"""Claims about tools with servers: the model takes and gives the ids that catalogues search by."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctrag import NextTool, ToolIndex
from ctrag.agents.catalogue.tool import CatalogueTool, load_catalogue
from ctrag.agents.next_tool import METHODS, load_demonstrations
from ctrag.agents.next_tool.texts import with_names
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.reranker import Reranker
from ctrag.agents.prompt.settings import PromptSettings
from ctrag.agents.prompt.tool_documents import make_documents
from tests.agents.prompt.toys import TopicEncoder, card, count_words
from training.next_tool.settings import DependencySettings
from training.next_tool.train import fit_next_tool

SOURCE = {"command": "-", "data": "chains", "data_sha256": "-"}
MAIL = "Mail Ada that I am late"


@pytest.fixture(scope="module")
def tools(chains: Path) -> list[CatalogueTool]:
    """The catalogue of the chains, on two servers; both can send a mail."""
    found = [
        replace(one, server="air" if "flight" in one.name else "office")
        for one in load_catalogue(chains / "tools.json")
    ]
    return [*found, CatalogueTool("send_mail", "Send a mail to the airline", "air")]


@pytest.fixture(scope="module")
def model(chains: Path, tools: list[CatalogueTool], word_bins: Any) -> NextTool:
    """Fitted on calls by name, but for mails, which only an id can tell apart."""
    rows = [
        replace(
            one,
            tools=tuple("office/send_mail" if name == "send_mail" else name for name in one.tools),
        )
        for one in load_demonstrations(chains)
    ]
    settings = DependencySettings(trees=40, smallest=10, linear=True)
    return fit_next_tool(rows, tools, word_bins, settings, SOURCE)


@pytest.mark.parametrize("method", METHODS)
def test_tools_are_ranked_by_their_ids(
    model: NextTool, tools: list[CatalogueTool], method: str
) -> None:
    ranked = model.rank(MAIL, ["office/find_contact"], method=method)
    assert sorted(name for name, _ in ranked) == sorted([*(one.id for one in tools), "end"])


@pytest.mark.parametrize("method", METHODS)
def test_a_call_by_id_is_the_call_by_name(model: NextTool, method: str) -> None:
    by_id = model.rank(MAIL, ["office/find_contact"], method=method)
    assert by_id == model.rank(MAIL, ["find_contact"], method=method)
    if method in ("combined", "dtdr_c", "dtdr_l", "bigram"):
        assert by_id[0][0] == "office/send_mail"
        assert model.rank(MAIL, method=method)[0][0] != "office/send_mail"


def test_demonstrations_may_call_by_id(model: NextTool, tools: list[CatalogueTool]) -> None:
    [one] = model.memory.demonstrations[:1]
    assert one.tools == ("search_flight", "book_flight")
    by_id = replace(one, tools=("air/search_flight", "book_flight"), before=("office/set_alarm",))
    assert with_names([by_id], tools) == [replace(one, before=("set_alarm",))]


def test_what_is_observed_by_id_is_no_new_tool(
    model: NextTool, word_bins: Any, tmp_path: Path
) -> None:
    model.save(tmp_path)
    own = NextTool.load(tmp_path, word_bins)
    count = own.memory.counts[own.memory.numbers["delete_file"]]
    own.observe("Throw the draft away", ["office/delete_file"])
    own.observe("Throw the draft away", ["delete_file"])
    for one in (own, NextTool.load(tmp_path, word_bins)):
        assert one.memory.names == model.memory.names
        assert one.memory.counts[one.memory.numbers["delete_file"]] == count + 2
        assert one.rank("Throw the draft away")[0][0] == "office/delete_file"
    lines = (tmp_path / "observed.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["calls"] for line in lines] == [
        ["office/delete_file"],
        ["delete_file"],
    ]


def test_a_search_puts_what_comes_next_first(
    model: NextTool, tools: list[CatalogueTool], word_bins: Any
) -> None:
    index = ToolIndex(tools, word_bins, next_tool=model, next_tool_weight=0.9)
    [first] = index.search(MAIL, 1)
    [then] = index.search(MAIL, 1, history=["office/find_contact"])
    assert (first.tool.id, then.tool.id) == ("office/find_contact", "office/send_mail")
    assert then.score > 0.5
    ends = index.search("Wake me at 5 o'clock", 1, history=["office/set_alarm"])
    assert ends[0].score < 0.5  # nothing is likely to come next, and no search finds `end`


def test_a_prompt_shows_what_comes_next(model: NextTool, tools: list[CatalogueTool]) -> None:
    documents = make_documents(tools, {}, count_words)
    options = PromptSettings(tools=1, discovery="off", next_tool_weight=1.0)
    builder = PromptBuilder(
        [],
        documents,
        settings=options,
        encoder=TopicEncoder(),
        reranker=Reranker(card()),
        count=count_words,
        next_tool=model,
    )
    shown = [
        builder.build(MAIL, 400, history=history).tools[0].id
        for history in ([], ["office/find_contact"])
    ]
    assert shown == ["office/find_contact", "office/send_mail"]
