"""Bound tools: room is never exceeded, and what goes is what the plainest model says."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.binding import BindingSettings, ToolContextManager, core_tools
from ctrag.agents.session.tokens import tool_tokens

Make = Callable[..., CatalogueTool]
CORE = (CatalogueTool("search_tools", "Find tools."), CatalogueTool("plan", "Plan ahead."))


def named(name: str, version: int = 0) -> CatalogueTool:
    return CatalogueTool(name, "x" * (10 * (ord(name) - 96)) + f" v{version}")


def ids(tools: Any) -> list[str]:
    return [tool.id for tool in tools]


def bound(manager: ToolContextManager) -> list[str]:
    return [one.tool.id for one in manager.entries]


def test_a_found_tool_is_bound_with_its_times_and_uses(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(CORE, clock=clock)
    assert manager.bind([tool("mail/send"), tool("mail/read")]).added == ("mail/send", "mail/read")
    clock.now += 5
    manager.use("mail/send")
    clock.now += 5
    manager.use("mail/send")
    send, read = manager.entries
    assert (send.first_seen, send.last_used, send.uses) == (1000.0, 1010.0, 2)
    assert (read.first_seen, read.last_used, read.uses) == (1000.0, 1000.0, 0)
    assert ids(manager.tools) == ["search_tools", "plan", "mail/send", "mail/read"]


def test_binding_again_only_renews_the_time(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(clock=clock)
    manager.bind([tool("a"), tool("b")])
    manager.use("a")
    clock.now += 7
    binding = manager.bind([tool("a"), tool("a")])
    assert (binding.added, binding.refreshed, binding.evicted) == ((), ("a",), ())
    assert [(one.tool.id, one.first_seen, one.last_used, one.uses) for one in manager.entries] == [
        ("a", 1000.0, 1007.0, 1),
        ("b", 1000.0, 1000.0, 0),
    ]


def test_what_is_past_its_time_goes_before_the_least_recently_used(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=3, ttl=60), clock=clock)
    manager.bind([tool("old"), tool("older")])
    clock.now += 50
    manager.bind([tool("young")])
    clock.now += 20
    [*gone] = manager.bind([tool("new")]).evicted
    assert [(one.tool_id, one.why) for one in gone] == [("old", "ttl"), ("older", "ttl")]
    clock.now += 1
    manager.use("young")
    gone = [*manager.bind([tool("x"), tool("y")]).evicted]
    assert [(one.tool_id, one.why) for one in gone] == [("new", "lru")]


def test_while_there_is_room_age_evicts_nothing_unless_asked(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=3, ttl=60), clock=clock)
    manager.bind([tool("old")])
    clock.now += 61
    assert manager.bind([tool("new")]).evicted == ()
    assert [one.tool_id for one in manager.expire()] == ["old"]


def test_of_more_than_fit_the_best_are_taken(tool: Make) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=2))
    manager.bind([tool("before")])
    binding = manager.bind([tool("best"), tool("good"), tool("fair")])
    assert (binding.added, binding.left_out) == (("best", "good"), ("fair",))
    assert bound(manager) == ["best", "good"]
    manager.bind([tool("other")])
    assert bound(manager) == ["best", "other"], "of one search, the best goes last"


def test_always_included_tools_are_at_both_levels(tool: Make) -> None:
    platform = [tool("memory"), tool("plan"), tool("query")]
    mine = CatalogueTool("plan", "How this agent plans.")
    core = core_tools(platform, [mine, tool("bill")], without={"query"})
    assert ids(core) == ["memory", "plan", "bill"]
    assert core[1] is mine


def test_always_included_tools_take_no_place_and_are_not_bound_twice(tool: Make) -> None:
    manager = ToolContextManager(CORE, BindingSettings(capacity=1))
    assert manager.bind([*CORE, tool("a")]).added == ("a",)
    assert ids(manager.tools) == ["search_tools", "plan", "a"]
    assert not manager.unload("plan")
    assert manager.active("plan") is CORE[1]


def test_a_pinned_tool_stays_and_takes_no_place(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=1, ttl=1, pins=1), clock=clock)
    manager.bind([tool("hot")])
    manager.pin("hot")
    clock.now += 100
    manager.bind([tool("a")])
    manager.bind([tool("b")])
    assert bound(manager) == ["hot", "b"]
    with pytest.raises(ValueError, match=r"'b' cannot be pinned, all 1 pins are taken"):
        manager.pin("b")
    assert [one.tool_id for one in manager.unpin("hot")] == ["hot"]


def test_a_tool_used_often_is_pinned_by_itself_while_there_is_a_pin(tool: Make) -> None:
    manager = ToolContextManager(settings=BindingSettings(pins=1, hot_after=2))
    manager.bind([tool("a"), tool("b")])
    assert [manager.use(name) for name in "aabb"] == [False, True, False, False]
    assert [one.pinned for one in manager.entries] == [True, False]


def test_a_tool_unloads_as_it_loads(tool: Make) -> None:
    manager = ToolContextManager()
    manager.bind([tool("a"), tool("b")])
    assert manager.unload("a")
    assert not manager.unload("a")
    assert ids(manager.tools) == ["b"]
    with pytest.raises(ValueError, match=r"'a' is not bound; search for it first"):
        manager.use("a")


def test_a_changed_definition_takes_the_place_of_the_old(tool: Make) -> None:
    manager = ToolContextManager()
    manager.bind([tool("a", "old"), tool("b")])
    manager.bind([tool("a", "new and longer")])
    assert [one.description for one in manager.tools] == ["new and longer", ""]
    assert manager.tokens == sum(map(tool_tokens, manager.tools))


def test_room_shrinks_with_the_tokens_left_and_grows_again(tool: Make) -> None:
    manager = ToolContextManager(CORE)
    cost = tool_tokens(tool("a"))
    core = manager.tokens
    manager.bind([tool("a"), tool("b"), tool("c")])
    assert [one.tool_id for one in manager.set_budget(core + 2 * cost)] == ["c"]
    assert manager.bind([tool("d")]).evicted[0].tool_id == "b"
    assert manager.tokens == core + 2 * cost
    manager.set_budget(None)
    assert manager.bind([tool("e"), tool("f")]).evicted == ()


def test_a_tool_that_fits_in_no_case_evicts_nothing(tool: Make) -> None:
    manager = ToolContextManager()
    manager.bind([tool("a")])
    manager.set_budget(manager.tokens)
    binding = manager.bind([tool("huge", "x" * 4000), tool("b")])
    assert binding.left_out == ("huge",)
    assert bound(manager) == ["b"], "a smaller one further down still fits"


def test_a_cache_stable_list_keeps_what_was_evicted_but_refuses_it(tool: Make) -> None:
    manager = ToolContextManager(CORE, BindingSettings(capacity=1, cache_stable=True))
    manager.bind([tool("a", "as it was")])
    manager.bind([tool("b")])
    assert (ids(manager.tools), manager.withdrawn) == (["search_tools", "plan", "a", "b"], ("a",))
    assert manager.active("a") is None
    manager.bind([tool("a", "as it is")])
    assert ids(manager.tools) == ["search_tools", "plan", "a", "b"]
    assert manager.tools[2].description == "as it was"
    assert manager.entries[0].tool.description == "as it is"
    assert manager.rebuild_list() == ("b",)
    assert [one.description for one in manager.tools[2:]] == ["as it is"]


def test_a_cache_stable_list_takes_nothing_new_beyond_its_budget(tool: Make) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=1, cache_stable=True))
    manager.bind([tool("a")])
    manager.set_budget(manager.tokens + 1)
    assert manager.bind([tool("b")]).left_out == ("b",)
    assert bound(manager) == ["a"]
    manager.unload("a")
    manager.rebuild_list()
    assert manager.bind([tool("b")]).added == ("b",)


def test_a_clock_that_goes_back_evicts_nothing_new(tool: Make, clock: Any) -> None:
    manager = ToolContextManager(settings=BindingSettings(capacity=1), clock=clock)
    manager.bind([tool("a")])
    clock.now -= 500
    manager.bind([tool("b")])
    assert bound(manager) == ["b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"capacity": 0}, "capacity: must be at least 1, not 0"),
        ({"ttl": 0.0}, r"ttl: must be above 0 seconds, not 0\.0"),
        ({"ttl": float("nan")}, "ttl: must be above 0 seconds, not nan"),
        ({"pins": -1}, "pins: must not be negative, not -1"),
        ({"hot_after": 0}, "hot_after: must be at least 1 use or None, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BindingSettings(**given)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="tokens: must not be negative, not -1"):
        ToolContextManager().set_budget(-1)


class PlainBinding:
    """Capacity, time and last use, as a reader would do it on paper."""

    def __init__(self, capacity: int, ttl: float) -> None:
        self.capacity, self.ttl, self.turn = capacity, ttl, 0
        self.rows: list[list[Any]] = []  # name, last used, turn

    def touch(self, name: str, now: float) -> None:
        self.turn += 1
        for row in self.rows:
            if row[0] == name:
                row[1:] = [now, self.turn]
                return
        self.rows.append([name, now, self.turn])

    def bind(self, names: list[str], now: float) -> None:
        first = list(dict.fromkeys(names))[: self.capacity]
        known = [row[0] for row in self.rows]
        self.rows += [[name, now, 0] for name in first if name not in known]
        for name in reversed(first):
            self.touch(name, now)
        if len(self.rows) > self.capacity:
            self.rows = [row for row in self.rows if now - row[1] <= self.ttl]
        while len(self.rows) > self.capacity:
            self.rows.remove(min(self.rows, key=lambda row: (row[1], row[2])))


NAMES = st.sampled_from("abcdefgh")


@settings(max_examples=100, deadline=None)
@given(
    capacity=st.integers(1, 4),
    steps=st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 30.0]), st.one_of(NAMES, st.lists(NAMES, max_size=6))),
        max_size=30,
    ),
)
def test_what_goes_is_what_a_plain_model_says(capacity: int, steps: list[Any]) -> None:
    now = 0.0
    plain = PlainBinding(capacity, ttl=40)
    manager = ToolContextManager(
        CORE, BindingSettings(capacity=capacity, ttl=40), clock=lambda: now
    )
    for wait, step in steps:
        now += wait
        if isinstance(step, list):
            manager.bind([named(name) for name in step])
            plain.bind(step, now)
        elif manager.active(step):
            manager.use(step)
            plain.touch(step, now)
        assert bound(manager) == [row[0] for row in plain.rows]


STEPS = st.one_of(
    st.tuples(st.just("bind"), st.lists(st.tuples(NAMES, st.integers(0, 1)), max_size=6)),
    st.tuples(st.sampled_from(["use", "unload", "pin", "unpin"]), NAMES),
    st.tuples(st.just("set_budget"), st.one_of(st.none(), st.integers(0, 200))),
    st.tuples(st.sampled_from(["expire", "wait"]), st.none()),
)


def step(manager: ToolContextManager, what: str, given: Any) -> None:
    if what == "bind":
        manager.bind([named(name, version) for name, version in given])
    elif what == "set_budget":
        manager.set_budget(given)
    elif what == "expire":
        manager.expire()
    elif what == "unload" or manager.active(given):
        pins = [one.tool.id for one in manager.entries if one.pinned]
        if what != "pin" or len(pins) < 2 or given in pins:
            getattr(manager, what)(given)


@settings(max_examples=100, deadline=None)
@given(capacity=st.integers(1, 4), steps=st.lists(STEPS, max_size=25), stable=st.booleans())
def test_whatever_happens_the_bounds_hold(capacity: int, steps: list[Any], stable: bool) -> None:
    now = 0.0
    manager = ToolContextManager(
        CORE,
        BindingSettings(capacity=capacity, ttl=40, pins=2, hot_after=3, cache_stable=stable),
        clock=lambda: now,
    )
    for what, given_ in steps:
        before = manager.tools
        if what == "wait":
            now += 25
        else:
            step(manager, what, given_)
        loose = [one for one in manager.entries if not one.pinned]
        assert len(loose) <= capacity
        assert len(manager.entries) - len(loose) <= 2
        assert manager.tools[:2] == CORE
        assert len(set(ids(manager.tools))) == len(manager.tools)
        assert set(bound(manager)) <= set(ids(manager.tools))
        assert manager.tokens == sum(map(tool_tokens, manager.tools))
        if stable:
            assert manager.tools[: len(before)] == before
        else:
            assert ids(manager.tools[2:]) == bound(manager)
            assert not (manager.over_budget and loose)


@settings(max_examples=50, deadline=None)
@given(
    names=st.lists(NAMES, max_size=6),
    before=st.lists(NAMES, max_size=4),
    budget=st.one_of(st.none(), st.integers(0, 150)),
    stable=st.booleans(),
)
def test_binding_twice_is_binding_once(
    names: list[str], before: list[str], budget: int | None, stable: bool
) -> None:
    manager = ToolContextManager(
        settings=BindingSettings(capacity=3, cache_stable=stable), clock=lambda: 0.0
    )
    manager.bind(map(named, before))
    manager.set_budget(budget)
    manager.bind(map(named, names))
    once = (manager.tools, bound(manager))
    again = manager.bind(map(named, names))
    assert (manager.tools, bound(manager)) == once
    assert (again.added, again.evicted) == ((), ())
