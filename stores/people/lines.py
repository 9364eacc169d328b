"""The lines of a JSONL file; errors name file, line, field and rule."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from stores.compressed import kept, open_kept
from stores.errors import InputError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_Model = TypeVar("_Model", bound=BaseModel)


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Position (`file:number`) and object of each line; blank lines are skipped. Where `path` is
    missing, `path.bz2` is read.

    Raises:
        ValueError: A line holds no JSON object, names a field twice, or has a text that cannot
            be stored.
    """
    name = kept(path).name
    with open_kept(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{name}:{number}"
            try:
                raw = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
            except json.JSONDecodeError as error:
                raise InputError(
                    f"{where}: not JSON: {error.msg} at column {error.colno}"
                ) from None
            except UnicodeDecodeError as error:
                raise InputError(f"{where}: not UTF-8 at byte {error.start + 1}") from None
            except _TwiceError as error:
                raise InputError(f"{where}: {error}: appears twice in one object") from None
            except (ValueError, RecursionError) as error:
                raise InputError(f"{where}: not JSON: {error}") from None
            kind = type(raw).__name__
            if kind != "dict":
                raise InputError(f"{where}: must be a JSON object, not {kind}")
            broken = _half_surrogate(raw) if _SURROGATE.search(line) else None
            if broken is not None:
                raise InputError(f"{where}: {broken}: holds half of a surrogate pair")
            yield where, raw


def _half_surrogate(value: Any, path: str = "") -> str | None:
    """Path to a text that cannot be encoded, hence not stored, or None."""
    if isinstance(value, str):
        return path if any("\ud800" <= letter <= "\udfff" for letter in value) else None
    if isinstance(value, dict):
        parts = [(ascii(name)[1:-1], [name, part]) for name, part in value.items()]
    elif isinstance(value, list):
        parts = [(str(place), [part]) for place, part in enumerate(value)]
    else:
        return None
    for name, children in parts:
        for child in children:
            found = _half_surrogate(child, f"{path}.{name}" if path else name)
            if found is not None:
                return found
    return None


class _TwiceError(ValueError):
    """A JSON object names a field twice; Python would keep the last one only."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return found


def validated(model: type[_Model], raw: object, where: str) -> _Model:
    """The object as a model; an error's message begins with `where`, names field and rule.

    Raises:
        ValueError: It breaks a rule.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problem = error.errors()[0]
        name = " ".join(".".join(str(part) for part in problem["loc"]).split()) or "line"
        rule = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            rule = "unknown field"
        elif problem["type"] not in {"missing", "value_error"}:
            rule += f", not {problem['input']!r:.80}"
        raise InputError(f"{where}: {name}: {rule}") from None
