"""JSON-RPC messages that break its form, as the messages that they are meant to be."""

import json
import re
from collections.abc import Iterator
from typing import Any

from mcp.types import INTERNAL_ERROR

_CODES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Colours and the like of a terminal."""
_MARGIN = "\ufeff\x00 \t\r\n"
_TRIES = 20
"""Places in a line at which a message may begin."""


def readable(text: str) -> list[dict[str, Any]]:
    """The messages of a text that is no valid one. Empty where it holds none.

    A batch, an answer whose result is no object, an error that is a text, half a character, several
    messages in a row, a byte order mark, colours. Behind other words, such as a log's, an answer
    counts alone, and only one that names its protocol: a request there is one that was logged.
    """
    text = _CODES.sub("", text).strip(_MARGIN)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [*_among(text)]
    return [made for one in as_list(whole(value)) if (made := _message(one)) is not None]


def answer(value: Any) -> bool:
    """Whether a message is an answer of JSON-RPC's form."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or "id" not in value:
        return False
    result, error = value.get("result"), value.get("error")
    return isinstance(result, dict) != isinstance(error, dict) and "method" not in value


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else a list of it."""
    return value if isinstance(value, list) else [value]


def as_text(value: Any) -> str:
    """A text as it is, nothing as an empty one, and all else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def whole(value: Any) -> Any:
    """The value without halves of characters."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {whole(key): whole(one) for key, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list) else value


def _among(text: str) -> Iterator[dict[str, Any]]:
    """Messages that stand in a row or behind other words."""
    decoder, end, alone = json.JSONDecoder(), 0, True
    for _ in range(_TRIES if '"jsonrpc"' in text else 0):
        begin = text.find("{", end)
        if begin < 0:
            return
        alone = alone and not text[end:begin].strip(_MARGIN)
        try:
            value, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            end, alone = begin + 1, False
            continue
        if value.get("jsonrpc") == "2.0" and (alone or "method" not in value):
            made = _message(whole(value))
            if made is not None:
                yield made


def _message(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    made = {**value, "jsonrpc": "2.0"}
    if "method" in made:
        return made if isinstance(made.get("params", {}), dict) else None
    if made.get("error") is not None:
        error = made["error"] if isinstance(made["error"], dict) else {"message": made["error"]}
        code = error.get("code")
        made["error"] = {
            **error,
            "code": code if isinstance(code, int) else INTERNAL_ERROR,
            "message": as_text(error.get("message", "an error without a text")),
        }
        made.pop("result", None)
        return made if "id" in made else None
    if "result" not in made or "id" not in made:
        return None
    made.pop("error", None)
    result = made["result"]
    if not isinstance(result, dict):
        made["result"] = {"content": [] if result is None else as_list(result)}
    return made
