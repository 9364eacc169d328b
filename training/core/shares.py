"""Shares of data sets: which requests are used for training, by hash of their text."""

from collections.abc import Sequence
from hashlib import sha256

from ctrag.errors import InputError


def shares_of(given: Sequence[str], folders: Sequence[str], most: float = 1.0) -> dict[str, float]:
    """`NAME=SHARE` options as a table.

    Raises:
        ValueError: An option is not such a pair, names no folder, or the share is not between 0 and
            `most`.
    """
    shares = {}
    for one in given:
        name, _, value = one.partition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if name not in folders or not 0 < share <= most:
            raise InputError(
                f"--share: {one!r} must be NAME=SHARE, NAME among {', '.join(folders)} "
                f"and SHARE above 0 and at most {most:g}"
            )
        shares[name] = share
    return shares


def drawn(text: str, share: float) -> bool:
    """Whether a request is in the given share of its data set."""
    return times(text, share) > 0


def times(text: str, share: float) -> int:
    """How often a request is repeated: 2.5 is twice for one half, and thrice for the other."""
    place = int(sha256(f"part:{text}".encode()).hexdigest()[:8], 16) % 1000
    whole = int(share)
    return whole + (place < 1000 * (share - whole))
