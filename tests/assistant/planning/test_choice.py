"""Claims about who decides what: tool retrieval the API, sources the values, the model the rest."""

import math
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.embedded import EmbeddedPlanner
from ctrag.assistant.planning.grammar import PlanGrammar, plan_grammar
from ctrag.assistant.planning.interface import PlanRequest
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.planning.planner_prompt import PlannerPrompt
from ctrag.models.language_model import _unlooped, _unrepeated
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person("ada", AT, Profile(name="Ada"), (Contact("Tom Reed", "brother"),))
RENT = Item(
    "n1",
    "notes",
    {"title": "Rent", "body": "due on Friday", "folder": "Home", "modified_at": AT},
)
LUNCH = Item(
    "c1",
    "calendar",
    {
        "title": "Lunch",
        "start": datetime(2025, 4, 18, 13, 0),
        "end": datetime(2025, 4, 18, 14, 0),
        "location": "Bistro",
        "attendees": ("Tom Reed",),
        "notes": None,
    },
)
SAID = "push it half an hour, I'm late"
PROMPT = PlannerPrompt("system", "user", 2, (), ())


def tools(*apis: str) -> list[Tool]:
    box = Toolbox.packaged()
    return [tool for api in apis if (tool := box.get(api)) is not None]


def grammar(*apis: str, items: tuple[Item, ...] = (LUNCH, RENT)) -> PlanGrammar:
    sources = ValueSources(Request(SAID, AT), ADA, items)
    return plan_grammar(tools(*apis), sources, best_only=True, write_text=False)


def asked(grammar: PlanGrammar, preferences: dict[str, float], sure: float = 0.0) -> PlanRequest:
    return PlanRequest([], grammar, lambda: PROMPT, preferences, sure)


@pytest.fixture(scope="module")
def planner(converted_planner: Path) -> EmbeddedPlanner:
    return EmbeddedPlanner(str(next((converted_planner / "models").iterdir())), threads=1)


def test_the_preferred_api_is_called_with_the_likeliest_values(planner: EmbeddedPlanner) -> None:
    made = grammar("reschedule_event", "read_note")
    planned = planner.plan(asked(made, {"reschedule_event": 1.0, "read_note": 0.0, "none": -1.0}))
    assert planned.plan == Plan(
        "reschedule_event", {"title": "Lunch", "new_start": "2025-04-18T13:30"}
    )


def test_confidence_is_the_softmax_over_what_can_be_called(planner: EmbeddedPlanner) -> None:
    made = grammar("reschedule_event", "read_note")
    planned = planner.plan(asked(made, {"reschedule_event": 0.0, "read_note": 0.0, "none": 0.0}))
    assert planned.confidence == pytest.approx(1 / 3)


def test_an_api_without_values_leaves_the_call_to_the_next_one(planner: EmbeddedPlanner) -> None:
    made = grammar("reschedule_event", "read_note", items=(RENT,))
    assert made.left_out == {"reschedule_event": "title"}
    planned = planner.plan(asked(made, {"reschedule_event": 5.0, "read_note": 0.0, "none": -1.0}))
    assert planned.plan == Plan("read_note", {"title": "Rent"})


def test_none_is_answered_when_it_is_preferred(planner: EmbeddedPlanner) -> None:
    planned = planner.plan(asked(grammar("read_note"), {"read_note": 0.0, "none": 3.0}))
    assert planned.plan == NONE


def test_a_plan_without_a_choice_needs_no_model(
    converted_planner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = EmbeddedPlanner(str(next((converted_planner / "models").iterdir())), threads=1)
    monkeypatch.setattr(
        EmbeddedPlanner, "read", lambda *_: pytest.fail("the model was asked for a fixed plan")
    )
    unread = PlanRequest(
        [],
        grammar("read_note"),
        lambda: pytest.fail("a prompt was built that nobody reads"),
        {"read_note": 0.0, "none": -1.0},
    )
    planned = fresh.plan(unread)
    assert planned.plan == Plan("read_note", {"title": "Lunch"}) or planned.plan == Plan(
        "read_note", {"title": "Rent"}
    )
    assert (planned.engine, planned.prompt_tokens) == ("", 0)


def test_a_plan_less_sure_than_asked_brings_the_next_best_and_no_other_does(
    planner: EmbeddedPlanner,
) -> None:
    made = grammar("reschedule_event", "read_note", "delete_note")
    wanted = {"reschedule_event": 1.0, "delete_note": -1.0, "read_note": 0.0, "none": 0.5}
    # 1 / (1 + 1/e + 1/sqrt(e) + 1/e²) = 0.474
    unsure = planner.plan(asked(made, wanted, sure=0.48))
    assert unsure.plan is not None
    assert unsure.plan.api == "reschedule_event"
    assert unsure.confidence == pytest.approx(0.474, abs=1e-3)
    assert [one.api for one in unsure.alternatives] == ["read_note"]
    sure = planner.plan(asked(made, wanted, sure=0.47))
    assert (sure.plan, sure.alternatives) == (unsure.plan, ())


def test_none_has_an_alternative_and_is_none(planner: EmbeddedPlanner) -> None:
    doubted = planner.plan(asked(grammar("read_note"), {"read_note": 0.0, "none": 1.0}, sure=1.0))
    assert doubted.plan == NONE
    assert [one.api for one in doubted.alternatives] == ["read_note"]
    only = planner.plan(asked(grammar("read_note"), {"read_note": 1.0, "none": 0.0}, sure=1.0))
    assert only.alternatives == ()


def test_text_is_what_the_person_said_unless_a_search_names_an_item(
    planner: EmbeddedPlanner,
) -> None:
    told = planner.plan(asked(grammar("notify_attendees"), {"notify_attendees": 0.0, "none": -1.0}))
    assert told.plan == Plan("notify_attendees", {"title": "Lunch", "message": SAID})
    sought = planner.plan(asked(grammar("search_notes"), {"search_notes": 0.0, "none": -1.0}))
    assert sought.plan == Plan("search_notes", {"query": "Rent"})


def test_every_optional_value_is_filled_in_and_optional_text_only_alone() -> None:
    made = grammar("search_mail", items=(LUNCH,))
    assert '"sender="' in made.lark
    assert '"query="' not in made.lark
    searched = plan_grammar(
        tools("get_search_history"),
        ValueSources(Request(SAID, AT), ADA, ()),
        best_only=True,
        write_text=False,
    )
    assert "query=" in searched.lark


def test_three_tokens_in_a_row_are_not_said_twice() -> None:
    import numpy as np

    logits = np.array([0.0, 1.0, 3.0, 2.0])
    assert _unrepeated(logits, [1, 0]) == 2
    assert _unrepeated(logits, [1, 0, 2, 1, 0]) == 3
    assert _unrepeated(np.array([-np.inf, -np.inf, 3.0, -np.inf]), [1, 0, 2, 1, 0]) == 2


def test_only_many_turns_of_the_same_make_a_loop() -> None:
    import numpy as np

    the, space, one, eight, ninth = range(5)
    likely = {one: 3.0, ninth: 2.0}
    logits = np.array([likely.get(token, 0.0) for token in range(5)])
    day = [the, space, one, eight]  # "the 18th ... the 1" goes on to the 19th
    assert _unlooped(logits, [*day, the, space]) == one
    assert _unlooped(logits, [one, one]) == one
    assert _unlooped(logits, [*[space, one, one, one] * 2, space, one, one]) == one  # 555 555 555
    assert _unlooped(logits, [one] * 13) == one
    assert _unlooped(logits, [one] * 14) == ninth
    assert _unlooped(logits, [*[space, one] * 7, space]) == ninth
    assert _unlooped(np.array([-np.inf, -np.inf, 3.0]), [2] * 14) == 2


def test_what_reaches_others_stays_in_the_persons_words_unless_told_otherwise() -> None:
    for outward in (False, True):
        made = plan_grammar(
            tools("notify_attendees", "append_to_note"),
            ValueSources(Request(SAID, AT), ADA, (LUNCH, RENT)),
            best_only=True,
            write_outward=outward,
        )
        kept = [rule for rule in made.lark.splitlines() if SAID in rule]
        assert len(kept) == (0 if outward else 1)
        assert set(made.apis) == {"notify_attendees", "append_to_note"}


def test_a_failed_call_makes_the_next_one_no_likelier(planner: EmbeddedPlanner) -> None:
    exposed = tools("read_note", "call_contact")
    sources = ValueSources(Request(SAID, AT), ADA, ())
    made = plan_grammar(exposed, sources, best_only=True, fillable=True)
    assert "read_note" in made.left_out
    empty = replace(made, apis=("read_note", *made.apis))
    wanted = {"read_note": 3.0, "call_contact": 0.0, "none": -1.0}
    planned = planner.plan(
        PlanRequest(exposed, empty, lambda: PROMPT, wanted, slots=lambda tool: {}, sources=sources)
    )
    assert planned.plan == Plan("call_contact", {"contact": "Tom Reed"})
    assert planned.evidence is not None
    weights = [math.exp(one) for one in wanted.values()]
    assert planned.evidence.share == pytest.approx(weights[1] / sum(weights))
    assert planned.evidence.second == pytest.approx(weights[0] / sum(weights))
