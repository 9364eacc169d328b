"""Values in clients' files of servers as the types that are meant."""

import shlex
from typing import Any

from ctrag.errors import InputError

_TRUE = frozenset(("true", "1", "yes", "on"))
_FALSE = frozenset(("false", "0", "no", "off"))
_PAIRED = {"env": "=", "headers": ":"}


def texts(value: Any, field: str) -> Any:
    """Arguments, variables or headers as texts: numbers and truth values are written out.

    Raises:
        ValueError: It holds something else.
    """
    if field == "args" and isinstance(value, str):
        return shlex.split(value)
    if isinstance(value, list):
        if field in _PAIRED and value and all(isinstance(one, dict) for one in value):
            value = {one.get("name", one.get("key")): one.get("value") for one in value}
            return texts(value, field)
        told = [_text(one, field) for one in value if one is not None]
        return told if field not in _PAIRED else dict(_pair(one, field) for one in told)
    if isinstance(value, dict):
        return {str(key): _text(one, field) for key, one in value.items() if one is not None}
    if value is None:
        return {} if field in _PAIRED else []
    raise InputError(f"{field}: must be a list or an object, not {type(value).__name__}")


def _pair(text: str, field: str) -> tuple[str, str]:
    """`NAME=value` or `Name: value`, where a list stands in place of a table."""
    name, sign, value = text.partition(_PAIRED[field])
    if not sign or not name.strip():
        raise InputError(f"{field}: an entry of the list must be NAME{_PAIRED[field]}VALUE")
    return name.strip(), value.strip() if field == "headers" else value


def _text(value: Any, field: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"{field}: holds a {type(value).__name__}; texts and numbers are allowed")


def truth(value: Any, field: str) -> bool:
    """A truth value, which may be written as a text.

    Raises:
        ValueError: It is none.
    """
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in _TRUE | _FALSE:
        return word in _TRUE
    if not isinstance(value, bool):
        raise InputError(f"{field}: must be true or false")
    return value
