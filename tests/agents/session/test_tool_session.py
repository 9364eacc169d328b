"""A session: what was found may be called, what was not found or not allowed is refused."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.session.binding import BindingSettings
from ctrag.agents.session.events import Event
from ctrag.agents.session.guard import GuardSettings
from ctrag.agents.session.outcomes import ToolRefused
from ctrag.agents.session.state import SessionState
from ctrag.agents.session.tokens import packaged_tokenizer
from ctrag.agents.session.tool_session import ToolSession

Make = Callable[..., CatalogueTool]
CHANGES = {"annotations": {"readOnlyHint": False}}
SEARCH = CatalogueTool("search_tools", "Find tools.")


def tools_in(events: list[Event], name: str) -> list[Any]:
    return [one.attributes.get("gen_ai.tool.name") for one in events if one.event == name]


def test_a_tool_is_refused_until_it_is_found(tool: Make) -> None:
    events: list[Event] = []
    session = ToolSession("s1", record=events.append)
    with pytest.raises(
        ToolRefused, match=r"'mail/send' is not available .* search_tools"
    ) as caught:
        session.check("mail/send")
    assert (caught.value.tool_id, caught.value.reason) == ("mail/send", "not_surfaced")
    found = session.found("write a mail", [tool("mail/send")])
    assert found.added == ("mail/send",)
    assert session.check("mail/send") == tool("mail/send")
    assert tools_in(events, "ctrag.tool.refuse") == ["mail/send"]


def test_a_tool_of_another_session_is_refused(tool: Make) -> None:
    first, second = ToolSession("s1"), ToolSession("s2")
    first.found("x", [tool("a")])
    with pytest.raises(ToolRefused, match="not available in this session"):
        second.check("a")


def test_what_is_not_allowed_is_neither_bound_shown_nor_called(tool: Make) -> None:
    events: list[Event] = []
    granted = {"search_tools", "a"}
    session = ToolSession(
        principal="ada",
        always=[SEARCH, tool("secret_core")],
        allowed=lambda name, who: who == "ada" and name in granted,
        record=events.append,
    )
    found = session.found("x", [tool("a"), tool("b")])
    assert [one.id for one in found.tools] == ["a"]
    assert [one.id for one in session.tools] == ["search_tools", "a"]
    assert tools_in(events, "ctrag.tool.refuse") == ["b"]
    with pytest.raises(ToolRefused, match="not available"):
        session.check("b")
    with pytest.raises(ToolRefused, match="may no longer be used"):
        session.check("secret_core")


def test_access_that_is_taken_away_holds_at_the_next_call(tool: Make) -> None:
    events: list[Event] = []
    granted = {"a"}
    session = ToolSession(allowed=lambda name, who: name in granted, record=events.append)
    session.found("x", [tool("a")])
    session.check("a")
    granted.clear()
    assert session.tools == ()
    with pytest.raises(ToolRefused, match="may no longer be used") as caught:
        session.check("a")
    assert caught.value.reason == "not_allowed"
    assert tools_in(events, "ctrag.tool.evict") == ["a"]
    granted.add("a")
    with pytest.raises(ToolRefused, match="not available"):
        session.check("a")


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["grant", "revoke", "found", "call", "prepare"]),
            st.sampled_from("abcd"),
        ),
        max_size=30,
    )
)
def test_no_step_ever_shows_or_runs_a_tool_outside_the_grants(steps: list[Any]) -> None:
    granted: set[str] = set()
    surfaced: set[str] = set()
    session = ToolSession(allowed=lambda name, who: name in granted)
    for what, name in steps:
        if what == "grant":
            granted.add(name)
        elif what == "revoke":
            granted.discard(name)
        elif what == "found":
            found = session.found("x", [CatalogueTool(one, "") for one in ("a", name)])
            surfaced |= {one.id for one in found.tools}
            assert {one.id for one in found.tools} <= granted
        elif what == "prepare":
            assert {one.id for one in session.prepare([], window=4000).tools} <= granted
        else:
            try:
                session.call(name, {}, lambda tool, arguments: None)
            except ToolRefused:
                continue
            assert name in granted & surfaced
        assert {one.id for one in session.tools} <= granted


def test_a_loop_runs_to_its_end_then_the_tool_is_gone_until_it_is_found_again(tool: Make) -> None:
    events: list[Event] = []
    session = ToolSession(guard=GuardSettings(repeats=2), record=events.append)
    session.found("x", [tool("a", mcp=CHANGES)])
    ran = []
    for _ in range(3):
        result, after = session.call("a", {"q": 1}, lambda tool, given: ran.append(given) or "ok")
        assert result == "ok"
    assert len(ran) == 3, "the call that closes the loop has run"
    assert (after.loop_detected, after.evicted) == (True, "a")
    assert after.note is not None
    assert after.note.endswith(
        "a is no longer in this session; a search for its name brings it back."
    )
    assert session.tools == ()
    with pytest.raises(ToolRefused, match="taken away because it was called again") as caught:
        session.check("a")
    assert caught.value.reason == "evicted"
    session.found("y", [tool("a", mcp=CHANGES)])
    assert session.call("a", {"q": 1}, lambda tool, given: None)[1].note is None
    assert [tools_in(events, f"ctrag.{one}") for one in ("guard.loop", "guard.clear")] == [
        ["a"]
    ] * 2
    [evict] = [one for one in events if one.event == "ctrag.tool.evict"]
    assert evict.attributes["ctrag.reason"] == "loop"


def test_an_always_included_tool_stays_though_it_loops_and_the_model_is_told() -> None:
    changing = replace(SEARCH, mcp=CHANGES)
    session = ToolSession(always=[changing], guard=GuardSettings(repeats=1))
    for expected in (False, True, True):
        _, after = session.call("search_tools", {}, lambda tool, given: None)
        assert (after.loop_detected, after.note is not None) == (expected, expected)
        assert after.evicted is None
    assert session.check("search_tools") is changing


def test_a_call_that_fails_is_noted_and_passed_on(tool: Make) -> None:
    events: list[Event] = []
    session = ToolSession(record=events.append)
    session.found("x", [tool("a")])

    def fail(tool: CatalogueTool, given: Any) -> None:
        raise TimeoutError("upstream")

    with pytest.raises(TimeoutError, match="upstream"):
        session.call("a", {}, fail)
    [call] = [one for one in events if one.event == "ctrag.tool.call"]
    assert call.attributes["error.type"] == "TimeoutError"
    assert session.manager.entries[0].uses == 1


def test_calls_of_one_message_all_run_when_checked_before_the_first(tool: Make) -> None:
    session = ToolSession(guard=GuardSettings(repeats=1))
    session.found("x", [tool("a", mcp=CHANGES)])
    checked = [session.check("a") for _ in range(3)]
    after = [session.finished(one.id, {}) for one in checked]
    assert [one.evicted for one in after] == [None, "a", None]
    assert [one.loop_detected for one in after] == [False, True, True]


def test_a_search_that_repeats_itself_still_answers_with_a_note(tool: Make) -> None:
    session = ToolSession()
    assert session.found("mail", [tool("a"), tool("b")]).note is None
    again = session.found("send mail", [tool("b"), tool("a")])
    assert [one.id for one in again.tools] == ["b", "a"]
    assert again.note is not None
    assert "b, a" in again.note


def test_before_the_model_tools_make_room_then_history(tool: Make) -> None:
    session = ToolSession(always=[SEARCH])
    session.found("x", [tool(name, "d" * 800) for name in "abcd"])
    talk = [{"role": "user", "content": "x" * 400}] * 4
    calm = session.prepare(talk, window=4000, output=500)
    assert (len(calm.tools), calm.dropped, calm.fits) == (5, 0, True)
    tight = session.prepare(talk, window=1500, output=500)
    assert [one.id for one in tight.tools] == ["search_tools", "a", "b"]
    assert (tight.dropped, tight.fits) == (0, True)
    tighter = session.prepare(talk * 5, window=2500, output=500)
    assert [one.id for one in tighter.tools] == ["search_tools", "a"]
    assert tighter.dropped > 0
    assert tighter.fits
    assert tighter.estimate.left == 2500 - 500 - tighter.estimate.tools - tighter.estimate.messages
    with pytest.raises(ValueError, match="output: must be from 0 to below the window 10, not 10"):
        session.prepare([], window=10, output=10)


def test_a_real_vocabulary_counts_beside_the_characters(tool: Make) -> None:
    count = packaged_tokenizer()
    assert count("send a mail") == 3
    assert count("unbelievable " * 1000) >= 1000, "nothing is cut at the encoder's length"
    session = ToolSession(always=[SEARCH], count=count)
    ready = session.prepare([{"role": "user", "content": "send a mail"}], window=2000)
    assert ready.estimate.messages == 4 + 3
    assert ready.estimate.by_characters == ToolSession(always=[SEARCH]).manager.tokens + 4 + 3
    with pytest.raises(ValueError, match="name: 'gpt-4' is neither all-MiniLM-L6-v2 nor SmolLM2"):
        packaged_tokenizer("gpt-4")


def test_tools_can_be_there_before_anybody_searches_hot_ones_to_stay(
    tool: Make, clock: Any
) -> None:
    events: list[Event] = []
    session = ToolSession(
        binding=BindingSettings(capacity=2, pins=1),
        allowed=lambda name, who: name != "forbidden",
        record=events.append,
        clock=clock,
    )
    hot = [replace(tool(name), pinned=True) for name in ("hot", "warm")]
    given = [tool("liked"), *hot, tool("forbidden"), tool("last")]
    assert session.preload(given) == ("hot", "liked", "warm")
    assert tools_in(events, "ctrag.tool.pin") == ["hot"]
    clock.now += 1
    session.found("x", [tool("a"), tool("b")])
    assert [one.id for one in session.tools] == ["hot", "a", "b"]
    clock.now += 1
    assert session.preload(hot[:1]) == ()


def test_a_saved_session_goes_on_in_another_process(tool: Make, clock: Any) -> None:
    binding = BindingSettings(capacity=2, cache_stable=True)
    one = ToolSession("s1", "ada", always=[SEARCH], binding=binding, clock=clock)
    one.found("x", [tool("a"), tool("b")])
    one.found("y", [tool("c")])
    one.pin("c")
    for _ in range(4):
        one.finished("a", {}, error="tool_error")
    saved = SessionState.model_validate_json(one.state().model_dump_json())
    other = ToolSession("s1", "ada", always=[SEARCH], binding=binding, clock=clock)
    assert other.resume(saved, tool) == ()
    assert other.tools == one.tools
    assert other.manager.entries == one.manager.entries
    assert other.manager.withdrawn == ("a", "b")
    with pytest.raises(ToolRefused, match="taken away"):
        other.check("a")


def test_a_saved_session_brings_back_nothing_that_is_gone_or_not_allowed(tool: Make) -> None:
    one = ToolSession("s1", "ada")
    one.found("x", [tool("a"), tool("gone"), tool("forbidden")])
    other = ToolSession("s1", "ada", allowed=lambda name, who: name != "forbidden")
    lost = other.resume(one.state(), lambda name: None if name == "gone" else tool(name, "new"))
    assert lost == ("gone", "forbidden")
    assert [(one.id, one.description) for one in other.tools] == [("a", "new")]


def test_nobody_takes_up_anothers_state(tool: Make) -> None:
    adas = ToolSession("s1", "ada")
    adas.found("x", [tool("a")])
    with pytest.raises(ValueError, match="state: is not of 'bob', whose session this is"):
        ToolSession("s2", "bob").resume(adas.state(), tool)


def test_a_state_brings_no_more_pins_than_there_are(tool: Make) -> None:
    one = ToolSession(binding=BindingSettings(pins=2))
    one.found("x", [tool("a"), tool("b")])
    one.pin("a")
    one.pin("b")
    other = ToolSession(binding=BindingSettings(pins=1))
    other.resume(one.state(), tool)
    assert [(one.tool.id, one.pinned) for one in other.manager.entries] == [
        ("a", True),
        ("b", False),
    ]


def test_a_sink_that_fails_costs_its_event_and_no_result(
    tool: Make, caplog: pytest.LogCaptureFixture
) -> None:
    def full(event: Event) -> None:
        raise OSError("no space left")

    session = ToolSession(record=full)
    session.found("x", [tool("a")])
    assert session.call("a", {}, lambda tool, given: "done")[0] == "done"
    assert "ctrag.tool.call is lost: OSError: no space left" in caplog.text


def test_no_arguments_are_too_strange_to_be_noted(tool: Make) -> None:
    events: list[Event] = []
    session = ToolSession(record=events.append)
    session.found("x", [tool("a")])
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for strange in ({"x": deep}, {"x": 10**5000}, {(1, 2): "x"}, {"x": "http://a.b/?q=\ud83d"}):
        assert session.call("a", strange, lambda tool, given: "done")[0] == "done"
    noted = [
        one.attributes["gen_ai.tool.call.arguments"]
        for one in events
        if one.event == "ctrag.tool.call"
    ]
    assert noted == [
        '{"unwritable": "RecursionError"}',
        '{"unwritable": "ValueError"}',
        '{"unwritable": "TypeError"}',
        '{"x": "http://a.b/?q=\\ud83d"}',
    ]


def test_every_decision_is_told_with_names_others_know(tool: Make, clock: Any) -> None:
    events: list[Event] = []
    session = ToolSession(
        "s1",
        always=[SEARCH],
        binding=BindingSettings(capacity=1),
        record=events.append,
        clock=clock,
    )
    session.found("send mail", [tool("a"), tool("b")], scores=[0.9, 0.5], seconds=0.25)
    session.found("read mail", [tool("c")])
    session.finished("c", {"q": "x"}, seconds=1.5)
    session.pin("c")
    session.unpin("c")
    session.prepare([], window=2000)
    session.unload("c")
    assert [one.event.removeprefix("ctrag.") for one in events] == [
        "session.open",
        *("search", "tool.bind", "tool.left_out"),
        *("search", "tool.bind", "tool.evict"),
        *("tool.call", "tool.pin", "tool.unpin", "context.estimate", "tool.evict"),
    ]
    assert all((one.session, one.at) == ("s1", 1000.0) for one in events)
    search, call = events[1], events[7]
    assert search.seconds == 0.25
    assert search.attributes == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "send mail",
        "gen_ai.retrieval.documents": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}],
    }
    assert call.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "c",
        "gen_ai.tool.call.arguments": '{"q": "x"}',
    }


def test_threads_of_one_session_leave_it_whole(tool: Make) -> None:
    session = ToolSession(binding=BindingSettings(capacity=3))
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(100):
                session.found("x", [tool(f"{name}{number % 5}")])
                session.finished(f"{name}{number % 5}", {"n": number})
                assert len(session.tools) <= 3
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    assert len(session.manager.entries) == 3


def test_a_session_is_made_without_any_heavy_library(process: Callable[..., Any]) -> None:
    code = (
        "import sys\n"
        "from ctrag.agents.session.tool_session import ToolSession\n"
        "from ctrag.agents.session.registry import SessionRegistry\n"
        "ToolSession().prepare([], window=2000)\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'opentelemetry', 'onnxruntime'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ran = process(code)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_a_clock_is_asked_again_and_again_without_a_word(tool: Make) -> None:
    session = ToolSession()
    clocks = [tool("said", mcp={"annotations": {"readOnlyHint": True}}), tool("unsaid")]
    session.found("x", clocks)
    for number in range(30):
        for one in clocks:
            after = session.call(one.id, {}, lambda tool, given, at=number // 6: at)[1]
            assert (after.note, after.loop_detected, after.evicted) == (None, False, None)


def test_a_tool_that_fails_again_and_again_is_taken_away_and_the_note_says_so(tool: Make) -> None:
    session = ToolSession()
    session.found("x", [tool("a", mcp={"annotations": {"readOnlyHint": True}})])
    after = [session.finished("a", {"q": 1}, error="tool_error") for _ in range(4)]
    assert [one.evicted for one in after] == [None, None, None, "a"]
    assert after[3].note is not None
    assert after[3].note.startswith("a has failed 4 times with the same arguments.")


@pytest.mark.parametrize(
    "called", ["mail/send", "send", "mail__send", "mcp__mail__send", "mail.send"]
)
def test_a_tool_may_be_called_as_models_name_it(tool: Make, called: str) -> None:
    events: list[Event] = []
    session = ToolSession(record=events.append)
    session.found("x", [tool("mail/send"), tool("file/find")])
    assert session.check(called).id == "mail/send"
    assert session.call(called, {"text": "a"}, lambda tool, arguments: tool.id)[0] == "mail/send"
    session.finished(called, {"text": "b"})
    assert session.history == ("mail/send", "mail/send")
    assert tools_in(events, "ctrag.tool.call") == ["mail/send", "mail/send"]


def test_a_name_of_several_tools_or_of_one_that_is_gone_is_refused(tool: Make) -> None:
    session = ToolSession(allowed=lambda name, who: name != "secret/open")
    session.found("x", [tool("mail/send"), tool("chat/send"), tool("secret/open"), tool("a/b")])
    session.unload("a/b")
    for called in ("send", "open", "b", "a/b", "other/send"):
        with pytest.raises(ToolRefused):
            session.check(called)
    assert session.check("chat__send").id == "chat/send"


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (None, {}),
        ("", {}),
        ("{}", {}),
        ('{"text": "a"}', {"text": "a"}),
        ({"text": 1}, {"text": 1}),
    ],
)
def test_arguments_may_be_sent_as_text_or_not_at_all(tool: Make, sent: Any, read: Any) -> None:
    session = ToolSession()
    session.found("x", [tool("a")])
    assert session.call("a", sent, lambda tool, arguments: arguments)[0] == read


def test_arguments_that_are_no_object_are_refused_before_anything_runs(tool: Make) -> None:
    session = ToolSession()
    session.found("x", [tool("a")])
    ran: list[Any] = []
    with pytest.raises(ValueError, match="arguments: must be an object"):
        session.call("a", "tomorrow", lambda tool, arguments: ran.append(arguments))
    assert not ran


def test_scores_that_are_not_one_a_tool_are_refused_before_anything_is_bound(tool: Make) -> None:
    session = ToolSession()
    with pytest.raises(ValueError, match="scores: 1 for 2 tools; give all or none"):
        session.found("x", [tool("a"), tool("b")], scores=[0.5])
    assert not session.tools
