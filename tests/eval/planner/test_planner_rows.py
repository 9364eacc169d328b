"""What each setting shows the planner and what is kept of its plan, on two items and four tools."""

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.api_choice.item_weights import item_weights
from ctrag.assistant.api_choice.retrieve import RankedTool, RankedTools
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.toolbox import Tool, Toolbox
from eval.planner.rows import PlannerInput, PlannerInputs, PlanRow, PlanRows, decode
from stores.people.items import Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile(name="Ada"), ())
RENT = Item("n1", "notes", {"title": "Rent", "body": "due", "folder": "Home", "modified_at": AT})
LUNCH = Item(
    "c1",
    "calendar",
    {
        "title": "Lunch",
        "start": datetime(2025, 4, 18, 13, 0),
        "end": datetime(2025, 4, 18, 14, 0),
        "location": "Bistro",
        "attendees": (),
        "notes": None,
    },
)
VECTOR, TUNED = np.array([1.0, 0.0]), object()
BOX = Toolbox([one for one in Toolbox.packaged() if one.app in ("notes", "calendar", "mail")])
BEST = ["read_note", "list_notes", "list_events", "delete_note"]
"""Tools as retrieval orders them, before all others."""
OPTIONS: Any = SimpleNamespace(items=7, tools=3, prompt_budget=900, sure=0.85)


def ranked(tool: Tool, place: int) -> RankedTool:
    score = -float(place)
    return RankedTool(tool, score, cosine=0.5, log_probability=score, context=0.0)


class Found:
    """Retrieval of `LUNCH`, with `RENT` behind it, and of tools in the order of `BEST`."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.ranker = SimpleNamespace(card=SimpleNamespace(encoder="bins"))

    def retrieve(self, view: Any, request: Request, most: int, *, encoded: Any) -> Any:
        assert encoded == (VECTOR, TUNED)
        self.asked.append(("items", most))
        scores = np.array([3.0, 1.0])
        return SimpleNamespace(
            items=[SimpleNamespace(item=LUNCH)], further=(RENT,), relevance=scores
        )

    def search(self, request: Request, items: Any, k: int, *, relevance: Any, context: Any) -> Any:
        self.asked.append(("tools", [one.id for one in items], k, list(relevance)))
        order = [*BEST, *(one.api for one in BOX if one.api not in BEST)]
        tools = [one for api in order[:k] if (one := BOX.get(api)) is not None]
        return RankedTools(tuple(ranked(one, at) for at, one in enumerate(tools)), -9.0)


def example(tools: tuple[str, ...] | None = ("delete_note", "list_notes")) -> Any:
    view = SimpleNamespace(person=ADA, items=[LUNCH, RENT], ids=["c1", "n1"])
    return SimpleNamespace(
        context=SimpleNamespace(
            view=view,
            request=Request("bin it", AT),
            vector=VECTOR,
            tuned=TUNED,
            rows=np.array([0, 1]),
        ),
        labels=SimpleNamespace(tools=tools, plan=SimpleNamespace(api="delete_note")),
        relevant_items=[RENT],
        relevance=np.array([0.0, 1.0]),
        asked=SimpleNamespace(query_id="q1"),
    )


def inputs(found: Any, fitted_for: str = "bins") -> PlannerInputs:
    plainness = SimpleNamespace(
        of=lambda vector: 0.25 * float(vector[0]), card=SimpleNamespace(encoder=fitted_for)
    )
    artefacts: Any = SimpleNamespace(
        plainness=plainness, arguments=None, choice="choice", calls="calls", confidence="sure"
    )
    return PlannerInputs(found, found, BOX, OPTIONS, artefacts)


def shown(setting: str) -> tuple[PlannerInput, list[tuple[Any, ...]]]:
    found = Found()
    return inputs(found)(example(), setting), found.asked


def test_retrieval_shows_its_own_items_and_tools() -> None:
    seen, asked = shown("context_tuned_rag")
    assert asked == [("items", 7), ("tools", ["c1"], 3, [3.0, 1.0])]
    assert (list(seen.items), list(seen.sources.further)) == ([LUNCH], [RENT])
    assert list(seen.sources.shares) == list(item_weights(np.array([3.0, 1.0])))
    assert [one.api for one in seen.tools] == BEST[:3]
    assert seen.callable_tools == seen.tools
    assert seen.preferences == {"read_note": 0, "list_notes": -1, "list_events": -2, "none": -9}


def test_without_context_tools_are_searched_by_the_request_alone() -> None:
    seen, asked = shown("rag")
    assert asked == [("tools", [], 3, [])]
    assert (list(seen.items), list(seen.sources.further), list(seen.sources.owned)) == ([], [], [])
    assert [one.api for one in seen.tools] == BEST[:3]


def test_upper_bounds_show_labelled_tools_in_the_order_of_retrieval_and_labelled_items() -> None:
    seen, asked = shown("context_tuned_upper_bound")
    assert asked == [("tools", ["n1"], len(BOX), [0.0])]
    assert list(seen.items) == [RENT]
    assert list(seen.sources.shares) == [1.0]
    assert [one.api for one in seen.callable_tools] == ["list_notes", "delete_note"]
    assert seen.preferences == {"list_notes": -1, "delete_note": -3, "none": -9}
    bare, asked = shown("upper_bound")
    assert asked == [("tools", [], len(BOX), [])]
    assert (list(bare.items), bare.preferences) == ([], seen.preferences)
    assert inputs(Found())(example(None), "upper_bound").callable_tools == []


def test_the_lower_bound_shows_nothing_and_may_call_everything() -> None:
    seen, asked = shown("lower_bound")
    assert asked == []
    assert (list(seen.items), seen.tools, seen.preferences) == ([], [], None)
    assert seen.callable_tools == list(BOX)


def test_plainness_counts_only_with_the_encoder_that_it_was_fitted_with() -> None:
    assert inputs(Found()).plain(example()) == 0.25
    assert inputs(Found(), fitted_for="another").plain(example()) == 1.0


class Answering:
    """A planner that answers `list_notes()` and remembers what it was asked."""

    best_only, writes_text, writes_outward, brief = False, True, True, False

    def __init__(self) -> None:
        self.request: PlanRequest | None = None

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def plan(self, request: PlanRequest) -> Planned:
        self.request = request
        return Planned(
            Plan("list_notes", {}), "list_notes()", 0.123456, 9, 4, 1.23456, alternatives=(NONE,)
        )


def decoded(
    setting: str, free: bool = False, filler: Any = None, asking: Any = None
) -> tuple[PlanRow, PlanRequest]:
    planner: Any = Answering()
    show = inputs(Found())
    row = decode(asking or example(), setting, free, show, planner, filler, OPTIONS, "r")
    return row, planner.request


def test_a_row_has_the_plan_its_rounded_figures_and_what_was_missed() -> None:
    row, _ = decoded("context_tuned_rag")
    assert (row.run, row.setting, row.free, row.query_id) == ("r", "context_tuned_rag", False, "q1")
    assert (row.text, row.others) == ("list_notes()", ["none()"])
    assert (row.seconds, row.confidence) == (1.235, 0.1235)
    assert row.missed == "tool"  # delete_note is not among the first three
    assert decoded("lower_bound")[0].missed == "item"
    assert decoded("context_tuned_upper_bound")[0].missed == ""


def test_without_a_filler_the_planner_gets_no_slots_and_nothing_fitted_on_them() -> None:
    _, asked = decoded("context_tuned_rag")
    assert (asked.slots, asked.calls, asked.confidence) == (None, None, None)
    assert (asked.choice, asked.plain, asked.sure) == ("choice", 0.25, 0.85)
    filled: list[str] = []

    def fill(request: Request, tool: Any, items: Any) -> dict[str, Any]:
        filled.extend([request.text, tool.api, *(one.id for one in items)])
        return {}

    _, asked = decoded("context_tuned_rag", filler=SimpleNamespace(fill=fill))
    assert (asked.calls, asked.confidence) == ("calls", "sure")
    assert asked.slots is not None
    assert asked.slots(asked.tools[0]) == {}
    assert filled == ["bin it", "read_note", "c1"]


def test_a_value_without_a_source_is_open_where_no_item_is_shown_or_a_filler_reads_it() -> None:
    labelled = example(("send_mail", "list_notes"))  # there is nobody to send one to

    def callable_ones(setting: str, filler: Any = None) -> set[str]:
        grammar = decoded(setting, filler=filler, asking=labelled)[1].grammar
        assert grammar is not None
        return set(grammar.apis)

    assert callable_ones("upper_bound") == {"send_mail", "list_notes"}
    assert callable_ones("context_tuned_upper_bound") == {"list_notes"}
    filler = SimpleNamespace(fill=None)
    assert callable_ones("context_tuned_upper_bound", filler) == {"send_mail", "list_notes"}
    assert decoded("upper_bound", free=True)[1].grammar is None


def test_a_request_is_decoded_once_for_each_setting_with_and_without_the_grammar(
    tmp_path: Path,
) -> None:
    row, _ = decoded("rag")
    kept = PlanRows(tmp_path / "rows.jsonl", "r")
    kept.add(row)
    again = PlanRows(tmp_path / "rows.jsonl", "r")
    assert again.get("rag", False, example()) == row
    assert not again.has("rag", True, example())
    assert not again.has("upper_bound", False, example())
    assert not PlanRows(tmp_path / "rows.jsonl", "another run").has("rag", False, example())
    with pytest.raises(KeyError):
        again.get("rag", True, example())
