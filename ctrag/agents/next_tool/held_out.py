"""Which demonstrations are held out: the same ones in training and in the experiment."""

from collections.abc import Sequence
from hashlib import sha256

from ctrag.agents.next_tool.demonstrations import Demonstration
from ctrag.errors import InputError


def split_held_out(
    demonstrations: Sequence[Demonstration], most: int = 500, share: float = 0.2
) -> tuple[list[Demonstration], list[Demonstration]]:
    """(training, held out): chains ordered by the SHA-256 of their ids, the first held out.

    Args:
        demonstrations: All of them.
        most: Held out at most, plus the rest of the last chain.
        share: Held out at most, as a share of all.

    Raises:
        ValueError: One side would be empty.
    """
    sizes: dict[str, int] = {}
    for one in demonstrations:
        sizes[one.chain] = sizes.get(one.chain, 0) + 1
    wanted = min(most, round(share * len(demonstrations)))
    out: set[str] = set()
    count = 0
    for chain in sorted(sizes, key=lambda name: sha256(name.encode()).digest()):
        if count >= wanted:
            break
        out.add(chain)
        count += sizes[chain]
    kept = [one for one in demonstrations if one.chain not in out]
    held = [one for one in demonstrations if one.chain in out]
    if not kept or not held:
        raise InputError(
            f"demonstrations: {len(demonstrations)} are too few to hold some out; give more, or "
            "a fitted model"
        )
    return kept, held
