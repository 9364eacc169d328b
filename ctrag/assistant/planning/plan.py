"""A plan, the call of one API, and its text: `snooze_reminder(title="Rent", until="…")`."""

from __future__ import annotations

import ast
import json
import keyword
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime

from ctrag.errors import InputError
from ctrag.errors import PlanSyntaxError as PlanSyntaxError
from ctrag.toolbox import Argument, Toolbox

Value = str | int | list[str]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Plan:
    """A call of one API; equal plans may list their arguments in different orders.

    Raises:
        ValueError: if a name is no ASCII Python name, a value is neither text, whole number nor
            list of texts, or `none` has arguments.
    """

    api: str
    arguments: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (self.api, *self.arguments):
            if not _NAME.fullmatch(name) or keyword.iskeyword(name):
                raise InputError(f"{name!r} is not a name that a plan can spell")
        for name, value in self.arguments.items():
            if not _is_value(value):
                raise InputError(
                    f"{name}: a text, whole number or list of texts is needed, not {value!r}"
                )
        if self.is_none and self.arguments:
            raise InputError("none() takes no arguments")

    @property
    def is_none(self) -> bool:
        """Whether the plan says that no API can do what was asked."""
        return self.api == "none"

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read a Python call expression with keyword arguments and literal values.

        Raises:
            PlanSyntaxError: naming what is wrong.
        """
        call = _call(text)
        if not isinstance(call.func, ast.Name):
            raise PlanSyntaxError(f"the API must be a plain name, not {ast.unparse(call.func)!r}")
        if call.args:
            raise PlanSyntaxError(
                f"arguments must be named: {_shorten(ast.unparse(call.args[0]))} is not"
            )
        arguments: dict[str, Value] = {}
        for argument in call.keywords:
            if argument.arg is None:
                raise PlanSyntaxError("arguments must be named: ** is not allowed")
            if argument.arg in arguments:
                raise PlanSyntaxError(f"{argument.arg}: occurs more than once")
            arguments[argument.arg] = _value(argument.arg, argument.value)
        try:
            return cls(call.func.id, arguments)
        except ValueError as error:
            raise PlanSyntaxError(str(error)) from error

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={_spell(value)}" for name, value in self.arguments.items())
        return f"{self.api}({inner})"


NONE = Plan("none")
"""The plan `none()`: no API can do what was asked."""


def check(plan: Plan, toolbox: Toolbox) -> list[str]:
    """All breaches of the toolbox's schema in words, in the plan's order; [] if there are none.

    `none()` breaks no schema. Whether values exist in anybody's data is not looked at.
    """
    if plan.is_none:
        return []
    tool = toolbox.get(plan.api)
    if tool is None:
        return [f"{plan.api}: there is no such API"]
    known = tool.arguments_by_name
    faults: list[str] = []
    for name, value in plan.arguments.items():
        if name not in known:
            faults.append(f"{name}: {plan.api} has no such argument")
        elif rule := _broken_rule(known[name], value):
            faults.append(f"{name}: must be {rule}, not {_shorten(_spell(value))}")
    faults += [
        f"{argument.name}: {plan.api} needs this argument"
        for argument in tool.arguments
        if argument.required and argument.name not in plan.arguments
    ]
    return faults


def _call(text: str) -> ast.Call:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a generated text is legal, if unwise
            node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise PlanSyntaxError(f"not a Python expression: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise PlanSyntaxError(f"not a Python expression: {error or 'nested too deep'}") from error
    if not isinstance(node, ast.Call):
        raise PlanSyntaxError(f"not a call: {_shorten(text.strip())!r}")
    return node


def _value(name: str, node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if (
            not isinstance(value, bool)
        ):
            return -value
        case ast.List(elts=elements):
            texts = [element.value for element in elements if isinstance(element, ast.Constant)]
            strings = [text for text in texts if isinstance(text, str)]
            if len(strings) == len(elements):
                return strings
    raise PlanSyntaxError(f"{name}: must be a text, a whole number or a list of texts")


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _spell(value: Value) -> str:
    """Spell a value as JSON does, which Python reads too, save that surrogates need escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shorten(text: str, characters: int = 60) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def _broken_rule(argument: Argument, value: Value) -> str | None:
    """What the value should have been, or None when it is."""
    match argument.type:
        case "integer":
            return None if isinstance(value, int) else "a whole number"
        case "contacts":
            return None if isinstance(value, list) else "a list of contacts"
        case "enum":
            return None if value in argument.values else f"one of {', '.join(argument.values)}"
        case "datetime":
            return None if _is_datetime(value) else "a time written YYYY-MM-DDTHH:MM"
        case "date":
            return None if _is_date(value) else "a date written YYYY-MM-DD"
        case "contact":
            return None if isinstance(value, str) else "a contact's name"
        case "string":
            return None if isinstance(value, str) else "a text"


def _is_datetime(value: Value) -> bool:
    return _reads(value, r"\d{4}-\d\d-\d\dT\d\d:\d\d", datetime.fromisoformat)


def _is_date(value: Value) -> bool:
    return _reads(value, r"\d{4}-\d\d-\d\d", date.fromisoformat)


def _reads(value: Value, pattern: str, read: Callable[[str], object]) -> bool:
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
        return False
    try:
        read(value)
    except ValueError:
        return False
    return True
