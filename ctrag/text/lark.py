"""Texts of others inside grammars: how Lark and JSON spell them, whatever characters they have."""

import json
import re
from typing import Any

_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def literal(text: str) -> str:
    """The text as a Lark string; its lexer rejects control characters that JSON does not escape."""
    return _escaped(_CONTROL, spelled(text))


def spelled(value: Any) -> str:
    """The value as JSON, with half surrogates as escapes: tokenizers take none."""
    return _escaped(_SURROGATE, json.dumps(value, ensure_ascii=False))


def _escaped(signs: re.Pattern[str], text: str) -> str:
    return signs.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
