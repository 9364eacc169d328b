"""Whether two calls are the same: arguments normalised to ignore meaningless variation."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

Normaliser = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Arguments of a call → the ones that matter."""

TRACKING = frozenset(
    "fbclid gclid dclid msclkid yclid igshid mc_cid mc_eid ref_src spm _ga _gl".split()
)
"""Query parameters that do not change the page; likewise all that begin with `utm_`."""
_PORTS = {"http": 80, "https": 443}


def argument_hash(arguments: Mapping[str, Any], normalise: Normaliser | None = None) -> str:
    """A short hash, equal for equivalent calls.

    Args:
        arguments: JSON values; others are compared by their `repr`.
        normalise: Of this tool, applied before the general rules of `plain_value`.
    """
    try:
        value = plain_value(dict(normalise(arguments) if normalise else arguments))
        text = json.dumps(value, sort_keys=True, default=repr)
    except (RecursionError, ValueError):  # circular, or an integer too long to print
        text = "not to be compared"
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def without(*names: str) -> Normaliser:
    """A normaliser that drops arguments, such as request ids, that vary without meaning."""

    def normalise(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in arguments.items() if name not in names}

    return normalise


def plain_value(value: Any) -> Any:
    """A JSON value with URLs normalised, spaces collapsed and whole floats as integers.

    Null arguments are dropped.
    """
    if isinstance(value, Mapping):
        plain = {str(name): plain_value(one) for name, one in value.items()}
        return {name: one for name, one in plain.items() if one is not None}
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, str):
        text = " ".join(value.split())
        return normalise_url(text) if text.lower().startswith(("http://", "https://")) else text
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def normalise_url(url: str) -> str:
    """One spelling per resource.

    Host in lower case; no default port, trailing slash, fragment or tracking parameter; the
    others sorted. A string that is not a URL is returned unchanged.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    who, at, _ = parts.netloc.rpartition("@")
    shown = "" if port in (None, _PORTS.get(parts.scheme)) else f":{port}"
    query = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name.lower() not in TRACKING and not name.lower().startswith("utm_")
    )
    where = f"{who}{at}{host}{shown}"
    return urlunsplit(
        (parts.scheme, where, parts.path.rstrip("/"), urlencode(query, errors="replace"), "")
    )
