"""Shares of data sets: which requests are learned from, by hash of their text."""

from collections.abc import Sequence
from hashlib import sha256


def shares_of(given: Sequence[str], folders: Sequence[str]) -> dict[str, float]:
    """`NAME=SHARE` options as a table.

    Raises:
        ValueError: An option is no such pair, names no folder, or the share is not within 0 and 1.
    """
    shares = {}
    for one in given:
        name, _, value = one.partition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if name not in folders or not 0 < share <= 1:
            raise ValueError(
                f"--share: {one!r} must be NAME=SHARE, NAME among {', '.join(folders)} "
                "and SHARE above 0 and at most 1"
            )
        shares[name] = share
    return shares


def drawn(text: str, share: float) -> bool:
    """Whether a request belongs to that share of its data set."""
    return int(sha256(f"part:{text}".encode()).hexdigest()[:8], 16) % 1000 < 1000 * share
