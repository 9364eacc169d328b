"""The rule of what an agent is given, fitted to artificial searches."""

import json
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.results import ToolHit, ToolSearch
from eval.discovery.data import Need
from training.tool_search.surfacing import DOUBT, Judged, fitted, train


def judged(number: int, *, answered: bool) -> Judged:
    """A search whose best tool is near where the catalogue has what is asked for."""
    cosine = (0.6 if answered else 0.2) + number / 1000
    hits = [
        ToolHit(CatalogueTool("right", ""), 0.7, cosine, 0.5, probability=cosine),
        ToolHit(CatalogueTool("other", ""), 0.3, 0.1, 0.1, probability=0.1),
    ]
    need = Need(str(number), "", frozenset(["right"]))
    return Judged(need, ToolSearch(hits, True, [""], 0.0, hits, 1000), answered)


def test_the_fit_tells_catalogues_that_answer_from_those_that_do_not() -> None:
    rows = [judged(n, answered=bool(n % 2)) for n in range(100)]
    card: dict[str, object] = {}
    rule = fitted({"hybrid": rows, "lexical": rows}, card)
    sure = [rule.certainty(one.search.near, 1, dense=True) for one in rows if one.answered]
    lost = [rule.certainty(one.search.near, 1, dense=True) for one in rows if not one.answered]
    assert max(lost) < min(sure)
    assert max(lost) < rule.doubt == DOUBT
    assert rule.hopeless <= rule.doubt
    assert card["said_to_be_doubtful"] == 100.0


def test_no_folder_and_one_of_too_few_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one folder"):
        train([], tmp_path / "rule.json")
    tools = [{"name": "send", "description": "Send a mail."}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "queries.jsonl").write_text(
        json.dumps({"query_id": "q1", "text": "a mail", "tools": ["send"]})
    )
    with pytest.raises(ValueError, match="at least 20 are needed"):
        train([tmp_path], tmp_path / "rule.json")
