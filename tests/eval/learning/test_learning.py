"""Twins are kept apart; a replayed task needs fewer searches once sessions have taught."""

from pathlib import Path
from typing import Any

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.next_tool import Demonstration
from ctrag.agents.next_tool.opening import OneText
from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.session.events import JsonLines
from ctrag.agents.session.lessons import lessons_of
from ctrag.agents.session.recording import read_recordings
from eval.learning.replay import Replay, summary
from eval.learning.twins import groups, overlaps, without_twins

TEXTS = ["cancel my order now", "cancel my order please", "book a flight to Rome"]
TOOLS = [
    CatalogueTool("find_order", "Find an order by its number"),
    CatalogueTool("cancel_order", "Cancel an order"),
    CatalogueTool("refund_money", "Give money back to a customer"),
    CatalogueTool("print_label", "Print a shipping label"),
]
TASK = Demonstration("t", "please cancel an order", ("cancel_order", "refund_money"))


def test_overlap_is_shared_words_over_all_words() -> None:
    found = overlaps(TEXTS, TEXTS)
    assert found[0].tolist() == [1.0, 3 / 5, 0.0]
    assert overlaps([""], TEXTS).tolist() == [[0.0, 0.0, 0.0]]


def test_twins_share_a_group_and_are_kept_out() -> None:
    first, second, other = groups(TEXTS)
    assert first == second != other
    assert without_twins(TEXTS, TEXTS[:1]) == [2]
    assert without_twins(TEXTS, TEXTS[:1], 0.7) == [1, 2]
    assert without_twins(TEXTS, []) == [0, 1, 2]


def test_what_was_recorded_saves_the_search_for_the_next_tool(
    word_bins: Any, tmp_path: Path
) -> None:
    index = ToolIndex(TOOLS, word_bins)
    replay = Replay(index, 2, 1)
    path = tmp_path / "recorded.jsonl"
    before = replay.play(TASK, JsonLines(path))
    lessons = lessons_of(read_recordings([path])).next_tool
    assert lessons[0].calls == TASK.tools
    assert (before.searches, before.first, before.ready, before.offered) == (2, True, 0.5, 0)
    traces = [ToolTrace(one.text, one.calls, one.before) for one in lessons]
    index.next_tool = TracePrior(traces, OneText(word_bins), ends=True)
    after = replay.play(TASK)
    assert (after.searches, after.ready, after.offered, after.offered_used) == (1, 1.0, 1, 1)
    assert summary([before, after])["searches"] == 1.5
