"""Each step of a request's way alone, as somebody would use it who has no Assistant."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.api_choice.retrieve import ToolRetriever
from ctrag.assistant.apps.execute import execute
from ctrag.assistant.context.item_arrays import encode_items, load_view
from ctrag.assistant.context.retrieve import ContextRetriever, RetrievedContext
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.endpoint import EndpointPlanner
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import Planner, PlanRequest
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.planner_prompt import planner_prompt
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.value_ranker import ValueRanker
from ctrag.models.encoder import load_encoder
from ctrag.toolbox import Toolbox
from stores.people.dataset import load_dataset
from stores.people.items import Item, Request
from stores.people.stores import Stores
from synth.reference import split_folder

OWNER = load_dataset(split_folder("dev")).persona("p007")
PERSON, ITEMS = OWNER.person, OWNER.items
REQUEST = Request("what did the school lady want earlier", PERSON.now, "commute")
TOOLBOX = Toolbox.packaged()
GOOD = 'play_voicemail(contact="Mrs Adaora Nwosu")'


def item(item_id: str) -> Item:
    return next(one for one in ITEMS if one.id == item_id)


def test_items_are_found_for_somebody_who_is_in_no_store() -> None:
    retriever = ContextRetriever.open()
    found = retriever.retrieve(retriever.view(PERSON, ITEMS), REQUEST)
    assert isinstance(found, RetrievedContext)
    assert found.items[0].item == item("p007-p1")
    assert found.candidates == len(ITEMS)
    nobody = retriever.retrieve(retriever.view(PERSON, []), REQUEST)
    assert nobody.items == ()


def test_all_apis_are_ranked_for_one_sentence() -> None:
    tools = ToolRetriever.open()
    found = tools.search("set an alarm to water the plants tomorrow", k=59)
    assert {one.tool.api for one in found.tools} == set(TOOLBOX.names)
    assert found.tools[0].tool.api == "create_reminder"


def test_tools_found_alone_are_those_found_behind_retrieval() -> None:
    tools, retriever = ToolRetriever.open(), ContextRetriever.open()
    found = retriever.retrieve(retriever.view(PERSON, ITEMS), REQUEST)
    items = [one.item for one in found.items]
    fast = tools.search(REQUEST, items, 59, relevance=found.relevance, context=found.context)
    alone = tools.search(REQUEST, items, 59, person=PERSON, relevance=found.relevance)
    assert alone.preferences == pytest.approx(fast.preferences, abs=1e-3)
    assert fast.tools[0].tool.api == "play_voicemail"


def test_an_item_that_retrieval_did_not_look_at_is_named() -> None:
    retriever = ContextRetriever.open()
    found = retriever.retrieve(retriever.view(PERSON, [item("p007-n1")]), REQUEST)
    with pytest.raises(ValueError, match="items: 'p007-p1' is not a candidate of the context"):
        ToolRetriever.open().search(REQUEST, [item("p007-p1")], context=found.context)


def test_values_are_ranked_for_tools_and_items_that_are_given() -> None:
    exposed = [tool for tool in TOOLBOX if tool.api in ("play_voicemail", "pause_music")]
    sources = ValueSources(REQUEST, PERSON, [item("p007-p2"), item("p007-p1")])
    found = rank_values(exposed, sources)
    assert [one.value for one in found["play_voicemail"].candidates["contact"]][:2] == [
        "Engr. Sule Danjuma",
        "Mrs Adaora Nwosu",
    ], "as the items stand"
    assert (found["play_voicemail"].belief, found["pause_music"].candidates) == (1.0, {})
    ranked = rank_values(exposed, sources, ValueRanker.packaged())["play_voicemail"]
    assert {one.value for one in ranked.candidates["contact"]} == {
        one.value for one in found["play_voicemail"].candidates["contact"]
    }
    assert ranked.ranked
    assert 0.0 < ranked.belief < 1.0


@dataclass
class Built:
    """A prompt that counts how often it is built."""

    count: Any
    times: int = 0

    def __call__(self) -> Any:
        self.times += 1
        exposed = [tool for tool in TOOLBOX if tool.api == "play_voicemail"]
        return planner_prompt(REQUEST, PERSON, [item("p007-p1")], exposed, self.count)


def test_both_planners_take_the_same_request_and_only_one_that_reads_it_builds_the_prompt(
    planner: Any, endpoint: Any, api_key: str
) -> None:
    exposed = [tool for tool in TOOLBOX if tool.api == "play_voicemail"]
    sources = ValueSources(REQUEST, PERSON, [item("p007-p1")])
    endpoint.answers = [GOOD]
    built = []
    planners: list[Planner] = [planner, EndpointPlanner(endpoint.url, "toy", api_key)]
    for one in planners:
        grammar = plan_grammar(
            exposed,
            sources,
            best_only=one.best_only,
            write_text=one.writes_text,
            write_outward=one.writes_outward,
        )
        prompt = Built(one.count_tokens)
        wanted = {"play_voicemail": 0.0, "none": -1.0}
        planned = one.plan(PlanRequest(exposed, grammar, prompt, wanted))
        assert planned.plan == Plan.parse(GOOD)
        built.append(prompt.times)
    assert built == [0, 1]


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    encoder = load_encoder()
    opened = Stores(tmp_path / "stores")
    opened.import_personas([OWNER], lambda owned: encode_items(encoder, owned), encoder.name)
    return opened


def test_a_plan_runs_on_stores_and_new_items_get_vectors_like_the_others(stores: Stores) -> None:
    due = PERSON.now + timedelta(days=1)
    plan = Plan("create_reminder", {"title": "Water plants", "due": f"{due:%Y-%m-%dT%H:%M}"})
    result = execute(plan, stores=stores, person=PERSON, items=ITEMS, at=PERSON.now)
    assert result.status == "done"
    view = load_view(stores, "p007", load_encoder())
    [row] = [row for row, one in enumerate(view.items) if one.text("title") == "Water plants"]
    [expected] = encode_items(load_encoder(), [(PERSON, view.items[row])])
    assert np.allclose(view.vectors[row], expected, atol=1e-3)
    kept = stores.items("p007").items
    assert all(stored.vector is not None for stored in kept), "load_view had none to make"


def test_what_reaches_others_is_not_done_unless_somebody_is_asked(stores: Stores) -> None:
    plan = Plan("call_contact", {"contact": "Mrs Adaora Nwosu"})
    result = execute(plan, stores=stores, person=PERSON, items=ITEMS, at=PERSON.now)
    assert result.status == "declined"
    assert stores.outbox("p007") == []
