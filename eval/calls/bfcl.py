"""The verdict of BFCL's AST check on a call of one Python function among several.

Written from the documented behaviour (https://gorilla.cs.berkeley.edu/blogs/
8_berkeley_function_calling_leaderboard.html); the test compares it with the checker in
`bfcl-eval`, on every case of the category `multiple`. It differs from `eval.core.plans` on purpose:
possible answers are listed, types are strict, and punctuation inside strings does not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TYPES: dict[str, type[Any]] = {
    "string": str,
    "any": str,
    "integer": int,
    "float": float,
    "number": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "object": dict,
}
_NOISE = re.compile(r"[ ,./\-_*^]")

OPTIONAL = ""
"""Among the possible answers of an argument: it may be left out."""


@dataclass(frozen=True)
class Verdict:
    """Whether a call is right and, where it is not, why (else "")."""

    valid: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.valid


def judge(
    functions: Sequence[Mapping[str, Any]],
    calls: Sequence[Mapping[str, Mapping[str, Any]]],
    truth: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]],
) -> Verdict:
    """Judge the calls of a request that needs exactly one.

    Args:
        functions: what was on offer: name and `parameters`, a JSON schema with BFCL's type names.
        calls: what was predicted, `{name: {argument: value}}` each.
        truth: one `{name: {argument: [possible values]}}`; "" among them: may be left out. In a
            dict among the possible values, each key has its own list of possible values.
    """
    if len(calls) != len(truth) or len(truth) != 1:
        return Verdict(False, f"{len(truth)} call expected, {len(calls)} predicted")
    (name, possible), call = next(iter(truth[0].items())), calls[0]
    function = next((entry for entry in functions if entry["name"] == name), None)
    if function is None:
        return Verdict(False, f"{name}: not among the functions")
    if name not in call:
        return Verdict(False, f"{name} expected, not {', '.join(call)}")
    return _judge_arguments(function["parameters"], call[name], possible)


def _judge_arguments(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], possible: Mapping[str, Sequence[Any]]
) -> Verdict:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in arguments:
            return Verdict(False, f"{name}: is required")
    for name, value in arguments.items():
        if name not in properties or name not in possible:
            return Verdict(False, f"{name}: unexpected argument")
        if reason := _fault(value, properties[name], possible[name]):
            return Verdict(False, f"{name}: {reason}")
    for name, values in possible.items():
        if name not in arguments and OPTIONAL not in values:
            return Verdict(False, f"{name}: is missing")
    return Verdict(True)


def _fault(value: Any, schema: Mapping[str, Any], possible: Sequence[Any]) -> str:
    """What is wrong with a value, "" if nothing."""
    declared = schema["type"]
    expected = _TYPES[declared]
    items = _TYPES[schema["items"]["type"]] if declared in ("array", "tuple") else None
    if declared == "tuple" and type(value) is tuple:
        value = list(value)
    if expected is float and type(value) is int:
        value = float(value)

    if not _has_type(value, expected, items, possible):
        return f"{type(value).__name__} where {declared} is expected"
    if _type_of_answers(possible) not in (None, expected) or type(value) is not expected:
        right = value in possible  # a variable's name or another stand-in: taken literally
    elif expected is dict:
        right = any(_is_dict(value, answer) for answer in possible)
    elif items is dict:
        right = any(_is_list_of_dicts(value, answer) for answer in possible)
    elif expected is str:
        right = _standard_text(value) in [_standard_text(answer) for answer in possible]
    elif expected is list:
        right = _standard(value) in [_standard_list(answer) for answer in possible]
    else:
        right = value in possible
    return "" if right else f"{value!r} is none of {list(possible)!r}"


def _type_of_answers(possible: Sequence[Any]) -> type[Any] | None:
    return next((type(answer) for answer in possible if answer != OPTIONAL), None)


def _has_type(
    value: Any, expected: type[Any], items: type[Any] | None, possible: Sequence[Any]
) -> bool:
    """Whether a value has the declared type or that of the answers; bool is not int here.

    A list's elements are held against each possible list; where an argument may be left out, they
    are not held against anything.
    """
    if type(value) is not expected:
        return type(value) is _type_of_answers(possible)
    if items is None:
        return True
    return any(
        not isinstance(answer, list)
        or all(_has_type(element, items, None, answer) for element in value)
        for answer in possible
    )


def _is_dict(value: Mapping[str, Any], answer: Any) -> bool:
    """Compare key by key; lists inside a dict are compared to the letter."""
    if not isinstance(answer, dict):
        return False
    known = all(
        key in answer and _standard_text(element) in [_standard_text(opt) for opt in answer[key]]
        for key, element in value.items()
    )
    return known and all(key in value or OPTIONAL in answer[key] for key in answer)


def _is_list_of_dicts(value: Sequence[Any], answer: Any) -> bool:
    """Compare position by position; an argument that may be left out may also be []."""
    return len(value) == len(answer) and all(
        isinstance(element, dict) and _is_dict(element, option)
        for element, option in zip(value, answer, strict=True)
    )


def _standard_list(answer: Any) -> Any:
    """Leaving a list out, "", counts as the empty list."""
    return [] if answer == OPTIONAL else _standard(answer)


def _standard(value: Any) -> Any:
    """Strings, alone or one level down in a list, without case, spacing and punctuation."""
    if isinstance(value, list):
        return [_standard_text(item) for item in value]
    return _standard_text(value)


def _standard_text(value: Any) -> Any:
    if isinstance(value, str):
        return _NOISE.sub("", value).lower().replace("'", '"')
    return value
