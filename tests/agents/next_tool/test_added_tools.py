"""Claims about tools that come after fitting: no demonstration, and at first no text either."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import METHODS, Demonstration, NextTool, combined
from ctrag.agents.next_tool.texts import with_names
from tests.conftest import TOOLS

TRANSLATE = CatalogueTool("translate_text", "Translate a sentence into Portuguese", "words")
MINE = CatalogueTool("send_mail", "Send a mail through the company", "work")
ASKED = "Translate this sentence into Portuguese"


@pytest.fixture
def model(next_tool: NextTool, word_bins: Any, tmp_path: Path) -> NextTool:
    """A model of one's own to add to."""
    next_tool.save(tmp_path)
    return NextTool.load(tmp_path, word_bins)


@pytest.mark.parametrize("method", ["bm25", "qts", "combined"])
def test_an_added_tool_is_found_by_its_text(model: NextTool, method: str) -> None:
    before = [name for name, _ in model.rank(ASKED, method=method)]
    model.add_tools([TRANSLATE])
    ranked = model.rank(ASKED, method=method)
    assert {name for name, _ in ranked} == {*before, "words/translate_text"}
    assert "words/translate_text" in [name for name, _ in ranked][:5]
    assert sum(chance for _, chance in ranked) == pytest.approx(1.0)


def test_what_the_trees_say_of_a_tool_without_demonstrations_counts_more(
    model: NextTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.add_tools([TRANSLATE])
    memory = model.memory
    shown = [memory.names[at] for at in np.flatnonzero(memory.counts)]

    def odds() -> tuple[float, list[str]]:
        chances = dict(model.rank(ASKED))
        others = sum(chances[name] for name in shown)
        return chances[TRANSLATE.id] / others, [name for name in chances if name in shown]

    more, order = odds()
    monkeypatch.setattr(combined, "_UNSHOWN", 1.0)
    as_said, same_order = odds()
    assert more == pytest.approx(4 * as_said, rel=0.01)
    assert order == same_order


@pytest.mark.parametrize("method", METHODS)
def test_other_requests_are_ranked_as_before(model: NextTool, method: str) -> None:
    text, history = "Mail Zoe that I am late", ["find_contact"]
    before = [name for name, _ in model.rank(text, history, method=method)]
    model.add_tools([TRANSLATE])
    after = [name for name, _ in model.rank(text, history, method=method)]
    if method != "random":
        kept = [name for name in after if name != "words/translate_text"]
        assert kept[:3] == before[:3]
    assert len(after) == len(before) + 1


def test_a_tool_of_a_known_name_but_another_server_is_another_tool(model: NextTool) -> None:
    model.add_tools([MINE, MINE])
    ranked = [name for name, _ in model.rank("Send a mail through the company", method="bm25")]
    assert ranked[0] == "work/send_mail"
    assert ranked.count("send_mail") == 1


def test_a_tool_that_several_threads_add_is_one_tool(model: NextTool) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(model.add_tools, [[TRANSLATE]] * 16))
    assert [tool.id for tool in model.tools].count(TRANSLATE.id) == 1
    assert len(model.texts.vectors) == len(model.texts.numbers) == len(model.tools)


def test_what_is_known_already_stays_as_it_is(model: NextTool) -> None:
    known = model.texts
    model.add_tools(model.tools)
    assert model.texts is known


def test_a_tool_without_a_text_gets_it(model: NextTool, word_bins: Any) -> None:
    model.log = None
    model.observe("Say it in Portuguese", ["translate_text"])
    number = model.memory.numbers["translate_text"]
    model.add_tools([TRANSLATE])
    assert model.memory.numbers["words/translate_text"] == number
    assert model.texts.numbers.tolist()[-1] == number
    vector = model.texts.vectors[-1]
    assert np.array_equal(vector, word_bins.encode([TRANSLATE.text])[0])


def test_what_was_added_is_not_saved(model: NextTool, word_bins: Any, tmp_path: Path) -> None:
    model.add_tools([TRANSLATE])
    model.save(tmp_path / "again")
    again = NextTool.load(tmp_path / "again", word_bins)
    assert sorted(tool.name for tool in again.tools) == sorted(TOOLS)
    assert again.rank(ASKED) == NextTool.load(tmp_path, word_bins).rank(ASKED)


def test_no_tool_is_called_end(model: NextTool) -> None:
    with pytest.raises(ValueError, match="tools: no tool may be called 'end'"):
        model.add_tools([CatalogueTool("end", "Stop")])


def test_an_episode_calls_the_tools_of_its_domain() -> None:
    shop, bank = (CatalogueTool("pay", "Pay", server) for server in ("shop", "bank"))
    one = Demonstration("e", "Pay it", ("pay", "log"), domain="bank")
    [named] = with_names([one], [shop, bank, CatalogueTool("log", "Log", "bank")])
    assert named.tools == ("bank/pay", "log")
    [elsewhere] = with_names([one], [CatalogueTool("pay", "Pay")])
    assert elsewhere.tools == ("pay", "log")
