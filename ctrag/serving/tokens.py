"""Bearer tokens: shown once, kept as hashes."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence


def token_hash(token: str) -> str:
    """The hash of a token that the file stores."""
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def new_token() -> tuple[str, str]:
    """A fresh token and its hash."""
    token = secrets.token_urlsafe(32)
    return token, token_hash(token)


def owner_of(token: str, hashes: Mapping[str, Sequence[str]]) -> str | None:
    """The user of that token among users and their hashes, or None."""
    presented = token_hash(token)
    found = None
    for name, kept in hashes.items():
        for one in kept:  # all are compared: timing reveals nothing
            if hmac.compare_digest(one, presented):
                found = name
    return found
