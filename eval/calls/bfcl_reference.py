"""BFCL's own cases and its own checker, from the package `bfcl-eval`."""

import copy
import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from types import ModuleType, SimpleNamespace
from typing import Any

from ctrag.errors import InputError, MissingExtra

CATEGORIES = ("multiple", "live_multiple")
"""Those in which one of several functions is to be called once."""
INSTALL = "pip install --no-deps bfcl-eval"

Calls = Sequence[Mapping[str, Mapping[str, Any]]]


def bfcl_rows(category: str) -> tuple[list[tuple[dict[str, Any], list[dict[str, Any]]]], str]:
    """(question, possible answers) of each case of a category, and the hash of both files.

    Raises:
        ValueError: The category is unknown, or the package is not installed.
    """
    if category not in CATEGORIES:
        raise InputError(f"--data: bfcl:{category} is unknown; known: {', '.join(CATEGORIES)}")
    _require()
    data = files("bfcl_eval") / "data"
    name = f"BFCL_v4_{category}.json"
    asked = (data / name).read_text("utf-8")
    answers = (data / "possible_answer" / name).read_text("utf-8")
    truths = {row["id"]: row["ground_truth"] for row in map(json.loads, answers.splitlines())}
    rows = [(row, truths[row["id"]]) for row in map(json.loads, asked.splitlines())]
    return rows, sha256(f"{asked}{answers}".encode()).hexdigest()


def reference_verdict(
    functions: Sequence[Mapping[str, Any]], calls: Calls, truth: Calls, category: str
) -> bool:
    """Whether BFCL's checker calls the predicted calls right.

    Args:
        functions: What was on offer, as BFCL writes it.
        calls: What was predicted, `{name: {argument: value}}` each.
        truth: `{name: {argument: [possible values]}}` each.
        category: One of `CATEGORIES`.

    Raises:
        ValueError: The package is not installed.
    """
    check, python = _checker()
    # It changes what it is given.
    predicted = copy.deepcopy(list(calls))
    found = check(list(functions), predicted, list(truth), python, category, "any")
    return bool(found["valid"])


@cache
def _checker() -> tuple[Callable[..., Any], Any]:
    """BFCL's checker and its name for Python; a stub spares it every model vendor's client."""
    _require()
    stub = ModuleType("bfcl_eval.constants.model_config")
    model = SimpleNamespace(underscore_to_dot=False)
    stub.MODEL_CONFIG_MAPPING = defaultdict(lambda: model)  # type: ignore[attr-defined]
    before = set(sys.modules)
    sys.modules[stub.__name__] = stub
    try:
        checker = import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker
        python = import_module("bfcl_eval.constants.enums").Language.PYTHON
    finally:
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "bfcl_eval":
                del sys.modules[name]  # it knows the stub
    return checker, python


def _require() -> None:
    if importlib.util.find_spec("bfcl_eval") is None:
        raise MissingExtra(f"--data: bfcl-eval is not installed: {INSTALL}")
