"""A model that repeats itself is noticed after the call, in time or among the last calls."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.effects import Effect, effect_of
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.arguments import argument_hash, normalise_url, without
from ctrag.agents.session.guard import GuardSettings, IterationGuard

CALM = {"window": 1, "window_repeats": 1}
"""Settings under which only the time counts."""


def test_more_than_the_allowed_repeats_within_the_time_are_a_loop(clock: Any) -> None:
    guard = IterationGuard(GuardSettings(repeats=2, seconds=60, **CALM), clock=clock)
    assert guard.called("a", {"x": 1}) is None
    assert guard.called("a", {"x": 2}) is None
    assert guard.called("a", {"x": 1}) is None
    clock.now += 59
    loop = guard.called("a", {"x": 1})
    assert loop is not None
    assert (loop.tool_id, loop.count, loop.mechanism) == ("a", 3, "time")


def test_repeats_that_lie_further_apart_are_none(clock: Any) -> None:
    guard = IterationGuard(GuardSettings(repeats=2, seconds=60, **CALM), clock=clock)
    for _ in range(10):
        assert guard.called("a", {}) is None
        clock.now += 31


def test_two_tools_taking_turns_are_a_loop_however_slow(clock: Any) -> None:
    settings_ = GuardSettings(repeats=99, window=6, window_repeats=2)
    guard = IterationGuard(settings_, clock=clock)
    loops = []
    for _ in range(3):
        for name in "ab":
            clock.now += 600
            loops.append(guard.called(name, {}))
    assert loops[:4] == [None] * 4
    assert [one and (one.tool_id, one.count, one.mechanism) for one in loops[4:]] == [
        ("a", 3, "window"),
        ("b", 3, "window"),
    ]


def test_an_exempt_tool_may_repeat_itself_and_takes_no_place_in_the_window() -> None:
    guard = IterationGuard(GuardSettings(window=2, window_repeats=1, exempt=frozenset({"memory"})))
    assert all(guard.called("memory", {}) is None for _ in range(50))
    guard.called("a", {})
    guard.called("memory", {})
    assert guard.called("a", {}) is not None


def test_finding_a_tool_again_starts_its_count_anew() -> None:
    guard = IterationGuard(GuardSettings(repeats=1))
    assert guard.called("a", {}) is None
    assert guard.called("b", {}) is None
    assert guard.called("a", {}) is not None
    guard.evict("a")
    assert guard.evicted == ("a",)
    assert guard.rediscovered(["c", "b"]) == ()
    assert guard.rediscovered(["b", "a"]) == ("a",)
    assert guard.evicted == ()
    assert guard.called("a", {}) is None
    assert guard.called("b", {}) is not None, "the other tool's count goes on"


def test_guidance_is_the_tools_own_where_it_has_one() -> None:
    own = {"web/get": "Search for web/crawl in place of {tool}."}
    guard = IterationGuard(GuardSettings(repeats=1, guidance=own))
    guidance = {}
    for name in ("web/get", "mail/send"):
        guard.called(name, {})
        loop = guard.called(name, {})
        assert loop is not None
        guidance[name] = loop.guidance
    assert guidance["web/get"] == "Search for web/crawl in place of web/get."
    assert guidance["mail/send"].startswith("You have called mail/send 2 times")
    assert "search_tools" in guidance["mail/send"]


def test_what_is_remembered_of_old_calls_is_forgotten(clock: Any) -> None:
    guard = IterationGuard(GuardSettings(seconds=60), clock=clock)
    for number in range(1000):
        guard.called("a", {"x": number})
        clock.now += 1
    assert len(guard._times) == 60
    assert len(guard._window) == 10


def test_calls_of_a_flood_are_bounded(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctrag.agents.session.guard._KEYS", 100)
    guard = IterationGuard(clock=clock)
    for number in range(1000):
        guard.called("a", {"x": number})
    assert len(guard._times) == 100


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"repeats": 0}, "repeats: must be at least 1, not 0"),
        ({"window": 0}, "window: must be at least 1, not 0"),
        ({"window_repeats": 0}, "window_repeats: must be at least 1, not 0"),
        ({"same_answers": 0}, "same_answers: must be at least 1, not 0"),
        ({"seconds": 0.0}, r"seconds: must be above 0, not 0\.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GuardSettings(**given)


@settings(max_examples=100, deadline=None)
@given(
    calls=st.lists(
        st.tuples(st.sampled_from([0.0, 5.0, 40.0]), st.sampled_from("ab"), st.integers(0, 1)),
        max_size=40,
    )
)
def test_loops_are_those_that_counting_finds(calls: list[tuple[float, str, int]]) -> None:
    now = 0.0
    guard = IterationGuard(
        GuardSettings(repeats=2, seconds=60, window=5, window_repeats=2), clock=lambda: now
    )
    past: list[tuple[float, str, int]] = []
    for wait, name, value in calls:
        now += wait
        past.append((now, name, value))
        in_time = sum(one[1:] == (name, value) and now - one[0] < 60 for one in past)
        in_window = sum(one[1:] == (name, value) for one in past[-5:])
        loop = guard.called(name, {"x": value})
        if in_time > 2:
            assert loop is not None
            assert (loop.count, loop.mechanism) == (in_time, "time")
        elif in_window > 2:
            assert loop is not None
            assert (loop.count, loop.mechanism) == (in_window, "window")
        else:
            assert loop is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://Example.org/a/", "https://example.org/a"),
        ("https://example.org", "https://example.org/"),
        ("HTTPS://example.org:443/a", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&b=2&a=1&fbclid=z", "https://example.org/a?a=1&b=2"),
        ("https://example.org/a#top", "https://example.org/a"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]"),
    ],
)
def test_spellings_of_one_resource_are_the_same_call(one: str, other: str) -> None:
    assert normalise_url(one) == normalise_url(other)
    assert argument_hash({"url": [one]}) == argument_hash({"url": [f" {other} "]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a", "http://example.org/a"),
        ("https://example.org/a", "https://example.org:8443/a"),
        ("https://example.org/a?page=1", "https://example.org/a?page=2"),
        ("https://example.org/a?page=1", "https://example.org/a"),
        ("https://ada@example.org/", "https://example.org/"),
        ("https://ada@example.org/", "https://Ada@example.org/"),
    ],
)
def test_other_resources_stay_apart(one: str, other: str) -> None:
    assert argument_hash({"url": one}) != argument_hash({"url": other})


@pytest.mark.parametrize("text", ["http://[", "https://a:port/", "not a url", "", "https://"])
def test_what_is_no_url_is_left_alone(text: str) -> None:
    assert argument_hash({"url": text}) == argument_hash({"url": f"  {text}\n"})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": None, "b": {"c": None}}, {"b": {}}, True),
        ({"a": "two  words\n"}, {"a": "two words"}, True),
        ({"a": "Words"}, {"a": "words"}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1.5}, {"a": 1}, False),
        ({1: "x"}, {"1": "x"}, True),
    ],
)
def test_arguments_are_compared_by_what_they_amount_to(one: Any, other: Any, same: bool) -> None:
    assert (argument_hash(one) == argument_hash(other)) is same


def test_a_tools_own_rule_says_what_means_nothing() -> None:
    rule = without("request_id")
    hashed = [argument_hash({"request_id": n, "x": 1}, rule) for n in range(3)]
    assert len(set(hashed)) == 1
    guard = IterationGuard(GuardSettings(repeats=1, normalisers={"a": rule}))
    guard.called("a", {"request_id": 1})
    assert guard.called("a", {"request_id": 2}) is not None


def test_arguments_nested_without_end_are_compared_without_harm() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert argument_hash({"x": deep}) == argument_hash({"x": deep})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(arguments=st.dictionaries(st.text(), JSON, max_size=4))
def test_any_arguments_have_a_hash_whatever_their_order(arguments: dict[str, Any]) -> None:
    turned = dict(reversed(list(arguments.items())))
    assert argument_hash(arguments) == argument_hash(turned)


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({}, "unknown"),
        ({"title": "Clock"}, "unknown"),
        ({"openWorldHint": True}, "unknown"),
        ({"readOnlyHint": "yes"}, "changes"),
        ({"readOnlyHint": True}, "reads"),
        ({"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}, "reads"),
        ({"readOnlyHint": True, "destructiveHint": True}, "changes"),
        ({"readOnlyHint": False}, "changes"),
        ({"destructiveHint": True}, "changes"),
        ({"destructiveHint": False}, "unknown"),
        ({"idempotentHint": True}, "settles"),
        ({"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}, "settles"),
    ],
)
def test_what_a_call_does_is_what_the_hints_say(hints: dict[str, Any], effect: Effect) -> None:
    assert effect_of(CatalogueTool("a", "", mcp={"annotations": hints})) == effect


@pytest.mark.parametrize("answer", ["12:00", None])
@pytest.mark.parametrize("number", [4, 200])
def test_a_tool_that_only_reads_may_be_called_again_at_any_time(
    answer: str | None, number: int
) -> None:
    guard = IterationGuard()
    assert not any(guard.called("a", {}, effect="reads", answer=answer) for _ in range(number))


def test_equal_calls_of_a_tool_without_hints_are_normal_while_its_answers_differ() -> None:
    guard = IterationGuard()
    loops = [guard.called("queue/pop", {}, effect="unknown", answer=f"job {n}") for n in range(50)]
    assert not any(loops)
    assert not any(guard.called("jobs/poll", {}, effect="unknown") for _ in range(50))


def test_many_equal_answers_of_a_tool_without_hints_are_said_and_the_tool_stays() -> None:
    guard = IterationGuard(GuardSettings(same_answers=5))
    loops = [guard.called("a", {}, effect="unknown", answer="running") for _ in range(6)]
    assert loops[:5] == [None] * 5
    assert loops[5] is not None
    assert (loops[5].count, loops[5].evicts) == (6, False)
    assert loops[5].guidance.startswith("a has given the same answer to 6 equal calls.")


@pytest.mark.parametrize("effect", ["reads", "settles", "changes", "unknown"])
def test_a_call_that_fails_again_and_again_is_a_loop_whatever_it_does(effect: Effect) -> None:
    guard = IterationGuard()
    loops = [guard.called("a", {}, effect=effect, failed="tool_error") for _ in range(4)]
    assert loops[:3] == [None] * 3
    assert loops[3] is not None
    assert loops[3].evicts
    assert loops[3].guidance.startswith("a has failed 4 times with the same arguments.")


def test_failures_of_two_kinds_and_successes_do_not_add_up() -> None:
    guard = IterationGuard(GuardSettings(window=20))
    for _ in range(3):
        assert guard.called("a", {}, effect="unknown", failed="timeout") is None
        assert guard.called("a", {}, effect="unknown", failed="tool_error") is None
        assert guard.called("a", {}, effect="unknown", answer="done") is None


def test_equal_calls_that_change_something_are_a_loop_and_said_to_be_no_more() -> None:
    guard = IterationGuard()
    loops = [guard.called("a", {}, effect="changes", answer=f"sent {n}") for n in range(4)]
    assert loops[:3] == [None] * 3
    assert loops[3] is not None
    assert "each call may have changed something again" in loops[3].guidance


def test_equal_calls_that_change_something_take_the_tool_away_only_where_nothing_comes_of_it() -> (
    None
):
    guard = IterationGuard()
    pressed = [guard.called("a", {"key": "Down"}, answer=f"line {n}") for n in range(8)]
    assert [one is not None for one in pressed] == [False] * 3 + [True] + [False] * 4
    assert pressed[3] is not None
    assert (pressed[3].count, pressed[3].evicts) == (4, False)
    normalised = GuardSettings(normalisers={"a": without("request")})
    guard = IterationGuard(normalised)
    sent = [guard.called("a", {"request": n}, answer=f"got {n}") for n in range(4)]
    assert sent[3] is not None
    assert sent[3].evicts
    same = [guard.called("b", {}, answer="page 9") for _ in range(4)]
    assert same[:3] == [None] * 3
    assert same[3] is not None
    assert same[3].evicts


def test_a_tool_whose_equal_calls_have_no_further_effect_stays_and_is_noted_late() -> None:
    guard = IterationGuard(GuardSettings(same_answers=4))
    loops = [guard.called("a", {}, effect="settles", answer="set") for _ in range(5)]
    assert loops[:4] == [None] * 4
    assert loops[4] is not None
    assert not loops[4].evicts
    assert "says of itself that an equal call has no further effect" in loops[4].guidance
    assert not any(guard.called("b", {}, effect="settles", answer=str(n)) for n in range(9))
