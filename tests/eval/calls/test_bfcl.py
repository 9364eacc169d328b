"""Our AST check against the one in bfcl-eval, which decides what BFCL's figures mean."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest

from eval.calls.bfcl import judge
from eval.calls.bfcl_reference import reference_verdict

Call = dict[str, dict[str, Any]]
Case = tuple[list[dict[str, Any]], list[dict[str, Any]]]
Reference = Callable[[list[dict[str, Any]], list[Call], list[dict[str, Any]]], bool]

STAY = {
    "name": "hotel.book",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "budget": {"type": "float"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "guest": {"type": "dict", "properties": {"name": {"type": "string"}}},
        },
        "required": ["city", "nights"],
    },
}
TRUTH: list[dict[str, dict[str, list[Any]]]] = [
    {
        "hotel.book": {
            "city": ["San Jose", "San José"],
            "nights": [2],
            "budget": [100.0, ""],
            "extras": [["Early Check-in", "Parking"], ""],
            "guest": [{"name": ["Ann Lee"], "title": ["Dr", ""]}, ""],
        }
    }
]


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        pytest.param({"city": "San Jose", "nights": 2}, True, id="optional-arguments-left-out"),
        pytest.param({"city": "san-jose.", "nights": 2}, True, id="case-and-punctuation-are-free"),
        pytest.param({"city": "Santa Fe", "nights": 2}, False, id="another-city"),
        pytest.param({"city": "San Jose"}, False, id="required-argument-missing"),
        pytest.param({"city": "San Jose", "nights": 2, "pets": 1}, False, id="unknown-argument"),
        pytest.param({"city": "San Jose", "nights": 2.0}, False, id="float-for-integer"),
        pytest.param({"city": "San Jose", "nights": "2"}, False, id="text-for-integer"),
        pytest.param({"city": "San Jose", "nights": 2, "budget": 100}, True, id="int-for-float"),
        pytest.param(
            {"city": "San Jose", "nights": 2, "extras": ["early checkin", "parking"]},
            True,
            id="strings-in-lists-are-standardised",
        ),
        pytest.param(
            {"city": "San Jose", "nights": 2, "extras": ["parking", "early checkin"]},
            False,
            id="lists-keep-their-order",
        ),
        pytest.param(
            {"city": "San Jose", "nights": 2, "guest": {"name": "ann lee"}},
            True,
            id="optional-key-left-out",
        ),
        pytest.param(
            {"city": "San Jose", "nights": 2, "guest": {"title": "Dr"}},
            False,
            id="key-missing",
        ),
    ],
)
def test_a_call_is_right_if_every_argument_is_among_its_possible_values(
    arguments: dict[str, Any], valid: bool
) -> None:
    assert judge([STAY], [{"hotel.book": arguments}], TRUTH).valid is valid


def test_the_verdict_says_what_is_wrong() -> None:
    def reason(*calls: Call) -> str:
        return judge([STAY], calls, TRUTH).reason

    assert reason({"car.rent": {}}) == "hotel.book expected, not car.rent"
    assert reason() == "1 call expected, 0 predicted"
    assert reason({"hotel.book": {"nights": 2}}) == "city: is required"
    wrong_type = {"hotel.book": {"city": "San Jose", "nights": "two"}}
    assert reason(wrong_type) == "nights: str where integer is expected"


@pytest.fixture
def reference() -> Reference:
    if importlib.util.find_spec("bfcl_eval") is None:
        pytest.skip("bfcl-eval is not installed: pip install --no-deps bfcl-eval")

    def check(
        functions: list[dict[str, Any]], calls: list[Call], truth: list[dict[str, Any]]
    ) -> bool:
        return reference_verdict(functions, calls, truth, "multiple")

    return check


def bfcl_cases(category: str) -> Iterator[Case]:
    data = files("bfcl_eval") / "data"
    questions = (data / f"BFCL_v4_{category}.json").read_text("utf-8").splitlines()
    answers = (data / "possible_answer" / f"BFCL_v4_{category}.json").read_text("utf-8")
    truths = {row["id"]: row["ground_truth"] for row in map(json.loads, answers.splitlines())}
    for question in map(json.loads, questions):
        yield question["function"], truths[question["id"]]


def gold_call(possible: dict[str, list[Any]], choice: int) -> dict[str, Any]:
    """Take the possible value number `choice`, or the last; "", to be left out, only then."""
    arguments = {}
    for name, values in possible.items():
        value = values[min(choice, len(values) - 1)] if values else ""
        if value == "" and not choice:
            value = next((other for other in values if other != ""), "")
        if value != "":
            arguments[name] = one_of_each(value, choice)
    return arguments


def one_of_each(value: Any, choice: int) -> Any:
    """In a dict among the possible values, each key lists its own possible values."""
    if isinstance(value, dict):
        return gold_call({key: as_list(options) for key, options in value.items()}, choice)
    if isinstance(value, list):
        return [one_of_each(item, choice) if isinstance(item, dict) else item for item in value]
    return value


def as_list(options: Any) -> list[Any]:
    return options if isinstance(options, list) else [options]


WRONG_TYPES: list[Any] = ["elsewhere", 7, 7.5, True, None, [], ["elsewhere"], [7], {}, {"a": 7}]


def broken_calls(
    functions: list[dict[str, Any]], name: str, gold: dict[str, Any]
) -> Iterator[tuple[str, Call]]:
    """Each gold call broken in every way, one at a time."""
    others = [function["name"] for function in functions if function["name"] != name]
    yield from (("wrong function", {other: gold}) for other in [*others, "no_such_function"])
    yield "extra argument", {name: {**gold, "no_such_argument": 1}}
    known = next(entry for entry in functions if entry["name"] == name)["parameters"]["properties"]
    for left_out in known.keys() - gold.keys():
        yield "optional argument", {name: {**gold, left_out: "something"}}
    for argument, value in gold.items():
        yield "missing argument", {name: {key: gold[key] for key in gold if key != argument}}
        for wrong in WRONG_TYPES:
            kind = "wrong value" if type(wrong) is type(value) else "wrong type"
            yield kind, {name: {**gold, argument: wrong}}
        for kind, changed in alterations(value):
            yield kind, {name: {**gold, argument: changed}}


def alterations(value: Any) -> Iterator[tuple[str, Any]]:
    """Other values and other spellings of a value, also inside lists and dicts."""
    match value:
        case bool():
            yield "wrong value", not value
            yield "wrong type", int(value)
        case int():
            yield "wrong value", value + 1
            yield "number as float", float(value)
        case float():
            yield "wrong value", value + 0.5
            yield "number as int", int(value)
        case str():
            yield "wrong value", f"{value} too"
            yield "case", value.swapcase()
            yield "punctuation", f" {value.replace(' ', '-')}. "
            yield "quotes", f"'{value}'"
            yield "other punctuation", f"{value}!"
        case list():
            yield "order", value[::-1]
            yield "tuple", tuple(value)
            yield "shorter", value[:-1]
            yield "longer", [*value, *value[-1:]]
            for position, item in enumerate(value):
                for kind, changed in alterations(item):
                    yield f"{kind} in list", [*value[:position], changed, *value[position + 1 :]]
        case dict():
            yield "extra key in dict", {**value, "no_such_key": 1}
            for key, item in value.items():
                yield "missing key in dict", {k: value[k] for k in value if k != key}
                for kind, changed in alterations(item):
                    yield f"{kind} in dict", {**value, key: changed}


@pytest.mark.parametrize(("category", "size"), [("multiple", 200), ("simple_python", 400)])
def test_verdicts_agree_with_bfcls_own_checker_on_every_case(
    reference: Reference, capsys: pytest.CaptureFixture[str], category: str, size: int
) -> None:
    compared: Counter[tuple[str, bool]] = Counter()
    cases = 0
    for functions, truth in bfcl_cases(category):
        cases += 1
        ((name, possible),) = truth[0].items()
        calls: list[tuple[str, list[Call]]] = [("no call", [])]
        for choice in range(max(map(len, possible.values()), default=1)):
            gold = gold_call(possible, choice)
            calls += [("gold", [{name: gold}]), ("two calls", [{name: gold}, {name: gold}])]
            calls += [(kind, [call]) for kind, call in broken_calls(functions, name, gold)]
        for kind, predicted in calls:
            expected = reference(functions, predicted, truth)
            verdict = judge(functions, predicted, truth)
            assert verdict.valid == expected, (kind, predicted, truth, verdict.reason)
            compared[kind, expected] += 1
    assert cases == size
    right = sum(count for (_, valid), count in compared.items() if valid)
    with capsys.disabled():
        print(
            f"\nBFCL {category}: {compared.total()} calls of {cases} cases judged alike, ", end=""
        )
        print(f"{right} of them right, {compared['gold', True]} being gold")
