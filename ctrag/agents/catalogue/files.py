"""Catalogue files as values: JSON or YAML, with errors that name place and rule."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ctrag.errors import InputError
from stores.bounded_yaml import load_yaml
from stores.compressed import SUFFIX, read_kept

T = TypeVar("T")


def read_file(path: Path, *, once: bool = False) -> Any:
    """The value of a `.json`, `.yaml` or `.yml` file, or of its `.bz2` where it is missing.

    Args:
        path: The file.
        once: Refuse a key that is given twice in one place, of which the last would count.

    Raises:
        ValueError: It is not JSON or YAML; the message names the line.
        FileNotFoundError: There is no such file.
    """
    try:
        text = read_kept(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    if path.name.removesuffix(SUFFIX).endswith((".yaml", ".yml")):
        return _yaml(path, text, once)

    def checked_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _no_repeated([key for key, _ in pairs], str(path))
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=checked_once if once else None)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON: nested too deep") from None
    except InputError:
        raise
    except ValueError as error:  # a whole number of more than 4,300 digits
        raise InputError(f"{path}: not JSON: {error}") from None


def _no_repeated(keys: list[str], where: str) -> None:
    for key in keys if len(set(keys)) < len(keys) else ():
        if keys.count(key) > 1:
            raise InputError(f"{where}: {key} is given twice in one place; keep one")


def _yaml(path: Path, text: str, once: bool) -> Any:
    import yaml

    try:
        return load_yaml(text, _loader(once))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        # The tag of a value is quoted, and "!secret" without quotation marks is one.
        problem = str(error.problem).partition(" for the tag ")[0]
        raise InputError(f"{path}:{line}: not YAML: {problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{path}: not YAML: {type(error).__name__}") from None


@cache
def _loader(once: bool) -> Any:
    """YAML with JSON's values: dates, `on`, `no` and the like stay strings, and keys are always
    strings."""
    import yaml

    text = "tag:yaml.org,2002:str"

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            if once:
                scalars = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
                line = node.start_mark.line + 1
                _no_repeated([key.value for key in scalars], f"mapping of line {line}")
            self.flatten_mapping(node)
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    key.tag = text
            mapping: dict[str, Any] = super().construct_mapping(node, deep)
            return mapping

    dropped = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")
    Loader.yaml_implicit_resolvers = {
        first: [one for one in found if one[0] not in dropped]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    truth = re.compile("^(?:true|True|TRUE|false|False|FALSE)$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", truth, list("tTfF"))
    return Loader


def checked(adapter: TypeAdapter[T], value: Any, where: Path | str) -> T:
    """The value validated as its type; ValueError with place and rule when it does not fit."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]
        place = "".join(f"{part}." for part in problem["loc"])[:-1]
        rule = problem["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {place}: {rule}" if place else f"{where}: {rule}") from None
