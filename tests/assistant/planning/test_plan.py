from __future__ import annotations

import contextlib
import keyword
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctrag.assistant.planning.plan import NONE, Plan, PlanSyntaxError, Value, check
from ctrag.toolbox import Argument, ArgumentType, Tool, Toolbox

ANY_TEXT = st.text(st.characters())  # surrogates included
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and name != "none"
)
VALUES: st.SearchStrategy[Value] = st.one_of(ANY_TEXT, st.integers(), st.lists(ANY_TEXT))


def argument(name: str, type_: ArgumentType, *values: str, required: bool = False) -> Argument:
    return Argument(
        name=name, type=type_, match="value", required=required, description=name, values=values
    )


TOOLBOX = Toolbox(
    [
        Tool(
            app="calendar",
            api="create_event",
            description="Puts an event into the calendar.",
            effect="write",
            arguments=(
                argument("title", "string", required=True),
                argument("start", "datetime", required=True),
                argument("until", "date"),
                argument("minutes", "integer"),
                argument("host", "contact"),
                argument("guests", "contacts"),
                argument("repeat", "enum", "daily", "weekly"),
            ),
            fails_when="never",
        )
    ]
)
GOOD: dict[str, Value] = {"title": "Tea", "start": "2025-05-02T18:30"}


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4))
def test_parsing_undoes_printing(api: str, arguments: dict[str, Value]) -> None:
    plan = Plan(api, arguments)
    assert Plan.parse(str(plan)) == plan


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4))
def test_printing_a_parsed_plan_changes_nothing(api: str, arguments: dict[str, Value]) -> None:
    text = str(Plan(api, arguments))
    assert str(Plan.parse(text)) == text


@given(ANY_TEXT)
def test_any_text_is_a_plan_or_a_syntax_error(text: str) -> None:
    with contextlib.suppress(PlanSyntaxError):
        assert isinstance(Plan.parse(text), Plan)


def test_the_printed_form_is_a_python_call_with_double_quotes() -> None:
    plan = Plan("create_event", {"title": 'Ann\'s "big" day\n', "guests": ["José", "Bo"], "n": -3})
    assert str(plan) == (
        'create_event(title="Ann\'s \\"big\\" day\\n", guests=["José", "Bo"], n=-3)'
    )


def test_any_python_spelling_of_a_plan_is_read() -> None:
    text = "  create_event( title='Tea' , guests=['Ann',],\n n=-0x10)  "
    assert Plan.parse(text) == Plan("create_event", {"title": "Tea", "guests": ["Ann"], "n": -16})


def test_plans_are_equal_whatever_the_order_of_arguments() -> None:
    assert Plan.parse('f(a="1", b="2")') == Plan.parse('f(b="2", a="1")')


def test_none_is_the_plan_that_calls_nothing() -> None:
    assert Plan.parse("none()") == NONE
    assert NONE.is_none
    assert str(NONE) == "none()"
    assert check(NONE, TOOLBOX) == []


def test_odd_escapes_are_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Plan.parse(r'search(query="\d")') == Plan("search", {"query": r"\d"})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not a Python expression"),
        ("Sure! play_song()", "not a Python expression"),
        ('play_song(song_name="Blue', "not a Python expression"),
        ("f(a='\0')", "not a Python expression"),
        ("f(" * 300 + ")" * 300, "not a Python expression"),
        ("play_song", "not a call: 'play_song'"),
        ("music.play_song()", "the API must be a plain name, not 'music.play_song'"),
        ('play_song("Blue")', "arguments must be named: 'Blue' is not"),
        ("play_song(**{})", r"arguments must be named: \*\* is not allowed"),
        ('f(a="1", a="2")', "a: occurs more than once"),
        ("f(a=1.5)", "a: must be a text, a whole number or a list of texts"),
        ("f(a=True)", "a: must be a text"),
        ("f(a=-True)", "a: must be a text"),
        ("f(a=None)", "a: must be a text"),
        ("f(a=now())", "a: must be a text"),
        ('f(a=f"{x}")', "a: must be a text"),
        ("f(a=[1])", "a: must be a text"),
        ('f(a=("x",))', "a: must be a text"),
        ('f(a="x" + "y")', "a: must be a text"),
        ("naïve()", "'naïve' is not a name that a plan can spell"),
        ("none(a=1)", r"none\(\) takes no arguments"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(text: str, fault: str) -> None:
    with pytest.raises(PlanSyntaxError, match=fault):
        Plan.parse(text)


@pytest.mark.parametrize(
    ("api", "arguments", "fault"),
    [
        ("play song", {}, "'play song' is not a name"),
        ("f", {"class": "x"}, "'class' is not a name"),
        ("f", {"a": True}, "a: a text, whole number or list of texts is needed, not True"),
        ("f", {"a": ["x", 1]}, "a: a text, whole number or list"),
    ],
)
def test_a_plan_that_could_not_be_printed_is_not_made(
    api: str, arguments: dict[str, Value], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        Plan(api, arguments)


def test_a_plan_that_keeps_to_the_schema_has_no_faults() -> None:
    more: dict[str, Value] = {
        "until": "2024-02-29",
        "minutes": 30,
        "host": "Ann Lee",
        "guests": ["Bo"],
        "repeat": "weekly",
    }
    assert check(Plan("create_event", GOOD | more), TOOLBOX) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"start": "2025-05-02 18:30"}, "start: must be a time written YYYY-MM-DDTHH:MM"),
        ({"start": "2025-05-02T18:30:00"}, "start: must be a time"),
        ({"start": "2025-02-30T18:30"}, "start: must be a time"),
        ({"start": "٢٠٢٥-05-02T18:30"}, "start: must be a time"),
        ({"until": "2025-05-02T18:30"}, "until: must be a date written YYYY-MM-DD"),
        ({"until": "2025-02-29"}, "until: must be a date"),
        ({"minutes": "30"}, 'minutes: must be a whole number, not "30"'),
        ({"host": ["Ann"]}, 'host: must be a contact\'s name, not ["Ann"]'),
        ({"guests": "Ann"}, 'guests: must be a list of contacts, not "Ann"'),
        ({"repeat": "Daily"}, 'repeat: must be one of daily, weekly, not "Daily"'),
        ({"title": 3}, "title: must be a text, not 3"),
        ({"place": "home"}, "place: create_event has no such argument"),
    ],
)
def test_a_breach_of_the_schema_is_put_into_words(changes: dict[str, Value], fault: str) -> None:
    (found,) = check(Plan("create_event", GOOD | changes), TOOLBOX)
    assert found.startswith(fault)


def test_all_breaches_are_reported_at_once() -> None:
    assert check(Plan("create_event", {"minutes": "x", "place": "home"}), TOOLBOX) == [
        'minutes: must be a whole number, not "x"',
        "place: create_event has no such argument",
        "title: create_event needs this argument",
        "start: create_event needs this argument",
    ]


def test_an_unknown_api_is_the_only_fault_of_its_plan() -> None:
    assert check(Plan("order_tea", {"sugar": 2}), TOOLBOX) == ["order_tea: there is no such API"]
