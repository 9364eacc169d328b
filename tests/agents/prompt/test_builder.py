"""The budget, the overlay, discovery, pins, cache and breaker of the prompt builder."""

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.assembly import DISCOVERY, OVERLAY, ROUTING_NOTE, fixed_tokens
from ctrag.agents.prompt.breaker import CircuitBreaker
from ctrag.agents.prompt.forms import Form
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.gains import Gains
from ctrag.agents.prompt.settings import BUDGET, FLOOR, PromptSettings
from ctrag.agents.prompt.sufficiency import SELF_RATING
from ctrag.agents.prompt.tool_documents import make_documents
from tests.agents.prompt.toys import (
    FORMS,
    FRAGMENTS,
    TOOLS,
    FailingEncoder,
    Flights,
    TopicEncoder,
    builder,
    count_pieces,
    count_words,
    fragment,
    in_form,
)

LEAST = fixed_tokens(OVERLAY, count_words)
SURE = PromptSettings(discovery="off")
WHOLE = PromptSettings(discovery="off", signatures=0, whole_share=0.0)
shared = builder()
MAKERS = {
    (one, weight): builder(
        count=count_pieces,
        next_tool=Flights(),
        settings=PromptSettings(discovery=one, next_tool_weight=weight),
    )
    for one in ("widen", "summary")
    for weight in (0.0, 2.0)
}


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(FORMS),
    st.sampled_from(list(MAKERS)),
    st.integers(0, 700),
    st.sampled_from(["cancel my order", "the flight", "return it, new address", "hello"]),
    st.lists(st.sampled_from([tool.id for tool in TOOLS]), max_size=3),
)
def test_no_prompt_is_over_its_budget_in_any_form_and_each_begins_with_the_overlay(
    form: Form, maker_of: tuple[str, float], room: int, text: str, history: list[str]
) -> None:
    budget = fixed_tokens(OVERLAY, count_pieces, form) + room
    maker = MAKERS[maker_of]
    first = maker.build(text, budget, history=history, form=form)
    for prompt in (first, first if first.discovered else maker.discover(first)):
        system, tokens = in_form(prompt)
        assert prompt.form == form
        assert prompt.tokens == tokens <= budget
        assert system.startswith(OVERLAY)
        assert ROUTING_NOTE in system
        assert (prompt.likely is not None) == ("Likely next tool" in system)
        if prompt.likely:
            assert prompt.likely.name in {one.name for one in prompt.exposed}


@pytest.mark.parametrize("form", FORMS)
def test_the_full_prompt_keeps_to_the_window_in_every_form(form: Form) -> None:
    window = fixed_tokens(OVERLAY, count_pieces, form) + 150
    small = builder(settings=PromptSettings(window=window), count=count_pieces)
    prompt = small.full("cancel", form=form)
    assert prompt.tokens == in_form(prompt)[1] <= window
    assert prompt.tools or prompt.fragments


@pytest.mark.parametrize("form", FORMS)
def test_a_roomy_budget_holds_the_same_units_in_every_form(form: Form) -> None:
    plain = shared.build("cancel my order", 5_000)
    prompt = shared.build("cancel my order", 5_000, form=form)
    assert (prompt.fragments, prompt.exposed) == (plain.fragments, plain.exposed)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="form: must be text, openai, anthropic, not 'xml'"):
        shared.build("cancel my order", 400, form="xml")  # type: ignore[arg-type]


@given(st.sampled_from(["cancel my order", "refund for the flight"]), st.integers(150, 500))
@settings(max_examples=20, deadline=None)
def test_the_same_request_gives_the_same_prompt_with_and_without_the_cache(
    text: str, budget: int
) -> None:
    assert builder().build(text, budget).text == shared.build(text, budget).text


def test_a_budget_below_the_overlay_is_refused_and_says_what_it_takes() -> None:
    with pytest.raises(ValueError, match=f"budget: {LEAST - 1} tokens .* which take {LEAST};"):
        shared.build("cancel my order", LEAST - 1)


def test_the_smallest_budget_holds_overlay_and_note_alone() -> None:
    prompt = shared.build("cancel my order", LEAST)
    assert (prompt.fragments, prompt.tools, prompt.tokens) == ((), (), LEAST)


def test_the_right_tool_and_policy_come_in() -> None:
    prompt = builder(settings=WHOLE).build("please cancel my order", 400)
    assert "shop/cancel_order" in [tool.id for tool in prompt.tools]
    assert "shop#cancel" in [one.id for one in prompt.fragments]
    assert len(prompt.tools) == 2


def test_fragments_stand_by_priority_then_in_their_documents_order() -> None:
    urgent = fragment(
        "shop#late", "An order that is late is a refund case. " * 3, priority=5, place=9
    )
    prompt = builder(fragments=[*FRAGMENTS, urgent], settings=SURE).build(
        "order refund cancel", 600
    )
    assert prompt.fragments[0].id == "shop#late"
    rest = [one.place for one in prompt.fragments[1:] if one.domain == "shop"]
    assert rest == sorted(rest)


def test_an_unsure_step_takes_one_discovery_step_and_no_second() -> None:
    unsure = builder(settings=PromptSettings(tau=1.0, tools=2, signatures=0, discovery_tools=4))
    prompt = unsure.build("cancel my order", 500)
    assert prompt.discovered
    assert len(prompt.signatures) == 2
    with pytest.raises(ValueError, match="its discovery step was taken"):
        unsure.discover(prompt)


def test_a_discovery_step_leaves_room_for_the_likeliest_fragment() -> None:
    unsure = builder(settings=PromptSettings(tau=1.0, discovery_tools=6, instructions=4))
    roomy = unsure.build("cancel my order", 600)
    assert len(roomy.exposed) == len(TOOLS)
    best = max(roomy.fragments, key=lambda one: roomy.scores[one.id])
    tight = unsure.build("cancel my order", LEAST + 32 + best.tokens + 30)
    assert [one.id for one in tight.fragments] == [best.id]
    assert 0 < len(tight.exposed) < len(TOOLS)


def test_a_summary_names_hidden_tools_within_the_budget() -> None:
    unsure = builder(settings=PromptSettings(tau=1.0, discovery="summary", tools=1, signatures=0))
    prompt = unsure.build("cancel my order", 600)
    assert len(prompt.tools) == 1
    assert len(prompt.summary) == len(TOOLS) - 1
    assert "- book_flight: Book a flight" in prompt.summary
    short = unsure.build("cancel my order", LEAST + 60)
    assert short.tokens <= LEAST + 60


def test_what_the_model_rates_itself_counts() -> None:
    plain, low, even, high = (
        builder().build("cancel my order", 400, rated=one).sufficiency or 0.0
        for one in (None, 0.01, 0.5, 0.99)
    )
    assert even == pytest.approx(plain)
    assert low < plain < high
    odds = math.log(plain / (1 - plain)) + SELF_RATING * math.log(0.99 / 0.01)
    assert high == pytest.approx(1 / (1 + math.exp(-odds)))


def test_feedback_counts_whole_tools_and_what_was_called_and_logs_what_was_hidden() -> None:
    records: list[Mapping[str, Any]] = []
    built = builder(
        sink=records.append,
        settings=PromptSettings(discovery="off", tools=1, signatures=2),
    )
    prompt = built.build("cancel my order", 400)
    [whole], [called, idle] = prompt.tools, prompt.signatures
    hidden = next(one for one in TOOLS if one not in prompt.exposed)
    built.learn(prompt, [called.id, hidden.id])
    assert built.gains.factor(whole.id) < 1 == built.gains.factor(idle.id)
    assert built.gains.factor(called.id) > 1
    assert [one["wanted"] for one in records if one["event"] == "miss"] == [hidden.id]
    built.learn(prompt, [])
    built.learn(built.full("cancel my order"), [called.id])
    assert built.gains.learned == 1


def test_tools_may_be_called_by_the_names_that_prompts_give_them() -> None:
    clash = TOOLS + make_documents(
        [CatalogueTool("transfer", "Transfer money", "bank", {})], {}, count_words
    )
    by_name = builder(tools=clash, pinned={"shop": ["change_address"]})
    by_id = builder(tools=clash, pinned={"shop": ["shop/change_address"]})
    first, second = (one.build("cancel my order", 400) for one in (by_name, by_id))
    by_name.learn(first, ["cancel_order"])
    by_id.learn(second, ["shop/cancel_order"])
    assert by_name.gains.factor("shop/cancel_order") == by_id.gains.factor("shop/cancel_order") > 1
    after = by_name.build("go on", 400, history=["return_order", "transfer", "unknown"])
    assert after.history == ("shop/return_order", "transfer", "unknown")
    assert by_name.full("go on", ["return_order"]).history == ("shop/return_order",)
    assert by_name.build("go on", 400, history="return_order").history == ("shop/return_order",)


def test_feedback_of_many_threads_is_all_counted() -> None:
    built = builder()
    prompt = built.build("cancel my order", 400)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: built.learn(prompt, ["shop/cancel_order"]), range(200)))
        list(pool.map(lambda at: built.build(f"cancel order {at}", 400), range(300)))
    assert built.gains.learned == 200


def test_half_a_letter_in_a_request_fails_no_step() -> None:
    prompt = shared.build("cancel my order \ud83d", 400)
    assert (prompt.request, prompt.fallback) == ("cancel my order ?", "")


@pytest.mark.parametrize("rated", [-0.1, 1.5, math.nan])
def test_a_rating_that_is_no_probability_is_refused(rated: float) -> None:
    with pytest.raises(ValueError, match="rated: must be a probability"):
        shared.build("cancel my order", 400, rated=rated)


def test_a_builder_without_tools_says_so() -> None:
    with pytest.raises(ValueError, match="tools: there is none"):
        builder(tools=[])


def test_a_chat_request_without_tools_names_none() -> None:
    none = builder(settings=PromptSettings(tools=0, signatures=0, discovery="off"))
    assert "tools" not in none.build("cancel my order", 400, form="openai").openai()


def test_pinned_tools_are_in_where_the_request_belongs_to_their_domain() -> None:
    pinned = builder(pinned={"shop": ["shop/transfer"]}, settings=WHOLE)
    assert "shop/transfer" in [one.id for one in pinned.build("cancel my order", 500).exposed]
    away = [one.id for one in pinned.build("book a flight", 500).exposed]
    assert "shop/transfer" not in away
    exposed = [one.id for one in pinned.build("book a flight", 500, domain="shop").exposed]
    assert "shop/transfer" in exposed


def standing(number: int, words: int = 12) -> Fragment:
    rule = fragment(f"style{number}#rule", f"Answer in rhyme {number}. " * (words // 4))
    return replace(rule, kind="rule", always=True, priority=number)


def test_what_holds_for_every_request_is_in_every_prompt_beside_four_others() -> None:
    many = [fragment(f"shop{at}#order", f"Cancel an order {at}. " * 9) for at in range(30)]
    rules = [standing(at) for at in range(6)]
    for floor in (0.0, 0.2):
        built = builder(fragments=[*many, *rules], settings=replace(SURE, floor=floor))
        for budget in (400, 900):
            prompt = built.build("cancel my order", budget)
            assert set(rules) <= set(prompt.fragments)
            assert not prompt.dropped
        assert len(prompt.fragments) == 4 + len(rules)


def test_what_always_holds_and_has_no_room_is_named_and_takes_no_tool_away() -> None:
    rules = [standing(2, 40), standing(1, 400)]
    prompt = builder(fragments=rules, settings=SURE).build("cancel my order", 250)
    assert prompt.fragments == (rules[0],)
    assert prompt.dropped == ("style1#rule",)
    assert prompt.tools[0].id == "shop/cancel_order"


def test_a_pin_without_room_is_reported() -> None:
    pinned = builder(pinned={"*": ["shop/transfer"]}, settings=SURE)
    assert pinned.build("cancel", LEAST + 34).dropped == ("shop/transfer",)


def test_an_unknown_pin_is_refused() -> None:
    with pytest.raises(ValueError, match="pinned: 'shop/none' of domain 'shop' is no tool"):
        builder(pinned={"shop": ["shop/none"]})


def test_feedback_changes_what_is_chosen() -> None:
    gains = Gains()
    for _ in range(40):
        gains.learn(["shop/cancel_order"], [])
        gains.learn(["shop/return_order"], ["shop/return_order"])
    one = PromptSettings(tools=1, discovery="off")
    asked = "cancel or return the order"
    before = builder(settings=one).build(asked, 400).tools[0].id
    after = builder(settings=one, gains=gains).build(asked, 400).tools[0].id
    assert (before, after) == ("shop/cancel_order", "shop/return_order")


def test_a_next_tool_model_speaks_only_with_a_weight() -> None:
    def first(weight: float) -> str:
        options = PromptSettings(tools=1, discovery="off", next_tool_weight=weight)
        return (
            builder(next_tool=Flights(), settings=options).build("cancel my order", 400).tools[0].id
        )

    assert first(0.0) == "shop/cancel_order"
    assert first(2.0) == "air/book_flight"


def test_the_cache_serves_the_same_task_and_other_words_or_calls_are_another() -> None:
    encoder = TopicEncoder()
    cached = builder(encoder=encoder, settings=SURE)
    assert not cached.build("Cancel my order!", 400).cached
    asked = len(encoder.encoded_texts)
    assert cached.build("cancel my ORDER", 400).cached
    assert len(encoder.encoded_texts) == asked
    assert not cached.build("cancel my order", 400, history=["shop/transfer"]).cached
    assert not cached.build("return my order", 400).cached
    assert not cached.build("cancel my order", 300).cached


def test_a_broken_retriever_falls_back_to_the_full_prompt_and_is_left_alone() -> None:
    records: list[Mapping[str, Any]] = []
    encoder = FailingEncoder()
    clock = [0.0]
    breaker = CircuitBreaker(failures=2, seconds=10, clock=lambda: clock[0])
    broken = builder(encoder=encoder, breaker=breaker, sink=records.append)
    encoder.failing = True
    for number in range(4):
        prompt = broken.build(f"cancel order {number}", 400)
        assert len(prompt.tools) == len(TOOLS)
        assert len(prompt.fragments) == len(FRAGMENTS)
        assert prompt.text.startswith(OVERLAY)
    assert encoder.calls == 2
    assert records[0]["fallback"] == "RuntimeError: the encoder is gone"
    assert records[3]["fallback"].startswith("Open: ")
    encoder.failing, clock[0] = False, 11.0
    assert broken.build("cancel order 9", 400).fallback == ""


def test_the_full_prompt_keeps_to_the_models_window() -> None:
    encoder = FailingEncoder()
    small = builder(encoder=encoder, settings=PromptSettings(window=LEAST + 60))
    encoder.failing = True
    prompt = small.build("cancel", 10_000)
    assert prompt.tokens <= LEAST + 60
    assert prompt.text.startswith(OVERLAY)


def test_telemetry_says_what_was_chosen_and_why_and_misses_are_logged() -> None:
    records: list[Mapping[str, Any]] = []
    built = builder(sink=records.append, settings=SURE)
    prompt = built.build("cancel my order", 400)
    built.miss(prompt, "air/book_flight")
    assert records[0]["tools"] == [tool.id for tool in prompt.tools]
    assert records[0]["scores"] == prompt.scores
    assert records[0]["sufficiency"] == prompt.sufficiency
    assert records[0]["likely"] == ""
    sure = builder(
        sink=records.append, next_tool=Flights(), settings=PromptSettings(next_tool_weight=2.0)
    ).build("cancel my order", 600)
    assert sure.likely is not None
    assert records[2]["likely"] == sure.likely.id == "air/book_flight"
    assert records[1]["event"] == "miss"
    assert records[1]["wanted"] == "air/book_flight"
    assert records[1]["known"]


def test_the_next_steps_prompt_begins_like_the_one_before() -> None:
    from ctrag.agents.prompt.assembly import shared_prefix

    steps = builder(settings=SURE)
    first = steps.build("cancel my order", 500)
    second = steps.build("cancel my order", 500, history=["shop/cancel_order"], previous=first)
    assert [one.id for one in second.fragments] == [one.id for one in first.fragments]
    assert shared_prefix(first.text, second.text, count_words) >= LEAST - count_words(ROUTING_NOTE)


def test_chat_shapes_hold_the_same_tools_and_the_overlay() -> None:
    prompt = builder(settings=SURE).build("cancel my order", 400)
    openai, anthropic = prompt.openai(), prompt.anthropic()
    assert openai["messages"][0]["content"] == anthropic["system"] == prompt.system
    assert openai["messages"][1] == {"role": "user", "content": "cancel my order"}
    names = [tool.name for tool in prompt.exposed]
    assert set(names) == {tool.name for tool in TOOLS}
    assert [one["function"]["name"] for one in openai["tools"]] == names
    assert [one["name"] for one in anthropic["tools"]] == names
    assert all(one["input_schema"]["type"] == "object" for one in anthropic["tools"])
    assert DISCOVERY in prompt.system


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tools": -1}, "tools: must not be negative, is -1"),
        ({"candidates": 0}, "candidates: must be at least 1, not 0"),
        ({"discovery": "often"}, "discovery: must be widen, summary or off, not 'often'"),
        ({"domain_weight": math.nan}, "domain_weight: must be a finite number, not nan"),
        ({"tau": 1.5}, "tau: must lie between 0 and 1, not 1.5"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        PromptSettings(**options)


def test_an_empty_overlay_is_refused() -> None:
    with pytest.raises(ValueError, match="overlay: must not be empty"):
        builder(overlay=" ")


def test_the_default_budget_of_a_prompt_is_that_of_the_settings() -> None:
    assert shared.build("cancel my order").budget == BUDGET


def test_an_empty_request_is_refused() -> None:
    with pytest.raises(ValueError, match="text: must not be empty"):
        shared.build("  ", 400)


def test_what_has_nothing_to_do_with_a_request_does_not_fill_the_budget() -> None:
    told = "Cancel an order with the cancel form. " * 3
    notes = [fragment("notes#start", "General."), fragment("notes#stale", "Stale.", place=1)]
    cancel = replace(fragment("cancel#how", told), kind="skill")
    refund = replace(fragment("refund#how", "A refund takes a week."), kind="skill")
    maker = builder(fragments=[*notes, cancel, refund], settings=replace(SURE, floor=FLOOR))
    chosen = [one.id for one in maker.build("cancel my order", 2000).fragments]
    assert chosen == ["cancel#how"]
    other = [one.id for one in maker.build("sing a song", 2000).fragments]
    assert other == ["notes#start"], "what may hold for all stays, skills and details do not"
    everything = builder(fragments=[*notes, cancel, refund], settings=SURE).build(
        "cancel my order", 2000
    )
    assert len(everything.fragments) == 4


def test_all_fragments_of_the_domain_whose_tools_are_likely_matter() -> None:
    maker = builder(settings=replace(SURE, floor=FLOOR))
    chosen = {one.id for one in maker.build("cancel my order", 2000).fragments}
    assert {"shop#orders", "shop#cancel", "shop#return"} <= chosen
