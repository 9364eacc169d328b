from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.planning.plan import NONE, Plan, Value
from ctrag.toolbox import Argument, ArgumentType, Tool, Toolbox
from eval.core.plans import (
    PlanScore,
    accepted,
    after_question,
    ast_match,
    closed,
    coverage,
    done_right,
    exact_match,
    hallucinated,
    normalise,
    score,
    summarise,
    text_right,
    token_f1,
)


def argument(name: str, type_: ArgumentType = "string", *, text: bool = False) -> Argument:
    return Argument(
        name=name,
        type=type_,
        match="text" if text else "value",
        required=False,
        description=name,
    )


def tool(api: str, *arguments: Argument) -> Tool:
    return Tool(
        app="phone",
        api=api,
        description=api,
        effect="write",
        arguments=arguments,
        fails_when="never",
    )


TOOLBOX = Toolbox(
    [
        tool("read_note", argument("title")),
        tool("list_events", argument("date", "date")),
        tool(
            "create_event",
            argument("title", text=True),
            argument("start", "datetime"),
            argument("attendees", "contacts"),
        ),
        tool(
            "send_mail", argument("to"), argument("subject", text=True), argument("body", text=True)
        ),
    ]
)
MEETING = Plan(
    "create_event",
    {"title": "Tea at Ann's", "start": "2025-05-02T18:30", "attendees": ["Ann Lee", "Bo Ek"]},
)
MAIL = Plan("send_mail", {"to": "Ann Lee", "subject": "Tea", "body": "The tea is at six"})


def with_arguments(plan: Plan, **changes: Value) -> Plan:
    return Plan(plan.api, plan.arguments | changes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Rent  due ", "rent due", id="case-and-spacing"),
        pytest.param("“Rent”", "rent", id="quotes-around-the-whole"),
        pytest.param("Ann’s list", "Ann's list", id="kind-of-quotes"),
        pytest.param("José", "Jose\u0301", id="composed-characters"),
        pytest.param(["Ann", "Bo"], ["bo", "ANN", "ann"], id="lists-are-sets"),
        pytest.param(5, "5", id="number-or-its-text"),
    ],
)
def test_spellings_of_one_value_are_equal(one: Value, other: Value) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rent due", "rent, due"),
        ("don't", "dont"),
        ("Jose", "José"),
        ("Ann", ["Ann"]),
        (["Ann"], ["Ann", "Bo"]),
        ("", "'"),
    ],
)
def test_different_values_stay_different(one: Value, other: Value) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    "spelling",
    [
        "2025-05-02T18:30",
        "2025-05-02 18:30",
        "2025-05-02T18:30:00",
        "2025/05/02 18:30",
        "2 May 2025, 18:30",
        "2 May 2025 at 6:30 pm",
        "May 2, 2025 6:30PM",
    ],
)
def test_spellings_of_one_time_are_equal(spelling: str) -> None:
    assert normalise(spelling, "datetime") == "2025-05-02T18:30"


@pytest.mark.parametrize("spelling", ["2025-05-02", "2 may 2025", "May 2, 2025", "2025/05/02"])
def test_spellings_of_one_date_are_equal(spelling: str) -> None:
    assert normalise(spelling, "date") == "2025-05-02"


@pytest.mark.parametrize(
    "other", ["2025-05-02T18:31", "2025-05-02T18:30:20", "2025-05-02", "02/05/2025 18:30", "18:30"]
)
def test_other_times_and_open_spellings_stay_different(other: str) -> None:
    assert normalise(other, "datetime") != "2025-05-02T18:30"


def test_dates_are_respelled_only_where_the_argument_is_a_date() -> None:
    title = Plan("read_note", {"title": "2 May 2025"})
    assert not ast_match(Plan("read_note", {"title": "2025-05-02"}), title, TOOLBOX)
    day = Plan("list_events", {"date": "2 May 2025"})
    assert ast_match(Plan("list_events", {"date": "2025-05-02"}), day, TOOLBOX)


@given(st.text(), st.sampled_from(["string", "datetime", "date"]))
def test_normalising_twice_changes_nothing_more(text: str, type_: ArgumentType) -> None:
    once = normalise(text, type_)
    assert isinstance(once, str)
    assert normalise(once, type_) == once


@pytest.mark.parametrize(
    ("predicted", "ast", "exact"),
    [
        pytest.param(MEETING, True, True, id="same"),
        pytest.param(
            with_arguments(MEETING, attendees=["bo ek", "ann lee"], start="2025-05-02 18:30"),
            True,
            True,
            id="other-spelling",
        ),
        pytest.param(with_arguments(MEETING, title="Six o'clock"), True, False, id="other-text"),
        pytest.param(with_arguments(MEETING, start="2025-05-02T19:30"), False, False, id="time"),
        pytest.param(with_arguments(MEETING, attendees=["Ann Lee"]), False, False, id="list"),
        pytest.param(with_arguments(MEETING, place="home"), False, False, id="extra-argument"),
        pytest.param(
            Plan("create_event", {"title": "Tea at Ann's", "start": "2025-05-02T18:30"}),
            False,
            False,
            id="missing-optional-argument",
        ),
        pytest.param(Plan("read_note", MEETING.arguments), False, False, id="other-api"),
        pytest.param(NONE, False, False, id="none"),
        pytest.param(None, False, False, id="no-plan"),
    ],
)
def test_text_counts_by_presence_for_the_ast_and_by_words_for_exact_match(
    predicted: Plan | None, ast: bool, exact: bool
) -> None:
    assert ast_match(predicted, MEETING, TOOLBOX) is ast
    assert exact_match(predicted, MEETING, TOOLBOX) is exact


@pytest.mark.parametrize("gold", [None, NONE])
def test_where_no_api_fits_only_none_is_right(gold: Plan | None) -> None:
    for right in (ast_match, exact_match):
        assert right(NONE, gold, TOOLBOX)
        assert not right(MEETING, gold, TOOLBOX)
        assert not right(None, gold, TOOLBOX)


def test_any_of_the_plans_that_are_as_right_is_accepted() -> None:
    other = Plan("read_note", {"title": "Tea"})
    assert accepted(other, MEETING, [other], TOOLBOX)
    assert accepted(MEETING, MEETING, [other], TOOLBOX)
    assert accepted(NONE, MEETING, [None], TOOLBOX)
    assert not accepted(other, MEETING, [], TOOLBOX)


def test_a_plan_is_closed_if_it_has_no_free_text() -> None:
    assert closed(Plan("read_note", {"title": "Tea"}), TOOLBOX)
    assert closed(Plan("create_event", {"start": "2025-05-02T18:30"}), TOOLBOX)
    assert closed(None, TOOLBOX)
    assert not closed(MEETING, TOOLBOX)


def test_token_f1_averages_the_overlap_of_the_free_texts() -> None:
    predicted = with_arguments(MAIL, body="Tea at seven!")
    # body: {tea, at} of {tea, at, seven} and of {tea, is, at, six}; subject: equal
    precision, recall = 2 / 3, 2 / 4
    body = 2 * precision * recall / (precision + recall)
    assert token_f1(predicted, MAIL, TOOLBOX) == pytest.approx((1 + body) / 2)


def test_token_f1_is_zero_for_missing_texts_and_other_apis() -> None:
    without_body = Plan("send_mail", {"to": "Ann Lee", "subject": "tea"})
    assert token_f1(without_body, MAIL, TOOLBOX) == (1 + 0) / 2
    assert token_f1(MEETING, MAIL, TOOLBOX) == 0
    assert token_f1(None, MAIL, TOOLBOX) == 0


def test_token_f1_is_undefined_without_free_text() -> None:
    assert token_f1(MEETING, Plan("read_note", {"title": "Tea"}), TOOLBOX) is None
    assert token_f1(NONE, None, TOOLBOX) is None


def test_only_calls_of_unknown_apis_are_hallucinations() -> None:
    assert hallucinated(Plan("order_tea"), TOOLBOX)
    assert not hallucinated(MEETING, TOOLBOX)
    assert not hallucinated(NONE, TOOLBOX)
    assert not hallucinated(None, TOOLBOX)


def test_figures_are_percentages_of_the_requests() -> None:
    note = Plan("read_note", {"title": "Tea"})
    rows = [
        score(MEETING, MEETING, toolbox=TOOLBOX, ungrounded=False),
        score(with_arguments(MAIL, body="At six"), MAIL, toolbox=TOOLBOX, ungrounded=True),
        score(NONE, note, [None], toolbox=TOOLBOX, ungrounded=False),
        score(NONE, None, toolbox=TOOLBOX, ungrounded=False),
        score(Plan("order_tea"), note, toolbox=TOOLBOX, ungrounded=False),
    ]
    assert summarise(rows) == {
        "ast_accuracy": pytest.approx(100 * 3 / 5),
        "exact_match": pytest.approx(100 * 2 / 5),
        "exact_match_closed": pytest.approx(100 * 1 / 3),  # of note, None and note
        "accepted": pytest.approx(100 * 4 / 5),
        "api_right": pytest.approx(100 * 4 / 5),
        "done_right": pytest.approx(100 * 3 / 5),  # the mail says something else
        "text_right": 50.0,
        "hallucination": pytest.approx(100 * 1 / 5),
        "ungrounded": pytest.approx(100 * 1 / 5),
    }


def test_without_closed_plans_their_figure_is_left_out() -> None:
    row = PlanScore(True, True, False, True, False, False, 1.0, None, True, True)
    assert "exact_match_closed" not in summarise([row])
    assert "text_right" not in summarise([row])


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("one two three four five", True),
        ("one two three four six", True),  # 4 of 5 written words are said: 0.8
        ("one two three four six seven", False),  # 4 of 6
        ("one two three", True),  # 3 of 5 said words are written: 0.6
        ("one two", False),  # 2 of 5
        ("", False),
    ],
)
def test_a_text_is_right_when_it_says_enough_and_little_else(written: str, right: bool) -> None:
    gold = Plan("send_mail", {"to": "Ann", "subject": "x", "body": "One two, three four five!"})
    plan = Plan("send_mail", {"to": "Ann", "subject": "y", "body": written})
    assert text_right(plan, gold, [], TOOLBOX) is right
    assert done_right(plan, gold, [], TOOLBOX) is right


def test_a_text_may_be_that_of_a_plan_that_is_as_right() -> None:
    gold = Plan("send_mail", {"to": "Ann", "subject": "x", "body": "I am late"})
    other = with_arguments(gold, body="Running behind")
    said = with_arguments(gold, body="running behind")
    assert not text_right(said, gold, [], TOOLBOX)
    assert text_right(said, gold, [other], TOOLBOX)
    assert done_right(said, gold, [other], TOOLBOX)


def test_texts_count_only_where_there_are_some() -> None:
    note = Plan("read_note", {"title": "Tea"})
    assert text_right(note, note, [], TOOLBOX) is None
    assert text_right(NONE, None, [], TOOLBOX) is None
    assert text_right(NONE, MAIL, [], TOOLBOX) is False
    assert text_right(None, MAIL, [], TOOLBOX) is False
    assert not done_right(None, MEETING, [], TOOLBOX)


def test_a_text_that_was_left_out_is_not_right() -> None:
    gold = Plan("send_mail", {"to": "Ann", "subject": "x", "body": "I am late"})
    without = Plan("send_mail", {"to": "Ann", "subject": "x"})
    assert text_right(without, gold, [], TOOLBOX) is False
    assert text_right(without, gold, [without], TOOLBOX) is True, "one label has none either"


def test_coverage_counts_the_surest_first() -> None:
    found = coverage([0.2, 0.9, 0.5, 0.7], [True, True, False, False], [0.25, 0.5, 1.0])
    assert found == {"25": 100.0, "50": 50.0, "100": 50.0}


def test_a_question_mends_the_least_sure_plans_whose_choices_have_the_right_one() -> None:
    found = after_question(
        [0.2, 0.9, 0.5, 0.7],
        [False, True, False, False],
        [True, True, False, True],
        [0.0, 0.25, 0.5, 0.75, 1.0],
    )
    assert {share: one["right"] for share, one in found.items()} == {
        "0": 25.0, "25": 50.0, "50": 50.0, "75": 75.0, "100": 75.0,
    }  # fmt: skip
    assert [one["threshold"] for one in found.values()] == [0.2, 0.5, 0.7, 0.9, 1.0]


def test_no_rows_have_no_figures() -> None:
    with pytest.raises(ValueError, match="rows: at least one"):
        summarise([])
