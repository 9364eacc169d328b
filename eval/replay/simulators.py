"""BFCL's simulated tools, which live in memory: calls are made again, and leave a state."""

import ast
import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ctrag.errors import InputError, MissingExtra

_MODULES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
SIMULATORS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Classes of BFCL's multi-turn categories, and the module (and function file) of each."""


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """A call as BFCL writes it, `cd(folder='document')`, read and not run."""

    name: str
    positional: tuple[Any, ...]
    named: Mapping[str, Any]

    @classmethod
    def of(cls, text: str) -> "SimulatedCall":
        """Read one.

        Raises:
            ValueError: It is no call of a name with literals.
        """
        try:
            call = ast.parse(text, mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                raise ValueError("no call of a name")
            named = {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg}
            if len(named) != len(call.keywords):
                raise ValueError("arguments without a name")
            return cls(call.func.id, tuple(map(ast.literal_eval, call.args)), named)
        except (SyntaxError, ValueError) as error:
            raise InputError(
                f"call: must be a name with literals, such as cd(folder='a'), not {text!r}: {error}"
            ) from None


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """What calls gave, and what they left."""

    results: list[Any]
    """Of each call, in order; the text of the error where one was raised."""
    state: dict[str, dict[str, Any]]
    """Class → its public fields, which are what BFCL's own checker compares."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Simulated tools and the state that they begin with."""

    classes: tuple[str, ...]
    """Some of `SIMULATORS`; where two have a tool of one name, the first is called."""
    config: Mapping[str, Any]
    """Class → its scenario."""

    def replay(self, calls: Sequence[SimulatedCall]) -> ReplayOutcome:
        """Make these calls, from the beginning.

        Raises:
            ValueError: bfcl-eval, or a package that its simulators need, is not installed.
        """
        instances = {name: self._opened(name) for name in self.classes}
        results = [_made(self._method(one.name, instances), one) for one in calls]
        state = {
            name: {key: value for key, value in vars(one).items() if not key.startswith("_")}
            for name, one in instances.items()
        }
        return ReplayOutcome(results, state)

    def arguments(self, call: SimulatedCall) -> dict[str, Any]:
        """The call's arguments by name, those that were given by their places too."""
        instances = {name: _class(name)() for name in self.classes}
        method = self._method(call.name, instances)
        return dict(inspect.signature(method).bind(*call.positional, **call.named).arguments)

    def server(self, tool: str) -> str:
        """The module whose class has the tool, which is the server in catalogues.

        Raises:
            ValueError: None of the classes has it.
        """
        for name in self.classes:
            if callable(getattr(_class(name), tool, None)):
                return SIMULATORS[name]
        raise InputError(f"call: none of {', '.join(self.classes)} has {tool!r}")

    def _opened(self, name: str) -> Any:
        instance = _class(name)()
        if hasattr(instance, "_load_scenario"):
            instance._load_scenario(copy.deepcopy(self.config.get(name, {})))
        return instance

    def _method(self, tool: str, instances: Mapping[str, Any]) -> Callable[..., Any]:
        found = [one for one in instances.values() if callable(getattr(one, tool, None))]
        if tool.startswith("_") or not found:
            raise InputError(f"call: none of {', '.join(instances)} has {tool!r}")
        method: Callable[..., Any] = getattr(found[0], tool)
        return method


def _class(name: str) -> Any:
    if name not in SIMULATORS:
        raise InputError(f"class: {name!r} has no simulator; known: {', '.join(SIMULATORS)}")
    try:
        return getattr(import_module(f"{_MODULES}.{SIMULATORS[name]}"), name)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"BFCL's simulators need {error.name}: pip install --no-deps bfcl-eval, and "
            "pip install mpmath"
        ) from None


def _made(method: Callable[..., Any], call: SimulatedCall) -> Any:
    try:
        # What a call returns may be part of the state, which later calls change.
        return copy.deepcopy(method(*call.positional, **call.named))
    except Exception as error:  # a simulator may raise anything: it is what the call gave
        return f"{type(error).__name__}: {error}"
