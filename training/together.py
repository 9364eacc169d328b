"""Several labelled data sets as one, with vectors remembered on disk."""

from collections.abc import Sequence
from pathlib import Path

from ctrag.encoder import Encoder
from ctrag.settings import cache_folder
from ctrag.tools.vectors import CachedEncoder
from eval.examples import Example, load_examples


def load_together(folders: Sequence[Path], encoder: Encoder) -> tuple[list[Example], int]:
    """Every example of the folders in their order, and how many are of the first one.

    Raises:
        ValueError: A data set breaks a rule or has no labels, or two share a person.
    """
    remembered = CachedEncoder(encoder, cache_folder() / "vectors")
    examples: list[Example] = []
    first = 0
    for folder in folders:
        added = load_examples(folder, remembered)
        known = {one.asked.person_id for one in examples}
        shared = known & {one.asked.person_id for one in added}
        if shared:
            raise ValueError(
                f"--more: {folder} has people of the other data: {sorted(shared)[:3]}; "
                "learn from other people"
            )
        examples += added
        first = first or len(added)
    return examples, first
