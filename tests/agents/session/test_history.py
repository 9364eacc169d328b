"""A conversation cut to a budget keeps calls and results together, in both message formats."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.session.history import fit_history, history_tokens

SYSTEM = {"role": "system", "content": "Be brief."}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*ids: str) -> dict[str, Any]:
    made = [{"id": one, "type": "function", "function": {"name": "f"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def block_calls(*ids: str) -> dict[str, Any]:
    made = [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": "So."}, *made]}


def block_results(*ids: str, text: str = "done") -> dict[str, Any]:
    got = [{"type": "tool_result", "tool_use_id": one, "content": text} for one in ids]
    return {"role": "user", "content": got}


def test_what_fits_stays_as_it_is() -> None:
    talk = [SYSTEM, user("hi"), calls("1"), result("1"), assistant("done")]
    fitted = fit_history(talk, 1000)
    assert fitted.messages == talk
    assert (fitted.dropped, fitted.shortened, fitted.fits) == (0, 0, True)
    assert fitted.tokens == history_tokens(talk)


def test_a_message_costs_its_text_its_calls_and_a_little() -> None:
    assert history_tokens([user("x" * 40)]) == 4 + 10
    assert history_tokens([{"role": "user", "content": [{"type": "text", "text": "x" * 40}]}]) == 14
    assert history_tokens([calls("1")], len) > len('{"id": "1", "function": {"name": "f"}}')
    picture = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "A" * 99999}}],
    }
    assert history_tokens([picture]) == 1004


def test_the_oldest_exchanges_go_first_and_a_request_comes_first() -> None:
    talk = [
        SYSTEM,
        user("one"),
        assistant("1" * 40),
        user("two"),
        assistant("2" * 40),
        user("three"),
    ]
    whole = history_tokens(talk)
    fitted = fit_history(talk, whole - 1)
    assert fitted.messages == [SYSTEM, *talk[3:]], "the answer to a request that went, goes too"
    assert (fitted.dropped, fitted.fits) == (2, True)


def test_a_call_goes_with_all_its_results_and_what_stands_between() -> None:
    talk = [user("a"), calls("1", "2"), result("2", "x" * 100), user("b"), result("1"), user("c")]
    fitted = fit_history(talk, history_tokens(talk) - 1)
    assert fitted.messages == [user("c")]


def test_the_last_request_stays_however_long_the_work_on_it() -> None:
    work = [one for n in range(20) for one in (calls(str(n)), result(str(n), "x" * 100))]
    talk = [SYSTEM, user("old"), assistant("yes"), user("the task"), *work]
    fitted = fit_history(talk, 200)
    assert fitted.messages[:2] == [SYSTEM, user("the task")]
    assert fitted.messages[2:] == work[-len(fitted.messages) + 2 :]
    assert fitted.fits
    assert len(fitted.messages) > 4


def test_ids_used_again_belong_to_the_latest_call() -> None:
    talk = [user("a"), calls("1"), result("1"), user("b"), calls("1"), result("1"), user("c")]
    fitted = fit_history(talk, history_tokens(talk) - 1)
    assert fitted.messages == talk[3:]


@pytest.mark.parametrize("lost", [result("7"), block_results("7")])
def test_a_result_without_its_call_goes_in_any_case(lost: dict[str, Any]) -> None:
    fitted = fit_history([user("a"), lost, calls("1"), result("1")], 10_000)
    assert fitted.messages == [user("a"), calls("1"), result("1")]
    assert fitted.dropped == 1


def test_of_a_message_with_several_results_only_the_lost_one_goes() -> None:
    both = block_results("1", "7")
    fitted = fit_history([user("a"), block_calls("1"), both], 10_000)
    assert fitted.messages[2]["content"] == both["content"][:1]
    assert len(both["content"]) == 2, "the caller's message is left as it is"


def test_too_long_results_are_cut_to_one_length_the_longest_first() -> None:
    talk = [user("a"), calls("1", "2"), result("1", "x" * 9000), result("2", "y" * 700)]
    fitted = fit_history(talk, 800)
    assert fitted.fits
    assert (fitted.dropped, fitted.shortened) == (0, 1)
    assert fitted.tokens > 780, "no more is cut than must be"
    assert fitted.messages[3] == talk[3]
    text = fitted.messages[2]["content"]
    kept = text.split(" [")[0]
    assert text == f"{kept} [{9000 - len(kept)} characters left out]"


def test_blocks_of_a_too_long_result_are_cut_too() -> None:
    long = {
        "type": "tool_result",
        "tool_use_id": "1",
        "content": [{"type": "text", "text": "x" * 9000}],
    }
    talk = [user("a"), block_calls("1"), {"role": "user", "content": [long]}]
    fitted = fit_history(talk, 500)
    assert (fitted.fits, fitted.shortened) == (True, 1)


def test_what_cannot_fit_is_said() -> None:
    fitted = fit_history([user("x" * 4000)], 100)
    assert (fitted.messages, fitted.fits) == ([user("x" * 4000)], False)
    with pytest.raises(ValueError, match="budget: must not be negative, not -1"):
        fit_history([], -1)
    assert fit_history([], 0).fits


TEXT = st.sampled_from(["short", "y" * 100, "z" * 1000])


@st.composite
def talks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Conversations in either format, calls answered in any order, sometimes with lost results."""
    talk: list[dict[str, Any]] = [SYSTEM] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["user", "said", "tools", "blocks", "lost", "pending"]))
        ids = [f"{turn}-{n}" for n in range(draw(st.integers(1, 3)))]
        if kind == "user":
            talk.append(user(draw(TEXT)))
        elif kind == "said":
            talk.append(assistant(draw(TEXT)))
        elif kind == "tools":
            answers = [result(one, draw(TEXT)) for one in draw(st.permutations(ids))]
            between = [user("wait")] if draw(st.booleans()) else []
            talk += [calls(*ids), *answers[:1], *between, *answers[1:]]
        elif kind == "blocks":
            talk += [block_calls(*ids), block_results(*ids, text=draw(TEXT))]
        elif kind == "pending":
            talk.append(calls(*ids))
        else:
            talk.append(draw(st.sampled_from([result("lost"), block_results("lost")])))
    return talk


def made_and_answered(talk: list[Any]) -> list[tuple[str, str]]:
    seen = []
    for message in talk:
        seen += [("call", one["id"]) for one in message.get("tool_calls") or ()]
        if message["role"] == "tool":
            seen.append(("answer", message["tool_call_id"]))
        content = message["content"] if isinstance(message["content"], list) else []
        seen += [("call", one["id"]) for one in content if one["type"] == "tool_use"]
        seen += [("answer", one["tool_use_id"]) for one in content if one["type"] == "tool_result"]
    return seen


@settings(max_examples=100, deadline=None)
@given(talk=talks(), budget=st.integers(0, 700))
def test_no_result_is_ever_without_its_call_nor_a_call_without_its_results(
    talk: list[dict[str, Any]], budget: int
) -> None:
    fitted = fit_history(talk, budget)
    before, after = made_and_answered(talk), made_and_answered(fitted.messages)
    called = [one for kind, one in after if kind == "call"]
    for place, (kind, one) in enumerate(after):
        if kind == "answer":
            assert ("call", one) in after[:place]
    for one in called:
        assert (("answer", one) in before) == (("answer", one) in after)
    rest = iter(talk)
    for message in fitted.messages:  # in order, none invented
        assert any(one["role"] == message["role"] for one in rest)
    requests = [one for one in talk if one["role"] == "user" and isinstance(one["content"], str)]
    assert all(one in fitted.messages for one in requests[-1:])
    assert (SYSTEM in fitted.messages) == (SYSTEM in talk)
    assert fitted.tokens == history_tokens(fitted.messages)
    assert fitted.fits == (fitted.tokens <= budget)
    assert fitted.dropped == len(talk) - len(fitted.messages)


@settings(max_examples=50, deadline=None)
@given(talk=talks(), budget=st.integers(0, 700))
def test_what_was_cut_to_fit_is_not_cut_again(talk: list[dict[str, Any]], budget: int) -> None:
    once = fit_history(talk, budget)
    if once.fits:
        assert fit_history(once.messages, budget).messages == once.messages


def responses(output: str) -> list[dict[str, Any]]:
    """A conversation as the Responses API has it."""
    return [
        {"role": "user", "content": [{"type": "input_text", "text": "first"}]},
        {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"of": "it"}'},
        {"type": "function_call_output", "call_id": "c", "output": output},
        {"role": "assistant", "content": [{"type": "output_text", "text": "found"}]},
        {"role": "user", "content": "second"},
    ]


def test_items_of_the_responses_api_are_counted_and_paired() -> None:
    items = responses("x" * 4_000)
    assert history_tokens(items) > 1_000
    short = fit_history(items, 100)
    assert (short.fits, short.messages) == (True, items[-1:])
    assert fit_history(items[2:], 5_000).messages == items[3:]  # a result without its call
    last = fit_history(items[:3], 200)
    assert (last.fits, last.shortened) == (True, 1)
    assert [one.get("type") for one in last.messages] == [
        None,
        "function_call",
        "function_call_output",
    ]


def test_no_form_of_a_message_is_free() -> None:
    text = "word " * 400
    for message in (
        {"role": "user", "parts": [{"text": text}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": text}}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": text}},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": text}],
        },
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "text", "data": text}}],
        },
    ):
        assert history_tokens([message]) > 400


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "data": "A" * 400_000}},
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [{"type": "image", "data": "A" * 400_000}],
        },
        {"type": "input_audio", "input_audio": {"data": "A" * 400_000}},
        {"type": "file", "file": {"file_data": "A" * 400_000}},
        {"type": "document", "source": {"type": "base64", "data": "A" * 400_000}},
    ],
)
def test_the_bytes_of_files_do_not_count_as_text(block: dict[str, Any]) -> None:
    assert 1_000 <= history_tokens([{"role": "user", "content": [block]}]) < 1_100
