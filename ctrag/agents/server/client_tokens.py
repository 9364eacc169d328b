"""Credentials that a server's entry holds outside its headers, as the header that carries them."""

import base64
from collections.abc import Mapping
from typing import Any

TOKENS = (
    *("token", "bearerToken", "bearer_token", "accessToken", "access_token"),
    *("authToken", "auth_token", "apiKey", "api_key"),
)
"""Keys of an entry whose text is a bearer token."""
_VALUES = (*TOKENS, "bearer", "value", "key")
_HEADERS = ("header", "headerName", "header_name")


def header_of(key: str, value: Any) -> tuple[str, str] | None:
    """Name and value of the header that a key of an entry stands for; None where it is no token.

    Args:
        key: One of `TOKENS`, or `auth` and the like with an object.
        value: Its value, variables not filled.
    """
    if isinstance(value, str):
        if key not in TOKENS or not value:
            return None
        return "Authorization", value if " " in value else f"Bearer {value}"
    if not isinstance(value, Mapping):
        return None
    user, password = value.get("username"), value.get("password")
    if isinstance(user, str) and isinstance(password, str) and "$" not in user + password:
        told = base64.b64encode(f"{user}:{password}".encode()).decode()
        return "Authorization", f"Basic {told}"
    token = next((value[one] for one in _VALUES if isinstance(value.get(one), str)), "")
    if not token:
        return None
    header = next((value[one] for one in _HEADERS if isinstance(value.get(one), str)), "")
    if header:
        return header, token
    return "Authorization", token if " " in token else f"Bearer {token}"
